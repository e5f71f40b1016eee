from math import e, exp

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from gramshift.learn.adapt import adapted_kernel, exponential, normalize_gram
from gramshift.learn.calibrate import fit_steepness, softmax
from gramshift.learn.discriminant import solve_discriminant
from gramshift.learn.ridge import SingularKernelError, leave_one_out_scores, solve_ridge
from gramshift.learn.targets import choose_classes, one_versus_all, surest

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(40, 60))
KERNEL = FEATURES @ FEATURES.T
TARGETS = one_versus_all(RNG.integers(0, 3, 40), 3)


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


def test_ridge_is_that_of_scikit_learn():
    weights, intercepts = solve_ridge(KERNEL, TARGETS, 0.5)
    np.testing.assert_allclose(weights, KernelRidge(alpha=0.5, kernel="precomputed").fit(KERNEL, TARGETS).dual_coef_, rtol=1e-9)
    assert (intercepts == 0).all()


def test_an_unpenalised_bias_takes_up_a_constant():
    weights, intercepts = solve_ridge(KERNEL, TARGETS, 0.5, bias=True)
    shifted, more = solve_ridge(KERNEL, TARGETS + 7, 0.5, bias=True)
    np.testing.assert_allclose(shifted, weights, atol=1e-9)
    np.testing.assert_allclose(more, intercepts + 7)
    np.testing.assert_allclose(weights.sum(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("bias", [False, True])
def test_leave_one_out_is_what_leaving_one_out_gives(bias):
    fast = leave_one_out_scores(KERNEL, TARGETS, 0.5, bias=bias)
    for left_out in (0, 17, 39):
        rest = np.delete(np.arange(40), left_out)
        weights, intercepts = solve_ridge(KERNEL[np.ix_(rest, rest)], TARGETS[rest], 0.5, bias=bias)
        np.testing.assert_allclose(fast[left_out], KERNEL[left_out, rest] @ weights + intercepts, rtol=1e-8)


def test_copies_of_documents_work_and_a_singular_system_is_named():
    copies = np.ones((6, 6))
    weights, _ = solve_ridge(copies, np.array([[1.0], [1], [1], [1], [1], [-1]]), 1e-5)
    assert np.isclose((copies @ weights)[0, 0], 4 / 6, atol=1e-5)
    with pytest.raises(SingularKernelError, match=r"alpha=1e-300 is too small for this kernel .* try alpha="):
        solve_ridge(copies, np.ones((6, 1)), 1e-300)


def test_discriminant_scores_of_balanced_classes_are_those_of_ridge_with_bias_up_to_scale():
    codes = np.arange(40) % 2
    targets = one_versus_all(codes, 2)
    ridge, _ = solve_ridge(KERNEL, targets, 0.5, bias=True)
    weights, intercepts = solve_discriminant(KERNEL, targets, 0.5)
    scale = weights[0] / ridge[0]
    np.testing.assert_allclose(weights, ridge * scale, rtol=1e-8)
    projected = KERNEL @ weights + intercepts
    np.testing.assert_allclose(projected[codes == 0, 0].mean(), 1)
    np.testing.assert_allclose(projected[codes == 1, 0].mean(), -1)


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
