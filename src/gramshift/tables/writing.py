"""Writing tables with new columns, part by part."""

import codecs
import gzip
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from json.encoder import encode_basestring
from math import isfinite
from typing import IO, Any, cast

from gramshift.errors import short
from gramshift.tables.delimited import DELIMITERS
from gramshift.tables.jsonl import N_KEY_ROWS
from gramshift.tables.opening import format_of
from gramshift.tables.parquet import import_pyarrow
from gramshift.tables.table import (
    Row,
    Table,
    TableError,
    TablePart,
    TableStyle,
    WrittenNumber,
)

NewColumns = dict[str, list[Any]]
"""New values of each column, one for each row of a part; columns of the table are replaced."""


def output_style(name: str, table: Table) -> TableStyle:
    """Return the style of the table, changed as the extension of the output demands."""
    own = table.style
    if name == "-":
        return own
    wanted = format_of(name, "another name")
    if wanted == own.format:
        return own
    if wanted == "parquet" and own.format == "jsonl":
        advice = "give an output that ends in .jsonl or .csv"
        raise TableError(f"{name}: the objects of a jsonl file have no fixed types; {advice}")
    delimiter = "\t" if wanted == "tsv" else ","
    other = replace(own, format=wanted, delimiter=delimiter, schema=None)
    if wanted == "jsonl":
        encoding = "utf-8" if own.encoding == "utf-8-sig" else own.encoding  # JSON has no mark
        return replace(other, line_end="\n", encoding=encoding)
    return other


@contextmanager
def open_writer(
    file: IO[bytes], name: str, table: Table, added: dict[str, type]
) -> Iterator["Writer"]:
    """Open a writer into ``file``, compressed if the name ends in .gz.

    ``added`` has the types of the new columns.
    """
    style = output_style(name, table)
    with ExitStack() as stack:
        if name.lower().endswith(".gz"):
            packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
            file = cast(IO[bytes], stack.enter_context(packed))
        writer = WRITERS[style.format](file, style, table, added)
        try:
            yield writer
        except BaseException:
            with suppress(Exception):  # the first error is the one to raise
                writer.close()
            raise
        writer.close()


class Writer:
    """A table that is being written.

    ``names`` are the columns of the input that were known when new columns got their names.
    """

    def __init__(
        self, file: IO[bytes], style: TableStyle, table: Table, added: dict[str, type]
    ) -> None:
        self._file = file
        self._style = style
        self._table = table
        self.names = list(style.kept or table.columns)
        self._new = [name for name in added if name not in self.names]
        self._begin(added)

    def _begin(self, added: dict[str, type]) -> None:
        """Write the beginning of the file."""
        raise NotImplementedError

    def write(self, part: TablePart, added: NewColumns) -> None:
        """Write the rows of a part with their new columns."""
        raise NotImplementedError

    def close(self) -> None:
        """Write the rest."""

    def check(self, row: Row, number: int, part: TablePart) -> None:
        """Raise an error if a row has a value in a new column: one of the two would be lost."""
        for name in self._new:
            if name in row:
                place = self._table.at(part.places[number])
                found = f"has {short(name)!r} of its own, which none of the first {N_KEY_ROWS} rows"
                problem = "the new value would take its place"
                raise TableError(f"{place} {found} has; {problem}: rename it")


