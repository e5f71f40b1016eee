"""The presence kernel with a weight for every n-gram: still a sum over shared n-grams, tile by tile."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.ngrams.incidence import Incidence
from gramshift.ngrams.leaf import leaf
from gramshift.ngrams.placing import first_at_least

Floats = NDArray[np.float64]


@leaf(
    "void(int64[::1], uint32[::1], uint32[::1], int64[::1], uint32[::1], float64[::1],"
    " int64, int64, int64, int64, int64, boolean, float64[:, ::1])"
)
def add_weighted(bounds, features, places, starts, docs, weights, first_row, row0, row1, col0, col1, cut, out):
    """out[row, doc] += weights[f] for every feature f of the row's document and every document before it that has f.

    Features come in ascending order, whatever the tile, so a cell is always the same sum. ``cut`` if not all columns are wanted.
    """
    for row in range(row0, row1):
        cells, own = out[row], first_row + row
        for k in range(bounds[own], bounds[own + 1]):
            f = features[k]
            weight, start, stop = weights[f], starts[f], np.int64(places[k])
            if weight == 0.0:
                continue
            if cut:
                start = first_at_least(docs, start, stop, 1, col0)
                stop = first_at_least(docs, start, stop, 1, col1)
            for p in range(np.uint64(start), np.uint64(stop)):
                cells[docs[p]] += weight


@leaf("void(int64[::1], uint32[::1], float64[::1], int64[::1], float64, float64[::1])")
def add_own(bounds, features, weights, unshared, unshared_weight, out):
    """The kernel of every document with itself, summed in the order in which cells are."""
    for doc in range(unshared.size):
        total = 0.0
        for k in range(bounds[doc], bounds[doc + 1]):
            total += weights[features[k]]
        out[doc] = total + unshared[doc] * unshared_weight


@leaf("void(float64[::1], float64[::1], int64, int64, int64, int64, float64[:, ::1])")
def normalize_weighted(row_values, col_values, row0, row1, col0, col1, gram):
    """Divide gram[i, j] by sqrt(row_values[i] * col_values[j]); a zero self-kernel gives zero."""
    for i in range(row0, row1):
        for j in range(col0, col1):
            scale = row_values[i] * col_values[j]
            gram[i, j] = gram[i, j] / np.sqrt(scale) if scale > 0 else 0.0


class WeightedNGrams:
    """Fills tiles: rows are the documents from ``first_row`` on, columns the first ``n_cols``.

    An n-gram of feature f weighs weights[f]; one that a single document has weighs ``unshared_weight``.
    """

    dtype = np.float64

    def __init__(
        self, incidence: Incidence, weights: Floats, unshared_weight: float, *, n_cols: int, first_row: int = 0
    ) -> None:
        self.incidence, self.n_cols, self.first_row = incidence, n_cols, first_row
        self._sums = np.ascontiguousarray(weights * incidence.times)
        self._own = np.empty(incidence.n_docs)
        add_own(incidence.bounds, incidence.features, self._sums, incidence.unshared, unshared_weight, self._own)

    @property
    def shape(self) -> tuple[int, int]:
        return self.incidence.n_docs - self.first_row, self.n_cols

    @property
    def symmetric(self) -> bool:
        return self.first_row == 0

    @property
    def nbytes(self) -> int:
        return self.incidence.nbytes + self._sums.nbytes + self._own.nbytes

    def fill(self, rows: slice, cols: slice, gram: Floats) -> None:
        """gram[i, j] = k(i, j) in the tile; in a symmetric gram it holds its part of the diagonal or lies below it."""
        found = self.incidence
        gram[rows, cols] = 0.0
        cut = cols.start > 0 or not self.symmetric or cols.stop < rows.stop
        area = rows.start, rows.stop, cols.start, cols.stop
        add_weighted(
            found.bounds, found.features, found.places, found.starts, found.docs, self._sums,
            self.first_row, *area, cut, gram,
        )  # fmt: skip
        if self.symmetric and cols.stop > rows.start:
            square = gram[rows, rows]
            np.copyto(square, square.T, where=np.triu(np.ones(square.shape, bool), 1))
            np.fill_diagonal(square, self._own[rows])

    def normalize(self, rows: slice, cols: slice, gram: NDArray[Any]) -> None:
        """Replace values by values / sqrt(k(i, i) * k(j, j)), 0 for documents without n-grams of any weight."""
        normalize_weighted(self._own[self.first_row :], self._own, rows.start, rows.stop, cols.start, cols.stop, gram)
