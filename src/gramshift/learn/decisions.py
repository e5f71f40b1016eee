"""Decisions from scores: calibration on held-out documents, and the target's class proportions.

All functions are pure: rounds of training pass a ``Reading`` from one to the next.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.calibrate import (
    Expected,
    Logits,
    expect_accuracy,
    find_temper,
    fit_offsets,
    measure_accuracy,
    meet_shares,
    softmax,
)
from gramshift.learn.class_proportions import (
    ClassProportions,
    count_labels,
    estimate_shares,
    proportions_matter,
    revise_shares,
)
from gramshift.learn.pseudo_labels import choose_classes
from gramshift.learn.ridge import Coefficients
from gramshift.learn.training import Trainer
from gramshift.learn.training_set import Codes, Rows, TrainingSet

Floats = NDArray[np.float64]
# chosen on the development data: docs/experiments.md
WEIGHT_OWN_SCORE = 0.3  # of a document's own, possibly self-confirming, score in the final decision
WEIGHT_FIRST_ROUND = 0.3  # of the first round's log-probability
MIN_SLOPE_DOCUMENTS = 20  # target documents from which the slope of half-data scores is estimated
MIN_PRIOR = 1e-9  # keeps logarithms finite
UNKNOWN_ERROR = 0.5  # standard error of class proportions before anything was estimated


@dataclass(frozen=True)
class RandomLabels:
    """Labels that a person gave to target documents drawn at random.

    ``rows`` are the positions of the documents in the target, ``codes`` their classes.
    """

    rows: Rows
    codes: Codes


@dataclass(frozen=True)
class Prior:
    """The class proportions of the target: known, or estimated from scores and random labels."""

    used: ClassProportions
    is_known: bool
    random: RandomLabels | None = None
    estimate: ClassProportions | None = None
    """Estimated from scores alone, before random labels are counted."""

    @classmethod
    def unknown(cls, source: ClassProportions, random: RandomLabels | None) -> "Prior":
        """Start with the source's proportions, or with those of random labels if there are any."""
        start = cls(source, is_known=False, random=random)
        if random is None:
            return start
        error = np.full(len(source.used), UNKNOWN_ERROR)
        return start.with_estimate(replace(source, errors=error))

    def with_estimate(self, estimate: ClassProportions) -> "Prior":
        """Return the prior for a new estimate from scores, combined with random labels."""
        return replace(self, used=self._count_random(estimate), estimate=estimate)

    def used_without(self, code: int) -> ClassProportions:
        """Return the proportions without one random label of this class."""
        return self.used if self.estimate is None else self._count_random(self.estimate, code)

    def _count_random(
        self, estimate: ClassProportions, without: int | None = None
    ) -> ClassProportions:
        if self.random is None:
            return estimate
        counts = np.bincount(self.random.codes, minlength=len(estimate.used)).astype(np.float64)
        if without is not None:
            counts[without] -= 1
        return count_labels(estimate, counts)


@dataclass(frozen=True)
class Reading:
    """The calibration of a round, and the class proportions known after it."""

    logits: Logits
    first: Floats
    """Probabilities of target documents by the first round, for the source's proportions."""
    prior: Prior

    def log_posterior(self, scores: Floats) -> Floats:
        """Return the log-probability of each class under the target's class proportions."""
        return self.logits.log_probabilities(scores, self.prior.used)


@dataclass(frozen=True)
class Decision:
    """The final scores of the target, and what makes probabilities of them."""

    scores: Floats
    offsets: Floats
    """Added to the intercepts of the last round, for documents that the fit has not seen."""
    steepness: float
    held_out: Floats
    """Held-out scores of source documents, with the offsets."""
    first: Floats
    expected: Expected | None
    """None without target documents."""


