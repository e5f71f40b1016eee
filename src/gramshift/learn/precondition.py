"""An approximate inverse of the ridge system, from a Cholesky factor in single precision."""

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.factor import GrowingFactor, NotPositiveError, Report, ignore
from gramshift.learn.features import GramFeatures
from gramshift.learn.labelling import Rows
from gramshift.learn.products import Products, ProductsByNeed

Floats = NDArray[np.float64]
SHIFTS = (0.0, 1e-5, 1e-3)  # times the mean diagonal, added to it where rounding would leave no factor


class Preconditioner:
    """(K + D)^-1 to single precision, for training sets that all begin with the same source documents.

    D is diagonal, with ``penalty`` for each document. An adapted kernel is the product of descriptions R + m 1' with their own
    transpose, m the row means and R the rest, whose rows add up to 0: R R' + n m m'. Single precision is enough for R R'
    only, so the other direction is set apart.
    """

    def __init__(self, documents: GramFeatures, source: Rows, penalty: Floats, products: Products | None = None) -> None:
        self.documents, self.source, self.penalty = documents, source, penalty
        self.rows = source
        self.products = (products or ProductsByNeed(documents, source)) if documents.adapt else None
        self._factor, self._n_source_panels, self._shift = GrowingFactor(), 0, 0

    def grow(self, rows: Rows, report: Report = ignore) -> bool:
        """Make ready for these training documents, the source first; False if there is no factor in single precision."""
        while self._shift < len(SHIFTS):
            try:
                self._grow(rows, report)
                return True
            except NotPositiveError:
                self._shift += 1
                self._n_source_panels = 0
        return False

    def forget(self) -> None:
        """Free the factor, which is made again when it is needed."""
        self._factor, self._n_source_panels = GrowingFactor(), 0

    def __call__(self, vectors: Floats) -> Floats:
        """(R R' + D)^-1 times vectors, or that of K-hat."""
        return self._factor.solve(vectors)

    def apart(self) -> Floats:
        """The directions in which the rest of the kernel counts, as columns: for n m m' it is (R R' + D)^-1 m."""
        if self.products is None:
            return np.zeros((len(self.rows), 0))
        return self._factor.solve(self.products.directions(self.rows))

    def inverse_diagonal(self, report: Report = ignore) -> Floats:
        """The diagonal of the whole inverse, n m m' included (Sherman and Morrison)."""
        diagonal = self._factor.inverse_diagonal(report)
        if self.products is not None:
            means, solved = self.products.directions(self.rows)[:, 0], self.apart()[:, 0]
            diagonal -= solved**2 / (1 / len(self.documents) + means @ solved)
        return diagonal

    def _grow(self, rows: Rows, report: Report) -> None:
        self.rows = rows
        if self.products is not None:
            self.products.prepare(rows)
        self._factor.cut(self._n_source_panels)
        if not len(self._factor):
            self._factor.grow(self._panel, len(self.source), report)
            self._n_source_panels = len(self._factor.panels)
        self._factor.grow(self._panel, len(rows), report)

    def _panel(self, start: int, stop: int) -> NDArray[np.float32]:
        """Rows of R R', or of K-hat, with the penalty on the diagonal."""
        if self.products is not None:
            panel = self.products.panel(start, stop)
        else:
            panel = np.take(self.documents.centred(self.rows[start:stop])[0], self.rows[:stop], axis=1)
        diagonal = np.einsum("ii->i", panel[:, start:])
        diagonal += self.penalty[self.rows[start:stop]] + SHIFTS[self._shift] * diagonal.mean()
        return panel
