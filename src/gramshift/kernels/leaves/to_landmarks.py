"""Leaves that walk with the n-grams of a document through the landmarks' tree, and add up the landmarks that have them."""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.layout import REPEAT
from gramshift.ngrams.leaves.runs import INTERSECTION, PRESENCE, SPECTRUM
from gramshift.ngrams.leaves.sorting import SPREAD
from gramshift.ngrams.leaves.tree import (
    ALONE,
    DEPTH,
    FIRST_EDGE,
    NEXT,
    NOWHERE,
    PLACE,
    ROW,
    START,
    STEP,
    STOP,
    find_child,
    find_top,
)  # fmt: skip

GROUP, AT, TARGET, COUNT, MATCHED, BEGIN, LIMIT = range(7)  # columns of walks


@leaf("void(uint32[::1], int64, int64, int64, uint32, uint64[::1])")
def pack_all(text, n, width, bits, last_char, keys):
    """keys[p] = the ``width`` characters from p on, first one highest; 0 if one of them is above ``last_char``."""
    key, valid_to = np.uint64(0), 0
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - bits * width)
    for p in range(n + width - 1):
        key = ((key << np.uint64(bits)) | np.uint64(text[p])) & mask
        if text[p] > last_char:
            valid_to = p + width
        if p + 1 >= width:
            keys[p + 1 - width] = key if p >= valid_to else np.uint64(0)


@leaf("int64(uint64[::1], int64, uint64[::1], int32[::1], int32[::1], int64[::1], int64[::1])")
def group(keys, n, slots, slot_group, group_of, first, count):
    """Number equal keys[:n] alike, in the order they come; return how many numbers there are."""
    size = 4
    while size < 2 * n:
        size *= 2
    mask = np.uint64(size - 1)
    for k in range(size):
        slot_group[k] = -1
    n_groups = 0
    for k in range(n):
        at = (keys[k] * SPREAD >> np.uint64(32)) & mask
        while slot_group[at] >= 0 and slots[at] != keys[k]:
            at = (at + np.uint64(1)) & mask
        if slot_group[at] < 0:
            slots[at], slot_group[at] = keys[k], n_groups
            first[n_groups], count[n_groups] = k, 0
            n_groups += 1
        group_of[k] = slot_group[at]
        count[group_of[k]] += 1
    return n_groups


@leaf("int64(int64, int64, int64, int64, int64, int64[::1], int64[::1], int64[::1], int64)")
def value_groups(kind, length, lo, hi, size, active, first, count, n_groups):
    """What the groups of one length add to the document's kernel with itself; a group of one with all its longer n-grams."""
    value = 0
    for g in range(n_groups):
        if count[g] == 1:
            value += min(hi, size - active[first[g]]) - max(length, lo) + 1
        elif length >= lo:
            value += 1 if kind == PRESENCE else count[g] if kind == INTERSECTION else count[g] * count[g]
    return value


@leaf("int64(int64, int64, int64, int64, int64, int64[::1], int64[::1], int64[::1], uint32[::1], int64, uint32[:, ::1])")
def line_up(length, root, lo, hi, size, active, first, count, targets, n_groups, walks):
    """Begin a walk for every group whose target is known; those of one n-gram go on to its end. Return how many they are."""
    n = 0
    for g in range(n_groups):
        if targets[g] != NOWHERE and (count[g] == 1 or length >= root):
            place = active[first[g]]
            walks[n, GROUP], walks[n, AT], walks[n, TARGET], walks[n, COUNT] = g, place, targets[g], count[g]
            walks[n, MATCHED], walks[n, BEGIN] = max(length - 1, root), max(length, lo)
            walks[n, LIMIT] = min(hi, size - place) if count[g] == 1 else length
            n += 1
        targets[g] = NOWHERE
    return n


