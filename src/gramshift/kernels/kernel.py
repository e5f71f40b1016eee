"""The base classes of all kernels, which fill tiles of a kernel matrix and plan their size."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.compiled.counting import normalize_tile
from gramshift.kernels.weighting import Weighting
from gramshift.ngrams.sorted_ngrams import Run, SortedNGrams
from gramshift.text.encode import Encoded

Floats = NDArray[np.float64]
TILE_CELLS = 1 << 23  # enough work to be worth a start, little enough to show progress
STRIPS_PER_THREAD = 3  # so that threads finish together
ROW_BYTES = 16384  # scratch memory for each row of a tile
TILE_NANOSECONDS = 2e8  # of a tile of pairs, so that Ctrl-C and the progress bar respond
MAX_STRIPS = 512  # tiles along one side of the matrix: each of them takes memory too


@dataclass(frozen=True)
class Job:
    """The documents of a kernel matrix, and all that a kernel needs to prepare it.

    All documents are compared with each other, or those after the first ``n_cols`` with these.
    ``run`` applies a function to many items; ``check_size`` receives the bytes of large arrays
    before they are allocated, and may raise.
    """

    texts: Encoded
    n_cols: int | None
    ngram_range: tuple[int, int]
    normalize: bool
    parameters: Mapping[str, Any]
    run: Run
    check_size: Callable[[int], None]
    weighting: Weighting | None = None
    """Weights of n-grams, from the documents of the columns; only for kinds that allow weights."""

    @property
    def ngrams(self) -> SortedNGrams:
        """The n-grams of the texts."""
        return SortedNGrams(self.texts, self.ngram_range)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return self.texts.n_docs if self.n_cols is None else self.n_cols

    @property
    def first_row(self) -> int:
        """The document of the first row."""
        return self.n_cols or 0


@dataclass(frozen=True)
class TilePlan:
    """The size of tiles, and the number of threads that fill them."""

    height: int
    width: int
    n_threads: int
    tile_bytes: int = 0
    """The scratch memory for a tile of any height."""
    row_bytes: int = 0
    """The scratch memory for each row of a tile, in addition."""

    @property
    def nbytes(self) -> int:
        """The scratch memory of all threads."""
        return self.n_threads * (self.tile_bytes + self.height * self.row_bytes)


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel that fills tiles of a kernel matrix.

    Columns are documents 0 to n_cols - 1, rows are documents from ``first_row`` on.
    """

    n_cols: int
    first_row: int
    self_values: NDArray[Any]
    """The kernel of each document with itself."""

    dtype: ClassVar[Any] = np.float64
    """The type of values that are not normalised; eight bytes wide."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the kernel matrix."""
        return self.self_values.size - self.first_row, self.n_cols

    @property
    def symmetric(self) -> bool:
        """True if rows and columns are the same documents.

        Then only tiles below the diagonal and on it are filled.
        """
        return self.first_row == 0 and self.n_cols == self.self_values.size

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(getattr(value, "nbytes", 0) for value in vars(self).values())

    @property
    def seconds(self) -> float:
        """The estimated time of all tiles on one core; 0 if it is too short to announce."""
        return 0.0

    def plan(self, budget: int, n_threads: int) -> TilePlan:
        """Return the tiles that suit the kernel, with ``budget`` bytes of scratch memory in all."""
        return plan_strips(*self.shape, n_threads=n_threads, budget=budget)

    def begin(self, run: Run) -> None:  # noqa: B027  most have nothing to do
        """Precompute what all tiles need."""

    def fill(self, rows: slice, cols: slice, gram: NDArray[Any]) -> None:
        """Set gram[i, j] = k(i, j) in a tile.

        In a symmetric matrix the tile lies below the diagonal or contains its part of it.
        """
        self.fill_below(rows, cols, gram)
        if self.symmetric and cols.stop > rows.start:
            square = gram[rows, rows]
            np.copyto(square, square.T, where=np.triu(np.ones(square.shape, bool), 1))
            np.fill_diagonal(square, self.self_values[rows])

    @abstractmethod
    def fill_below(self, rows: slice, cols: slice, gram: NDArray[Any]) -> None:
        """Fill the tile; in a symmetric matrix only below the diagonal."""

    def normalize(self, rows: slice, cols: slice, gram: NDArray[Any]) -> None:
        """Replace k by k / sqrt(k(i, i) * k(j, j)), as float64 in the same memory.

        Documents without n-grams have 0.
        """
        values = self.self_values
        normalize_tile(
            values[self.first_row :], values, rows.start, rows.stop, cols.start, cols.stop, gram
        )


