"""Opening input files, whatever their encoding and compression, as tables that are read part by part."""

import codecs
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from gramshift.errors import InputError
from gramshift.runtime.storage import is_url, locate, reaching

PIECE = 1 << 20  # bytes that are read at a time
LONGEST = 1 << 26  # characters of a line, of a cell or of a text file: longer ones are no documents
SHOWN = 60  # characters of a name in an error
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
        while piece := self.file.read(PIECE):
            yield piece

    def position(self) -> tuple[int, int]:
        """Return how far it has been read, and its size, in bytes on the disk."""
        return (min(self.raw.tell(), self.size), self.size) if self.size else (0, 0)


@contextmanager
def open_input(name: str, *, naming: Naming = as_parameter) -> Iterator[Opened]:
    """Open the file of that name, "-" for standard input; what begins like gzip is decompressed."""
    if name == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; give the name of a file, or documents from a pipe")
        raw: IO[bytes] = sys.stdin.buffer
        with _decompressed(raw, "standard input") as file:
            yield Opened("standard input", file, raw, 0, naming)
        return
    if is_url(name):
        system, path = locate(name)
        with reaching(name):
            size, found = int(system.size(path) or 0), system.open(path, "rb")
        with io.BufferedReader(found) as raw, _decompressed(raw, name) as file:
            yield Opened(name, file, raw, size, naming)
        return
    if "\0" in name:
        raise InputError(f"{name!r} holds a NUL character, which no name of a file does")
    with Path(name).open("rb") as raw, _decompressed(raw, name) as file:
        yield Opened(name, file, raw, os.fstat(raw.fileno()).st_size, naming)


@contextmanager
def _decompressed(raw: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    peek = getattr(raw, "peek", None)
    if peek is not None and peek(2)[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=raw) as file:
                yield cast(IO[bytes], file)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TableError(f"{name} is not a whole gzip file ({error}); make it again") from None
    else:
        yield raw


KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def check_reread(name: str) -> None:
    """Raise an error if this is no file that can be opened again and read from its beginning."""
    if name == "-":
        raise TableError("standard input can be read only once, and documents in parts are read more often; give a file")
    if is_url(name) or not os.path.exists(name):  # of one that is not there, opening it tells
        return
    kind = KINDS.get(stat.S_IFMT(os.stat(name).st_mode))
    if kind is not None:
        raise TableError(f"{name} is {kind}, and this has to be read more than once; save it as a file first")


MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


NO_TEXTS = ("idna", "punycode", "undefined")  # of names of hosts, or of nothing


def check_encoding(encoding: str) -> str:
    """Return the name that Python knows it by; UTF-8 may begin with a byte-order mark."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs turn bytes into bytes
    except (LookupError, TypeError, ValueError):
        name = NO_TEXTS[-1]
    if name in NO_TEXTS:
        raise InputError(f"encoding {encoding!r} is not known; for example utf-8, windows-1252, shift_jis")
    return "utf-8-sig" if name == "utf-8" else name


def decoded_lines(
    pieces: Iterable[bytes], *, encoding: str, name: str, naming: Naming = as_parameter, longest: int = LONGEST
) -> Iterator[str]:
    """Yield lines with their ends; only "\\n" ends a line. A byte that is not in the encoding is an error with its place."""
    known = check_encoding(encoding)
    decoder = codecs.getincrementaldecoder(known)()
    line, seen = 1, 0
    begun: list[str] = []  # of a line whose end is in a later piece
    n_begun = 0
    for piece in _and_an_end(pieces):
        try:
            first, *lines = decoder.decode(piece, final=not piece).split("\n")
        except UnicodeDecodeError as error:
            data, start = error.object, error.start
            place = seen + len(piece) - len(data) + start  # what was left of the last piece stands before this one
            number = line + data[:start].decode(known, "replace").count("\n")
            words = f"{name}, line {number}: byte {place + 1} of the file is 0x{data[start]:02x}"
            raise InputError(f"{words}, which is not {encoding}; {_advise(data, place, naming)}") from None
        except UnicodeError as error:
            advice = f"name the right encoding with {naming('encoding')}, such as utf-16-le"
            raise InputError(f"{name} is not {encoding} ({error}); {advice}") from None
        seen += len(piece)
        begun.append(first)
        n_begun += len(first)
        if n_begun > longest:
            raise TableError(
                f"{name}, line {line} has more than {longest:,} characters; is it a table with a row in each line?"
            )
        if lines:
            yield "".join(begun) + "\n"
            *lines, last = lines
            for one in lines:
                yield one + "\n"
            line += 1 + len(lines)
            begun, n_begun = [last], len(last)
    if n_begun:
        yield "".join(begun)


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
    """The same as the format has it: a batch of a parquet file, the lines of a jsonl."""


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
    """Of a jsonl they grow while it is read, as keys come that no row had before."""
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


Record = tuple[Place, Row, str | None]
"""Where a row stands, its cells, and the line that it was read from, if whoever writes it again needs that."""


def in_parts(records: Iterable[Record], size: int, *, large: int = LARGE) -> Iterator[Part]:
    """Yield parts of ``size`` rows, fewer where texts are very long: a part ends after ``large`` characters."""
    found: list[Row] = []
    places: list[Place] = []
    lines: list[str] = []
    n_characters = 0
    for place, row, line in records:
        found.append(row)
        places.append(place)
        if line is None:
            n_characters += sum(map(len, row.values()))
        else:
            lines.append(line)
            n_characters += len(line)
        if len(found) >= size or n_characters >= large:
            yield Part(found, places, lines or None)
            found, places, lines, n_characters = [], [], [], 0
    if found:
        yield Part(found, places, lines or None)


def check_columns(name: str, columns: Sequence[str]) -> None:
    """Raise an error if two columns have one name."""
    places: dict[str, int] = {}
    for place, column in enumerate(columns, start=1):
        if column in places:
            words = f"columns {places[column]} and {place} are both called {short(column)!r}"
            raise TableError(f"{name}: {words}; rename one of them")
        places[column] = place


def short(name: str) -> str:
    """Return a name, cut where it would fill a screen."""
    return name if len(name) <= SHOWN else name[: SHOWN - 3] + "..."
