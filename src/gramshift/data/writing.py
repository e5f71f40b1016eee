"""Writing a table again with more columns, part by part."""

import codecs
import gzip
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from json.encoder import encode_basestring
from math import isfinite
from typing import IO, Any, cast

from gramshift.data.readers import DELIMITERS, LOOKED_AT, format_of, import_pyarrow
from gramshift.data.tables import Part, Row, Style, Table, TableError, WrittenNumber, short

Added = dict[str, list[Any]]
"""Column to values, one for each row of a part; a column that the table has is replaced."""


def output_style(name: str, table: Table) -> Style:
    """Return the table's own style, or that which the end of the name asks for."""
    own = table.style
    if name == "-":
        return own
    wanted = format_of(name, "another name")
    if wanted == own.format:
        return own
    if wanted == "parquet" and own.format == "jsonl":
        raise TableError(f"{name}: the objects of a jsonl file have no fixed types; give an output that ends in .jsonl or .csv")
    delimiter = "\t" if wanted == "tsv" else ","
    other = replace(own, format=wanted, delimiter=delimiter, schema=None)
    if wanted == "jsonl":  # JSON has no mark, and its lines the usual ends
        return replace(other, line_end="\n", encoding="utf-8" if own.encoding == "utf-8-sig" else own.encoding)
    return other


@contextmanager
def open_writer(file: IO[bytes], name: str, table: Table, added: dict[str, type]) -> Iterator["Writer"]:
    """Open a writer into ``file``, compressed if the name ends in .gz; ``added`` has the types of the new columns."""
    style = output_style(name, table)
    with ExitStack() as stack:
        if name.lower().endswith(".gz"):
            file = cast(IO[bytes], stack.enter_context(gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)))
        writer = WRITERS[style.format](file, style, table, added)
        try:
            yield writer
        except BaseException:
            with suppress(Exception):  # the error before says what went wrong
                writer.close()
            raise
        writer.close()


