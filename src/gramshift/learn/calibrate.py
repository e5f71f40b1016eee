"""Calibrate scores, and estimate the accuracy of labels without true ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from gramshift.learn.class_proportions import ClassProportions
from gramshift.learn.pseudo_labels import choose_classes

Floats = NDArray[np.float64]
MIN_PROPORTION = 1e-6
MAX_STEPS = 500
TOLERANCE = 1e-7
MARGIN = 1e-9  # by which a label is ahead where nothing speaks for it


def softmax(scores: Floats, steepness: float, offsets: Floats | float = 0.0) -> Floats:
    """Return softmax(steepness * scores + offsets) for each row."""
    result: Floats = special.softmax(steepness * scores + offsets, axis=1)
    return result


def log_of(probabilities: Floats) -> Floats:
    """Return the logarithm of probabilities, minus infinity for 0, without a warning."""
    with np.errstate(divide="ignore"):
        result: Floats = np.log(probabilities)
    return result


@dataclass(frozen=True)
class Logits:
    """Scores as logits: steepness * score + an offset per class (``fit_offsets``)."""

    steepness: float
    offsets: Floats

    def probabilities(self, scores: Floats) -> Floats:
        """Return probabilities for the class proportions of the calibration."""
        return softmax(scores, self.steepness, self.offsets)

    def log_probabilities(self, scores: Floats, shares: ClassProportions) -> Floats:
        """Return log-probabilities for the class proportions used for the target."""
        moved = self.offsets + np.log(np.maximum(shares.used, np.finfo(float).tiny) / shares.source)
        result: Floats = special.log_softmax(self.steepness * scores + moved, axis=1)
        return result


def meet_shares(logits: Floats, shares: Floats) -> Floats:
    """Return offsets per class, so that the mean probabilities equal these proportions."""
    wanted = np.maximum(shares, MIN_PROPORTION)
    wanted, offsets = wanted / wanted.sum(), np.zeros(len(shares))
    for _ in range(MAX_STEPS):
        mean = special.softmax(logits + offsets, axis=1).mean(axis=0)
        offsets += np.log(wanted / np.maximum(mean, np.finfo(float).tiny))
        if np.abs(mean - wanted).max() < TOLERANCE:
            break
    result: Floats = offsets - offsets.mean()
    return result


def agree(probabilities: Floats, codes: NDArray[np.intp]) -> Floats:
    """Adjust probabilities minimally so that the assigned class has the largest.

    The assigned class shares equally with each class that is likelier.
    """
    result, rows = probabilities.copy(), np.arange(len(codes))
    for _ in range(probabilities.shape[1]):
        largest = result.argmax(axis=1)
        both = (result[rows, codes] + result[rows, largest]) / 2
        wrong = (result[rows, codes] < result[rows, largest]) | (largest != codes)
        result[rows[wrong], largest[wrong]] = both[wrong] * (1 - MARGIN)
        result[rows[wrong], codes[wrong]] = both[wrong] * (1 + MARGIN)
    return result


def fit_steepness(scores: Floats, codes: NDArray[np.intp]) -> float:
    """Fit one slope by maximum likelihood (temperature scaling); the ranking does not change.

    Scores that separate all classes would make it infinite: it is bounded where one document more
    or less would matter.
    """
    rows = np.arange(len(codes))

    def loss(log_steepness: float) -> float:
        log_probabilities = special.log_softmax(np.exp(log_steepness) * scores, axis=1)
        return -float(log_probabilities[rows, codes].mean())

    largest = np.abs(scores).max(initial=0.0)
    if largest == 0:
        return 1.0
    best = optimize.minimize_scalar(
        loss,
        bounds=(np.log(1e-3 / largest), np.log(np.log(len(codes) + 2) * 10 / largest)),
        method="bounded",
    )
    return float(np.exp(best.x))


def fit_offsets(scores: Floats, codes: NDArray[np.intp]) -> tuple[float, Floats]:
    """Fit a slope and an offset per class by maximum likelihood.

    Offsets may change the ranking of classes, so that the mean probabilities equal the class
    proportions. All are bounded as in ``fit_steepness``.
    """
    n, n_classes = scores.shape
    largest = float(np.abs(scores).max(initial=0.0)) or 1.0
    limit = float(np.log(n + 2)) * 10
    truth = np.eye(n_classes)[codes]

    def loss(x: Floats) -> tuple[float, Floats]:
        logits = x[0] * scores / largest + x[1:]
        wrong = special.softmax(logits, axis=1) - truth
        slopes = np.concatenate([[np.sum(wrong * scores) / largest], wrong.sum(axis=0)])
        return -float(np.sum(truth * special.log_softmax(logits, axis=1))) / n, slopes / n

    bounds = [(1e-3, limit), *[(-limit, limit)] * n_classes]
    start = np.concatenate([[1.0], np.zeros(n_classes)])
    found = optimize.minimize(
        loss,
        start,
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9},
    ).x
    return float(found[0]) / largest, found[1:]


def log_losses(scores: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return the log-loss of each document, after calibration on all of them."""
    logits = Logits(*fit_offsets(scores, codes))
    log_probabilities = special.log_softmax(logits.steepness * scores + logits.offsets, axis=1)
    losses: Floats = -log_probabilities[np.arange(len(codes)), codes]
    return losses


