"""Leaves that sum weights of shared n-grams, one addition per shared feature and pair."""

import numpy as np

from gramshift.leaf import leaf
from gramshift.ngrams.leaves.layout import first_at_least


@leaf(
    "void(int64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], float64[::1],"
    " int64, int64, int64, int64, int64, boolean, float64[:, ::1])"
)
def add_weighted(bounds, features, places, n_before, docs, weights, first_row, row0, row1, col0, col1, cut, out):
    """out[row, doc] += weights[f] for every feature f of the row's document and every document before it that has f.

    Features ascend whatever the tile, so a cell is always the same sum; ``cut`` if not all columns are wanted.
    """
    for row in range(row0, row1):
        cells, own = out[row], first_row + row
        for k in range(bounds[own], bounds[own + 1]):
            if n_before[k] == 0:
                continue
            weight = weights[features[k]]
            if weight == 0.0:
                continue
            stop = np.uint64(places[k])
            start = stop - np.uint64(n_before[k])
            if cut:
                start = np.uint64(first_at_least(docs, np.int64(start), np.int64(stop), 1, col0))
                stop = np.uint64(first_at_least(docs, np.int64(start), np.int64(stop), 1, col1))
            for p in range(start, stop):
                cells[docs[p]] += weight


@leaf("void(int64[::1], uint32[::1], float64[::1], int64[::1], float64, float64[::1])")
def add_own(bounds, features, weights, unshared, unshared_weight, out):
    """The kernel of every document with itself, summed in the order in which cells are."""
    for doc in range(unshared.size):
        total = 0.0
        for k in range(bounds[doc], bounds[doc + 1]):
            total += weights[features[k]]
        out[doc] = total + unshared[doc] * unshared_weight


@leaf(
    "void(int64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], float64[::1], float64[::1],"
    " int64, int64, int64, int64, int64, boolean, boolean, float64[:, ::1])"
)
def add_similarities(bounds, features, places, n_before, docs, weights, scale, top, row0, row1, col0, col1, cut, anew, out):
    """out[row - top, doc] += scale[row] * scale[doc] times the same sum, for documents before the row's.

    A row is summed in a buffer that stays in the cache, so ``out`` is touched once; ``anew`` if what it holds does not count.
    """
    sums = np.empty(col1 - col0)
    first = np.uint64(col0)
    for row in range(row0, row1):
        cells, end = out[row - top], min(row, col1)
        sums[:] = 0.0
        for k in range(bounds[row], bounds[row + 1]):
            if n_before[k] == 0:
                continue
            weight = weights[features[k]]
            if weight == 0.0:
                continue
            stop = np.uint64(places[k])
            start = stop - np.uint64(n_before[k])
            if cut:
                start = np.uint64(first_at_least(docs, np.int64(start), np.int64(stop), 1, col0))
                stop = np.uint64(first_at_least(docs, np.int64(start), np.int64(stop), 1, col1))
            for p in range(start, stop):
                sums[np.uint64(docs[p]) - first] += weight
        own = scale[row]
        if anew:
            for t in range(end - col0):
                cells[col0 + t] = sums[t] * (own * scale[col0 + t])
        else:
            for t in range(end - col0):
                cells[col0 + t] += sums[t] * (own * scale[col0 + t])
