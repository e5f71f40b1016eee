"""Files, standard input, compressed or not, as pieces of bytes."""

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PIECE = 1 << 20


class TableError(ValueError):
    """An input that cannot be read; the message names the file and the place."""


@dataclass
class Opened:
    """An input under way."""

    name: str
    file: IO[bytes]
    raw: IO[bytes]
    size: int
    """Of the file on disk, 0 if not known."""

    def pieces(self) -> Iterator[bytes]:
        """What it holds, a part at a time."""
        try:
            while piece := self.file.read(PIECE):
                yield piece
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise TableError(f"{self.name} is not a whole gzip file ({error}); make it again") from None

    def position(self) -> tuple[int, int]:
        """How far it has been read, and its size, in bytes on the disk."""
        return (min(self.raw.tell(), self.size), self.size) if self.size else (0, 0)


@contextmanager
def open_input(name: str) -> Iterator[Opened]:
    """The file of that name, "-" for standard input; what begins like gzip is decompressed."""
    if name == "-":
        raw: IO[bytes] = sys.stdin.buffer
        with _decompressed(raw) as file:
            yield Opened("standard input", file, raw, 0)
        return
    with Path(name).open("rb") as raw, _decompressed(raw) as file:
        yield Opened(name, file, raw, os.fstat(raw.fileno()).st_size)


@contextmanager
def _decompressed(raw: IO[bytes]) -> Iterator[IO[bytes]]:
    peek = getattr(raw, "peek", None)
    if peek is not None and peek(2)[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=raw, mode="rb") as file:
            yield file  # type: ignore[misc]
    else:
        yield raw
