"""The kernels that count shared n-grams: presence, intersection, spectrum."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.kernel import CountingKernel, complete_square
from gramshift.kernels.leaves.bits import add_bits, add_transposed
from gramshift.kernels.leaves.counting import add_lists, normalize_tile
from gramshift.ngrams.index import NGramIndex

PIECE = 512  # columns whose excess is worked out at once


@dataclass(frozen=True)
class SharedNGrams(CountingKernel):
    """Fills tiles of the gram that an index describes: exact counts as int64."""

    index: NGramIndex

    dtype = np.int64

    @property
    def shape(self) -> tuple[int, int]:
        return self.index.n_rows, self.index.n_cols

    @property
    def symmetric(self) -> bool:
        return self.index.symmetric

    @property
    def nbytes(self) -> int:
        return self.index.nbytes

    def fill(self, rows: slice, cols: slice, gram: NDArray[np.int64]) -> None:
        """gram[i, j] = k(i, j) in the tile; in a symmetric gram it holds its part of the diagonal or lies below it."""
        index, area = self.index, (rows.start, rows.stop, cols.start, cols.stop)
        gram[area[0] : area[1], cols] = 0
        cut = cols.start > 0 or cols.stop < (rows.stop if self.symmetric else index.n_cols)
        add_lists(index.list_ptr, index.list_ref, index.list_factor, index.list_docs, *area, cut, gram)
        add_bits(index.bit_ptr, index.bit_ref, index.bits, *area, 0, 0, gram)
        if index.excess_ref.size:
            self._add_excess(rows, cols, gram)
        if self.symmetric and cols.stop > rows.start:
            complete_square(gram, rows, index.self_values)

    def _add_excess(self, rows: slice, cols: slice, gram: NDArray[np.int64]) -> None:
        """What columns count beyond the bits, found for the columns in the bits of the rows and turned round."""
        index = self.index
        for left in range(cols.start, cols.stop, PIECE):
            right = min(left + PIECE, cols.stop)
            part = np.zeros((right - left, rows.stop - rows.start), np.int64)
            add_bits(index.excess_ptr, index.excess_ref, index.bits, left, right, rows.start, rows.stop, left, rows.start, part)
            add_transposed(part, rows.start, left, gram)

    def normalize(self, rows: slice, cols: slice, gram: NDArray[np.int64]) -> None:
        """Replace counts by counts / sqrt(k(i, i) * k(j, j)) as float64 in the same place, 0 for documents without n-grams."""
        values, area = self.index.self_values, (rows.start, rows.stop, cols.start, cols.stop)
        normalize_tile(values[self.index.first_row :], values, *area, gram)
