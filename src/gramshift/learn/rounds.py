"""Algorithm 1: rounds of training, each on the source and on answers of the round before."""

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.calibrate import fit_offsets, fit_steepness, softmax
from gramshift.learn.features import Features
from gramshift.learn.labelling import Codes, Labelling, Rows
from gramshift.learn.ridge import Fitted
from gramshift.learn.selection import (
    choose_by_shares,
    choose_classes,
    choose_surest,
    estimate_shares,
    one_versus_all,
    settle_shares,
)
from gramshift.learn.solvers import Solver
from gramshift.runtime.resources import Runtime

Floats = NDArray[np.float64]
SURE, SOURCE_SHARES, ESTIMATED_SHARES = "surest", "source shares", "estimated shares"


class Describer(Protocol):
    """Tells how a classifier sees the documents of a fit, and makes the solver that trains on them."""

    @property
    def by_labels(self) -> bool:
        """Whether classes shape the features, so that documents are described again for every labelling."""

    def describe(self, labelling: Labelling, *, n: int | None = None, across: bool = False) -> Features:
        """All documents as this labelling has them; with ``n`` no more than the first n need be there.

        ``across``: where n-grams have weights by class, those that one domain has more often than the other count less. What
        was described before may be overwritten.
        """

    def make_solver(self, features: Features, source: Rows) -> Solver:
        """What trains on documents so described; ``source`` begins every training set."""


@dataclass(frozen=True)
class Schedule:
    """How many rounds there are, how many target documents join before each one after the first, and which.

    ``select`` is "surest", "source shares", "estimated shares" or an array with the share of each class. If there are more
    rounds than numbers, the last number holds for the rest.
    """

    n_rounds: int
    n_added: tuple[int, ...]
    select: str | Floats = SURE


@dataclass(frozen=True)
class Round:
    """One round: the target documents that joined before it, surest first, and what it says of all target documents."""

    added: Rows
    added_codes: Codes
    fitted: Fitted
    scores: Floats
    changed: int
    seconds: float

    @property
    def codes(self) -> Codes:
        """The class of each target document."""
        return choose_classes(self.scores)


@dataclass(frozen=True)
class Calibration:
    """What turns scores into probabilities."""

    steepness: float
    scores: Floats
    """The scores of the target documents; those that joined the training are scored by classifiers that did not learn
    from them."""


@dataclass(frozen=True)
class RoundsOutcome:
    """What all rounds together have learnt."""

    rounds: list[Round]
    labelling: Labelling
    """The labelling that the last round learnt from."""
    calibration: Calibration | None


def fit_rounds(
    describer: Describer, labelling: Labelling, schedule: Schedule, runtime: Runtime, *, calibrate: bool = True
) -> RoundsOutcome:
    """Train on the source, label the target, let some of it join, train again, label all of it again.

    Every further round chooses anew from the whole target. True classes of target documents are in no labelling, so that
    nothing here can learn from them.
    """
    source, target, trainer = labelling, labelling.target, _Trainer(describer, labelling.source, runtime)
    n_rounds = schedule.n_rounds if len(target) else 1
    added, codes, shares = np.empty(0, np.intp), np.empty(0, np.intp), None
    rounds: list[Round] = []
    for number in range(n_rounds):
        begun = time.perf_counter()
        if rounds:
            scores, n = rounds[-1].scores, schedule.n_added[min(number, len(schedule.n_added)) - 1]
            if isinstance(schedule.select, str) and schedule.select == SURE:
                added, codes = choose_surest(scores, n)
            else:
                shares = find_shares(trainer, source, schedule.select, rounds[-1]) if shares is None else shares
                added, codes = choose_by_shares(scores, n, shares)
            labelling = source.join(target[added], codes)
        if describer.by_labels:
            runtime.report("rounds", number, n_rounds)
        features, solver = trainer.prepare(labelling)
        targets, before = one_versus_all(labelling.codes, labelling.n_classes), rounds[-1].fitted if rounds else None
        fitted = solver.solve(labelling.training, targets, near=before)
        scores = fitted.score(features, target)
        del features, solver  # the next ones need the room
        changed = int(np.count_nonzero(choose_classes(scores) != rounds[-1].codes)) if rounds else 0
        rounds.append(Round(added, codes, fitted, scores, changed, time.perf_counter() - begun))
    if describer.by_labels:
        runtime.report("rounds", n_rounds, n_rounds)
    calibration = _calibrate(trainer, labelling, rounds[-1]) if calibrate else None
    return RoundsOutcome(rounds, labelling, calibration)


