"""Tables for people: first column to the left, figures to the right."""

from collections.abc import Sequence
from typing import Any


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Aligned columns under a line of names."""
    cells = [[title, *columns], *([cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *rest in cells:
        figures = (text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *figures]).rstrip())
    return "\n".join(lines)


def cell(value: Any) -> str:
    """Three figures that count; nothing for what was not measured."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}" if abs(value) >= 0.001 else f"{value:.1e}"