# a regression over all cells of `python -m bench robust`, on development labels:
# docs/experiments.md
INTERCEPT = -1.26
WEIGHTS = {"confidence": 0.85, "agreement": 0.2, "first": 0.57, "source": -0.42}
# standard deviations of logits, so that the interval holds in each family of data sets that the
# regression has not seen
SPREAD = 0.55
SPREAD_BY_PROPORTIONS = (
    0.4  # times the fraction of labels that depend on class proportions within their intervals
)
NINE_OF_TEN = 1.645
N_GRID = 2000  # accuracies that are weighed against each other
EDGE = 0.02  # shares nearer to 0 or 1 say no more
FLATTEST, STEEPEST = 0.02, 10.0


@dataclass(frozen=True)
class Expected:
    """The expected accuracy, with an interval that holds for nine of ten fits."""

    value: float
    low: float
    high: float


def expect_accuracy(
    probabilities: Floats, plain: Floats, source_right: float, undecided: float = 0.0
) -> Expected:
    """Return the expected accuracy of labels, with an interval that holds for nine of ten fits.

    It is a regression on the mean confidence, the agreement with the first round, the confidence of
    that round (``plain``), and the held-out accuracy on the source: probabilities that are
    calibrated on one domain are overconfident on another, by as much as many pairs of domains show.
    The interval is wider if the labels of a fraction of the documents, ``undecided``, depend on
    class proportions that are not known.
    """
    found = {
        "confidence": float(probabilities.max(axis=1).mean()),
        "agreement": float(np.mean(choose_classes(probabilities) == choose_classes(plain))),
        "first": float(plain.max(axis=1).mean()),
        "source": source_right,
    }
    middle = INTERCEPT + sum(WEIGHTS[name] * _logit(value) for name, value in found.items())
    least = 1 / probabilities.shape[1]
    by_chance = 1 / (len(probabilities) * max(EDGE, special.expit(middle) * special.expit(-middle)))
    reach = NINE_OF_TEN * np.sqrt(SPREAD**2 + (SPREAD_BY_PROPORTIONS * undecided) ** 2 + by_chance)
    low, value, high = (
        float(special.expit(one)) for one in (middle - reach, middle, middle + reach)
    )
    return Expected(max(value, least), min(low, max(value, least)), max(high, least))


def measure_accuracy(expected: Expected | None, right: NDArray[np.bool_]) -> Expected:
    """Return the accuracy estimated from labels that are known to be right or wrong.

    The prior is normal on the logit, with the interval of ``expected``; without it, it is uniform.
    The result is the posterior mean and its interval of nine of ten, on a grid.
    """
    grid = (np.arange(N_GRID) + 0.5) / N_GRID
    log_weights = right.sum() * np.log(grid) + (~right).sum() * np.log1p(-grid)
    if expected is not None:
        middle, low, high = (_logit(one) for one in (expected.value, expected.low, expected.high))
        spread = max((high - low) / (2 * NINE_OF_TEN), EDGE)
        logits = special.logit(grid)
        log_weights += -((logits - middle) ** 2) / (2 * spread**2) - np.log(grid * (1 - grid))
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    low, high = grid[np.searchsorted(np.cumsum(weights), [0.05, 0.95])]
    return Expected(float(weights @ grid), float(low), float(high))


def find_temper(logits: Floats, accuracy: float) -> float:
    """Return the factor for logits that makes the mean confidence equal the accuracy."""

    def beyond(log_temper: float) -> float:
        return float(softmax(logits, np.exp(log_temper)).max(axis=1).mean()) - accuracy

    bounds = np.log(FLATTEST), np.log(STEEPEST)
    if beyond(bounds[0]) >= 0 or beyond(bounds[1]) <= 0:
        return FLATTEST if beyond(bounds[0]) >= 0 else STEEPEST
    return float(np.exp(optimize.brentq(beyond, *bounds, xtol=1e-6)))


def _logit(share: float) -> float:
    return float(special.logit(np.clip(share, EDGE, 1 - EDGE)))
