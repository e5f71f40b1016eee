"""Reading parquet files: whatever types their columns have, rows are values that any format can be written from."""

import io
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gramshift.data.tables import LARGE, Opened, Part, Style, Table, TableError, check_columns, short
from gramshift.data.values import Written


def read_parquet(opened: Opened, *, format: str, encoding: str) -> Table:
    """Read a parquet file; its parts keep the types of the file."""
    pyarrow = import_pyarrow()
    faults = (pyarrow.ArrowException, OSError, ValueError, OverflowError)
    is_seekable = opened.file is opened.raw and opened.size > 0
    try:
        file = pyarrow.parquet.ParquetFile(opened.file if is_seekable else io.BytesIO(b"".join(opened.pieces())))
    except faults as error:
        raise TableError(f"{opened.name} is not a parquet file ({_first_line(error)})") from None
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    check_columns(opened.name, schema.names)
    if n_rows == 0:
        raise TableError(f"{opened.name} has columns, but no rows")
    groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
    bytes_of_row = max(group.total_byte_size // max(1, group.num_rows) for group in groups)
    done = 0

    def parts(size: int) -> Iterator[Part]:
        nonlocal done
        try:
            for batch in file.iter_batches(batch_size=max(1, min(size, LARGE // max(1, bytes_of_row)))):
                rows = _rows(batch, pyarrow.types)
                yield Part(rows, list(range(done + 1, done + 1 + len(rows))), batch)
                done += len(rows)
        except faults as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"{opened.name} cannot be read on after row {done} ({_first_line(error)})") from None
        if done != n_rows:
            raise TableError(f"{opened.name} has {n_rows} rows by what it says, and {done} were found; it is damaged")

    return Table(opened.name, schema.names, Style(format, schema=schema), parts, lambda: (done, n_rows), "row", opened.naming)


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
