"""Leaves for lists of documents by feature: each document stands as its distance from the one before, in two bytes.

A distance of ``FAR`` or more takes several entries: ``FAR`` alone says that the list goes on that much further. ``counts`` has,
entry by entry, how often the document has the feature; it is empty where that does not matter.
"""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.runs import INTERSECTION, SPECTRUM, add_to_self_values, keep_above, sort_pairs, tally

FAR = 0xFFFF
ZERO, ONE, TWO = np.arange(3, dtype=np.uint64)  # indices that cannot be negative are read in half the time


@leaf("int64(uint32[::1], uint32[::1], int64, boolean, int64, uint16[::1], uint32[::1])")
def write_list(members, counts, size, counted, at, gaps, entry_counts):
    """Write documents that ascend from place ``at`` on; return the place after them."""
    before = np.int64(0)
    for k in range(size):
        gap = np.int64(members[k]) - before
        while gap >= FAR:
            gaps[at] = FAR
            if counted:
                entry_counts[at] = 0
            at += 1
            gap -= FAR
        gaps[at] = gap
        if counted:
            entry_counts[at] = counts[k]
        at += 1
        before = np.int64(members[k])
    return at


@leaf(
    "void(uint32[::1], uint32[::1], int32[::1], int64[:, ::1], int64, int32[::1], uint32[::1], uint32[::1], int64[::1],"
    " int64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint16[::1], uint32[::1], int64[::1])"
)
def list_runs(
    docs, positions, common, runs, kind, slot, members, tallied, self_values,
    starts, sizes, times, places, longest, gaps, counts, written,
):  # fmt: skip
    """Write every feature that two documents share; written = (features, entries), which go on from what they were."""
    f, at = written[0], written[1]
    for run in range(runs.shape[0]):
        begin, end, weight = runs[run, 0], runs[run, 1], runs[run, 2]
        size = tally(docs, begin, end, members, 0, tallied, slot)
        add_to_self_values(kind, weight, members, 0, tallied, size, self_values)
        if size < 2:
            continue
        depth = common[begin + 1]
        for i in range(begin + 2, end):
            depth = min(depth, common[i])
        sort_pairs(members, 0, tallied, size)
        level = 0
        while size > 1:
            starts[f], sizes[f], times[f], places[f], longest[f] = at, size, weight, positions[begin], depth
            at = write_list(members, tallied, size, kind == SPECTRUM, at, gaps, counts)
            if kind == INTERSECTION:  # one set for each number of occurrences at which some drop out
                step = np.int64(tallied[:size].min()) - level
                times[f] *= step
                level += step
                size = keep_above(level, members, size, tallied, size)
                for k in range(size):
                    members[k] = members[sizes[f] + k]
            else:
                size = 0
            f += 1
    starts[f] = at
    written[0], written[1] = f, at


@leaf("void(int64[::1], uint16[::1], int64[::1], int64, int64, int64[:, ::1])")
def count_groups(starts, gaps, groups, first, last, counts):
    """counts[g, f - first] += 1 for every document of group g that has feature f, from ``first`` to ``last``."""
    for f in range(first, last):
        doc = ZERO
        for p in range(np.uint64(starts[f]), np.uint64(starts[f + 1])):
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                group = groups[doc]
                if group >= 0:
                    counts[np.uint64(group), np.uint64(f - first)] += 1


@leaf("void(int64[::1], uint16[::1], uint32[::1], float64[::1], int64, int64, float64[::1])")
def add_own(starts, gaps, counts, weights, first, last, out):
    """out[d] += weights[f] for every feature of document d, times the square of its count."""
    for f in range(first, last):
        weight, doc = weights[f], ZERO
        if weight != 0.0:
            for p in range(np.uint64(starts[f]), np.uint64(starts[f + 1])):
                doc += np.uint64(gaps[p])
                if gaps[p] < FAR:
                    count = np.float64(counts[p]) if counts.size else 1.0
                    out[doc] += weight * count * count


@leaf("void(int64[::1], uint16[::1], float64[::1], int64, int64, float64[::1], float64[::1])")
def multiply_vector(starts, gaps, weights, first, last, vector, out):
    """out += X diag(weights) X' vector over the features from ``first`` to ``last``, where all counts are 1."""
    for f in range(first, last):
        weight = weights[f]
        if weight == 0.0:
            continue
        begin, end = np.uint64(starts[f]), np.uint64(starts[f + 1])
        doc, p, total, other = ZERO, begin, 0.0, 0.0  # two sums, so that one addition need not wait for the one before
        while p + ONE < end:
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                total += vector[doc]
            doc += np.uint64(gaps[p + ONE])
            if gaps[p + ONE] < FAR:
                other += vector[doc]
            p += TWO
        if p < end:
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                total += vector[doc]
        total = (total + other) * weight
        doc = ZERO
        for p in range(begin, end):
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                out[doc] += total


