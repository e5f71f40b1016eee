"""Conjugate gradients for several right-hand sides at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DEPENDENT = 1e-10  # directions that differ by less are one
Map = Callable[[Floats], Floats]


def conjugate_gradients(
    multiply: Map, precondition: Map, right: Floats, *, apart: Floats, tolerance: float, limit: int
) -> Floats | None:
    """Solve multiply(x) = right until no residual is above ``tolerance``; None if ``limit`` steps do not get there.

    The best x among the combinations of first guesses and of ``apart``, directions that ``precondition`` cannot do well, is
    found at once, and the steps keep clear of all these.
    """
    apart = np.hstack([apart, precondition(right)])
    apart = apart / np.maximum(np.linalg.norm(apart, axis=0), np.finfo(float).tiny)
    image = multiply(apart)
    inverse = np.linalg.pinv(apart.T @ image, rcond=DEPENDENT, hermitian=True)
    x, residual = np.zeros_like(right), right.copy()
    direction, before = np.zeros_like(right), np.ones(right.shape[1])
    for _ in range(limit):
        along = inverse @ (apart.T @ residual)  # after the first time only what rounding brought in
        x += apart @ along
        residual -= image @ along
        if np.abs(residual).max(initial=0.0) <= tolerance:
            return x
        improved = precondition(residual)
        improved -= apart @ (inverse @ (image.T @ improved))
        now = column_dots(residual, improved)
        direction = improved + direction * safe_ratio(now, before)
        moved = multiply(direction)
        step = safe_ratio(now, column_dots(direction, moved))
        x += step * direction
        residual -= step * moved
        before = now
    return None


class Sketch:
    """(K + alpha)^-1 about, from some columns of K (Nystroem): exact where all are given and K has an inverse.

    What these columns do not tell of K is taken to be as large as the least that they tell.
    """

    def __init__(self, columns: Floats, chosen: NDArray[np.intp], alpha: float) -> None:
        core, scale = columns[chosen], np.sqrt(max(1, len(columns)))
        values, vectors = np.linalg.eigh((core + core.T) / 2)
        kept = values > np.finfo(float).eps * scale * len(chosen) * max(
            values.max(initial=0.0), np.finfo(float).tiny
        )
        spread = columns @ (vectors[:, kept] / np.sqrt(values[kept]))
        self._basis, lengths, _ = np.linalg.svd(spread, full_matrices=False)
        self._factors = 1 / (lengths**2 + alpha)
        self._outside = self._factors.max(initial=1 / (1 + alpha))

    def __call__(self, vectors: Floats) -> Floats:
        along = self._basis.T @ vectors
        result: Floats = self._basis @ (self._factors[:, None] * along) + self._outside * (
            vectors - self._basis @ along
        )
        return result


def column_dots(a: Floats, b: Floats) -> Floats:
    result: Floats = np.einsum("ij,ij->j", a, b)
    return result


def safe_ratio(a: Floats, b: Floats) -> Floats:
    """a / b, and 0 for a column that is solved or that rounding has spoilt: it then stays as it is."""
    result: Floats = np.divide(a, b, out=np.zeros_like(a), where=(a > 0) & (b > 0))
    return result


def combine(columns: Floats, factors: Floats) -> Floats:
    """columns @ factors, summed in one order; that of BLAS depends on the number of its threads."""
    result: Floats = np.einsum("ij,jk->ik", columns, factors)
    return result


def inner(a: Floats, b: Floats) -> Floats:
    """a.T @ b, summed in one order."""
    result: Floats = np.einsum("ij,ik->jk", a, b)
    return result


def orthonormalize(columns: Floats) -> tuple[Floats, Floats]:
    """(Q, Z) with columns = Q Z: those of Q are orthonormal, or 0 where a column is a sum of those before it."""
    rows, factors = columns.T.copy(), np.zeros((columns.shape[1], columns.shape[1]))
    for k in range(len(rows)):
        row, others = rows[k], rows[:k]
        most = DEPENDENT * np.linalg.norm(row)
        for _ in range(2):  # once leaves rounding along the others
            along = np.einsum("ji,i->j", others, row)
            row -= np.einsum("ji,j->i", others, along)
            factors[:k, k] += along
        length = np.sqrt(np.einsum("i,i", row, row))
        factors[k, k] = length if length > most else 0.0
        row *= 1 / length if length > most else 0.0
    return np.ascontiguousarray(rows.T), factors
