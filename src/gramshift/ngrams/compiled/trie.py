"""Leaves that build a trie of n-grams, check it, lay it out in slots, and walk down it.

A *slot* has two numbers of 64 bits: an exact key, and the node in the low half and its feature + 1
in the high half of the second. Slots are a hash table with open addressing; key 0 marks a free
slot, and at least one is free. Nodes of the smallest depth looked up have their characters as key,
deeper nodes have their parent and their last character. The hash is a product with a secret odd
``factor``, so that nobody can choose keys that all have one home.

All places of a document walk down together, one character at a time. Lookups of one length do not
wait for each other, which makes them fast where the slots do not fit into a cache.
"""

import numpy as np

from gramshift.compiling import compiled

CHARACTER_BITS = np.uint64(21)  # enough for any number of a character
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
FIRST, ONE = np.uint64(0), np.uint64(1)
FETCHED_KEYS = 512  # keys whose slots are fetched together
# faults that `check_trie` finds
NO_FAULT, BAD_ROOT, BAD_ORDER, BAD_CHARACTER, BAD_FEATURE, TOO_DEEP, TOO_SHORT = range(7)


@compiled(
    "void(uint32[::1], uint32[::1], int64[::1], uint32[::1], int64, int64, int64, uint64[::1])"
)
def pack_features(codes, places, longest, order, skip, width, bits, keys):
    """Pack the ``width`` characters after the first ``skip`` of feature order[i] into keys[i].

    The first character has the highest bits; beyond the end of the n-gram there are zeros.
    """
    for i in range(order.size):
        f = order[i]
        start, stop = np.int64(places[f]) + skip, np.int64(places[f]) + longest[f]
        key = np.uint64(0)
        for p in range(start, start + width):
            key = (key << np.uint64(bits)) | np.uint64(codes[p] if p < stop else 0)
        keys[i] = key


@compiled(
    "int64(uint32[::1], uint32[::1], int64[::1], int64[::1], uint32[::1], uint32[::1],"
    " uint32[::1], int32[::1])"
)
def grow_trie(codes, places, longest, times, order, parents, characters, features):
    """Write the nodes of features in sorted order, the empty n-gram first; return their number.

    A feature shares the nodes of its first characters with the feature before it. With empty
    ``parents``, only count.
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


@compiled("int64(uint32[::1], uint32[::1], int32[::1], int64, int64, int64, int64)")
def check_trie(parents, characters, features, n_chars, n_features, lo, hi):
    """Return the fault of nodes that come from an untrusted file, or NO_FAULT.

    Nodes must be as `grow_trie` writes them: the children of a node follow it by ascending
    characters, each with all nodes below it. No pair of parent and character then occurs twice.
    """
    if parents[0] != 0 or characters[0] != 0 or features[0] != -1:
        return BAD_ROOT
    fault, depth, deepest = NO_FAULT, 0, min(hi, parents.size)
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
        if fault != NO_FAULT:
            break
        last[depth] = characters[node]
        depth += 1
        path[depth], last[depth] = node, 0
    return fault


@compiled("uint64(uint64, uint64, uint64)")
def home_of(key, n_slots, factor):
    """Return the slot where the search for a key begins; there is at least one slot after it."""
    return ((key * factor >> HALF) * (n_slots - ONE)) >> HALF


@compiled("void(uint32[::1], uint8[::1])")
def find_depths(parents, depths):
    """Find how many characters each node has, at most 255."""
    depths[0] = 0
    for node in range(1, parents.size):
        above = depths[parents[node]]
        depths[node] = above + 1 if above < 255 else 255


@compiled("void(uint64[:, ::1], uint64, uint64, uint64)")
def put(slots, key, target, factor):
    """Write a new key and its target into the first free slot from the key's home on."""
    size = np.uint64(slots.shape[0])
    at = home_of(key, size, factor)
    while slots[at, FIRST]:
        at = at + ONE if at + ONE < size else FIRST
    slots[at, FIRST], slots[at, ONE] = key, target


