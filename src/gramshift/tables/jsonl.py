"""Reading files with a JSON object in each line."""

import json
from collections.abc import Iterator
from itertools import chain, islice

from gramshift.errors import short
from gramshift.tables.table import (
    InputFile,
    Record,
    Row,
    Table,
    TableError,
    TableStyle,
    WrittenNumber,
    decoded_lines,
    in_parts,
)

N_KEY_ROWS = 1000  # rows whose keys are the columns before the others are read


def read_jsonl(opened: InputFile, *, format: str, encoding: str) -> Table:
    """Read one object per line; the columns are the keys that have occurred so far."""
    columns: list[str] = []
    rows = _rows(opened, encoding, columns)
    first = list(islice(rows, N_KEY_ROWS))
    if not first:
        example = '{"text": "...", "label": "..."}'
        advice = f"it should hold one object per line, such as {example}"
        raise TableError(f"{opened.name} is empty; {advice}")
    line_end = "\r\n" if str(first[0][2]).endswith("\r\n") else "\n"
    style = TableStyle(format, encoding, line_end=line_end)
    rest = chain(first, rows)
    return Table(opened.name, columns, style, lambda size: in_parts(rest, size), opened.position)


def _rows(opened: InputFile, encoding: str, columns: list[str]) -> Iterator[Record]:
    """Yield objects with their lines; add new keys to ``columns``."""
    known: set[str] = set()
    for number, line in enumerate(decoded_lines(opened, encoding), start=1):
        if not line.strip():
            continue
        place = f"{opened.name}, line {number}"
        try:
            row = json.loads(line, object_pairs_hook=_without_copies, parse_int=_as_number)
        except RecursionError:
            advice = "make them flatter"
            raise TableError(f"{place}: arrays and objects are nested too deep; {advice}") from None
        except ValueError as error:
            found = getattr(error, "msg", str(error))
            advice = "every line is an object of its own"
            raise TableError(f"{place} is not JSON: {found}; {advice}") from None
        if not isinstance(row, dict):
            kind = "an array" if isinstance(row, list) else "a single value"
            advice = 'every line is an object such as {"text": "..."}'
            raise TableError(f"{place} is {kind}; {advice}")
        if not row.keys() <= known:
            columns += [key for key in row if key not in known]
            known.update(row)
        yield number, row, line


def _as_number(text: str) -> int | WrittenNumber:
    try:
        return int(text)
    except ValueError:  # Python limits the digits of an integer
        return WrittenNumber(text)


def _without_copies(pairs: list[tuple[str, object]]) -> Row:
    """Return an object; raise a ValueError if a key occurs twice."""
    row: Row = {}
    for key, value in pairs:
        if key in row:
            raise ValueError(f"the key {short(key)!r} occurs twice")
        row[key] = value
    return row
