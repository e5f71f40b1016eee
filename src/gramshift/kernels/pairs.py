"""The base of kernels that look at every pair of documents on its own."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.kernel import complete_square
from gramshift.kernels.leaves.counting import normalize_tile
from gramshift.ngrams.sorted_ngrams import Run

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairKernel(ABC):
    """Fills tiles row by row. Columns are documents ``0 .. n_cols``, rows are documents from ``first_row`` on."""

    lengths: NDArray[np.int64]
    """Characters, or whatever else the work grows with, of each document."""
    n_cols: int
    first_row: int
    self_values: Floats

    dtype = np.float64

    @property
    def shape(self) -> tuple[int, int]:
        return self.lengths.size - self.first_row, self.n_cols

    @property
    def symmetric(self) -> bool:
        return self.first_row == 0 and self.n_cols == self.lengths.size

    @property
    @abstractmethod
    def nbytes(self) -> int: ...

    @property
    @abstractmethod
    def tile_bytes(self) -> int:
        """What filling a tile takes beside the gram."""

    @abstractmethod
    def compare(self, doc: int, col0: int, col1: int, out: Floats) -> None:
        """out[:] = k(doc, j) for the columns j from col0 to col1."""

    @abstractmethod
    def nanoseconds(self, n_rows: int, row_length: float, n_cols: int, col_length: float) -> float:
        """About how long rows and columns with these lengths in all take on one core; as measured."""

    def begin(self, run: Run) -> None:  # noqa: B027  most have nothing to do
        """Do what takes long and is needed for all tiles."""

    def fill(self, rows: slice, cols: slice, gram: Floats, top: int = 0) -> None:
        for row in range(rows.start, rows.stop):
            stop = min(cols.stop, row) if self.symmetric else cols.stop
            if stop > cols.start:
                self.compare(self.first_row + row, cols.start, stop, gram[row - top, cols.start : stop])
        if self.symmetric and cols.stop > rows.start:
            complete_square(gram, rows, self.self_values, top)

    def normalize(self, rows: slice, cols: slice, gram: Floats, top: int = 0) -> None:
        values, height = self.self_values, slice(rows.start - top, rows.stop - top)
        normalize_tile(values[self.first_row + top :], values, height.start, height.stop, cols.start, cols.stop, gram)
        np.minimum(gram[height, cols], 1.0, out=gram[height, cols])  # rounding may lead beyond 1
