"""Leaves that lay out features for summing: as lists of few documents, or as bits of many."""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.runs import sort_pairs

BLOCK = 1024  # documents per block of bits
HEADER = 2  # numbers before a list: the halves of `times`, negative if each document has a count
MAX_FACTOR = 0xFFFF  # a row that counts more than this refers to a list more than once
MAX_REPEATS = 16  # mean references of a row to the bits of a feature; above, a list is smaller


@leaf("int64(uint32[::1], int64, int64, int64, int64)")
def first_at_least(docs, start, stop, width, bound):
    """Return the first place in docs[start:stop:width], ascending, that is not below ``bound``."""
    while start < stop:
        middle = start + (stop - start) // width // 2 * width
        if docs[middle] < bound:
            start = middle + width
        else:
            stop = middle
    return start


@leaf("void(uint32[::1], int64, int64, uint64[:, :, ::1])")
def set_bits(docs, size, row, bits):
    """Set the bits of documents docs[:size] in a row of bits, which has a part in every block."""
    for k in range(size):
        doc = np.int64(docs[k])
        bits[doc // BLOCK, row, doc % BLOCK // 64] |= np.uint64(1) << np.uint64(doc % 64)


@leaf("int64(uint32[::1], int64, int64, int64)")
def entry_width(counts, begin, size, level):
    """Return the numbers per document in a list: 2 if some count exceeds ``level`` by more than 1.

    Then the counts beyond the level are written too; otherwise 1, for the document alone.
    """
    if counts.size:
        for k in range(begin, begin + size):
            if counts[k] - level > 1:
                return 2
    return 1


@leaf("void(uint32[::1], uint32[::1], int64, int64, int64, int64, int64, int64, uint32[::1])")
def write_list(docs, counts, begin, size, width, level, times, place, list_docs):
    """Write `times` and the documents, with their counts beyond ``level`` if ``width`` is 2."""
    signed = times if width == 1 else -times
    list_docs[place] = signed & 0xFFFFFFFF
    list_docs[place + 1] = (signed >> 32) & 0xFFFFFFFF
    for k in range(size):
        list_docs[place + HEADER + k * width] = docs[begin + k]
        if width == 2:
            list_docs[place + HEADER + 2 * k + 1] = counts[begin + k] - level


@leaf(
    "void(int64[::1], int64[::1], int64[::1], uint32[::1], uint32[::1], int64, int64,"
    " uint32[::1], uint32[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], boolean,"
    " uint32[::1], uint64[::1], uint16[::1], uint64[:, :, ::1], uint32[::1], uint32[::1])"
)
def place_features(
    starts, n_columns, times, members, counts, first_row, dense_at, alive, alive_counts,
    ends, list_cursor, bit_cursor, excess_cursor, write,
    list_docs, list_ref, list_factor, bits, bit_ref, excess_ref,
):  # fmt: skip
    """Lay out the features of one shard; without ``write`` only move the cursors, to measure.

    ends = (next place in list_docs, next row of bits); list_cursor and bit_cursor hold a place per
    row. A row refers to the part of a list before itself: start in the low half of list_ref, stop
    in the high half. It refers to a row of bits as often as it counts.

    A feature of few columns becomes a list. A feature of many columns becomes rows of bits. With
    counts, it is a sum of sets: the documents with more than 0, 1, ... occurrences. A symmetric
    index needs fewer of them. Let ``step`` be the smallest count, and c = step + e the count of a
    document, so e is its excess. The product of two counts is then

        c * c' = (step + e) * (step + e') = step * c + step * e' + e * e'

    step * c: the row refers to the bits step * c times; step * e': the column refers to them
    step * e' times; e * e': a smaller feature, of the documents with e > 0 alone. An example, for
    documents A, B, C with counts 2, 3, 5 and thus step = 2 and e = 0, 1, 3, is the pair B, C:

        first bits, of A B C:  2 * 3 for B as the row, 2 * 3 for C as the column    6 + 6
        what is left, of B C:  counts 1 and 3, for which step = 1 and e = 0, 2      1 * 3
        together:              3 * 5 = 15
    """
    symmetric = first_row == 0
    for f in range(starts.size - 1):
        begin, end, size = starts[f], starts[f + 1], n_columns[f]
        level = 0
        sparse = size < dense_at
        # of the columns, the documents that count more than `level` stay `alive`, `size` of them
        if not sparse:
            for k in range(size):
                alive[k] = members[begin + k]
                if counts.size:
                    alive_counts[k] = counts[begin + k]
        while size >= dense_at:
            step = np.int64(alive_counts[:size].min()) - level if counts.size else 1
            total = 0
            if counts.size:
                for k in range(begin, end):
                    total += counts[k]
            weight = times[f] * step
            if weight * max(total, end - begin) > MAX_REPEATS * (end - begin):
                break
            for k in range(size if symmetric else end - begin):
                row = np.int64(alive[k] if symmetric else members[begin + k]) - first_row
                count = 1
                if counts.size:
                    count = (
                        np.int64(alive_counts[k]) - level
                        if symmetric
                        else np.int64(counts[begin + k])
                    )
                if row >= 0:
                    repeat, excess = weight * count, weight * (count - step) if symmetric else 0
                    if write:
                        for j in range(repeat):
                            bit_ref[bit_cursor[row] + j] = ends[1]
                        for j in range(excess):
                            excess_ref[excess_cursor[row] + j] = ends[1]
                    bit_cursor[row] += repeat
                    excess_cursor[row] += excess
            if write:
                set_bits(alive, size, ends[1], bits)
            ends[1] += 1
            level += step
            kept = 0
            if counts.size:
                for k in range(size):
                    if alive_counts[k] > level:
                        alive[kept], alive_counts[kept] = alive[k], alive_counts[k]
                        kept += 1
            size = kept
        if size == 0:
            continue
        if not sparse:
            sort_pairs(alive, 0, alive_counts, size)
        width = (
            entry_width(counts, begin, size, 0)
            if sparse
            else entry_width(alive_counts, 0, size, level)
        )
        place = ends[0]
        ends[0] += size * width + HEADER
        if write and sparse:
            write_list(members, counts, begin, size, width, 0, times[f], place, list_docs)
        elif write:
            write_list(alive, alive_counts, 0, size, width, level, times[f], place, list_docs)
        among = symmetric and not sparse  # what is left concerns only the documents left
        for k in range(size if among else end - begin):
            doc = np.int64(alive[k] if among else members[begin + k])
            n_before = min(k, size) if among or sparse else first_at_least(alive, 0, size, 1, doc)
            row = doc - first_row
            factor = 1
            if counts.size:
                factor = np.int64(alive_counts[k]) - level if among else np.int64(counts[begin + k])
            while row >= 0 and n_before > 0 and factor > 0:
                if write:
                    stop = np.uint64(place + HEADER + n_before * width)
                    list_ref[list_cursor[row]] = np.uint64(place) | stop << np.uint64(32)
                    if counts.size:
                        list_factor[list_cursor[row]] = min(factor, MAX_FACTOR)
                list_cursor[row] += 1
                factor -= MAX_FACTOR
