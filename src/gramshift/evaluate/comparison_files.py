"""A comparison as files: a table to read, rows to count with, every answer, and a picture."""

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gramshift.evaluate.comparison import Comparison, Row
from gramshift.evaluate.scoring import LEVEL
from gramshift.methods import METHODS
from gramshift.model.saving import library_versions
from gramshift.runtime.memory import human
from gramshift.runtime.replacing import Replacing, replaced_file

FIGURES = ("accuracy", "macro_f1", "ece", "brier", "p_value", "p_holm", "seconds", "memory")
SOURCE_ONLY = (
    "Source only: each method's own classifier without adaptation, trained on the source alone."
)
COLUMNS = ("source", "target", "repeat", "method", "n", *FIGURES)


def write_comparison(found: Comparison, folder: Path) -> list[str]:
    """Write all files into a folder, together or not at all, and return their names."""
    contents = {
        "comparison.md": to_markdown(found),
        "comparison.csv": to_csv(found),
        "comparison.json": json.dumps(to_json(found), indent=1) + "\n",
        "answers.csv.gz": answers_to_csv(found),
    }
    return write_files(folder, contents)


def write_files(folder: Path, contents: dict[str, str]) -> list[str]:
    """Write texts into files of a folder, together or not at all, and return their names; those in .gz are compressed."""
    folder.mkdir(parents=True, exist_ok=True)
    with Replacing() as files:
        for name, text in contents.items():
            data = text.encode("utf-8", "backslashreplace")
            with files.open(folder / name, follow=False) as file:
                file.write(
                    gzip.compress(data, compresslevel=1, mtime=0) if name.endswith(".gz") else data
                )
    return list(contents)


def csv_text(heading: Iterable[Any], lines: Iterable[Iterable[Any]]) -> str:
    """Write a heading and lines as comma-separated values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(lines)
    return out.getvalue()


def to_json(found: Comparison) -> dict[str, Any]:
    """All figures, and how they were obtained."""
    return {
        "classes": [str(name) for name in found.corpus.classes],
        "reference": found.reference,
        "documents": found.plan.fingerprint,
        "repeats": found.plan.repeats,
        "random_state": found.plan.seed,
        "source_only": found.plan.source_only,
        "reused": found.n_reused,
        "versions": library_versions(),
        "bootstrap_draws": found.draws,
        "summary": found.summary,
        "rows": found.rows,
    }


def to_csv(found: Comparison) -> str:
    """A line per setting, repeat and method; precision and recall of each class in columns of their own."""
    of_classes = [
        (name, what) for name in map(str, found.corpus.classes) for what in ("precision", "recall")
    ]
    heading = [*COLUMNS, *(f"{what} {name}" for name, what in of_classes)]
    return csv_text(
        heading,
        (
            [
                *(row[column] for column in COLUMNS),
                *(row["classes"][name][what] for name, what in of_classes),
            ]
            for row in found.rows
        ),
    )


def answers_to_csv(found: Comparison) -> str:
    """A line per target document, case and method, so that anyone can count again; documents by their place in the domain."""
    heading = ["source", "target", "repeat", "method", "document", "true", "found", "confidence"]
    return csv_text(heading, _answer_lines(found))


def _answer_lines(found: Comparison) -> Iterator[list[Any]]:
    names = found.corpus.classes
    for case, several in zip(found.cases, found.answers, strict=True):
        truth, ends = found.corpus.truth(case).tolist(), (" + ".join(case.source), case.target)
        for one in several:
            sure = one.probabilities.max(axis=1).tolist()
            for row, code, label, confidence in zip(
                case.target_rows.tolist(), truth, one.codes.tolist(), sure, strict=True
            ):
                yield [
                    *ends,
                    case.repeat,
                    one.method,
                    row,
                    names[code],
                    names[label],
                    f"{confidence:.4f}",
                ]


def table_of(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """The summary as a heading and lines of words, for the terminal and for Markdown."""
    heading = [
        "method",
        "accuracy",
        "95 % interval",
        "macro F1",
        "ECE",
        "Brier",
        "seconds",
        "memory",
    ]
    heading.append(f"minus {found.reference}")
    if any(line["spread"] is not None for line in found.summary):
        heading.insert(3, "spread")
    return heading, [_line(found, line) for line in found.summary]


def _line(found: Comparison, line: Row) -> list[str]:
    shown = [
        METHODS[line["method"]].title,
        f"{100 * line['accuracy']:.1f}",
        f"{100 * line['low']:.1f} to {100 * line['high']:.1f}",
        f"{100 * line['macro_f1']:.1f}",
        f"{line['ece']:.3f}",
        f"{line['brier']:.3f}",
        f"{line['seconds']:.1f}",
        "-" if line["memory"] is None else human(line["memory"]),
        _difference(line),
    ]
    if any(one["spread"] is not None for one in found.summary):
        shown.insert(3, f"{100 * line['spread']:.1f}")
    return shown


def _difference(line: Row) -> str:
    if line["difference"] is None:
        return ""
    star = "*" if line["p_holm"] < LEVEL else ""
    low, high = 100 * line["difference_low"], 100 * line["difference_high"]
    return f"{100 * line['difference']:+.1f}{star} ({low:+.1f} to {high:+.1f})"


def notes_of(found: Comparison) -> list[str]:
    """What the columns mean."""
    settings, repeats = len({case.pair for case in found.cases}), found.plan.repeats
    halves = f"{repeats} random halves of source and target" if repeats else ""
    of = " of ".join(filter(None, [halves, f"{settings} settings" if settings > 1 else ""]))
    means = (
        f"Means over {of}{'; spread is the standard deviation between halves' if repeats > 1 else ''}. "
        if of
        else ""
    )
    shared = ", the same documents in all settings that share a target" if settings > 1 else ""
    drawn = f"Intervals by {found.draws} bootstrap draws of target documents"
    if len(found.cases) == 1:
        drawn = "Intervals by Wilson's formula"
    reused = (
        f" {found.n_reused} results, with their seconds and memory, are of an earlier run."
        if found.n_reused
        else ""
    )
    alone = [SOURCE_ONLY] if found.plan.source_only else []
    return [
        *alone,
        f"{means}{drawn}{shared}.{reused}",
        f"*: differs from {found.reference}, at {LEVEL} after Holm's correction for all methods of the table. "
        "ECE, Brier: how far confidence is from the truth, 0 at best. Memory: beyond what the process had before.",
    ]


def to_markdown(found: Comparison) -> str:
    """The summary, precision and recall of the classes, and where there are several settings a table of these."""
    lines = (
        markdown_lines(*table_of(found))
        + [""]
        + [f"{note}\n".replace("*", "\\*") for note in notes_of(found)]
    )
    lines += ["## Classes", "", *markdown_lines(*classes_of(found)), ""]
    if len({case.pair for case in found.cases}) > 1:
        lines += ["## Settings", "", *markdown_lines(*settings_of(found)), ""]
    return "\n".join(lines)


def classes_of(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Precision and recall of each class, the mean over all cases that have it."""
    names = [str(name) for name in found.corpus.classes]
    lines = []
    for method in found.methods:
        mine = [row["classes"] for row in found.rows if row["method"] == method]
        cells = []
        for name in names:
            both = [_mean_of([one[name][what] for one in mine]) for what in ("precision", "recall")]
            cells.append(
                " / ".join("-" if value is None else f"{100 * value:.1f}" for value in both)
            )
        lines.append([METHODS[method].title, *cells])
    return ["precision / recall", *names], lines


