"""The presence kernel with a weight for every n-gram: still a sum over shared n-grams, tile by tile."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.weights import add_own, add_weighted, normalize_weighted
from gramshift.ngrams.incidence import Incidence

Floats = NDArray[np.float64]


class WeightedNGrams:
    """Fills tiles: columns are the first ``n_cols`` documents, rows those from ``first_row`` on, or the same if that is 0.

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
        return self.n_cols if self.symmetric else self.incidence.n_docs - self.first_row, self.n_cols

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
            found.bounds, found.features, found.places, found.n_before, found.docs, self._sums,
            self.first_row, *area, cut, gram,
        )  # fmt: skip
        if self.symmetric and cols.stop > rows.start:
            square = gram[rows, rows]
            np.copyto(square, square.T, where=np.triu(np.ones(square.shape, bool), 1))
            np.fill_diagonal(square, self._own[rows])

    def normalize(self, rows: slice, cols: slice, gram: NDArray[Any]) -> None:
        """Replace values by values / sqrt(k(i, i) * k(j, j)), 0 for documents without n-grams of any weight."""
        normalize_weighted(self._own[self.first_row :], self._own, rows.start, rows.stop, cols.start, cols.stop, gram)
