"""Layers of mSDA, against deletions that are all written out."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import gramshift as gs
from gramshift.baselines import msda


@pytest.mark.parametrize("noise", [0.3, 0.5])
def test_a_layer_restores_best_in_the_mean_over_all_deletions(noise):
    """All deletions of values, weighted by their probability, are a least-squares problem."""
    rows = np.random.default_rng(0).integers(0, 2, (9, 4)).astype(float)
    damaged, whole, roots = [], [], []
    for row in rows:
        for kept in product([0, 1], repeat=4):
            damaged.append([*(row * kept), 1.0])
            whole.append(row)
            roots.append(np.sqrt(np.prod([1 - noise if one else noise for one in kept])))
    left = np.vstack(
        [np.array(damaged) * np.array(roots)[:, None], np.sqrt(msda.RIDGE) * np.eye(5)]
    )
    right = np.vstack([np.array(whole) * np.array(roots)[:, None], np.zeros((5, 4))])
    expected = np.linalg.lstsq(left, right, rcond=None)[0]
    np.testing.assert_allclose(msda.denoise(rows, noise), expected, atol=1e-9)
    np.testing.assert_allclose(msda.denoise(sparse.csr_matrix(rows), noise), expected, atol=1e-9)
    by_hand = [
        [np.tanh(sum(row[i] * expected[i, j] for i in range(4)) + expected[4, j]) for j in range(4)]
        for row in rows
    ]
    np.testing.assert_allclose(msda.restore(rows, expected), by_hand, atol=1e-8)


def test_words_and_layers_stand_side_by_side():
    rows = msda.side_by_side([sparse.csr_matrix([[1.0, 0], [0, 0]]), np.array([[2.0, 2], [0, 3]])])
    np.testing.assert_allclose(rows, [[1 / 3, 0, 2 / 3, 2 / 3], [0, 0, 0, 1]])


def test_layers_are_learnt_from_one_another():
    source, target = (
        ["good fine pan", "good pan", "bad sad pan", "bad pan"] * 2,
        ["fine good film", "sad bad film", "fine film"],
    )
    clf = gs.baselines.MSDA(n_layers=2, noise=0.4).fit(source, [1, 1, 0, 0] * 2, target=target)
    words = sorted({word for text in source + target for word in text.split()})
    assert clf._state["words"] == words
    rows = np.array([[float(word in text.split()) for word in words] for text in source + target])
    first = msda.denoise(rows, 0.4)
    hidden = msda.restore(rows, first)
    second = msda.denoise(hidden, 0.4)
    np.testing.assert_allclose(clf._state["layers"][0], first, atol=1e-9)
    np.testing.assert_allclose(clf._state["layers"][1], second, atol=1e-6)
    together = np.hstack([rows, hidden, msda.restore(hidden, second)])
    together /= np.linalg.norm(together, axis=1, keepdims=True)
    coefficients, intercepts = clf._state["linear"]
    expected = together[8:] @ coefficients + intercepts
    np.testing.assert_allclose(clf.transduction_score_, expected, atol=1e-6)
    assert clf.transduction_.tolist() == [1, 0, 1]


def test_the_most_frequent_words_alone():
    source, target = ["a b c", "a b d", "a c b", "a d"], ["a b", "b c x"]
    clf = gs.baselines.MSDA(n_words=2, adapt=False).fit(source, [1, 0, 1, 0], target=target)
    assert clf._state["words"] == ["a", "b"]
    for wrong in ({"noise": 1.0}, {"n_layers": 0}, {"n_words": 1.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            gs.baselines.MSDA(**wrong).fit(source, [1, 0, 1, 0], target=target)
