"""Train one round and compute held-out scores of its training documents."""

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Features
from gramshift.learn.ridge import Coefficients
from gramshift.learn.selection import choose_classes, one_versus_all
from gramshift.learn.solvers import Solver
from gramshift.learn.training_set import Codes, Rows, TrainingSet
from gramshift.runtime import Runtime

Floats = NDArray[np.float64]


class FeatureMaker(Protocol):
    """Makes the features of a training set, and the solver that trains on them."""

    @property
    def by_labels(self) -> bool:
        """True if features depend on classes, so that every training set has its own."""

    def describe(self, labelling: TrainingSet, *, across: bool = False) -> Features:
        """Return the features of all documents; those of an earlier call may be overwritten.

        With ``across``, n-grams that one domain has more often than the other get less weight.
        """

    def make_solver(self, features: Features, source: Rows) -> Solver:
        """Return the solver for these features; every training set starts with ``source``."""

    def measure_drift(self, labelling: TrainingSet) -> float:
        """Measure how far n-gram frequencies drift between the domains (``measure_drift``)."""


class Trainer:
    """Trains the classifiers of a fit; features are kept as long as labels do not change them.

    ``centred``: the mean of the targets over the training set is subtracted, and added to all
    scores again, so that a document without evidence scores as the class proportions. ``weights``
    are those of documents.
    """

    def __init__(
        self,
        describer: FeatureMaker,
        source: Rows,
        runtime: Runtime,
        *,
        centred: bool = False,
        weights: Floats | None = None,
    ) -> None:
        self.describer = describer
        self._source = source
        self._runtime = runtime
        self._centred = centred
        self._weights = weights
        self._ready: tuple[Features, Solver] | None = None

    def train(
        self, labelling: TrainingSet, near: Coefficients | None = None
    ) -> tuple[Coefficients, Floats]:
        """Train on a training set; return the coefficients and the scores of all target documents.

        Iterative solvers start with the coefficients ``near``.
        """
        features, solver = self._prepare(labelling)
        fitted = self._solve(solver, labelling, near)
        return fitted, fitted.score(features, labelling.target)

    def train_across(
        self, labelling: TrainingSet, near: Coefficients
    ) -> tuple[Coefficients, Floats]:
        """Train with less weight for n-grams that one domain has more often than the other."""
        features = self.describer.describe(labelling, across=True)
        solver = self.describer.make_solver(features, labelling.source)
        fitted = self._solve(solver, labelling, near)
        return fitted, fitted.score(features, labelling.target)

    def held_out(
        self, labelling: TrainingSet, near: Coefficients, *, across: bool = False
    ) -> tuple[Floats, Floats | None]:
        """Return held-out scores of all training documents, and of the other target documents.

        If features do not depend on labels, the solver computes them, in closed form or by
        cross-validation, and the second part is None. Otherwise they come from two halves.
        ``near`` are the coefficients of the whole training set.
        """
        if self.describer.by_labels:
            return self._held_out_by_halves(labelling, near, across=across)
        _, solver = self._prepare(labelling)
        targets, mean = self._targets(labelling.training, labelling.codes, labelling.n_classes)
        return _finite(solver.held_out(labelling.training, targets) + mean), None

    def accuracy_on(self, labelling: TrainingSet, rows: Rows, codes: Codes) -> float:
        """Train on a training set; return the accuracy on other documents of known classes."""
        features = self.describer.describe(labelling)
        solver = self.describer.make_solver(features, labelling.training)
        scores = self._solve(solver, labelling, None).score(features, rows)
        return float(np.mean(choose_classes(_finite(scores)) == codes))

    def _prepare(self, labelling: TrainingSet) -> tuple[Features, Solver]:
        """Return features and solver of a training set."""
        if self._ready is not None and not self.describer.by_labels:
            return self._ready
        self._ready = None  # freed before the next ones are made
        features = self.describer.describe(labelling)
        ready = features, self.describer.make_solver(features, self._source)
        if not self.describer.by_labels:
            self._ready = ready
        return ready

    def _held_out_by_halves(
        self, labelling: TrainingSet, near: Coefficients, *, across: bool
    ) -> tuple[Floats, Floats]:
        """Score each half of the training set by a classifier of the other half.

        Other target documents get the mean of both; a half that cannot be trained gives 0.
        """
        training, n_classes = labelling.training, labelling.n_classes
        others = np.setdiff1d(labelling.target, labelling.joined)
        scores = np.zeros((len(training), n_classes))
        of_others = np.zeros((len(others), n_classes))
        is_source = labelling.is_source[training]
        fold = split_in_two(labelling)
        n_trained = 0
        for number in range(2):
            self._runtime.report("sureness", number, 2)
            held = fold == number
            half = labelling.only(~held)
            if not len(half.training):  # with one document of each class the other half is empty
                continue
            features = self.describer.describe(half, across=across)
            solver = self.describer.make_solver(features, training[~held & is_source])
            fitted = self._solve(solver, half, near)
            scores[held] = fitted.score(features, training[held])
            of_others = of_others + fitted.score(features, others)
            n_trained += 1
            del features, solver, fitted
        self._runtime.report("sureness", 2, 2)
        return _finite(scores), _finite(of_others / max(1, n_trained))

    def _solve(
        self, solver: Solver, labelling: TrainingSet, near: Coefficients | None
    ) -> Coefficients:
        targets, mean = self._targets(labelling.training, labelling.codes, labelling.n_classes)
        fitted = solver.solve(labelling.training, targets, near=near)
        return replace(fitted, intercepts=fitted.intercepts + mean) if self._centred else fitted

    def _targets(
        self, training: Rows, codes: Codes, n_classes: int
    ) -> tuple[Floats, Floats | float]:
        """Return the regression targets, and the mean that was subtracted from them."""
        targets = one_versus_all(codes, n_classes)
        if not self._centred:
            return targets, 0.0
        weights = None if self._weights is None else self._weights[training]
        mean = np.average(targets, axis=0, weights=weights)
        return targets - mean, mean


def _finite(scores: Floats) -> Floats:
    """Replace scores that are not finite by 0: a solver may fail on too few documents."""
    return np.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0)


def split_in_two(labelling: TrainingSet) -> NDArray[np.intp]:
    """Return 0 or 1 for each training document, so that both halves have all classes and domains.

    Each class of each domain is cut in the middle of the order of its texts, so that the halves do
    not depend on the order of documents, and one document more moves at most one other.
    """
    training = labelling.training
    ranks = training if labelling.ranks is None else labelling.ranks[training]
    is_source = labelling.is_source[training]
    fold = np.empty(len(training), np.intp)
    for code in range(labelling.n_classes):
        of_class = labelling.codes == code
        groups = (np.flatnonzero(is_source & of_class), np.flatnonzero(~is_source & of_class))
        for number, rows in enumerate(groups):
            order = rows[np.argsort(ranks[rows], kind="stable")]
            fold[order] = (2 * np.arange(len(rows)) >= len(rows)) ^ bool(number)
    return fold
