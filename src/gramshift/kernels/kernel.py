"""What the engine asks of a kernel: to fill tiles, to say which tiles suit it, and what that takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.weighting import Weighting
from gramshift.ngrams.sorted_ngrams import Run, SortedNGrams, sort_ngrams
from gramshift.text.encode import Encoded

TILE_CELLS = 1 << 23  # enough work to be worth a start, little enough to show progress
STRIPS_PER_THREAD = 3  # so that threads finish together


@dataclass(frozen=True)
class Job:
    """What a kernel is made ready for: documents with each other, or, with ``n_cols``, those after the first n_cols with these.

    ``run`` applies a function to many items; ``check_size`` is told of large arrays before they are made, and may raise.
    """

    texts: Encoded
    n_cols: int | None
    ngram_range: tuple[int, int]
    normalize: bool
    parameters: Mapping[str, Any]
    run: Run
    check_size: Callable[[int], None]
    weighting: Weighting | None = None
    """What n-grams weigh, by the documents of the columns; only for kinds that can be weighted."""

    @property
    def ngrams(self) -> SortedNGrams:
        """The n-grams of the texts, to be read once."""
        return sort_ngrams(self.texts, self.ngram_range, keep=False)

    @property
    def columns(self) -> int:
        return self.texts.n_docs if self.n_cols is None else self.n_cols

    @property
    def first_row(self) -> int:
        return self.n_cols or 0


@dataclass(frozen=True)
class Plan:
    """How large the tiles of a gram are, and how many threads fill them at once."""

    height: int
    width: int
    n_threads: int
    tile_bytes: int = 0
    """What a tile under way takes beside the gram, however tall it is."""
    row_bytes: int = 0
    """What it takes for each of its rows beside that."""

    @property
    def nbytes(self) -> int:
        return self.n_threads * (self.tile_bytes + self.height * self.row_bytes)


class Kernel(Protocol):
    """What fills the tiles of a gram of certain documents, rows and columns."""

    @property
    def dtype(self) -> Any:
        """The type of values that are not normalised; eight bytes wide."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def symmetric(self) -> bool:
        """Whether rows and columns are the same documents; then only tiles below the diagonal and on it are filled."""

    @property
    def nbytes(self) -> int:
        """How many bytes it holds."""

    @property
    def seconds(self) -> float:
        """About how long all tiles take on one core; 0 if that is never worth a word beforehand."""

    def plan(self, budget: int, n_threads: int) -> Plan:
        """The tiles that suit the kernel, with ``budget`` bytes for what so many threads need beside the gram."""

    def begin(self, run: Run) -> None:
        """Do what takes long and is needed for all tiles."""

    def fill(self, rows: slice, cols: slice, gram: NDArray[Any]) -> None:
        """gram[i, j] = k(i, j) in the tile; in a symmetric gram it holds its part of the diagonal or lies below it."""

    def normalize(self, rows: slice, cols: slice, gram: NDArray[Any]) -> None:
        """Replace k by k / sqrt(k(i, i) * k(j, j)) as float64 in the same place, 0 for documents without n-grams."""


def complete_square(gram: NDArray[Any], rows: slice, self_values: NDArray[Any]) -> None:
    """Mirror the part of the square on the diagonal that lies below it, and set the diagonal."""
    square = gram[rows, rows]
    np.copyto(square, square.T, where=np.triu(np.ones(square.shape, bool), 1))
    np.fill_diagonal(square, self_values[rows])


class CountingKernel:
    """What kernels share that go through a row's n-grams, all of them at once: their cost is that of the n-grams."""

    BYTES_PER_ROW = 16384  # beside the gram, for each row of a tile
    seconds = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        raise NotImplementedError

    def plan(self, budget: int, n_threads: int) -> Plan:
        """Strips of whole rows, as tall as the budget allows for all threads together."""
        return plan_strips(*self.shape, n_threads=n_threads, budget=budget, row_bytes=self.BYTES_PER_ROW)

    def begin(self, run: Run) -> None:
        """Nothing is left to do."""


def plan_strips(n_rows: int, n_cols: int, *, n_threads: int, budget: int, row_bytes: int) -> Plan:
    """Strips of whole rows, as tall as the budget allows for all threads together; wide grams are cut into columns too."""
    width = max(1, min(n_cols, TILE_CELLS // 64))
    affordable = budget // (n_threads * row_bytes)
    fair = max(32, n_rows // (STRIPS_PER_THREAD * n_threads))
    height = max(1, min(n_rows, fair, TILE_CELLS // width, affordable))
    height = 1 << (height.bit_length() - 1)  # a power of two, so that tiles do not straddle blocks
    return Plan(height, width, n_threads, row_bytes=row_bytes)
