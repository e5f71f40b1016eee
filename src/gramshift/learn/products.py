"""Products of centred descriptions, in single precision: most of the work of an adapted kernel."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import GramFeatures
from gramshift.learn.labelling import Rows

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
HEIGHT = 1024


class Products(Protocol):
    """Rows of R R', where R are the descriptions less something constant in every row: mostly its mean."""

    def directions(self, rows: Rows) -> Floats:
        """Columns that span what the whole kernel of these documents has beside R R'."""

    def prepare(self, rows: Rows) -> None:
        """These documents come next, the source first."""

    def panel(self, start: int, stop: int) -> Singles:
        """R[start:stop] R[:stop]' of the prepared documents."""


class ProductsByNeed:
    """Computed for one source and the documents that join it; the source is described once."""

    def __init__(self, documents: GramFeatures, source: Rows) -> None:
        self.documents, self.n_source = documents, len(source)
        self._means = np.zeros(len(documents))
        self._source = self._added = self._describe(source)

    def directions(self, rows: Rows) -> Floats:
        """The row means."""
        return self._means[rows, None]

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


class SharedProducts:
    """Computed once for all documents, apart for each part of the columns: for many settings among the same documents.

    A setting over some of the parts is described by the columns of these only, so its products are their sum.
    """

    def __init__(self, documents: GramFeatures, parts: list[slice]) -> None:
        n = len(documents)
        centred, self.means = documents.centred(np.arange(n))
        self.sums = np.stack([centred[:, part].sum(axis=1, dtype=np.float64) for part in parts], axis=1)
        self.matrices = [np.empty((n, n), np.float32) for _ in parts]
        for part, matrix in zip(parts, self.matrices, strict=True):
            columns = centred[:, part]
            for start in range(0, n, HEIGHT):
                stop = min(start + HEIGHT, n)
                np.matmul(columns[start:stop], columns[:stop].T, out=matrix[start:stop, :stop])
                matrix[:start, start:stop] = matrix[start:stop, :start].T

    def choose(self, rows: Rows, parts: list[int]) -> "ChosenProducts":
        """For the documents ``rows``, described by these parts."""
        return ChosenProducts(self, rows, parts)


class ChosenProducts:
    """A share of the shared products; documents are numbered as in ``rows``."""

    def __init__(self, shared: SharedProducts, rows: Rows, parts: list[int]) -> None:
        runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)  # slices are copied faster than single rows
        places = [slice(int(run[0]), int(run[-1]) + 1) for run in runs]
        self._matrix = np.block([[shared.matrices[parts[0]][a, b] for b in places] for a in places])
        for part in parts[1:]:
            top = 0
            for a in places:
                height, left = a.stop - a.start, 0
                for b in places:
                    width = b.stop - b.start
                    self._matrix[top : top + height, left : left + width] += shared.matrices[part][a, b]
                    left += width
                top += height
        self._directions = np.column_stack([shared.means[rows], shared.sums[rows][:, parts].sum(axis=1)])
        self._rows = np.arange(len(rows))

    def directions(self, rows: Rows) -> Floats:
        """The row means, over all columns, and what is left of them in the chosen ones."""
        return self._directions[rows]

    def prepare(self, rows: Rows) -> None:
        self._rows = rows

    def panel(self, start: int, stop: int) -> Singles:
        return np.take(self._matrix[self._rows[start:stop]], self._rows[:stop], axis=1)
