"""Leaves that find the n-grams of a document, each once with its count, and add up the landmarks that have them."""

import numpy as np

from gramshift.ngrams.leaf import leaf
from gramshift.ngrams.runs import INTERSECTION, PRESENCE, SPECTRUM
from gramshift.ngrams.tree import (
    ALONE, DEPTH, END_ITEM, FIRST_ITEM, NOWHERE, PLACE, ROW, START, STEP, STOP, find_child, find_top,
)  # fmt: skip

REPEAT = 16  # a document refers to a row of bits at most this often; what counts more is added from the list


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
        at = (keys[k] * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & mask
        while slot_group[at] >= 0 and slots[at] != keys[k]:
            at = (at + np.uint64(1)) & mask
        if slot_group[at] < 0:
            slots[at], slot_group[at] = keys[k], n_groups
            first[n_groups], count[n_groups] = k, 0
            n_groups += 1
        group_of[k] = slot_group[at]
        count[group_of[k]] += 1
    return n_groups


@leaf("uint32(uint32[:, ::1], uint32[:, ::1], uint32[::1], uint32, int64, uint32)")
def step_on(nodes, edges, codes, target, length, char):
    """The target of an n-gram, ``length`` characters of which lead to ``target``, with one character more."""
    if target == NOWHERE:
        return target
    if target & ALONE or length < nodes[target, DEPTH]:
        place = target & np.uint32(~ALONE) if target & ALONE else nodes[target, PLACE]
        return target if codes[place + length] == char else np.uint32(NOWHERE)
    return find_child(nodes, edges, target, char)


@leaf(
    "int64(uint32[:, ::1], uint32[:, ::1], uint32[::1], uint32[::1], uint32[::1], int64,"
    " uint32, int64, int64, int64[::1], uint32[::1], int64)"
)
def add_target(nodes, items, members, counts, docs, kind, target, times, count, cells, refs, n_refs):
    """Add ``times`` n-grams of one target, each ``count`` times in the document, to the cells or to refs; return n_refs."""
    if target & ALONE:
        cells[docs[target & np.uint32(~ALONE)]] += times * count if kind == SPECTRUM else times
        return n_refs
    level = 0
    for k in range(nodes[target, FIRST_ITEM], nodes[target, END_ITEM]):
        start, stop, step, row = items[k, START], items[k, STOP], np.int64(items[k, STEP]), items[k, ROW]
        weight = times
        if kind == INTERSECTION:
            weight *= min(step, count - level)
        elif kind == SPECTRUM:
            weight *= count
        repeat = weight * step if kind == SPECTRUM else weight
        if row and repeat <= REPEAT and n_refs + repeat <= refs.size:
            for _ in range(repeat):
                refs[n_refs] = row - 1
                n_refs += 1
        else:
            for m in range(start, stop):
                cells[members[m]] += weight * np.int64(counts[m]) if kind == SPECTRUM else weight
            if kind == SPECTRUM:
                break
        level += step
        if kind == INTERSECTION and level >= count:
            break
    return n_refs


@leaf(
    "int64(uint32[::1], int64, int64, int64, int64, uint32, uint32[:, ::1], uint32[:, ::1], uint32[::1], uint32[::1],"
    " uint32[:, ::1], uint32[::1], uint32[::1], int64, int64[::1], uint32[::1], int64)"
)
def follow(
    text, place, length, begin, limit, target, nodes, edges, codes, docs, items, members, counts, kind, cells, refs, n_refs
):  # fmt: skip
    """Add all n-grams of ``begin`` to ``limit`` characters from ``place`` on, once each, as long as landmarks have them.

    The first ``length`` characters lead to ``target``.
    """
    while target != NOWHERE:
        alone = target & ALONE
        depth = limit if alone else min(np.int64(nodes[target, DEPTH]), limit)
        offset = np.int64(target & np.uint32(~ALONE) if alone else nodes[target, PLACE])
        while length < depth and codes[offset + length] == text[place + length]:
            length += 1
        if length >= begin:
            n_refs = add_target(
                nodes, items, members, counts, docs, kind, target, length - begin + 1, 1, cells, refs, n_refs
            )  # fmt: skip
            begin = length + 1
        if length < depth or length == limit:
            break
        target = find_child(nodes, edges, target, text[place + length])
        length += 1
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
    n_refs = 0
    for doc in range(first_doc, last_doc):
        text, cells, self_value = texts[bounds[doc] : bounds[doc + 1]], out[doc], 0
        size = text.size
        n = max(size - lo + 1, 0)
        if n > 0:
            pack_all(text, n, root, root_bits, last_char, keys)
            for p in range(n):
                tops[p] = find_top(top_keys, top_targets, keys[p]) if keys[p] else NOWHERE
                active[p] = p
            pack_all(text, n, width, bits, 0xFFFFFFFF, keys)
        length = width
        while n > 0:
            n_groups = group(keys, n, slots, slot_group, group_of, first, count)
            targets, parents = parents, targets
            for g in range(n_groups):
                place = active[first[g]]
                if length <= root:
                    target = tops[place]
                else:
                    target = step_on(
                        nodes, edges, codes, parents[keys[first[g]] >> np.uint64(32)], length - 1, text[place + length - 1]
                    )
                targets[g] = target
                if count[g] == 1:
                    begin, limit = max(length, lo), min(hi, size - place)
                    self_value += limit - begin + 1
                    n_refs = follow(
                        text, place, max(length, root), begin, limit, target, nodes, edges, codes, docs,
                        items, members, counts, kind, cells, refs, n_refs,
                    )  # fmt: skip
                elif length >= lo:
                    self_value += 1 if kind == PRESENCE else count[g] if kind == INTERSECTION else count[g] * count[g]
                    if target != NOWHERE:
                        n_refs = add_target(
                            nodes, items, members, counts, docs, kind, target, 1, count[g], cells, refs, n_refs
                        )  # fmt: skip
            kept = 0
            for k in range(n):
                g, place = group_of[k], active[k]
                if count[g] > 1 and length < min(hi, size - place):
                    active[kept] = place
                    keys[kept] = np.uint64(g) << np.uint64(32) | np.uint64(text[place + length])
                    kept += 1
            n = kept
            length += 1
        self_values[doc] = self_value
        ref_ptr[doc - first_doc + 1] = n_refs
