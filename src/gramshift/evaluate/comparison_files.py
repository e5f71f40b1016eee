"""Write a comparison into files: tables, figures, all answers and a plot."""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gramshift.evaluate.comparison_run import Comparison, Row
from gramshift.evaluate.scoring import N_DRAWS, SIGNIFICANCE_LEVEL
from gramshift.files import Replacing, replaced_file
from gramshift.memory import size_in_words
from gramshift.methods import METHODS
from gramshift.model.saving import library_versions
from gramshift.tables.writing import csv_text
from gramshift.terminal import count_in_words

NUMBERS = ("accuracy", "macro_f1", "ece", "brier", "p_value", "p_holm", "seconds", "memory")
RESULTS = "comparison.json"
FILES = ("comparison.md", "comparison.csv", RESULTS, "answers.csv.gz")
SOURCE_ONLY_NOTE = (
    "Source only: each method's own classifier without adaptation, trained on the source alone."
)
COLUMNS = ("source", "target", "repeat", "method", "n", *NUMBERS)


def write_comparison(found: Comparison, folder: Path) -> list[str]:
    """Write all files into a folder, all or none, and return their names."""
    figures = json.dumps(to_json(found), indent=1) + "\n"
    contents = [to_markdown(found), to_csv(found), figures, answers_to_csv(found)]
    return write_files(folder, dict(zip(FILES, contents, strict=True)))


def write_files(folder: Path, contents: dict[str, str]) -> list[str]:
    """Write texts into files of a folder, all or none, and return the names of the files.

    Files whose name ends in .gz are compressed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with Replacing() as files:
        for name, text in contents.items():
            data = text.encode("utf-8", "backslashreplace")
            if name.endswith(".gz"):
                data = gzip.compress(data, compresslevel=1, mtime=0)
            with files.open(folder / name, follow=False) as file:
                file.write(data)
    return list(contents)


def to_json(found: Comparison) -> dict[str, Any]:
    """Return all figures, with what they depend on."""
    return {
        "classes": [str(name) for name in found.data.classes],
        "reference": found.reference,
        "documents": found.plan.fingerprint,
        "repeats": found.plan.repeats,
        "random_state": found.plan.seed,
        "source_only": found.plan.source_only,
        "reused": found.n_reused,
        "versions": library_versions(),
        "bootstrap_draws": N_DRAWS,
        "summary": found.summary,
        "rows": found.rows,
    }


def to_csv(found: Comparison) -> str:
    """Return a line for each setting, repeat and method, with figures of each class."""
    of_classes = [
        (name, what) for name in map(str, found.data.classes) for what in ("precision", "recall")
    ]
    heading = [*COLUMNS, *(f"{what} {name}" for name, what in of_classes)]
    lines = []
    for row in found.rows:
        cells = [row[column] for column in COLUMNS]
        lines.append(cells + [row["classes"][name][what] for name, what in of_classes])
    return csv_text([heading, *lines])


def answers_to_csv(found: Comparison) -> str:
    """Return a line for each target document, case and method, so that anyone can score again.

    Documents are identified by their position in the domain.
    """
    heading = ["source", "target", "repeat", "method", "document", "true", "found", "confidence"]
    return csv_text([heading, *_answer_lines(found)])


def _answer_lines(found: Comparison) -> Iterator[list[Any]]:
    names = found.data.classes
    for case, several in zip(found.cases, found.answers, strict=True):
        truth = found.data.truth(case).tolist()
        ends = (" + ".join(case.source), case.target)
        for one in several:
            begin = [*ends, case.repeat, one.method]
            confidences = one.probabilities.max(axis=1).tolist()
            rows = zip(
                case.target_rows.tolist(), truth, one.codes.tolist(), confidences, strict=True
            )
            for row, code, label, confidence in rows:
                yield [*begin, row, names[code], names[label], f"{confidence:.4f}"]


def table_of(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return the summary as a heading and lines of cells, for the terminal and for Markdown."""
    lines = [_cells_by_column(line, found.reference) for line in found.summary]
    return list(lines[0]), [list(cells.values()) for cells in lines]


def _cells_by_column(line: Row, reference: str) -> dict[str, str]:
    cells = {
        "method": METHODS[line["method"]].title,
        "accuracy": f"{100 * line['accuracy']:.1f}",
        "95 % interval": f"{100 * line['low']:.1f} to {100 * line['high']:.1f}",
    }
    if line["spread"] is not None:  # all methods run on the same halves
        cells["spread"] = f"{100 * line['spread']:.1f}"
    return cells | {
        "macro F1": f"{100 * line['macro_f1']:.1f}",
        "ECE": f"{line['ece']:.3f}",
        "Brier": f"{line['brier']:.3f}",
        "seconds": f"{line['seconds']:.1f}",
        "memory": "-" if line["memory"] is None else size_in_words(line["memory"]),
        f"minus {reference}": _difference(line),
    }


def _difference(line: Row) -> str:
    if line["difference"] is None:
        return ""
    star = "*" if line["p_holm"] < SIGNIFICANCE_LEVEL else ""
    low, high = 100 * line["difference_low"], 100 * line["difference_high"]
    return f"{100 * line['difference']:+.1f}{star} ({low:+.1f} to {high:+.1f})"


