"""Opening input files, whatever their encoding and compression, as tables that are read part by part."""

import codecs
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from gramshift.errors import InputError
from gramshift.runtime.storage import is_url, locate, reaching

PIECE = 1 << 20  # bytes that are read at a time
LONGEST = 1 << 26  # characters of a line, of a cell or of a text file: longer ones are no documents
MOST_COLUMNS = 1 << 14  # as many as a sheet of Excel has
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
        with io.BufferedReader(Gunzip(raw, name), PIECE) as file:
            yield file
    else:
        yield raw


RATIO = 200  # bytes that a gzip file may hold for each of its own: texts have 3 to 20, what is made to fill memory 1000
SMALL = 1 << 27  # bytes that any gzip file may hold


class Gunzip(io.RawIOBase):
    """What a gzip file holds; refused if that is very much more than the file itself."""

    def __init__(self, raw: IO[bytes], name: str, *, small: int = SMALL) -> None:
        self._raw, self._name, self._small = raw, name, small
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._waiting = b""
        self._n_packed = self._n_found = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._next(len(buffer))
        except (EOFError, zlib.error) as error:
            raise TableError(f"{self._name} is not a whole gzip file ({error}); make it again") from None
        self._n_found += len(data)
        if self._n_found > max(self._small, RATIO * self._n_packed):
            sizes = f"{self._n_packed:,} bytes of gzip hold more than {self._n_found:,}"
            raise TableError(f"{self._name}: {sizes}, which is no usual table; unpack it yourself if it is")
        buffer[: len(data)] = data
        return len(data)

    def _next(self, most: int) -> bytes:
        """Return some bytes; none at the end. A file may have several members, and zeros after them."""
        while True:
            if self._member.eof:
                self._waiting = (self._member.unused_data or self._read()).lstrip(b"\0")
                while not self._waiting:
                    more = self._read()
                    if not more:
                        return b""
                    self._waiting = more.lstrip(b"\0")
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            given = self._waiting or self._read()
            data = self._member.decompress(given, most)
            self._waiting = self._member.unconsumed_tail
            if data:
                return data
            if not given and not self._member.eof:
                raise EOFError("it ends in the middle")

    def _read(self) -> bytes:
        data = self._raw.read(io.DEFAULT_BUFFER_SIZE)
        self._n_packed += len(data)
        return data


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


def within_limits(name: str, lines: Iterator[str], delimiter: str, first: int, begun: list[str]) -> Iterator[str]:
    """The same lines; a row of millions of fields is refused before it becomes as many strings, however many lines it has.

    ``begun`` gets the lines of a row, and is emptied by whoever has read a whole one. Only where there are too many delimiters
    they are looked at, each line once, because those in quotes part no fields.
    """
    line_of_row = n_fields = n_delimiters = n_characters = 0
    is_open = False
    for number, line in enumerate(lines, start=first):
        if not begun:
            line_of_row, n_fields, n_delimiters, n_characters, is_open = number, 1, 0, 0, False
        begun.append(line)
        n_characters += len(line)
        n_delimiters += line.count(delimiter)
        if n_characters > PIECE and n_fields + n_delimiters > MOST_COLUMNS:
            for one in begun:
                found, is_open = _count_outside(one, is_open, delimiter)
                n_fields += found
            if n_fields > MOST_COLUMNS:
                words = f"{n_fields:,} fields{' or more' if is_open else ''}; a table may have {MOST_COLUMNS:,} columns"
                raise TableError(f"{name}, line {line_of_row} has {words}")
            begun[:], n_delimiters = [""], 0
        if n_characters > 2 * LONGEST:
            words = f"the row has more than {2 * LONGEST:,} characters; perhaps a quote opens here and never closes"
            raise TableError(f"{name}, line {line_of_row}: {words}")
        yield line


def _count_outside(line: str, is_open: bool, delimiter: str) -> tuple[int, bool]:
    """Return how many delimiters are not in quotes, and whether a quote is open at the end; ``is_open``: at the beginning."""
    n_found = at = 0
    if not is_open and line.startswith('"'):
        is_open, at = True, 1
    while True:
        if is_open:
            at = line.find('"', at)
            if at < 0:
                return n_found, True
            is_open = line.startswith('""', at)
            at += 1 + is_open
        else:
            opens = line.find(delimiter + '"', at)
            if opens < 0:
                return n_found + line.count(delimiter, at), False
            n_found += line.count(delimiter, at, opens + 1)
            is_open, at = True, opens + 2


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
    """Raise an error if two columns have one name, or there are too many."""
    if len(columns) > MOST_COLUMNS:
        raise TableError(
            f"{name} has {len(columns):,} columns; there may be {MOST_COLUMNS:,}: take out those that nobody needs"
        )
    places: dict[str, int] = {}
    for place, column in enumerate(columns, start=1):
        if column in places:
            words = f"columns {places[column]} and {place} are both called {short(column)!r}"
            raise TableError(f"{name}: {words}; rename one of them")
        places[column] = place


def short(name: str) -> str:
    """Return a name, cut where it would fill a screen."""
    return name if len(name) <= SHOWN else name[: SHOWN - 3] + "..."
