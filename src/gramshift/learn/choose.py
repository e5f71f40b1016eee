"""Which documents become landmarks."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
CHOICES = ("uniform", "spread")
CANDIDATES = 3  # for each landmark that is chosen to be far from the others
MOST_CANDIDATES = 8000  # all are compared with each other


def draw(is_source: NDArray[np.bool_], n: int, generator: np.random.Generator) -> Rows:
    """n documents, source and target in proportion, each with the same chance; in order."""
    source, target = np.flatnonzero(is_source), np.flatnonzero(~is_source)
    if n >= len(is_source):
        return np.arange(len(is_source))
    n_source = min(len(source), max(round(n * len(source) / len(is_source)), n - len(target)))
    chosen = [generator.choice(rows, size, replace=False) for rows, size in ((source, n_source), (target, n - n_source))]
    return np.sort(np.concatenate(chosen))


def spread(similarity_to: Callable[[int], Floats], n: int, own: Floats, generator: np.random.Generator) -> Rows:
    """n of the candidates by the rule of k-means++: each drawn in proportion to its squared distance from those before.

    ``similarity_to(i)`` are the kernel values of all candidates with candidate i, ``own`` those with themselves.
    """
    chosen = [int(generator.integers(len(own)))]
    distance = np.full(len(own), np.inf)
    while len(chosen) < n:
        last = chosen[-1]
        distance = np.minimum(distance, np.maximum(own + own[last] - 2 * similarity_to(last), 0))
        distance[chosen] = 0
        total = np.cumsum(distance)
        if total[-1] <= 0:  # all that is left are copies
            left = np.setdiff1d(np.arange(len(own)), chosen)
            return np.sort(np.concatenate([chosen, left[: n - len(chosen)]])).astype(np.intp)
        chosen.append(int(np.searchsorted(total, generator.random() * total[-1], side="right").clip(0, len(own) - 1)))
    return np.sort(np.array(chosen, np.intp))
