"""What the benchmark robust found, in tables that can be put into a Markdown page."""

from collections.abc import Sequence
from typing import Any

from bench.kernel_tables import machine_lines
from bench.robust_answers import BEST, NAMES, OWN_LABELS, UNADAPTED
from bench.robust_goals import PRIORS, Row, accuracy, is_below
from bench.robust_trials import CHANGES, N_LABELS

MARKS = {"plain": "p", "rival": "r", UNADAPTED: "u"}
PRIOR_COLUMNS = [f"{name} prior" for name in PRIORS]


def show(result: dict[str, Any]) -> str:
    """Show families, every cell, the parts beside the matrix and goals."""
    summary = result["summary"]
    failed = [f"failed   {name}: {words}" for name, words in result["failed"].items()]
    parts = [machine_lines(result)]
    if result["reused"]:
        words = f"{result['reused']} times the answers of others than best were kept from an earlier run"
        parts.append(f"{words}, {result['reused_older']} times from another state of the source")
    if summary is not None:
        parts += [show_families(summary), show_cells(result["rows"]), show_all(summary)]
    parts += [table(result[name]) for name, table in (("labels", show_labels), ("shuffled", show_shuffled)) if name in result]
    return "\n\n".join([*parts, "\n".join([*map(tell, result["goals"]), *failed])]).rstrip()


def show_families(summary: Row) -> str:
    """Show mean accuracies, what other proportions give beside best, and what its confidence and interval are worth."""
    columns = ("cells", *NAMES, OWN_LABELS, "best - rival", *PRIOR_COLUMNS, "ECE", "AUC", "covered %", "draws", "too high")
    lines = []
    for name, family in summary["families"].items():
        means = [points(family["means"][one]) for one in NAMES]
        gains = [signed(family["above_rival"]), *(signed(family["priors"][one]) for one in PRIORS)]
        interval = family["interval"]
        held = [points(interval["covered_percent"]), str(interval["draws"]), signed(interval["too_high"])]
        sure = [part(family["ece"][BEST]), part(family["auc"][BEST]), *held]
        lines.append([name, str(family["cells"]), *means, points(family[OWN_LABELS]), *gains, *sure])
    return markdown("family", columns, lines)


def show_cells(rows: Sequence[Row]) -> str:
    """Show accuracies of every cell; letters mark where best is significantly below plain, unadapted, the stronger rival."""
    others = (UNADAPTED, OWN_LABELS, "below", *PRIOR_COLUMNS)
    columns = ("answers", *NAMES, *others, "expected", "confidence", "ECE", "AUC", "seconds")
    lines = []
    for row in rows:
        best = row["methods"][BEST]
        below = "".join(mark for other, mark in MARKS.items() if is_below(row, other))
        figures = [points(accuracy(row, name)) for name in NAMES]
        sure = [show_expected(row["expected"]), points(best["confidence"]), part(best["ece"]), part(best["auc"])]
        gains = [signed(row["priors"].get(one)) for one in PRIORS]
        beside = [points(row[UNADAPTED]), points(row[OWN_LABELS]), below or "-", *gains]
        lines.append([row["cell"], str(row["documents"]), *figures, *beside, *sure, f"{best['seconds']:.1f}"])
    marks = ", ".join(f"{mark}: {other}" for other, mark in MARKS.items())
    words = "source and true prior: points that best gains with these class proportions, first draw"
    return f"{markdown('cell', columns, lines)}\n\nsignificantly below (0.01) {marks}; {words}"


def show_all(summary: Row) -> str:
    """Show in how many cells best is significantly below others."""
    lines = [
        f"significantly below {other}: {one['percent']:.1f} % of the cells, by {one['largest']:.1f} points at most"
        for other, one in summary["below"].items()
    ]
    return "\n".join(lines)


def show_labels(rows: Sequence[Row]) -> str:
    """Show the accuracy of documents that were not labelled, by the number of random labels."""
    columns = (*map(str, N_LABELS), "true proportions")
    lines = [[row["cell"], *(points(row["accuracy"].get(str(n))) for n in N_LABELS), points(row["true"])] for row in rows]
    return markdown("accuracy with random labels", columns, lines)


def show_shuffled(rows: Sequence[Row]) -> str:
    """Show how many labels change where none should, or few."""
    lines = [[row["cell"], str(row["documents"]), *(points(row["changed"][name]) for name in CHANGES)] for row in rows]
    return markdown("labels that change", ("documents", *CHANGES), lines)


def tell(goal: Row) -> str:
    """Tell one goal and whether it was reached."""
    value = "-" if goal["value"] is None else f"{goal['value']:.3g}"
    return f"{'reached' if goal['reached'] else 'missed '}  {value} {goal['words']} ({goal['goal']})"


def show_expected(expected: Row | None) -> str:
    """Format an accuracy and its interval."""
    return "-" if expected is None else "{value:.1f} ({low:.0f}-{high:.0f})".format(**expected)


def signed(value: float | None) -> str:
    """Format a difference in points."""
    return "-" if value is None else f"{value:+.1f}"


def points(value: float | None) -> str:
    """Format a percentage."""
    return "-" if value is None else f"{value:.1f}"


def part(value: float | None) -> str:
    """Format a part of one."""
    return "-" if value is None else f"{value:.3f}"


def markdown(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns between bars, figures to the right."""
    cells = [[title, *columns], *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *rest in cells:
        figures = (text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))
        lines.append(" | ".join([f"| {first.ljust(widths[0])}", *figures]) + " |")
    ruler = "|".join(["", "-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:]), ""])
    return "\n".join([lines[0], ruler, *lines[1:]])
