"""Documents out of tables: texts, labels and ids, checked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any, Protocol

from gramshift.data.columns import Columns
from gramshift.data.opening import TableError
from gramshift.data.tables import Part, Place, Row, Table

Progress = Callable[[str, int, int], None]
SCALARS = (str, int, float, bool)


@dataclass(frozen=True)
class Documents:
    """All of one table. A label is None where the table has a gap; so is every label of one without such a column."""

    table: Table
    columns: Columns
    raw: list[Part]
    texts: list[str]
    labels: list[Any]
    ids: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_characters(self) -> int:
        return sum(map(len, self.texts))

    def parts(self) -> Iterator[list[str]]:
        """The texts."""
        yield self.texts

    def raw_parts(self) -> Iterator[Part]:
        """All columns, as they stood in the table."""
        return iter(self.raw)

    def column(self, name: str) -> list[Any]:
        """The cells of a column that holds labels, None for gaps."""
        return [label_in(self.table, name, row, place) for part in self.raw for row, place in _pairs(part)]


def read_documents(table: Table, columns: Columns, *, size: int = 4096, progress: Progress | None = None) -> Documents:
    """Everything at once; the ids are numbers from 1 on if there is no column for them."""
    parts: list[Part] = []
    texts: list[str] = []
    for part in table.parts(size):
        parts.append(part)
        texts += texts_in(table, columns, part)
        if progress is not None:
            progress("reading", *table.position())
    labels: list[Any] = []
    ids: list[str] = []
    for part in parts:
        labels += labels_in(table, columns, part)
        ids += ids_in(table, columns, part, first=len(ids) + 1)
    return Documents(table, columns, parts, texts, labels, ids)


class WithIds(Protocol):
    """Documents of a table that can be read again."""

    @property
    def table(self) -> Table: ...

    @property
    def ids(self) -> list[str]: ...

    def raw_parts(self) -> Iterator[Part]: ...


def check_ids(documents: WithIds) -> None:
    """Each id once."""
    seen: dict[str, int] = {}
    for number, one in enumerate(documents.ids):
        if one in seen:
            places = [place for part in documents.raw_parts() for place in part.places]
            table, first = documents.table, places[seen[one]]
            again = f"{table.unit} {first} and {table.unit} {places[number]}"
            advice = "name a column without copies with --id, or number the rows with --id none"
            raise TableError(f"{table.name}: the id {one!r} stands in {again}; {advice}")
        seen[one] = number


def texts_in(table: Table, columns: Columns, part: Part) -> list[str]:
    """The text of each row; several columns are joined by line ends, empty ones left out."""
    if len(columns.texts) == 1:
        return [_text_in(table, columns.texts[0], row, place) for row, place in _pairs(part)]
    several = ([_text_in(table, name, row, place) for name in columns.texts] for row, place in _pairs(part))
    return ["\n".join(filter(None, cells)) for cells in several]


def labels_in(table: Table, columns: Columns, part: Part) -> list[Any]:
    """The label of each row, None for a gap or if there is no such column."""
    return [label_in(table, columns.label, row, place) if columns.label else None for row, place in _pairs(part)]


def ids_in(table: Table, columns: Columns, part: Part, *, first: int) -> list[str]:
    """The id of each row; numbers from ``first`` on if there is no column for them."""
    if columns.id is None:
        return [str(first + n) for n in range(len(part.rows))]
    return [_id_in(table, columns.id, row, place) for row, place in _pairs(part)]


def label_in(table: Table, column: str, row: Row, place: Place) -> Any:
    """As it stands; None for a gap: an empty cell, null, NaN, no such key."""
    value = row.get(column)
    if value is None or (isinstance(value, float) and isnan(value)) or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, SCALARS):
        raise TableError(f"{table.at(place)}: {column!r} is {_shown(value)}; a label is a string, a number, true or false")
    return value


def _pairs(part: Part) -> list[tuple[Row, Place]]:
    return list(zip(part.rows, part.places, strict=True))


def _text_in(table: Table, column: str, row: Row, place: Place) -> str:
    value = row.get(column)
    if isinstance(value, str):
        return value
    if column not in row:
        raise TableError(f"{table.at(place)} has no {column!r}; every row needs its text, if only an empty one")
    raise TableError(f"{table.at(place)}: {column!r} is {_shown(value)}; a text is a string in quotes")


def _id_in(table: Table, column: str, row: Row, place: Place) -> str:
    value = row.get(column)
    if value is None or isinstance(value, (dict, list)) or not str(value).strip():
        raise TableError(f"{table.at(place)} has no id in {column!r}; number the rows instead with --id none")
    return str(value)


def _shown(value: object) -> str:
    names = {type(None): "null", dict: "an object", list: "an array"}
    shown = repr(value)
    return names.get(type(value), f"{shown if len(shown) <= 40 else shown[:37] + '...'} ({type(value).__name__})")
