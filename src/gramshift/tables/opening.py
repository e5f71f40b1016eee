"""Opening tables: which format a file has, folders of texts, and many files at once."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gramshift.files import is_url, locate, naming_url
from gramshift.tables.delimited import read_delimited
from gramshift.tables.jsonl import read_jsonl
from gramshift.tables.parquet import read_parquet
from gramshift.tables.table import (
    MAX_CHARACTERS,
    InputFile,
    Record,
    Table,
    TableError,
    TableStyle,
    decoded_lines,
    in_parts,
    open_input,
)

READERS: dict[str, Callable[..., Table]] = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
}
FORMATS = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "pq": "parquet",
}
"""The format of a file by its extension."""
KNOWN = "csv, tsv, jsonl and parquet, each also as .gz, and folders of .txt files"
TEXT_SUFFIXES = (".txt", ".txt.gz")


def read_lines(path: str, *, encoding: str = "utf-8") -> list[str]:
    r"""Read the lines of a file, or of standard input for "-", as documents.

    Only "\n" and "\r\n" end a line, and an empty line is an empty document. A byte-order mark is
    not part of the first line. A byte that is not in the encoding is an error that names its line.
    """
    with open_input(path) as opened:
        lines = decoded_lines(opened, encoding)
        return [line.removesuffix("\n").removesuffix("\r") for line in lines]


@contextmanager
def open_table(name: str, *, format: str | None = None, encoding: str = "utf-8") -> Iterator[Table]:
    """Open a file, a folder, or "-" for standard input; raise an error if it has no rows."""
    if format is not None and format not in READERS:
        raise TableError(f"--format {format}: there are {', '.join(READERS)}")
    if name != "-" and Path(name).is_dir():
        yield read_folder(name, encoding=encoding)
        return
    if format is None and name != "-":
        format = format_of(name, "--format")
    with open_input(name) as opened:
        format = format or _guess_format(opened)
        yield READERS[format](opened, format=format, encoding=encoding)


def format_of(name: str, option: str) -> str:
    """Return the format of a file by its extension; advise to give ``option`` if it is unknown."""
    suffix = _suffix(name)
    if suffix in FORMATS:
        return FORMATS[suffix]
    text_advice = "put it into a folder of .txt files, one document each, or say what is in it with"
    advice = {
        "json": "write one object per line and call it .jsonl",
        "xlsx": "save the sheet as csv",
        "xls": "save the sheet as csv",
        "txt": f"{text_advice} {option}",
    }.get(suffix, f"say which it is with {option}")
    shown = f".{suffix}" if suffix else "of a name without an end"
    raise TableError(f"{name}: the format {shown} is not known; {advice}. Known are {KNOWN}")


def _suffix(name: str) -> str:
    return Path(name.lower().removesuffix(".gz")).suffix.lstrip(".")


def _guess_format(opened: InputFile) -> str:
    """Guess the format of standard input by its beginning."""
    begin = opened.peek(4096).lstrip(b"\xef\xbb\xbf \r\n\t")
    if begin.startswith(b"PAR1"):
        return "parquet"
    if begin.startswith(b"{"):
        return "jsonl"
    header = begin.split(b"\n")[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"


def find_files(given: str, *, format: str | None = None, option: str = "--input") -> list[str]:
    """Return the names of the files that a name stands for, in order.

    A pattern such as ``parts/*.jsonl`` stands for all files that match. A folder stands for the
    tables in it, or with ``format`` for all its files, but not for names that begin with a dot or
    an underscore; a folder of .txt files is a single table. Any other name stands for itself.
    """
    system, path = locate(given)
    with naming_url(given):
        if given == "-" or system.isfile(path):
            return [given]
        if system.isdir(path):
            if not is_url(given) and _has_texts(Path(path)):
                return [given]
            names = [one for one in system.ls(path, detail=False) if _is_visible(one)]
            files = [one for one in names if format or _suffix(one) in FORMATS]
            advice = "if they have other names, give their format with --format"
            problem = f"{given} has no tables, such as .csv or .jsonl files; {advice}"
        elif any(sign in path for sign in "*?["):
            files = system.glob(path)
            problem = f"{option} {given}: no file has a name like this"
        else:
            return [given]  # opening it raises a better error
        files = sorted(one for one in files if not system.isdir(one))
        for one in files:  # a link that leads nowhere is a bad file among others
            if not is_url(given) and os.path.exists(one) and not os.path.isfile(one):
                advice = "remove it, or name the others"
                raise TableError(f"{option} {given}: {one} is a pipe or a device; {advice}")
        if not files:
            raise TableError(problem)
        return [str(system.unstrip_protocol(one)) for one in files]


def _is_visible(path: str) -> bool:
    return not os.path.basename(path).startswith((".", "_"))


def read_folder(name: str, *, encoding: str) -> Table:
    """Read a folder of texts: the name of a file is its id, the name of its folder its label.

    Files that are directly in the folder have no labels.
    """
    folder = Path(name)
    files, by_class = _texts(folder), _texts_by_class(folder)
    if files and by_class:
        classes = ", ".join(map(_decode_name, by_class))
        problem = f"{name} has .txt files of its own and in folders ({classes})"
        raise TableError(f"{problem}; keep one or the other")
    if not files and not by_class:
        advice = "a csv file is given by its own name"
        raise TableError(f"{name} has no .txt files, nor folders of them; {advice}")
    files = files or [path for paths in by_class.values() for path in paths]
    n_read = 0

    def rows() -> Iterator[Record]:
        nonlocal n_read
        for path in files:
            place = _decode_name(path.relative_to(folder).as_posix())
            row = {"id": place, "text": _read_text(path, encoding)}
            if by_class:
                row["label"] = _decode_name(path.parent.name)
            yield place, row, None
            n_read += 1

    columns = ["id", "text", "label"] if by_class else ["id", "text"]
    style = TableStyle("csv", kept=[column for column in columns if column != "text"])
    return Table(
        name,
        columns,
        style,
        lambda size: in_parts(rows(), size),
        lambda: (n_read, len(files)),
        "file",
    )


def _read_text(path: Path, encoding: str) -> str:
    lines, n_characters = [], 0
    with open_input(os.fspath(path)) as opened:
        for line in decoded_lines(opened, encoding):
            lines.append(line)
            n_characters += len(line)
            if n_characters > MAX_CHARACTERS:
                problem = f"{path} has more than {MAX_CHARACTERS:,} characters"
                raise TableError(f"{problem}, too many for one document")
    return "".join(lines)


def _decode_name(name: str) -> str:
    r"""Return the name of a file as text, with bytes that are not UTF-8 as \xe9."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _texts(folder: Path) -> list[Path]:
    """Return the texts in a folder; opening a broken link raises its own error later."""
    names = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return [
        path for path in names if path.name.lower().endswith(TEXT_SUFFIXES) and not path.is_dir()
    ]


def _texts_by_class(folder: Path) -> dict[str, list[Path]]:
    """Return the texts in each folder of a folder that has any, by the name of that folder."""
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    by_class = {path.name: _texts(path) for path in folders if not path.name.startswith(".")}
    return {name: files for name, files in by_class.items() if files}


def _has_texts(folder: Path) -> bool:
    return bool(_texts(folder) or _texts_by_class(folder))
