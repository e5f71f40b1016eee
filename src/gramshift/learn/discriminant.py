"""Kernel discriminant analysis, as Giménez-Pérez et al. used it before the paper."""

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Described, Rows
from gramshift.learn.ridge import Fitted, RidgeSolver
from gramshift.runtime.threads import Progress

Floats = NDArray[np.float64]


class DiscriminantSolver:
    """The direction that parts each class from the rest, one versus all.

    For two groups the discriminant direction is that of a ridge regression with an unpenalised bias on targets
    n / n_class and -n / n_rest (Mika et al.); the threshold then lies half-way between the projected means of the groups.
    """

    def __init__(self, documents: Described, source: Rows, alpha: float, *, progress: Progress | None = None) -> None:
        self.documents = documents
        self._ridge = RidgeSolver(documents, source, alpha, bias=True, progress=progress)

    def solve(self, training: Rows, targets: Floats) -> Fitted:
        """Train on some documents; their mean scores are +1 and -1."""
        fitted = self._ridge.solve(training, code_groups(targets))
        middle, spread = place_threshold(fitted.score(self.documents, training), targets)
        return Fitted(fitted.coefficients / spread, (fitted.intercepts - middle) / spread)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """Scores of the regression without each document, beside the threshold of all."""
        coded = code_groups(targets)
        middle, spread = place_threshold(self._ridge.solve(training, coded).score(self.documents, training), targets)
        return (self._ridge.held_out(training, coded) - middle) / spread


def code_groups(targets: Floats) -> Floats:
    positive = targets > 0
    n, sizes = len(targets), positive.sum(axis=0)
    coded: Floats = np.where(positive, n / np.maximum(sizes, 1), -n / np.maximum(n - sizes, 1))
    return coded


def place_threshold(scores: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Where the threshold lies between the mean scores of the two groups, and how far they are from it."""
    groups = targets > 0, targets <= 0
    means = [np.where(group, scores, 0.0).sum(axis=0) / np.maximum(group.sum(axis=0), 1) for group in groups]
    return (means[0] + means[1]) / 2, np.maximum((means[0] - means[1]) / 2, np.finfo(float).tiny)