def read_first_round(
    trainer: Trainer, training_set: TrainingSet, fitted: Coefficients, scores: Floats, prior: Prior
) -> Reading:
    """Calibrate the first round and, unless they are known, estimate the class proportions.

    If weights of n-grams depend on classes, proportions are estimated by n-grams that both domains
    share: the others shift all scores of one domain, which looks like other proportions.
    """
    held_out, others = trainer.held_out(training_set, fitted)
    logits = fit_logits(training_set, held_out)
    first = logits.probabilities(scores)
    if prior.is_known:
        return Reading(logits, first, prior)
    drift = trainer.feature_maker.measure_drift(training_set)
    if trainer.feature_maker.by_labels:
        probabilities = _probabilities_across(trainer, training_set, fitted)
    else:
        unseen = unseen_scores(training_set, scores, held_out, others)
        probabilities = logits.probabilities(unseen)
    counts = np.bincount(choose_classes(first), minlength=training_set.n_classes)
    unadapted = counts / max(1, len(first))
    estimate = estimate_shares(probabilities, training_set.source_codes, drift, unadapted)
    return Reading(logits, first, prior.with_estimate(estimate))


def read_adapted_round(
    trainer: Trainer,
    training_set: TrainingSet,
    fitted: Coefficients,
    scores: Floats,
    before: Reading,
) -> Reading:
    """Calibrate a later round and, unless they are known, revise the class proportions."""
    held_out, others = trainer.held_out(training_set, fitted)
    logits = fit_logits(training_set, held_out)
    prior = before.prior
    if prior.is_known:
        return Reading(logits, before.first, prior)
    unseen = unseen_scores(training_set, scores, held_out, others)
    assert prior.estimate is not None, "the first round made one"
    estimate = revise_shares(logits.probabilities(unseen), prior.estimate)
    return Reading(logits, before.first, prior.with_estimate(estimate))


def decide_first(
    trainer: Trainer,
    training_set: TrainingSet,
    fitted: Coefficients,
    scores: Floats,
    prior: Prior,
    expected: Expected | None = None,
) -> Decision:
    """Decide after one round: offset_c = calibrated offset_c + log(prior_c / source_c) / slope.

    ``expected`` is the accuracy if it has been measured before.
    """
    held_out, _ = trainer.held_out(training_set, fitted)
    logits = fit_logits(training_set, held_out)
    first = logits.probabilities(scores)
    steepness = logits.steepness
    offsets = prior_offsets(logits.offsets / steepness, steepness, prior.used)
    of_source = held_out[: len(training_set.source)] + offsets
    decision = Decision(scores + offsets, offsets, steepness, of_source, first, expected)
    return temper(decision, training_set.source_codes, prior)


def decide_adapted(
    trainer: Trainer,
    training_set: TrainingSet,
    fitted: Coefficients,
    scores: Floats,
    reading: Reading,
    expected: Expected | None = None,
) -> Decision:
    """Decide after the last of several rounds.

    1. Scale held-out scores, which come from half of the documents, up to those of all documents.
    2. Blend each document's own score with its held-out score and that of the first round.
    3. Shift the classes so that their mean probabilities equal the class proportions.
    """
    held_out, others = trainer.held_out(training_set, fitted)
    logits = fit_logits(training_set, held_out)
    slope = 1.0
    if others is not None:
        unjoined = np.flatnonzero(~np.isin(training_set.target, training_set.pseudo_labelled))
        slope = half_to_full_slope(scores[unjoined], others)
    held_out = held_out * slope
    steepness = logits.steepness / slope
    prior = reading.prior.used.used
    unseen = unseen_scores(training_set, scores, held_out, None)
    offsets = meet_shares(steepness * unseen, prior) / steepness
    blended = blend_scores(scores, unseen, reading.first, steepness)
    decided = match_priors(blended, steepness, prior)
    of_source = held_out[: len(training_set.source)] + offsets
    decision = Decision(decided, offsets, steepness, of_source, reading.first, expected)
    return temper(decision, training_set.source_codes, reading.prior)


def temper(decision: Decision, source_codes: Codes, prior: Prior) -> Decision:
    """Scale the slope so that the mean confidence equals the expected accuracy."""
    if not len(decision.scores):
        return decision
    expected = decision.expected
    if expected is None:
        expected = expect_decision(decision, source_codes, prior)
    steepness = decision.steepness
    steepness *= find_temper(steepness * decision.scores, expected.value)
    return replace(decision, steepness=steepness, expected=expected)


