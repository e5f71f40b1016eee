"""Reading parquet files: whatever types their columns have, rows are values that any format can be written from."""

import io
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gramshift.data.tables import (
    LARGE,
    LONGEST,
    RATIO,
    SMALL,
    Opened,
    Part,
    Style,
    Table,
    TableError,
    check_columns,
    short,
)
from gramshift.data.values import Written

BEGIN = b"PAR1"
LARGEST = 1 << 31  # bytes of a file that comes through a pipe or gzip: it is held in memory
HELD = 4 * LONGEST  # bytes that a row may have: in other formats this many characters fit into a line
FEW = 16  # rows that are unpacked at a time where texts do not come as dictionaries
DENSE = 1000  # bytes of cells for each of the file: more than in gzip, because what a column has often stands there once


def read_parquet(opened: Opened, *, format: str, encoding: str) -> Table:
    """Read a parquet file; its parts keep the types of the file."""
    pyarrow = import_pyarrow()
    faults = (pyarrow.ArrowException, OSError, ValueError, OverflowError)
    seekable = opened.file is opened.raw and opened.size > 0
    whole = b"" if seekable else _read_whole(opened)
    source, n_bytes = (opened.file, opened.size) if seekable else (io.BytesIO(whole), len(whole))
    try:
        file = pyarrow.parquet.ParquetFile(source)
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        names = list(schema.names)
        check_columns(opened.name, names)
        _check_ratio(opened.name, sum(size for size, _ in _groups(file.metadata)), RATIO, n_bytes)
    except TableError:
        raise
    except faults as error:
        raise TableError(f"{opened.name} is not a parquet file ({_first_line(error)})") from None
    done = 0

    def parts(size: int) -> Iterator[Part]:
        nonlocal done
        try:
            for native in _few_at_a_time(opened.name, _batches(file, source, size, pyarrow), schema, size, n_bytes):
                rows = _rows(native, pyarrow.types)
                yield Part(rows, list(range(done + 1, done + 1 + len(rows))), native)
                done += len(rows)
        except TableError:
            raise
        except faults as error:
            raise TableError(f"{opened.name} cannot be read on after row {done} ({_first_line(error)})") from None
        if done != n_rows:
            raise TableError(f"{opened.name} has {n_rows} rows by what it says, and {done} were found; it is damaged")

    if n_rows == 0:
        raise TableError(f"{opened.name} has columns, but no rows")
    return Table(opened.name, names, Style(format, schema=schema), parts, lambda: (done, n_rows), "row", opened.naming)


def _check_ratio(name: str, n_found: int, ratio: int, n_bytes: int) -> None:
    if n_found > max(SMALL, ratio * n_bytes):
        sizes = f"{n_bytes:,} bytes of parquet hold {n_found:,} or more"
        raise TableError(f"{name}: {sizes}, which is no usual table; write it as .csv or .jsonl if it is")


