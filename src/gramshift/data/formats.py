"""Which format an input has, and opening it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from gramshift.data.delimited import read_delimited
from gramshift.data.folders import read_folder
from gramshift.data.jsonl import read_jsonl
from gramshift.data.opening import Opened, TableError, open_input
from gramshift.data.parquet import read_parquet
from gramshift.data.tables import Table


class Reader(Protocol):
    def __call__(self, opened: Opened, *, format: str, encoding: str) -> Table: ...


READERS: dict[str, Reader] = {"csv": read_delimited, "tsv": read_delimited, "jsonl": read_jsonl, "parquet": read_parquet}
ENDS = {"csv": "csv", "tsv": "tsv", "tab": "tsv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet"}
KNOWN = "csv, tsv, jsonl and parquet, each also as .gz, and folders of .txt files"


@contextmanager
def open_table(name: str, *, format: str | None = None, encoding: str = "utf-8") -> Iterator[Table]:
    """A file, a folder, or "-" for standard input; it has a row at least."""
    if format is not None and format not in READERS:
        raise TableError(f"--format {format}: there are {', '.join(READERS)}")
    if name != "-" and Path(name).is_dir():
        yield read_folder(name, encoding=encoding)
        return
    found = format or (None if name == "-" else format_of(name))
    with open_input(name) as opened:
        kind = found or _guess(opened)
        yield READERS[kind](opened, format=kind, encoding=encoding)


def format_of(name: str, option: str = "--format") -> str:
    """By the end of the name."""
    end = Path(name.lower().removesuffix(".gz")).suffix.lstrip(".")
    if end in ENDS:
        return ENDS[end]
    advice = {
        "json": "write one object per line and call it .jsonl",
        "xlsx": "save the sheet as csv",
        "xls": "save the sheet as csv",
        "txt": "put it into a folder of .txt files, one document each, or say what is in it with " + option,
    }.get(end, f"say which it is with {option}")
    raise TableError(
        f"{name}: the format {'.' + end if end else 'of a name without an end'} is not known; {advice}. Known are {KNOWN}"
    )


def _guess(opened: Opened) -> str:
    """What comes through standard input, by how it begins."""
    peek = getattr(opened.file, "peek", None)
    begin: bytes = peek(4096)[:4096].lstrip(b"\xef\xbb\xbf \r\n\t") if peek is not None else b""
    if begin.startswith(b"PAR1"):
        return "parquet"
    if begin.startswith(b"{"):
        return "jsonl"
    header = begin.split(b"\n")[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"
