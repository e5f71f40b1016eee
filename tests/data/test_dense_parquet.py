"""Parquet files of many rows, and of all types."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gramshift.data.readers import open_table
from gramshift.data.writing import open_writer


def parts_of(path, size=4096):
    with open_table(str(path)) as table:
        yield from table.parts(size)


def write_parquet(folder, columns, **options):
    pq.write_table(
        columns if isinstance(columns, pa.Table) else pa.table(columns), folder / "d.parquet", compression="zstd", **options
    )
    return folder / "d.parquet"


def test_many_rows_of_few_short_texts_are_read_on(tmp_path):
    """A column of labels takes nearly nothing; this is an ordinary table."""
    n = 300_000
    path = write_parquet(tmp_path, {"text": pa.array(["good film", "bad film"] * (n // 2)), "label": pa.array([1] * n)})
    assert path.stat().st_size < 8000
    assert [len(part.rows) for part in parts_of(path)] == [4096] * (n // 4096) + [n % 4096]


def mixed(n):
    rng = np.random.default_rng(1)
    texts = [f"text {i} " * int(rng.integers(1, 40)) for i in range(n)]
    strings = pa.array([text if i % 7 else None for i, text in enumerate(texts)])
    pairs = [[(text[:6], text)] * (i % 3) for i, text in enumerate(texts)]
    return pa.table(
        {
            "text": strings,
            "large": strings.cast(pa.large_string()),
            "raw": strings.cast(pa.binary()),
            "words": strings.dictionary_encode(),
            "tags": pa.array([[text, None, "x"][: i % 4] if i % 5 else None for i, text in enumerate(texts)]),
            "two": pa.array([[text, "y"] if i % 5 else None for i, text in enumerate(texts)], pa.list_(pa.string(), 2)),
            "inner": pa.array([{"a": text, "b": [{"c": text, "d": i}]} if i % 5 else None for i, text in enumerate(texts)]),
            "map": pa.array(pairs, pa.map_(pa.string(), pa.string())),
            "number": pa.array(range(n)),
            "nothing": pa.nulls(n),
        }
    )


@pytest.mark.parametrize("view", [False, True])
@pytest.mark.parametrize("size", [1, 700, 4096])
def test_values_and_types_stay_whatever_way_they_are_read(tmp_path, size, view):
    table = mixed(3000 if size > 1 else 60)
    if view:
        table = table.append_column("view", table.column("text").cast(pa.string_view()))
    path = write_parquet(tmp_path, table, row_group_size=1100, dictionary_pagesize_limit=20_000)
    rows, buffer = [], io.BytesIO()
    with open_table(str(path)) as opened, open_writer(buffer, "o.parquet", opened, {"p": float}) as writer:
        for part in opened.parts(size):
            assert len(part.rows) <= size
            rows += part.rows
            writer.write(part, {"p": [0.5] * len(part.rows)})
    written = pq.read_table(buffer)
    assert written.drop_columns("p").equals(pq.read_table(path))
    assert [row["text"] for row in rows] == table.column("text").to_pylist()
    assert json.dumps([row["tags"] for row in rows]) == json.dumps(table.column("tags").to_pylist())
