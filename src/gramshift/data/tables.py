"""Opening input files, whatever their encoding and compression, as tables that are read part by part."""

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

from gramshift.errors import InputError
from gramshift.runtime.storage import is_url, locate, reaching

LONGEST = 1 << 26  # characters of a line, of a cell or of a text file: longer ones are no documents
SHOWN = 60  # characters of a name in an error


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

    def peek(self, n: int) -> bytes:
        """Return its first bytes, which are read again later; at most n."""
        return cast(io.BufferedReader, self.file).peek(n)[:n]

    def position(self) -> tuple[int, int]:
        """Return how far it has been read, and its size, in bytes on the disk."""
        return (min(self.raw.tell(), self.size), self.size) if self.size else (0, 0)


@contextmanager
def open_input(name: str) -> Iterator[Opened]:
    """Open the file of that name, "-" for standard input; what begins like gzip is decompressed."""
    if name == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; give the name of a file, or documents from a pipe")
        raw: IO[bytes] = sys.stdin.buffer
        with _decompressed(raw, "standard input") as file:
            yield Opened("standard input", file, raw, 0)
        return
    if is_url(name):
        system, path = locate(name)
        with reaching(name):
            size, found = int(system.size(path) or 0), system.open(path, "rb")
        with io.BufferedReader(found) as raw, _decompressed(raw, name) as file:
            yield Opened(name, file, raw, size)
        return
    with Path(name).open("rb") as raw, _decompressed(raw, name) as file:
        yield Opened(name, file, raw, os.fstat(raw.fileno()).st_size)


@contextmanager
def _decompressed(raw: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    if cast(io.BufferedReader, raw).peek(2)[:2] != b"\x1f\x8b":
        yield raw
        return
    try:
        with gzip.open(raw) as file:
            yield cast(IO[bytes], file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TableError(f"{name} is not a whole gzip file ({error}); make it again") from None


def check_reread(name: str) -> None:
    """Raise an error if this is no file that can be opened again and read from its beginning."""
    if name == "-":
        raise TableError("standard input can be read only once, and this has to be read more than once; give a file")
    if os.path.exists(name) and not (os.path.isfile(name) or os.path.isdir(name)):
        raise TableError(f"{name} is a pipe or a device, and this has to be read more than once; save it as a file first")


def check_encoding(encoding: str) -> str:
    """Return the name that Python knows it by; UTF-8 may begin with a byte-order mark."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name, "backslashreplace")  # some codecs turn bytes into bytes, or know no errors
    except (LookupError, TypeError, ValueError):
        raise InputError(f"encoding {encoding!r} is not known; for example utf-8, windows-1252, shift_jis") from None
    return "utf-8-sig" if name == "utf-8" else name


def decoded_lines(opened: Opened, encoding: str, *, longest: int = LONGEST) -> Iterator[str]:
    """Yield lines with their ends; only "\\n" ends a line. A byte that is not in the encoding is an error with its line."""
    known = check_encoding(encoding)
    text = io.TextIOWrapper(cast(Any, opened.file), known, newline="\n")
    name, number = opened.name, 1
    try:
        while line := text.readline(longest + 1):
            if len(line) > longest:
                words = f"{name}, line {number} has more than {longest:,} characters"
                raise TableError(f"{words}; is it a table with a row in each line?")
            yield line
            number += 1
    except UnicodeDecodeError as error:
        before, byte = error.object[: error.start], error.object[error.start]
        is_marked = not before and number == 1 and error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        advice = "it looks like --encoding utf-16" if is_marked else "name the right encoding with --encoding"
        place = number + before.decode(known, "replace").count("\n")
        raise InputError(f"{name}, line {place}: the byte 0x{byte:02x} is not {encoding}; {advice}") from None
    except UnicodeError as error:
        advice = "name the right encoding with --encoding, such as utf-16-le"
        raise InputError(f"{name} is not {encoding} ({error}); {advice}") from None
    finally:
        with suppress(ValueError):  # whoever opened the file has closed it
            text.detach()


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number by its text, because Python would write it otherwise: 1.10, -0, 1e400."""

    text: str

    def __str__(self) -> str:
        return self.text


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
