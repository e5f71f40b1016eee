"""The paper's tables with our figures next to the published ones, and the files of results."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramshift.evaluate.comparison_files import markdown_lines, write_files
from gramshift.evaluate.protocol import MULTI, PUBLISHED, PUBLISHED_RIVALS, SINGLE, Setting
from gramshift.evaluate.results import GROUPS, SYMBOLS, Outcomes, Row, StackedReviews, published_as
from gramshift.methods import METHODS
from gramshift.tables.writing import csv_text

COLUMNS = (
    *("setting", "method", "kernel", "fields", "accuracy", "published", "n", "correct"),
    *("low", "high", "p_value", "against", "significant"),
)
PREDICTION_COLUMNS = (
    *("setting", "kernel", "method", "fields"),
    *("review", "true", "predicted", "score"),
)
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
    if published is None:
        return f"- / {shown}"
    return f"{published:.1f} / {shown} ({ours - published:+.1f})"


def make_tables(rows: list[Row], means: Sequence[Row], fields: str) -> list[ResultTable]:
    """Return the tables: several sources, one source (two halves, as in the paper), and means."""
    halves = (("multi", MULTI), ("single", SINGLE[:6]), ("single", SINGLE[6:]))
    tables = [_make_table(rows, kind, settings, fields) for kind, settings in halves]
    return [table for table in [*tables, _make_mean_table(rows, means, fields)] if table.columns]


def _make_table(rows: list[Row], kind: str, settings: list[Setting], fields: str) -> ResultTable:
    found = {(row["method"], row["kernel"], row["setting"]): row for row in rows}
    best: dict[str, float] = {}
    for row in rows:
        best[row["setting"]] = max(row["accuracy"], best.get(row["setting"], 0.0))
    names = [setting.name for setting in settings if setting.name in best]
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
            ours = row["accuracy"]
            star = "*" if row["significant"] else ""
            cells.append(show_cell(row["published"], ours, is_best=ours == best[name], more=star))
        lines.append([_label(rows, method, kernel), *cells])
    sources = {"multi": "Several sources", "single": "One source"}[kind]
    title = f"{sources}, {fields}: accuracy in %, published / ours (difference)"
    return ResultTable(title, names, lines)


def _make_mean_table(rows: list[Row], means: Sequence[Row], fields: str) -> ResultTable:
    found = {(one["method"], one["kernel"], one["settings"]): one for one in means}
    groups = list(dict.fromkeys(one["settings"] for one in means))
    lines = []
    for method, kernel in dict.fromkeys((one["method"], one["kernel"]) for one in means):
        cells = []
        for group in groups:
            one = found[method, kernel, group]
            names = [setting.name for setting in GROUPS[group]]
            published = [
                row["published"]
                for row in rows
                if (row["method"], row["kernel"]) == (method, kernel) and row["setting"] in names
            ]
            mean = None if None in published else float(np.mean(published))
            interval = f" [{one['low']:.1f} to {one['high']:.1f}]"
            cells.append(show_cell(mean, one["accuracy"], more=interval))
        lines.append([_label(rows, method, kernel), *cells])
    title = f"Means, {fields}: published / ours [95 % interval] (difference)"
    return ResultTable(title, groups, lines)


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
    rows = result["rows"]
    columns = (*COLUMNS, "source_only") if any("source_only" in row for row in rows) else COLUMNS
    predictions = _prediction_lines(outcomes, reviews, fields)
    contents = {
        "results.json": json.dumps(result, indent=1, ensure_ascii=False),
        "results.csv": csv_text([columns, *([row[name] for name in columns] for row in rows)]),
        "tables.md": to_markdown(make_tables(rows, result["means"], fields), differences(rows)),
        "predictions.csv.gz": csv_text([PREDICTION_COLUMNS, *predictions]),
    }
    write_files(output, contents)


def _prediction_lines(
    outcomes: Outcomes, reviews: StackedReviews, fields: str
) -> Iterator[list[Any]]:
    names = ("negative", "positive")
    for (setting, kernel, method), one in outcomes.items():
        pairs = zip(reviews.truth(setting.target).tolist(), one.scores.tolist(), strict=True)
        for review, (true, score) in enumerate(pairs):
            labels = (names[true], names[score > 0])
            yield [setting.name, kernel, method, fields, review, *labels, f"{score:.6f}"]
