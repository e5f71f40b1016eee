"""The leaf that numbers n-grams: those of sorted positions that agree on n characters get the same number for length n."""

import numpy as np

from gramshift.leaf import leaf


@leaf("void(uint32[::1], int32[::1], uint32[::1], int64[::1], int64, int64, int64, int64[::1], uint64[::1])")
def number_shard(positions, common, doc_of, bounds, lo, hi, offset, key_bounds, keys):
    """Write a key for every n-gram that starts at one of the positions: its number, from ``offset`` on, and its place.

    The number is that of the first position with the same n-gram, with a range of its own for every length. A document keeps
    its n-grams length by length, in the order of their places, until they are sorted.
    """
    n = positions.size
    leader = np.zeros(hi - lo + 1, np.int64)
    for i in range(n):
        for length in range(max(lo, common[i] + 1), hi + 1):
            leader[length - lo] = i
        doc = np.int64(doc_of[positions[i]])
        size, place = bounds[doc + 1] - bounds[doc], positions[i] - bounds[doc]
        at = key_bounds[doc] + place
        for length in range(lo, min(hi, size - place) + 1):
            number = offset + (length - lo) * n + leader[length - lo]
            keys[at] = (np.uint64(number) << np.uint64(32)) | np.uint64(place)
            at += size - length + 1
