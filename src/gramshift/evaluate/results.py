"""The results of the paper's experiments: counted, and next to the published figures in tables."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gramshift.evaluate.comparison_files import PlotLine, csv_text, write_files
from gramshift.evaluate.protocol import MULTI, PUBLISHED, PUBLISHED_RIVALS, SINGLE, Setting
from gramshift.evaluate.scoring import (
    LEVEL,
    Clustered,
    compare_means,
    correct_by_holm,
    differs,
    interval,
    interval_of,
    mcnemar,
)
from gramshift.methods import BEST, METHODS

Row = dict[str, Any]
Cell = tuple[Setting, str | None, str]
"""A setting, a kernel and a method; the kernel is None for methods that have their own, or none."""
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
    """Scores of the positive class for the target documents of one setting, by one method."""

    setting: Setting
    method: str
    scores: NDArray[np.float64]
    seconds: float


Outcomes = dict[Cell, Outcome]


@dataclass(frozen=True)
class Documents:
    """Where the documents of each domain stand in the gram, and their classes."""

    letters: str
    codes: NDArray[np.intp]

    @property
    def size(self) -> int:
        """Documents of one domain."""
        return len(self.codes) // len(self.letters)

    def truth(self, letter: str) -> NDArray[np.bool_]:
        """Return True for each positive document of a domain: for scoring alone."""
        return np.equal(self.codes[self.place(letter)], 1)

    def rows(self, letters: str) -> NDArray[np.intp]:
        return np.concatenate(
            [np.arange(self.size) + self.size * self.letters.index(letter) for letter in letters]
        )

    def place(self, letter: str) -> slice:
        start = self.size * self.letters.index(letter)
        return slice(start, start + self.size)

    def cut(self, gram: NDArray[Any], letters: str) -> NDArray[Any]:
        """Cut the gram of some domains out, block by block."""
        places = [self.place(letter) for letter in letters]
        return np.block([[gram[rows, cols] for cols in places] for rows in places])


def find_right(outcomes: Outcomes, documents: Documents) -> dict[Cell, NDArray[np.bool_]]:
    """Return which target documents each outcome has right; here, and here only, true labels of targets are looked at."""
    return {
        cell: (one.scores > 0) == documents.truth(cell[0].target) for cell, one in outcomes.items()
    }


def make_rows(
    outcomes: Outcomes, documents: Documents, *, fields: str, source_only: bool = False
) -> list[Row]:
    """Return the figures of each outcome.

    The p-value is that of McNemar's test against the better plain kernel of its setting; that kernel itself has none. The
    method "best" is tested against tkc with the presence kernel, if that is there. With ``source_only``, figures were
    published of methods that do not adapt alone.
    """
    right, rows = find_right(outcomes, documents), []
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
            row["significant"] = correct > int(right[rival].sum()) and row["p_value"] < LEVEL
        if source_only:
            row["source_only"] = True
            row["published"] = None if METHODS[method].adapts else row["published"]
        rows.append(row)
    return rows


def published_as(method: str) -> str:
    """Return the name of its row among the published figures."""
    return METHODS[method].published or method


GROUPS = {"one source": SINGLE, "several sources": MULTI}


def make_means(outcomes: Outcomes, documents: Documents) -> list[Row]:
    """Return the mean of each method and kernel that has all settings of a group, with an interval and a test.

    Documents are drawn as often in one setting as in any other of the same target. Methods are tested against tkc with the
    presence kernel, else against plain; p-values are Holm's.
    """
    found, result = find_right(outcomes, documents), []
    for name, settings in GROUPS.items():
        columns = dict.fromkeys((kernel, method) for _, kernel, method in found)
        whole = {
            (kernel, method): [
                found[setting, kernel, method].astype(np.float64) for setting in settings
            ]
            for kernel, method in columns
            if all((setting, kernel, method) in found for setting in settings)
        }
        if not whole:
            continue
        clusters = Clustered(
            [np.arange(documents.size)] * len(settings), [one.target for one in settings]
        )
        drawn = dict(zip(whole, clusters.means_of(list(whole.values())), strict=True))
        against = next(
            (key for key in (("presence", "tkc"), ("presence", "plain")) if key in whole), None
        )
        lines: list[Row] = []
        for (kernel, method), values in whole.items():
            low, high = interval_of(drawn[kernel, method])
            accuracy = 100 * float(np.mean([one.mean() for one in values]))
            line: Row = {"settings": name, "method": method, "kernel": kernel, "accuracy": accuracy}
            line |= {
                "low": 100 * low,
                "high": 100 * high,
                "against": None,
                "difference": None,
                "p_value": None,
            }
            if against is not None and (kernel, method) != against:
                apart = drawn[kernel, method] - drawn[against]
                line["against"], line["p_value"] = f"{against[1]} {against[0]}", differs(apart)
                line["difference"] = [
                    100 * float(value) for value in (np.mean(apart), *interval_of(apart))
                ]
            lines.append(line)
        tested = [line for line in lines if line["p_value"] is not None]
        for line, p_value in zip(
            tested, correct_by_holm([line["p_value"] for line in tested]), strict=True
        ):
            line["p_value"] = p_value
        result += lines
    return result


def plot_outcomes(outcomes: Outcomes, documents: Documents) -> list[PlotLine]:
    """Return the lines of the picture: a method and kernel each, the mean over all settings."""
    right = find_right(outcomes, documents)
    settings = list(dict.fromkeys(setting for setting, _, _ in right))
    columns = list(dict.fromkeys((kernel, method) for _, kernel, method in right))
    reference = next(
        (one for one in (("presence", "tkc"), ("presence", "plain")) if one in columns), columns[0]
    )
    clusters = Clustered(
        [np.arange(documents.size)] * len(settings), [one.target for one in settings]
    )
    answers = {column: [right[setting, *column] for setting in settings] for column in columns}
    lines = []
    for (kernel, method), mean in compare_means(answers, clusters, reference).items():
        title = METHODS[method].title + (f" {SYMBOLS[kernel]}" if kernel is not None else "")
        cases = [float(one.mean()) for one in answers[kernel, method]]
        is_reference = (kernel, method) == reference
        lines.append(
            PlotLine(title, cases, mean["accuracy"], mean["low"], mean["high"], is_reference)
        )
    return lines


SYMBOLS = {"presence": "0/1", "intersection": "∩", "spectrum": "spectrum"}
BOLD, BOLD_END = "[bold]", "[/bold]"  # as a terminal takes them


class Table(NamedTuple):
    """A title, the names of columns, and for each line its name and cells."""

    title: str
    columns: list[str]
    lines: list[list[str]]


def show_cell(
    published: float | None, ours: float | None = None, *, is_best: bool = False, more: str = ""
) -> str:
    """Show a figure of a table: published, ours, and the difference; ``more`` follows ours."""
    if ours is None:
        return "-" if published is None else f"{published:.1f} /  -"
    shown = f"{BOLD}{ours:.1f}{BOLD_END}{more}" if is_best else f"{ours:.1f}{more}"
    return (
        f"- / {shown}"
        if published is None
        else f"{published:.1f} / {shown} ({ours - published:+.1f})"
    )


def make_tables(rows: list[Row], means: Sequence[Row], fields: str) -> list[Table]:
    """Make the tables: multi-source, single-source in two halves as in the paper, and the means, with intervals."""
    halves = (("multi", MULTI), ("single", SINGLE[:6]), ("single", SINGLE[6:]))
    tables = [_make_table(rows, kind, settings, fields) for kind, settings in halves]
    return [table for table in [*tables, _make_mean_table(rows, means, fields)] if table.columns]


def _make_table(rows: list[Row], kind: str, settings: list[Setting], fields: str) -> Table:
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
    return Table(f"{title}, {fields}: accuracy in %, published / ours (difference)", names, lines)


def _make_mean_table(rows: list[Row], means: Sequence[Row], fields: str) -> Table:
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
    return Table(f"Means, {fields}: published / ours [95 % interval] (difference)", groups, lines)


def _is_unadapted(row: Row) -> bool:
    """Return True if the row is of a method that would adapt, run without adaptation."""
    return row.get("source_only", False) and METHODS[row["method"]].adapts


def _label(rows: list[Row], method: str, kernel: str | None) -> str:
    """Name a row, with a mark where published figures were obtained in another way."""
    if any(row["method"] == method and _is_unadapted(row) for row in rows):
        return f"{METHODS[method].title}, source only"
    if kernel is not None:
        return f"{METHODS[method].title} {SYMBOLS[kernel]}"
    return METHODS[method].title + (MARK if METHODS[method].difference else "")


def differences(rows: list[Row]) -> list[str]:
    """Return the meaning of the mark, for each method that has one."""
    names = dict.fromkeys(row["method"] for row in rows if not _is_unadapted(row))
    marked = [METHODS[name] for name in names if METHODS[name].difference]
    return [f"{MARK} {one.title}: published with {one.difference}." for one in marked]


MARK = "†"
NOTE = (
    "*: better than the better plain kernel of this run (best: than tkc 0/1, if it ran), McNemar's test at 0.01. "
    "Bold: our best in the column."
)


def to_markdown(tables: list[Table], notes: Sequence[str] = ()) -> str:
    """Write all tables, and the notes below them."""
    lines = []
    for title, columns, several in tables:
        lines += [
            f"### {title}",
            "",
            f"| | {' | '.join(columns)} |",
            "|---" * (len(columns) + 1) + "|",
        ]
        lines += [f"| {' | '.join(line)} |" for line in several] + [""]
    page = "\n".join([*lines, NOTE, *(f"\n{note}" for note in notes), ""])
    return page.replace("*", "\\*").replace(BOLD, "**").replace(BOLD_END, "**")


def write_results(
    output: Path, result: dict[str, Any], outcomes: Outcomes, documents: Documents, fields: str
) -> None:
    """Write all files, together or not at all; results.csv has no seconds, so that the same run gives the same bytes."""
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
            zip(documents.truth(setting.target).tolist(), one.scores.tolist(), strict=True)
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
