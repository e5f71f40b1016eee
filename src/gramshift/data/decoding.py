"""Bytes as lines of text, piece by piece, with errors that name the place."""

import codecs
from collections.abc import Iterable, Iterator

MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def check_encoding(encoding: str) -> str:
    """The name that Python knows it by; UTF-8 may begin with a byte-order mark."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs turn bytes into bytes
    except (LookupError, TypeError):
        raise ValueError(f"encoding {encoding!r} is not known; for example utf-8, windows-1252, shift_jis") from None
    return "utf-8-sig" if name == "utf-8" else name


def decoded_lines(pieces: Iterable[bytes], *, encoding: str, name: str) -> Iterator[str]:
    """Lines with their ends; only "\\n" ends a line. A byte that is not in the encoding is an error that names its place."""
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
            raise ValueError(f"{words}, which is not {encoding}; {_advise(data, place)}") from None
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


def _advise(data: bytes, place: int) -> str:
    mark = next((name for mark, name in MARKS.items() if place == 0 and data.startswith(mark)), None)
    return f"it looks like --encoding {mark}" if mark else "name the right encoding with --encoding"
