"""Products of centred rows in single precision, the most expensive step of an adapted kernel."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import KernelFeatures
from gramshift.learn.training_set import Rows

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Report = Callable[[int], None]
"""Called with the number of finished rows."""
STRIP_HEIGHT = 1024  # rows: many enough for fast products, few enough to be interrupted soon


class Products(Protocol):
    """Products R R', where R are the features minus a constant in each row, mostly its mean."""

    def directions(self, rows: Rows) -> Floats:
        """Return columns that span the rest of the kernel of these documents, beyond R R'."""

    def multiply(self, rows: Rows, report: Report) -> Singles:
        """Return a new array with the lower triangle of R R' of these documents, source first."""


class ProductsByNeed:
    """Products for one source and the documents that join it.

    The part of the source is computed once.
    """

    def __init__(self, documents: KernelFeatures, source: Rows) -> None:
        self.documents, self.n_source = documents, len(source)
        self._means = np.zeros(len(documents))
        self._source = self._describe(source)
        self._square: Singles | None = None

    def directions(self, rows: Rows) -> Floats:
        """Return the row means."""
        return self._means[rows, None]

    def multiply(self, rows: Rows, report: Report) -> Singles:
        """Return the lower triangle of R R' of these documents, source first."""
        n_source, added = self.n_source, self._describe(rows[self.n_source :])
        products = np.empty((len(rows), len(rows)), np.float32)
        if self._square is None:
            self._square = np.empty((n_source, n_source), np.float32)
            _multiply_strips(self._source, self._square, report)
        products[:n_source, :n_source] = self._square
        for start in range(0, len(added), STRIP_HEIGHT):
            strip = added[start : start + STRIP_HEIGHT]
            np.matmul(
                strip,
                self._source.T,
                out=products[n_source + start : n_source + start + len(strip), :n_source],
            )
        _multiply_strips(
            added, products[n_source:, n_source:], lambda done: report(n_source + done)
        )
        return products

    def _describe(self, rows: Rows) -> Singles:
        centred, self._means[rows] = self.documents.centred(rows)
        return centred


def _multiply_strips(rows: Singles, out: Singles, report: Report) -> None:
    """Compute the lower triangle of rows @ rows.T, and a little more, strip by strip."""
    for start in range(0, len(rows), STRIP_HEIGHT):
        stop = min(start + STRIP_HEIGHT, len(rows))
        np.matmul(rows[start:stop], rows[:stop].T, out=out[start:stop, :stop])
        report(stop)


class SharedProducts:
    """Products computed once for many settings among the same documents.

    Each part of the columns has a matrix of its own. The features of a setting are the columns of
    some parts, so that its products are the sum of their matrices.
    """

    def __init__(self, documents: KernelFeatures, parts: list[slice]) -> None:
        n = len(documents)
        centred, self.means = documents.centred(np.arange(n))
        self.sums = np.stack(
            [centred[:, part].sum(axis=1, dtype=np.float64) for part in parts], axis=1
        )
        self.matrices = [np.empty((n, n), np.float32) for _ in parts]
        for part, matrix in zip(parts, self.matrices, strict=True):
            _multiply_strips(centred[:, part], matrix, lambda done: None)
            for start in range(STRIP_HEIGHT, n, STRIP_HEIGHT):
                matrix[:start, start : start + STRIP_HEIGHT] = matrix[
                    start : start + STRIP_HEIGHT, :start
                ].T

    def choose(self, rows: Rows, parts: list[int]) -> "ChosenProducts":
        """Return the products of the documents ``rows``, with the columns of these parts."""
        return ChosenProducts(self, rows, parts)


class ChosenProducts:
    """Shared products of some documents, numbered by their position in ``rows``."""

    def __init__(self, shared: SharedProducts, rows: Rows, parts: list[int]) -> None:
        runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)  # slices are faster
        places = [slice(int(run[0]), int(run[-1]) + 1) for run in runs]
        self._matrix = np.block([[shared.matrices[parts[0]][a, b] for b in places] for a in places])
        for part in parts[1:]:
            top = 0
            for a in places:
                height, left = a.stop - a.start, 0
                for b in places:
                    width = b.stop - b.start
                    self._matrix[top : top + height, left : left + width] += shared.matrices[part][
                        a, b
                    ]
                    left += width
                top += height
        self._directions = np.column_stack(
            [shared.means[rows], shared.sums[rows][:, parts].sum(axis=1)]
        )

    def directions(self, rows: Rows) -> Floats:
        """Return the row means over all columns, and the row sums left in the chosen columns."""
        return self._directions[rows]

    def multiply(self, rows: Rows, report: Report) -> Singles:
        """Return the products of these documents."""
        return np.take(self._matrix[rows], rows, axis=1)
