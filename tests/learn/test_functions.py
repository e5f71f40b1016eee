from math import e, exp

import numpy as np

from gramshift.learn.calibrate import fit_offsets, fit_steepness, softmax
from gramshift.learn.features import adapted_kernel, exponential, normalize_gram
from gramshift.learn.selection import (
    choose_by_shares,
    choose_classes,
    one_versus_all,
    quotas,
    surest,
)

RNG = np.random.default_rng(0)


def test_three_numbers_on_paper():
    similarity = normalize_gram(np.array([[4, 2, 0], [2, 9, 0], [0, 0, 0]]))
    assert similarity.tolist() == [[1, 2 / 6, 0], [2 / 6, 1, 0], [0, 0, 0]]
    assert exponential(np.array([[1.0, 0.0]])).tolist() == [[1.0, exp(-1)]]
    assert adapted_kernel(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[5, 11], [11, 25]]
    assert normalize_gram(np.array([[6]]), np.array([4]), np.array([9])).tolist() == [[1.0]]
    assert np.isclose(exponential(np.array([[2.0]]))[0, 0], e)


def test_targets_choice_and_ties():
    assert one_versus_all(np.array([0, 2]), 3).tolist() == [[1, -1, -1], [-1, -1, 1]]
    scores = np.array([[0.1, 0.9], [0.9, 0.1], [0.5, 0.5], [0.9, 0.9]])
    assert choose_classes(scores).tolist() == [1, 0, 0, 0]
    assert surest(scores, 3).tolist() == [0, 1, 3]
    assert surest(scores, 10).tolist() == [0, 1, 3, 2]


def test_probabilities_agree_with_labels_and_are_calibrated():
    truth = RNG.integers(0, 2, 4000)
    signal = np.where(truth, 1.0, -1.0) + 2 * RNG.normal(
        size=4000
    )  # log-odds of class 1 are signal / 2
    scores = np.column_stack([-signal, signal])
    steepness = fit_steepness(scores, truth)
    probabilities = softmax(scores, steepness)
    assert np.isclose(steepness, 0.25, rtol=0.15)
    assert (probabilities.argmax(axis=1) == scores.argmax(axis=1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_perfect_and_empty_scores_have_a_finite_steepness():
    perfect = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert 0 < fit_steepness(perfect, np.array([0, 1])) < 100
    assert fit_steepness(np.zeros((2, 2)), np.array([0, 1])) == 1.0


def test_offsets_make_up_for_scores_that_lean_to_a_class():
    truth = (RNG.random(4000) < 0.3).astype(int)
    signal = np.where(truth, 1.0, -1.0) + 2 * RNG.normal(
        size=4000
    )  # log-odds of class 1 are signal / 2 + log(3 / 7)
    leaning = signal - 1.5
    scores = np.column_stack([-leaning, leaning])
    steepness, offsets = fit_offsets(scores, truth)
    assert np.isclose(steepness, 0.25, rtol=0.15)
    assert np.isclose(offsets[1] - offsets[0], 0.75 + np.log(3 / 7), atol=0.1)
    probabilities = softmax(scores, steepness, offsets)
    np.testing.assert_allclose(probabilities.mean(axis=0), np.bincount(truth) / 4000, atol=1e-6)
    slope = (
        np.sum((probabilities - np.eye(2)[truth]) * scores) / 4000
    )  # of the loss, where that is least
    assert abs(slope) < 1e-6


def test_offsets_are_finite_where_scores_are_perfect_or_nothing():
    for scores in (
        np.array([[1.0, -1.0], [-1.0, 1.0]]),
        np.array([[-2.0, 2.0], [-3.0, 3.0]]),
        np.zeros((2, 2)),
    ):
        steepness, offsets = fit_offsets(scores, np.array([1, 0]))
        assert 0 < steepness < 100
        assert np.abs(offsets).max() < 100


def test_documents_are_chosen_by_the_shares_of_classes():
    scores = np.array(
        [[-0.9, 0.9], [-0.5, 0.5], [-0.4, 0.4], [0.1, -0.1], [0.2, -0.2], [-0.3, 0.3]]
    )
    rows, codes = choose_by_shares(scores, 4, np.array([0.5, 0.5]))
    assert dict(zip(rows.tolist(), codes.tolist(), strict=True)) == {0: 1, 1: 1, 4: 0, 3: 0}
    rows, codes = choose_by_shares(
        scores, 6, np.array([0.5, 0.5])
    )  # all: the least sure positive one becomes negative
    assert rows[codes == 1].tolist() == [0, 1, 2]
    assert rows[codes == 0].tolist() == [4, 3, 5]
    assert choose_by_shares(scores, 99, np.array([0.0, 1.0]))[1].tolist() == [1] * 6
    three = np.array([[0.9, 0.8, 0.0], [0.7, 0.1, 0.2], [0.6, 0.5, 0.4]])
    rows, codes = choose_by_shares(three, 3, np.full(3, 1 / 3))
    assert dict(zip(rows.tolist(), codes.tolist(), strict=True)) == {0: 0, 2: 1, 1: 2}


def test_quotas_add_up():
    assert quotas(10, np.array([0.25, 0.75])) == [3, 7]  # 2.5 and 7.5: the first gets what is left
    assert quotas(10, np.array([0.1, 0.2, 0.7])) == [1, 2, 7]
    assert quotas(1, np.array([0.4, 0.6])) == [0, 1]
    for n in range(20):
        assert sum(quotas(n, np.array([0.21, 0.33, 0.46]))) == n
