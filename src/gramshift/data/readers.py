"""A reader for each format of files, and which format a file has."""

import csv
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

from gramshift.data.tables import (
    Naming,
    Opened,
    Part,
    Place,
    Row,
    Style,
    Table,
    TableError,
    as_parameter,
    check_columns,
    check_encoding,
    decoded_lines,
    in_parts,
    open_input,
)
from gramshift.runtime.storage import is_url, locate, reaching


def read_lines(path: str, *, encoding: str = "utf-8", naming: Naming = as_parameter) -> list[str]:
    """Read the lines of a file, or of standard input for "-"; a byte-order mark is no part of the first one.

    Only "\\n" and "\\r\\n" end a line. An empty line is an empty document. A byte that is not in the encoding is an error that
    names its line.
    """
    with open_input(path, naming=naming) as opened:
        lines = decoded_lines(opened.pieces(), encoding=encoding, name=path, naming=naming)
        return [line.removesuffix("\n").removesuffix("\r") for line in lines]


LONGEST = 2**31 - 1  # characters of one field; Python's own limit is 131,072
DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}


def read_delimited(opened: Opened, *, format: str, encoding: str) -> Table:
    """Read a csv or tsv. The first line names the columns; what parts them in a csv is seen there."""
    csv.field_size_limit(LONGEST)
    name = opened.name
    pieces = opened.pieces()
    first = next(pieces, b"")
    marked = first.startswith(b"\xef\xbb\xbf") and check_encoding(encoding) == "utf-8-sig"
    lines = decoded_lines(chain([first], pieces), encoding=encoding, name=name, naming=opened.naming)
    header = next((line for line in lines if line.strip()), None)
    if header is None:
        raise TableError(f"{name} is empty; it should begin with a line that names the columns, such as id,text,label")
    delimiter = next((one for one in DELIMITERS[format] if one in header), DELIMITERS[format][0])
    rows = _rows(name, chain([header], lines), delimiter)
    columns = next(rows)[1]
    check_columns(name, columns)
    named = _named(name, columns, rows)
    one = next(named, None)
    if one is None:
        raise TableError(f"{name} has a header ({', '.join(columns)}), but no rows")
    style = Style(format, "utf-8-sig" if marked else encoding, delimiter, line_end="\r\n" if header.endswith("\r\n") else "\n")
    rest = chain([one], named)
    return Table(name, columns, style, lambda size: in_parts(rest, size), opened.position, naming=opened.naming)


def _rows(name: str, lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row that is not blank, and the line where it begins."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        words = {
            "unexpected end of data": "a quote opens here and never closes",
            "new-line": 'a line ends with "\\r" alone; save the file with ordinary line ends',
        }
        meant = next((value for key, value in words.items() if str(error).startswith(key)), f"not a row of a table: {error}")
        raise TableError(f"{name}, line {line}: {meant}") from None


def _named(name: str, columns: list[str], rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[Place, Row]]:
    for line, fields in rows:
        if len(fields) != len(columns):
            advice = "put quotes around texts that hold commas, quotes or line ends"
            raise TableError(f"{name}, line {line} has {len(fields)} fields, but the header has {len(columns)}; {advice}")
        yield line, dict(zip(columns, fields, strict=True))


LOOKED_AT = 1000  # rows whose keys are taken for the columns


def read_jsonl(opened: Opened, *, format: str, encoding: str) -> Table:
    """Read one object per line; keys may be missing in some rows, and those of the first LOOKED_AT are the columns."""
    rows = _records(opened, encoding)
    first = list(islice(rows, LOOKED_AT))
    if not first:
        raise TableError(
            f'{opened.name} is empty; it should hold one object per line, such as {{"text": "...", "label": "..."}}'
        )
    columns = list(dict.fromkeys(key for _, row in first for key in row))
    return Table(
        opened.name,
        columns,
        Style(format, encoding),
        lambda size: in_parts(chain(first, rows), size),
        opened.position,
        naming=opened.naming,
    )


def _records(opened: Opened, encoding: str) -> Iterator[tuple[Place, Row]]:
    lines = decoded_lines(opened.pieces(), encoding=encoding, name=opened.name, naming=opened.naming)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_without_copies)
        except (ValueError, RecursionError) as error:
            words = getattr(error, "msg", str(error))
            raise TableError(f"{opened.name}, line {number} is not JSON: {words}; every line is an object of its own") from None
        if not isinstance(row, dict):
            kind = "an array" if isinstance(row, list) else "a single value"
            raise TableError(f'{opened.name}, line {number} is {kind}; every line is an object such as {{"text": "..."}}')
        yield number, row


