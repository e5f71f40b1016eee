"""The share of each class among target documents: estimated, with its standard error, and drawn towards the source's shares."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS, CLOSE = 3000, 1e-9
IMAGINED = 5.0  # documents with the source's shares that are added, which decide where documents are few
# what a standard error is made of, chosen on the development data: docs/experiments.md
LEAST = 0.03  # however alike the domains are
OF_DRIFT = 0.6  # times the fourth power of the drift
OF_CLASS = 6.0  # over the number of source documents of the smallest class
MOST_DRIFT = 2.0  # where domains have hardly a word in common
LITTLE = 0.08  # the least information that probabilities are taken to have
BY_INFORMATION = 0.75  # the power of it that an error is divided by
# how much of its error a difference from the source's shares has to explain, and a share that is never told from another
JOINING, DECIDING = 0.8, 0.3  # while documents join, what is wrong grows with every round; the last decision is made once
SMALL = 0.05


@dataclass(frozen=True)
class Shares:
    """The shares of classes in the source, as estimated for the target, and as they were used, with a standard error each."""

    source: Floats
    estimated: Floats
    used: Floats
    errors: Floats
    """The standard errors of the estimate; 0 where a person has given the shares."""

    @classmethod
    def given(cls, source: Floats, shares: Floats) -> "Shares":
        """Shares that are not estimated: the user's, or the source's."""
        return cls(source, shares, shares, np.zeros(len(shares)))

    def intervals(self) -> Floats:
        """For each class the lowest and the highest share in 95 of 100 fits."""
        reach = 1.96 * self.errors
        return np.clip(np.stack([self.used - reach, self.used + reach], axis=1), 0.0, 1.0)


def estimate_shares(
    probabilities: Floats, source_codes: NDArray[np.intp], drift: float, before: "Shares | None" = None
) -> Shares:
    """Estimate the shares of classes from the probabilities of target documents, which are calibrated on the source.

    Whatever moves all scores of a new domain looks like other shares of classes. The standard error is therefore the larger,
    the less the probabilities say, the further the frequencies of words have drifted, and the fewer documents taught the
    smallest class. Of a difference from the source's shares that the error explains little is used, of a large one nearly all.

    With an estimate from ``before``, classifiers have adapted to it since. What they say can draw a share back towards the
    source's, half of the way; it cannot move it on, because they have learnt from what they are asked about.
    """
    n_classes = probabilities.shape[1]
    counts = np.bincount(source_codes, minlength=n_classes)
    source: Floats = counts / len(source_codes)
    estimated = maximize(probabilities, source, IMAGINED)
    if before is not None:
        mean, nearer = (estimated + before.estimated) / 2, np.abs(estimated - source) < np.abs(before.estimated - source)
        estimated, errors = np.where(nearer, mean, before.estimated), before.errors
    else:
        size = LEAST + OF_DRIFT * min(drift, MOST_DRIFT) ** 4 + OF_CLASS / max(1, counts.min())
        errors = size * 2 * np.sqrt(source * (1 - source)) / _information(probabilities, source) ** BY_INFORMATION
    estimated = estimated / estimated.sum()
    return Shares(source, estimated, settle(estimated, source, errors, JOINING), errors)


def settle(estimated: Floats, source: Floats, errors: Floats, doubt: float) -> Floats:
    """The source's shares, moved by what is left of each difference beside ``doubt`` times its error."""
    moved = estimated - source
    kept = moved**2 / (moved**2 + (doubt * errors) ** 2 + SMALL**2)
    used = np.maximum(source + kept * moved, 0.0)
    result: Floats = used / used.sum()
    return result


def conclude(shares: Shares) -> Shares:
    """The shares by which the last round decides: bolder than those by which documents have joined, as nothing follows."""
    return replace(shares, used=settle(shares.estimated, shares.source, shares.errors, DECIDING))


def maximize(probabilities: Floats, before: Floats, imagined: float) -> Floats:
    """The shares that make documents most likely, by expectation maximisation (Saerens, Latinne and Decaestecker, 2002).

    ``probabilities`` are those of a classifier that was calibrated where classes had the shares ``before``; so many
    ``imagined`` documents have these shares too.
    """
    ratios, shares = probabilities / before, before
    for _ in range(STEPS):
        weighted = ratios * shares
        found = (weighted / weighted.sum(axis=1, keepdims=True)).sum(axis=0)
        new = (found + imagined * before) / (len(probabilities) + imagined)
        done = np.abs(new - shares).max() < CLOSE
        shares = new
        if done:
            break
    return shares


def with_shares(probabilities: Floats, before: Floats, shares: Floats) -> Floats:
    """The same probabilities where classes have other shares than those that they were calibrated with."""
    weighted = probabilities * (shares / before)
    result: Floats = weighted / weighted.sum(axis=1, keepdims=True)
    return result


def _information(probabilities: Floats, shares: Floats) -> float:
    """How much of what classes differ by the probabilities tell: 0 if all documents look alike, 1 if nothing is in doubt."""
    unknown = float(np.sum(probabilities * (1 - probabilities))) / max(1, len(probabilities))
    return max(LITTLE, 1.0 - unknown / max(float(np.sum(shares * (1 - shares))), np.finfo(float).tiny))


def measure_drift(ratios: Floats, variances: Floats) -> float:
    """The spread of the log of how much more common words are in one domain than in the other, beyond what chance explains.

    By the median, so that the words that belong to the topics do not decide.
    """
    if not len(ratios):
        return MOST_DRIFT
    spread = 1.4826 * float(np.median(np.abs(ratios - np.median(ratios))))  # that of a normal distribution
    return float(np.sqrt(max(0.0, spread**2 - float(np.median(variances)))))