def settings_of(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """The accuracy in each setting, the mean over its repeats; a star where McNemar's test, corrected, tells a difference."""
    rows = iter(found.rows)
    by_pair: dict[Any, dict[str, list[Row]]] = {}
    for case in found.cases:
        for method in found.methods:
            by_pair.setdefault(case.pair, {}).setdefault(method, []).append(next(rows))
    lines = []
    for by_method in by_pair.values():
        cells = []
        for mine in by_method.values():
            star = (
                "*"
                if len(mine) == 1 and mine[0]["p_holm"] is not None and mine[0]["p_holm"] < LEVEL
                else ""
            )
            cells.append(f"{100 * sum(row['accuracy'] for row in mine) / len(mine):.1f}{star}")
        lines.append([by_method[found.methods[0]][0]["setting"], *cells])
    return ["setting", *(METHODS[name].title for name in found.methods)], lines


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def markdown_lines(heading: list[str], lines: list[list[str]]) -> list[str]:
    """A table as lines of Markdown."""

    def cells(line: list[str]) -> str:
        return (
            "| "
            + " | ".join(
                " ".join(cell.replace("|", "\\|").replace("*", "\\*").split()) for cell in line
            )
            + " |"
        )

    return [cells(heading), "|---" + "|---:" * (len(heading) - 1) + "|", *map(cells, lines)]


PICTURE = "comparison.png"
DOT, MEAN, REFERENCE = "#b8bdc7", "#2b6cb0", "#b2182b"


class PlotLine(NamedTuple):
    """A line of the picture: a method, its accuracy in each case, their mean with an interval, from 0 to 1."""

    title: str
    cases: list[float]
    accuracy: float
    low: float
    high: float
    is_reference: bool


def plot_lines(found: Comparison) -> list[PlotLine]:
    """Return the lines of the picture of a comparison."""
    lines = []
    for line in found.summary:
        method = line["method"]
        cases = [row["accuracy"] for row in found.rows if row["method"] == method]
        title = METHODS[method].title
        lines.append(
            PlotLine(
                title, cases, line["accuracy"], line["low"], line["high"], method == found.reference
            )
        )
    return lines


def write_plot(lines: list[PlotLine], folder: Path) -> str:
    """Plot the lines into a file of a folder, best on top, with a dot for each case; return the name of the file."""
    from matplotlib.figure import Figure  # an extra

    figure = Figure(figsize=(8, 1.4 + 0.42 * len(lines)), layout="constrained")
    axes = figure.subplots()
    lines = sorted(lines, key=lambda line: line.accuracy)
    for place, line in enumerate(lines):
        colour = REFERENCE if line.is_reference else MEAN
        if len(line.cases) > 1:
            axes.plot(
                [100 * one for one in line.cases],
                [place] * len(line.cases),
                "o",
                ms=4,
                color=DOT,
                zorder=1,
            )
        mean, low, high = 100 * line.accuracy, 100 * line.low, 100 * line.high
        axes.plot([low, high], [place, place], "-", lw=2.5, color=colour, zorder=2)
        axes.plot(mean, place, "o", ms=8, color=colour, zorder=3)
        axes.annotate(
            f"{mean:.1f}",
            (mean, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axes.set_yticks(range(len(lines)), [line.title for line in lines])
    axes.set_ylim(-0.6, len(lines) - 0.3)
    dots = "; grey: single runs" if any(len(line.cases) > 1 for line in lines) else ""
    axes.set_xlabel(f"accuracy (%): mean with 95 % interval{dots}")
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    with replaced_file(folder / PICTURE, follow=False) as file:
        figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return PICTURE
