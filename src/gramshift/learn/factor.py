"""A Cholesky factor in single precision that can grow: rows are added at its end, in panels."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gramshift.runtime.threads import ONE_BLAS_THREAD

Singles = NDArray[np.float32]
MakePanel = Callable[[int, int], Singles]
"""(start, stop) -> rows start to stop of the matrix, as far as the diagonal: shape (stop - start, stop)."""
Report = Callable[[int], None]
"""Called with the number of rows that are done."""
SMALL = 96  # squares below this size are left to LAPACK
HEIGHT = 768  # rows of a panel: large enough for fast products, small enough to be interrupted between two of them


def ignore(done: int) -> None:
    """For those who do not want to know."""


class NotPositiveError(ArithmeticError):
    """A pivot is not positive in single precision."""


class GrowingFactor:
    """Lower triangle L with L L' = A, kept as panels of rows: half the memory of a square.

    Where the square on the diagonal of L stands, a panel holds its inverse: products are faster than substitution.
    """

    def __init__(self) -> None:
        self.panels: list[Singles] = []

    def __len__(self) -> int:
        return self.panels[-1].shape[1] if self.panels else 0

    def cut(self, n_panels: int) -> None:
        """Forget all but the first panels."""
        del self.panels[n_panels:]

    def grow(self, make_panel: MakePanel, size: int, report: Report = ignore) -> None:
        """Add rows of the matrix until there are ``size``; ``report`` is told how many there are."""
        for start in range(len(self), size, HEIGHT):
            rows = make_panel(start, min(start + HEIGHT, size))
            for earlier, left, right in self._panels():
                block = rows[:, left:right] - rows[:, :left] @ earlier[:, :left].T
                rows[:, left:right] = block @ earlier[:, left:].T
            rows[:, start:] -= rows[:, :start] @ rows[:, :start].T
            rows[:, start:] = _invert(rows[:, start:])
            self.panels.append(rows)
            report(len(self))

    def solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """A^-1 right, to single precision.

        On one thread: those of BLAS would go on spinning and slow down ours, which follow at once.
        """
        x = right.astype(np.float32)
        with ONE_BLAS_THREAD:
            for rows, left, stop in self._panels():
                x[left:stop] = rows[:, left:] @ (x[left:stop] - rows[:, :left] @ x[:left])
            for rows, left, stop in reversed(list(self._panels())):
                x[left:stop] = rows[:, left:].T @ x[left:stop]
                x[:left] -= rows[:, :left].T @ x[left:stop]
        return x.astype(np.float64)

    def inverse_diagonal(self, report: Report = ignore) -> NDArray[np.float64]:
        """The diagonal of A^-1, the column sums of squares of L^-1, to single precision."""
        total = np.zeros(len(self))
        inverse: list[Singles] = []
        for rows, left, stop in self._panels():
            right = np.zeros((stop - left, stop), np.float32)
            for above, (_, first, last) in zip(inverse, self._panels(), strict=False):
                right[:, :last] -= rows[:, first:last] @ above
            right = rows[:, left:] @ right
            right[:, left:] = rows[:, left:]
            inverse.append(right)
            total[:stop] += np.einsum("ij,ij->j", right, right, dtype=np.float64)
            report(stop)
        return total

    def _panels(self) -> Iterator[tuple[Singles, int, int]]:
        """Each panel with the first and the last column of its square."""
        for rows in self.panels:
            yield rows, rows.shape[1] - rows.shape[0], rows.shape[1]


def _invert(square: Singles) -> Singles:
    """L^-1 for a square L L', by halves, so that most of the work is products."""
    n = len(square)
    if n <= SMALL:
        try:
            return np.linalg.inv(np.linalg.cholesky(square))
        except np.linalg.LinAlgError:
            raise NotPositiveError from None
    half = n // 2
    result = np.zeros_like(square)
    upper = result[:half, :half] = _invert(square[:half, :half])
    left = square[half:, :half] @ upper.T
    lower = result[half:, half:] = _invert(square[half:, half:] - left @ left.T)
    result[half:, :half] = -(lower @ (left @ upper))
    return result