def notes_of(found: Comparison) -> list[str]:
    """Return explanations of the columns."""
    n_settings = len({case.pair for case in found.cases})
    repeats = found.plan.repeats
    halves = f"{repeats} random halves of source and target" if repeats else ""
    settings = f"{n_settings} settings" if n_settings > 1 else ""
    notes = []
    if halves or settings:
        notes.append(f"Means over {' of '.join(filter(None, [halves, settings]))}")
        if repeats > 1:
            notes[-1] += "; spread is the standard deviation between halves"
    if len(found.cases) == 1:
        notes.append("Intervals by Wilson's formula")
    else:
        notes.append(f"Intervals by {N_DRAWS} bootstrap draws of target documents")
        if n_settings > 1:
            notes[-1] += ", the same documents in all settings that share a target"
    if found.n_reused:
        n = count_in_words(found.n_reused, "result")
        notes.append(f"{n}, with seconds and memory, taken from an earlier run")
    return [
        *([SOURCE_ONLY_NOTE] if found.plan.source_only else []),
        ". ".join(notes) + ".",
        f"*: differs from {found.reference}, at {SIGNIFICANCE_LEVEL} after Holm's correction for "
        "all methods of the table. ECE, Brier: how far confidence is from the truth, 0 at best. "
        "Memory: beyond the memory that the process used before.",
    ]


def to_markdown(found: Comparison) -> str:
    """Return the summary, a table of the classes and, for several settings, a table of these."""
    lines = [*markdown_lines(*table_of(found)), ""]
    lines += [f"{note}\n".replace("*", "\\*") for note in notes_of(found)]
    lines += ["## Classes", "", *markdown_lines(*classes_of(found)), ""]
    if len({case.pair for case in found.cases}) > 1:
        lines += ["## Settings", "", *markdown_lines(*settings_of(found)), ""]
    return "\n".join(lines)


def classes_of(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return precision and recall of each class, averaged over all cases that have the class."""
    names = [str(name) for name in found.data.classes]
    lines = []
    for method in found.methods:
        mine = [row["classes"] for row in found.rows_of(method)]
        cells = []
        for name in names:
            both = [_mean_of([one[name][what] for one in mine]) for what in ("precision", "recall")]
            cells.append(" / ".join(both))
        lines.append([METHODS[method].title, *cells])
    return ["precision / recall", *names], lines


def settings_of(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return the accuracy in each setting, averaged over its repeats.

    A star marks a significant difference from the reference (McNemar's test, adjusted).
    """
    rows = iter(found.rows)
    by_pair: dict[Any, dict[str, list[Row]]] = {}
    for case in found.cases:
        for method in found.methods:
            by_pair.setdefault(case.pair, {}).setdefault(method, []).append(next(rows))
    lines = []
    for by_method in by_pair.values():
        cells = []
        for mine in by_method.values():
            p_value = mine[0]["p_holm"] if len(mine) == 1 else None
            star = "*" if p_value is not None and p_value < SIGNIFICANCE_LEVEL else ""
            cells.append(f"{100 * sum(row['accuracy'] for row in mine) / len(mine):.1f}{star}")
        lines.append([by_method[found.methods[0]][0]["setting"], *cells])
    return ["setting", *(METHODS[name].title for name in found.methods)], lines


def _mean_of(values: Sequence[float | None]) -> str:
    """Return the mean of the known values in percent, as text."""
    known = [value for value in values if value is not None]
    return f"{100 * (sum(known) / len(known)):.1f}" if known else "-"


def markdown_lines(heading: list[str], lines: list[list[str]]) -> list[str]:
    """Return a table as lines of Markdown."""

    def cells(line: list[str]) -> str:
        escaped = [cell.replace("|", "\\|").replace("*", "\\*") for cell in line]
        return f"| {' | '.join(' '.join(cell.split()) for cell in escaped)} |"

    return [cells(heading), "|---" + "|---:" * (len(heading) - 1) + "|", *map(cells, lines)]


PLOT = "comparison.png"
CASE_COLOUR = "#b8bdc7"
MEAN_COLOUR = "#2b6cb0"
REFERENCE_COLOUR = "#b2182b"


class PlotLine(NamedTuple):
    """A line of the plot: a method, its accuracy in each case, and their mean with an interval."""

    title: str
    cases: list[float]
    accuracy: float
    low: float
    high: float
    is_reference: bool


def plot_lines(found: Comparison) -> list[PlotLine]:
    """Return the lines of the plot of a comparison."""
    lines = []
    for line in found.summary:
        method = line["method"]
        cases = [row["accuracy"] for row in found.rows_of(method)]
        figures = (line["accuracy"], line["low"], line["high"])
        is_reference = method == found.reference
        lines.append(PlotLine(METHODS[method].title, cases, *figures, is_reference))
    return lines


def write_plot(lines: list[PlotLine], folder: Path) -> str:
    """Plot the lines, best on top, into a file of a folder, and return its name."""
    from matplotlib.figure import Figure  # an extra

    figure = Figure(figsize=(8, 1.4 + 0.42 * len(lines)), layout="constrained")
    axes = figure.subplots()
    lines = sorted(lines, key=lambda line: line.accuracy)
    for place, line in enumerate(lines):
        colour = REFERENCE_COLOUR if line.is_reference else MEAN_COLOUR
        if len(line.cases) > 1:
            cases = [100 * one for one in line.cases]
            axes.plot(cases, [place] * len(cases), "o", ms=4, color=CASE_COLOUR, zorder=1)
        mean, low, high = 100 * line.accuracy, 100 * line.low, 100 * line.high
        axes.plot([low, high], [place, place], "-", lw=2.5, color=colour, zorder=2)
        axes.plot(mean, place, "o", ms=8, color=colour, zorder=3)
        above: Any = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center"}
        axes.annotate(f"{mean:.1f}", (mean, place), fontsize=8, **above)
    axes.set_yticks(range(len(lines)), [line.title for line in lines])
    axes.set_ylim(-0.6, len(lines) - 0.3)
    dots = "; grey: single runs" if any(len(line.cases) > 1 for line in lines) else ""
    axes.set_xlabel(f"accuracy (%): mean with 95 % interval{dots}")
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    with replaced_file(folder / PLOT, follow=False) as file:
        figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return PLOT
