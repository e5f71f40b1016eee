"""Leaves for weighted n-grams: their association with classes, and sums of weights."""

import numpy as np

from gramshift.compiling import compiled
from gramshift.ngrams.compiled.layout import first_at_least


@compiled("void(int64[::1], uint32[::1], int64[::1], int64[:, ::1])")
def count_groups(starts, docs, groups, counts):
    """Add 1 to counts[g, f] for every document of group g that has feature f."""
    for f in range(starts.size - 1):
        for p in range(starts[f], starts[f + 1]):
            group = groups[docs[p]]
            if group >= 0:
                counts[group, f] += 1


@compiled(
    "void(int64[::1], uint32[::1], int64[::1], int64[::1], uint32[::1], uint32[::1],"
    " uint32[::1], int64[::1])"
)
def transpose_features(starts, docs, times, cursors, features, places, n_before, unshared):
    """Write the features of every document, from its cursor on, and its place in each.

    The n-grams of these features are subtracted from ``unshared``.
    """
    for f in range(starts.size - 1):
        for p in range(starts[f], starts[f + 1]):
            doc = docs[p]
            at = cursors[doc]
            features[at], places[at], n_before[at] = f, p, p - starts[f]
            cursors[doc] = at + 1
            unshared[doc] -= times[f]


@compiled(
    "void(int64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], float64[::1],"
    " int64, int64, int64, int64, int64, boolean, float64[:, ::1])"
)
def add_weighted(
    bounds, features, places, n_before, docs, weights, first_row, row0, row1, col0, col1, cut, out
):
    """Add weights[f] to out[row, doc] for every feature f of the row and every document before it.

    Features ascend in all tiles, so the order of the sum of a cell is always the same. ``cut`` is
    True if the tile does not have all columns.
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


@compiled("void(int64[::1], uint32[::1], float64[::1], int64[::1], float64, float64[::1])")
def add_own(bounds, features, weights, unshared, unshared_weight, out):
    """Compute the kernel of every document with itself, summed in the same order as cells."""
    for doc in range(unshared.size):
        total = 0.0
        for k in range(bounds[doc], bounds[doc + 1]):
            total += weights[features[k]]
        out[doc] = total + unshared[doc] * unshared_weight


@compiled("void(int64[:, ::1], int64[::1], float64, float64, float64[::1])")
def find_association(having, totals, smoothing, weak, out):
    """Set out[f] to the association of feature f with classes; see ``weighting.association``."""
    n = totals.sum()
    # two classes are complements of each other: one association serves both
    different = 1 if totals.size == 2 else totals.size
    everywhere = np.zeros(out.size, np.int64)
    for code in range(totals.size):
        for f in range(out.size):
            everywhere[f] += having[code, f]
    for f in range(out.size):
        out[f] = 1.0
    for code in range(different):  # the outer loop, so that each row of ``having`` is read once
        if not 0 < totals[code] < n:
            continue
        share = totals[code] / n
        for f in range(out.size):
            expected = everywhere[f] * share
            inside = (having[code, f] + smoothing) / (expected + smoothing)
            outside = (everywhere[f] - having[code, f] + smoothing) / (
                everywhere[f] - expected + smoothing
            )
            out[f] = max(out[f], inside / outside, outside / inside)
    for f in range(out.size):
        found = np.log(out[f])
        out[f] = found if found >= weak else 0.0