class Writer:
    """A table under way; ``names`` are the columns that the input had when the names of the new ones were found."""

    def __init__(self, file: IO[bytes], style: Style, table: Table, added: dict[str, type]) -> None:
        self._file, self._style, self._table = file, style, table
        self.names = list(style.kept or table.columns)
        self._new = [name for name in added if name not in self.names]

    def write(self, part: Part, added: Added) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Write what is left."""

    def check(self, row: Row, number: int, part: Part) -> None:
        """Raise an error if a row has a value of its own in a column that is new: one of the two would be lost."""
        for name in self._new:
            if name in row:
                words = f"has {short(name)!r} of its own, which none of the first {LOOKED_AT} rows has"
                raise TableError(
                    f"{self._table.at(part.places[number])} {words}; what is found would take its place: rename it"
                )

    def complain(self, name: str, number: int, part: Part) -> None:
        """Raise the error about a column that comes too late."""
        words = "which the rows before did not; columns come and go only in an output that ends in .jsonl"
        raise TableError(f"{self._table.at(part.places[number])} has {short(name)!r}, {words}")


def quote_cell(cell: str, delimiter: str = ",") -> str:
    """Return a cell as it stands in a row: in quotes where a reader would take it for more or less than one cell."""
    if '"' in cell:
        return f'"{cell.replace(chr(34), chr(34) * 2)}"'
    if delimiter in cell or "\n" in cell or "\r" in cell or cell.isspace():
        return f'"{cell}"'
    return cell


class DelimitedWriter(Writer):
    """Writes csv and tsv, with the delimiter, the line ends and the encoding of the input."""

    def __init__(self, file: IO[bytes], style: Style, table: Table, added: dict[str, type]) -> None:
        super().__init__(file, style, table, added)
        self._columns = list(dict.fromkeys([*self.names, *added]))
        self._known = None if style.kept else set(self._columns)
        self._encoder = codecs.getincrementalencoder(style.encoding)("backslashreplace")
        self._delimiter = style.delimiter
        self._write([self._delimiter.join(map(self._quote_name, self._columns))])

    def write(self, part: Part, added: Added) -> None:
        lines, delimiter, is_jsonl = [], self._delimiter, isinstance(part.native, list)
        for number, row in enumerate(part.rows):
            if self._known is not None:
                self.check(row, number, part)
                if not row.keys() <= self._known:
                    self.complain(min(row.keys() - self._known), number, part)
            own = row if not is_jsonl or all(map(is_exact, row.values())) else read_exactly(part.native[number])
            cells = own | {name: values[number] for name, values in added.items()}
            lines.append(delimiter.join([quote_cell(cell_text(cells.get(name)), delimiter) for name in self._columns]))
        self._write(lines)

    def _quote_name(self, name: str) -> str:
        """Quote a cell of the first row, where the delimiter is looked for, and a byte-order mark."""
        quoted = quote_cell(name, self._delimiter)
        is_odd = name.startswith("\ufeff") or any(one in name for one in DELIMITERS["csv"])
        return f'"{name}"' if is_odd and quoted == name else quoted

    def _write(self, lines: list[str]) -> None:
        ends = self._style.line_end
        text = "".join([(line or '""') + ends for line in lines])  # an empty line would be no row
        self._file.write(self._encoder.encode(text))


BEYOND_ASCII = re.compile(r"[^\0-\x7f]+")


class JsonWriter(Writer):
    """Writes one object per line; what a jsonl had in it stays as it was, to the character."""

    def __init__(self, file: IO[bytes], style: Style, table: Table, added: dict[str, type]) -> None:
        super().__init__(file, style, table, added)
        self._encoder = codecs.getincrementalencoder(style.encoding)()

    def write(self, part: Part, added: Added) -> None:
        is_jsonl, names = isinstance(part.native, list), added.keys()
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
        except UnicodeEncodeError:  # half a surrogate pair, or a character that the encoding lacks
            return self._encoder.encode(BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], line))


def _extend(line: str, row: Row, new: Row) -> str:
    """Return the text of an object with more keys at its end."""
    return f"{line.rstrip()[:-1].rstrip()}{', ' if row and new else ''}{json_text(new)[1:]}"


class ParquetWriter(Writer):
    """Writes parquet with the types of the input; the columns of a csv are strings."""

    def __init__(self, file: IO[bytes], style: Style, table: Table, added: dict[str, type]) -> None:
        super().__init__(file, style, table, added)
        self._pyarrow, own = import_pyarrow(), self.names
        pa = self._pyarrow
        types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
        try:
            fields = {name: pa.field(name, types[kind]) for name, kind in added.items()}
            fields |= {name: pa.field(name, pa.string()) for name in own}
        except UnicodeEncodeError as error:
            words = (
                f"the column {short(error.object)!r} cannot be written as parquet, whose names have no half of a surrogate pair"
            )
            raise TableError(f"{words}; give an output that ends in .csv or .jsonl") from None
        fields |= {} if style.schema is None else {field.name: field for field in style.schema}
        self._schema = pa.schema([fields[name] for name in dict.fromkeys([*own, *added])])
        self._writer = pa.parquet.ParquetWriter(file, self._schema)

    def write(self, part: Part, added: Added) -> None:
        pa = self._pyarrow
        columns = []
        for field in self._schema:
            if field.name not in added and part.native is not None:
                columns.append(part.native.column(field.name))
            else:
                values = added[field.name] if field.name in added else [row.get(field.name) for row in part.rows]
                try:
                    columns.append(pa.array(values, field.type))
                except (pa.ArrowException, UnicodeEncodeError) as error:
                    words = f"the column {short(field.name)!r} cannot be written as parquet: {error}"
                    raise TableError(f"{words}; give an output that ends in .csv or .jsonl") from None
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


WRITERS: dict[str, Callable[[IO[bytes], Style, Table, dict[str, type]], Writer]] = {
    "csv": DelimitedWriter,
    "tsv": DelimitedWriter,
    "jsonl": JsonWriter,
    "parquet": ParquetWriter,
}


def read_exactly(line: str) -> dict[str, Any]:
    """Read an object of a jsonl again, every number by its text."""
    row: dict[str, Any] = json.loads(line, parse_float=WrittenNumber, parse_int=WrittenNumber, parse_constant=WrittenNumber)
    return row


def is_exact(value: Any) -> bool:
    """Return True if Python is sure to write a JSON value as it was; 0 may have been -0."""
    return value is None or isinstance(value, (str, bool)) or (isinstance(value, int) and value != 0)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_text(value: Any) -> str:
    """Write JSON. Numbers that are given by their text keep it; NaN and infinity of Python, which JSON lacks, become null."""
    try:
        return _encode(value)
    except (TypeError, ValueError):  # there is something in it that the json of Python does not know
        return _json_of_parts(value)


def _json_of_parts(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{encode_basestring(str(key))}: {_json_of_parts(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_json_of_parts, value)) + "]"
    if isinstance(value, float) and not isfinite(value):
        return "null"
    if value is None or isinstance(value, (str, bool, int, float)):
        return _encode(value)
    text = cell_text(value)
    return text if isinstance(value, (WrittenNumber, Decimal)) else encode_basestring(text)


def cell_text(value: Any) -> str:
    """Write a cell of a csv: strings as they are, bytes as base64, nothing for None, all else as JSON would have it."""
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
