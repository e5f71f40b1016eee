"""Leaves that bring text positions into the order of the n-grams that start there.

A *block* is as many characters as fit into 64 bits. Character ids start at 1, so that 0 marks the end of a document.
A *shard* is a part of the positions such that equal n-grams are always in the same part.
"""

import numpy as np

from gramshift.ngrams.leaf import leaf


@leaf("void(uint32[::1], int64[::1], int64, int64, int64, int64, int64, int64[::1], uint32[::1], uint64[::1])")
def scatter(codes, bounds, first, last, lo, width, bits, cursor, positions, keys):
    """Put every position of documents first..last that starts an n-gram of length ``lo`` into its shard, with its block.

    The shard is a hash of the first min(lo, width) characters; ``cursor`` holds the next free place of each shard. With an
    empty ``positions`` the places are only counted.
    """
    n_shards = np.uint64(cursor.size)
    highest = np.uint64(bits * (width - 1))
    rest = np.uint64(bits * max(width - lo, 0))
    for doc in range(first, last):
        end = bounds[doc + 1]
        key = np.uint64(0)
        for p in range(end - 1, bounds[doc] - 1, -1):
            key = (key >> np.uint64(bits)) | (np.uint64(codes[p]) << highest)
            if p <= end - lo:
                shard = np.int64((((key >> rest) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) % n_shards)
                place = cursor[shard]
                cursor[shard] = place + 1
                if positions.size:
                    positions[place] = p
                    keys[place] = key


@leaf("void(uint32[::1], uint32[::1], uint32[::1], int64[::1], int64, int64, int64, uint64[::1])")
def pack(codes, doc_of, positions, bounds, skip, width, bits, keys):
    """keys[i] = the ``width`` characters from positions[i] + skip on, first one highest, zeros after the document."""
    for i in range(positions.size):
        start = np.int64(positions[i]) + skip
        end = bounds[np.int64(doc_of[positions[i]]) + 1]
        stop = min(start + width, end)
        key = np.uint64(0)
        for p in range(start, stop):
            key = (key << np.uint64(bits)) | np.uint64(codes[p])
        missing = width - max(stop - start, 0)
        keys[i] = key << np.uint64(bits * missing) if missing < width else np.uint64(0)


@leaf("void(uint64[::1], uint32[::1], uint64[::1], uint32[::1], int64)")
def radix_sort(keys, payload, spare_keys, spare_payload, total_bits):
    """Sort keys in place, stably, and carry the payload along; the spare arrays are working space."""
    n = keys.size
    n_passes = (total_bits + 7) // 8
    counts = np.zeros((n_passes, 256), np.int64)
    for i in range(n):
        key = keys[i]
        for digit in range(n_passes):
            counts[digit, np.int64(key & np.uint64(255))] += 1
            key >>= np.uint64(8)
    in_place = True
    cursor = np.empty(256, np.int64)
    for digit in range(n_passes):
        total = 0
        for value in range(256):
            cursor[value] = total
            total += counts[digit, value]
        if counts[digit].max() == n:  # all alike in this digit: nothing moves
            continue
        shift = np.uint64(8 * digit)
        a, pa, b, pb = (keys, payload, spare_keys, spare_payload) if in_place else (spare_keys, spare_payload, keys, payload)
        for i in range(n):
            key = a[i]
            value = np.int64((key >> shift) & np.uint64(255))
            b[cursor[value]] = key
            pb[cursor[value]] = pa[i]
            cursor[value] += 1
        in_place = not in_place
    if not in_place:
        keys[:] = spare_keys
        payload[:] = spare_payload


@leaf("void(uint64[::1], int64, int64, int64, int32[::1])")
def extend_common(keys, skip, width, bits, common):
    """Where neighbours agreed on all ``skip`` characters so far, count on how many of this block they agree."""
    for i in range(1, keys.size):
        if common[i] == skip:
            differ = keys[i - 1] ^ keys[i]
            for k in range(width):
                char = np.uint64(bits * (width - 1 - k))
                mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
                if (differ >> char) & mask or not (keys[i] >> char) & mask:
                    break
                common[i] += 1
