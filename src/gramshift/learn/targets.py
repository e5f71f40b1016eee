"""Labels as numbers, and numbers as labels."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def one_versus_all(codes: NDArray[np.intp], n_classes: int) -> Floats:
    """A column per class: +1 for its documents, -1 for all others."""
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def choose_classes(scores: Floats) -> NDArray[np.intp]:
    """The class with the largest score; of equal ones the first."""
    chosen: NDArray[np.intp] = np.argmax(scores, axis=1)
    return chosen


def surest(scores: Floats, n: int) -> NDArray[np.intp]:
    """The n rows with the largest score of their chosen class, surest first; of equal ones the earlier row."""
    return np.argsort(-scores.max(axis=1), kind="stable")[:n]
