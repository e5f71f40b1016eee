"""How many labels of a target are right, told without knowing any of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from gramshift.learn.calibrate import softmax
from gramshift.learn.selection import choose_classes

Floats = NDArray[np.float64]
# a regression over all cells of `python -m bench robust`, whose labels are development labels: docs/experiments.md
INTERCEPT = -1.185
WEIGHTS = {"confidence": 0.824, "agreement": 0.122, "first": 0.65, "source": -0.483}
SPREAD = 0.47  # the standard deviation of what it leaves, as logits
NINE_OF_TEN = 1.645
EDGE = 0.02  # shares nearer to 0 or 1 say no more
FLATTEST, STEEPEST = 0.02, 10.0


@dataclass(frozen=True)
class Expected:
    """The share of right labels that is to be expected, and where it lies in nine of ten fits."""

    value: float
    low: float
    high: float


def expect_accuracy(probabilities: Floats, plain: Floats, source_right: float) -> Expected:
    """The accuracy of labels, from their probabilities, those of the first round, and the held-out accuracy on the source.

    Probabilities that are calibrated on one domain are too sure in another: how much, is learnt from many pairs of domains.
    Labels that differ from those of the first round are trusted less.
    """
    found = {
        "confidence": float(probabilities.max(axis=1).mean()),
        "agreement": float(np.mean(choose_classes(probabilities) == choose_classes(plain))),
        "first": float(plain.max(axis=1).mean()),
        "source": source_right,
    }
    told = INTERCEPT + sum(WEIGHTS[name] * _logit(value) for name, value in found.items())
    least = 1 / probabilities.shape[1]
    reach = NINE_OF_TEN * np.sqrt(SPREAD**2 + 1 / (len(probabilities) * max(EDGE, special.expit(told) * special.expit(-told))))
    low, value, high = (float(special.expit(one)) for one in (told - reach, told, told + reach))
    return Expected(max(value, least), min(low, max(value, least)), max(high, least))


def find_temper(logits: Floats, accuracy: float) -> float:
    """What to multiply logits by so that documents are on average as sure as they are right; no less sure than by chance."""

    def beyond(log_temper: float) -> float:
        return float(softmax(logits, np.exp(log_temper)).max(axis=1).mean()) - accuracy

    bounds = np.log(FLATTEST), np.log(STEEPEST)
    if beyond(bounds[0]) >= 0 or beyond(bounds[1]) <= 0:
        return FLATTEST if beyond(bounds[0]) >= 0 else STEEPEST
    return float(np.exp(optimize.brentq(beyond, *bounds, xtol=1e-6)))


def _logit(share: float) -> float:
    return float(special.logit(np.clip(share, EDGE, 1 - EDGE)))