def expect_decision(decision: Decision, source_codes: Codes, prior: Prior) -> Expected:
    """Return the expected accuracy, combined with random labels if there are any.

    Each random label is compared with a decision under class proportions that leave it out.
    """
    scores, steepness = decision.scores, decision.steepness
    source_right = float(np.mean(choose_classes(decision.held_out) == source_codes))
    probabilities = softmax(scores, steepness)
    undecided = proportions_matter(probabilities, prior.used.used, *prior.used.intervals().T)
    expected = expect_accuracy(probabilities, decision.first, source_right, undecided)
    random = prior.random
    if random is None:
        return expected
    right = np.zeros(len(random.rows), bool)
    for code in np.unique(random.codes):
        of_class = random.codes == code
        others = prior.used_without(int(code)).used
        logits = steepness * scores + meet_shares(steepness * scores, others)
        right[of_class] = choose_classes(logits[random.rows[of_class]]) == code
    return measure_accuracy(expected, right)


def fit_logits(training_set: TrainingSet, held_out: Floats) -> Logits:
    """Fit the calibration on held-out scores of source documents."""
    of_source = held_out[: len(training_set.source)]
    return Logits(*fit_offsets(of_source, training_set.source_codes))


def _probabilities_across(
    trainer: Trainer, training_set: TrainingSet, first: Coefficients
) -> Floats:
    """Return probabilities of the target, mainly by n-grams that both domains share."""
    fitted, scores = trainer.train_across(training_set, first)
    held_out, _ = trainer.held_out(training_set, fitted, across=True)
    return fit_logits(training_set, held_out).probabilities(scores)


def blend_scores(scores: Floats, unseen: Floats, first: Floats, steepness: float) -> Floats:
    """Return 0.3 own + 0.7 unseen + 0.3 log(first) / steepness for each document and class.

    ``unseen`` are scores by classifiers that did not learn from the document, ``first`` the
    probabilities of the first round.
    """
    of_first = np.log(np.maximum(first, MIN_PRIOR)) / steepness
    own = WEIGHT_OWN_SCORE * scores + (1 - WEIGHT_OWN_SCORE) * unseen
    return own + WEIGHT_FIRST_ROUND * of_first


def match_priors(scores: Floats, steepness: float, prior: Floats) -> Floats:
    """Shift each class so that its mean probability equals its prior; centre each document."""
    shifted = scores + meet_shares(steepness * scores, prior) / steepness
    centred: Floats = shifted - shifted.mean(axis=1, keepdims=True)
    return centred


def prior_offsets(offsets: Floats, steepness: float, shares: ClassProportions) -> Floats:
    """Return offsets + log(target prior / source prior) / steepness, centred."""
    ratio = np.maximum(shares.used, MIN_PRIOR) / shares.source
    shifted = offsets + np.log(ratio) / steepness
    centred: Floats = shifted - shifted.mean()
    return centred


def unseen_scores(
    training_set: TrainingSet, scores: Floats, held_out: Floats, others: Floats | None
) -> Floats:
    """Return scores of target documents by classifiers that did not learn from them.

    ``held_out`` has the held-out scores of all training documents, ``others`` those of target
    documents outside the training set; None keeps their ``scores``.
    """
    result = scores.copy()
    joined = np.searchsorted(training_set.target, training_set.pseudo_labelled)
    if others is not None:
        result[np.setdiff1d(np.arange(len(scores)), joined)] = others
    result[joined] = held_out[len(training_set.source) :]
    return result


def half_to_full_slope(scores: Floats, by_half: Floats) -> float:
    """Return the regression slope from half-data scores to full-data scores, both centred.

    Classifiers that learn from half of the documents give smaller scores. The slope is kept within
    1 and 2, and is 1 for few documents.
    """
    if len(scores) < MIN_SLOPE_DOCUMENTS:
        return 1.0
    centred = by_half - by_half.mean(axis=0)
    squares = float(np.sum(centred**2))
    if squares <= 0:
        return 1.0
    slope = float(np.sum(centred * (scores - scores.mean(axis=0)))) / squares
    return float(np.clip(slope, 1.0, 2.0))
