"""The compiled function that sketches texts, by the least hash values of their n-grams."""

import numpy as np

from gramshift.compiling import compiled

HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@compiled("void(uint32[::1], int64[::1], int64, uint32[::1], uint32[:, ::1])")
def sketch(codes, bounds, length, factors, out):
    """Find the least hash value of the n-grams of each text, for each of the factors.

    Text i is codes[bounds[i]:bounds[i + 1]]. A hash value is the product of a factor and the hash
    of an n-gram of ``length`` characters, modulo 2**32, mixed. A text without n-grams has the
    largest value everywhere.
    """
    width = factors.size
    for i in range(bounds.size - 1):
        for j in range(width):
            out[i, j] = np.uint32(0xFFFFFFFF)
        for start in range(bounds[i], bounds[i + 1] - length + 1):
            mixed = np.uint64(0)
            for place in range(length):
                mixed = (mixed ^ np.uint64(codes[start + place])) * HASH_FACTOR
                mixed ^= mixed >> np.uint64(29)
            hashed = np.uint32(mixed >> np.uint64(32))
            for j in range(width):
                value = np.uint32(hashed * factors[j])
                out[i, j] = min(out[i, j], np.uint32(value ^ (value >> np.uint32(15))))
