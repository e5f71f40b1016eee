"""Rounds of training, each on the source and on pseudo-labels of the round before.

With ``class_prior="ignored"`` this is Algorithm 1 of the paper; otherwise documents join by the
class proportions of the target, and the last round decides by calibrated probabilities.
"""

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.calibrate import Expected, fit_steepness, measure_accuracy
from gramshift.learn.class_proportions import ClassProportions
from gramshift.learn.decisions import (
    Prior,
    RandomLabels,
    Reading,
    decide_adapted,
    decide_first,
    read_adapted_round,
    read_first_round,
    unseen_scores,
)
from gramshift.learn.pseudo_labels import (
    choose_by_shares,
    choose_classes,
    choose_surest,
    one_versus_all,
)
from gramshift.learn.ridge import Coefficients
from gramshift.learn.training import FeatureMaker, Trainer
from gramshift.learn.training_set import Codes, Rows, TrainingSet
from gramshift.runtime import Runtime
from gramshift.terminal import count_in_words

Floats = NDArray[np.float64]
IGNORED, SOURCE, ESTIMATED = "ignored", "source", "estimated"
MAX_GROWTH = 2  # pseudo-labels for each document of the training set before
MIN_PROBABILITY = 1e-9  # that a label given by a person is wrong


@dataclass(frozen=True)
class Schedule:
    """The number of rounds, and which target documents join the training set before each.

    ``n_added`` has the number of pseudo-labels for each round after the first; the last number
    holds for all further rounds. ``class_prior`` is "ignored", "source", "estimated" or an array
    with the proportion of each class. ``centred``: scores start at the class proportions, and the
    last round decides by calibrated probabilities instead of the largest score.
    """

    n_rounds: int
    n_added: tuple[int, ...]
    class_prior: str | Floats = IGNORED
    centred: bool = False
    random: RandomLabels | None = None

    @property
    def is_estimated(self) -> bool:
        """True if the class proportions are estimated."""
        return isinstance(self.class_prior, str) and self.class_prior == ESTIMATED

    @property
    def by_shares(self) -> bool:
        """True if documents join by the class proportions."""
        return not isinstance(self.class_prior, str) or self.class_prior != IGNORED

    def count_added(self, number: int, n_training: int) -> int:
        """Return how many documents join before a round.

        By class proportions, at most twice the size of the previous training set.
        """
        n = self.n_added[min(number, len(self.n_added)) - 1]
        return min(n, MAX_GROWTH * n_training) if self.by_shares else n


@dataclass(frozen=True)
class Round:
    """One round: the target documents that joined before it, and its scores of the target.

    ``added`` are positions in the target, surest first; ``changed`` is how many labels differ from
    those of the round before.
    """

    added: Rows
    added_codes: Codes
    fitted: Coefficients
    scores: Floats
    changed: int
    seconds: float
    shares: ClassProportions | None = None
    """The class proportions by which documents joined."""

    @property
    def codes(self) -> Codes:
        """The class of each target document."""
        return choose_classes(self.scores)


@dataclass(frozen=True)
class Calibration:
    """Scores and the slope that turns them into probabilities."""

    steepness: float
    scores: Floats
    """Scores of target documents by classifiers that did not learn from them, or final ones."""
    held_out: Floats | None = None
    """Held-out scores of the source documents; not kept in files."""


@dataclass(frozen=True)
class RoundsOutcome:
    """The result of all rounds; the scores of the last are the final ones."""

    rounds: list[Round]
    training_set: TrainingSet
    """The training set of the last round."""
    calibration: Calibration | None
    shares: ClassProportions | None = None
    plain: Floats | None = None
    """Probabilities of target documents by the first round, for the source's proportions."""
    expected: Expected | None = None


