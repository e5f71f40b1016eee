"""Rounds of training, each on the source and on answers of the round before: the paper's Algorithm 1, and ours by shares."""

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.calibrate import (
    Expected,
    Logits,
    expect_accuracy,
    find_temper,
    fit_offsets,
    fit_steepness,
    measure_accuracy,
    meet_shares,
    softmax,
)
from gramshift.learn.labelling import Codes, Labelling, Rows
from gramshift.learn.ridge import Fitted
from gramshift.learn.selection import (
    choose_by_shares,
    choose_classes,
    choose_surest,
    one_versus_all,
)
from gramshift.learn.shares import Shares, count_labels, estimate_shares, proportions_matter
from gramshift.learn.training import Describer, Trainer
from gramshift.runtime.resources import Runtime

Floats = NDArray[np.float64]
IGNORED, SOURCE, ESTIMATED = "ignored", "source", "estimated"
MAX_GROWTH = 2  # pseudo-labels for each document that was trained on before
MIN_SLOPE_DOCUMENTS = 20  # target documents from which the slope of half-data scores is estimated


@dataclass(frozen=True)
class RandomLabels:
    """The labels that a person gave to target documents drawn at random: their places in the target, and their classes."""

    rows: Rows
    codes: Codes

    def count(self, n_classes: int) -> Floats:
        """Return how many documents have each class."""
        return np.bincount(self.codes, minlength=n_classes).astype(np.float64)


@dataclass(frozen=True)
class Schedule:
    """How many rounds there are, how many target documents join before each one after the first, and which.

    ``class_prior`` is "ignored", "source", "estimated" or an array with the proportion of each class. If there are more
    rounds than numbers, the last number holds for the rest. ``centred``: scores begin at the shares of the classes, and the
    last round decides by evidence and shares, not by the largest score.
    """

    n_rounds: int
    n_added: tuple[int, ...]
    class_prior: str | Floats = IGNORED
    centred: bool = False
    random: RandomLabels | None = None

    @property
    def is_estimated(self) -> bool:
        """Whether the class proportions are to be found here."""
        return isinstance(self.class_prior, str) and self.class_prior == ESTIMATED

    @property
    def by_shares(self) -> bool:
        """Whether documents join by the proportions of classes."""
        return not isinstance(self.class_prior, str) or self.class_prior != IGNORED


@dataclass(frozen=True)
class Round:
    """One round: the target documents that joined before it, surest first, and what it says of all target documents."""

    added: Rows
    added_codes: Codes
    fitted: Fitted
    scores: Floats
    changed: int
    seconds: float
    shares: Shares | None = None
    """The shares by which documents joined."""

    @property
    def codes(self) -> Codes:
        """The class of each target document."""
        return choose_classes(self.scores)


@dataclass(frozen=True)
class Calibration:
    """What turns scores into probabilities."""

    steepness: float
    """Of documents that no training has seen."""
    scores: Floats
    """The scores of the target documents, of this steepness too; those that joined the training are scored by classifiers that
    did not learn from them."""
    held_out: Floats | None = None
    """The scores of the source documents by classifiers that did not learn from them; not kept in files."""


@dataclass(frozen=True)
class RoundsOutcome:
    """What all rounds together have learnt."""

    rounds: list[Round]
    labelling: Labelling
    """The labelling that the last round learnt from."""
    calibration: Calibration | None
    shares: Shares | None = None
    plain: Floats | None = None
    """The probabilities of target documents by the first round, where classes have the source's shares."""
    expected: Expected | None = None


def fit_rounds(
    describer: Describer,
    labelling: Labelling,
    schedule: Schedule,
    runtime: Runtime,
    *,
    calibrate: bool = True,
    weights: Floats | None = None,
) -> RoundsOutcome:
    """Train on the source, label the target, let some of it join, train again, label all of it again.

    Every further round chooses from the whole target. True classes of target documents are in no labelling, so that
    nothing here can learn from them, unless a person gave them for documents drawn at random. Such labels are first counted
    and scored, by rounds that do not learn from them; then they join the training set of all rounds.
    """
    trainer = Trainer(
        describer, labelling.source, runtime, centred=schedule.centred, weights=weights
    )
    if schedule.random is None:
        return _fit_rounds(trainer, labelling, schedule, runtime, calibrate=calibrate)
    measured = _fit_rounds(trainer, labelling, schedule, runtime, calibrate=calibrate)
    return _fit_rounds(
        trainer, labelling, schedule, runtime, calibrate=calibrate, measured=measured
    )


