"""Draws of documents that cases share, and corrections, against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from gramshift.evaluate.scoring import ClusterBootstrap, correct_by_holm, differs, interval_of


def naive_holm(p_values):
    """Multiply the smallest by their number, the next by one less, never below the previous."""
    left, result, before = sorted(p_values), {}, 0.0
    for rank, p in enumerate(left):
        before = max(before, min(1.0, p * (len(left) - rank)))
        result[p] = max(before, result.get(p, 0.0))
    return [result[p] for p in p_values]


@given(st.lists(st.floats(0, 1), max_size=12, unique=True))
@examples(100)
def test_holm_is_that_of_loops(p_values):
    assert correct_by_holm(p_values) == pytest.approx(naive_holm(p_values))


def test_holm_by_hand():
    assert correct_by_holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert correct_by_holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert correct_by_holm([]) == []


def test_cases_of_one_target_get_the_same_documents():
    """Two cases with equal labels of the same documents are no more evidence than one."""
    rows, right = np.arange(200), (np.arange(200) % 3 > 0).astype(float)
    one = ClusterBootstrap([rows], ["a"]).means_of([[right]])[0]
    twice = ClusterBootstrap([rows, rows], ["a", "a"]).means_of([[right, right]])[0]
    apart = ClusterBootstrap([rows, rows], ["a", "b"]).means_of([[right, right]])[0]
    np.testing.assert_allclose(one, twice)
    assert np.std(apart) == pytest.approx(np.std(one) / np.sqrt(2), rel=0.1)
    assert np.std(one) == pytest.approx(
        np.sqrt(2 / 3 * 1 / 3 / 200), rel=0.1
    )  # of a share of 200 documents


def test_draws_are_counted_by_hand():
    """A document that is drawn twice counts twice, in every case that has it."""
    rows = [np.array([0, 1, 2]), np.array([2, 4])]
    clusters = ClusterBootstrap(rows, ["a", "a"], draws=50, seed=3)
    generator = np.random.default_rng(3)
    counts = [generator.integers(0, 5, 5).tolist() for _ in range(50)]
    values = [np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0])]
    found = clusters.means_of([values])[0]
    for draw in range(50):
        means = []
        for some, value in zip(rows, values, strict=True):
            times = [counts[draw].count(row) for row in some]
            if sum(times):
                means.append(sum(t * v for t, v in zip(times, value, strict=True)) / sum(times))
        assert found[draw] == pytest.approx(sum(means) / len(means))


def test_intervals_and_tests():
    drawn = np.linspace(0, 1, 1001)
    assert interval_of(drawn) == pytest.approx((0.025, 0.975))
    assert differs(np.zeros(10)) == 1.0
    assert differs(np.ones(10)) == 0.0  # whatever is drawn
    for mean, p_value in ((0.0, 1.0), (1.96, 0.05), (-1.96, 0.05), (2.576, 0.01)):
        assert differs(mean + np.array([-1.0, 1.0] * 50)) == pytest.approx(p_value, abs=1e-4)
    assert (
        ClusterBootstrap([np.arange(5)], ["a"], seed=1).means_of([[np.ones(5)]])[0].tolist()
        == [1.0] * 2000
    )
