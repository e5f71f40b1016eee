"""Accuracy, calibration and significance tests, for one set of labels and for several cases."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import confusion_matrix, f1_score

Key = TypeVar("Key", bound=Hashable)
Floats = NDArray[np.float64]
N_DRAWS = 2000
N_DRAWS_AT_A_TIME = 50  # all counts at once would not fit into memory
PERCENTILES = (2.5, 97.5)  # of a 95 % interval
N_BINS = 10


def score_labels(
    truth: list[str],
    labels: list[str],
    confidence: NDArray[np.float64],
    classes: list[str],
    *,
    reference: tuple[str, list[str]] | None = None,
) -> dict[str, Any]:
    """Return accuracy, macro F1, confusion matrix, accuracy by confidence, and McNemar's test.

    The test is against ``reference``, a name and other labels of the same documents. A true label
    that is not among the classes counts as missed.
    """
    right = np.array(truth) == np.array(labels)
    low, high = interval(int(right.sum()), len(truth))
    rows = sorted(set(truth) | set(classes))
    counts = confusion_matrix(truth, labels, labels=rows)
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
    """Return the mean of F1 over all labels that occur in either list."""
    return float(f1_score(truth, labels, average="macro"))


def accuracy_by_confidence(
    right: NDArray[np.bool_], confidence: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """Return documents and accuracy in each tenth of confidence that has any."""
    tenth = _tenths(confidence)
    return [
        {
            "low": k / N_BINS,
            "high": (k + 1) / N_BINS,
            "n": int(np.sum(tenth == k)),
            "accuracy": float(right[tenth == k].mean()),
        }
        for k in np.unique(tenth).tolist()
    ]


def _tenths(confidence: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.minimum((confidence * N_BINS + 1e-9).astype(np.intp), N_BINS - 1)


def calibration_error(right: NDArray[np.bool_], confidence: NDArray[np.float64]) -> float:
    """Return the expected calibration error.

    This is the distance of mean confidence and accuracy in tenths, weighted by their documents.
    """
    tenth = _tenths(confidence)
    gaps = (
        abs(float(np.sum(confidence[tenth == k]) - np.sum(right[tenth == k])))
        for k in range(N_BINS)
    )
    return sum(gaps) / max(1, len(right))


def brier(truth: NDArray[np.intp], probabilities: NDArray[np.float64]) -> float:
    """Return the Brier score: the mean squared distance of probabilities and truth."""
    known = (truth[:, None] == np.arange(probabilities.shape[1])).astype(float)
    return float(np.mean(np.sum((probabilities - known) ** 2, axis=1)))


def by_class(
    truth: NDArray[np.intp], found: NDArray[np.intp], n_classes: int
) -> list[dict[str, float | int | None]]:
    """Return precision, recall and documents of each class; None for 0 divided by 0."""
    rows: list[dict[str, float | int | None]] = []
    for code in range(n_classes):
        both = int(np.sum((truth == code) & (found == code)))
        n_true, n_found = int(np.sum(truth == code)), int(np.sum(found == code))
        rows.append(
            {
                "precision": both / n_found if n_found else None,
                "recall": both / n_true if n_true else None,
                "n": n_true,
            }
        )
    return rows


SIGNIFICANCE_LEVEL = 0.01  # as in the paper
TESTS = ("difference", "difference_low", "difference_high", "p_value", "p_holm")


def mcnemar(right: NDArray[np.bool_], other_right: NDArray[np.bool_]) -> float:
    """Return the two-sided p-value of McNemar's exact (binomial) test on the same documents."""
    only, only_other = int(np.sum(right & ~other_right)), int(np.sum(other_right & ~right))
    if only + only_other == 0:
        return 1.0
    return float(stats.binomtest(only, only + only_other).pvalue)


def find_better(
    truth: list[str], labels: list[str], others: Mapping[str, list[str]]
) -> dict[str, Any] | None:
    """Return the best of several other labels if it is significantly better than these."""
    right = np.array(truth) == np.array(labels)
    found: list[dict[str, Any]] = []
    for name, them in others.items():
        right_too = np.array(truth) == np.array(them)
        p = mcnemar(right, right_too)
        if right_too.sum() > right.sum() and p < SIGNIFICANCE_LEVEL:
            found.append({"name": name, "accuracy": float(right_too.mean()), "mcnemar_p": p})
    return max(found, key=lambda one: one["accuracy"], default=None)


