"""How large a share each class has in documents without labels."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS, CLOSE = 3000, 1e-9
NOTICEABLE = 0.1  # estimates were off by up to 0.07 where domains differ: docs/experiments.md
TRUST = 0.6  # a document of another domain tells less of its class than held-out ones of the source: docs/experiments.md
IMAGINED = 5  # documents with the shares from before that are added: they decide where scores tell nothing


def estimate_shares(probabilities: Floats, before: Floats, *, trust: float = TRUST) -> Floats:
    """The shares of classes that make these documents most likely, by expectation maximisation (Saerens and others, 2002).

    ``probabilities`` are those of a classifier that was calibrated where classes had the shares ``before``. How much
    likelier a document is in one class than in another counts to the power ``trust``. Some imagined documents that have
    the shares from before keep them from running away where all documents look alike.
    """
    ratios = (probabilities / before) ** trust
    shares = before
    for _ in range(STEPS):
        weighted = ratios * shares
        found = (weighted / weighted.sum(axis=1, keepdims=True)).sum(axis=0)
        new = (found + IMAGINED * before) / (len(probabilities) + IMAGINED)
        done = np.abs(new - shares).max() < CLOSE
        shares = new
        if done:
            break
    return shares


def settle_shares(estimated: Floats, before: Floats) -> Floats:
    """The estimated shares if some class differs by more than such estimates err, else those from before."""
    return estimated if np.abs(estimated - before).max() > NOTICEABLE else before
