"""Tables and plots of results: on the terminal, and into a folder."""

import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gramshift.evaluate.comparison_files import PlotLine, write_plot
from gramshift.terminal import Say, is_terminal, visible

FILE_WIDTH = 160  # columns, where standard output is no terminal


def draw(lines: list[PlotLine], output: Path, say: Say) -> list[str]:
    """Draw the plot if matplotlib is installed, and return the names of its files."""
    try:
        return [write_plot(lines, output)]
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        say("no plot: it needs matplotlib, pip install 'gramshift[plot]'")
        return []


def show_table(
    heading: list[str],
    lines: list[list[str]],
    *,
    title: str | None = None,
    bold: int | None = None,
    markup: bool = False,
) -> None:
    """Print a table; the line ``bold`` stands out, and cells may have ``markup``."""
    table = Table(title=title, title_justify="left")
    for place, name in enumerate(heading):
        is_figure = place > 0
        table.add_column(
            Text(visible(name)), justify="right" if is_figure else "left", no_wrap=is_figure
        )
    for place, line in enumerate(lines):
        cells = (Text.from_markup(cell) if markup else Text(cell) for cell in line)
        table.add_row(*cells, style="bold" if place == bold else "")
    _console().print(table)


def show_notes(notes: Iterable[str]) -> None:
    """Print the notes below a table."""
    for note in notes:
        _console().print(visible(note), highlight=False, markup=False)


def _console() -> Console:
    """Return a console as wide as the terminal, or wide enough for tables."""
    return Console(width=None if is_terminal(sys.stdout) else FILE_WIDTH)