def interval(correct: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of an accuracy in percent (Wilson)."""
    bounds = stats.binomtest(correct, n).proportion_ci(0.95, method="wilson")
    return 100 * float(bounds.low), 100 * float(bounds.high)


class ClusterBootstrap:
    """Bootstrap draws in which cases with the same target domain share the drawn documents.

    ``rows`` are the target documents of each case, ``targets`` the names of their domains. A draw
    takes a document equally often in all cases, so that documents that several cases have in
    common do not count as independent evidence.
    """

    def __init__(
        self,
        rows: Sequence[NDArray[np.intp]],
        targets: Sequence[str],
        *,
        draws: int = N_DRAWS,
        seed: int = 0,
    ) -> None:
        self._cases = list(zip(rows, targets, strict=True))
        self._draws, self._seed = draws, seed
        self._sizes: dict[str, int] = {}
        for some, target in self._cases:
            self._sizes[target] = max(self._sizes.get(target, 0), 1 + int(some.max(initial=-1)))

    def means_of(self, several: Sequence[Sequence[Floats]]) -> Floats:
        """Return for each method (row) and draw (column) the mean over documents and cases.

        ``several`` has for each method and case a value per document, such as 1 where a label is
        right. All methods share the drawn documents. A draw without any document is NaN.
        """
        generator = np.random.default_rng(self._seed)
        result = np.empty((len(several), self._draws))
        for start in range(0, self._draws, N_DRAWS_AT_A_TIME):
            size = min(N_DRAWS_AT_A_TIME, self._draws - start)
            counts = {target: np.empty((size, n)) for target, n in self._sizes.items()}
            for draw in range(size):
                for target, n in self._sizes.items():
                    counts[target][draw] = np.bincount(generator.integers(0, n, n), minlength=n)
            sums = np.zeros((size, len(several)))
            cases = np.zeros((size, 1))
            for place, (some, target) in enumerate(self._cases):
                found = np.stack([values[place] for values in several], axis=1)
                times = counts[target][:, some]
                total = times.sum(axis=1, keepdims=True)
                sums += np.divide(times @ found, total, out=np.zeros_like(sums), where=total > 0)
                cases += total > 0
            mean = np.divide(sums, cases, out=np.full_like(sums, np.nan), where=cases > 0)
            result[:, start : start + size] = mean.T
        return result


def interval_of(drawn: Floats) -> tuple[float, float]:
    """Return the bounds of the central 95 % of the draws."""
    low, high = np.nanpercentile(drawn, PERCENTILES)
    return float(low), float(high)


def differs(drawn: Floats) -> float:
    """Return the two-sided p-value of a difference by the mean and standard deviation of its draws.

    Counting draws on the other side of 0 cannot give p-values below 1 / number of draws, which
    would not survive a correction for multiple tests.
    """
    mean, deviation = float(np.nanmean(drawn)), float(np.nanstd(drawn))
    if deviation == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stats.norm.sf(abs(mean) / deviation))


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm-Bonferroni."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    result = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        result[place] = largest
    return result


def adjust_p_values(rows: Iterable[dict[str, Any]]) -> None:
    """Set "p_holm" of each row that has a p-value to this value, adjusted by Holm-Bonferroni."""
    tested = [row for row in rows if row["p_value"] is not None]
    adjusted = correct_by_holm([row["p_value"] for row in tested])
    for row, p_value in zip(tested, adjusted, strict=True):
        row["p_holm"] = p_value


def compare_means(
    right: Mapping[Key, Sequence[NDArray[np.bool_]]], clusters: ClusterBootstrap, reference: Key
) -> dict[Key, dict[str, Any]]:
    """Return for each method the mean accuracy, its interval and its difference from the reference.

    ``right`` has for each method and case a mask of the documents that it labels correctly. The
    p-values ``p_holm`` are adjusted by Holm-Bonferroni.
    """
    masks = [[one.astype(np.float64) for one in cases] for cases in right.values()]
    drawn = dict(zip(right, clusters.means_of(masks), strict=True))
    accuracy = {key: float(np.mean([one.mean() for one in cases])) for key, cases in right.items()}
    pooled = {key: np.concatenate(cases) for key, cases in right.items()}
    result: dict[Key, dict[str, Any]] = {}
    for key, cases in right.items():
        low, high = interval_of(drawn[key])
        if len(cases) == 1:  # a bootstrap of few documents, all right, would have no width
            bounds = interval(int(pooled[key].sum()), len(pooled[key]))
            low, high = (bound / 100 for bound in bounds)
        line: dict[str, Any] = {"accuracy": accuracy[key], "low": low, "high": high}
        line |= dict.fromkeys(TESTS)
        if key != reference:
            apart = drawn[key] - drawn[reference]
            line["difference"] = accuracy[key] - accuracy[reference]
            line["difference_low"], line["difference_high"] = interval_of(apart)
            exact = mcnemar(pooled[key], pooled[reference])  # few documents prove little
            line["p_value"] = exact if len(cases) == 1 else max(exact, differs(apart))
        result[key] = line
    adjust_p_values(result.values())
    return result
