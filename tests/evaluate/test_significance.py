from math import comb

import numpy as np
import pytest

from gramshift.evaluate.scoring import interval, mcnemar


@pytest.mark.parametrize(
    ("only", "only_other", "both"), [(0, 0, 5), (1, 5, 10), (8, 8, 0), (30, 12, 3), (200, 150, 40)]
)
def test_mcnemar_is_the_sum_of_binomial_chances(only, only_other, both):
    """Of all disagreements each is as likely to be for one as for the other."""
    right = np.array([True] * only + [False] * only_other + [True] * both + [False] * 7)
    other = np.array([False] * only + [True] * only_other + [True] * both + [False] * 7)
    n, fewer = only + only_other, min(only, only_other)
    by_hand = min(1.0, 2 * sum(comb(n, k) for k in range(fewer + 1)) / 2**n)
    assert np.isclose(mcnemar(right, other), by_hand)
    assert mcnemar(right, other) == mcnemar(other, right)


def test_interval_of_an_accuracy():
    low, high = interval(1600, 2000)
    assert (round(low, 1), round(high, 1)) == (78.2, 81.7)
    assert interval(2000, 2000)[1] == 100
