"""Classifiers of a round: ridge regression, discriminant analysis, or one of scikit-learn."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gramshift.errors import InputError
from gramshift.learn.features import KernelFeatures
from gramshift.learn.pseudo_labels import assign_folds
from gramshift.learn.ridge import Coefficients, KernelRidgeSolver, spread_weights
from gramshift.learn.training_set import Rows
from gramshift.parallel import Progress

Floats = NDArray[np.float64]
ROWS_AT_ONCE = 512
TOLERANCE = 1e-6  # of the largest score: error allowed for a weighted sum of similarities


class EstimatorSolver:
    """A scikit-learn classifier, cloned for each class against the rest.

    It is fitted on the kernel matrix in double precision.
    """

    def __init__(self, estimator: Any, documents: KernelFeatures) -> None:
        self.documents, self._estimator = documents, estimator

    def solve(
        self, training: Rows, targets: Floats, near: Coefficients | None = None
    ) -> Coefficients:
        """Train on some documents."""
        weights, intercepts = self._fit(self.documents.kernel(training), targets)
        return Coefficients(spread_weights(self.documents, training, weights), intercepts)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """Return held-out scores by 5-fold cross-validation."""
        kernel, scores = self.documents.kernel(training), np.empty(targets.shape)
        fold = assign_folds(targets.argmax(axis=1))
        for number in np.unique(fold):
            held, kept = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            weights, intercepts = self._fit(kernel[np.ix_(kept, kept)], targets[kept])
            scores[held] = kernel[np.ix_(held, kept)] @ weights + intercepts
        return scores

    def _fit(self, kernel: Floats, targets: Floats) -> tuple[Floats, Floats]:
        """Return a weight for each document and class, and intercepts, from the decision function.

        A kernel method scores a document by a weighted sum of its similarities to the training
        documents: the scores for no similarity at all and for one to a single document give the
        intercept and the weights.
        """
        weights, intercepts = np.zeros(targets.shape), np.zeros(targets.shape[1])
        for column, target in enumerate(targets.T):
            if (
                target == target[0]
            ).all():  # nothing to part: the class is all or none of these documents
                intercepts[column] = target[0]
                continue
            fitted = clone(self._estimator).fit(kernel, target)
            intercepts[column] = fitted.decision_function(np.zeros((1, len(kernel))))[0]
            for start in range(
                0, len(kernel), ROWS_AT_ONCE
            ):  # all at once would be a second kernel matrix
                n_rows = min(ROWS_AT_ONCE, len(kernel) - start)
                alone = np.eye(n_rows, len(kernel), start)
                weights[start : start + n_rows, column] = (
                    fitted.decision_function(alone) - intercepts[column]
                )
            scores = fitted.decision_function(kernel)
            missed = np.abs(kernel @ weights[:, column] + intercepts[column] - scores).max()
            if missed > TOLERANCE * max(1, np.abs(scores).max()):
                advice = "give a kernel method such as SVC(kernel='precomputed')"
                raise InputError(
                    f"classifier={self._estimator!r} does not score by a weighted sum "
                    f"of similarities; {advice}"
                )
        return weights, intercepts


class DiscriminantSolver:
    """Kernel discriminant analysis, one versus all.

    For two groups the discriminant direction is that of a ridge regression with an unpenalised bias
    on targets n / n_class and -n / n_rest (Mika et al.); the threshold is then half-way between the
    projected means of the groups.
    """

    def __init__(
        self,
        documents: KernelFeatures,
        source: Rows,
        alpha: float,
        *,
        progress: Progress | None = None,
    ) -> None:
        self.documents = documents
        self._ridge = KernelRidgeSolver(documents, source, alpha, bias=True, progress=progress)

    def solve(
        self, training: Rows, targets: Floats, near: Coefficients | None = None
    ) -> Coefficients:
        """Train on some documents; their mean scores are +1 and -1."""
        fitted = self._ridge.solve(training, code_groups(targets))
        middle, spread = place_threshold(fitted.score(self.documents, training), targets)
        return Coefficients(fitted.coefficients / spread, (fitted.intercepts - middle) / spread)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """Return held-out scores of the regression, with the threshold of all documents."""
        coded = code_groups(targets)
        middle, spread = place_threshold(
            self._ridge.solve(training, coded).score(self.documents, training), targets
        )
        return (self._ridge.held_out(training, coded) - middle) / spread


def code_groups(targets: Floats) -> Floats:
    """Return n / n_class for the documents of each class, and -n / n_rest for all others."""
    positive = targets > 0
    n, sizes = len(targets), positive.sum(axis=0)
    coded: Floats = np.where(positive, n / np.maximum(sizes, 1), -n / np.maximum(n - sizes, 1))
    return coded


def place_threshold(scores: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return the threshold between the mean scores of the two groups, and its distance to them."""
    groups = targets > 0, targets <= 0
    means = [
        np.where(group, scores, 0.0).sum(axis=0) / np.maximum(group.sum(axis=0), 1)
        for group in groups
    ]
    return (means[0] + means[1]) / 2, np.maximum((means[0] - means[1]) / 2, np.finfo(float).tiny)


class Solver(Protocol):
    """Trains one-versus-all classifiers on parts of the documents."""

    def solve(
        self, training: Rows, targets: Floats, near: Coefficients | None = None
    ) -> Coefficients:
        """Train on some documents; iterative solvers start with the coefficients ``near``."""

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """Return held-out scores of the training documents."""


def make_solver(
    classifier: Any,
    documents: KernelFeatures,
    source: Rows,
    *,
    alpha: float,
    bias: bool,
    progress: Progress | None = None,
) -> Solver:
    """Return the solver of this name, or of this scikit-learn classifier.

    The latter ignores ``alpha`` and ``bias``.
    """
    if classifier == "ridge":
        return KernelRidgeSolver(documents, source, alpha, bias=bias, progress=progress)
    if classifier == "discriminant":
        return DiscriminantSolver(documents, source, alpha, progress=progress)
    return EstimatorSolver(classifier, documents)
