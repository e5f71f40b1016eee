"""Kernel ridge regression for several targets at once."""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]


class SingularKernelError(ValueError):
    """The system cannot be solved in double precision."""


def solve_ridge(kernel: Floats, targets: Floats, alpha: float, *, bias: bool = False) -> tuple[Floats, Floats]:
    """Dual weights W and intercepts b that minimise |K W + b - Y|^2 + alpha tr(W' K W).

    Without ``bias`` b is 0, as in the reference that the paper names; with it b is not penalised.
    """
    system = kernel + alpha * np.eye(len(kernel))
    try:
        factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        scale = float(np.trace(kernel)) / max(1, len(kernel))
        raise SingularKernelError(
            f"alpha={alpha:g} is too small for this kernel (its mean diagonal is {scale:.3g}): the system is singular in "
            f"double precision; try alpha={max(alpha, 1e-12 * len(kernel) * scale):.1g} or larger"
        ) from None
    weights: Floats = linalg.cho_solve(factor, targets, check_finite=False)
    if not bias:
        return weights, np.zeros(targets.shape[1])
    ones: Floats = linalg.cho_solve(factor, np.ones(len(kernel)), check_finite=False)
    intercept: Floats = weights.sum(axis=0) / ones.sum()
    return weights - np.multiply.outer(ones, intercept), intercept


def leave_one_out_scores(kernel: Floats, targets: Floats, alpha: float, *, bias: bool = False) -> Floats:
    """What each document would score by a fit without it, in closed form: y - w / diag((K + alpha I)^-1)."""
    n = len(kernel)
    system = kernel + alpha * np.eye(n)
    if bias:  # the same closed form holds for the bordered system
        system = np.block([[system, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        targets = np.vstack([targets, np.zeros(targets.shape[1])])
    inverse = linalg.inv(system, check_finite=False)
    scores: Floats = targets - (inverse @ targets) / np.diagonal(inverse)[:, None]
    return scores[:n]
