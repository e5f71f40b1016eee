"""The figures of the paper's experiments: each outcome, means, and their plot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.evaluate.comparison_files import PlotLine
from gramshift.evaluate.protocol import MULTI, PUBLISHED, SINGLE, Setting
from gramshift.evaluate.scoring import (
    SIGNIFICANCE_LEVEL,
    ClusterBootstrap,
    compare_means,
    interval,
    mcnemar,
)
from gramshift.methods import BEST, METHODS

Row = dict[str, Any]
Right = NDArray[np.bool_]
"""True for each target document that is labelled correctly."""
Cell = tuple[Setting, str | None, str]
"""A setting, a kernel and a method; the kernel is None for methods that do not take one."""
SYMBOLS = {"presence": "0/1", "intersection": "∩", "spectrum": "spectrum"}


@dataclass(frozen=True)
class Outcome:
    """Scores of the positive class for the target documents of a setting, by one method."""

    setting: Setting
    method: str
    scores: NDArray[np.float64]
    seconds: float


Outcomes = dict[Cell, Outcome]


@dataclass(frozen=True)
class StackedReviews:
    """The reviews of several domains in one list: the rows of each domain, and their classes.

    All domains have the same number of reviews.
    """

    letters: str
    codes: NDArray[np.intp]

    @property
    def size(self) -> int:
        """The number of reviews of each domain."""
        return len(self.codes) // len(self.letters)

    def truth(self, letter: str) -> NDArray[np.bool_]:
        """Return True for each positive review of a domain, for scoring only."""
        return np.equal(self.codes[self.place(letter)], 1)

    def rows(self, letters: str) -> NDArray[np.intp]:
        """Return the rows of some domains, in their order."""
        every = np.arange(len(self.codes))
        return np.concatenate([every[self.place(letter)] for letter in letters])

    def place(self, letter: str) -> slice:
        """Return the rows of a domain as a slice."""
        start = self.size * self.letters.index(letter)
        return slice(start, start + self.size)

    def cut(self, gram: NDArray[Any], letters: str) -> NDArray[Any]:
        """Return the kernel matrix of some domains."""
        places = [self.place(letter) for letter in letters]
        return np.block([[gram[rows, cols] for cols in places] for rows in places])


def find_right(outcomes: Outcomes, reviews: StackedReviews) -> dict[Cell, Right]:
    """Return which labels are right. True labels of targets are used here and nowhere else."""
    return {
        cell: (one.scores > 0) == reviews.truth(cell[0].target) for cell, one in outcomes.items()
    }


def make_rows(
    outcomes: Outcomes, reviews: StackedReviews, *, fields: str, source_only: bool = False
) -> list[Row]:
    """Return the figures of each outcome.

    The p-value is of McNemar's test against the better plain kernel of the setting, which itself
    has none. The method "best" is tested against tkc with the presence kernel, if it was run. With
    ``source_only``, only methods that do not adapt have published figures.
    """
    right, rows = find_right(outcomes, reviews), []
    for cell, one in outcomes.items():
        setting, kernel, method = cell
        plain = [other for other in right if other[0] == setting and other[2] == "plain"]
        rival = max(plain, key=lambda other: int(right[other].sum()), default=None)
        if method == BEST and (setting, "presence", "tkc") in right:
            rival = setting, "presence", "tkc"
        n, correct = len(right[cell]), int(right[cell].sum())
        low, high = interval(correct, n)
        row: Row = {
            "setting": setting.name,
            "method": method,
            "kernel": kernel,
            "fields": fields,
            "accuracy": round(100 * correct / n, 4),
            "published": PUBLISHED.get((published_as(method), kernel, setting.name)),
            "n": n,
            "correct": correct,
            "low": round(low, 2),
            "high": round(high, 2),
            "p_value": None,
            "against": None,
            "significant": False,
            "seconds": round(one.seconds, 3),
        }
        if rival is not None and cell != rival:
            row["p_value"] = mcnemar(right[cell], right[rival])
            row["against"] = f"{rival[2]} {rival[1]}"
            is_better = correct > int(right[rival].sum())
            row["significant"] = is_better and row["p_value"] < SIGNIFICANCE_LEVEL
        if source_only:
            row["source_only"] = True
            row["published"] = None if METHODS[method].adapts else row["published"]
        rows.append(row)
    return rows


def published_as(method: str) -> str:
    """Return the name of the method among the published figures."""
    return METHODS[method].published or method


GROUPS = {"one source": SINGLE, "several sources": MULTI}
Column = tuple[str | None, str]
"""A kernel and a method."""


def make_means(outcomes: Outcomes, reviews: StackedReviews) -> list[Row]:
    """Return the mean of each method and kernel that has all settings of a group, in percent.

    Methods are tested against the reference column; p-values are adjusted by Holm-Bonferroni.
    """
    right, result = find_right(outcomes, reviews), []
    for group, settings in GROUPS.items():
        columns = _columns_with(right, settings)
        if not columns:
            continue
        reference = _reference_column(columns)
        for (kernel, method), mean in _compare_columns(columns, settings, reviews).items():
            row: Row = {"settings": group, "method": method, "kernel": kernel}
            row |= {name: 100 * mean[name] for name in ("accuracy", "low", "high")}
            row |= {"against": None, "difference": None, "p_value": None}
            if (kernel, method) != reference:
                names = ("difference", "difference_low", "difference_high")
                row["against"] = " ".join(filter(None, reversed(reference)))
                row["difference"] = [100 * mean[name] for name in names]
                row["p_value"] = mean["p_holm"]
            result.append(row)
    return result


def plot_outcomes(outcomes: Outcomes, reviews: StackedReviews) -> list[PlotLine]:
    """Return the lines of the plot: the mean of each method and kernel over all settings."""
    right = find_right(outcomes, reviews)
    settings = list(dict.fromkeys(setting for setting, _, _ in right))
    columns = _columns_with(right, settings)
    reference = _reference_column(columns)
    lines = []
    for column, mean in _compare_columns(columns, settings, reviews).items():
        kernel, method = column
        title = METHODS[method].title + ("" if kernel is None else f" {SYMBOLS[kernel]}")
        cases = [float(one.mean()) for one in columns[column]]
        figures = (mean["accuracy"], mean["low"], mean["high"])
        lines.append(PlotLine(title, cases, *figures, column == reference))
    return lines


def _columns_with(
    right: dict[Cell, Right], settings: Sequence[Setting]
) -> dict[Column, list[Right]]:
    """Return the columns that have all of these settings."""
    columns = dict.fromkeys((kernel, method) for _, kernel, method in right)
    return {
        column: [right[setting, *column] for setting in settings]
        for column in columns
        if all((setting, *column) in right for setting in settings)
    }


def _reference_column(columns: Iterable[Column]) -> Column:
    """Return tkc with the presence kernel if it is there, else plain, else the first column."""
    several = list(columns)
    usual = [("presence", "tkc"), ("presence", "plain")]
    return next((column for column in usual if column in several), several[0])


def _compare_columns(
    columns: dict[Column, list[Right]], settings: Sequence[Setting], reviews: StackedReviews
) -> dict[Column, Row]:
    targets = [setting.target for setting in settings]
    clusters = ClusterBootstrap([np.arange(reviews.size)] * len(settings), targets)
    return compare_means(columns, clusters, _reference_column(columns))
