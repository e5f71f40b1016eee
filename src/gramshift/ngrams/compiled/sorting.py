"""Leaves that bring text positions into the order of the n-grams that start there.

A *block* is as many characters as fit into 64 bits. Character ids start at 1; 0 marks the end of a
document. A *shard* is a part of the positions; equal n-grams are always in the same shard.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.compiling import compiled

Array = NDArray[Any]
LOOKUP_STEP = 64  # characters between positions whose document is stored
# of a product with it, the high bits depend on all bits of a key
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@compiled(
    "void(uint32[::1], int64[::1], int64, int64, int64, int64, int64, int64, int64,"
    " int64[::1], uint32[::1], uint64[::1])"
)
def scatter(
    codes, bounds, first, last, lo, width, bits, n_shards, first_shard, cursor, positions, keys
):
    """Put each position of documents first to last - 1 that starts an n-gram into its shard.

    The shard is a hash of the first min(lo, width) characters, below ``n_shards``. ``cursor`` holds
    the next free place of the shards from ``first_shard`` on; positions of other shards are left
    out. ``keys`` receives the block of each position. With empty ``positions``, only count.
    """
    last_shard, n_hashed = first_shard + cursor.size, np.uint64(n_shards)
    highest = np.uint64(bits * (width - 1))
    rest = np.uint64(bits * max(width - lo, 0))
    for doc in range(first, last):
        end = bounds[doc + 1]
        key = np.uint64(0)
        for p in range(end - 1, bounds[doc] - 1, -1):
            key = (key >> np.uint64(bits)) | (np.uint64(codes[p]) << highest)
            if p <= end - lo:
                shard = np.int64((((key >> rest) * HASH_FACTOR) >> np.uint64(40)) % n_hashed)
                if shard < first_shard or shard >= last_shard:
                    continue
                place = cursor[shard - first_shard]
                cursor[shard - first_shard] = place + 1
                if positions.size:
                    positions[place] = p
                    keys[place] = key


@compiled("void(uint32[::1], int64[::1], uint32[::1], uint32[::1])")
def find_docs(positions, bounds, nearby, docs):
    """Find the document of each position; ``nearby`` has that of every LOOKUP_STEP-th position."""
    for i in range(positions.size):
        doc = np.int64(nearby[positions[i] // np.uint32(LOOKUP_STEP)])
        while bounds[doc + 1] <= positions[i]:
            doc += 1
        docs[i] = doc


@compiled(
    "void(uint32[::1], uint32[::1], uint32[::1], int64[::1], int64, int64, int64, uint64[::1])"
)
def pack(codes, docs, positions, bounds, skip, width, bits, keys):
    """Pack the ``width`` characters from positions[i] + skip on into keys[i].

    The first character has the highest bits; beyond the end of the document there are zeros.
    """
    for i in range(positions.size):
        start = np.int64(positions[i]) + skip
        end = bounds[np.int64(docs[i]) + 1]
        stop = min(start + width, end)
        key = np.uint64(0)
        for p in range(start, stop):
            key = (key << np.uint64(bits)) | np.uint64(codes[p])
        missing = width - max(stop - start, 0)
        keys[i] = key << np.uint64(bits * missing) if missing < width else np.uint64(0)


@compiled("void(uint64[::1], int64[:, ::1])")
def count_digits(keys, counts):
    """Add to counts[d, v] the number of keys whose d-th byte is v; byte 0 is the lowest."""
    for i in range(keys.size):
        key = keys[i]
        for digit in range(counts.shape[0]):
            counts[digit, np.int64(key & np.uint64(255))] += 1
            key >>= np.uint64(8)


@compiled("void(uint64[::1], uint32[::1], int64, int64[::1], uint64[::1], uint32[::1])")
def move_by_digit(keys, payload, digit, cursor, to_keys, to_payload):
    """Move every key to the next place of its digit's value: one pass of a radix sort."""
    shift = np.uint64(8 * digit)
    for i in range(keys.size):
        value = np.int64((keys[i] >> shift) & np.uint64(255))
        place = cursor[value]
        cursor[value] = place + 1
        to_keys[place] = keys[i]
        to_payload[place] = payload[i]


def radix_sort(keys: Array, payload: Array, n_bits: int) -> tuple[Array, Array]:
    """Return the keys, of n_bits bits, and their payload in ascending order; the sort is stable."""
    counts = np.zeros((-(-n_bits // 8), 256), np.int64)
    count_digits(keys, counts)
    spare, spare_payload = np.empty_like(keys), np.empty_like(payload)
    for digit, sizes in enumerate(counts):
        if sizes.max() < keys.size:  # else they are all alike in this digit
            move_by_digit(keys, payload, digit, np.cumsum(sizes) - sizes, spare, spare_payload)
            keys, payload, spare, spare_payload = spare, spare_payload, keys, payload
    return keys, payload


@compiled("void(uint64[::1], int64, int64, int64, int32[::1])")
def extend_common(keys, skip, width, bits, common):
    """Add the characters of this block in which neighbours agree, if all ``skip`` before agree."""
    for i in range(1, keys.size):
        if common[i] == skip:
            differ = keys[i - 1] ^ keys[i]
            for k in range(width):
                char = np.uint64(bits * (width - 1 - k))
                mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
                if (differ >> char) & mask or not (keys[i] >> char) & mask:
                    break
                common[i] += 1