@compiled(
    "void(uint32[::1], uint32[::1], int32[::1], uint8[::1], int64, int64, uint64, uint64[:, ::1],"
    " uint64[:, ::1])"
)
def fill_slots(parents, characters, features, depths, root, bits, factor, tops, children):
    """Lay out nodes of depth ``root`` by their characters, and deeper nodes by their parents."""
    for node in range(1, parents.size):
        if depths[node] < root:
            continue
        target = np.uint64(features[node] + 1) << HALF | np.uint64(node)
        if depths[node] == root:
            key, above = np.uint64(0), np.int64(node)
            for k in range(root):
                key |= np.uint64(characters[above]) << np.uint64(bits * k)
                above = np.int64(parents[above])
            put(tops, key, target, factor)
        else:
            put(
                children,
                np.uint64(parents[node]) << CHARACTER_BITS | np.uint64(characters[node]),
                target,
                factor,
            )


@compiled("uint64(uint32[::1], int64, int64, int64, int64, int64, uint32[::1], uint64[::1])")
def top_keys(codes, begin, end, root, bits, n_chars, places, keys):
    """Write the first ``root`` characters of each place of a document, if all of them are known.

    Return the number of these places.
    """
    n, n_known, key = FIRST, 0, np.uint64(0)
    mask = (
        LOW << HALF | LOW
        if bits * root >= 64
        else (np.uint64(1) << np.uint64(bits * root)) - np.uint64(1)
    )
    for p in range(begin, end):
        code = codes[p]
        n_known = n_known + 1 if code <= n_chars else 0
        # an unknown character has left the key once n_known is large enough
        key = ((key << np.uint64(bits)) | np.uint64(code)) & mask
        places[n], keys[n] = max(p + 1 - root, 0), key
        n += np.uint64(n_known >= root)
    return n


@compiled("uint64(uint32[::1], uint64, uint64, uint32[::1], uint64[::1], uint64, uint64[::1])")
def child_keys(codes, end, length, places, found, n, keys):
    """Write node and next character of each of n places with a character after ``length`` ones.

    Return the number of these places.
    """
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


@compiled(
    "uint64(uint64[:, ::1], uint64, uint64[::1], uint32[::1], uint64, uint64[::1], uint64[:, ::1])"
)
def look_up(slots, factor, keys, places, n, found, fetched):
    """Find the targets of n keys, and keep the places of keys that have one; return their number.

    ``fetched`` is scratch for a block of keys. The second slot is tried without a test whether the
    first one is free: a wrongly predicted jump costs more.
    """
    size, m, block = np.uint64(slots.shape[0]), FIRST, np.uint64(fetched.shape[1])
    for start in range(FIRST, n, block):
        stop = min(block, n - start)
        for i in range(stop):
            at = home_of(keys[start + i], size, factor)
            fetched[FIRST, i], fetched[ONE, i] = at, slots[at, FIRST]
        for i in range(stop):
            key = keys[start + i]
            at = fetched[FIRST, i] + np.uint64(fetched[ONE, i] != key)
            while slots[at, FIRST] != key and slots[at, FIRST] != FIRST:
                at = at + ONE if at + ONE < size else FIRST
            places[m], found[m] = places[start + i], slots[at, ONE]
            m += np.uint64(slots[at, FIRST] == key)
    return m


@compiled(
    "uint64(uint32[::1], int64, int64, uint64[:, ::1], uint64, int64, int64, int64,"
    " uint32[::1], uint64[::1], uint64[::1], uint64[:, ::1])"
)
def enter(codes, begin, end, tops, factor, root, bits, n_chars, places, keys, found, fetched):
    """Find the places of a document whose first ``root`` characters are in the trie; count them."""
    n = top_keys(codes, begin, end, root, bits, n_chars, places, keys)
    return look_up(tops, factor, keys, places, n, found, fetched)


@compiled(
    "uint64(uint32[::1], int64, uint64[:, ::1], uint64, int64, int64, uint64, uint32[::1],"
    " uint64[::1], uint64[::1], uint64[:, ::1])"
)
def descend(codes, end, children, factor, length, hi, n, places, keys, found, fetched):
    """Go from n-grams of ``length`` characters to one more; return how many places remain."""
    if length >= hi:
        return FIRST
    n = child_keys(codes, np.uint64(end), np.uint64(length), places, found, n, keys)
    return look_up(children, factor, keys, places, n, found, fetched)


