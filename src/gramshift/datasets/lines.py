"""Text files with one document per line."""

import sys
from pathlib import Path


def read_lines(path: str, *, encoding: str = "utf-8") -> list[str]:
    """The lines of a file, or of standard input for "-"; a byte-order mark is no part of the first one.

    Only "\\n" and "\\r\\n" end a line. An empty line is an empty document. A byte that is not in the encoding is an error that
    names its line.
    """
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    lines = data.removeprefix(b"\xef\xbb\xbf" if encoding.lower().replace("-", "") == "utf8" else b"").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    documents = []
    for number, line in enumerate(lines, start=1):
        try:
            documents.append(line.removesuffix(b"\r").decode(encoding))
        except UnicodeDecodeError as error:
            place = f"{path}, line {number}: byte {error.start + 1} of the line is 0x{line[error.start]:02x}"
            raise ValueError(f"{place}, which is not {encoding}; name the right encoding with --encoding") from None
        except LookupError:
            raise ValueError(f"encoding {encoding!r} is not known; for example utf-8, windows-1252, shift_jis") from None
    return documents
