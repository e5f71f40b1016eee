"""One training of a fit: documents as a labelling has them, what is learnt from it, and what others would have said of each."""

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Features
from gramshift.learn.labelling import Codes, Labelling, Rows
from gramshift.learn.ridge import Fitted
from gramshift.learn.selection import choose_classes, one_versus_all
from gramshift.learn.solvers import Solver
from gramshift.runtime.resources import Runtime

Floats = NDArray[np.float64]


class Describer(Protocol):
    """Tells how a classifier sees the documents of a fit, and makes the solver that trains on them."""

    @property
    def by_labels(self) -> bool:
        """Whether classes shape the features, so that documents are described again for every labelling."""

    def describe(self, labelling: Labelling, *, across: bool = False) -> Features:
        """All documents as this labelling has them.

        ``across``: where n-grams have weights by class, those that one domain has more often than the other count less. What
        was described before may be overwritten.
        """

    def make_solver(self, features: Features, source: Rows) -> Solver:
        """What trains on documents so described; ``source`` begins every training set."""

    def measure_drift(self, labelling: Labelling) -> float:
        """How far the frequencies of n-grams have drifted from source to target: see ``shares.measure_drift``."""


class Trainer:
    """Trains the classifiers of a fit; features and solver stay the same where labels do not shape them.

    ``centred``: targets are taken from their mean over the training set, which is added to all scores again. A document without
    any evidence then scores as the shares of the classes say. ``weights`` are those of documents, all 1 if there are none.
    """

    def __init__(
        self,
        describer: Describer,
        source: Rows,
        runtime: Runtime,
        *,
        centred: bool = False,
        weights: Floats | None = None,
    ) -> None:
        self.describer, self._source, self._runtime, self._centred = (
            describer,
            source,
            runtime,
            centred,
        )
        self._weights = weights
        self._ready: tuple[Features, Solver] | None = None

    def prepare(self, labelling: Labelling) -> tuple[Features, Solver]:
        """The documents as this labelling has them, and what trains on them."""
        if self._ready is not None and not self.describer.by_labels:
            return self._ready
        self._ready = None  # freed before the next ones are made
        features = self.describer.describe(labelling)
        ready = features, self.describer.make_solver(features, self._source)
        if not self.describer.by_labels:
            self._ready = ready
        return ready

    def train(self, labelling: Labelling, near: Fitted | None = None) -> tuple[Fitted, Floats]:
        """What is learnt from the training documents, and the scores of all target documents."""
        features, solver = self.prepare(labelling)
        fitted = self._solve(solver, labelling, near)
        return fitted, fitted.score(features, labelling.target)

    def train_across(self, labelling: Labelling, near: Fitted) -> tuple[Fitted, Floats]:
        """The same with n-grams that one domain has more often than the other counting less."""
        features = self.describer.describe(labelling, across=True)
        fitted = self._solve(
            self.describer.make_solver(features, labelling.source), labelling, near
        )
        return fitted, fitted.score(features, labelling.target)

    def held_out(
        self, labelling: Labelling, near: Fitted, *, across: bool = False
    ) -> tuple[Floats, Floats | None]:
        """The scores of all training documents, each by a classifier that has not seen its class; 0 where none can be made.

        As the solver has them, unless labels shape the features too: then half of them is scored by what the other half
        teaches, and so are target documents that have not joined, by the mean of both; else None is returned for these.
        ``near`` is what all documents together taught.
        """
        training, codes, n_classes = labelling.training, labelling.codes, labelling.n_classes
        if not self.describer.by_labels:
            _, solver = self.prepare(labelling)
            targets, mean = self._targets(training, codes, n_classes)
            return _finite(solver.held_out(training, targets) + mean), None
        others = np.setdiff1d(labelling.target, labelling.joined)
        scores, of_others = np.zeros((len(training), n_classes)), np.zeros((len(others), n_classes))
        is_source, fold, made = labelling.is_source[training], split_in_two(labelling), 0
        for number, held in enumerate((fold == 0, fold == 1)):
            self._runtime.report("sureness", number, 2)
            half = labelling.only(~held)
            if not len(half.training):  # one document of each class: nobody else can tell of it
                continue
            features = self.describer.describe(half, across=across)
            solver = self.describer.make_solver(features, training[~held & is_source])
            fitted, made = self._solve(solver, half, near), made + 1
            scores[held], of_others = (
                fitted.score(features, training[held]),
                of_others + fitted.score(features, others),
            )
            del features, solver, fitted
        self._runtime.report("sureness", 2, 2)
        return _finite(scores), _finite(of_others / max(1, made))

    def score_others(self, labelling: Labelling, rows: Rows, codes: Codes) -> float:
        """The share of right answers, for documents of known classes, by what a labelling without them teaches."""
        features = self.describer.describe(labelling)
        solver = self.describer.make_solver(features, labelling.training)
        found = choose_classes(_finite(self._solve(solver, labelling, None).score(features, rows)))
        return float(np.mean(found == codes))

    def _solve(self, solver: Solver, labelling: Labelling, near: Fitted | None) -> Fitted:
        targets, mean = self._targets(labelling.training, labelling.codes, labelling.n_classes)
        fitted = solver.solve(labelling.training, targets, near=near)
        return replace(fitted, intercepts=fitted.intercepts + mean) if self._centred else fitted

    def _targets(
        self, training: Rows, codes: Codes, n_classes: int
    ) -> tuple[Floats, Floats | float]:
        """What is to be learnt, and what was taken from it."""
        targets = one_versus_all(codes, n_classes)
        if not self._centred:
            return targets, 0.0
        mean = np.average(
            targets, axis=0, weights=None if self._weights is None else self._weights[training]
        )
        return targets - mean, mean


def _finite(scores: Floats) -> Floats:
    """The scores with 0 for those that are none: a solver may part too few documents to tell anything of others."""
    return np.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0)


def split_in_two(labelling: Labelling) -> NDArray[np.intp]:
    """Return 0 or 1 for each training document; source and target documents of each class are spread over both halves.

    A class is cut in the middle of the order of its texts, so that the halves do not depend on the order in which documents
    are given, and one document more or less moves at most one other to the other half.
    """
    training = labelling.training
    ranks = training if labelling.ranks is None else labelling.ranks[training]
    is_source, fold = labelling.is_source[training], np.empty(len(training), np.intp)
    for code in range(labelling.n_classes):
        of_class = labelling.codes == code
        for number, rows in enumerate(
            (np.flatnonzero(is_source & of_class), np.flatnonzero(~is_source & of_class))
        ):
            order = rows[np.argsort(ranks[rows], kind="stable")]
            fold[order] = (2 * np.arange(len(rows)) >= len(rows)) ^ bool(number)
    return fold
