"""Documents of a table: which columns hold texts, labels and ids, and reading them."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Any

from gramshift.errors import short, suggest
from gramshift.tables.table import (
    Place,
    Row,
    Table,
    TableError,
    TablePart,
    WrittenNumber,
)
from gramshift.terminal import quote_word

USUAL_NAMES = {
    "text": (
        *("text", "review", "review_text", "body", "content", "document"),
        *("comment", "message", "sentence", "tweet"),
    ),
    "label": ("label", "class", "sentiment", "category"),
    "id": ("id", "doc_id", "document_id", "review_id"),
}
NO_ID = "none"
MAX_LISTED = 20  # columns in an error


@dataclass(frozen=True)
class Columns:
    """The names of the columns of one table; texts of several columns are joined."""

    texts: list[str]
    label: str | None
    id: str | None


def find_columns(
    table: Table,
    *,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    need_label: bool = False,
    need_id: bool = True,
) -> Columns:
    """Return the columns that the user has named, else those with usual names.

    Without ``need_id``, the column ``id`` may be missing.
    """
    label_column = (
        check_column(table, label, f"--label {label}") if label else _usual(table, "label")
    )
    if label_column is None and need_label:
        raise TableError(_unusual(table, "label", "labels"))
    if id == NO_ID and NO_ID not in table.columns:
        id_column = None
    elif id and (need_id or id.strip().lower() in _lower(table)):
        id_column = check_column(table, id, f"--id {id}")
    else:
        id_column = _usual(table, "id")
    if text:
        texts = _named_texts(table, text)
    else:
        usual = _usual(table, "text")
        others = [column for column in table.columns if column not in (label_column, id_column)]
        if usual is None and len(others) != 1:
            raise TableError(_unusual(table, "text", "texts"))
        texts = [usual or others[0]]
    if label_column in texts:
        words = "cannot be both text and label; name them with --text and --label"
        raise TableError(f"{table.name}: the column {label_column!r} {words}")
    return Columns(texts, label_column, id_column)


def check_column(table: Table, name: str, given: str) -> str:
    """Return the name of a column; upper and lower case may differ if no other column fits.

    Errors begin with ``given``: the name as the user gave it, with its option or parameter.
    """
    if name in table.columns:
        return name
    same = [column for column in table.columns if column.strip().lower() == name.strip().lower()]
    if len(same) == 1:
        return same[0]
    columns = f"{_listed(table.columns)}{suggest(name, table.columns)}"
    raise TableError(f"{given}: {table.name} has no such column; it has {columns}")


def _named_texts(table: Table, text: str) -> list[str]:
    """Return the columns of texts that the user has named.

    "title,body" joins two; "review|title,body" is the first choice that this table has.
    """
    if text in table.columns:
        return [text]
    choices = [
        [name.strip() for name in choice.split(",") if name.strip()] for choice in text.split("|")
    ]
    lower = _lower(table)
    fitting = [one for one in choices if one and all(name.lower() in lower for name in one)]
    chosen = (fitting or choices)[0]
    try:
        names = list(dict.fromkeys(check_column(table, name, f"--text {name}") for name in chosen))
    except TableError as error:
        either = quote_word(f"{text}|NAME")
        raise TableError(f"{error}; if the files have different names: --text {either}") from None
    if not names:
        columns = _listed(table.columns)
        raise TableError(f"--text {text} names no column; {table.name} has {columns}")
    return names


def _lower(table: Table) -> set[str]:
    return {column.strip().lower() for column in table.columns}


def _usual(table: Table, kind: str) -> str | None:
    found = {column.strip().lower(): column for column in reversed(table.columns)}
    return next((found[name] for name in USUAL_NAMES[kind] if name in found), None)


def _unusual(table: Table, kind: str, what: str) -> str:
    usual = ", ".join(USUAL_NAMES[kind])
    found = f"{table.name} has {_listed(table.columns)}"
    return f"{found}, none of them a usual name for {what} ({usual}); name it with --{kind}"


def _listed(columns: list[str]) -> str:
    shown = ", ".join(map(short, columns[:MAX_LISTED]))
    if len(columns) > MAX_LISTED:
        shown += f" and {len(columns) - MAX_LISTED} more"
    return f"the column{'s' if len(columns) > 1 else ''} {shown}"


Progress = Callable[[str, int, int], None]
SCALARS = (str, int, float, bool)
MAX_LABEL_LENGTH = 1000  # a longer label is a text in the wrong column


@dataclass(frozen=True)
class TableDocuments:
    """The documents of one table, with None for labels that the table does not have."""

    table: Table
    columns: Columns
    raw: list[TablePart]
    """The rows with all columns, unchanged."""
    texts: list[str]
    labels: list[Any]
    ids: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_characters(self) -> int:
        """The number of characters of all texts."""
        return sum(map(len, self.texts))

    def column(self, name: str) -> list[Any]:
        """Return the cells of a column that holds labels, None for gaps."""
        pairs = (pair for part in self.raw for pair in _pairs(part))
        return [label_in(self.table, name, *pair) for pair in pairs]


def read_documents(
    table: Table, columns: Columns, *, size: int = 4096, progress: Progress | None = None
) -> TableDocuments:
    """Read all documents; without a column of ids these are numbers from 1 on."""
    parts: list[TablePart] = []
    texts: list[str] = []
    for part in table.parts(size):
        parts.append(part)
        texts += texts_in(table, columns, part)
        if progress is not None:
            progress("reading", *table.position())
    pairs = [pair for part in parts for pair in _pairs(part)]
    labels: list[Any] = [None] * len(pairs)
    if columns.label:
        labels = [label_in(table, columns.label, *pair) for pair in pairs]
    if columns.id is None:
        ids = [str(number) for number in range(1, 1 + len(pairs))]
    else:
        ids = [_id_in(table, columns.id, *pair) for pair in pairs]
    return TableDocuments(table, columns, parts, texts, labels, ids)


def check_ids(documents: TableDocuments) -> None:
    """Raise an error if two documents have the same id."""
    seen: dict[str, int] = {}
    for number, one in enumerate(documents.ids):
        if one in seen:
            places = [place for part in documents.raw for place in part.places]
            table, first = documents.table, places[seen[one]]
            both = f"{table.unit} {first} and {table.unit} {places[number]}"
            advice = f"name a column of unique ids with --id, or number the rows with --id {NO_ID}"
            raise TableError(f"{table.name}: the id {one!r} is in {both}; {advice}")
        seen[one] = number


def texts_in(table: Table, columns: Columns, part: TablePart) -> list[str]:
    """Return the text of each row; those of several columns are joined by line ends."""
    if len(columns.texts) == 1:
        return [_text_in(table, columns.texts[0], *pair) for pair in _pairs(part)]
    rows = ([_text_in(table, name, *pair) for name in columns.texts] for pair in _pairs(part))
    return ["\n".join(filter(None, cells)) for cells in rows]


def label_in(table: Table, column: str, row: Row, place: Place) -> Any:
    """Return a label unchanged, or None for a gap: an empty cell, null, NaN or a missing key."""
    value = row.get(column)
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, str) and not value.strip():
        return None
    if isinstance(value, (str, WrittenNumber)) and len(str(value)) > MAX_LABEL_LENGTH:
        found = f"{short(column)!r} has {len(str(value)):,} characters"
        allowed = f"a label has {MAX_LABEL_LENGTH:,} at most"
        advice = "name the column of labels with --label"
        raise TableError(f"{table.at(place)}: {found}; {allowed}: {advice}")
    if not isinstance(value, SCALARS):
        allowed = "a label is a string, a number, true or false"
        raise TableError(f"{table.at(place)}: {column!r} is {_shown(value)}; {allowed}")
    return value


def _pairs(part: TablePart) -> list[tuple[Row, Place]]:
    return list(zip(part.rows, part.places, strict=True))


def _text_in(table: Table, column: str, row: Row, place: Place) -> str:
    value = row.get(column)
    if isinstance(value, str):
        return value
    if column not in row:
        advice = "every row needs its text, if only an empty one"
        raise TableError(f"{table.at(place)} has no {column!r}; {advice}")
    found = f"{column!r} is {_shown(value)}"
    raise TableError(f"{table.at(place)}: {found}; a text is a string in quotes")


def _id_in(table: Table, column: str, row: Row, place: Place) -> str:
    value = row.get(column)
    if value is None or isinstance(value, (dict, list)) or not str(value).strip():
        advice = f"number the rows with --id {NO_ID}"
        if not any(row.values()):  # spreadsheets leave such rows at the end
            advice = "all of its cells are empty: delete this row, and others like it"
        raise TableError(f"{table.at(place)} has no id in {column!r}; {advice}")
    return str(value)


def _shown(value: object) -> str:
    names = {type(None): "null", dict: "an object", list: "an array"}
    if isinstance(value, WrittenNumber):
        return short(value.text)
    return names.get(type(value), f"{short(repr(value))} ({type(value).__name__})")
