"""Leaves that spread what n-grams are worth over the characters of the documents that hold them."""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.runs import INTERSECTION, SPECTRUM


@leaf(
    "void(uint32[::1], uint32[::1], int32[::1], int64[:, ::1], float64[::1], int64, int64[::1], "
    "int64, int64, float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def spread_runs(docs, positions, common, runs, weights, kind, bounds, n_known, first, factor, worth, out):
    """Add up what the characters of some documents are worth per class: those from ``first`` on, a row of ``factor`` each.

    An n-gram that a document shares with the known document j (one of the first ``n_known``) counts what j is worth, times
    factor[document - first, j] and the weight of its run; every run has a known document. That is spread evenly over the
    places where the n-gram stands, and there over its characters.
    """
    n_classes, last, base = worth.shape[1], first + factor.shape[0], bounds[first]
    counts = np.zeros(bounds.size - 1, np.int64)
    members = np.empty(bounds.size - 1, np.int64)
    mine = np.empty(factor.shape[0], np.int64)
    total = np.empty((factor.shape[0], n_classes))
    for r in range(runs.shape[0]):
        begin, end, times = runs[r, 0], runs[r, 1], runs[r, 2]
        wanted = False
        if weights[r] != 0.0:
            for i in range(begin, end):
                wanted |= first <= docs[i] < last
        if not wanted:
            continue
        n_members = n_mine = 0
        for i in range(begin, end):
            doc = np.int64(docs[i])
            known = doc < n_known
            if known or first <= doc < last:
                if counts[doc] == 0 and known:
                    members[n_members] = doc
                    n_members += 1
                elif counts[doc] == 0:
                    mine[n_mine] = doc
                    n_mine += 1
                counts[doc] += 1
        for k in range(n_mine):
            row, count = mine[k] - first, counts[mine[k]]
            for c in range(n_classes):
                total[row, c] = 0.0
            for m in range(n_members):
                j = members[m]
                value = weights[r] * factor[row, j]
                if kind == INTERSECTION:
                    value *= min(count, counts[j])
                elif kind == SPECTRUM:
                    value *= count * counts[j]
                for c in range(n_classes):
                    total[row, c] += value * worth[j, c]
        shared = common[begin + 1]
        for i in range(begin + 2, end):
            shared = min(shared, common[i])
        for i in range(begin, end):
            doc = np.int64(docs[i])
            if first <= doc < last:
                place = np.int64(positions[i]) - base
                for length in range(shared - times + 1, shared + 1):
                    for c in range(n_classes):
                        part = total[doc - first, c] / (counts[doc] * length)
                        for p in range(place, place + length):
                            out[p, c] += part
        for m in range(n_members):
            counts[members[m]] = 0
        for k in range(n_mine):
            counts[mine[k]] = 0


@leaf("void(uint32[::1], int64[:, ::1], int64[::1], int64[:, ::1])")
def count_members(docs, runs, groups, counts):
    """counts[g, r] += 1 for every document of group g that run r holds, however often; group -1 is not counted."""
    seen = np.full(groups.size, -1)
    for r in range(runs.shape[0]):
        for i in range(runs[r, 0], runs[r, 1]):
            doc = docs[i]
            if seen[doc] != r:
                seen[doc] = r
                if groups[doc] >= 0:
                    counts[groups[doc], r] += 1