def _fit_rounds(
    trainer: Trainer,
    source: Labelling,
    schedule: Schedule,
    runtime: Runtime,
    *,
    calibrate: bool,
    measured: "RoundsOutcome | None" = None,
) -> RoundsOutcome:
    """Run all rounds; with what rounds before ``measured``, random labels are learnt from, and proportions are known."""
    learnt = schedule.random if measured is not None else None
    n_rounds = schedule.n_rounds if len(source.target) else 1
    calibrator, by_labels = (
        _Calibrator(trainer, source, schedule, measured),
        trainer.describer.by_labels,
    )
    labelling, free = source, np.arange(len(source.target))
    if learnt is not None:
        labelling, free = (
            source.join(source.target[learnt.rows], learnt.codes),
            np.setdiff1d(free, learnt.rows),
        )
    rounds: list[Round] = []
    for number in range(n_rounds):
        begun = time.perf_counter()
        added, codes, shares = np.empty(0, np.intp), np.empty(0, np.intp), None
        if rounds:
            n = _bounded(
                schedule.n_added[min(number, len(schedule.n_added)) - 1],
                len(labelling.training),
                schedule,
            )
            again = (
                schedule.by_shares and number == (n_rounds + 1) // 2
            )  # classifiers that have adapted know better
            if again or (number == 1 and (schedule.by_shares or schedule.centred)):
                calibrator.read(labelling, rounds[-1], first=number == 1)
            if schedule.by_shares:
                shares = calibrator.shares
                added, codes = choose_by_shares(
                    calibrator.log_posterior(rounds[-1].scores[free]), n, calibrator.shares.used
                )
            else:
                added, codes = choose_surest(rounds[-1].scores[free], n)
            added = free[added]
            labelling = _join(source, added, codes, learnt)
        if by_labels:
            runtime.report("rounds", number, n_rounds)
        fitted, scores = trainer.train(labelling, rounds[-1].fitted if rounds else None)
        changed = int(np.count_nonzero(choose_classes(scores) != rounds[-1].codes)) if rounds else 0
        rounds.append(
            Round(added, codes, fitted, scores, changed, time.perf_counter() - begun, shares)
        )
    if by_labels:
        runtime.report("rounds", n_rounds, n_rounds)
    if schedule.centred:
        outcome = calibrator.finish(labelling, rounds)
    else:
        outcome = RoundsOutcome(
            rounds, labelling, _calibrate(trainer, labelling, rounds[-1]) if calibrate else None
        )
    if schedule.random is None:
        return outcome
    if measured is None:
        return (
            outcome
            if schedule.centred
            else replace(outcome, expected=_score(outcome, schedule.random))
        )
    return _certain(
        replace(outcome, plain=measured.plain, expected=measured.expected), schedule.random
    )


def _join(source: Labelling, added: Rows, codes: Codes, learnt: RandomLabels | None) -> Labelling:
    """Return the source with pseudo-labelled target documents, and before them those that a person has labelled."""
    if learnt is None:
        return source.join(source.target[added], codes)
    rows = source.target[np.concatenate([learnt.rows, added])]
    return source.join(rows, np.concatenate([learnt.codes, codes]))


def _score(outcome: RoundsOutcome, random: RandomLabels) -> Expected:
    """Return the accuracy that random labels alone show, where no other is expected."""
    return measure_accuracy(None, outcome.rounds[-1].codes[random.rows] == random.codes)


UNKNOWN_ERROR = 0.5  # of class proportions that nothing was estimated of
CERTAIN = 1e-9  # the probability that a label given by a person is wrong


def _certain(outcome: RoundsOutcome, random: RandomLabels) -> RoundsOutcome:
    """Return the outcome with the labels that a person gave as they are, without doubt."""
    last, calibration = outcome.rounds[-1], outcome.calibration
    n_classes = last.scores.shape[1]
    steepness = 1.0 if calibration is None else calibration.steepness
    given = one_versus_all(random.codes, n_classes) * -np.log(CERTAIN) / (2 * steepness)
    scores = last.scores.copy()
    scores[random.rows] = given
    if calibration is not None:
        unseen = calibration.scores.copy()
        unseen[random.rows] = given
        calibration = replace(calibration, scores=unseen)
    return replace(
        outcome,
        rounds=[*outcome.rounds[:-1], replace(last, scores=scores)],
        calibration=calibration,
    )


def _bounded(n: int, n_training: int, schedule: Schedule) -> int:
    """Cap the number of pseudo-labels at twice the size of the training set, where they join by class."""
    return min(n, MAX_GROWTH * n_training) if schedule.by_shares else n


