"""What targets of tables share: read a file, write it again with our columns, read that, and compare cell by cell."""

import csv
import gzip
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.targets import Refusal, Wrong, may_refuse, same
from gramshift.commands.classify.labelled import label_columns
from gramshift.data.columns import check_ids, find_columns, read_documents
from gramshift.data.readers import open_table
from gramshift.data.tables import Style
from gramshift.data.writing import open_writer, output_style

CLASSES = ["neg", "pos"]
PROBABILITIES = [0.25, 0.75]
SHORT, LONG_PART = 50_000, 4096  # bytes; rows: parquet takes a millisecond for a part, and no command writes rows one by one
Rows = list[dict[str, Any]]
HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Given:
    """A file, and how it is to be read and written."""

    path: Path
    format: str
    encoding: str
    size: int
    """Rows of a part."""
    output: str
    """The format of what is written."""


@dataclass(frozen=True)
class Written:
    """A file that we wrote, and what it holds beyond the cells of the input."""

    path: Path
    style: Style
    ours: dict[str, Any]


def read_all(path: Path, format: str, encoding: str, size: int) -> tuple[list[str], Rows]:
    """The columns and the rows of a file; an error must name it."""
    with may_refuse(str(path)), open_table(str(path), format=format, encoding=encoding) as table:
        return list(table.columns), [row for part in table.parts(size) for row in part.rows]


def check_table(given: Given, expected: Rows | None) -> None:
    """Read a file, find documents in it, write it again and read what was written; ``expected`` are its rows, if known."""
    _, rows = read_all(given.path, given.format, given.encoding, given.size)
    if expected is not None and not same(rows, expected):
        raise Wrong("cells are not read as they were written", first_difference(expected, rows))
    if expected is None and not rows:
        raise Wrong("a table without rows was accepted")
    _find_documents(given)
    written = write_again(given)
    again, found = read_all_ours(written)
    if len(found) != len(rows):
        raise Wrong("rows are lost or added by writing", f"{len(rows)} became {len(found)}")
    ours = set(written.ours)
    if ours & {name for row in rows for name in row}:
        raise Wrong("our columns have names that rows have already", f"{sorted(ours)}")
    left = [{name: value for name, value in row.items() if name not in ours} for row in found]
    if written.style.format == given.format and not same(left, rows):
        raise Wrong("cells are not written as they were read", first_difference(rows, left))
    if written.style.format != given.format:
        _check_strings(rows, left)
    _check_ours(found, written.ours)
    if written.style.format in ("csv", "tsv"):
        _check_with_python(written, again, found)


def _find_documents(given: Given) -> None:
    """Look for documents; that there are none is no fault of the reader's."""
    try:
        with may_refuse(str(given.path)), open_table(str(given.path), format=given.format, encoding=given.encoding) as table:
            check_ids(read_documents(table, find_columns(table), size=given.size))
    except Refusal:
        pass


def write_again(given: Given) -> Written:
    """Write the table with our columns, as the commands do."""
    path = given.path.with_name(f"out.{given.output}")
    with may_refuse(), open_table(str(given.path), format=given.format, encoding=given.encoding) as table:
        style = output_style(str(path), table)
        columns = label_columns(table, CLASSES)
        with path.open("wb") as file, open_writer(file, str(path), table, columns.types) as writer:
            for part in table.parts(given.size if given.path.stat().st_size < SHORT else LONG_PART):
                writer.write(part, columns.values(["pos"] * len(part.rows), [PROBABILITIES] * len(part.rows)))
    values = columns.values(["pos"], [PROBABILITIES])
    return Written(path, style, {name: value[0] for name, value in values.items()})


def read_all_ours(written: Written) -> tuple[list[str], Rows]:
    """Read what we wrote, which nothing may refuse."""
    try:
        return read_all(written.path, written.style.format, written.style.encoding, 1000)
    except Refusal as error:
        raise Wrong("what was written cannot be read", str(error)) from error


def _check_strings(rows: Rows, found: Rows) -> None:
    """In whatever format, strings stay the strings that they are; what is missing may be empty."""
    for one, other in zip(rows, found, strict=True):
        for name, value in one.items():
            if not isinstance(value, str) or HALF.search(value) or HALF.search(name):
                continue  # half a surrogate pair stands in no file but JSON; elsewhere its number does
            if other.get(name) != value and not (value == "" and other.get(name) is None):
                raise Wrong("strings change with the format", f"{name!r}: {value!r} became {other.get(name)!r}")


def _check_ours(found: Rows, ours: dict[str, Any]) -> None:
    for row in found:
        for name, value in ours.items():
            if row.get(name) != value and row.get(name) != (value if isinstance(value, str) else json.dumps(value)):
                raise Wrong("our own columns are not as we wrote them", f"{name!r}: {value!r} became {row.get(name)!r}")


def _check_with_python(written: Written, columns: list[str], found: Rows) -> None:
    """Python's own reader sees the same cells."""
    data = written.path.read_bytes()
    text = (gzip.decompress(data) if written.path.suffix == ".gz" else data).decode(written.style.encoding)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=written.style.delimiter) if row]
    if rows != [columns, *(list(row.values()) for row in found)]:
        raise Wrong("Python's csv module reads other cells", repr(rows)[:300])


def first_difference(one: Rows, other: Rows) -> str:
    """Where two tables differ, in words."""
    if len(one) != len(other):
        return f"{len(one)} rows became {len(other)}"
    place, (before, after) = next((n, pair) for n, pair in enumerate(zip(one, other, strict=True)) if not same(*pair))
    return f"row {place}: {before!r} became {after!r}"[:600]