def quote_cell(cell: str, delimiter: str = ",") -> str:
    """Return a cell, in quotes if a reader would not take it for exactly one cell."""
    if '"' in cell:
        return f'"{cell.replace(chr(34), chr(34) * 2)}"'
    if delimiter in cell or "\n" in cell or "\r" in cell or cell.isspace():
        return f'"{cell}"'
    return cell


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as comma-separated values.

    Python's own writer leaves a lone carriage return unquoted, and no reader takes it for one row.
    """
    cells = (("" if cell is None else str(cell) for cell in row) for row in rows)
    return "".join(",".join(map(quote_cell, row)) + "\n" for row in cells)


class DelimitedWriter(Writer):
    """A writer of csv and tsv in the style of the input."""

    def _begin(self, added: dict[str, type]) -> None:
        style = self._style
        self._columns = list(dict.fromkeys([*self.names, *added]))
        self._known = None if style.kept else set(self._columns)
        self._encoder = codecs.getincrementalencoder(style.encoding)("backslashreplace")
        self._delimiter = style.delimiter
        self._write([self._delimiter.join(map(self._quote_name, self._columns))])

    def write(self, part: TablePart, added: NewColumns) -> None:
        """Write the rows of a part as lines of cells."""
        lines, delimiter = [], self._delimiter
        is_jsonl = isinstance(part.native, list)
        for number, row in enumerate(part.rows):
            if self._known is not None:
                self.check(row, number, part)
                if not row.keys() <= self._known:
                    name = min(row.keys() - self._known)
                    found = f"{self._table.at(part.places[number])} has {short(name)!r}"
                    advice = "columns come and go only in an output that ends in .jsonl"
                    raise TableError(f"{found}, which the rows before did not; {advice}")
            own = row
            if is_jsonl and not all(map(is_exact, row.values())):
                own = read_exactly(part.native[number])
            cells = own | {name: values[number] for name, values in added.items()}
            texts = [cell_text(cells.get(name)) for name in self._columns]
            lines.append(delimiter.join([quote_cell(text, delimiter) for text in texts]))
        self._write(lines)

    def _quote_name(self, name: str) -> str:
        """Quote any delimiter in a cell of the first row, and a byte-order mark."""
        quoted = quote_cell(name, self._delimiter)
        is_odd = name.startswith("\ufeff") or any(one in name for one in DELIMITERS["csv"])
        return f'"{name}"' if is_odd and quoted == name else quoted

    def _write(self, lines: list[str]) -> None:
        end = self._style.line_end
        text = "".join([(line or '""') + end for line in lines])  # an empty line is no row
        self._file.write(self._encoder.encode(text))


BEYOND_ASCII = re.compile(r"[^\0-\x7f]+")


class JsonWriter(Writer):
    """A writer of one object per line, which keeps objects of a jsonl to the character."""

    def _begin(self, added: dict[str, type]) -> None:
        self._encoder = codecs.getincrementalencoder(self._style.encoding)()

    def write(self, part: TablePart, added: NewColumns) -> None:
        """Write the rows of a part as objects."""
        is_jsonl = isinstance(part.native, list)
        names = added.keys()
        for number, row in enumerate(part.rows):
            new = {name: values[number] for name, values in added.items()}
            if self._style.kept is not None:
                line = json_text({name: row[name] for name in self._style.kept} | new)
            else:
                self.check(row, number, part)
                if not is_jsonl:
                    line = json_text(row | new)
                elif names.isdisjoint(row):
                    line = _extend(part.native[number], row, new)
                else:
                    line = json_text(read_exactly(part.native[number]) | new)
            self._file.write(self._encode(line + self._style.line_end))

    def _encode(self, line: str) -> bytes:
        try:
            return self._encoder.encode(line)
        except UnicodeEncodeError:  # a lone surrogate, or a character that the encoding lacks
            escaped = BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], line)
            return self._encoder.encode(escaped)


def _extend(line: str, row: Row, new: Row) -> str:
    """Return the text of an object with new keys at its end."""
    return f"{line.rstrip()[:-1].rstrip()}{', ' if row and new else ''}{json_text(new)[1:]}"


class ParquetWriter(Writer):
    """A writer of parquet with the types of the input; the columns of a csv are strings."""

    def _begin(self, added: dict[str, type]) -> None:
        self._pyarrow = pa = import_pyarrow()
        own = self.names
        types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
        try:
            fields = {name: pa.field(name, types[kind]) for name, kind in added.items()}
            fields |= {name: pa.field(name, pa.string()) for name in own}
        except UnicodeEncodeError as error:
            problem = "whose names cannot hold a lone surrogate"
            raise TableError(_not_parquet(error.object, problem)) from None
        if self._style.schema is not None:
            fields |= {field.name: field for field in self._style.schema}
        self._schema = pa.schema([fields[name] for name in dict.fromkeys([*own, *added])])
        self._writer = pa.parquet.ParquetWriter(self._file, self._schema)

    def write(self, part: TablePart, added: NewColumns) -> None:
        """Write the rows of a part as a table of Arrow."""
        pa = self._pyarrow
        columns = []
        for field in self._schema:
            if field.name not in added and part.native is not None:
                columns.append(part.native.column(field.name))
                continue
            values = added.get(field.name, [row.get(field.name) for row in part.rows])
            try:
                columns.append(pa.array(values, field.type))
            except (pa.ArrowException, UnicodeEncodeError) as error:
                raise TableError(_not_parquet(field.name, str(error))) from None
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()


def _not_parquet(column: str, problem: str) -> str:
    advice = "give an output that ends in .csv or .jsonl"
    return f"the column {short(column)!r} cannot be written as parquet, {problem}; {advice}"


WRITERS: dict[str, type[Writer]] = {
    "csv": DelimitedWriter,
    "tsv": DelimitedWriter,
    "jsonl": JsonWriter,
    "parquet": ParquetWriter,
}


def read_exactly(line: str) -> dict[str, Any]:
    """Read the object in a line again, with every number as its text."""
    text = WrittenNumber
    row: dict[str, Any] = json.loads(line, parse_float=text, parse_int=text, parse_constant=text)
    return row


def is_exact(value: Any) -> bool:
    """Return True if Python writes a JSON value as it was read; 0 may have been -0."""
    is_integer = isinstance(value, int) and value != 0
    return value is None or isinstance(value, (str, bool)) or is_integer


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_text(value: Any) -> str:
    """Return a value as JSON, with null for NaN and infinity, which JSON lacks.

    Numbers that are kept as text are written as that text.
    """
    try:
        return _encode(value)
    except (TypeError, ValueError):  # something in it is unknown to the json of Python
        return _json_of_parts(value)


def _json_of_parts(value: Any) -> str:
    if isinstance(value, dict):
        keys = map(encode_basestring, map(str, value))
        pairs = zip(keys, map(_json_of_parts, value.values()), strict=True)
        return "{" + ", ".join(f"{key}: {one}" for key, one in pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_json_of_parts, value)) + "]"
    if isinstance(value, float) and not isfinite(value):
        return "null"
    if value is None or isinstance(value, (str, bool, int, float)):
        return _encode(value)
    text = cell_text(value)
    return text if isinstance(value, (WrittenNumber, Decimal)) else encode_basestring(text)


def cell_text(value: Any) -> str:
    """Return a cell of a csv: strings unchanged, bytes as base64, "" for None, others as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, float) and not isfinite(value):
        return json.dumps(value)
    if isinstance(value, (bool, int, float, dict, list, tuple)):
        return json_text(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)