class _Calibrator:
    """Calibrates scores and tracks the target's class proportions from round to round."""

    def __init__(
        self,
        trainer: Trainer,
        source: Labelling,
        schedule: Schedule,
        measured: RoundsOutcome | None,
    ) -> None:
        self._trainer, self._source, self._schedule, self._measured = (
            trainer,
            source,
            schedule,
            measured,
        )
        before: Floats = np.bincount(source.codes, minlength=source.n_classes) / len(source.codes)
        given = before if isinstance(schedule.class_prior, str) else schedule.class_prior
        self.shares = Shares.given(before, given)
        if measured is not None and measured.shares is not None:
            self.shares = measured.shares
        self._estimate: Shares | None = None
        """The shares before random labels were counted."""
        if (
            measured is None and schedule.is_estimated and schedule.random is not None
        ):  # one round may be all there is
            self._estimate = replace(self.shares, errors=np.full(len(before), UNKNOWN_ERROR))
            self.shares = self._count(self._estimate)
        self.logits: Logits | None = None
        self.plain: Floats | None = None
        self.drift: float | None = None
        self.expected: Expected | None = None

    def read(self, labelling: Labelling, last: Round, *, first: bool) -> None:
        """Read the scores of a round, and estimate the shares from them if that is wanted."""
        held_out, others = self._trainer.held_out(labelling, last.fitted)
        self._read(labelling, held_out, last, first=first)
        if not self._schedule.is_estimated or self._measured is not None:
            return
        assert self.logits is not None, "read just now"
        if self.drift is None:
            self.drift = self._trainer.describer.measure_drift(self._source)
        if first and self._trainer.describer.by_labels:
            probabilities = self._look_across(labelling, last)
        else:
            probabilities = self.logits.probabilities(
                unseen_scores(labelling, last.scores, held_out, others)
            )
        before = None if first else self._estimate
        unadapted = None
        if first:
            assert self.plain is not None, "read just now"
            unadapted = np.bincount(
                choose_classes(self.plain), minlength=self._source.n_classes
            ) / max(1, len(self.plain))
        self._estimate = estimate_shares(
            probabilities, self._source.codes, self.drift, before, unadapted
        )
        self.shares = self._count(self._estimate)

    def _count(self, estimate: Shares, without: int | None = None) -> Shares:
        """Combine an estimate with random labels, if there are any; one of a class may be left out."""
        random = self._schedule.random
        if random is None:
            return estimate
        counts = random.count(self._source.n_classes)
        if without is not None:
            counts[without] -= 1
        return count_labels(estimate, counts)

    def _look_across(self, source: Labelling, first: Round) -> Floats:
        """The probabilities of target documents by n-grams that both domains have.

        What one domain alone has moves the scores of that domain alone, which would look like other shares of classes.
        """
        fitted, scores = self._trainer.train_across(source, first.fitted)
        held_out, _ = self._trainer.held_out(source, fitted, across=True)
        return Logits(*fit_offsets(held_out, source.codes)).probabilities(scores)

    def log_posterior(self, scores: Floats) -> Floats:
        """Return the log-probability of each class under the target's class proportions."""
        assert self.logits is not None, "scores were read before"
        return self.logits.log_probabilities(scores, self.shares)

    def finish(self, labelling: Labelling, rounds: list[Round]) -> RoundsOutcome:
        """Turn the last round's scores into final decisions, corrected for the target's class proportions.

        Scores of the source, and so the calibration, come from classifiers that did not learn from the document.
        """
        last, is_adapted = rounds[-1], len(rounds) > 1
        held_out, others = self._trainer.held_out(labelling, last.fitted)
        logits = self._read(labelling, held_out, last, first=not is_adapted)
        slope = 1.0
        if others is not None and is_adapted:
            unjoined = np.flatnonzero(~np.isin(labelling.target, labelling.joined))
            slope = half_to_full_slope(last.scores[unjoined], others)
        held_out = held_out * slope
        steepness = logits.steepness / slope
        if is_adapted:
            assert self.plain is not None, "of the first round"
            unseen = unseen_scores(labelling, last.scores, held_out, None)
            offsets = meet_shares(steepness * unseen, self.shares.used) / steepness
            scores = match_priors(
                blend_scores(last.scores, unseen, self.plain, steepness),
                steepness,
                self.shares.used,
            )
            changed = int(np.count_nonzero(choose_classes(scores) != rounds[-2].codes))
        else:
            offsets = prior_offsets(logits.offsets / steepness, steepness, self.shares)
            scores = last.scores + offsets
            changed = 0
        fitted = replace(last.fitted, intercepts=last.fitted.intercepts + offsets)
        decided = replace(last, fitted=fitted, scores=scores, changed=changed)
        of_source = held_out[: len(labelling.source)] + offsets
        if len(scores):
            right = float(np.mean(choose_classes(of_source) == labelling.source_codes))
            self.expected = self._expect(scores, steepness, right)
            steepness *= find_temper(steepness * scores, self.expected.value)
        calibration = Calibration(steepness, scores, of_source)
        return RoundsOutcome(
            [*rounds[:-1], decided], labelling, calibration, self.shares, self.plain, self.expected
        )

    def _expect(self, scores: Floats, steepness: float, source_right: float) -> Expected:
        """Return the accuracy to be expected, combined with what random labels show of it."""
        if self._measured is not None and self._measured.expected is not None:
            return self._measured.expected
        assert self.plain is not None, "of the first round"
        probabilities = softmax(scores, steepness)
        undecided = proportions_matter(probabilities, self.shares.used, *self.shares.intervals().T)
        expected = expect_accuracy(probabilities, self.plain, source_right, undecided)
        random = self._schedule.random
        if random is None:
            return expected
        right = np.zeros(len(random.rows), bool)
        for code in np.unique(
            random.codes
        ):  # each label is judged by proportions that were counted without it
            of_class = random.codes == code
            shares = (
                self.shares if self._estimate is None else self._count(self._estimate, without=code)
            )
            moved = steepness * scores + meet_shares(steepness * scores, shares.used)
            right[of_class] = choose_classes(moved[random.rows[of_class]]) == code
        return measure_accuracy(expected, right)

    def _read(self, labelling: Labelling, held_out: Floats, last: Round, *, first: bool) -> Logits:
        """What makes probabilities of scores: fitted on source documents, by classifiers that did not learn from them."""
        self.logits = Logits(
            *fit_offsets(held_out[: len(labelling.source)], labelling.source_codes)
        )
        if first:
            self.plain = self.logits.probabilities(last.scores)
        return self.logits


