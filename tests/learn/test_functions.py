from math import e, exp

import numpy as np

from gramshift.learn.adapt import adapted_kernel, exponential, normalize_gram
from gramshift.learn.calibrate import fit_steepness, softmax
from gramshift.learn.targets import choose_classes, one_versus_all, surest

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
    signal = np.where(truth, 1.0, -1.0) + 2 * RNG.normal(size=4000)  # log-odds of class 1 are signal / 2
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