@compiled("uint64(uint64[::1], uint64, uint64, uint64, uint64)")
def find_noted(noted, mask, factor, stamp, node):
    """Return where a node is noted under a stamp, or a free place for it.

    Notes of other stamps count as free.
    """
    at = (node * factor >> np.uint64(40)) & mask
    while noted[at] >> HALF == stamp and noted[at] & LOW != node:
        at = (at + ONE) & mask
    return at


@compiled("int64(int64)")
def room_for(n):
    """Return a power of two with room to note n nodes."""
    room = 16
    while room < 2 * n:
        room *= 2
    return room


@compiled("int64(int64[::1], int64, int64)")
def longest_of(bounds, first, last):
    """Return the number of characters of the longest of some documents."""
    longest = 0
    for doc in range(first, last):
        longest = max(longest, bounds[doc + 1] - bounds[doc])
    return longest


@compiled(
    "void(uint32[::1], int64[::1], int64, int64, uint64[:, ::1], uint64[:, ::1], uint64,"
    " int64, int64, int64, int64,"
    " float64[:, ::1], float64[:, ::1])"
)
def sum_documents(
    codes, bounds, first, last, tops, children, factor, root, bits, n_chars, hi, values, out
):
    """Add the values of its distinct n-grams to each document's row, by length, then by place."""
    longest = longest_of(bounds, first, last)
    places, features = np.empty(longest, np.uint32), np.empty(longest, np.uint64)
    keys, found, fetched = (
        np.empty(longest, np.uint64),
        np.empty(longest, np.uint64),
        np.empty((2, FETCHED_KEYS), np.uint64),
    )
    noted, stamp = np.zeros(room_for(longest), np.uint64), np.uint64(0)
    for doc in range(first, last):
        begin, end, length = bounds[doc], bounds[doc + 1], root
        mask = np.uint64(room_for(end - begin) - 1)
        n = enter(
            codes, begin, end, tops, factor, root, bits, n_chars, places, keys, found, fetched
        )
        while n > 0:
            stamp, m = stamp + ONE, FIRST
            for i in range(n):
                node, feature = found[i] & LOW, found[i] >> HALF
                if feature:
                    at, mark = find_noted(noted, mask, factor, stamp, node), stamp << HALF | node
                    features[m] = feature - ONE
                    m += np.uint64(noted[at] != mark)
                    noted[at] = mark
            for c in range(values.shape[1]):
                total = out[doc, c]
                for i in range(m):
                    total += values[features[i], c]
                out[doc, c] = total
            n = descend(codes, end, children, factor, length, hi, n, places, keys, found, fetched)
            length += 1


@compiled(
    "void(uint32[::1], int64[::1], int64, int64, uint64[:, ::1], uint64[:, ::1], uint64,"
    " int64, int64, int64, int64,"
    " float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def spread_documents(
    codes,
    bounds,
    first,
    last,
    tops,
    children,
    factor,
    root,
    bits,
    n_chars,
    hi,
    weights,
    coefficients,
    less,
    out,
):
    """Spread weights[f] * (coefficients[f] - less[document]) of every n-gram over its characters.

    Each value is divided evenly among the places of the n-gram in the document, and there among its
    characters; ``out`` has a row per character.
    """
    longest = longest_of(bounds, first, last)
    places, at = np.empty(longest, np.uint32), np.empty(longest, np.uint64)
    keys, found, fetched = (
        np.empty(longest, np.uint64),
        np.empty(longest, np.uint64),
        np.empty((2, FETCHED_KEYS), np.uint64),
    )
    noted, stamp = np.zeros(room_for(longest), np.uint64), np.uint64(0)
    counts = np.zeros(noted.size, np.int64)
    for doc in range(first, last):
        begin, end, length = bounds[doc], bounds[doc + 1], root
        mask = np.uint64(room_for(end - begin) - 1)
        n = enter(
            codes, begin, end, tops, factor, root, bits, n_chars, places, keys, found, fetched
        )
        while n > 0:
            stamp += ONE
            for i in range(n):
                node = found[i] & LOW
                slot, mark = find_noted(noted, mask, factor, stamp, node), stamp << HALF | node
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
            n = descend(codes, end, children, factor, length, hi, n, places, keys, found, fetched)
            length += 1
