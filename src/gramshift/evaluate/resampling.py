"""How far a mean over several cases may be from what other documents would have given, and tests that know of each other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
DRAWS = 2000
LOW, HIGH = 2.5, 97.5  # percentiles of an interval that holds in 95 of 100 cases


class Clustered:
    """Bootstrap draws of documents in which cases with the same target get the same documents.

    ``rows`` has the target documents of each case, ``targets`` the name of the domain that they belong to: a document of a
    domain is drawn as often in one case as in any other, so that what cases have in common is not taken for evidence twice.
    """

    def __init__(self, rows: Sequence[NDArray[np.intp]], targets: Sequence[str], *, draws: int = DRAWS, seed: int = 0) -> None:
        generator = np.random.default_rng(seed)
        sizes: dict[str, int] = {}
        for some, target in zip(rows, targets, strict=True):
            sizes[target] = max(sizes.get(target, 0), 1 + int(some.max(initial=-1)))
        counts = {
            target: generator.multinomial(size, np.full(size, 1 / size), draws).astype(np.float64)
            for target, size in sizes.items()
        }
        self._times = [counts[target][:, some] for some, target in zip(rows, targets, strict=True)]
        self._totals = [np.maximum(times.sum(axis=1), 1.0) for times in self._times]

    def means(self, values: Sequence[Floats]) -> Floats:
        """For each draw the mean over all cases of the mean of a value per document, such as 1 where a label is right."""
        each = [times @ one / total for times, total, one in zip(self._times, self._totals, values, strict=True)]
        result: Floats = np.mean(each, axis=0)
        return result


def interval_of(drawn: Floats) -> tuple[float, float]:
    """Where 95 of 100 draws lie."""
    low, high = np.percentile(drawn, [LOW, HIGH])
    return float(low), float(high)


def differs(drawn: Floats) -> float:
    """The two-sided p-value of a difference whose draws these are, by their mean and standard deviation.

    Counting draws on the other side of 0 could not tell p-values below one in their number, which no correction would survive.
    """
    mean, deviation = float(np.mean(drawn)), float(np.std(drawn))
    if deviation == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stats.norm.sf(abs(mean) / deviation))


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """The p-values after Holm's correction for their number: reject those below the level, and one in so many runs is wrong."""
    order, result, largest = sorted(range(len(p_values)), key=lambda i: p_values[i]), [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        result[place] = largest
    return result
