"""Class proportions of the target: estimated with an error, drawn towards the source's, or known from random labels."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MAX_STEPS, TOLERANCE = 3000, 1e-9  # of expectation maximisation
LEAN_TOLERANCE = 1e-6  # the same where classes lean: errors need fewer digits
IMAGINED = 5.0  # documents with the source's proportions that are added, which decide where documents are few
# chosen on the development data, with one family left out at a time: docs/experiments.md
EVIDENCE_POWER = 0.6  # probabilities that are calibrated on one domain are overconfident on another
LEAN_BY_DRIFT = (
    2.0  # the lean of a class's log-odds in a new domain: times the fourth power of the drift
)
LEAN_BY_DOCUMENTS = 6.0  # and over the root of the number of source documents of the class
MAX_DRIFT = 2.0  # where domains have hardly a word in common
DOUBT = 0.3  # the part of its error that a difference from the source's proportion has to exceed
MIN_ERROR = 0.03  # of a proportion, however clear the evidence is
GUARDED_ERROR = 0.4  # from this error on a proportion is all but unknown, and growth is limited
LEAST_PRIOR = 1e-9  # keeps odds finite


@dataclass(frozen=True)
class Shares:
    """The proportions of classes in the source, as estimated for the target, and as used, with the error of the estimate."""

    source: Floats
    estimated: Floats
    used: Floats
    errors: Floats
    """The standard errors of the proportions used; 0 where a person has given them."""
    limits: Floats
    """The largest proportion that each class may get before all are made to add up to 1; 1 where nothing limits it."""

    @classmethod
    def given(cls, source: Floats, shares: Floats) -> "Shares":
        """Return proportions that are not estimated: the user's, or the source's."""
        return cls(source, shares, shares, np.zeros(len(shares)), np.ones(len(shares)))

    def intervals(self) -> Floats:
        """Return the lowest and the highest proportion of each class in 95 of 100 fits."""
        reach = 1.96 * self.errors
        return np.clip(np.stack([self.used - reach, self.used + reach], axis=1), 0.0, 1.0)


def estimate_shares(
    probabilities: Floats,
    source_codes: NDArray[np.intp],
    drift: float,
    before: "Shares | None" = None,
    unadapted: Floats | None = None,
) -> Shares:
    """Estimate the class proportions from the probabilities of target documents, which are calibrated on the source.

    Whatever moves the scores of a new domain looks like other class proportions. So the error of a proportion is the change
    of its estimate when the log-odds of its class lean by as much as they may between domains that differ like these: small
    where documents are clear cases, and nearly 1 where nothing is known. A difference from the source's proportion counts
    by the part that exceeds its error (``settle``).

    Of three or more classes one may gather the documents that have lost their evidence in the new domain. So a class whose
    proportion is all but unknown may not grow beyond the one that it has among the ``unadapted`` labels, if these are given.

    With an estimate from ``before``, classifiers have adapted to it since. They can draw a proportion back towards the
    source's, half of the way; they cannot move it on, because they have learnt from the documents that they are asked about.
    """
    n_classes = probabilities.shape[1]
    counts = np.bincount(source_codes, minlength=n_classes)
    source: Floats = counts / len(source_codes)
    tempered = source * (probabilities / source) ** EVIDENCE_POWER
    estimated = maximize(tempered, source, IMAGINED)
    if before is not None:
        mean, nearer = (
            (estimated + before.estimated) / 2,
            np.abs(estimated - source) < np.abs(before.estimated - source),
        )
        estimated, errors = np.where(nearer, mean, before.estimated), before.errors
        estimated = estimated / estimated.sum()
    else:
        leans = np.hypot(
            LEAN_BY_DRIFT * min(drift, MAX_DRIFT) ** 4,
            LEAN_BY_DOCUMENTS / np.sqrt(np.maximum(1, counts)),
        )
        errors = lean_errors(tempered, source, estimated, leans)
    limits = np.ones(n_classes) if before is None else before.limits
    if unadapted is not None and n_classes > 2:
        limits = np.where(errors > GUARDED_ERROR, np.maximum(source, unadapted), 1.0)
    return Shares(source, estimated, settle(estimated, source, errors, limits), errors, limits)


def lean_errors(probabilities: Floats, source: Floats, estimated: Floats, leans: Floats) -> Floats:
    """Return the change of each proportion when the evidence for its class leans by this much towards the source.

    A proportion that is the source's already may lean either way.
    """
    errors = np.full(len(source), MIN_ERROR)
    for code, lean in enumerate(leans):
        moved = estimated[code] - source[code]
        signs = (-1.0, 1.0) if abs(moved) < MIN_ERROR else (-np.sign(moved),)
        for sign in signs:
            towards = np.zeros(len(source))
            towards[code] = sign * lean
            leaning = maximize(
                probabilities * np.exp(towards),
                source,
                IMAGINED,
                tolerance=LEAN_TOLERANCE,
                start=estimated,
            )
            errors[code] = max(errors[code], abs(leaning[code] - estimated[code]))
    return errors


def settle(estimated: Floats, source: Floats, errors: Floats, limits: Floats) -> Floats:
    """Move the source's proportions by the part of each difference that exceeds a part of its error, up to the limits."""
    moved = estimated - source
    left = np.maximum(np.abs(moved) - DOUBT * errors, 0.0)
    used = np.clip(source + np.sign(moved) * left, 0.0, limits)
    result: Floats = used / used.sum()
    return result


