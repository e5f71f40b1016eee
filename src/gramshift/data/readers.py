"""A reader for each format of files, and which format a file has."""

import codecs
import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from gramshift.data.tables import (
    LARGE,
    LONGEST,
    Opened,
    Part,
    Record,
    Row,
    Style,
    Table,
    TableError,
    WrittenNumber,
    check_columns,
    check_encoding,
    decoded_lines,
    in_parts,
    open_input,
    short,
)
from gramshift.runtime.storage import is_url, locate, reaching


def read_lines(path: str, *, encoding: str = "utf-8") -> list[str]:
    """Read the lines of a file, or of standard input for "-"; a byte-order mark is no part of the first one.

    Only "\\n" and "\\r\\n" end a line. An empty line is an empty document. A byte that is not in the encoding is an error that
    names its line.
    """
    with open_input(path) as opened:
        return [line.removesuffix("\n").removesuffix("\r") for line in decoded_lines(opened, encoding)]


DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
BLANK = " \t\r\n"


def read_delimited(opened: Opened, *, format: str, encoding: str) -> Table:
    """Read a csv or tsv. The first line names the columns; what parts them in a csv is seen there, outside of quotes."""
    csv.field_size_limit(LONGEST)
    name = opened.name
    is_marked = opened.peek(3) == codecs.BOM_UTF8 and check_encoding(encoding) == "utf-8-sig"
    lines = decoded_lines(opened, encoding)
    number, line = next(((number, line) for number, line in enumerate(lines, start=1) if line.strip(BLANK)), (0, ""))
    if not number:
        raise TableError(f"{name} is empty; it should begin with a line that names the columns, such as id,text,label")
    header, outside = _take_header(line, lines)
    delimiter = next((one for one in DELIMITERS[format] if one in outside), DELIMITERS[format][0])
    columns: list[str] = []
    rows = _rows(name, chain(io.StringIO(header, newline="\n"), lines), delimiter, number, columns)
    one = next(rows, None)
    if one is None:
        raise TableError(f"{name} has a header ({', '.join(map(short, columns[:20]))}), but no rows")
    line_end = "\r\n" if header.endswith("\r\n") else "\n"
    style = Style(format, "utf-8-sig" if is_marked else encoding, delimiter, line_end)
    rest = chain([one], rows)
    return Table(name, columns, style, lambda size: in_parts(rest, size), opened.position)


MAX_HEADER_LINES = 100
QUOTED = re.compile(r'(?<![^,;\t|])"(?:[^"]|"")*+"')
OPEN_QUOTE = re.compile(r'(?<![^,;\t|])"')


def _take_header(header: str, lines: Iterator[str]) -> tuple[str, str]:
    """Return the first row, which has several lines if a quoted name has, and the part of it that is not in quotes.

    A quote that never closes is left to whoever parses the row.
    """
    while OPEN_QUOTE.search(outside := QUOTED.sub("", header)) and header.count("\n") < MAX_HEADER_LINES:
        if not (more := next(lines, "")):
            break
        header += more
    return header, outside


