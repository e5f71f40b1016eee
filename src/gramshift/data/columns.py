"""Which columns hold the texts, the labels and the ids."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from gramshift.data.opening import TableError
from gramshift.data.tables import Table

USUAL = {
    "text": ("text", "review", "review_text", "body", "content", "document", "comment", "message", "sentence", "tweet"),
    "label": ("label", "class", "sentiment", "category"),
    "id": ("id", "doc_id", "document_id", "review_id"),
}
NO_ID = "none"


@dataclass(frozen=True)
class Columns:
    """The names of the columns of one table; several of text are joined."""

    texts: list[str]
    label: str | None
    id: str | None


def find_columns(
    table: Table, *, text: str | None = None, label: str | None = None, id: str | None = None, need_label: bool = False
) -> Columns:
    """As named by the user, else by their usual names."""
    label_column = check_column(table, label, "--label") if label else _usual(table, "label")
    if label_column is None and need_label:
        raise TableError(_unusual(table, "label", "labels"))
    id_column = (
        None if id == NO_ID and NO_ID not in table.columns else check_column(table, id, "--id") if id else _usual(table, "id")
    )
    if text:
        texts = _named_texts(table, text)
    else:
        usual = _usual(table, "text")
        others = [column for column in table.columns if column not in (label_column, id_column)]
        if usual is None and len(others) != 1:
            raise TableError(_unusual(table, "text", "texts"))
        texts = [usual or others[0]]
    if label_column in texts:
        raise TableError(
            f"{table.name}: the column {label_column!r} cannot be both text and label; name them with --text and --label"
        )
    return Columns(texts, label_column, id_column)


def check_column(table: Table, name: str, option: str) -> str:
    """The name, if there is such a column; upper and lower case may differ where that is clear."""
    if name in table.columns:
        return name
    same = [column for column in table.columns if column.strip().lower() == name.strip().lower()]
    if len(same) == 1:
        return same[0]
    raise TableError(
        f"{option} {name}: {table.name} has no such column; it has {_listed(table.columns)}{suggest(name, table.columns)}"
    )


def suggest(name: str, known: Iterable[str]) -> str:
    """ "; did you mean ...?", or nothing."""
    close = get_close_matches(name.lower(), [one.lower() for one in known], n=1)
    return next((f"; did you mean {one}?" for one in known if close and one.lower() == close[0]), "")


def _named_texts(table: Table, text: str) -> list[str]:
    """ "title,body" joins columns; "review|title,body" takes the first choice that this table has."""
    if text in table.columns:
        return [text]
    choices = [[name.strip() for name in choice.split(",") if name.strip()] for choice in text.split("|")]
    lower = {column.strip().lower() for column in table.columns}
    fitting = [choice for choice in choices if choice and all(name.lower() in lower for name in choice)]
    names = list(dict.fromkeys(check_column(table, name, "--text") for name in (fitting or choices)[0]))
    if not names:
        raise TableError(f"--text {text!r} names no column; {table.name} has {_listed(table.columns)}")
    return names


def _usual(table: Table, kind: str) -> str | None:
    found = {column.strip().lower(): column for column in reversed(table.columns)}
    return next((found[name] for name in USUAL[kind] if name in found), None)


def _unusual(table: Table, kind: str, what: str) -> str:
    usual = ", ".join(USUAL[kind])
    return f"{table.name} has {_listed(table.columns)}, none of them a usual name for {what} ({usual}); name it with --{kind}"


def _listed(columns: list[str]) -> str:
    shown = ", ".join(columns[:20]) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "")
    return f"the column{'s' if len(columns) > 1 else ''} {shown}"
