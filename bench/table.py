"""Tables for people: first column to the left, figures to the right."""

from collections.abc import Sequence
from typing import Any

Goal = dict[str, Any]


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


def machine_lines(result: dict[str, Any]) -> str:
    """Machine and versions."""
    machine = result["machine"]
    used = f"{machine['cores_used']} cores used, {machine['memory_gb']:.1f} GB, load before {machine['load_before']:.1f}"
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items()) + f" (source {result['source']})"
    return f"machine   {machine['cpu']}, {used}\nversions  {versions}"


def at_least(value: float, goal: float, words: str) -> Goal:
    return {"value": value, "goal": f"at least {cell(goal)}", "reached": bool(value >= goal), "words": words}


def at_most(value: float, goal: float, words: str) -> Goal:
    return {"value": value, "goal": f"at most {cell(goal)}", "reached": bool(value <= goal), "words": words}
