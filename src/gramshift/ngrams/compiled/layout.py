"""Leaves that lay out features for summing: as lists of few documents, or as bits of many."""

import numpy as np

from gramshift.compiling import compiled
from gramshift.ngrams.compiled.runs import smallest, sort_pairs

BLOCK = 1024  # documents per block of bits
HEADER = 2  # numbers before a list: the halves of `times`, negative if each document has a count
MAX_FACTOR = 0xFFFF  # a row that counts more than this refers to a list more than once
MAX_REPEATS = 16  # mean references of a row to the bits of a feature; above, a list is smaller
LIST, BITS, EXCESS = range(3)  # the kinds of references, each with a cursor for every row


@compiled("int64(uint32[::1], int64, int64, int64, int64)")
def first_at_least(docs, start, stop, width, bound):
    """Return the first place in docs[start:stop:width], ascending, that is not below ``bound``."""
    while start < stop:
        middle = start + (stop - start) // width // 2 * width
        if docs[middle] < bound:
            start = middle + width
        else:
            stop = middle
    return start


@compiled("void(uint32[::1], int64, int64, uint64[:, :, ::1])")
def set_bits(docs, size, row, bits):
    """Set the bits of documents docs[:size] in a row of bits, which has a part in every block."""
    for k in range(size):
        doc = np.int64(docs[k])
        bits[doc // BLOCK, row, doc % BLOCK // 64] |= np.uint64(1) << np.uint64(doc % 64)


@compiled("int64(uint32[::1], int64, int64, int64)")
def entry_width(counts, begin, size, level):
    """Return the numbers per document in a list: 2 if some count exceeds ``level`` by more than 1.

    Then the counts beyond the level are written too; otherwise 1, for the document alone.
    """
    if counts.size:
        for k in range(begin, begin + size):
            if counts[k] - level > 1:
                return 2
    return 1


@compiled("void(uint32[::1], uint32[::1], int64, int64, int64, int64, int64, int64, uint32[::1])")
def write_list(docs, counts, begin, size, width, level, times, place, list_docs):
    """Write `times` and the documents, with their counts beyond ``level`` if ``width`` is 2."""
    signed = times if width == 1 else -times
    list_docs[place] = signed & 0xFFFFFFFF
    list_docs[place + 1] = (signed >> 32) & 0xFFFFFFFF
    for k in range(size):
        list_docs[place + HEADER + k * width] = docs[begin + k]
        if width == 2:
            list_docs[place + HEADER + 2 * k + 1] = counts[begin + k] - level


@compiled("int64(uint32[::1], uint32[::1], int64, int64)")
def keep_excess(docs, counts, size, level):
    """Move the documents that count more than ``level`` to the front; return their number."""
    n_kept = 0
    for k in range(counts[:size].size):
        if counts[k] > level:
            docs[n_kept], counts[n_kept] = docs[k], counts[k]
            n_kept += 1
    return n_kept


@compiled(
    "void(uint32[::1], uint32[::1], int64, int64, int64, int64, int64, int64, int64,"
    " int64[:, ::1], boolean, uint32[::1], uint32[::1])"
)
def refer_to_bits(
    docs, counts, start, stop, level, step, times, first_row, bit_row,
    cursors, write, bit_ref, excess_ref,
):  # fmt: skip
    """Let the rows docs[start:stop] refer to a row of bits as often as they count.

    In a symmetric index they also refer to it as columns, for their counts beyond ``step``.
    """
    for k in range(start, stop):
        row = np.int64(docs[k]) - first_row
        count = np.int64(counts[k]) - level if counts.size else 1
        repeats = times * step * count
        excess = times * step * (count - step) if first_row == 0 else 0
        if write:
            for j in range(repeats):
                bit_ref[cursors[BITS, row] + j] = bit_row
            for j in range(excess):
                excess_ref[cursors[EXCESS, row] + j] = bit_row
        cursors[BITS, row] += repeats
        cursors[EXCESS, row] += excess


@compiled(
    "void(uint32[::1], uint32[::1], int64, int64, int64, int64, int64, int64, int64,"
    " int64[:, ::1], boolean, uint64[::1], uint16[::1])"
)
def refer_to_list(
    docs, counts, start, stop, level, first_row, place, size, width,
    cursors, write, list_ref, list_factor,
):  # fmt: skip
    """Let the rows docs[start:stop] refer to the part before themselves of a list of ``size``.

    A reference has the start of the part in its low half and the stop in its high half.
    """
    for k in range(start, stop):
        row = np.int64(docs[k]) - first_row
        n_before = k - start if first_row == 0 else size
        factor = np.int64(counts[k]) - level if counts.size else 1
        while n_before > 0 and factor > 0:
            if write:
                end = np.uint64(place + HEADER + n_before * width)
                list_ref[cursors[LIST, row]] = np.uint64(place) | end << np.uint64(32)
                if counts.size:
                    list_factor[cursors[LIST, row]] = min(factor, MAX_FACTOR)
            cursors[LIST, row] += 1
            factor -= MAX_FACTOR


@compiled(
    "void(int64[::1], int64[::1], int64[::1], uint32[::1], uint32[::1], int64, int64,"
    " uint32[:, ::1], int64[::1], int64[:, ::1], boolean,"
    " uint32[::1], uint64[::1], uint16[::1], uint64[:, :, ::1], uint32[::1], uint32[::1])"
)
def place_features(
    starts, n_columns, times, members, counts, first_row, dense_at,
    scratch, ends, cursors, write,
    list_docs, list_ref, list_factor, bits, bit_ref, excess_ref,
):  # fmt: skip
    """Lay out the features of one shard; without ``write`` only move the cursors, to measure.

    ends = (next place in list_docs, next row of bits); ``cursors`` has the place of the next
    reference of each kind (LIST, BITS, EXCESS) for every row.

    A feature of few columns becomes a list. A feature of many columns becomes rows of bits. With
    counts, it is a sum of sets: the documents with more than 0, 1, ... occurrences. A symmetric
    index needs fewer of them. Let ``step`` be the smallest count, and c = step + e the count of a
    document, so e is its excess. The product of two counts is then

        c * c' = (step + e) * (step + e') = step * c + step * e' + e * e'

    step * c: the row refers to the bits step * c times; step * e': the column refers to them
    step * e' times; e * e': a smaller feature, of the documents with e > 0 alone. An example, for
    documents A, B, C with counts 2, 3, 5 and thus step = 2 and e = 0, 1, 3, is the pair B, C:

        first bits, of A B C:   2 * 3 for B as the row, 2 * 3 for C as the column    6 + 6
        the remainder, of B C:  counts 1 and 3, for which step = 1 and e = 0, 2      1 * 3
        sum:                    3 * 5 = 15
    """
    symmetric = first_row == 0
    for f in range(starts.size - 1):
        begin, end, size = starts[f], starts[f + 1], n_columns[f]
        first = begin if symmetric else begin + size  # the first member that is a row
        place = ends[0]
        if size < dense_at:
            width = entry_width(counts, begin, size, 0)
            ends[0] += size * width + HEADER
            if write:
                write_list(members, counts, begin, size, width, 0, times[f], place, list_docs)
            refer_to_list(
                members, counts, first, end, 0, first_row, place, size, width,
                cursors, write, list_ref, list_factor,
            )  # fmt: skip
            continue
        # the columns whose count exceeds `level`, which rows of bits have already covered
        level = 0
        columns, column_counts = scratch[0], scratch[1, : size if counts.size else 0]
        n_occurrences = end - begin
        for k in range(size):
            columns[k] = members[begin + k]
        if counts.size:
            n_occurrences = 0
            for k in range(begin, end):
                n_occurrences += counts[k]
            for k in range(size):
                column_counts[k] = counts[begin + k]
        while size >= dense_at:
            step = smallest(column_counts, size) - level if counts.size else 1
            if times[f] * step * n_occurrences > MAX_REPEATS * (end - begin):
                break
            if symmetric:
                refer_to_bits(
                    columns, column_counts, 0, size, level, step, times[f], first_row, ends[1],
                    cursors, write, bit_ref, excess_ref,
                )  # fmt: skip
            else:
                refer_to_bits(
                    members, counts, first, end, 0, step, times[f], first_row, ends[1],
                    cursors, write, bit_ref, excess_ref,
                )  # fmt: skip
            if write:
                set_bits(columns, size, ends[1], bits)
            ends[1] += 1
            level += step
            size = keep_excess(columns, column_counts, size, level)
        if size == 0:
            continue
        # the remainder is a list
        sort_pairs(columns, 0, column_counts, size)
        width = entry_width(column_counts, 0, size, level)
        ends[0] += size * width + HEADER
        if write:
            write_list(columns, column_counts, 0, size, width, level, times[f], place, list_docs)
        if symmetric:
            refer_to_list(
                columns, column_counts, 0, size, level, first_row, place, size, width,
                cursors, write, list_ref, list_factor,
            )  # fmt: skip
        else:
            refer_to_list(
                members, counts, first, end, 0, first_row, place, size, width,
                cursors, write, list_ref, list_factor,
            )  # fmt: skip
