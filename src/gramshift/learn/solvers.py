"""The classifiers that a round can train, by name: ridge regression, discriminant analysis, support vector machine."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from gramshift.learn.features import GramFeatures
from gramshift.learn.labelling import Rows
from gramshift.learn.ridge import Fitted, RidgeSolver, spread_weights
from gramshift.runtime.threads import Progress

Floats = NDArray[np.float64]
FOLDS = 5


class MachineSolver:
    """Needs the kernel of the training documents as an array in double precision."""

    def __init__(self, documents: GramFeatures) -> None:
        self.documents = documents

    def solve(self, training: Rows, targets: Floats, near: Fitted | None = None) -> Fitted:
        """Train on some documents."""
        weights, intercepts = _dual(self.documents.kernel(training), targets)
        return Fitted(spread_weights(self.documents, training, weights), intercepts)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """What each document scores by a fit without its fifth of the documents."""
        kernel, scores = self.documents.kernel(training), np.empty(targets.shape)
        codes = targets.argmax(axis=1)
        fold = np.empty(len(training), np.intp)
        for code in np.unique(codes):  # each class is spread over all folds
            fold[codes == code] = (np.arange(np.sum(codes == code)) + code) % FOLDS
        for number in np.unique(fold):
            held, kept = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            weights, intercepts = _dual(kernel[np.ix_(kept, kept)], targets[kept])
            scores[held] = kernel[np.ix_(held, kept)] @ weights + intercepts
        return scores


def _dual(kernel: Floats, targets: Floats) -> tuple[Floats, Floats]:
    weights, intercepts = np.zeros(targets.shape), np.zeros(targets.shape[1])
    for column, target in enumerate(targets.T):
        if (target == target[0]).all():  # nothing to part: the class is all or none of these documents
            intercepts[column] = target[0]
            continue
        machine = SVC(kernel="precomputed").fit(kernel, target)
        weights[machine.support_, column] = machine.dual_coef_[0]
        intercepts[column] = machine.intercept_[0]
    return weights, intercepts


class DiscriminantSolver:
    """The direction that parts each class from the rest, one versus all.

    For two groups the discriminant direction is that of a ridge regression with an unpenalised bias on targets
    n / n_class and -n / n_rest (Mika et al.); the threshold then lies half-way between the projected means of the groups.
    """

    def __init__(self, documents: GramFeatures, source: Rows, alpha: float, *, progress: Progress | None = None) -> None:
        self.documents = documents
        self._ridge = RidgeSolver(documents, source, alpha, bias=True, progress=progress)

    def solve(self, training: Rows, targets: Floats, near: Fitted | None = None) -> Fitted:
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


class Solver(Protocol):
    """Trains one-versus-all classifiers on parts of the documents."""

    def solve(self, training: Rows, targets: Floats, near: Fitted | None = None) -> Fitted:
        """Train on some documents; solvers that improve step by step begin with what is ``near``, others do without."""

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """What each training document scores when it does not take part."""


def make_solver(
    name: str, documents: GramFeatures, source: Rows, *, alpha: float, bias: bool, progress: Progress | None = None
) -> Solver:
    """The solver of this name; only "ridge" has a ``bias`` of its own, and "svm" no ``alpha``."""
    if name == "ridge":
        return RidgeSolver(documents, source, alpha, bias=bias, progress=progress)
    if name == "discriminant":
        return DiscriminantSolver(documents, source, alpha, progress=progress)
    assert name == "svm", "settings are checked before"
    return MachineSolver(documents)
