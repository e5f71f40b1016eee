"""csv and tsv."""

import csv
from collections.abc import Iterator
from itertools import chain

from gramshift.data.decoding import check_encoding, decoded_lines
from gramshift.data.opening import Opened, TableError
from gramshift.data.tables import Place, Row, Style, Table, check_columns, in_parts

LONGEST = 2**31 - 1  # characters of one field; Python's own limit is 131,072
DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}


def read_delimited(opened: Opened, *, format: str, encoding: str) -> Table:
    """The first line names the columns; what parts them in a csv is seen there."""
    csv.field_size_limit(LONGEST)
    name = opened.name
    pieces = opened.pieces()
    first = next(pieces, b"")
    marked = first.startswith(b"\xef\xbb\xbf") and check_encoding(encoding) == "utf-8-sig"
    lines = decoded_lines(chain([first], pieces), encoding=encoding, name=name)
    header = next((line for line in lines if line.strip()), None)
    if header is None:
        raise TableError(f"{name} is empty; it should begin with a line that names the columns, such as id,text,label")
    delimiter = next((one for one in DELIMITERS[format] if one in header), DELIMITERS[format][0])
    rows = _rows(name, chain([header], lines), delimiter)
    columns = next(rows)[1]
    check_columns(name, columns)
    named = _named(name, columns, rows)
    one = next(named, None)
    if one is None:
        raise TableError(f"{name} has a header ({', '.join(columns)}), but no rows")
    style = Style(format, "utf-8-sig" if marked else encoding, delimiter, line_end="\r\n" if header.endswith("\r\n") else "\n")
    return Table(name, columns, style, lambda size: in_parts(chain([one], named), size), opened.position)


def _rows(name: str, lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row that is not blank, and the line where it begins."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        words = {
            "unexpected end of data": "a quote opens here and never closes",
            "new-line": 'a line ends with "\\r" alone; save the file with ordinary line ends',
        }
        meant = next((value for key, value in words.items() if str(error).startswith(key)), f"not a row of a table: {error}")
        raise TableError(f"{name}, line {line}: {meant}") from None


def _named(name: str, columns: list[str], rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[Place, Row]]:
    for line, fields in rows:
        if len(fields) != len(columns):
            advice = "put quotes around texts that hold commas, quotes or line ends"
            raise TableError(f"{name}, line {line} has {len(fields)} fields, but the header has {len(columns)}; {advice}")
        yield line, dict(zip(columns, fields, strict=True))
