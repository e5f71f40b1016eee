"""The results of the paper's experiments: figures, and tables next to the published ones."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gramshift.evaluate.comparison_files import PlotLine, csv_text, markdown_lines, write_files
from gramshift.evaluate.protocol import MULTI, PUBLISHED, PUBLISHED_RIVALS, SINGLE, Setting
from gramshift.evaluate.scoring import (
    SIGNIFICANCE_LEVEL,
    Clustered,
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
COLUMNS = (
    "setting",
    "method",
    "kernel",
    "fields",
    "accuracy",
    "published",
    "n",
    "correct",
    "low",
    "high",
    "p_value",
    "against",
    "significant",
)


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
        return np.concatenate(
            [np.arange(self.size) + self.size * self.letters.index(letter) for letter in letters]
        )

    def place(self, letter: str) -> slice:
        start = self.size * self.letters.index(letter)
        return slice(start, start + self.size)

    def cut(self, gram: NDArray[Any], letters: str) -> NDArray[Any]:
        """Return the kernel matrix of some domains."""
        places = [self.place(letter) for letter in letters]
        return np.block([[gram[rows, cols] for cols in places] for rows in places])


def find_right(outcomes: Outcomes, reviews: StackedReviews) -> dict[Cell, NDArray[np.bool_]]:
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
            row["p_value"], row["against"] = (
                mcnemar(right[cell], right[rival]),
                f"{rival[2]} {rival[1]}",
            )
            row["significant"] = (
                correct > int(right[rival].sum()) and row["p_value"] < SIGNIFICANCE_LEVEL
            )
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
    clusters = Clustered([np.arange(reviews.size)] * len(settings), targets)
    return compare_means(columns, clusters, _reference_column(columns))


SYMBOLS = {"presence": "0/1", "intersection": "∩", "spectrum": "spectrum"}
BOLD = "[bold]"  # markup of rich
BOLD_END = "[/bold]"


class ResultTable(NamedTuple):
    """A title, the names of columns, and lines that begin with the name of a method."""

    title: str
    columns: list[str]
    lines: list[list[str]]


def show_cell(
    published: float | None, ours: float | None = None, *, is_best: bool = False, more: str = ""
) -> str:
    """Return a cell of a table: published, ours, and the difference; ``more`` follows ours."""
    if ours is None:
        return "-" if published is None else f"{published:.1f} /  -"
    shown = f"{BOLD}{ours:.1f}{BOLD_END}{more}" if is_best else f"{ours:.1f}{more}"
    return (
        f"- / {shown}"
        if published is None
        else f"{published:.1f} / {shown} ({ours - published:+.1f})"
    )


def make_tables(rows: list[Row], means: Sequence[Row], fields: str) -> list[ResultTable]:
    """Return the tables: several sources, one source (two halves, as in the paper), and means."""
    halves = (("multi", MULTI), ("single", SINGLE[:6]), ("single", SINGLE[6:]))
    tables = [_make_table(rows, kind, settings, fields) for kind, settings in halves]
    return [table for table in [*tables, _make_mean_table(rows, means, fields)] if table.columns]


def _make_table(rows: list[Row], kind: str, settings: list[Setting], fields: str) -> ResultTable:
    found = {(row["method"], row["kernel"], row["setting"]): row for row in rows}
    names = [
        setting.name for setting in settings if any(row["setting"] == setting.name for row in rows)
    ]
    best = {name: max(row["accuracy"] for row in rows if row["setting"] == name) for name in names}
    run = {
        published_as(row["method"])
        for row in rows
        if row["kernel"] is None and not _is_unadapted(row)
    }
    lines = [
        [rival, *(show_cell(PUBLISHED.get((rival, None, name))) for name in names)]
        for rival in PUBLISHED_RIVALS[kind]
        if rival not in run
    ]
    order = list(dict.fromkeys(row["method"] for row in rows))  # method by method, as in the paper
    columns = dict.fromkeys((row["method"], row["kernel"]) for row in rows)
    for method, kernel in sorted(columns, key=lambda column: order.index(column[0])):
        cells = []
        for name in names:
            row = found[method, kernel, name]
            ours, star = row["accuracy"], "*" if row["significant"] else ""
            cells.append(show_cell(row["published"], ours, is_best=ours == best[name], more=star))
        lines.append([_label(rows, method, kernel), *cells])
    title = {"multi": "Several sources", "single": "One source"}[kind]
    return ResultTable(
        f"{title}, {fields}: accuracy in %, published / ours (difference)", names, lines
    )


def _make_mean_table(rows: list[Row], means: Sequence[Row], fields: str) -> ResultTable:
    found = {(one["method"], one["kernel"], one["settings"]): one for one in means}
    groups = list(dict.fromkeys(one["settings"] for one in means))
    lines = []
    for method, kernel in dict.fromkeys((one["method"], one["kernel"]) for one in means):
        cells = []
        for group in groups:
            one = found[method, kernel, group]
            names = [setting.name for setting in GROUPS[group]]
            mine = [
                row
                for row in rows
                if (row["method"], row["kernel"]) == (method, kernel) and row["setting"] in names
            ]
            published = [row["published"] for row in mine]
            mean = None if None in published else float(np.mean(published))
            cells.append(
                show_cell(mean, one["accuracy"], more=f" [{one['low']:.1f} to {one['high']:.1f}]")
            )
        lines.append([_label(rows, method, kernel), *cells])
    return ResultTable(
        f"Means, {fields}: published / ours [95 % interval] (difference)", groups, lines
    )


def _is_unadapted(row: Row) -> bool:
    """Return True if the row is of an adapting method that was run without adaptation."""
    return row.get("source_only", False) and METHODS[row["method"]].adapts


def _label(rows: list[Row], method: str, kernel: str | None) -> str:
    """Return the name of a row, marked if its published figures were obtained in another way."""
    if any(row["method"] == method and _is_unadapted(row) for row in rows):
        return f"{METHODS[method].title}, source only"
    if kernel is not None:
        return f"{METHODS[method].title} {SYMBOLS[kernel]}"
    return METHODS[method].title + (MARK if METHODS[method].difference else "")


def differences(rows: list[Row]) -> list[str]:
    """Return an explanation of the mark for each method that has one."""
    names = dict.fromkeys(row["method"] for row in rows if not _is_unadapted(row))
    marked = [METHODS[name] for name in names if METHODS[name].difference]
    return [f"{MARK} {one.title}: published with {one.difference}." for one in marked]


MARK = "†"
NOTE = (
    "*: better than the better plain kernel of this run (best: than tkc 0/1, if it ran), "
    "McNemar's test at 0.01. Bold: our best in the column."
)


def to_markdown(tables: list[ResultTable], notes: Sequence[str] = ()) -> str:
    """Return all tables and the notes below them."""
    lines = []
    for title, columns, several in tables:
        lines += [f"### {title}", "", *markdown_lines(["", *columns], several), ""]
    escaped = [note.replace("*", "\\*") for note in (NOTE, *notes)]
    page = "\n".join([*lines, "\n\n".join(escaped), ""])
    return page.replace(BOLD, "**").replace(BOLD_END, "**")


def write_results(
    output: Path, result: dict[str, Any], outcomes: Outcomes, reviews: StackedReviews, fields: str
) -> None:
    """Write all files, or none.

    The file results.csv has no seconds, so that the same run gives the same bytes.
    """
    rows, names = result["rows"], ("negative", "positive")
    columns = (*COLUMNS, "source_only") if any("source_only" in row for row in rows) else COLUMNS
    predictions = (
        [
            setting.name,
            kernel,
            method,
            fields,
            review,
            names[true],
            names[score > 0],
            f"{score:.6f}",
        ]
        for (setting, kernel, method), one in outcomes.items()
        for review, (true, score) in enumerate(
            zip(reviews.truth(setting.target).tolist(), one.scores.tolist(), strict=True)
        )
    )
    contents = {
        "results.json": json.dumps(result, indent=1, ensure_ascii=False),
        "results.csv": csv_text(columns, ([row[name] for name in columns] for row in rows)),
        "tables.md": to_markdown(make_tables(rows, result["means"], fields), differences(rows)),
        "predictions.csv.gz": csv_text(
            ["setting", "kernel", "method", "fields", "review", "true", "predicted", "score"],
            predictions,
        ),
    }
    write_files(output, contents)
