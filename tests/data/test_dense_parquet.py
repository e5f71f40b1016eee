"""Parquet files that hold very much more than they are: few rows at a time, and an end where that is no table any more."""

import io
import json
import zlib
from base64 import b85decode
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gramshift.data.readers import open_table
from gramshift.data.tables import LARGE, TableError
from gramshift.data.writing import open_writer

LONG = "good film " * 100_000


def parts_of(path, size=4096):
    with open_table(str(path)) as table:
        yield from table.parts(size)


def write_parquet(folder, columns, **options):
    pq.write_table(
        columns if isinstance(columns, pa.Table) else pa.table(columns), folder / "d.parquet", compression="zstd", **options
    )
    return folder / "d.parquet"


def repeated(value, n, kind=None):
    return pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([value], kind))


def long_rows(n):
    return pa.chunked_array([pa.array([LONG] * 10)] * (n // 10))


KINDS = {
    "dictionary": lambda: ({"text": repeated(LONG, 4000)}, {}),
    "string": lambda: ({"text": long_rows(4000)}, {}),
    "delta": lambda: ({"text": long_rows(4000)}, {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}),
    "list": lambda: ({"text": pa.ListArray.from_arrays(pa.array(range(4001), pa.int32()), repeated(LONG, 4000))}, {}),
    "struct": lambda: ({"text": pa.StructArray.from_arrays([repeated(LONG, 4000)], ["a"])}, {}),
    "bytes": lambda: ({"text": repeated(LONG.encode(), 4000)}, {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_stands_there_once_and_is_told_a_thousand_times(tmp_path, kind):
    """579 bytes took 7 GB: a part had as many rows as it was asked for, whatever was in them."""
    columns, options = KINDS[kind]()
    path = write_parquet(tmp_path, columns, row_group_size=4000, **options)
    assert path.stat().st_size < 3000
    columns = None
    seen = []
    message = r"d.parquet: [0-9,]+ bytes of parquet hold 1[34][0-9],[0-9,]+ or more, which is no usual table; write it as \.csv"
    with pytest.raises(TableError, match=message):
        seen.extend(len(part.rows) for part in parts_of(path))
    assert max(seen) <= 1 + LARGE // len(LONG)
    assert sum(seen) >= 100


def test_pages_that_unpack_to_very_much(tmp_path):
    path = write_parquet(tmp_path, {"text": long_rows(200)}, use_dictionary=False)
    with pytest.raises(TableError, match=r"d.parquet: [0-9,]+ bytes of parquet hold 200,[0-9,]+ or more"):
        next(parts_of(path))


def test_a_list_of_millions_of_numbers(tmp_path):
    n = 20_000_000
    lists = pa.ListArray.from_arrays(pa.array([0, 0, n], pa.int32()), pa.array(np.zeros(n, np.int64)))
    path = write_parquet(tmp_path, {"text": ["a", "b"], "n": lists})
    assert path.stat().st_size < 100_000
    with pytest.raises(TableError, match=r"d.parquet: [0-9,]+ bytes of parquet hold 180,000,0[0-9]+ or more"):
        next(parts_of(path))


def test_a_row_that_is_no_document(tmp_path):
    rows = pa.ListArray.from_arrays(pa.array([0, 1, 300], pa.int32()), repeated(LONG, 300))
    noise = np.random.default_rng(0).bytes(1 << 20)
    path = write_parquet(tmp_path, {"text": ["a", "b"], "tags": rows, "noise": [noise, b""]})
    with pytest.raises(TableError, match=r"d.parquet, row 2 has more than 268,435,456 bytes, too many for one document"):
        list(parts_of(path))


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
    """Texts come as dictionaries where a batch could be large; columns of several row groups, of all sorts of types."""
    table = mixed(3000 if size > 1 else 60)
    if view:  # cannot be had from dictionaries
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


DAMAGED = (
    "c-n1~-Hy^g6vu~J2pVoy)22-@_J+nyc2`)1tcDAx1r`+Cg@`QNkkWSBN@=kli%Yy9K7p4$giqiDc<r@M;A1#5EiFr&G}D=L&i{8lpl<*G49$P3"
    "0xsvProK>^95R$BE+1M>P<t^gmx|pVk6u4SfmMpjE|lf8!cYv=J;D~6yFb@&r#Ffn>I@B-LJ4s9kfj8=MS@18Eb#&cpz{OOb*?Q<cT_zNVQId|"
    "cSTS{Wt4J&PZKjVOS4}y?6-`Vuh+oSJc!nY+n&I|0pN=aLNgSoALe)w(8!8m1p+&Z>P>6JwGnQEHO23ldX3%zuz(lQy+%<WrqKVVWaEBg&W5_n"
    "ImDD!MA<23w|S!dMX`S<@h^p&dmNaSFBq<?34Y*uw}Rye*Pia1g6}#8_hc3Z!pyS_GZ1V`6Y$k{@yS#i&DQS>g8j^IN5TF^iNrknGmHFO0S*Qi"
    "qgT-n&28vscs(~H2w@*a>n(&UC>gK?p#f!s*d!Ft!v`6{4l$%}7`uj;@Q&OGs)Nx)J0M0ijo;>haD4hQoGk45WK{h)L9&ZWBwD{m+ZpmU2Q4C6"
    ";k}ulCBi4J*{HR;T4R?q$N3gmPr}P%QbbyhO!C1*-^LrtTUHmgt*+!D*3Y;4ey6{uhl#X3F=y=$b`0&|IiV6eNzgDBp<p>~y%9IxOoIsYe2))t"
    "?(@Lb`#7{8%}XN9c5wA5PcI(ERwO}_yp6s2l6tg}9cqnn`Dz_?FB9oFi3FUmRJ>229vrL7<+0*<?n=1PJ>PO2;k0&AKB@5dBTXJ~g#J{Qa8UUN"
    "7WMl-"
)


def test_what_a_file_says_of_a_column_may_be_damaged(tmp_path):
    """Fuzzing found it: whoever asks arrow for the sizes and encodings of such a column has the process ended."""
    path = tmp_path / "d.parquet"
    path.write_bytes(zlib.decompress(b85decode(DAMAGED)))
    with suppress(TableError):  # old versions of arrow do not look
        next(parts_of(path))