# chosen on the development data: docs/experiments.md
WEIGHT_OWN_SCORE = 0.3  # of a document's own, possibly self-confirming, score in the final decision
WEIGHT_FIRST_ROUND = 0.3  # of the first round's log-probability
MIN_PRIOR = 1e-9  # keeps logarithms finite


def blend_scores(scores: Floats, unseen: Floats, first: Floats, steepness: float) -> Floats:
    """Return 0.3 own + 0.7 unseen + 0.3 log(first) / steepness for each target document and class.

    ``unseen``: scores by classifiers that did not learn from the document. ``first``: probabilities of the first round.
    """
    of_first = np.log(np.maximum(first, MIN_PRIOR)) / steepness
    return (
        WEIGHT_OWN_SCORE * scores + (1 - WEIGHT_OWN_SCORE) * unseen + WEIGHT_FIRST_ROUND * of_first
    )


def match_priors(scores: Floats, steepness: float, prior: Floats) -> Floats:
    """Shift each class by an offset, so that its mean probability equals its prior, and centre the scores of each document."""
    moved = scores + meet_shares(steepness * scores, prior) / steepness
    centred: Floats = moved - moved.mean(axis=1, keepdims=True)
    return centred


def prior_offsets(offsets: Floats, steepness: float, shares: Shares) -> Floats:
    """Return the offsets of classes, moved by log(target prior / source prior) / steepness and centred."""
    moved = offsets + np.log(np.maximum(shares.used, MIN_PRIOR) / shares.source) / steepness
    centred: Floats = moved - moved.mean()
    return centred


def unseen_scores(
    labelling: Labelling, scores: Floats, held_out: Floats, others: Floats | None
) -> Floats:
    """The scores of target documents by classifiers that did not learn from them; ``others`` are those that have not joined."""
    result = scores.copy()
    place = np.searchsorted(labelling.target, labelling.joined)
    if others is not None:
        result[np.setdiff1d(np.arange(len(scores)), place)] = others
    result[place] = held_out[len(labelling.source) :]
    return result


def half_to_full_slope(scores: Floats, by_half: Floats) -> float:
    """Return the regression slope from half-data scores to full-data scores, both centred, within 1 and 2; 1 for few documents.

    Classifiers that learn from half of the documents give smaller scores than those that learn from all of them.
    """
    if len(scores) < MIN_SLOPE_DOCUMENTS:
        return 1.0
    centred = by_half - by_half.mean(axis=0)
    squares = float(np.sum(centred**2))
    slope = (
        float(np.sum(centred * (scores - scores.mean(axis=0)))) / squares if squares > 0 else 1.0
    )
    return float(np.clip(slope, 1.0, 2.0))


def _calibrate(trainer: Trainer, labelling: Labelling, last: Round) -> Calibration:
    """The steepness by held-out scores of the source; target documents that joined get held-out scores too."""
    held_out, _ = trainer.held_out(labelling, last.fitted)
    of_source = held_out[: len(labelling.source)]
    steepness = fit_steepness(of_source, labelling.source_codes)
    return Calibration(steepness, unseen_scores(labelling, last.scores, held_out, None), of_source)
