"""An approximate inverse of the ridge system, from a Cholesky factor in single precision."""

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.described import Described, Rows
from gramshift.learn.factor import GrowingFactor, NotPositiveError

Floats = NDArray[np.float64]
SHIFTS = (0.0, 1e-5, 1e-3)  # times the mean diagonal, added to it where rounding would leave no factor


class Preconditioner:
    """(K + D)^-1 to single precision, for training sets that all begin with the same source documents.

    D is diagonal, with ``penalty`` for each document. An adapted kernel is the product of descriptions R + m 1' with their own
    transpose, m the row means and R the rest, whose rows add up to 0: R R' + n m m'. Single precision is enough for R R'
    only, so the other direction is set apart.
    """

    def __init__(self, documents: Described, source: Rows, penalty: Floats) -> None:
        self.documents, self.source, self.penalty = documents, source, penalty
        self.rows = source
        self._means = np.zeros(len(documents))
        self._centred = [self._describe(source)] if documents.adapt else []
        self._factor, self._n_source_panels, self._shift = GrowingFactor(), 0, 0

    def grow(self, rows: Rows) -> bool:
        """Make ready for these training documents, the source first; False if there is no factor in single precision."""
        while self._shift < len(SHIFTS):
            try:
                self._grow(rows)
                return True
            except NotPositiveError:
                self._shift += 1
                self._n_source_panels = 0
        return False

    def __call__(self, vectors: Floats) -> Floats:
        """(R R' + D)^-1 times vectors, or that of K-hat."""
        return self._factor.solve(vectors)

    def apart(self) -> Floats:
        """The direction in which n m m' counts, as a column: (R R' + D)^-1 m."""
        return self._factor.solve(self._means[self.rows, None][:, : self.documents.adapt])

    def inverse_diagonal(self) -> Floats:
        """The diagonal of the whole inverse, n m m' included (Sherman and Morrison)."""
        diagonal = self._factor.inverse_diagonal()
        means = self._means[self.rows]
        for solved in self.apart().T:
            diagonal -= solved**2 / (1 / len(self.documents) + means @ solved)
        return diagonal

    def _grow(self, rows: Rows) -> None:
        n_source = len(self.source)
        self.rows = rows
        self._factor.cut(self._n_source_panels)
        if not len(self._factor):
            self._factor.grow(self._panel, n_source)
            self._n_source_panels = len(self._factor.panels)
        if self.documents.adapt:
            self._centred = [self._centred[0], self._describe(rows[n_source:])]
        self._factor.grow(self._panel, len(rows))

    def _describe(self, rows: Rows) -> NDArray[np.float32]:
        centred, self._means[rows] = self.documents.centred(rows)
        return centred

    def _panel(self, start: int, stop: int) -> NDArray[np.float32]:
        """Rows of R R', or of K-hat, with the penalty on the diagonal."""
        if self.documents.adapt:
            panel = self._products(start, stop)
        else:
            panel = np.ascontiguousarray(self.documents.centred(self.rows[start:stop])[0][:, self.rows[:stop]])
        diagonal = np.einsum("ii->i", panel[:, start:])
        diagonal += self.penalty[self.rows[start:stop]] + SHIFTS[self._shift] * diagonal.mean()
        return panel

    def _products(self, start: int, stop: int) -> NDArray[np.float32]:
        """Rows of R R' up to the diagonal; the square at their end is symmetric, which halves its work."""
        n_source = len(self.source)
        source, added = self._centred[0], self._centred[-1]
        panel = np.empty((stop - start, stop), np.float32)
        if start < n_source:
            rows, before, left = source[start:stop], source[:start], 0
        else:
            rows, before, left = added[start - n_source : stop - n_source], added[: start - n_source], n_source
            np.matmul(rows, source.T, out=panel[:, :n_source])
        np.matmul(rows, before.T, out=panel[:, left:start])
        panel[:, start:] = rows @ rows.T
        return panel
