"""NB-SVM, against versions by loops."""

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

import gramshift as gs
from gramshift.baselines import tfidf

COLOURS = (
    ["red apple", "red red cherry", "green pear", "green leaf", "blue sea", "blue blue sky"],
    ["r", "r", "g", "g", "b", "b"],
)


def ratio(rows, is_class, word, smoothing):
    """The logarithm of one word's share in the class over its share out of it."""
    inside = [row for row, own in zip(rows, is_class, strict=True) if own]
    outside = [row for row, own in zip(rows, is_class, strict=True) if not own]
    n_words = len(rows[0])
    share = [
        (smoothing + sum(row[word] for row in part)) / (smoothing * n_words + sum(map(sum, part)))
        for part in (inside, outside)
    ]
    return math.log(share[0] / share[1])


@pytest.mark.parametrize("smoothing", [0.5, 1.0])
def test_log_count_ratios(smoothing):
    chance = np.random.default_rng(0)
    rows, is_class = chance.integers(0, 2, (12, 5)), np.arange(12) % 3 == 0
    found = tfidf.log_count_ratios(sparse.csr_matrix(rows, dtype=float), is_class, smoothing)
    np.testing.assert_allclose(
        found, [ratio(rows.tolist(), is_class, word, smoothing) for word in range(5)]
    )
    # word 0 in both documents of the class, word 1 in the one outside; 1 is added to each count
    counts = sparse.csr_matrix([[1.0, 0], [1, 0], [0, 1]])
    found = tfidf.log_count_ratios(counts, np.array([True, True, False]), 1.0)
    np.testing.assert_allclose(found, np.log([(3 / 4) / (1 / 3), (1 / 4) / (2 / 3)]))


@pytest.mark.parametrize("interpolation", [0.25, 1.0])
def test_nbsvm_is_a_machine_on_the_ratios_drawn_to_its_mean_weight(interpolation):
    clf = gs.baselines.NBSVM(interpolation=interpolation).fit(*COLOURS)
    words = sorted(
        {word for text in COLOURS[0] for word in text.split()}
        | {"red red", "blue blue", "blue sky"}
    )
    words = sorted({*words, "red apple", "red cherry", "green pear", "green leaf", "blue sea"})
    assert clf._state["words"] == words
    padded = [f" {text} " for text in COLOURS[0]]
    rows = [[int(f" {word} " in text) for word in words] for text in padded]
    for code, label in enumerate(["b", "g", "r"]):
        is_class = [one == label for one in COLOURS[1]]
        ratios = [ratio(rows, is_class, word, 1.0) for word in range(len(words))]
        scaled = [
            [value * weight for value, weight in zip(row, ratios, strict=True)] for row in rows
        ]
        machine = LinearSVC(max_iter=20000, random_state=0).fit(scaled, is_class)
        mean = sum(abs(one) for one in machine.coef_[0]) / len(words)
        drawn = [(1 - interpolation) * mean + interpolation * one for one in machine.coef_[0]]
        n_own = sum(is_class)
        threshold = (1 - interpolation) * mean * math.log(
            n_own / (6 - n_own)
        ) + interpolation * machine.intercept_[0]
        expected = [
            threshold + sum(a * b for a, b in zip(row, drawn, strict=True)) for row in scaled
        ]
        np.testing.assert_allclose(clf.decision_function(COLOURS[0])[:, code], expected, atol=1e-3)


def test_nbsvm_of_two_classes_is_one_machine():
    clf = gs.baselines.NBSVM().fit(
        COLOURS[0][:4], COLOURS[1][:4], target=["a red thing", "a green thing"]
    )
    assert clf.transduction_.tolist() == ["r", "g"]
    np.testing.assert_allclose(clf.transduction_score_[:, 0], -clf.transduction_score_[:, 1])
    for wrong in ({"smoothing": 0}, {"interpolation": 1.5}, {"C": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            gs.baselines.NBSVM(**wrong).fit(*COLOURS)
