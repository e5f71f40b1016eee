"""Class proportions of the target: estimated with an error, drawn towards the source's, or known from random labels."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MAX_STEPS, TOLERANCE = 3000, 1e-9  # of expectation maximisation
LEAN_TOLERANCE = 1e-5  # the same where classes lean: errors need fewer digits
IMAGINED = 5.0  # documents with the source's proportions that are added, which decide where documents are few
# how far a new domain may move the log-odds of a class, chosen on the development data: docs/experiments.md
LEAN_BY_DRIFT = 2.0  # times the fourth power of the drift
LEAN_BY_DOCUMENTS = 6.0  # over the root of the number of source documents of the class
MAX_DRIFT = 2.0  # where domains have hardly a word in common
MIN_ERROR = 0.03  # of a proportion, however clear the evidence is
MAX_ERROR = 0.4  # with a larger one the 95 % interval covers nearly everything, and a class is not moved
# multiples of the error that the difference from the source's proportions is weighed against
DOUBT_IN_ROUNDS = 1.0  # a wrong proportion grows with every round
DOUBT_AT_END_OF_TWO = 0.3  # the last decision is made once, and a lean goes either way
DOUBT_AT_END = 1.0  # of three or more classes one may gather all documents that have lost their evidence
ERROR_BESIDE_LABELS = 0.1  # of an estimate that is combined with random labels, at least


@dataclass(frozen=True)
class Shares:
    """The proportions of classes in the source, as estimated for the target, and as used, with the error of the estimate."""

    source: Floats
    estimated: Floats
    used: Floats
    errors: Floats
    """The standard errors of the proportions used; 0 where a person has given them."""

    @classmethod
    def given(cls, source: Floats, shares: Floats) -> "Shares":
        """Return proportions that are not estimated: the user's, or the source's."""
        return cls(source, shares, shares, np.zeros(len(shares)))

    def intervals(self) -> Floats:
        """Return the lowest and the highest proportion of each class in 95 of 100 fits."""
        reach = 1.96 * self.errors
        return np.clip(np.stack([self.used - reach, self.used + reach], axis=1), 0.0, 1.0)


def estimate_shares(
    probabilities: Floats, source_codes: NDArray[np.intp], drift: float, before: "Shares | None" = None
) -> Shares:
    """Estimate the class proportions from the probabilities of target documents, which are calibrated on the source.

    Whatever moves the scores of a new domain looks like other class proportions. So the error of a proportion is the change
    of its estimate when the log-odds of its class lean back towards the source, by as much as domains do that differ like
    these: little where documents are clear cases, everything where they are not. Only the part d² / (d² + (c e)²) of a
    difference d with the error e is used, and none where the error says that nothing is known.

    With an estimate from ``before``, classifiers have adapted to it since. They can draw a proportion back towards the
    source's, half of the way; they cannot move it on, because they have learnt from the documents that they are asked about.
    """
    n_classes = probabilities.shape[1]
    counts = np.bincount(source_codes, minlength=n_classes)
    source: Floats = counts / len(source_codes)
    estimated = maximize(probabilities, source, IMAGINED)
    if before is not None:
        mean, nearer = (estimated + before.estimated) / 2, np.abs(estimated - source) < np.abs(before.estimated - source)
        estimated, errors = np.where(nearer, mean, before.estimated), before.errors
        estimated = estimated / estimated.sum()
    else:
        leans = np.hypot(LEAN_BY_DRIFT * min(drift, MAX_DRIFT) ** 4, LEAN_BY_DOCUMENTS / np.sqrt(np.maximum(1, counts)))
        errors = lean_errors(probabilities, source, estimated, leans)
    return Shares(source, estimated, settle(estimated, source, errors, DOUBT_IN_ROUNDS), errors)


def lean_errors(probabilities: Floats, source: Floats, estimated: Floats, leans: Floats) -> Floats:
    """Return the change of each proportion when the evidence for its class leans towards the source by this much."""
    errors = np.full(len(source), MIN_ERROR)
    for code, lean in enumerate(leans):
        if abs(estimated[code] - source[code]) < MIN_ERROR / 10:
            continue  # it is hardly moved, whatever its error
        towards = np.zeros(len(source))
        towards[code] = -lean if estimated[code] > source[code] else lean
        leaning = maximize(probabilities * np.exp(towards), source, IMAGINED, tolerance=LEAN_TOLERANCE, start=estimated)
        errors[code] = max(MIN_ERROR, abs(leaning[code] - estimated[code]))
    return errors


def settle(estimated: Floats, source: Floats, errors: Floats, doubt: float) -> Floats:
    """Move the source's proportions by the part of each difference that ``doubt`` times its error leaves."""
    moved = estimated - source
    kept = np.where(errors > MAX_ERROR, 0.0, moved**2 / np.maximum(moved**2 + (doubt * errors) ** 2, np.finfo(float).tiny))
    used = np.maximum(source + kept * moved, 0.0)
    result: Floats = used / used.sum()
    return result


def conclude(shares: Shares) -> Shares:
    """Return the proportions by which the last round decides; nothing follows that could amplify an error."""
    doubt = DOUBT_AT_END_OF_TWO if len(shares.source) == 2 else DOUBT_AT_END
    return replace(shares, used=settle(shares.estimated, shares.source, shares.errors, doubt))


def count_labels(shares: Shares, counts: Floats) -> Shares:
    """Combine an estimate with the labels of documents drawn at random, each weighed by the inverse of its variance."""
    n = counts.sum()
    smoothed = (counts + shares.source) / (n + 1)  # a class that was not drawn may be there all the same
    of_counts = smoothed * (1 - smoothed) / n
    of_estimate = shares.errors**2 + ERROR_BESIDE_LABELS**2
    weight = of_estimate / (of_estimate + of_counts)
    used = weight * counts / n + (1 - weight) * shares.used
    return replace(shares, used=used / used.sum(), errors=np.sqrt(weight * of_counts))


def maximize(
    probabilities: Floats, before: Floats, imagined: float, *, tolerance: float = TOLERANCE, start: Floats | None = None
) -> Floats:
    """Return the proportions that make documents most likely, by expectation maximisation.

    (Saerens, Latinne and Decaestecker, 2002.) ``probabilities`` are those of a classifier that was calibrated where classes had
    the proportions ``before``; this number of ``imagined`` documents has these proportions too.
    """
    ratios, shares = probabilities / before, before if start is None else start
    for _ in range(MAX_STEPS):
        weighted = ratios * shares
        found = (weighted / weighted.sum(axis=1, keepdims=True)).sum(axis=0)
        new = (found + imagined * before) / (len(probabilities) + imagined)
        done = np.abs(new - shares).max() < tolerance
        shares = new
        if done:
            break
    return shares


def with_shares(probabilities: Floats, before: Floats, shares: Floats) -> Floats:
    """Return probabilities where classes have other proportions than those that they were calibrated with."""
    weighted = probabilities * (shares / before)
    result: Floats = weighted / weighted.sum(axis=1, keepdims=True)
    return result


def measure_drift(ratios: Floats, variances: Floats) -> float:
    """Return the spread of the log of how much more common words are in one domain, beyond the part that chance explains.

    By the median, so that the words that belong to the topics do not decide.
    """
    if not len(ratios):
        return MAX_DRIFT
    spread = 1.4826 * float(np.median(np.abs(ratios - np.median(ratios))))  # that of a normal distribution
    return float(np.sqrt(max(0.0, spread**2 - float(np.median(variances)))))
