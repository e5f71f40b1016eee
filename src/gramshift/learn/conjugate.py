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
    """Solve multiply(x) = right until residuals are below ``tolerance``; None after ``limit``.

    The best x in the span of first guesses and of ``apart``, directions in which ``precondition``
    is poor, is found at once, and the steps stay orthogonal to it.
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
    """An approximation of (K + alpha)^-1 from some columns of K (Nystroem).

    It is exact for all columns of an invertible K. Outside the span of the columns, the smallest
    eigenvalue inside is used.
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
        """Return the vectors multiplied by the preconditioner."""
        along = self._basis.T @ vectors
        result: Floats = self._basis @ (self._factors[:, None] * along) + self._outside * (
            vectors - self._basis @ along
        )
        return result


def column_dots(a: Floats, b: Floats) -> Floats:
    """Return the inner product of each column of a with that of b."""
    result: Floats = np.einsum("ij,ij->j", a, b)
    return result


def safe_ratio(a: Floats, b: Floats) -> Floats:
    """Return a / b; 0 for columns that are solved or spoilt by rounding: they stay unchanged."""
    result: Floats = np.divide(a, b, out=np.zeros_like(a), where=(a > 0) & (b > 0))
    return result


def combine(columns: Floats, factors: Floats) -> Floats:
    """Return columns @ factors, summed in a fixed order; that of BLAS depends on its threads."""
    result: Floats = np.einsum("ij,jk->ik", columns, factors)
    return result


def inner(a: Floats, b: Floats) -> Floats:
    """Return a.T @ b, summed in a fixed order."""
    result: Floats = np.einsum("ij,ik->jk", a, b)
    return result


def orthonormalize(columns: Floats) -> tuple[Floats, Floats]:
    """Return (Q, Z) with columns = Q Z; columns of Q are orthonormal, or 0 for dependent ones."""
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
