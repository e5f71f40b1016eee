"""Text files with one document per line."""

from gramshift.data.decoding import decoded_lines
from gramshift.data.opening import open_input


def read_lines(path: str, *, encoding: str = "utf-8") -> list[str]:
    """The lines of a file, or of standard input for "-"; a byte-order mark is no part of the first one.

    Only "\\n" and "\\r\\n" end a line. An empty line is an empty document. A byte that is not in the encoding is an error that
    names its line.
    """
    with open_input(path) as opened:
        lines = decoded_lines(opened.pieces(), encoding=encoding, name=path)
        return [line.removesuffix("\n").removesuffix("\r") for line in lines]
