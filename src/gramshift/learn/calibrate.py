"""Scores as probabilities that agree with the labels."""

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

Floats = NDArray[np.float64]
MARGIN = 1e-9  # by which a label is ahead where nothing speaks for it


def softmax(scores: Floats, steepness: float) -> Floats:
    """exp(steepness * score), made to add up to 1: the class with the largest score has the largest probability."""
    result: Floats = special.softmax(steepness * scores, axis=1)
    return result


def agree(probabilities: Floats, codes: NDArray[np.intp]) -> Floats:
    """The same, but nowhere is another class likelier than the one named: it shares with those that are, until it is ahead."""
    result, rows = probabilities.copy(), np.arange(len(codes))
    for _ in range(probabilities.shape[1]):
        largest = result.argmax(axis=1)
        both = (result[rows, codes] + result[rows, largest]) / 2
        wrong = (result[rows, codes] < result[rows, largest]) | (largest != codes)
        result[rows[wrong], largest[wrong]] = both[wrong] * (1 - MARGIN)
        result[rows[wrong], codes[wrong]] = both[wrong] * (1 + MARGIN)
    return result


def fit_steepness(scores: Floats, codes: NDArray[np.intp]) -> float:
    """The steepness that makes the true classes most likely; one number, so that it cannot change which class wins.

    Scores that part all classes without error would make it infinite: it is kept to where one document more or less
    would matter.
    """
    rows = np.arange(len(codes))

    def loss(log_steepness: float) -> float:
        log_probabilities = special.log_softmax(np.exp(log_steepness) * scores, axis=1)
        return -float(log_probabilities[rows, codes].mean())

    largest = np.abs(scores).max(initial=0.0)
    if largest == 0:
        return 1.0
    best = optimize.minimize_scalar(
        loss, bounds=(np.log(1e-3 / largest), np.log(np.log(len(codes) + 2) * 10 / largest)), method="bounded"
    )
    return float(np.exp(best.x))
