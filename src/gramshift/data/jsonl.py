"""One JSON object per line."""

import json
from collections.abc import Iterator
from itertools import chain, islice

from gramshift.data.decoding import decoded_lines
from gramshift.data.opening import Opened, TableError
from gramshift.data.tables import Place, Row, Style, Table, in_parts

LOOKED_AT = 1000  # rows whose keys are taken for the columns


def read_jsonl(opened: Opened, *, format: str, encoding: str) -> Table:
    """Keys may be missing in some rows."""
    rows = _rows(opened, encoding)
    first = list(islice(rows, LOOKED_AT))
    if not first:
        raise TableError(
            f'{opened.name} is empty; it should hold one object per line, such as {{"text": "...", "label": "..."}}'
        )
    columns = list(dict.fromkeys(key for _, row in first for key in row))
    return Table(
        opened.name,
        columns,
        Style(format, encoding),
        lambda size: in_parts(chain(first, rows), size),
        opened.position,
    )


def _rows(opened: Opened, encoding: str) -> Iterator[tuple[Place, Row]]:
    for number, line in enumerate(decoded_lines(opened.pieces(), encoding=encoding, name=opened.name), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_without_copies)
        except (ValueError, RecursionError) as error:
            words = getattr(error, "msg", str(error))
            raise TableError(f"{opened.name}, line {number} is not JSON: {words}; every line is an object of its own") from None
        if not isinstance(row, dict):
            kind = "an array" if isinstance(row, list) else "a single value"
            raise TableError(f'{opened.name}, line {number} is {kind}; every line is an object such as {{"text": "..."}}')
        yield number, row


def _without_copies(pairs: list[tuple[str, object]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return row