def _rows(name: str, lines: Iterator[str], delimiter: str, first: int, columns: list[str]) -> Iterator[Record]:
    """Yield the rows that are not blank, each with its line; ``columns`` gets the names in the header, on line ``first``."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = first
    try:
        columns += next(reader)
        check_columns(name, columns)
        n_columns = len(columns)
        line = reader.line_num + first
        for fields in reader:
            if len(fields) == n_columns:
                yield line, dict(zip(columns, fields, strict=True)), None
            elif fields:
                advice = "put quotes around texts that hold commas, quotes or line ends"
                raise TableError(f"{name}, line {line} has {len(fields)} fields, but the header has {n_columns}; {advice}")
            line = reader.line_num + first
    except csv.Error as error:
        words = {
            "unexpected end of data": "a quote opens here and never closes",
            "new-line": 'a line ends with "\\r" alone; save the file with ordinary line ends',
            "field larger": f"a cell has more than {LONGEST:,} characters; perhaps a quote opens here and never closes",
        }
        meant = next((value for key, value in words.items() if str(error).startswith(key)), f"not a row of a table: {error}")
        raise TableError(f"{name}, line {line}: {meant}") from None


LOOKED_AT = 1000  # rows whose keys are taken for the columns before the others are read


def read_jsonl(opened: Opened, *, format: str, encoding: str) -> Table:
    """Read one object per line; keys may be missing in some rows, and those of the first LOOKED_AT are the columns at first."""
    columns: list[str] = []
    rows = _records(opened, encoding, columns)
    first = list(islice(rows, LOOKED_AT))
    if not first:
        raise TableError(
            f'{opened.name} is empty; it should hold one object per line, such as {{"text": "...", "label": "..."}}'
        )
    return Table(
        opened.name,
        columns,
        Style(format, encoding, line_end="\r\n" if str(first[0][2]).endswith("\r\n") else "\n"),
        lambda size: in_parts(chain(first, rows), size),
        opened.position,
    )


def _records(opened: Opened, encoding: str, columns: list[str]) -> Iterator[Record]:
    """Yield rows with their lines; ``columns`` gets the keys that no row had before."""
    known: set[str] = set()
    for number, line in enumerate(decoded_lines(opened, encoding), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_without_copies, parse_int=_as_number)
        except RecursionError:
            words = "arrays and objects are nested too deep; make them flatter"
            raise TableError(f"{opened.name}, line {number}: {words}") from None
        except ValueError as error:
            words = getattr(error, "msg", str(error))
            raise TableError(f"{opened.name}, line {number} is not JSON: {words}; every line is an object of its own") from None
        if not isinstance(row, dict):
            kind = "an array" if isinstance(row, list) else "a single value"
            raise TableError(f'{opened.name}, line {number} is {kind}; every line is an object such as {{"text": "..."}}')
        if not row.keys() <= known:
            columns += [key for key in row if key not in known]
            known.update(row)
        yield number, row, line


def _as_number(text: str) -> int | WrittenNumber:
    try:
        return int(text)
    except ValueError:  # more digits than Python makes a number of
        return WrittenNumber(text)


def _without_copies(pairs: list[tuple[str, object]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {short(twice)!r} stands twice")
    return row


def read_parquet(opened: Opened, *, format: str, encoding: str) -> Table:
    """Read a parquet file; its parts keep the types of the file."""
    pyarrow = import_pyarrow()
    faults = (pyarrow.ArrowException, OSError, ValueError, OverflowError)
    is_seekable = opened.file is opened.raw and opened.size > 0
    try:
        file = pyarrow.parquet.ParquetFile(opened.file if is_seekable else io.BytesIO(opened.file.read()))
    except faults as error:
        raise TableError(f"{opened.name} is not a parquet file ({_first_line(error)})") from None
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    check_columns(opened.name, schema.names)
    if n_rows == 0:
        raise TableError(f"{opened.name} has columns, but no rows")
    groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
    bytes_of_row = max(group.total_byte_size // max(1, group.num_rows) for group in groups)
    types = [_with_times_as_text(one, pyarrow) for one in schema.types]
    done = 0

    def parts(size: int) -> Iterator[Part]:
        nonlocal done
        try:
            for batch in file.iter_batches(batch_size=max(1, min(size, LARGE // max(1, bytes_of_row)))):
                columns = [column.cast(kind).to_pylist() for column, kind in zip(batch.columns, types, strict=True)]
                rows = [dict(zip(schema.names, values, strict=True)) for values in zip(*columns, strict=True)]
                yield Part(rows, list(range(done + 1, done + 1 + len(rows))), batch)
                done += len(rows)
        except TableError:
            raise
        except faults as error:
            raise TableError(f"{opened.name} cannot be read on after row {done} ({_first_line(error)})") from None

    return Table(opened.name, schema.names, Style(format, schema=schema), parts, lambda: (done, n_rows), "row")


def import_pyarrow() -> Any:
    """Return pyarrow with its module parquet, or raise an error that says how to get this extra."""
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise TableError("parquet files need pyarrow: pip install 'gramshift[parquet]'") from None
    return pyarrow


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _with_times_as_text(kind: Any, pyarrow: Any) -> Any:
    """Return a type with strings in place of dates and times, also inside of others: those of Python have a smaller range."""
    types = pyarrow.types
    if types.is_temporal(kind):
        return pyarrow.string()
    if types.is_dictionary(kind):
        return _with_times_as_text(kind.value_type, pyarrow)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return pyarrow.list_(_with_times_as_text(kind.value_type, pyarrow))
    if types.is_map(kind):
        return pyarrow.map_(*(_with_times_as_text(one, pyarrow) for one in (kind.key_type, kind.item_type)))
    if types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return pyarrow.struct([one.with_type(_with_times_as_text(one.type, pyarrow)) for one in fields])
    return kind


TEXT_ENDS = (".txt", ".txt.gz")


def read_folder(name: str, *, encoding: str) -> Table:
    """Read a folder of texts: a file's name is its id, the folder that it stands in its label, if there is one per class."""
    folder = Path(name)
    here, below = _texts(folder), {one: _texts(one) for one in sorted(folder.iterdir()) if _is_class(one)}
    below = {label: files for label, files in below.items() if files}
    if here and below:
        classes = ", ".join(_name_in_words(one.name) for one in below)
        raise TableError(f"{name} has .txt files of its own and in folders ({classes}); keep one or the other")
    if not here and not below:
        raise TableError(f"{name} has no .txt files, nor folders of them; a csv file is given by its own name")
    files = here or [path for paths in below.values() for path in paths]
    done = 0

    def rows() -> Iterator[Record]:
        nonlocal done
        for path in files:
            place = _name_in_words(path.relative_to(folder).as_posix())
            row = {"id": place, "text": _read_text(path, encoding)}
            yield place, row | {"label": _name_in_words(path.parent.name)} if below else row, None
            done += 1

    columns = ["id", "text", "label"] if below else ["id", "text"]
    style = Style("csv", kept=[column for column in columns if column != "text"])
    return Table(name, columns, style, lambda size: in_parts(rows(), size), lambda: (done, len(files)), "file")


