"""Products of centred descriptions, in single precision: most of the work of an adapted kernel."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.described import Described, Rows

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
HEIGHT = 1024


class Products(Protocol):
    """Rows of R R', where R are the descriptions less their row means."""

    def means(self, rows: Rows) -> Floats:
        """The row means of these documents."""

    def prepare(self, rows: Rows) -> None:
        """These documents come next, the source first."""

    def panel(self, start: int, stop: int) -> Singles:
        """R[start:stop] R[:stop]' of the prepared documents."""


class ProductsByNeed:
    """Computed for one source and the documents that join it; the source is described once."""

    def __init__(self, documents: Described, source: Rows) -> None:
        self.documents, self.n_source = documents, len(source)
        self._means = np.zeros(len(documents))
        self._source = self._added = self._describe(source)

    def means(self, rows: Rows) -> Floats:
        return self._means[rows]

    def prepare(self, rows: Rows) -> None:
        self._added = self._describe(rows[self.n_source :])

    def panel(self, start: int, stop: int) -> Singles:
        """The square at the end of the rows is symmetric, which halves its work."""
        panel = np.empty((stop - start, stop), np.float32)
        if start < self.n_source:
            rows, before, left = self._source[start:stop], self._source[:start], 0
        else:
            left = self.n_source
            rows, before = self._added[start - left : stop - left], self._added[: start - left]
            np.matmul(rows, self._source.T, out=panel[:, :left])
        np.matmul(rows, before.T, out=panel[:, left:start])
        panel[:, start:] = rows @ rows.T
        return panel

    def _describe(self, rows: Rows) -> Singles:
        centred, self._means[rows] = self.documents.centred(rows)
        return centred


class ProductsOfAll:
    """Computed once for all documents: for several sources and targets among the same documents."""

    def __init__(self, documents: Described) -> None:
        n = len(documents)
        centred, self._means = documents.centred(np.arange(n))
        self._matrix = np.empty((n, n), np.float32)
        for start in range(0, n, HEIGHT):
            stop = min(start + HEIGHT, n)
            np.matmul(centred[start:stop], centred[:stop].T, out=self._matrix[start:stop, :stop])
            self._matrix[:start, start:stop] = self._matrix[start:stop, :start].T
        self._rows = np.arange(n)

    def means(self, rows: Rows) -> Floats:
        return self._means[rows]

    def prepare(self, rows: Rows) -> None:
        self._rows = rows

    def panel(self, start: int, stop: int) -> Singles:
        return self._matrix[np.ix_(self._rows[start:stop], self._rows[:stop])]
