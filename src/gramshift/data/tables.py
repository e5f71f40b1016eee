"""Opening input files, whatever their encoding and compression, as tables that are read part by part."""

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from gramshift.errors import InputError
from gramshift.runtime.storage import is_url, locate, reaching

PIECE = 1 << 20  # bytes that are read at a time
Naming = Callable[..., str]
"""naming(name), naming(name, value): how errors call a parameter, so that whoever reads them knows what to type."""


def as_parameter(name: str, value: object = None) -> str:
    """Name a parameter as Python has it: ``label=``, or ``label='stars'``."""
    return f"{name}=" if value is None else f"{name}={value!r}"


class TableError(InputError):
    """An input that cannot be read; the message names the file and the place."""


@dataclass
class Opened:
    """An input under way."""

    name: str
    file: IO[bytes]
    raw: IO[bytes]
    size: int
    """Bytes of the file on disk, 0 if not known."""
    naming: Naming = as_parameter

    def pieces(self) -> Iterator[bytes]:
        """Yield what it holds, a part at a time."""
        try:
            while piece := self.file.read(PIECE):
                yield piece
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise TableError(f"{self.name} is not a whole gzip file ({error}); make it again") from None

    def position(self) -> tuple[int, int]:
        """Return how far it has been read, and its size, in bytes on the disk."""
        return (min(self.raw.tell(), self.size), self.size) if self.size else (0, 0)


@contextmanager
def open_input(name: str, *, naming: Naming = as_parameter) -> Iterator[Opened]:
    """Open the file of that name, "-" for standard input; what begins like gzip is decompressed."""
    if name == "-":
        raw: IO[bytes] = sys.stdin.buffer
        with _decompressed(raw) as file:
            yield Opened("standard input", file, raw, 0, naming)
        return
    if is_url(name):
        system, path = locate(name)
        with reaching(name):
            size, found = int(system.size(path) or 0), system.open(path, "rb")
        with io.BufferedReader(found) as raw, _decompressed(raw) as file:
            yield Opened(name, file, raw, size, naming)
        return
    with Path(name).open("rb") as raw, _decompressed(raw) as file:
        yield Opened(name, file, raw, os.fstat(raw.fileno()).st_size, naming)


@contextmanager
def _decompressed(raw: IO[bytes]) -> Iterator[IO[bytes]]:
    peek = getattr(raw, "peek", None)
    if peek is not None and peek(2)[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=raw, mode="rb") as file:
            yield file  # type: ignore[misc]
    else:
        yield raw


MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def check_encoding(encoding: str) -> str:
    """Return the name that Python knows it by; UTF-8 may begin with a byte-order mark."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs turn bytes into bytes
    except (LookupError, TypeError):
        raise InputError(f"encoding {encoding!r} is not known; for example utf-8, windows-1252, shift_jis") from None
    return "utf-8-sig" if name == "utf-8" else name


def decoded_lines(pieces: Iterable[bytes], *, encoding: str, name: str, naming: Naming = as_parameter) -> Iterator[str]:
    """Yield lines with their ends; only "\\n" ends a line. A byte that is not in the encoding is an error with its place."""
    known = check_encoding(encoding)
    decoder = codecs.getincrementaldecoder(known)()
    line, seen, rest = 1, 0, ""
    for piece in _and_an_end(pieces):
        try:
            text = rest + decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            data, start = error.object, error.start
            before = rest + data[:start].decode(known, "replace")
            place = seen + len(piece) - len(data) + start  # what was left of the last piece stands before this one
            words = f"{name}, line {line + before.count(chr(10))}: byte {place + 1} of the file is 0x{data[start]:02x}"
            raise InputError(f"{words}, which is not {encoding}; {_advise(data, place, naming)}") from None
        seen += len(piece)
        *lines, rest = text.split("\n") if "\n" in text else [text]
        for one in lines:
            yield one + "\n"
        line += len(lines)
    if rest:
        yield rest


def _and_an_end(pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield from (piece for piece in pieces if piece)
    yield b""


def _advise(data: bytes, place: int, naming: Naming) -> str:
    mark = next((name for mark, name in MARKS.items() if place == 0 and data.startswith(mark)), None)
    return f"it looks like {naming('encoding', mark)}" if mark else f"name the right encoding with {naming('encoding')}"


LARGE = 1 << 24  # characters after which a part ends, however few rows it has
Place = int | str
Row = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """Some rows of a table, one after another, and the line or file of each."""

    rows: list[Row]
    places: list[Place]
    native: Any = None
    """The same as the format has it, for those that do not come row by row."""


@dataclass(frozen=True)
class Style:
    """How a table was written, for one that is to look like it."""

    format: str
    encoding: str = "utf-8"
    delimiter: str = ","
    line_end: str = "\n"
    schema: Any = None
    kept: list[str] | None = None
    """The columns that are written again; all if None."""


@dataclass(frozen=True)
class Table:
    """An input that is open: its columns are known, its rows come in parts, once."""

    name: str
    columns: list[str]
    style: Style
    parts: Callable[[int], Iterator[Part]] = field(repr=False)
    """parts(n) yields the rows in order, n at most in each part."""
    position: Callable[[], tuple[int, int]] = field(repr=False)
    """Bytes read so far, bytes in all; 0 if not known."""
    unit: str = "line"
    naming: Naming = field(default=as_parameter, repr=False)
    """How errors about the table call the parameters of whoever opened it."""

    def at(self, place: Place) -> str:
        """Return the place in words, to begin an error with."""
        return f"{self.name}, {self.unit} {place}"


def in_parts(rows: Iterable[tuple[Place, Row]], size: int, *, large: int = LARGE) -> Iterator[Part]:
    """Yield parts of ``size`` rows, fewer where texts are very long: a part ends after ``large`` characters."""
    found: list[Row] = []
    places: list[Place] = []
    n_characters = 0
    for place, row in rows:
        found.append(row)
        places.append(place)
        n_characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(found) >= size or n_characters >= large:
            yield Part(found, places)
            found, places, n_characters = [], [], 0
    if found:
        yield Part(found, places)


def check_columns(name: str, columns: list[str]) -> None:
    """Raise an error if two columns have one name."""
    for place, column in enumerate(columns):
        if column in columns[:place]:
            first = columns.index(column) + 1
            raise TableError(f"{name}: columns {first} and {place + 1} are both called {column!r}; rename one of them")