def count_labels(shares: Shares, counts: Floats) -> Shares:
    """Combine an estimate with the labels of documents drawn at random, each weighed by the inverse of its variance."""
    n = counts.sum()
    smoothed = (counts + shares.source) / (
        n + 1
    )  # a class that was not drawn may be there all the same
    of_counts = smoothed * (1 - smoothed) / n
    of_estimate = shares.errors**2
    weight = of_estimate / (of_estimate + of_counts)
    used = weight * counts / n + (1 - weight) * shares.used
    return replace(shares, used=used / used.sum(), errors=np.sqrt(weight * of_counts))


def maximize(
    probabilities: Floats,
    before: Floats,
    imagined: float,
    *,
    tolerance: float = TOLERANCE,
    start: Floats | None = None,
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


def proportions_matter(probabilities: Floats, prior: Floats, low: Floats, high: Floats) -> float:
    """Return the largest fraction of labels that depend on where in its interval the proportion of a class is.

    ``probabilities``, a row per document, hold for the class proportions ``prior``. One class at a time has ``low``, then
    ``high``, instead, and the others share the rest as before.
    """
    changed = [0.0]
    for code in range(len(prior)):
        at_low, at_high = (
            _relabel(probabilities, prior, code, float(end[code])) for end in (low, high)
        )
        changed.append(float(np.mean(at_low != at_high)) if len(probabilities) else 0.0)
    return max(changed)


def _relabel(
    probabilities: Floats, prior: Floats, code: int, proportion: float
) -> NDArray[np.intp]:
    """Return the class of each document if one class had another proportion."""
    before = float(prior[code])
    weights = np.full(len(prior), (1 - proportion) / max(1 - before, LEAST_PRIOR))
    weights[code] = proportion / max(before, LEAST_PRIOR)
    codes: NDArray[np.intp] = np.argmax(probabilities * weights, axis=1)
    return codes


def measure_drift(ratios: Floats, variances: Floats) -> float:
    """Return the spread of the log of how much more common words are in one domain, beyond the part that chance explains.

    By the median, so that the words that belong to the topics do not decide.
    """
    if not len(ratios):
        return MAX_DRIFT
    spread = 1.4826 * float(
        np.median(np.abs(ratios - np.median(ratios)))
    )  # that of a normal distribution
    return float(np.sqrt(max(0.0, spread**2 - float(np.median(variances)))))