@leaf("void(int64[::1], uint16[::1], float64[::1], int64, int64, float64[:, ::1], float64[:, ::1])")
def multiply_vectors(starts, gaps, weights, first, last, vectors, out):
    """The same for several vectors: a processor adds several numbers of a row at once."""
    width = np.uint64(vectors.shape[1])
    totals = np.empty(vectors.shape[1])
    for f in range(first, last):
        weight = weights[f]
        if weight == 0.0:
            continue
        begin, end, doc = np.uint64(starts[f]), np.uint64(starts[f + 1]), ZERO
        for k in range(width):
            totals[k] = 0.0
        for p in range(begin, end):
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                for k in range(width):
                    totals[k] += vectors[doc, k]
        for k in range(width):
            totals[k] *= weight
        doc = ZERO
        for p in range(begin, end):
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                for k in range(width):
                    out[doc, k] += totals[k]


@leaf("void(int64[::1], uint16[::1], uint32[::1], float64[::1], int64, int64, float64[:, ::1], float64[:, ::1])")
def multiply_counted(starts, gaps, counts, weights, first, last, vectors, out):
    """The same for documents that have features more than once."""
    width = np.uint64(vectors.shape[1])
    totals = np.empty(vectors.shape[1])
    for f in range(first, last):
        weight = weights[f]
        if weight == 0.0:
            continue
        begin, end, doc = np.uint64(starts[f]), np.uint64(starts[f + 1]), ZERO
        for k in range(width):
            totals[k] = 0.0
        for p in range(begin, end):
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                for k in range(width):
                    totals[k] += counts[p] * vectors[doc, k]
        for k in range(width):
            totals[k] *= weight
        doc = ZERO
        for p in range(begin, end):
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                for k in range(width):
                    out[doc, k] += counts[p] * totals[k]


@leaf("void(int64[::1], uint16[::1], uint32[::1], int64[::1], float64[:, ::1], float64[:, ::1])")
def gather_lists(starts, gaps, counts, features, vectors, out):
    """out[i] = the sum of the vectors of the documents that have features[i], times their counts."""
    width = np.uint64(vectors.shape[1])
    for i in range(np.uint64(features.size)):
        f, doc = np.uint64(features[i]), ZERO
        for p in range(np.uint64(starts[f]), np.uint64(starts[f + ONE])):
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR:
                count = np.float64(counts[p]) if counts.size else 1.0
                for k in range(width):
                    out[i, k] += count * vectors[doc, k]


@leaf(
    "void(int64[::1], uint16[::1], uint32[::1], float64[::1], int64, int64, int64[::1],"
    " int64[::1], uint16[::1], uint32[::1], float64[::1], float64[::1], int64[::1])"
)
def narrow_lists(
    starts, gaps, counts, weights, first, last, numbers, new_starts, new_gaps, new_counts, new_weights, own, written
):  # fmt: skip
    """Write the features that weigh something again, with those documents alone that have a new number, which ascend.

    What a single document is left of adds to its ``own`` value instead. written = (features, entries).
    """
    f, at = ZERO, ZERO
    for old in range(first, last):
        weight = weights[old]
        if weight == 0.0:
            continue
        new_starts[f] = at
        doc, before, size = ZERO, np.int64(0), 0
        for p in range(np.uint64(starts[old]), np.uint64(starts[old + 1])):
            doc += np.uint64(gaps[p])
            if gaps[p] < FAR and numbers[doc] >= 0:
                number = numbers[doc]
                gap = number - before
                while gap >= FAR:
                    new_gaps[at] = FAR
                    if counts.size:
                        new_counts[at] = 0
                    at += ONE
                    gap -= FAR
                new_gaps[at] = gap
                if counts.size:
                    new_counts[at] = counts[p]
                at += ONE
                before = number
                size += 1
        if size > 1:
            new_weights[f] = weight
            f += ONE
        else:
            if size == 1:
                count = np.float64(new_counts[at - ONE]) if counts.size else 1.0
                own[before] += weight * count * count
            at = np.uint64(new_starts[f])
    new_starts[f] = at
    written[0], written[1] = f, at


@leaf(
    "void(int64[::1], uint16[::1], uint32[::1], float64[::1], int64[::1], int64[::1], uint16[::1], uint32[::1], float64[::1])"
)
def reorder_lists(starts, gaps, counts, weights, order, new_starts, new_gaps, new_counts, new_weights):
    """Write the features again in another order."""
    at = np.int64(0)
    for k in range(order.size):
        f = order[k]
        new_starts[k], new_weights[k] = at, weights[f]
        for p in range(starts[f], starts[f + 1]):
            new_gaps[at] = gaps[p]
            if counts.size:
                new_counts[at] = counts[p]
            at += 1
    new_starts[order.size] = at


@leaf("void(int64[::1], uint16[::1], uint32[::1], float64[::1], int64[::1], uint32[::1], float64[::1], float64[:, ::1])")
def add_rows(starts, gaps, counts, weights, numbers, members, frequencies, out):
    """out[numbers[a], b] += weights[f], times both counts, for every two documents a, b of feature f where a has a number."""
    for f in range(starts.size - 1):
        weight, doc, size, wanted = weights[f], np.int64(0), 0, 0
        if weight == 0.0:
            continue
        for p in range(starts[f], starts[f + 1]):
            doc += gaps[p]
            if gaps[p] < FAR:
                members[size] = doc
                frequencies[size] = counts[p] if counts.size else 1.0
                wanted += numbers[doc] >= 0
                size += 1
        if wanted == 0:
            continue
        for a in range(size):
            row = numbers[members[a]]
            if row >= 0:
                amount = weight * frequencies[a]
                for b in range(size):
                    out[row, members[b]] += amount * frequencies[b]
