"""Reading csv and tsv files."""

import codecs
import csv
from collections.abc import Iterator
from itertools import chain, islice

from gramshift.errors import short
from gramshift.tables.table import (
    MAX_CHARACTERS,
    InputFile,
    Record,
    Table,
    TableError,
    TableStyle,
    check_columns,
    check_encoding,
    decoded_lines,
    in_parts,
)

DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
BLANK = " \t\r\n"
MAX_HEADER_LINES = 20  # names of columns may contain line breaks
CSV_ERRORS = {
    "unexpected end of data": "a quote opens here and never closes",
    "new-line": 'a line ends with "\\r" alone; save the file with ordinary line ends',
    "field larger": f"a cell has more than {MAX_CHARACTERS:,} characters; "
    "perhaps a quote opens here and never closes",
}
"""Errors of Python's reader by how they begin, in words for users."""


def read_delimited(opened: InputFile, *, format: str, encoding: str) -> Table:
    """Read a csv or tsv. The first row names the columns and shows the delimiter of a csv."""
    csv.field_size_limit(MAX_CHARACTERS)
    name = opened.name
    is_marked = opened.peek(3) == codecs.BOM_UTF8 and check_encoding(encoding) == "utf-8-sig"
    lines = decoded_lines(opened, encoding)
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip(BLANK))
    number, line = next(numbered, (0, ""))
    if not number:
        advice = "it should begin with a line that names the columns, such as id,text,label"
        raise TableError(f"{name} is empty; {advice}")
    head = [line, *islice(lines, MAX_HEADER_LINES - 1)]
    delimiter, n_header_lines = _find_delimiter(head, DELIMITERS[format])
    columns: list[str] = []
    rows = _rows(name, chain(head, lines), delimiter, number, columns)
    first = next(rows, None)
    if first is None:
        named = ", ".join(map(short, columns[:20]))
        raise TableError(f"{name} has a header ({named}), but no rows")
    style = TableStyle(
        format,
        "utf-8-sig" if is_marked else encoding,
        delimiter,
        "\r\n" if head[n_header_lines - 1].endswith("\r\n") else "\n",
    )
    rest = chain([first], rows)
    return Table(name, columns, style, lambda size: in_parts(rest, size), opened.position)


def _find_delimiter(head: list[str], delimiters: str) -> tuple[str, int]:
    """Return the delimiter that gives the first row most cells, and the lines of that row.

    A row with an odd number of quotes ends too early, if another delimiter leads to an even one.
    """
    found, n_lines, best = delimiters[0], 1, (False, 0)
    for delimiter in delimiters:
        reader = csv.reader(head, delimiter=delimiter, strict=True)
        try:
            n_cells = len(next(reader))
        except csv.Error:  # quotes that do not go with this delimiter
            continue
        is_whole = sum(line.count('"') for line in head[: reader.line_num]) % 2 == 0
        if (is_whole, n_cells) > best:
            found, n_lines, best = delimiter, reader.line_num, (is_whole, n_cells)
    return found, n_lines


def _rows(
    name: str, lines: Iterator[str], delimiter: str, first_line: int, columns: list[str]
) -> Iterator[Record]:
    """Put the names in the header into ``columns``, and yield all rows that are not blank."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = first_line
    try:
        columns += next(reader)
        check_columns(name, columns)
        n_columns = len(columns)
        line = reader.line_num + first_line
        for cells in reader:
            if len(cells) == n_columns:
                yield line, dict(zip(columns, cells, strict=True)), None
            elif cells:
                found = f"{len(cells)} fields, but the header has {n_columns}"
                advice = "put quotes around texts that hold commas, quotes or line ends"
                raise TableError(f"{name}, line {line} has {found}; {advice}")
            line = reader.line_num + first_line
    except csv.Error as error:
        known = (words for begin, words in CSV_ERRORS.items() if str(error).startswith(begin))
        words = next(known, f"not a row of a table: {error}")
        raise TableError(f"{name}, line {line}: {words}") from None
