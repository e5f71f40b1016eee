"""Leaves that count, sum and multiply with lists of documents by feature, which form a forest.

Feature f has the documents of its children, plus those that one list adds, minus those that a
second list takes away because several children have them. :mod:`.nesting` shows an example.

Features come in blocks of whole trees, children before parents. A block is small enough for a
cache, unless a tree is larger. Block b ends at feature ``ends[b]``. ``parents`` are numbered within
the block; the number after the last feature stands for no parent. List k is
``docs[starts[k]:starts[k + 1]]`` and belongs to feature ``owners[k]`` of its block. The lists of a
block are ordered by length, so that a processor predicts where loops end: first those that add, up
to ``list_ends[b, 0]``, then those that take away, up to ``list_ends[b, 1]``.

In these terms X is the matrix with a row per document and a column per feature, 1 where the
document has the feature. To multiply by X', sum up the lists and pass the sums from children to
parents; to multiply by X, pass values from parents to children and add them to the lists.
"""

import numpy as np

from gramshift.compiling import compiled

ZERO, ONE, TWO, THREE, FOUR = np.arange(5, dtype=np.uint64)  # unsigned indices take half the time


@compiled(
    "void(int64[::1], int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1],"
    " int64[::1], int64, int64[:, ::1])"
)
def count_groups(ends, list_ends, starts, docs, owners, parents, groups, at, counts):
    """Add to counts[g, at + f] the documents of group g that have feature f, but none of group -1.

    These ``counts`` are 0 before.
    """
    begin, first, n_groups, at = ZERO, 0, np.uint64(counts.shape[0]), np.uint64(at)
    for b in range(ends.size):
        n, middle, last = np.uint64(ends[b]) - begin, list_ends[b, 0], list_ends[b, 1]
        column = at + begin
        for k in range(first, last):
            f, one = column + np.uint64(owners[k]), 1 if k < middle else -1
            for p in range(np.uint64(starts[k]), np.uint64(starts[k + 1])):
                group = groups[docs[p]]
                if group >= 0:
                    counts[np.uint64(group), f] += one
        for g in range(n_groups):
            for f in range(n):
                if parents[begin + f] < n:
                    counts[g, column + np.uint64(parents[begin + f])] += counts[g, column + f]
        begin, first = np.uint64(ends[b]), last


@compiled(
    "void(int64[::1], int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1],"
    " float64[:, ::1], float64[:, ::1])"
)
def gather_lists(ends, list_ends, starts, docs, owners, parents, vectors, sums):
    """Add to sums[f] the vectors of the documents that have feature f; ``sums`` are 0 before."""
    begin, first, width = ZERO, 0, np.uint64(vectors.shape[1])
    for b in range(ends.size):
        n, middle, last = np.uint64(ends[b]) - begin, list_ends[b, 0], list_ends[b, 1]
        for k in range(first, last):
            f, sign = begin + np.uint64(owners[k]), 1.0 if k < middle else -1.0
            for p in range(np.uint64(starts[k]), np.uint64(starts[k + 1])):
                doc = np.uint64(docs[p])
                for c in range(width):
                    sums[f, c] += sign * vectors[doc, c]
        for f in range(n):
            if parents[begin + f] < n:
                for c in range(width):
                    sums[begin + np.uint64(parents[begin + f]), c] += sums[begin + f, c]
        begin, first = np.uint64(ends[b]), last


@compiled(
    "void(int64[::1], int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1],"
    " float64[::1], float64[::1], float64[::1])"
)
def add_own(ends, list_ends, starts, docs, owners, parents, weights, sums, out):
    """Add weights[f] to out[d] for every feature f of document d; ``sums`` is scratch."""
    begin, first = ZERO, 0
    for b in range(ends.size):
        n, middle, last = np.uint64(ends[b]) - begin, list_ends[b, 0], list_ends[b, 1]
        sums[n] = 0.0
        for back in range(n):
            f = n - ONE - back
            sums[f] = weights[begin + f] + sums[parents[begin + f]]
        for k in range(first, last):
            value = sums[owners[k]] if k < middle else -sums[owners[k]]
            for p in range(np.uint64(starts[k]), np.uint64(starts[k + 1])):
                out[docs[p]] += value
        begin, first = np.uint64(ends[b]), last


@compiled(
    "void(int64[::1], int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1],"
    " float64[::1],"
    " float64[::1], float64[::1], float64[::1])"
)
def multiply_vector(ends, list_ends, starts, docs, owners, parents, weights, vector, sums, out):
    """Add X diag(weights) X' vector to ``out``; ``sums`` is scratch."""
    begin, first = ZERO, ZERO
    for b in range(ends.size):
        n, middle, last = (
            np.uint64(ends[b]) - begin,
            np.uint64(list_ends[b, 0]),
            np.uint64(list_ends[b, 1]),
        )
        for f in range(n + ONE):
            sums[f] = 0.0
        for k in range(first, last):
            p, stop = np.uint64(starts[k]), np.uint64(starts[k + ONE])
            total = other = 0.0  # two sums, so that one addition need not wait for the one before
            while p + ONE < stop:
                total += vector[docs[p]]
                other += vector[docs[p + ONE]]
                p += TWO
            if p < stop:
                total += vector[docs[p]]
            total += other
            sums[owners[k]] += total if k < middle else -total
        for f in range(n):
            sums[parents[begin + f]] += sums[f]
        sums[n] = 0.0
        for back in range(n):
            f = n - ONE - back
            sums[f] = weights[begin + f] * sums[f] + sums[parents[begin + f]]
        for k in range(first, last):
            value = sums[owners[k]] if k < middle else -sums[owners[k]]
            for p in range(np.uint64(starts[k]), np.uint64(starts[k + ONE])):
                out[docs[p]] += value
        begin, first = np.uint64(ends[b]), last


