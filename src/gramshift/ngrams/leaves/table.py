"""Leaves that make a trie of n-grams, check one, lay it out in slots, and go down it with documents.

A *slot* is twice 64 bits: an exact key and what it leads to, a node in the low half of it and its feature + 1 in the high one.
Slots are found by open addressing; key 0 marks a free one, and one at least is free. Nodes of the smallest depth that is looked
up have their characters as a key, deeper ones their parent and their last character.

All places of a document go down at once, one character at a time. Lookups of one length do not wait for each other: that is
what makes them fast where the slots do not fit into a cache.
"""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.sorting import SPREAD

CHARACTER_BITS = np.uint64(21)  # enough for any number of a character
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
FIRST, ONE = np.uint64(0), np.uint64(1)
BLOCK = 512  # keys whose slots are fetched together
FINE, BAD_ROOT, BAD_ORDER, BAD_CHARACTER, BAD_FEATURE, TOO_DEEP, TOO_SHORT = range(
    7
)  # what `check_trie` finds


@leaf("void(uint32[::1], uint32[::1], int64[::1], uint32[::1], int64, int64, int64, uint64[::1])")
def pack_features(codes, places, longest, order, skip, width, bits, keys):
    """keys[i] = the ``width`` characters after the first ``skip`` of feature order[i], first one highest, zeros at its end."""
    for i in range(order.size):
        f = order[i]
        start, stop = np.int64(places[f]) + skip, np.int64(places[f]) + longest[f]
        key = np.uint64(0)
        for p in range(start, start + width):
            key = (key << np.uint64(bits)) | np.uint64(codes[p] if p < stop else 0)
        keys[i] = key


@leaf(
    "int64(uint32[::1], uint32[::1], int64[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], int32[::1])"
)
def grow_trie(codes, places, longest, times, order, parents, characters, features):
    """Write the nodes of features in sorted order, the empty n-gram first; return how many. With no ``parents``, only count.

    A feature shares with the one before it the nodes of the characters that both begin with.
    """
    n, before, depth = 1, np.int64(0), np.int64(0)
    path = np.zeros(max(longest.max(), 0) + 1 if longest.size else 1, np.uint32)
    for i in range(order.size):
        f = order[i]
        place, length, shared = np.int64(places[f]), longest[f], 0
        while shared < min(length, depth) and codes[place + shared] == codes[before + shared]:
            shared += 1
        if parents.size == 0:
            n += length - shared
        else:
            for d in range(shared, length):
                parents[n], characters[n], features[n] = path[d], codes[place + d], -1
                path[d + 1] = n
                n += 1
            for d in range(length - times[f], length):
                features[path[d + 1]] = f
        before, depth = place, length
    return n


@leaf("int64(uint32[::1], uint32[::1], int32[::1], int64, int64, int64, int64)")
def check_trie(parents, characters, features, n_chars, n_features, lo, hi):
    """Tell what is wrong with nodes that nobody vouches for: they must come as `grow_trie` writes them.

    That is: the children of a node follow it, each with all below it, by ascending characters. No pair is there twice then.
    """
    if parents[0] != 0 or characters[0] != 0 or features[0] != -1:
        return BAD_ROOT
    fault, depth, deepest = FINE, 0, min(hi, parents.size)
    path, last = np.zeros(deepest + 2, np.uint32), np.zeros(deepest + 2, np.uint32)
    for node in range(1, parents.size):
        while depth > 0 and path[depth] != parents[node]:
            depth -= 1
        if characters[node] < 1 or characters[node] > n_chars:
            fault = BAD_CHARACTER
        elif path[depth] != parents[node] or characters[node] <= last[depth]:
            fault = BAD_ORDER
        elif features[node] < -1 or features[node] >= n_features:
            fault = BAD_FEATURE
        elif depth == hi:
            fault = TOO_DEEP
        elif depth + 1 < lo and features[node] >= 0:
            fault = TOO_SHORT
        if fault != FINE:
            break
        last[depth] = characters[node]
        depth += 1
        path[depth], last[depth] = node, 0
    return fault


@leaf("uint64(uint64, uint64)")
def home_of(key, n_slots):
    """The slot where the search for a key begins; there is one more after it."""
    return ((key * SPREAD >> HALF) * (n_slots - ONE)) >> HALF


@leaf("void(uint32[::1], uint8[::1])")
def find_depths(parents, depths):
    """How many characters each node has; more than 255 are as 255."""
    depths[0] = 0
    for node in range(1, parents.size):
        above = depths[parents[node]]
        depths[node] = above + 1 if above < 255 else 255


