"""Input files of any encoding and compression, and tables that are read part by part."""

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from gramshift.errors import InputError, short
from gramshift.files import is_url, locate, naming_url

MAX_CHARACTERS = 1 << 26  # characters of a line, of a cell or of a text file
ONE_FOR_ALL = "which holds for all inputs; if they differ, save all of them as UTF-8"


class TableError(InputError):
    """An input that cannot be read; the message names the file and the place."""


@dataclass
class InputFile:
    """An input that is open."""

    name: str
    file: IO[bytes]
    raw: IO[bytes]
    size: int
    """Bytes of the file on disk, 0 if not known."""

    def peek(self, n: int) -> bytes:
        """Return up to n bytes of its beginning, without reading past them."""
        return cast(io.BufferedReader, self.file).peek(n)[:n]

    def position(self) -> tuple[int, int]:
        """Return the bytes that have been read, and all bytes, as they are on disk."""
        return (min(self.raw.tell(), self.size), self.size) if self.size else (0, 0)


@contextmanager
def open_input(name: str) -> Iterator[InputFile]:
    """Open a file, or standard input for "-"; decompress what begins like gzip."""
    if name == "-":
        if sys.stdin is None:
            advice = "give the name of a file, or documents from a pipe"
            raise InputError(f"standard input is closed; {advice}")
        raw: IO[bytes] = sys.stdin.buffer
        with _decompressed(raw, "standard input") as file:
            yield InputFile("standard input", file, raw, 0)
        return
    if is_url(name):
        system, path = locate(name)
        with naming_url(name):
            size = int(system.size(path) or 0)
            found = system.open(path, "rb")
        with io.BufferedReader(found) as raw, _decompressed(raw, name) as file:
            yield InputFile(name, file, raw, size)
        return
    with Path(name).open("rb") as raw, _decompressed(raw, name) as file:
        yield InputFile(name, file, raw, os.fstat(raw.fileno()).st_size)


@contextmanager
def _decompressed(raw: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    if cast(io.BufferedReader, raw).peek(2)[:2] != b"\x1f\x8b":
        yield raw
        return
    try:
        with gzip.open(raw) as file:
            yield cast(IO[bytes], file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        problem = f"{name} is not a whole gzip file ({error})"
        raise TableError(f"{problem}; make it again") from None


def check_reread(name: str) -> None:
    """Raise an error if this is not a file or folder that can be read twice."""
    if name == "-":
        problem = "standard input can be read only once, and this has to be read more than once"
        raise TableError(f"{problem}; give a file")
    if os.path.exists(name) and not (os.path.isfile(name) or os.path.isdir(name)):
        problem = f"{name} is a pipe or a device, and this has to be read more than once"
        raise TableError(f"{problem}; save it as a file first")


def check_encoding(encoding: str) -> str:
    """Return Python's name of an encoding; UTF-8 may begin with a byte-order mark."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name, "backslashreplace")  # fails for codecs that are not for text
    except (LookupError, TypeError, ValueError):
        examples = "utf-8, windows-1252, shift_jis"
        raise InputError(f"encoding {encoding!r} is not known; for example {examples}") from None
    return "utf-8-sig" if name == "utf-8" else name


def decoded_lines(opened: InputFile, encoding: str) -> Iterator[str]:
    r"""Yield lines with their ends; only "\n" ends a line.

    A byte that is not in the encoding is an error that names its line.
    """
    known = check_encoding(encoding)
    text = io.TextIOWrapper(cast(Any, opened.file), known, newline="\n")
    name, number = opened.name, 1
    try:
        while line := text.readline(MAX_CHARACTERS + 1):
            if len(line) > MAX_CHARACTERS:
                problem = f"{name}, line {number} has more than {MAX_CHARACTERS:,} characters"
                raise TableError(f"{problem}; is it a table with a row in each line?")
            yield line
            number += 1
    except UnicodeDecodeError as error:
        before, byte = error.object[: error.start], error.object[error.start]
        marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        advice = f"name the right encoding with --encoding, {ONE_FOR_ALL}"
        if not before and number == 1 and error.object.startswith(marks):
            advice = "it looks like --encoding utf-16"
        place = f"{name}, line {number + before.decode(known, 'replace').count(chr(10))}"
        problem = f"{place}: the byte 0x{byte:02x} is not {encoding}"
        raise InputError(f"{problem}; {advice}") from None
    except UnicodeError as error:
        advice = f"name the right encoding with --encoding, such as utf-16-le, {ONE_FOR_ALL}"
        raise InputError(f"{name} is not {encoding} ({error}); {advice}") from None
    finally:
        with suppress(ValueError):  # the file may be closed already
            text.detach()


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number kept as text, because Python would write it differently: 1.10, -0, 1e400."""

    text: str

    def __str__(self) -> str:
        return self.text


MAX_PART_CHARACTERS = 1 << 24  # characters after which a part ends, however few rows it has
Place = int | str
Row = dict[str, Any]


@dataclass(frozen=True)
class TablePart:
    """Consecutive rows of a table, and the line or file of each."""

    rows: list[Row]
    places: list[Place]
    native: Any = None
    """The rows in their format: a batch of a parquet file, the lines of a jsonl."""


@dataclass(frozen=True)
class TableStyle:
    """The format, the encoding and the details by which a table was written."""

    format: str
    encoding: str = "utf-8"
    delimiter: str = ","
    line_end: str = "\n"
    schema: Any = None
    kept: list[str] | None = None
    """The columns that an output keeps; None for all."""


@dataclass(frozen=True)
class Table:
    """An open input: its columns are known, its rows are read in parts, once."""

    name: str
    columns: list[str]
    """The names of the columns; a jsonl adds more while it is read, as new keys occur."""
    style: TableStyle
    parts: Callable[[int], Iterator[TablePart]] = field(repr=False)
    """parts(n) yields the rows in order, n at most in each part."""
    position: Callable[[], tuple[int, int]] = field(repr=False)
    """Bytes read so far, bytes in all; 0 if not known."""
    unit: str = "line"

    def at(self, place: Place) -> str:
        """Return a place in words, for the beginning of an error."""
        return f"{self.name}, {self.unit} {place}"


Record = tuple[Place, Row, str | None]
"""The place of a row, its cells, and its original line if writing it again needs that."""


def in_parts(
    records: Iterable[Record], size: int, *, large: int = MAX_PART_CHARACTERS
) -> Iterator[TablePart]:
    """Yield parts of ``size`` rows, or of fewer that have ``large`` characters."""
    rows: list[Row] = []
    places: list[Place] = []
    lines: list[str] = []
    n_characters = 0
    for place, row, line in records:
        rows.append(row)
        places.append(place)
        if line is None:
            n_characters += sum(map(len, row.values()))
        else:
            lines.append(line)
            n_characters += len(line)
        if len(rows) >= size or n_characters >= large:
            yield TablePart(rows, places, lines or None)
            rows, places, lines = [], [], []
            n_characters = 0
    if rows:
        yield TablePart(rows, places, lines or None)


def check_columns(name: str, columns: Sequence[str]) -> None:
    """Raise an error if two columns have the same name."""
    places: dict[str, int] = {}
    for place, column in enumerate(columns, start=1):
        if column in places:
            words = f"columns {places[column]} and {place} are both called {short(column)!r}"
            raise TableError(f"{name}: {words}; rename one of them")
        places[column] = place
