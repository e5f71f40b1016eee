"""Class proportions of the target: estimated with an error, or known from random labels."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MAX_STEPS = 3000  # of expectation maximisation
TOLERANCE = 1e-9  # of proportions, for it to stop
ERROR_TOLERANCE = 1e-6  # and where only an error is computed
ERROR_STEPS = 10_000  # for the errors of all classes together, if they are many
PRIOR_DOCUMENTS = 5.0  # strength of the Dirichlet prior at the source's proportions
# chosen on the development data, with one family left out at a time: docs/experiments.md
EVIDENCE_POWER = 0.6  # probabilities calibrated on one domain are overconfident on another
LEAN_BY_DRIFT = 2.0  # bias of a class's log-odds in a new domain: times the fourth power of drift
LEAN_BY_DOCUMENTS = 6.0  # and over the root of the number of source documents of the class
MAX_DRIFT = 2.0  # where domains have hardly a word in common
SHRINKAGE = 0.3  # of the standard error: smaller differences from the source's proportion are noise
MIN_ERROR = 0.03  # of a proportion, however clear the evidence is
GUARDED_ERROR = 0.4  # from this error on a proportion is all but unknown, and growth is limited
MIN_PRIOR = 1e-9  # keeps odds finite


@dataclass(frozen=True)
class ClassProportions:
    """Class proportions: in the source, as estimated for the target, and as used there."""

    source: Floats
    estimated: Floats
    used: Floats
    errors: Floats
    """Standard errors of the proportions used; 0 if they are given."""
    limits: Floats
    """Upper limits of the proportions, before these are normalised; 1 for no limit."""

    @classmethod
    def given(cls, source: Floats, shares: Floats) -> "ClassProportions":
        """Return proportions that are not estimated: the user's, or the source's."""
        return cls(source, shares, shares, np.zeros(len(shares)), np.ones(len(shares)))

    def intervals(self) -> Floats:
        """Return the 95 % interval of each proportion."""
        margin = 1.96 * self.errors
        return np.clip(np.stack([self.used - margin, self.used + margin], axis=1), 0.0, 1.0)


def estimate_shares(
    probabilities: Floats,
    source_codes: NDArray[np.intp],
    drift: float,
    unadapted: Floats | None = None,
) -> ClassProportions:
    """Estimate class proportions from probabilities of target documents, calibrated on the source.

    Anything that shifts the scores of a new domain looks like other class proportions. So the error
    of a proportion is the change of its estimate when the log-odds of its class are biased by as
    much as they may be between such domains: small if documents are clear cases, and nearly 1 if
    nothing is known. The estimate is shrunk towards the source's proportions by this error
    (``shrink``).

    Of three or more classes, one may collect the documents that have lost their evidence in the new
    domain. So a class whose proportion is all but unknown may not grow beyond its proportion of the
    ``unadapted`` labels, if these are given.
    """
    n_classes = probabilities.shape[1]
    counts = np.bincount(source_codes, minlength=n_classes)
    source: Floats = counts / len(source_codes)
    tempered = _temper(probabilities, source)
    estimated = maximize(tempered, source, PRIOR_DOCUMENTS)
    by_drift = LEAN_BY_DRIFT * min(drift, MAX_DRIFT) ** 4
    biases = np.hypot(by_drift, LEAN_BY_DOCUMENTS / np.sqrt(np.maximum(1, counts)))
    errors = bias_errors(tempered, source, estimated, biases)
    limits = np.ones(n_classes)
    if unadapted is not None and n_classes > 2:
        limits = np.where(errors > GUARDED_ERROR, np.maximum(source, unadapted), 1.0)
    used = shrink(estimated, source, errors, limits)
    return ClassProportions(source, estimated, used, errors, limits)


def revise_shares(probabilities: Floats, before: ClassProportions) -> ClassProportions:
    """Revise an estimate by the probabilities of classifiers that have adapted to it.

    They have learnt from the documents that they score, so that they cannot move a proportion
    further from the source's. Back towards it, they move it half of the way.
    """
    source = before.source
    estimated = maximize(_temper(probabilities, source), source, PRIOR_DOCUMENTS)
    mean = (estimated + before.estimated) / 2
    nearer = np.abs(estimated - source) < np.abs(before.estimated - source)
    estimated = np.where(nearer, mean, before.estimated)
    estimated = estimated / estimated.sum()
    used = shrink(estimated, source, before.errors, before.limits)
    return ClassProportions(source, estimated, used, before.errors, before.limits)


def _temper(probabilities: Floats, source: Floats) -> Floats:
    """Return source * (probabilities / source) ** power: less confident, and not normalised."""
    tempered: Floats = source * (probabilities / source) ** EVIDENCE_POWER
    return tempered


def bias_errors(probabilities: Floats, source: Floats, estimated: Floats, biases: Floats) -> Floats:
    """Return the change of each proportion if its class's log-odds are biased by this much.

    The bias leads towards the source's proportion, or either way if the estimate is there already.
    """
    errors = np.full(len(source), MIN_ERROR)
    for code, bias in enumerate(biases):
        difference = estimated[code] - source[code]
        signs = (-1.0, 1.0) if abs(difference) < MIN_ERROR else (-np.sign(difference),)
        for sign in signs:
            log_odds = np.zeros(len(source))
            log_odds[code] = sign * bias
            biased = maximize(
                probabilities * np.exp(log_odds),
                source,
                PRIOR_DOCUMENTS,
                tolerance=ERROR_TOLERANCE,
                start=estimated,
                steps=min(MAX_STEPS, ERROR_STEPS // len(source)),
            )
            errors[code] = max(errors[code], abs(biased[code] - estimated[code]))
    return errors


def shrink(estimated: Floats, source: Floats, errors: Floats, limits: Floats) -> Floats:
    """Shrink the estimate towards the source's proportions; larger errors shrink more.

    Each difference is reduced by 0.3 of its standard error, down to 0 at most.
    """
    difference = estimated - source
    kept = np.maximum(np.abs(difference) - SHRINKAGE * errors, 0.0)
    used = np.clip(source + np.sign(difference) * kept, 0.0, limits)
    result: Floats = used / used.sum()
    return result


def count_labels(shares: ClassProportions, counts: Floats) -> ClassProportions:
    """Combine an estimate with counts of random labels, weighted by their inverse variances."""
    n = counts.sum()
    smoothed = (counts + shares.source) / (n + 1)  # a class that was not drawn may still exist
    of_counts = smoothed * (1 - smoothed) / n
    of_estimate = shares.errors**2
    weight = of_estimate / (of_estimate + of_counts)
    used = weight * counts / n + (1 - weight) * shares.used
    return replace(shares, used=used / used.sum(), errors=np.sqrt(weight * of_counts))


def maximize(
    probabilities: Floats,
    before: Floats,
    n_prior: float,
    *,
    tolerance: float = TOLERANCE,
    start: Floats | None = None,
    steps: int = MAX_STEPS,
) -> Floats:
    """Return the most likely class proportions, by expectation maximisation.

    (Saerens, Latinne and Decaestecker, 2002.) ``probabilities`` come from a classifier calibrated
    for the proportions ``before``; ``n_prior`` imaginary documents with these are added.
    """
    ratios = probabilities / before
    shares = before if start is None else start
    for _ in range(steps):
        totals = np.einsum("ij,j->i", ratios, shares)
        found = shares * np.einsum("i,ij->j", 1 / totals, ratios)
        new = (found + n_prior * before) / (len(probabilities) + n_prior)
        done = np.abs(new - shares).max() < tolerance
        shares = new
        if done:
            break
    return shares


def proportions_matter(probabilities: Floats, prior: Floats, low: Floats, high: Floats) -> float:
    """Return the largest fraction of labels that depend on one class proportion in its interval.

    ``probabilities``, a row per document, hold for the class proportions ``prior``. One class at a
    time gets its ``low``, then its ``high`` proportion; the others share the rest as before.
    """
    fractions = [0.0]
    for code in range(len(prior)):
        at_low = _relabel(probabilities, prior, code, float(low[code]))
        at_high = _relabel(probabilities, prior, code, float(high[code]))
        fractions.append(float(np.mean(at_low != at_high)) if len(probabilities) else 0.0)
    return max(fractions)


def _relabel(
    probabilities: Floats, prior: Floats, code: int, proportion: float
) -> NDArray[np.intp]:
    """Return the class of each document if one class had another proportion."""
    before = float(prior[code])
    weights = np.full(len(prior), (1 - proportion) / max(1 - before, MIN_PRIOR))
    weights[code] = proportion / max(before, MIN_PRIOR)
    codes: NDArray[np.intp] = np.argmax(probabilities * weights, axis=1)
    return codes


def measure_drift(ratios: Floats, variances: Floats) -> float:
    """Return the spread of log frequency ratios between two domains, beyond sampling noise.

    It is computed by the median, so that the few words of each topic do not decide.
    """
    if not len(ratios):
        return MAX_DRIFT
    deviations = np.abs(ratios - np.median(ratios))
    spread = 1.4826 * float(np.median(deviations))  # the standard deviation of a normal one
    return float(np.sqrt(max(0.0, spread**2 - float(np.median(variances)))))