@leaf("void(uint64[:, ::1], uint64, uint64)")
def put(slots, key, target):
    """Write into the first free slot from the home of a new key on."""
    size = np.uint64(slots.shape[0])
    at = home_of(key, size)
    while slots[at, FIRST]:
        at = at + ONE if at + ONE < size else FIRST
    slots[at, FIRST], slots[at, ONE] = key, target


@leaf(
    "void(uint32[::1], uint32[::1], int32[::1], uint8[::1], int64, int64, uint64[:, ::1], uint64[:, ::1])"
)
def fill_slots(parents, characters, features, depths, root, bits, tops, children):
    """Lay out nodes of depth ``root`` by their characters and those below by their parents."""
    for node in range(1, parents.size):
        if depths[node] < root:
            continue
        target = np.uint64(features[node] + 1) << HALF | np.uint64(node)
        if depths[node] == root:
            key, above = np.uint64(0), np.int64(node)
            for k in range(root):
                key |= np.uint64(characters[above]) << np.uint64(bits * k)
                above = np.int64(parents[above])
            put(tops, key, target)
        else:
            put(
                children,
                np.uint64(parents[node]) << CHARACTER_BITS | np.uint64(characters[node]),
                target,
            )


@leaf("uint64(uint32[::1], int64, int64, int64, int64, int64, uint32[::1], uint64[::1])")
def top_keys(codes, begin, end, root, bits, n_chars, places, keys):
    """Write the first ``root`` characters of every place of a document where all of them are known; return how many."""
    n, n_known, key = FIRST, 0, np.uint64(0)
    mask = (
        LOW << HALF | LOW
        if bits * root >= 64
        else (np.uint64(1) << np.uint64(bits * root)) - np.uint64(1)
    )
    for p in range(begin, end):
        code = codes[p]
        n_known = n_known + 1 if code <= n_chars else 0
        key = (
            (key << np.uint64(bits)) | np.uint64(code)
        ) & mask  # what is unknown has left it once n_known is large enough
        places[n], keys[n] = p + 1 - root, key
        n += np.uint64(n_known >= root)
    return n


@leaf("uint64(uint32[::1], uint64, uint64, uint32[::1], uint64[::1], uint64, uint64[::1])")
def child_keys(codes, end, length, places, found, n, keys):
    """Write node and next character for each of n places that goes on after ``length`` characters; return how many do."""
    m = FIRST
    for i in range(n):
        following = np.uint64(places[i]) + length
        if following < end:
            places[m], keys[m] = (
                places[i],
                (found[i] & LOW) << CHARACTER_BITS | np.uint64(codes[following]),
            )
            m += ONE
    return m


@leaf("uint64(uint64[:, ::1], uint64[::1], uint32[::1], uint64, uint64[::1], uint64[:, ::1])")
def look_up(slots, keys, places, n, found, fetched):
    """Find what n keys lead to; keep the places of those that lead somewhere, and return how many.

    ``fetched`` is room for a block. The second slot is tried without asking whether the first one is free: a jump that the
    processor foresees wrongly costs more.
    """
    size, m, block = np.uint64(slots.shape[0]), FIRST, np.uint64(fetched.shape[1])
    for start in range(FIRST, n, block):
        stop = min(block, n - start)
        for i in range(stop):
            at = home_of(keys[start + i], size)
            fetched[FIRST, i], fetched[ONE, i] = at, slots[at, FIRST]
        for i in range(stop):
            key = keys[start + i]
            at = fetched[FIRST, i] + np.uint64(fetched[ONE, i] != key)
            while slots[at, FIRST] != key and slots[at, FIRST] != FIRST:
                at = at + ONE if at + ONE < size else FIRST
            places[m], found[m] = places[start + i], slots[at, ONE]
            m += np.uint64(slots[at, FIRST] == key)
    return m


@leaf(
    "uint64(uint32[::1], int64, int64, uint64[:, ::1], int64, int64, int64,"
    " uint32[::1], uint64[::1], uint64[::1], uint64[:, ::1])"
)
def enter(codes, begin, end, tops, root, bits, n_chars, places, keys, found, fetched):
    """Find the places of a document whose first ``root`` characters are in the trie; return how many."""
    n = top_keys(codes, begin, end, root, bits, n_chars, places, keys)
    return look_up(tops, keys, places, n, found, fetched)


@leaf(
    "uint64(uint32[::1], int64, uint64[:, ::1], int64, int64, uint64, uint32[::1], uint64[::1], uint64[::1], uint64[:, ::1])"
)
def go_on(codes, end, children, length, hi, n, places, keys, found, fetched):
    """Go from n-grams of ``length`` characters to those of one more; return at how many of the n places there is one."""
    if length >= hi:
        return FIRST
    n = child_keys(codes, np.uint64(end), np.uint64(length), places, found, n, keys)
    return look_up(children, keys, places, n, found, fetched)


