"""Leaves of Local Rank Distance: the distance of each n-gram to the nearest equal one."""

from math import exp

import numpy as np

from gramshift.compiling import compiled

HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


@compiled("int64(uint64[::1], uint64, uint64, uint64, uint64, int64)")
def sum_offsets(keys, begin, end, other, other_end, max_offset):
    """Sum the distances of the places keys[begin:end] of an n-gram to the nearest other place.

    The other places are keys[other:other_end].
    """
    total, one = 0, np.uint64(1)
    for k in range(begin, end):
        place = np.int64(keys[k] & LOW)
        offset = abs(np.int64(keys[other] & LOW) - place)
        while other + one < other_end:
            next_offset = abs(np.int64(keys[other + one] & LOW) - place)
            if next_offset > offset:
                break
            offset = next_offset
            other += one
        total += min(offset, max_offset)
    return total


@compiled("int64(uint64[::1], uint64, uint64, uint64, uint64, int64)")
def measure_distance(keys, a, a_end, b, b_end, max_offset):
    """Return the Local Rank Distance of two documents.

    An n-gram that the other document does not have costs ``max_offset``.
    """
    one = np.uint64(1)
    total = np.int64(a_end - a + b_end - b) * max_offset
    while a < a_end and b < b_end:
        ngram, other = keys[a] >> HALF, keys[b] >> HALF
        if ngram < other:
            a += one
        elif other < ngram:
            b += one
        else:
            next_a, next_b = a + one, b + one
            while next_a < a_end and keys[next_a] >> HALF == ngram:
                next_a += one
            while next_b < b_end and keys[next_b] >> HALF == ngram:
                next_b += one
            total -= np.int64(next_a - a + next_b - b) * max_offset
            total += sum_offsets(keys, a, next_a, b, next_b, max_offset)
            total += sum_offsets(keys, b, next_b, a, next_a, max_offset)
            a, b = next_a, next_b
    return total


@compiled("void(uint64[::1], int64[::1], int64, int64, int64, int64, float64, float64[::1])")
def compare_document(keys, bounds, doc, col0, col1, max_offset, width, out):
    """Set out[j] to exp(-distance / width), with the distance scaled to at most 1.

    A document without n-grams has 0.
    """
    a, a_end = bounds[doc], bounds[doc + 1]
    for col in range(col0, col1):
        b, b_end = bounds[col], bounds[col + 1]
        value = 0.0
        if a < a_end and b < b_end:
            distance = measure_distance(
                keys, np.uint64(a), np.uint64(a_end), np.uint64(b), np.uint64(b_end), max_offset
            )
            largest = np.float64(max_offset) * np.float64(a_end - a + b_end - b)
            value = exp(-(distance / largest) / width) if distance > 0 else 1.0
        out[col - col0] = value
