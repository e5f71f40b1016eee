"""Text files with one document per line."""

import codecs
import sys
from pathlib import Path


def read_lines(path: str, *, encoding: str = "utf-8") -> list[str]:
    """The lines of a file, or of standard input for "-"; a byte-order mark is no part of the first one.

    Only "\\n" and "\\r\\n" end a line. An empty line is an empty document. A byte that is not in the encoding is an error that
    names its line.
    """
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(f"encoding {encoding!r} is not known; for example utf-8, windows-1252, shift_jis") from None
    try:
        text = data.decode("utf-8-sig" if name == "utf-8" else name)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].decode(name, "replace").count("\n") + 1
        place = f"{path}, line {line}: byte {error.start + 1} of the file is 0x{data[error.start]:02x}"
        raise ValueError(f"{place}, which is not {encoding}; name the right encoding with --encoding") from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