@leaf("uint64(uint64[::1], uint64, uint64, uint64)")
def find_noted(noted, mask, stamp, node):
    """Where a node is noted under a stamp, or the free place for it; what other stamps left behind is free."""
    at = (node * SPREAD >> np.uint64(40)) & mask
    while noted[at] >> HALF == stamp and noted[at] & LOW != node:
        at = (at + ONE) & mask
    return at


@leaf("int64(int64)")
def room_for(n):
    """A power of two such that n nodes can be noted."""
    room = 16
    while room < 2 * n:
        room *= 2
    return room


@leaf("int64(int64[::1], int64, int64)")
def longest_of(bounds, first, last):
    """Characters of the longest of some documents."""
    longest = 0
    for doc in range(first, last):
        longest = max(longest, bounds[doc + 1] - bounds[doc])
    return longest


@leaf(
    "void(uint32[::1], int64[::1], int64, int64, uint64[:, ::1], uint64[:, ::1], int64, int64, int64, int64,"
    " float64[:, ::1], float64[:, ::1])"
)
def sum_documents(codes, bounds, first, last, tops, children, root, bits, n_chars, hi, values, out):
    """Add to each document's row the values of its different n-grams: by length, then by place."""
    longest = longest_of(bounds, first, last)
    places, features = np.empty(longest, np.uint32), np.empty(longest, np.uint64)
    keys, found, fetched = (
        np.empty(longest, np.uint64),
        np.empty(longest, np.uint64),
        np.empty((2, BLOCK), np.uint64),
    )
    noted, stamp = np.zeros(room_for(longest), np.uint64), np.uint64(0)
    for doc in range(first, last):
        begin, end, length = bounds[doc], bounds[doc + 1], root
        mask = np.uint64(room_for(end - begin) - 1)
        n = enter(codes, begin, end, tops, root, bits, n_chars, places, keys, found, fetched)
        while n > 0:
            stamp, m = stamp + ONE, FIRST
            for i in range(n):
                node, feature = found[i] & LOW, found[i] >> HALF
                if feature:
                    at, mark = find_noted(noted, mask, stamp, node), stamp << HALF | node
                    features[m] = feature - ONE
                    m += np.uint64(noted[at] != mark)
                    noted[at] = mark
            for c in range(values.shape[1]):
                total = out[doc, c]
                for i in range(m):
                    total += values[features[i], c]
                out[doc, c] = total
            n = go_on(codes, end, children, length, hi, n, places, keys, found, fetched)
            length += 1


@leaf(
    "void(uint32[::1], int64[::1], int64, int64, uint64[:, ::1], uint64[:, ::1], int64, int64, int64, int64,"
    " float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def spread_documents(
    codes,
    bounds,
    first,
    last,
    tops,
    children,
    root,
    bits,
    n_chars,
    hi,
    weights,
    coefficients,
    less,
    out,
):
    """Add to each character's row its part of weights[f] * (coefficients[f] - less[document]), for every n-gram of feature f.

    That is spread evenly over the places where the n-gram stands in the document, and there over its characters.
    """
    longest = longest_of(bounds, first, last)
    places, at = np.empty(longest, np.uint32), np.empty(longest, np.uint64)
    keys, found, fetched = (
        np.empty(longest, np.uint64),
        np.empty(longest, np.uint64),
        np.empty((2, BLOCK), np.uint64),
    )
    noted, stamp = np.zeros(room_for(longest), np.uint64), np.uint64(0)
    counts = np.zeros(noted.size, np.int64)
    for doc in range(first, last):
        begin, end, length = bounds[doc], bounds[doc + 1], root
        mask = np.uint64(room_for(end - begin) - 1)
        n = enter(codes, begin, end, tops, root, bits, n_chars, places, keys, found, fetched)
        while n > 0:
            stamp += ONE
            for i in range(n):
                node = found[i] & LOW
                slot, mark = find_noted(noted, mask, stamp, node), stamp << HALF | node
                counts[slot] = counts[slot] + 1 if noted[slot] == mark else 1
                noted[slot], at[i] = mark, slot
            for i in range(n):
                if found[i] >> HALF:
                    f, place = (found[i] >> HALF) - ONE, np.int64(places[i])
                    for c in range(coefficients.shape[1]):
                        part = (
                            weights[f]
                            * (coefficients[f, c] - less[doc, c])
                            / (counts[at[i]] * length)
                        )
                        for p in range(place, place + length):
                            out[p, c] += part
            n = go_on(codes, end, children, length, hi, n, places, keys, found, fetched)
            length += 1
