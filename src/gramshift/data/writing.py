"""Writing a table again with more columns, part by part."""

import codecs
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Protocol, cast

from gramshift.data.readers import format_of, import_pyarrow
from gramshift.data.tables import Part, Style, Table, TableError

Added = dict[str, list[Any]]
"""Column to values, one for each row of a part; a column that the table has is replaced."""


class Writer(Protocol):
    def write(self, part: Part, added: Added) -> None: ...

    def close(self) -> None: ...


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
    return replace(own, format=wanted, delimiter=delimiter, schema=None)


@contextmanager
def open_writer(file: IO[bytes], name: str, table: Table, added: dict[str, type]) -> Iterator[Writer]:
    """Open a writer into ``file``, compressed if the name ends in .gz; ``added`` has the types of the new columns."""
    style = output_style(name, table)
    if Path(name).suffix == ".gz":
        packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
        with packed, _writer(cast(IO[bytes], packed), style, table, added) as one:
            yield one
    else:
        with _writer(file, style, table, added) as one:
            yield one


@contextmanager
def _writer(file: IO[bytes], style: Style, table: Table, added: dict[str, type]) -> Iterator[Writer]:
    writer = WRITERS[style.format](file, style, style.kept or table.columns, added)
    try:
        yield writer
    except BaseException:
        with suppress(Exception):  # what went wrong is told by the error before
            writer.close()
        raise
    writer.close()


class DelimitedWriter:
    """Writes csv and tsv, with the delimiter, the line ends and the encoding of the input."""

    def __init__(self, file: IO[bytes], style: Style, own: list[str], added: dict[str, type]) -> None:
        self._file, self._columns = file, list(dict.fromkeys([*own, *added]))
        self._known = None if style.kept else set(self._columns)
        self._encoder = codecs.getincrementalencoder(style.encoding)("backslashreplace")
        self._options: dict[str, Any] = {"delimiter": style.delimiter, "lineterminator": style.line_end}
        self._write([self._columns])

    def write(self, part: Part, added: Added) -> None:
        rows = []
        for number, row in enumerate(part.rows):
            if self._known is not None and not row.keys() <= self._known:
                name = min(row.keys() - self._known)
                words = "which the rows before did not; columns come and go only in an output that ends in .jsonl"
                raise TableError(f"line {part.places[number]} has {name!r}, {words}")
            cells = row | {name: values[number] for name, values in added.items()}
            rows.append([_cell(cells.get(name)) for name in self._columns])
        self._write(rows)

    def _write(self, rows: list[list[Any]]) -> None:
        text = io.StringIO()
        csv.writer(text, **self._options).writerows(rows)
        self._file.write(self._encoder.encode(text.getvalue()))

    def close(self) -> None:
        pass


class JsonWriter:
    """Writes one object per line."""

    def __init__(self, file: IO[bytes], style: Style, own: list[str], added: dict[str, type]) -> None:
        self._file, self._kept = file, style.kept
        self._encoder = codecs.getincrementalencoder(style.encoding)()

    def write(self, part: Part, added: Added) -> None:
        for number, row in enumerate(part.rows):
            own = row if self._kept is None else {name: row[name] for name in self._kept}
            new = own | {name: values[number] for name, values in added.items()}
            try:
                line = self._encoder.encode(json.dumps(new, ensure_ascii=False, default=str) + "\n")
            except UnicodeEncodeError:  # half a surrogate pair, or a character that the encoding lacks
                line = self._encoder.encode(json.dumps(new, default=str) + "\n")
            self._file.write(line)

    def close(self) -> None:
        pass


class ParquetWriter:
    """Writes parquet with the types of the input; the columns of a csv are strings."""

    def __init__(self, file: IO[bytes], style: Style, own: list[str], added: dict[str, type]) -> None:
        self._pyarrow = pa = import_pyarrow()
        types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
        fields = {name: pa.field(name, pa.string()) for name in own}
        if style.schema is not None:
            fields = {field.name: field for field in style.schema}
        fields = {name: pa.field(name, types[kind]) for name, kind in added.items() if name not in fields} | fields
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
                    raise TableError(f"the column {field.name!r} cannot be written as parquet: {error}") from None
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


WRITERS: dict[str, Callable[[IO[bytes], Style, list[str], dict[str, type]], Writer]] = {
    "csv": DelimitedWriter,
    "tsv": DelimitedWriter,
    "jsonl": JsonWriter,
    "parquet": ParquetWriter,
}


def _cell(value: Any) -> Any:
    """Return a cell of a csv: what is not a string as JSON would have it, true and false included."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