def _batches(file: Any, source: Any, size: int, pyarrow: Any) -> Iterator[Any]:
    """Yield batches that take little memory, however long texts are that the file has once and tells a thousand times.

    Such texts come as dictionaries, each once and a number for every row. Where arrow cannot do this, because they are packed
    otherwise, or are in lists and objects and not all in one dictionary, the rest of a row group comes a few rows at a time.
    What the file says of its columns is not asked for: where that is damaged, arrow ends the process.
    """
    metadata, shape, schema = file.metadata, file.schema, file.schema_arrow
    groups = _groups(metadata)
    width = sum(max(8, shape.column(place).length or 0) for place in range(len(shape)))
    largest = max((n_bytes for n_bytes, _ in groups), default=0)
    mean = max((n_bytes // max(1, n) for n_bytes, n in groups), default=0)
    n_rows = max(1, min(size, LONGEST // max(1, width, mean)))
    few = min(n_rows, max(FEW, LONGEST // max(1, largest)))
    texts = [column.path for column in map(shape.column, range(len(shape))) if column.physical_type == "BYTE_ARRAY"]
    flat = [path for path in texts if path in schema.names]
    if len(flat) == len(texts) and largest * n_rows <= HELD:  # even if each row had the longest text
        yield from file.iter_batches(batch_size=n_rows)
        return
    ways = [(file, few)]
    for paths in (flat, texts) if len(flat) < len(texts) else (flat,):
        found = pyarrow.parquet.ParquetFile(source, metadata=metadata, read_dictionary=paths) if paths else file
        if all(_can_cast(one, wanted, pyarrow) for one, wanted in zip(found.schema_arrow.types, schema.types, strict=True)):
            ways.append((found, few if len(paths) < len(texts) else n_rows))
    for number in range(len(groups)):
        n_done = 0
        for place, (found, n) in enumerate(reversed(ways), start=1):
            n_again = n_done
            try:
                for batch in found.iter_batches(batch_size=n, row_groups=[number]):
                    n_known = min(n_again, batch.num_rows)
                    n_again -= n_known
                    yield batch.slice(n_known)
                    n_done += batch.num_rows - n_known
                break
            except (pyarrow.ArrowNotImplementedError, OSError) as error:
                if place == len(ways) or "implemented" not in str(error):
                    raise


def _groups(metadata: Any) -> list[tuple[int, int]]:
    """Return the bytes and the rows of each row group, by the words of the file."""
    found = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    return [(group.total_byte_size, group.num_rows) for group in found]


def _can_cast(found: Any, wanted: Any, pyarrow: Any) -> bool:
    try:
        return found == wanted or bool(pyarrow.array([], found).cast(wanted).type == wanted)
    except pyarrow.ArrowException:
        return False


def _few_at_a_time(name: str, batches: Iterator[Any], schema: Any, size: int, n_bytes: int) -> Iterator[Any]:
    """Yield tables of ``size`` rows, fewer where texts are very long, as ``in_parts`` does for other formats."""
    pyarrow = import_pyarrow()
    held: list[Any] = []
    n_held = n_rows = n_before = total = 0
    for batch in batches:
        ends = np.append(0, np.cumsum(_sizes_together(batch.columns, batch.num_rows, pyarrow)))  # bytes before each row
        at = 0
        while at < batch.num_rows:
            reached = int(np.searchsorted(ends, ends[at] + LARGE - n_held))  # as many rows, the last one over the limit
            end = min(at + size - n_rows, max(reached, at + 1), batch.num_rows)
            if ends[end] - ends[end - 1] > HELD:
                raise TableError(f"{name}, row {n_before + end} has more than {HELD:,} bytes, too many for one document")
            _check_ratio(name, total + int(ends[end]), DENSE, n_bytes)
            piece = pyarrow.Table.from_batches([batch.slice(at, end - at)])
            held.append(piece if piece.schema.types == schema.types else piece.cast(schema))
            n_held, n_rows, at = n_held + int(ends[end] - ends[at]), n_rows + end - at, end
            if n_rows >= size or n_held >= LARGE:
                yield pyarrow.concat_tables(held)
                held, n_held, n_rows = [], 0, 0
        n_before, total = n_before + batch.num_rows, total + int(ends[-1])
    if held:
        yield pyarrow.concat_tables(held)


def _sizes(array: Any, pyarrow: Any) -> Any:
    """Return how many bytes each row of a column, or of what is inside of one, has when its texts are written out."""
    kind, types = array.type, pyarrow.types
    if isinstance(array, pyarrow.ExtensionArray):
        return _sizes(array.storage, pyarrow)
    if types.is_dictionary(kind):
        known = np.append(_sizes(array.dictionary, pyarrow), 1)
        return known[array.indices.cast(pyarrow.int64()).fill_null(len(known) - 1).to_numpy()]
    if types.is_struct(kind):
        return _sizes_together(array.flatten(), len(array), pyarrow)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return pyarrow.compute.binary_length(array).fill_null(0).to_numpy().astype(np.int64) + 4
    if types.is_list(kind) or types.is_large_list(kind) or types.is_map(kind) or types.is_fixed_size_list(kind):
        fixed = types.is_fixed_size_list(kind)
        bounds = (array.offset + np.arange(len(array) + 1)) * kind.list_size if fixed else array.offsets.to_numpy()
        return np.diff(np.append(0, np.cumsum(_sizes(array.values, pyarrow)))[bounds]) + 4
    return np.full(len(array), 1 + array.nbytes // max(1, len(array)), np.int64)


def _sizes_together(columns: list[Any], n_rows: int, pyarrow: Any) -> Any:
    return sum((_sizes(column, pyarrow) for column in columns), np.ones(n_rows, np.int64))


def import_pyarrow() -> Any:
    """Return pyarrow with its module parquet, or raise an error that says how to get this extra."""
    try:
        import pyarrow.compute
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise TableError("parquet files need pyarrow: pip install 'gramshift[parquet]'") from None
    return pyarrow


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _read_whole(opened: Opened, largest: int = LARGEST) -> bytes:
    found = bytearray()
    for piece in opened.pieces():
        found += piece
        if not found.startswith(BEGIN[: len(found)]):
            raise TableError(f"{opened.name} is not a parquet file (it does not begin with {BEGIN.decode()})")
        if len(found) > largest:
            raise TableError(f"{opened.name} has more than {largest:,} bytes, and is no file on a disk; save it as one first")
    return bytes(found)


def _rows(batch: Any, types: Any) -> list[dict[str, Any]]:
    """Return the rows of a batch. Types that Python lacks, or has with a smaller range, are told by their text."""
    names, columns = batch.schema.names, []
    for name, column in zip(names, batch.columns, strict=True):
        try:
            tell = _teller(column.type, types)
            columns.append(column.to_pylist() if tell is None else list(map(tell, column)))
        except UnicodeDecodeError as error:
            raise ValueError(f"the column {short(name)!r} has a text that is not UTF-8: {error}") from None
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


Teller = Callable[[Any], Any]
"""From an arrow scalar to a value."""


def _teller(kind: Any, types: Any) -> Teller | None:
    """Return what tells values of a type; None if ``to_pylist`` does."""
    tell = _tell_one(kind, types) or _tell_many(kind, types)
    return None if tell is None else lambda scalar: tell(scalar) if scalar.is_valid else None


def _tell_one(kind: Any, types: Any) -> Teller | None:
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind) or types.is_duration(kind):
        return _clock(kind, types)
    if types.is_decimal(kind):
        return lambda scalar: Written(format(scalar.as_py(), "f"), is_number=True)
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return lambda scalar: Written(b64encode(scalar.as_py()).decode())
    return None


def _tell_many(kind: Any, types: Any) -> Teller | None:
    """The same for types that hold others."""
    fields = range(kind.num_fields) if types.is_struct(kind) else ()
    inner = [_teller(kind.field(place).type, types) for place in fields]
    if any(inner):
        tellers = [(kind.field(place).name, inner[place] or _as_it_is) for place in fields]
        return lambda scalar: {name: tell(scalar[place]) for place, (name, tell) in enumerate(tellers)}
    if types.is_map(kind):
        tell_key, tell_item = (_teller(one, types) or _as_it_is for one in (kind.key_type, kind.item_type))
        return lambda scalar: [[tell_key(pair[0]), tell_item(pair[1])] for pair in scalar.values]
    if not (types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return None
    tell = _teller(kind.value_type, types)
    if tell is None:
        return None
    return (lambda scalar: tell(scalar.value)) if types.is_dictionary(kind) else lambda scalar: list(map(tell, scalar.values))


def _as_it_is(scalar: Any) -> Any:
    return scalar.as_py()


def _clock(kind: Any, types: Any) -> Teller:
    """Tell dates and times by ISO 8601, with all digits of their unit; NumPy knows years that Python does not."""
    if types.is_date(kind):
        days = 1 if types.is_date32(kind) else 86_400_000
        return lambda scalar: Written(str(np.datetime64(scalar.value // days, "D")))
    unit = kind.unit
    if types.is_time(kind):
        return lambda scalar: Written(str(np.datetime64(scalar.value, unit)).partition("T")[2])
    if types.is_duration(kind):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]
        return lambda scalar: Written(_duration(scalar.value, digits))
    zone = "Z" if kind.tz else ""
    return lambda scalar: Written(str(np.datetime64(scalar.value, unit)) + zone)


def _duration(value: int, digits: int) -> str:
    whole, rest = divmod(abs(value), 10**digits)
    fraction = f".{rest:0{digits}d}" if digits else ""
    return f"{'-' if value < 0 else ''}PT{whole}{fraction}S"
