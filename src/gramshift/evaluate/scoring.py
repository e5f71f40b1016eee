"""How good labels are, and whether a difference is more than chance."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import confusion_matrix, f1_score

BINS = 10


def score_labels(
    truth: list[str],
    labels: list[str],
    confidence: NDArray[np.float64],
    classes: list[str],
    *,
    reference: tuple[str, list[str]] | None = None,
) -> dict[str, Any]:
    """Score labels: accuracy, macro F1, confusion, accuracy by confidence, and McNemar's test against ``reference``.

    That has a name and other labels of the same documents. A true label that is not among the classes counts as missed.
    """
    right = np.array(truth) == np.array(labels)
    low, high = interval(int(right.sum()), len(truth))
    rows = sorted(set(truth) | set(classes))
    counts = confusion_matrix(truth, labels, labels=rows)  # a column for each of the classes, which are among the rows
    scores: dict[str, Any] = {
        "n": len(truth),
        "accuracy": float(right.mean()),
        "accuracy_interval": [round(low / 100, 4), round(high / 100, 4)],
        "macro_f1": macro_f1(truth, labels),
        "confusion": counts[:, [rows.index(name) for name in classes]].tolist(),
        "confusion_labels": rows,
        "by_confidence": accuracy_by_confidence(right, confidence),
    }
    if reference is not None:
        name, others = reference
        right_too = np.array(truth) == np.array(others)
        scores |= {
            "reference": name,
            "reference_accuracy": float(right_too.mean()),
            "reference_macro_f1": macro_f1(truth, others),
            "mcnemar_p": mcnemar(right, right_too),
        }
    return scores


def macro_f1(truth: list[str], labels: list[str]) -> float:
    """Return the mean of F1 over all labels that occur in either."""
    return float(f1_score(truth, labels, average="macro"))


def accuracy_by_confidence(right: NDArray[np.bool_], confidence: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Count documents in the tenths of the confidence that have documents; the last one takes 1.0 too."""
    tenth = _tenths(confidence)
    return [
        {"low": k / BINS, "high": (k + 1) / BINS, "n": int(np.sum(tenth == k)), "accuracy": float(right[tenth == k].mean())}
        for k in np.unique(tenth).tolist()
    ]


def _tenths(confidence: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.minimum((confidence * BINS + 1e-9).astype(np.intp), BINS - 1)


def calibration_error(right: NDArray[np.bool_], confidence: NDArray[np.float64]) -> float:
    """Return the expected calibration error: the distance of confidence and accuracy in tenths, weighted by their documents."""
    tenth = _tenths(confidence)
    gaps = (abs(float(np.sum(confidence[tenth == k]) - np.sum(right[tenth == k]))) for k in range(BINS))
    return sum(gaps) / max(1, len(right))


def brier(truth: NDArray[np.intp], probabilities: NDArray[np.float64]) -> float:
    """Return the mean squared distance of probabilities and truth, summed over classes."""
    known = (truth[:, None] == np.arange(probabilities.shape[1])).astype(float)
    return float(np.mean(np.sum((probabilities - known) ** 2, axis=1)))


def by_class(truth: NDArray[np.intp], found: NDArray[np.intp], n_classes: int) -> list[dict[str, float | int | None]]:
    """Return precision, recall and number of true documents of each class; None where nothing can be divided by."""
    rows: list[dict[str, float | int | None]] = []
    for code in range(n_classes):
        both = int(np.sum((truth == code) & (found == code)))
        n_true, n_found = int(np.sum(truth == code)), int(np.sum(found == code))
        rows.append(
            {"precision": both / n_found if n_found else None, "recall": both / n_true if n_true else None, "n": n_true}
        )
    return rows


LEVEL = 0.01  # of significance, as in the paper


def mcnemar(right: NDArray[np.bool_], other_right: NDArray[np.bool_]) -> float:
    """Return the two-sided p-value of McNemar's exact test on the same documents, by the binomial distribution."""
    only, only_other = int(np.sum(right & ~other_right)), int(np.sum(other_right & ~right))
    if only + only_other == 0:
        return 1.0
    return float(stats.binomtest(only, only + only_other).pvalue)


def find_better(truth: list[str], labels: list[str], others: Mapping[str, list[str]]) -> dict[str, Any] | None:
    """Return the best of other labels of the same documents, by name, if they are significantly better than these."""
    right = np.array(truth) == np.array(labels)
    found: list[dict[str, Any]] = []
    for name, them in others.items():
        right_too = np.array(truth) == np.array(them)
        p = mcnemar(right, right_too)
        if right_too.sum() > right.sum() and p < LEVEL:
            found.append({"name": name, "accuracy": float(right_too.mean()), "mcnemar_p": p})
    return max(found, key=lambda one: one["accuracy"], default=None)


def interval(correct: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of an accuracy in percent (Wilson)."""
    bounds = stats.binomtest(correct, n).proportion_ci(0.95, method="wilson")
    return 100 * float(bounds.low), 100 * float(bounds.high)
