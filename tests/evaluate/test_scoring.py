import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score

from gramshift.evaluate.scoring import accuracy_by_confidence, find_better, macro_f1, score_labels


def test_a_case_by_hand():
    truth = ["a", "a", "b", "b", "c"]
    labels = ["a", "b", "b", "b", "b"]
    scores = score_labels(
        truth,
        labels,
        np.array([0.9, 0.5, 0.55, 1.0, 0.2]),
        ["a", "b"],
        reference=("plain", ["a"] * 5),
    )
    assert (scores["n"], scores["accuracy"], scores["reference_accuracy"]) == (5, 0.6, 0.4)
    assert scores["confusion_labels"] == ["a", "b", "c"]
    assert scores["confusion"] == [[1, 1], [0, 2], [0, 1]]
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 4 / 6 + 0) / 3)
    assert scores["mcnemar_p"] == 1.0  # two documents got better, one got worse: by chance always
    assert scores["by_confidence"] == [
        {"low": 0.2, "high": 0.3, "n": 1, "accuracy": 0.0},
        {"low": 0.5, "high": 0.6, "n": 2, "accuracy": 0.5},
        {"low": 0.9, "high": 1.0, "n": 2, "accuracy": 1.0},
    ]


def test_it_is_scikit_learns_f1_and_confusion():
    rng = np.random.default_rng(0)
    truth, labels = (rng.choice(list("abcd"), 300).tolist() for _ in range(2))
    assert macro_f1(truth, labels) == pytest.approx(f1_score(truth, labels, average="macro"))
    assert macro_f1(["a", "b"], ["a", "a"]) == pytest.approx(
        f1_score(["a", "b"], ["a", "a"], average="macro")
    )
    scores = score_labels(truth, labels, np.full(300, 0.5), list("abcd"))
    assert scores["confusion"] == confusion_matrix(truth, labels).tolist()
    assert "mcnemar_p" not in scores


def test_tenths_begin_where_they_should():
    confidence = np.array([0.3, 0.7, 0.6999, 1.0])
    assert [one["low"] for one in accuracy_by_confidence(np.ones(4, bool), confidence)] == [
        0.3,
        0.6,
        0.7,
        0.9,
    ]


def test_better_labels_are_found_if_they_are_better_by_more_than_chance():
    truth, found = ["a"] * 100, ["a"] * 60 + ["b"] * 40

    def with_hits(n):
        return ["a"] * n + ["b"] * (100 - n)

    assert find_better(truth, found, {}) is None
    assert find_better(truth, found, {"worse": with_hits(10)}) is None
    assert find_better(truth, found, {"other": with_hits(67)}) is None  # 7 to 0: p = 0.016
    better = find_better(truth, found, {"other": with_hits(68)})  # 8 to 0: p = 0.008
    assert better == {"name": "other", "accuracy": 0.68, "mcnemar_p": pytest.approx(2 / 2**8)}
    assert (
        find_better(
            truth, found, {"one": with_hits(80), "two": with_hits(90), "three": with_hits(10)}
        )["name"]
        == "two"
    )