def fit_rounds(
    feature_maker: FeatureMaker,
    training_set: TrainingSet,
    schedule: Schedule,
    runtime: Runtime,
    *,
    calibrate: bool = True,
    weights: Floats | None = None,
) -> RoundsOutcome:
    """Train on the source, pseudo-label some of the target, train again, label all of it again.

    Every round chooses from the whole target. True labels of target documents are unknown here,
    except those that a person gave to random documents: first, rounds that do not learn from them
    measure class proportions and accuracy by them; then all rounds run again and learn from them.
    """
    trainer = Trainer(
        feature_maker, training_set.source, runtime, centred=schedule.centred, weights=weights
    )
    outcome = _train_rounds(trainer, training_set, schedule, runtime, calibrate=calibrate)
    if schedule.random is None:
        return outcome
    if not schedule.centred:
        right = outcome.rounds[-1].codes[schedule.random.rows] == schedule.random.codes
        outcome = replace(outcome, expected=measure_accuracy(None, right))
    learnt = _train_rounds(
        trainer, training_set, schedule, runtime, calibrate=calibrate, measured=outcome
    )
    learnt = replace(learnt, plain=outcome.plain, expected=outcome.expected)
    return _with_given_labels(learnt, schedule.random)


def _train_rounds(
    trainer: Trainer,
    source: TrainingSet,
    schedule: Schedule,
    runtime: Runtime,
    *,
    calibrate: bool,
    measured: RoundsOutcome | None = None,
) -> RoundsOutcome:
    """Run all rounds; after they have been ``measured``, they also learn from random labels."""
    given = None if measured is None else schedule.random
    measures = measured is None and schedule.random is not None
    n_rounds = schedule.n_rounds if len(source.target) else 1
    middle = (n_rounds + 1) // 2  # classifiers have adapted by then, and know proportions better
    prior = _start_prior(source, schedule, measured)
    training_set, free = source, np.arange(len(source.target))
    if given is not None:
        training_set = source.with_pseudo_labels(source.target[given.rows], given.codes)
        free = np.setdiff1d(free, given.rows)
    rounds: list[Round] = []
    reading: Reading | None = None
    for number in range(n_rounds):
        started = time.perf_counter()
        added, codes, shares = np.empty(0, np.intp), np.empty(0, np.intp), None
        if rounds:
            fitted, scores = rounds[-1].fitted, rounds[-1].scores
            if number == 1 and (schedule.by_shares or schedule.centred):
                reading = read_first_round(trainer, training_set, fitted, scores, prior)
            elif number == middle and reading is not None and schedule.by_shares:
                reading = read_adapted_round(trainer, training_set, fitted, scores, reading)
            n = schedule.count_added(number, len(training_set.training))
            if reading is not None and schedule.by_shares:
                shares = reading.prior.used
                places, codes = choose_by_shares(
                    reading.log_posterior(scores[free]), n, shares.used
                )
            else:
                places, codes = choose_surest(scores[free], n)
            added = free[places]
            training_set = _join(source, given, added, codes)
        if trainer.feature_maker.by_labels:
            runtime.report("rounds", number, n_rounds)
        fitted, scores = trainer.train(training_set, rounds[-1].fitted if rounds else None)
        changed = _count_changed(scores, rounds[-1]) if rounds else 0
        seconds = time.perf_counter() - started
        rounds.append(Round(added, codes, fitted, scores, changed, seconds, shares))
        if number + 1 < n_rounds:
            _announce_last(rounds, n_rounds, measures, runtime)
    if trainer.feature_maker.by_labels:
        runtime.report("rounds", n_rounds, n_rounds)
    if schedule.centred:
        expected = None if measured is None else measured.expected
        outcome = _decide(trainer, training_set, rounds, reading, prior, expected)
    else:
        calibration = _calibrate(trainer, training_set, rounds[-1]) if calibrate else None
        outcome = RoundsOutcome(rounds, training_set, calibration)
    _announce_last(outcome.rounds, n_rounds, measures, runtime)
    return outcome


