"""Reading parquet files: whatever types their columns have, rows are values that any format can be written from."""

import io
from collections.abc import Iterator
from typing import Any

from gramshift.data.tables import LARGE, Opened, Part, Style, Table, TableError, check_columns


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

    return Table(opened.name, schema.names, Style(format, schema=schema), parts, lambda: (done, n_rows), "row", opened.naming)


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
