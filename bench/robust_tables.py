"""What the benchmark robust found, in tables that can be put into a Markdown page."""

from collections.abc import Sequence
from typing import Any

from bench.kernel_tables import machine_lines
from bench.robust_answers import BEST, NAMES, OWN_LABELS
from bench.robust_goals import FIRST_ROUND, WITHIN, Row, accuracy, is_below

MARKS = {"plain": "p", "rival": "r", FIRST_ROUND: "f"}


def show(result: dict[str, Any]) -> str:
    """Families, every cell, goals."""
    summary = result["summary"]
    failed = [f"failed   {name}: {words}" for name, words in result["failed"].items()]
    parts = [machine_lines(result)]
    if result["reused"]:
        words = f"{result['reused']} times the answers of others than best were kept from an earlier run"
        parts.append(f"{words}, {result['reused_older']} times from another state of the source")
    if summary is not None:
        parts += [show_families(summary), show_cells(result["rows"]), show_all(summary)]
    return "\n\n".join([*parts, "\n".join([*map(tell, result["goals"]), *failed])]).rstrip()


def show_families(summary: Row) -> str:
    """Mean accuracies, and what the confidence of best is worth."""
    columns = ("cells", *NAMES, OWN_LABELS, "best - rival", "ECE", "AUC")
    lines = []
    for name, family in summary["families"].items():
        means = [points(family["means"][one]) for one in NAMES]
        judged = (f"{family['above_rival']:+.1f}", part(family["ece"][BEST]), part(family["auc"][BEST]))
        lines.append([name, str(family["cells"]), *means, points(family[OWN_LABELS]), *judged])
    return markdown("family", columns, lines)


def show_cells(rows: Sequence[Row]) -> str:
    """Accuracies of every cell; letters mark where best is significantly below plain, its first round, the stronger rival."""
    columns = ("answers", *NAMES, FIRST_ROUND, OWN_LABELS, "below", "expected", "confidence", "ECE", "AUC", "seconds")
    lines = []
    for row in rows:
        best = row["methods"][BEST]
        below = "".join(mark for other, mark in MARKS.items() if is_below(row, other))
        figures = [points(accuracy(row, name)) for name in NAMES]
        sure = [show_expected(row["expected"]), points(best["confidence"]), part(best["ece"]), part(best["auc"])]
        others = [points(row[FIRST_ROUND]), points(row[OWN_LABELS]), below or "-"]
        lines.append([row["cell"], str(row["documents"]), *figures, *others, *sure, f"{best['seconds']:.1f}"])
    marks = ", ".join(f"{mark}: {other}" for other, mark in MARKS.items())
    return f"{markdown('cell', columns, lines)}\n\nsignificantly below (0.01) {marks}"


def show_all(summary: Row) -> str:
    """Shares of all cells."""
    lines = [f"significantly below {other}: {one['percent']:.1f} % of the cells" for other, one in summary["below"].items()]
    expected = summary["expected"]
    if expected["cells"]:
        words = f"{expected['within_percent']:.1f} % of the cells, {expected['cells']} of {summary['cells']} have one"
        lines.append(f"expected accuracy within {WITHIN} points: {words}")
    return "\n".join(lines)


def tell(goal: Row) -> str:
    """One goal and whether it was reached."""
    value = "-" if goal["value"] is None else f"{goal['value']:.3g}"
    return f"{'reached' if goal['reached'] else 'missed '}  {value} {goal['words']} ({goal['goal']})"


def show_expected(expected: Row | None) -> str:
    """An accuracy and its interval."""
    return "-" if expected is None else "{value:.1f} ({low:.0f}-{high:.0f})".format(**expected)


def points(value: float | None) -> str:
    """A percentage."""
    return "-" if value is None else f"{value:.1f}"


def part(value: float | None) -> str:
    """A part of one."""
    return "-" if value is None else f"{value:.3f}"


def markdown(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns between bars, figures to the right."""
    cells = [[title, *columns], *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *rest in cells:
        figures = (text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))
        lines.append(" | ".join([f"| {first.ljust(widths[0])}", *figures]) + " |")
    ruler = "|".join(["", "-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:]), ""])
    return "\n".join([lines[0], ruler, *lines[1:]])