def _announce_last(rounds: list[Round], n_rounds: int, measures: bool, runtime: Runtime) -> None:
    """Log how many documents joined before the last round, and how many labels it changed."""
    last = rounds[-1]
    name = f"{'measuring, ' if measures else ''}round {len(rounds)} of {n_rounds}"
    joined = count_in_words(len(last.added), "document")
    changed = count_in_words(last.changed, "label")
    runtime.announce(f"{name}: {joined} joined, {changed} changed, {last.seconds:.2f} s")


def _start_prior(source: TrainingSet, schedule: Schedule, measured: RoundsOutcome | None) -> Prior:
    """Return the class proportions before the first round."""
    proportions: Floats = np.bincount(source.codes, minlength=source.n_classes) / len(source.codes)
    if measured is not None and measured.shares is not None:
        return Prior(measured.shares, is_known=True)
    given = proportions if isinstance(schedule.class_prior, str) else schedule.class_prior
    shares = ClassProportions.given(proportions, given)
    if measured is None and schedule.is_estimated:
        return Prior.unknown(shares, schedule.random)
    return Prior(shares, is_known=True, random=schedule.random)


def _join(
    source: TrainingSet, given: RandomLabels | None, added: Rows, codes: Codes
) -> TrainingSet:
    """Return the source with the labels that a person gave and with pseudo-labels."""
    if given is not None:
        added = np.concatenate([given.rows, added])
        codes = np.concatenate([given.codes, codes])
    return source.with_pseudo_labels(source.target[added], codes)


def _count_changed(scores: Floats, before: Round) -> int:
    return int(np.count_nonzero(choose_classes(scores) != before.codes))


def _decide(
    trainer: Trainer,
    training_set: TrainingSet,
    rounds: list[Round],
    reading: Reading | None,
    prior: Prior,
    expected: Expected | None,
) -> RoundsOutcome:
    """Return the outcome with final decisions in place of the last round's scores."""
    last, changed = rounds[-1], 0
    if reading is None:
        decision = decide_first(trainer, training_set, last.fitted, last.scores, prior, expected)
    else:
        prior = reading.prior
        decision = decide_adapted(
            trainer, training_set, last.fitted, last.scores, reading, expected
        )
        changed = _count_changed(decision.scores, rounds[-2])
    fitted = replace(last.fitted, intercepts=last.fitted.intercepts + decision.offsets)
    decided = replace(last, fitted=fitted, scores=decision.scores, changed=changed)
    return RoundsOutcome(
        [*rounds[:-1], decided],
        training_set,
        Calibration(decision.steepness, decision.scores, decision.held_out),
        prior.used,
        decision.first,
        decision.expected,
    )


def _with_given_labels(outcome: RoundsOutcome, random: RandomLabels) -> RoundsOutcome:
    """Return the outcome with the labels that a person gave, as good as certain."""
    last, calibration = outcome.rounds[-1], outcome.calibration
    steepness = 1.0 if calibration is None else calibration.steepness
    distance = -np.log(MIN_PROBABILITY) / (2 * steepness)
    given = one_versus_all(random.codes, last.scores.shape[1]) * distance
    scores = last.scores.copy()
    scores[random.rows] = given
    if calibration is not None:
        unseen = calibration.scores.copy()
        unseen[random.rows] = given
        calibration = replace(calibration, scores=unseen)
    rounds = [*outcome.rounds[:-1], replace(last, scores=scores)]
    return replace(outcome, rounds=rounds, calibration=calibration)


def _calibrate(trainer: Trainer, training_set: TrainingSet, last: Round) -> Calibration:
    """Fit the slope on held-out scores of the source; pseudo-labelled documents get theirs too."""
    held_out, _ = trainer.held_out(training_set, last.fitted)
    of_source = held_out[: len(training_set.source)]
    steepness = fit_steepness(of_source, training_set.source_codes)
    unseen = unseen_scores(training_set, last.scores, held_out, None)
    return Calibration(steepness, unseen, of_source)