class _Trainer:
    """The describer of a fit with what it made last: features and solver stay the same where labels do not shape them."""

    def __init__(self, describer: Describer, source: Rows, runtime: Runtime) -> None:
        self.describer, self._source, self._runtime = describer, source, runtime
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

    def held_out(self, labelling: Labelling, near: Fitted, *, across: bool = False) -> Floats:
        """The scores of all training documents, each by a classifier that has not seen its class; 0 where none can be made.

        As the solver has them, unless labels shape the features too: then half of them is scored by what the other half
        teaches. ``near`` is what all of them together taught.
        """
        training, codes, n_classes = labelling.training, labelling.codes, labelling.n_classes
        if not self.describer.by_labels:
            _, solver = self.prepare(labelling)
            return _finite(solver.held_out(training, one_versus_all(codes, n_classes)))
        scores, n_needed = np.zeros((len(training), n_classes)), 1 + int(training.max())
        is_source, fold = labelling.is_source[training], split_in_two(labelling)
        for number, held in enumerate((fold == 0, fold == 1)):
            self._runtime.report("sureness", number, 2)
            half = labelling.only(~held)
            if not len(half.training):  # one document of each class: nobody else can tell of it
                continue
            features = self.describer.describe(half, n=n_needed, across=across)
            solver = self.describer.make_solver(features, training[~held & is_source])
            fitted = solver.solve(half.training, one_versus_all(half.codes, n_classes), near=near)
            scores[held] = fitted.score(features, training[held])
            del features, solver, fitted
        self._runtime.report("sureness", 2, 2)
        return _finite(scores)


def _finite(scores: Floats) -> Floats:
    """The scores with 0 for those that are none: a solver may part too few documents to tell anything of others."""
    return np.nan_to_num(scores, nan=0.0, posinf=0.0, neginf=0.0)


def split_in_two(labelling: Labelling) -> NDArray[np.intp]:
    """0 or 1 for each training document: source and target documents of each class are spread over both halves."""
    is_source, fold = labelling.is_source[labelling.training], np.empty(len(labelling.training), np.intp)
    for code in range(labelling.n_classes):
        of_class = labelling.codes == code
        for rows in (np.flatnonzero(is_source & of_class), np.flatnonzero(~is_source & of_class)):
            fold[rows] = np.arange(len(rows)) % 2
    return fold


def find_shares(trainer: _Trainer, source: Labelling, select: str | Floats, first: Round) -> Floats:
    """The share of each class in the target, as given, as in the source, or estimated from the scores of the first round.

    What one domain alone has moves the scores of that domain alone, which would look like other shares of classes. Where
    labels shape the features, n-grams therefore count by how evenly they are spread over both domains too.
    """
    if not isinstance(select, str):
        return select
    shares: Floats = np.bincount(source.codes, minlength=source.n_classes) / len(source.codes)
    if select == SOURCE_SHARES:
        return shares
    scores, fitted = first.scores, first.fitted
    if trainer.describer.by_labels:
        features = trainer.describer.describe(source, across=True)
        solver = trainer.describer.make_solver(features, source.source)
        fitted = solver.solve(source.training, one_versus_all(source.codes, source.n_classes), near=fitted)
        scores = fitted.score(features, source.target)
        del features, solver
    held_out = trainer.held_out(source, fitted, across=True)
    return settle_shares(estimate_shares(softmax(scores, *fit_offsets(held_out, source.codes)), shares), shares)


def _calibrate(trainer: _Trainer, labelling: Labelling, last: Round) -> Calibration:
    """The steepness by held-out scores of the source; target documents that joined get held-out scores too."""
    held_out, n_source = trainer.held_out(labelling, last.fitted), len(labelling.source)
    scores = last.scores.copy()
    scores[np.searchsorted(labelling.target, labelling.joined)] = held_out[n_source:]
    return Calibration(fit_steepness(held_out[:n_source], labelling.source_codes), scores)
