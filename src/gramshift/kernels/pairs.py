"""The base of kernels that look at every pair of documents on its own."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.kernel import Plan, complete_square
from gramshift.kernels.leaves.counting import normalize_tile
from gramshift.ngrams.sorted_ngrams import Run

Floats = NDArray[np.float64]
TILE_NANOSECONDS = 2e8  # of work in a tile: short enough to be interrupted, and for a bar to move
STRIPS = 512  # tiles along one side of the gram, at most: each of them takes memory too


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
    def nbytes(self) -> int:
        """How many bytes it holds."""

    @property
    @abstractmethod
    def tile_bytes(self) -> int:
        """How many bytes filling a tile takes beside the gram."""

    @abstractmethod
    def compare(self, doc: int, col0: int, col1: int, out: Floats) -> None:
        """out[:] = k(doc, j) for the columns j from col0 to col1."""

    @abstractmethod
    def nanoseconds(self, n_rows: int, row_length: float, n_cols: int, col_length: float) -> float:
        """About how long rows and columns with these lengths in all take on one core; as measured."""

    @property
    def seconds(self) -> float:
        """About how long all tiles take on one core."""
        rows, cols = self.lengths[self.first_row :], self.lengths[: self.n_cols]
        nanoseconds = self.nanoseconds(len(rows), float(rows.sum()), len(cols), float(cols.sum()))
        return nanoseconds / 1e9 / (2 if self.symmetric else 1)

    def plan(self, budget: int, n_threads: int) -> Plan:
        """Squares that take a thread a fraction of a second."""
        rows, cols = self.lengths[self.first_row :], self.lengths[: self.n_cols]
        return plan_pairs(rows, cols, n_threads=n_threads, tile_bytes=self.tile_bytes, nanoseconds=self.nanoseconds)

    def begin(self, run: Run) -> None:  # noqa: B027  most have nothing to do
        """Do what takes long and is needed for all tiles."""

    def fill(self, rows: slice, cols: slice, gram: Floats) -> None:
        for row in range(rows.start, rows.stop):
            stop = min(cols.stop, row) if self.symmetric else cols.stop
            if stop > cols.start:
                self.compare(self.first_row + row, cols.start, stop, gram[row, cols.start : stop])
        if self.symmetric and cols.stop > rows.start:
            complete_square(gram, rows, self.self_values)

    def normalize(self, rows: slice, cols: slice, gram: Floats) -> None:
        values = self.self_values
        normalize_tile(values[self.first_row :], values, rows.start, rows.stop, cols.start, cols.stop, gram)
        np.minimum(gram[rows, cols], 1.0, out=gram[rows, cols])  # rounding may lead beyond 1


def plan_pairs(
    row_lengths: NDArray[np.int64],
    col_lengths: NDArray[np.int64],
    *,
    n_threads: int,
    tile_bytes: int,
    nanoseconds: Callable[[int, float, int, float], float],
) -> Plan:
    """Squares that take a thread a fraction of a second, for kernels whose cost depends on the lengths of both documents.

    ``nanoseconds`` tells the cost of so many rows and columns with these lengths in all. No tile is made smaller on account
    of one pair of documents that takes longer by itself.
    """
    longest = float(row_lengths.max()), float(col_lengths.max())
    most = max(TILE_NANOSECONDS, 2 * nanoseconds(1, longest[0], 1, longest[1]))
    least = -(-max(row_lengths.size, col_lengths.size) // STRIPS)
    side = max(1024, least)
    while side > least and nanoseconds(side, _longest_strip(row_lengths, side), side, _longest_strip(col_lengths, side)) > most:
        side = max(side // 2, least)
    return Plan(min(side, row_lengths.size), min(side, col_lengths.size), n_threads, tile_bytes)


def _longest_strip(lengths: NDArray[np.int64], side: int) -> float:
    return float(np.add.reduceat(lengths, np.arange(0, lengths.size, side)).max())