@compiled(
    "void(int64[::1], int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1],"
    " float64[::1],"
    " float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def multiply_vectors(ends, list_ends, starts, docs, owners, parents, weights, vectors, sums, out):
    """Add X diag(weights) X' vectors to ``out``, several columns at once; ``sums`` is scratch."""
    width = np.uint64(vectors.shape[1])
    begin, first = 0, 0
    for b in range(ends.size):
        n, middle, last = ends[b] - begin, list_ends[b, 0], list_ends[b, 1]
        for f in range(n + 1):
            for c in range(width):
                sums[f, c] = 0.0
        for k in range(first, last):
            owner, sign = np.uint64(owners[k]), 1.0 if k < middle else -1.0
            p, stop = np.uint64(starts[k]), np.uint64(starts[k + 1])
            while p + FOUR <= stop:  # four documents at once: sums are read and written less often
                d0, d1 = np.uint64(docs[p]), np.uint64(docs[p + ONE])
                d2, d3 = np.uint64(docs[p + TWO]), np.uint64(docs[p + THREE])
                for c in range(width):
                    sums[owner, c] += sign * (
                        (vectors[d0, c] + vectors[d1, c]) + (vectors[d2, c] + vectors[d3, c])
                    )
                p += FOUR
            if p + TWO <= stop:
                d0, d1 = np.uint64(docs[p]), np.uint64(docs[p + ONE])
                for c in range(width):
                    sums[owner, c] += sign * (vectors[d0, c] + vectors[d1, c])
                p += TWO
            if p < stop:
                d0 = np.uint64(docs[p])
                for c in range(width):
                    sums[owner, c] += sign * vectors[d0, c]
        for f in range(n):
            parent = np.uint64(parents[begin + f])
            for c in range(width):
                sums[parent, c] += sums[f, c]
        for c in range(width):
            sums[n, c] = 0.0
        for back in range(n):
            f = n - 1 - back
            parent, weight = np.uint64(parents[begin + f]), weights[begin + f]
            for c in range(width):
                sums[f, c] = weight * sums[f, c] + sums[parent, c]
        for k in range(first, last):
            owner, sign = np.uint64(owners[k]), 1.0 if k < middle else -1.0
            p, stop = np.uint64(starts[k]), np.uint64(starts[k + 1])
            while p + TWO <= stop:
                d0, d1 = np.uint64(docs[p]), np.uint64(docs[p + ONE])
                for c in range(width):
                    value = sign * sums[owner, c]
                    out[d0, c] += value
                    out[d1, c] += value
                p += TWO
            if p < stop:
                d0 = np.uint64(docs[p])
                for c in range(width):
                    out[d0, c] += sign * sums[owner, c]
        begin, first = ends[b], last


@compiled("void(int64, int64, int64, uint32[::1], int32[::1], int32[::1])")
def find_lists(first, middle, last, owners, adding, taking):
    """Find the list of a block that adds to each feature and the one that takes away, or -1."""
    adding[:] = -1
    taking[:] = -1
    for k in range(first, middle):
        adding[owners[k]] = k
    for k in range(middle, last):
        taking[owners[k]] = k


@compiled(
    "void(int64[::1], int64[:, ::1], int64[::1], uint32[::1], uint32[::1], uint32[::1],"
    " float64[::1],"
    " int64[::1], int64[::1], int64[::1], int64, float64[:, ::1])"
)
def add_rows(
    ends, list_ends, starts, docs, owners, parents, weights, row_of, column_of, seen, stamp, out
):
    """Add weights[f] to out[row_of[a], column_of[b]] for all documents a and b of feature f.

    Documents with a row or column of -1 are left out. A stack, ``members``, holds the documents of
    features whose parent is still to come. ``seen`` has no number from ``stamp`` on.
    """
    begin = first = np.int64(0)
    for b in range(ends.size):
        n, middle, last = ends[b] - begin, list_ends[b, 0], list_ends[b, 1]
        adding, taking = np.empty(n, np.int32), np.empty(n, np.int32)
        find_lists(first, middle, last, owners, adding, taking)
        members, size = np.empty(starts[last] - starts[first], np.int64), 0
        rows, columns = np.empty(members.size, np.int64), np.empty(members.size, np.int64)
        bottoms, waiting, n_waiting = np.empty(n, np.int64), np.empty(n, np.int32), 0
        for f in range(n):
            bottom, weight = size, weights[begin + f]
            while n_waiting > 0 and waiting[n_waiting - 1] == f:
                n_waiting -= 1
                bottom = bottoms[n_waiting]
            if taking[f] >= 0:  # children have documents in common
                kept = bottom
                for i in range(bottom, size):
                    if seen[members[i]] != stamp + begin + f:
                        seen[members[i]] = stamp + begin + f
                        members[kept] = members[i]
                        kept += 1
                size = kept
            if adding[f] >= 0:
                for p in range(starts[adding[f]], starts[adding[f] + 1]):
                    members[size] = docs[p]
                    size += 1
            if weight != 0.0:
                n_rows, n_columns = 0, 0
                for i in range(bottom, size):
                    if row_of[members[i]] >= 0:
                        rows[n_rows] = row_of[members[i]]
                        n_rows += 1
                    if column_of[members[i]] >= 0:
                        columns[n_columns] = column_of[members[i]]
                        n_columns += 1
                for i in range(n_rows):
                    row = np.uint64(rows[i])
                    for j in range(np.uint64(n_columns)):
                        out[row, np.uint64(columns[j])] += weight
            if parents[begin + f] < n:
                bottoms[n_waiting], waiting[n_waiting] = bottom, parents[begin + f]
                n_waiting += 1
            else:
                size = bottom
        begin, first = ends[b], last
