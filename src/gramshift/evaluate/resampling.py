"""How far a mean over several cases may be from what other documents would have given, and tests that know of each other."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from gramshift.evaluate.scoring import interval, mcnemar

Key = TypeVar("Key", bound=Hashable)
Floats = NDArray[np.float64]
DRAWS, BLOCK = 2000, 50
LOW, HIGH = 2.5, 97.5  # percentiles of an interval that holds in 95 of 100 cases


class Clustered:
    """Bootstrap draws of documents in which cases with the same target get the same documents.

    ``rows`` has the target documents of each case, ``targets`` the name of the domain that they belong to: a document of a
    domain is drawn as often in one case as in any other, so that what cases have in common is not taken for evidence twice.
    """

    def __init__(self, rows: Sequence[NDArray[np.intp]], targets: Sequence[str], *, draws: int = DRAWS, seed: int = 0) -> None:
        self._cases = list(zip(rows, targets, strict=True))
        self._draws, self._seed = draws, seed
        self._sizes: dict[str, int] = {}
        for some, target in self._cases:
            self._sizes[target] = max(self._sizes.get(target, 0), 1 + int(some.max(initial=-1)))

    def means_of(self, several: Sequence[Sequence[Floats]]) -> Floats:
        """For each draw the mean over all cases of the mean of a value per document, such as 1 where a label is right.

        A row for each of several methods; a draw has the same documents in all of them. A draw that has no document of any
        case is NaN.
        """
        generator, result = np.random.default_rng(self._seed), np.empty((len(several), self._draws))
        for start in range(0, self._draws, BLOCK):  # all draws at once would not fit into memory
            size = min(BLOCK, self._draws - start)
            counts = {target: np.empty((size, n)) for target, n in self._sizes.items()}
            for draw in range(size):
                for target, n in self._sizes.items():
                    counts[target][draw] = np.bincount(generator.integers(0, n, n), minlength=n)
            sums, cases = np.zeros((size, len(several))), np.zeros((size, 1))
            for place, (some, target) in enumerate(self._cases):
                found = np.stack([values[place] for values in several], axis=1)
                times = counts[target][:, some]
                total = times.sum(axis=1, keepdims=True)
                sums += np.divide(times @ found, total, out=np.zeros_like(sums), where=total > 0)
                cases += total > 0
            mean = np.divide(sums, cases, out=np.full_like(sums, np.nan), where=cases > 0)
            result[:, start : start + size] = mean.T
        return result


def interval_of(drawn: Floats) -> tuple[float, float]:
    """Where 95 of 100 draws lie."""
    low, high = np.nanpercentile(drawn, [LOW, HIGH])
    return float(low), float(high)


def differs(drawn: Floats) -> float:
    """The two-sided p-value of a difference whose draws these are, by their mean and standard deviation.

    Counting draws on the other side of 0 could not tell p-values below one in their number, which no correction would survive.
    """
    mean, deviation = float(np.nanmean(drawn)), float(np.nanstd(drawn))
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


def compare_means(
    right: Mapping[Key, Sequence[NDArray[np.bool_]]], clusters: Clustered, reference: Key
) -> dict[Key, dict[str, Any]]:
    """Return the mean accuracy of each method over all cases, with an interval and its difference from the reference.

    ``right`` has for each method and case which documents it got right. P-values are corrected for their number by Holm.
    """
    drawn = dict(
        zip(right, clusters.means_of([[one.astype(np.float64) for one in cases] for cases in right.values()]), strict=True)
    )
    accuracy = {key: float(np.mean([one.mean() for one in cases])) for key, cases in right.items()}
    pooled = {key: np.concatenate(cases) for key, cases in right.items()}
    result: dict[Key, dict[str, Any]] = {}
    for key, cases in right.items():
        low, high = interval_of(drawn[key])
        if len(cases) == 1:  # a bootstrap of few documents that are all right would leave no doubt
            low, high = (bound / 100 for bound in interval(int(pooled[key].sum()), len(pooled[key])))
        line: dict[str, Any] = {"accuracy": accuracy[key], "low": low, "high": high}
        line |= dict.fromkeys(("difference", "difference_low", "difference_high", "p_value", "p_holm"))
        if key != reference:
            apart = drawn[key] - drawn[reference]
            line["difference"] = accuracy[key] - accuracy[reference]
            line["difference_low"], line["difference_high"] = interval_of(apart)
            exact = mcnemar(pooled[key], pooled[reference])  # keeps few documents from looking like proof
            line["p_value"] = exact if len(cases) == 1 else max(exact, differs(apart))
        result[key] = line
    tested = [line for line in result.values() if line["p_value"] is not None]
    for line, p_value in zip(tested, correct_by_holm([line["p_value"] for line in tested]), strict=True):
        line["p_holm"] = p_value
    return result
