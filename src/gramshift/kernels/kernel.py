"""What the engine asks of a kernel: to fill tiles, and to say what that takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.weighting import Weighting
from gramshift.ngrams.sorted_ngrams import Run, SortedNGrams, sort_ngrams
from gramshift.text.encode import Encoded


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
    sorted_ngrams: SortedNGrams | None = None
    """The n-grams of the texts, if they are sorted already."""

    @property
    def ngrams(self) -> SortedNGrams:
        """The n-grams of the texts, to be read once."""
        return self.sorted_ngrams or sort_ngrams(self.texts, self.ngram_range, keep=False)

    @property
    def columns(self) -> int:
        return self.texts.n_docs if self.n_cols is None else self.n_cols

    @property
    def first_row(self) -> int:
        return self.n_cols or 0


class Kernel(Protocol):
    """Made ready for certain documents, rows and columns."""

    @property
    def dtype(self) -> Any:
        """Of values that are not normalised; eight bytes wide."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def symmetric(self) -> bool:
        """Whether rows and columns are the same documents; then only tiles below the diagonal and on it are filled."""

    @property
    def nbytes(self) -> int: ...

    def fill(self, rows: slice, cols: slice, gram: NDArray[Any], top: int = 0) -> None:
        """gram[i - top, j] = k(i, j) in the tile; in a symmetric gram it holds its part of the diagonal or lies below it."""

    def normalize(self, rows: slice, cols: slice, gram: NDArray[Any], top: int = 0) -> None:
        """Replace k by k / sqrt(k(i, i) * k(j, j)) as float64 in the same place, 0 for documents without n-grams."""


def complete_square(gram: NDArray[Any], rows: slice, self_values: NDArray[Any], top: int = 0) -> None:
    """Mirror the part of the square on the diagonal that lies below it, and set the diagonal."""
    square = gram[rows.start - top : rows.stop - top, rows]
    np.copyto(square, square.T, where=np.triu(np.ones(square.shape, bool), 1))
    np.fill_diagonal(square, self_values[rows])
