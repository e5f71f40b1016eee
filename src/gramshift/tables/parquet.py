"""Reading parquet files."""

import io
from collections.abc import Iterator
from typing import Any

from gramshift.tables.table import (
    MAX_PART_CHARACTERS,
    InputFile,
    Table,
    TableError,
    TablePart,
    TableStyle,
    check_columns,
)


def read_parquet(opened: InputFile, *, format: str, encoding: str) -> Table:
    """Read a parquet file; its parts keep the types of the file."""
    pyarrow = import_pyarrow()
    faults = (pyarrow.ArrowException, OSError, ValueError, OverflowError)
    is_seekable = opened.file is opened.raw and opened.size > 0
    try:
        content = opened.file if is_seekable else io.BytesIO(opened.file.read())
        file = pyarrow.parquet.ParquetFile(content)
    except faults as error:
        words = f"{opened.name} is not a parquet file ({_first_line(error)})"
        raise TableError(words) from None
    schema, n_rows = file.schema_arrow, file.metadata.num_rows
    check_columns(opened.name, schema.names)
    if n_rows == 0:
        raise TableError(f"{opened.name} has columns, but no rows")
    groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
    row_bytes = max(1, *(group.total_byte_size // max(1, group.num_rows) for group in groups))
    types = [_with_times_as_text(kind, pyarrow) for kind in schema.types]
    n_read = 0

    def parts(size: int) -> Iterator[TablePart]:
        nonlocal n_read
        batch_size = max(1, min(size, MAX_PART_CHARACTERS // row_bytes))
        try:
            for batch in file.iter_batches(batch_size=batch_size):
                columns = [
                    column.cast(kind).to_pylist()
                    for column, kind in zip(batch.columns, types, strict=True)
                ]
                cells = zip(*columns, strict=True)
                rows = [dict(zip(schema.names, row, strict=True)) for row in cells]
                yield TablePart(rows, list(range(n_read + 1, n_read + 1 + len(rows))), batch)
                n_read += len(rows)
        except TableError:
            raise
        except faults as error:
            place = f"{opened.name} cannot be read on after row {n_read}"
            raise TableError(f"{place} ({_first_line(error)})") from None

    style = TableStyle(format, schema=schema)
    return Table(opened.name, schema.names, style, parts, lambda: (n_read, n_rows), "row")


def import_pyarrow() -> Any:
    """Return pyarrow with its module parquet, or raise an error that says how to install it."""
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        advice = "pip install 'gramshift[parquet]'"
        raise TableError(f"parquet files need pyarrow: {advice}") from None
    return pyarrow


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _with_times_as_text(kind: Any, pyarrow: Any) -> Any:
    """Return a type, also a nested one, with strings for dates and times.

    Those of Python have a smaller range.
    """
    types = pyarrow.types
    if types.is_temporal(kind):
        return pyarrow.string()
    if types.is_dictionary(kind):
        return _with_times_as_text(kind.value_type, pyarrow)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return pyarrow.list_(_with_times_as_text(kind.value_type, pyarrow))
    if types.is_map(kind):
        keys_and_items = (kind.key_type, kind.item_type)
        return pyarrow.map_(*(_with_times_as_text(one, pyarrow) for one in keys_and_items))
    if types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return pyarrow.struct(
            [field.with_type(_with_times_as_text(field.type, pyarrow)) for field in fields]
        )
    return kind