def _without_copies(pairs: list[tuple[str, object]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return row


TEXT_ENDS = (".txt", ".txt.gz")


def read_folder(name: str, *, encoding: str, naming: Naming = as_parameter) -> Table:
    """Read a folder of texts: a file's name is its id, the folder that it stands in its label, if there is one per class."""
    folder = Path(name)
    here, below = _texts(folder), {one.name: _texts(one) for one in sorted(folder.iterdir()) if _is_class(one)}
    below = {label: files for label, files in below.items() if files}
    if here and below:
        raise TableError(f"{name} has .txt files of its own and in folders ({', '.join(below)}); keep one or the other")
    if not here and not below:
        raise TableError(f"{name} has no .txt files, nor folders of them; a csv file is given by its own name")
    files = here or [path for paths in below.values() for path in paths]
    done = 0

    def rows() -> Iterator[tuple[Place, Row]]:
        nonlocal done
        for path in files:
            with open_input(os.fspath(path)) as opened:
                text = "".join(decoded_lines(opened.pieces(), encoding=encoding, name=opened.name, naming=naming))
            place = path.relative_to(folder).as_posix()
            row = {"id": place, "text": text}
            yield place, row | {"label": path.parent.name} if below else row
            done += 1

    columns = ["id", "text", "label"] if below else ["id", "text"]
    style = Style("csv", kept=[column for column in columns if column != "text"])
    return Table(name, columns, style, lambda size: in_parts(rows(), size), lambda: (done, len(files)), "file", naming)


def _texts(folder: Path) -> list[Path]:
    return sorted(
        one for one in folder.iterdir() if one.name.endswith(TEXT_ENDS) and not one.name.startswith(".") and one.is_file()
    )


def _is_class(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def read_parquet(opened: Opened, *, format: str, encoding: str) -> Table:
    """Read a parquet file; its parts keep the types of the file."""
    pyarrow = import_pyarrow()
    seekable = opened.file is opened.raw and opened.size > 0
    try:
        file = pyarrow.parquet.ParquetFile(opened.file if seekable else io.BytesIO(b"".join(opened.pieces())))
    except (pyarrow.ArrowException, OSError) as error:
        raise TableError(f"{opened.name} is not a parquet file ({str(error).splitlines()[0]})") from None
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    check_columns(opened.name, schema.names)
    done = 0

    def parts(size: int) -> Iterator[Part]:
        nonlocal done
        try:
            for batch in file.iter_batches(batch_size=size):
                yield Part(batch.to_pylist(), list(range(done + 1, done + 1 + len(batch))), batch)
                done += len(batch)
        except (pyarrow.ArrowException, OSError) as error:
            raise TableError(f"{opened.name} cannot be read on after row {done} ({str(error).splitlines()[0]})") from None

    if n_rows == 0:
        raise TableError(f"{opened.name} has columns, but no rows")
    style = Style(format, schema=schema)
    return Table(opened.name, list(schema.names), style, parts, lambda: (done, n_rows), "row", opened.naming)


def import_pyarrow() -> Any:
    """Return pyarrow with its module parquet, or raise an error that says how to get this extra."""
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise TableError("parquet files need pyarrow: pip install 'gramshift[parquet]'") from None
    return pyarrow


class Reader(Protocol):
    def __call__(self, opened: Opened, *, format: str, encoding: str) -> Table: ...


READERS: dict[str, Reader] = {"csv": read_delimited, "tsv": read_delimited, "jsonl": read_jsonl, "parquet": read_parquet}
ENDS = {"csv": "csv", "tsv": "tsv", "tab": "tsv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet"}
KNOWN = "csv, tsv, jsonl and parquet, each also as .gz, and folders of .txt files"


@contextmanager
def open_table(
    name: str, *, format: str | None = None, encoding: str = "utf-8", naming: Naming = as_parameter
) -> Iterator[Table]:
    """Open a file, a folder, or "-" for standard input; it has a row at least.

    ``naming`` says how errors call the parameters: as options of the command, for those who typed these.
    """
    if format is not None and format not in READERS:
        raise TableError(f"{naming('format', format)}: there are {', '.join(READERS)}")
    if name != "-" and Path(name).is_dir():
        yield read_folder(name, encoding=encoding, naming=naming)
        return
    found = format or (None if name == "-" else format_of(name, naming("format")))
    with open_input(name, naming=naming) as opened:
        kind = found or _guess(opened)
        yield READERS[kind](opened, format=kind, encoding=encoding)


def find_files(given: str, *, format: str | None = None, option: str = "--input") -> list[str]:
    """The files that a name stands for, in order: itself, those that fit a pattern such as ``parts/*.jsonl``, or of a folder.

    Of a folder these are the tables in it, with ``format`` all its files; names that begin with a dot or an underscore are left
    out. A folder of .txt files is one table.
    """
    system, path = locate(given)
    with reaching(given):
        if given == "-" or system.isfile(path):
            return [given]
        if system.isdir(path):
            if not is_url(given) and (_texts(Path(path)) or any(map(_texts, filter(_is_class, Path(path).iterdir())))):
                return [given]
            files = [one for one in system.ls(path, detail=False) if _is_visible(one) and (format or _is_table(one))]
            words = (
                f"{given} has no tables, such as .csv or .jsonl files; if they have other names, say what they are: --format"
            )
        elif any(sign in path for sign in "*?["):
            files, words = system.glob(path), f"{option} {given}: no file has a name like this"
        else:
            return [given]  # the error of whoever opens it says more
        files = sorted(filter(system.isfile, files))
        if not files:
            raise TableError(words)
        return [str(system.unstrip_protocol(one)) for one in files]


def _is_visible(path: str) -> bool:
    return not os.path.basename(path).startswith((".", "_"))


def _is_table(name: str) -> bool:
    return Path(name.lower().removesuffix(".gz")).suffix.lstrip(".") in ENDS


def format_of(name: str, option: str) -> str:
    """Return the format that the end of the name says; ``option`` is what the user can give where it says none."""
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
    """Guess the format of what comes through standard input by how it begins."""
    peek = getattr(opened.file, "peek", None)
    begin: bytes = peek(4096)[:4096].lstrip(b"\xef\xbb\xbf \r\n\t") if peek is not None else b""
    if begin.startswith(b"PAR1"):
        return "parquet"
    if begin.startswith(b"{"):
        return "jsonl"
    header = begin.split(b"\n")[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"
