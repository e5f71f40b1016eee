"""Train one round and compute held-out scores of its training documents."""

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Features
from gramshift.learn.pseudo_labels import choose_classes, one_versus_all
from gramshift.learn.ridge import Coefficients
from gramshift.learn.solvers import Solver
from gramshift.learn.training_set import Codes, Rows, TrainingSet
from gramshift.runtime import Runtime

Floats = NDArray[np.float64]


class FeatureMaker(Protocol):
    """Makes the features of a training set, and the solver that trains on them."""

    @property
    def by_labels(self) -> bool:
        """True if features depend on classes, so that every training set has its own."""

    def features_for(self, training_set: TrainingSet, *, across: bool = False) -> Features:
        """Return the features of all documents; those of an earlier call may be overwritten.

        With ``across``, n-grams that one domain has more often than the other get less weight, and
        vectors have none.
        """

    def make_solver(self, features: Features, source: Rows) -> Solver:
        """Return the solver for these features; every training set starts with ``source``."""

    def measure_drift(self, training_set: TrainingSet) -> float:
        """Measure how far n-gram frequencies drift between the domains (``measure_drift``)."""


class Trainer:
    """Trains the classifiers of a fit; features are kept as long as labels do not change them.

    ``centred``: the mean of the targets over the training set is subtracted, and added to all
    scores again, so that a document without evidence scores as the class proportions. ``weights``
    are those of documents.
    """

    def __init__(
        self,
        feature_maker: FeatureMaker,
        source: Rows,
        runtime: Runtime,
        *,
        centred: bool = False,
        weights: Floats | None = None,
    ) -> None:
        self.feature_maker = feature_maker
        self._source = source
        self._runtime = runtime
        self._centred = centred
        self._weights = weights
        self._ready: tuple[Features, Solver] | None = None

    def train(
        self, training_set: TrainingSet, near: Coefficients | None = None
    ) -> tuple[Coefficients, Floats]:
        """Train on a training set; return the coefficients and the scores of all target documents.

        Iterative solvers start with the coefficients ``near``.
        """
        features, solver = self._prepare(training_set)
        fitted = self._solve(solver, training_set, near)
        return fitted, fitted.score(features, training_set.target)

    def train_across(
        self, training_set: TrainingSet, near: Coefficients
    ) -> tuple[Coefficients, Floats]:
        """Train with less weight for n-grams that one domain has more often than the other."""
        features = self.feature_maker.features_for(training_set, across=True)
        solver = self.feature_maker.make_solver(features, training_set.source)
        fitted = self._solve(solver, training_set, near)
        return fitted, fitted.score(features, training_set.target)

    def held_out(
        self, training_set: TrainingSet, near: Coefficients | None = None, *, across: bool = False
    ) -> tuple[Floats, Floats | None]:
        """Return held-out scores of all training documents, and of the other target documents.

        If features do not depend on labels, the solver computes them, in closed form or by
        cross-validation, and the second part is None. Otherwise they come from two halves.
        ``near`` are the coefficients of the whole training set, if they are known.
        """
        if self.feature_maker.by_labels:
            return self._held_out_by_halves(training_set, near, across=across)
        _, solver = self._prepare(training_set)
        targets, mean = self._targets(
            training_set.training, training_set.codes, training_set.n_classes
        )
        return _finite(solver.held_out(training_set.training, targets) + mean), None

    def accuracy_on(self, training_set: TrainingSet, rows: Rows, codes: Codes) -> float:
        """Train on a training set; return the accuracy on other documents of known classes."""
        features = self.feature_maker.features_for(training_set)
        solver = self.feature_maker.make_solver(features, training_set.training)
        scores = self._solve(solver, training_set, None).score(features, rows)
        return float(np.mean(choose_classes(_finite(scores)) == codes))

    def _prepare(self, training_set: TrainingSet) -> tuple[Features, Solver]:
        """Return features and solver of a training set."""
        if self._ready is not None and not self.feature_maker.by_labels:
            return self._ready
        self._ready = None  # freed before the next ones are made
        features = self.feature_maker.features_for(training_set)
        ready = features, self.feature_maker.make_solver(features, self._source)
        if not self.feature_maker.by_labels:
            self._ready = ready
        return ready

    def _held_out_by_halves(
        self, training_set: TrainingSet, near: Coefficients | None, *, across: bool
    ) -> tuple[Floats, Floats]:
        """Score each half of the training set by a classifier of the other half.

        Other target documents get the mean of both; a half that cannot be trained gives 0.
        """
        training, n_classes = training_set.training, training_set.n_classes
        others = np.setdiff1d(training_set.target, training_set.pseudo_labelled)
        scores = np.zeros((len(training), n_classes))
        of_others = np.zeros((len(others), n_classes))
        is_source = training_set.is_source[training]
        fold = split_in_two(training_set)
        n_trained = 0
        for number in range(2):
            self._runtime.report("sureness", number, 2)
            held = fold == number
            half = training_set.only(~held)
            if not len(half.training):  # with one document of each class the other half is empty
                continue
            features = self.feature_maker.features_for(half, across=across)
            solver = self.feature_maker.make_solver(features, training[~held & is_source])
            fitted = self._solve(solver, half, near)
            scores[held] = fitted.score(features, training[held])
            of_others = of_others + fitted.score(features, others)
            n_trained += 1
            del features, solver, fitted
        self._runtime.report("sureness", 2, 2)
        return _finite(scores), _finite(of_others / max(1, n_trained))

    def _solve(
        self, solver: Solver, training_set: TrainingSet, near: Coefficients | None
    ) -> Coefficients:
        targets, mean = self._targets(
            training_set.training, training_set.codes, training_set.n_classes
        )
        fitted = solver.solve(training_set.training, targets, near=near)
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


def split_in_two(training_set: TrainingSet) -> NDArray[np.intp]:
    """Return 0 or 1 for each training document, so that both halves have all classes and domains.

    Each class of each domain is cut in the middle of the order of its texts, so that the halves do
    not depend on the order of documents, and one document more moves at most one other.
    """
    training = training_set.training
    ranks = training if training_set.ranks is None else training_set.ranks[training]
    is_source = training_set.is_source[training]
    fold = np.empty(len(training), np.intp)
    for code in range(training_set.n_classes):
        of_class = training_set.codes == code
        groups = (np.flatnonzero(is_source & of_class), np.flatnonzero(~is_source & of_class))
        for number, rows in enumerate(groups):
            order = rows[np.argsort(ranks[rows], kind="stable")]
            fold[order] = (2 * np.arange(len(rows)) >= len(rows)) ^ bool(number)
    return fold
