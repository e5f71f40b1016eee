"""How large a share each class has in documents without labels."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS, CLOSE = 1000, 1e-9
NOTICEABLE = 0.1  # estimates were off by up to 0.07 where domains differ: docs/experiments.md
LEAST = 1e-12  # no share is nothing at all: it could never come back


def estimate_shares(probabilities: Floats, before: Floats) -> Floats:
    """The shares of classes that make these documents most likely, by expectation maximisation (Saerens and others, 2002).

    ``probabilities`` are those of a classifier that was calibrated where classes had the shares ``before``.
    """
    ratios = probabilities / before
    shares = before
    for _ in range(STEPS if len(probabilities) else 0):
        weighted = ratios * shares
        new = np.maximum((weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0), LEAST)
        new /= new.sum()
        done = np.abs(new - shares).max() < CLOSE
        shares = new
        if done:
            break
    return shares


def settle_shares(estimated: Floats, before: Floats) -> Floats:
    """The estimated shares if some class differs by more than such estimates err, else those from before."""
    return estimated if np.abs(estimated - before).max() > NOTICEABLE else before
