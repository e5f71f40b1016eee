import numpy as np

from gramshift.learn.calibrate import fit_offsets, fit_steepness, softmax

RNG = np.random.default_rng(0)


def test_probabilities_agree_with_labels_and_are_calibrated():
    truth = RNG.integers(0, 2, 4000)
    # the log-odds of class 1 are signal / 2
    signal = np.where(truth, 1.0, -1.0) + 2 * RNG.normal(size=4000)
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
    # the log-odds of class 1 are signal / 2 + log(3 / 7)
    signal = np.where(truth, 1.0, -1.0) + 2 * RNG.normal(size=4000)
    leaning = signal - 1.5
    scores = np.column_stack([-leaning, leaning])
    steepness, offsets = fit_offsets(scores, truth)
    assert np.isclose(steepness, 0.25, rtol=0.15)
    assert np.isclose(offsets[1] - offsets[0], 0.75 + np.log(3 / 7), atol=0.1)
    probabilities = softmax(scores, steepness, offsets)
    np.testing.assert_allclose(probabilities.mean(axis=0), np.bincount(truth) / 4000, atol=1e-6)
    slope_of_loss = np.sum((probabilities - np.eye(2)[truth]) * scores) / 4000
    assert abs(slope_of_loss) < 1e-6


def test_offsets_are_finite_where_scores_are_perfect_or_nothing():
    for scores in (
        np.array([[1.0, -1.0], [-1.0, 1.0]]),
        np.array([[-2.0, 2.0], [-3.0, 3.0]]),
        np.zeros((2, 2)),
    ):
        steepness, offsets = fit_offsets(scores, np.array([1, 0]))
        assert 0 < steepness < 100
        assert np.abs(offsets).max() < 100