@leaf(
    "UniTuple(int64, 2)(uint32[::1], uint32[:, ::1], int64, uint32[:, ::1], uint32[:, ::1], uint32[::1],"
    " uint32[::1], uint32[:, ::1], uint32[:, ::1])"
)
def walk_on(text, walks, n, nodes, edges, codes, targets, ahead, found):
    """Every walk goes through one node; write (target, number of n-grams, count) of what is found.

    Return how many walks go on, and how much has been written. A walk that ends at its limit leaves its target in targets.
    """
    for w in range(n):  # memory is asked for all walks at once, and not when one of them needs it
        target = walks[w, TARGET]
        node = np.uint32(0) if target & ALONE else target
        ahead[w, 0] = target & np.uint32(~ALONE) if target & ALONE else nodes[node, PLACE]
        ahead[w, 1] = NOWHERE if target & ALONE else nodes[node, DEPTH]
        ahead[w, 2] = nodes[node, FIRST_EDGE]
    for w in range(n):
        ahead[w, 2] = edges[ahead[w, 2], 0]
        ahead[w, 3] = codes[np.int64(ahead[w, 0]) + np.int64(walks[w, MATCHED])]
    kept = n_found = 0
    for w in range(n):
        target, limit = walks[w, TARGET], np.int64(walks[w, LIMIT])
        place, matched = np.int64(walks[w, AT]), np.int64(walks[w, MATCHED])
        offset, depth = np.int64(ahead[w, 0]), min(np.int64(ahead[w, 1]), limit)
        while matched < depth and codes[offset + matched] == text[place + matched]:
            matched += 1
        begin, count, number = np.int64(walks[w, BEGIN]), walks[w, COUNT], walks[w, GROUP]
        # written in any case and counted if valid, because a branch that cannot be foreseen costs more
        found[n_found, 0], found[n_found, 1], found[n_found, 2] = target, matched - begin + 1, count
        n_found += matched >= begin
        if matched >= limit:
            targets[number] = target
        elif matched == depth:
            child = find_child(nodes, edges, target, text[place + matched])
            walks[kept, GROUP], walks[kept, AT], walks[kept, TARGET], walks[kept, COUNT] = number, place, child, count
            walks[kept, MATCHED], walks[kept, BEGIN], walks[kept, LIMIT] = matched + 1, max(begin, matched + 1), limit
            kept += child != NOWHERE
    return kept, n_found


@leaf(
    "int64(uint32[:, ::1], int64, int64, uint32[:, ::1], uint32[:, ::1], uint32[::1], uint32[::1], uint32[::1],"
    " uint32[:, ::1], int64[::1], uint32[::1], int64)"
)
def add_found(found, n_found, kind, nodes, items, members, counts, docs, ahead, cells, refs, n_refs):
    """Add what was found to the cells of the landmarks, or refer to their row of bits; return the new n_refs."""
    n_lists = 0
    for f in range(n_found):
        target = found[f, 0]
        alone = target & ALONE
        row = np.uint32(0) if alone else nodes[target, ROW]
        refs[n_refs] = row - np.uint32(1)
        simple = row > 0 and found[f, 1] == 1 and found[f, 2] == 1 and kind != SPECTRUM and n_refs + 1 < refs.size
        n_refs += simple
        ahead[n_lists, 0] = docs[target & np.uint32(~ALONE)] if alone else members[nodes[target, START]]
        ahead[n_lists, 1] = f
        n_lists += not simple
    for k in range(n_lists):
        f = ahead[k, 1]
        target, times, count = found[f, 0], np.int64(found[f, 1]), np.int64(found[f, 2])
        if target & ALONE:
            cells[ahead[k, 0]] += times * count if kind == SPECTRUM else times
            continue
        item = nodes[target, :PLACE]
        while True:
            start, stop, step, row = item[START], item[STOP], np.int64(item[STEP]), item[ROW]
            weight = times
            if kind == INTERSECTION:
                weight *= min(step, count)
                count -= step
            elif kind == SPECTRUM:
                weight *= count
            repeat = weight * step if kind == SPECTRUM else weight
            following = item[NEXT]
            if row and repeat <= REPEAT and n_refs + repeat < refs.size:
                for _ in range(repeat):
                    refs[n_refs] = row - 1
                    n_refs += 1
            elif kind == SPECTRUM:
                for m in range(start, stop):
                    cells[members[m]] += weight * np.int64(counts[m])
                break
            else:
                for m in range(start, stop):
                    cells[members[m]] += weight
            if count <= 0 or following == 0:
                break
            item = items[following - np.uint32(1)]
    return n_refs