def plan_strips(n_rows: int, n_cols: int, *, n_threads: int, budget: int) -> TilePlan:
    """Plan strips of whole rows, as tall as the budget allows; wide matrices are cut twice."""
    width = max(1, min(n_cols, TILE_CELLS // 64))
    affordable = budget // (n_threads * ROW_BYTES)
    fair = max(32, n_rows // (STRIPS_PER_THREAD * n_threads))
    height = max(1, min(n_rows, fair, TILE_CELLS // width, affordable))
    height = 1 << (height.bit_length() - 1)  # a power of two, so that tiles do not straddle blocks
    return TilePlan(height, width, n_threads, row_bytes=ROW_BYTES)


@dataclass(frozen=True)
class PairKernel(Kernel):
    """A kernel that compares every pair of documents on its own."""

    lengths: NDArray[np.int64]
    """The number that the work for each document grows with, such as its characters."""

    @property
    @abstractmethod
    def tile_bytes(self) -> int:
        """The scratch memory for a tile."""

    @abstractmethod
    def compare(self, doc: int, col0: int, col1: int, out: Floats) -> None:
        """Set ``out`` to k(doc, j) for the columns j from col0 to col1 - 1."""

    @abstractmethod
    def nanoseconds(self, n_rows: int, row_length: float, n_cols: int, col_length: float) -> float:
        """Estimate the time of rows and columns, given their total lengths, on one core."""

    @property
    def seconds(self) -> float:
        """The estimated time of all tiles on one core."""
        rows, cols = self.lengths[self.first_row :], self.lengths[: self.n_cols]
        nanoseconds = self.nanoseconds(len(rows), float(rows.sum()), len(cols), float(cols.sum()))
        return nanoseconds / 1e9 / (2 if self.symmetric else 1)

    def plan(self, budget: int, n_threads: int) -> TilePlan:
        """Plan squares that take a thread a fraction of a second."""
        rows, cols = self.lengths[self.first_row :], self.lengths[: self.n_cols]
        return plan_pairs(
            rows,
            cols,
            n_threads=n_threads,
            tile_bytes=self.tile_bytes,
            nanoseconds=self.nanoseconds,
        )

    def fill_below(self, rows: slice, cols: slice, gram: Floats) -> None:
        """Compare each row of the tile with its columns."""
        for row in range(rows.start, rows.stop):
            stop = min(cols.stop, row) if self.symmetric else cols.stop
            if stop > cols.start:
                self.compare(self.first_row + row, cols.start, stop, gram[row, cols.start : stop])

    def normalize(self, rows: slice, cols: slice, gram: Floats) -> None:
        """Replace k by k / sqrt(k(i, i) * k(j, j)), at most 1."""
        super().normalize(rows, cols, gram)
        np.minimum(gram[rows, cols], 1.0, out=gram[rows, cols])  # rounding may lead beyond 1


def plan_pairs(
    row_lengths: NDArray[np.int64],
    col_lengths: NDArray[np.int64],
    *,
    n_threads: int,
    tile_bytes: int,
    nanoseconds: Callable[[int, float, int, float], float],
) -> TilePlan:
    """Plan squares that take a thread a fraction of a second, if cost depends on lengths.

    ``nanoseconds`` estimates the cost, as :meth:`PairKernel.nanoseconds` does. A single pair of
    documents that takes longer by itself does not make tiles smaller.
    """
    longest = float(row_lengths.max()), float(col_lengths.max())
    most = max(TILE_NANOSECONDS, 2 * nanoseconds(1, longest[0], 1, longest[1]))
    least = -(-max(row_lengths.size, col_lengths.size) // MAX_STRIPS)
    side = max(1024, least)
    while (
        side > least
        and nanoseconds(
            side, _longest_strip(row_lengths, side), side, _longest_strip(col_lengths, side)
        )
        > most
    ):
        side = max(side // 2, least)
    return TilePlan(min(side, row_lengths.size), min(side, col_lengths.size), n_threads, tile_bytes)


def _longest_strip(lengths: NDArray[np.int64], side: int) -> float:
    """Return the largest total length of ``side`` documents in a row."""
    return float(np.add.reduceat(lengths, np.arange(0, lengths.size, side)).max())
