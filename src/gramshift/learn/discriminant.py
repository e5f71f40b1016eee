"""Kernel discriminant analysis, as Giménez-Pérez et al. used it before the paper."""

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.ridge import solve_ridge

Floats = NDArray[np.float64]


def solve_discriminant(kernel: Floats, targets: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Dual weights and intercepts of the direction that parts each class from the rest, one versus all.

    For two groups the discriminant direction is that of a ridge regression with an unpenalised bias on targets
    n / n_class and -n / n_rest (Mika et al.); the threshold then lies half-way between the projected means of the groups.
    """
    positive = targets > 0
    n, sizes = len(targets), positive.sum(axis=0)
    coded = np.where(positive, n / np.maximum(sizes, 1), -n / np.maximum(n - sizes, 1))
    weights, _ = solve_ridge(kernel, coded, alpha, bias=True)
    projected = kernel @ weights
    means = [np.where(group, projected, 0.0).sum(axis=0) / np.maximum(group.sum(axis=0), 1) for group in (positive, ~positive)]
    spread = np.maximum((means[0] - means[1]) / 2, np.finfo(float).tiny)
    return weights / spread, -(means[0] + means[1]) / 2 / spread
