"""Parquet, through pyarrow."""

import io
from collections.abc import Iterator
from typing import Any

from gramshift.data.opening import Opened, TableError
from gramshift.data.tables import Part, Style, Table, check_columns


def read_parquet(opened: Opened, *, format: str, encoding: str) -> Table:
    """Parts keep the types of the file."""
    pyarrow = import_pyarrow()
    import pyarrow.parquet as pq

    seekable = opened.file is opened.raw and opened.size > 0
    try:
        file = pq.ParquetFile(opened.file if seekable else io.BytesIO(b"".join(opened.pieces())))
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
    return Table(opened.name, list(schema.names), Style(format, schema=schema), parts, lambda: (done, n_rows), "row")


def import_pyarrow() -> Any:
    """pyarrow, or how to get it."""
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise TableError("parquet files need pyarrow: pip install 'gramshift[parquet]'") from None
    return pyarrow
