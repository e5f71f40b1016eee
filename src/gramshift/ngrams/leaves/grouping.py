"""Leaves that find equal n-grams within one document, length by length, in arrays that stay in the cache."""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.runs import INTERSECTION, PRESENCE
from gramshift.ngrams.leaves.sorting import SPREAD


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
