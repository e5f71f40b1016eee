"""Whether a difference is more than chance."""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 0.01  # the paper's


def mcnemar(right: NDArray[np.bool_], other_right: NDArray[np.bool_]) -> float:
    """Two-sided p-value of McNemar's test on the same documents: exact, by the binomial distribution of disagreements."""
    only, only_other = int(np.sum(right & ~other_right)), int(np.sum(other_right & ~right))
    if only + only_other == 0:
        return 1.0
    return float(stats.binomtest(only, only + only_other).pvalue)


def interval(correct: int, n: int) -> tuple[float, float]:
    """95 % interval of an accuracy in percent (Wilson)."""
    bounds = stats.binomtest(correct, n).proportion_ci(0.95, method="wilson")
    return 100 * float(bounds.low), 100 * float(bounds.high)