@leaf(
    "void(uint32[::1], int64[::1], int64, int64, int64, int64, int64, int64, int64, int64, int64, int64,"
    " uint64[::1], uint32[::1], uint32[:, ::1], uint32[:, ::1], uint32[::1], uint32[::1], uint32[:, ::1], uint32[::1],"
    " uint32[::1], int64[::1], int64[:, ::1], int64[::1], uint32[::1])"
)
def match_documents(
    texts, bounds, first_doc, last_doc, width, bits, kind, lo, hi, root, root_bits, last_char,
    top_keys, top_targets, nodes, edges, codes, docs, items, members,
    counts, self_values, out, ref_ptr, refs,
):  # fmt: skip
    """For documents first_doc..last_doc: self-kernels, counts from lists to ``out``, and references to rows of bits.

    Equal n-grams of a document form a group, length by length; one that has become a group of its own stays so, and is
    followed at once to its end. ``width`` characters of ``bits`` bits each are grouped to begin with.
    """
    longest = 1
    for doc in range(first_doc, last_doc):
        longest = max(longest, bounds[doc + 1] - bounds[doc])
    n_slots = 4
    while n_slots < 2 * longest:
        n_slots *= 2
    slots, slot_group, group_of = np.empty(n_slots, np.uint64), np.empty(n_slots, np.int32), np.empty(longest, np.int32)
    keys, active = np.empty(longest, np.uint64), np.empty(longest, np.int64)
    first, count = np.empty(longest, np.int64), np.empty(longest, np.int64)
    tops, targets, parents = np.empty(longest, np.uint32), np.empty(longest, np.uint32), np.empty(longest, np.uint32)
    walks, found, ahead = (
        np.empty((longest, 8), np.uint32),
        np.empty((longest, 4), np.uint32),
        np.empty((longest, 4), np.uint32),
    )
    n_refs = 0
    for doc in range(first_doc, last_doc):
        text, self_value = texts[bounds[doc] : bounds[doc + 1]], 0
        n = max(text.size - lo + 1, 0)
        if n > 0:
            pack_all(text, n, root, root_bits, last_char, keys)
            for p in range(n):
                tops[p] = find_top(top_keys, top_targets, keys[p])
                active[p] = p
            pack_all(text, n, width, bits, 0xFFFFFFFF, keys)
        length = width
        while n > 0:
            n_groups = group(keys, n, slots, slot_group, group_of, first, count)
            for g in range(n_groups):
                targets[g] = tops[active[first[g]]] if length <= root else parents[keys[first[g]] >> np.uint64(32)]
            self_value += value_groups(kind, length, lo, hi, text.size, active, first, count, n_groups)
            n_walks = line_up(length, root, lo, hi, text.size, active, first, count, targets, n_groups, walks)
            while n_walks > 0:
                n_walks, n_found = walk_on(text, walks, n_walks, nodes, edges, codes, targets, ahead, found)
                n_refs = add_found(
                    found, n_found, kind, nodes, items, members, counts, docs, ahead, out[doc], refs, n_refs
                )  # fmt: skip
            parents[:n_groups] = targets[:n_groups]
            kept = 0
            for k in range(n):
                if count[group_of[k]] > 1 and length < min(hi, text.size - active[k]):
                    active[kept] = active[k]
                    keys[kept] = np.uint64(group_of[k]) << np.uint64(32) | np.uint64(text[active[k] + length])
                    kept += 1
            n = kept
            length += 1
        self_values[doc] = self_value
        ref_ptr[doc - first_doc + 1] = n_refs
