"""Products of centred features, in single precision: most of the work of an adapted kernel."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import GramFeatures
from gramshift.learn.labelling import Rows

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Report = Callable[[int], None]
"""Called with the number of rows that are done."""
HEIGHT = 1024  # rows of a strip: large enough to be fast, small enough to be interrupted soon


class Products(Protocol):
    """Products R R', where R are features minus a constant per row: mostly its mean."""

    def directions(self, rows: Rows) -> Floats:
        """Return columns that span the part of the kernel of these documents beyond R R'."""

    def multiply(self, rows: Rows, report: Report) -> Singles:
        """Return a new array with the lower triangle of R R' of documents, the source first."""


class ProductsByNeed:
    """Products for one source and the documents that join it; those of the source are kept."""

    def __init__(self, documents: GramFeatures, source: Rows) -> None:
        self.documents, self.n_source = documents, len(source)
        self._means = np.zeros(len(documents))
        self._source = self._describe(source)
        self._square: Singles | None = None

    def directions(self, rows: Rows) -> Floats:
        """Return the row means."""
        return self._means[rows, None]

    def multiply(self, rows: Rows, report: Report) -> Singles:
        n_source, added = self.n_source, self._describe(rows[self.n_source :])
        products = np.empty((len(rows), len(rows)), np.float32)
        if self._square is None:
            self._square = np.empty((n_source, n_source), np.float32)
            _multiply_strips(self._source, self._square, report)
        products[:n_source, :n_source] = self._square
        for start in range(0, len(added), HEIGHT):
            strip = added[start : start + HEIGHT]
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
    """Compute the lower triangle of rows @ rows.T, strip by strip, and some cells above it."""
    for start in range(0, len(rows), HEIGHT):
        stop = min(start + HEIGHT, len(rows))
        np.matmul(rows[start:stop], rows[:stop].T, out=out[start:stop, :stop])
        report(stop)


class SharedProducts:
    """Products of all documents, separate for each part of the columns.

    They serve many settings among the same documents: one over some of the parts has the columns of
    these as features, so its products are their sum.
    """

    def __init__(self, documents: GramFeatures, parts: list[slice]) -> None:
        n = len(documents)
        centred, self.means = documents.centred(np.arange(n))
        self.sums = np.stack(
            [centred[:, part].sum(axis=1, dtype=np.float64) for part in parts], axis=1
        )
        self.matrices = [np.empty((n, n), np.float32) for _ in parts]
        for part, matrix in zip(parts, self.matrices, strict=True):
            _multiply_strips(centred[:, part], matrix, lambda done: None)
            for start in range(HEIGHT, n, HEIGHT):
                matrix[:start, start : start + HEIGHT] = matrix[start : start + HEIGHT, :start].T

    def choose(self, rows: Rows, parts: list[int]) -> "ChosenProducts":
        """Return the products of the documents ``rows``, with these parts as features."""
        return ChosenProducts(self, rows, parts)


class ChosenProducts:
    """Some of the shared products; documents are numbered as in ``rows``."""

    def __init__(self, shared: SharedProducts, rows: Rows, parts: list[int]) -> None:
        runs = np.split(
            rows, np.flatnonzero(np.diff(rows) != 1) + 1
        )  # slices are copied faster than single rows
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
        """Return the row means over all columns, and over the chosen ones."""
        return self._directions[rows]

    def multiply(self, rows: Rows, report: Report) -> Singles:
        return np.take(self._matrix[rows], rows, axis=1)