def _read_text(path: Path, encoding: str) -> str:
    found, n_characters = [], 0
    with open_input(os.fspath(path)) as opened:
        for line in decoded_lines(opened, encoding):
            found.append(line)
            n_characters += len(line)
            if n_characters > LONGEST:
                raise TableError(f"{path} has more than {LONGEST:,} characters, too many for one document")
    return "".join(found)


def _name_in_words(name: str) -> str:
    """Return the name of a file as text: bytes that are not UTF-8 as \\xe9, because no table could hold them."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _texts(folder: Path) -> list[Path]:
    """Return the texts in a folder; a link that leads nowhere is an error for whoever opens it."""
    named = sorted(one for one in folder.iterdir() if one.name.lower().endswith(TEXT_ENDS) and not one.name.startswith("."))
    return [one for one in named if not one.is_dir()]


def _is_class(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


READERS: dict[str, Callable[..., Table]] = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
}
ENDS = {"csv": "csv", "tsv": "tsv", "tab": "tsv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet"}
KNOWN = "csv, tsv, jsonl and parquet, each also as .gz, and folders of .txt files"


@contextmanager
def open_table(name: str, *, format: str | None = None, encoding: str = "utf-8") -> Iterator[Table]:
    """Open a file, a folder, or "-" for standard input; it has a row at least."""
    if format is not None and format not in READERS:
        raise TableError(f"--format {format}: there are {', '.join(READERS)}")
    if name != "-" and Path(name).is_dir():
        yield read_folder(name, encoding=encoding)
        return
    found = format or (None if name == "-" else format_of(name, "--format"))
    with open_input(name) as opened:
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
    begin = opened.peek(4096).lstrip(b"\xef\xbb\xbf \r\n\t")
    if begin.startswith(b"PAR1"):
        return "parquet"
    if begin.startswith(b"{"):
        return "jsonl"
    header = begin.split(b"\n")[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"
