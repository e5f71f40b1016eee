"""Tables of documents: rows in parts, from whatever holds them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gramshift.data.opening import TableError

LARGE = 1 << 24  # characters after which a part ends, however few rows it has
Place = int | str
Row = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """Some rows of a table, one after another, and the line or file of each."""

    rows: list[Row]
    places: list[Place]
    native: Any = None
    """The same as the format has it, for those that do not come row by row."""


@dataclass(frozen=True)
class Style:
    """How a table was written, for one that is to look like it."""

    format: str
    encoding: str = "utf-8"
    delimiter: str = ","
    line_end: str = "\n"
    schema: Any = None
    kept: list[str] | None = None
    """The columns that are written again; all if None."""


@dataclass(frozen=True)
class Table:
    """An input that is open: its columns are known, its rows come in parts, once."""

    name: str
    columns: list[str]
    style: Style
    parts: Callable[[int], Iterator[Part]] = field(repr=False)
    """parts(n): in order, n rows at most in each."""
    position: Callable[[], tuple[int, int]] = field(repr=False)
    """Bytes read so far, bytes in all; 0 if not known."""
    unit: str = "line"

    def at(self, place: Place) -> str:
        """In words, to begin an error with."""
        return f"{self.name}, {self.unit} {place}"


def in_parts(rows: Iterable[tuple[Place, Row]], size: int) -> Iterator[Part]:
    """Parts of ``size`` rows, fewer where texts are very long."""
    found: list[Row] = []
    places: list[Place] = []
    n_characters = 0
    for place, row in rows:
        found.append(row)
        places.append(place)
        n_characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(found) >= size or n_characters >= LARGE:
            yield Part(found, places)
            found, places, n_characters = [], [], 0
    if found:
        yield Part(found, places)


def check_columns(name: str, columns: list[str]) -> None:
    """Each name once."""
    for place, column in enumerate(columns):
        if column in columns[:place]:
            first = columns.index(column) + 1
            raise TableError(f"{name}: columns {first} and {place + 1} are both called {column!r}; rename one of them")
