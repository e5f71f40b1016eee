"""Odd and damaged tables: one clear error, or read as they are."""

import datetime
import gzip
import io
import json
import os
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gramshift.errors import InputError
from gramshift.tables.columns import MAX_LABEL_LENGTH, find_columns, read_documents
from gramshift.tables.jsonl import N_KEY_ROWS
from gramshift.tables.opening import open_table, read_lines
from gramshift.tables.table import MAX_CHARACTERS, TableError, WrittenNumber, check_reread
from gramshift.tables.writing import open_writer


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows_of(path, **options):
    with open_table(str(path), **options) as table:
        return [row for part in table.parts(7) for row in part.rows]


def rewrite(source, output, added=None, **options):
    """The table at ``source`` as ``output`` with one more column, as bytes."""
    buffer, name = io.BytesIO(), "label" if added is None else added
    with (
        open_table(str(source), **options) as table,
        open_writer(buffer, output, table, {name: str}) as writer,
    ):
        for part in table.parts(3):
            writer.write(part, {name: ["x"] * len(part.rows)})
    return buffer.getvalue()


def test_a_device_that_never_ends():
    with pytest.raises(
        TableError, match=f"/dev/zero, line 1 has more than {MAX_CHARACTERS:,} characters"
    ):
        rows_of("/dev/zero", format="csv")


def test_a_quote_that_never_closes_does_not_take_all_there_is(tmp_path):
    """The limit of a cell ends the search for a forgotten quote."""
    path = tmp_path / "q.csv"
    with path.open("wb") as file:
        file.write(b'id,text\n1,"')
        for _ in range(MAX_CHARACTERS // (1 << 20) + 1):
            file.write((b"x" * 1023 + b"\n") * 1024)
    with pytest.raises(
        TableError,
        match=r"q.csv, line 2: a cell has more than 67,108,864 characters; perhaps a quote",
    ):
        rows_of(path)


PACKED = gzip.compress(b"abc\n", mtime=0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gzip.compress(b"abc\n" * 999, mtime=0)[:-9], "ended before"),
        (PACKED[:-8] + b"\0" * 8, "CRC check failed"),
    ],
)
def test_gzip_that_is_damaged(tmp_path, data, words):
    with pytest.raises(
        TableError, match=rf"d.txt is not a whole gzip file \(.*{words}.*\); make it again"
    ):
        read_lines(str(write(tmp_path, "d.txt", data)))


def test_json_that_is_nested_too_deep(tmp_path):
    path = write(tmp_path, "d.jsonl", '{"text": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    with pytest.raises(
        TableError, match=r"d.jsonl, line 1: arrays and objects are nested too deep"
    ):
        rows_of(path)


def test_a_label_that_is_a_text(tmp_path):
    path = write(
        tmp_path,
        "l.csv",
        "text,label\na," + "x" * MAX_LABEL_LENGTH + "\nb," + "y" * (MAX_LABEL_LENGTH + 1) + "\n",
    )
    message = r"l.csv, line 3: 'label' has 1,001 characters; a label has 1,000 at most: .* --label"
    with open_table(str(path)) as table, pytest.raises(TableError, match=message):
        read_documents(table, find_columns(table))
    path = write(tmp_path, "l.jsonl", '{"text": "a", "label": ' + "9" * 5000 + "}\n")
    with (
        open_table(str(path)) as table,
        pytest.raises(TableError, match=r"line 1: 'label' has 5,000 characters"),
    ):
        read_documents(table, find_columns(table))


def test_errors_do_not_fill_the_screen(tmp_path):
    long = "c" * 100_000
    for name, content in {
        "t.csv": f"{long},{long}\n1,2\n",
        "h.csv": f"{long},b\n",
        "n.csv": f"{long},b,c\n1,2,3\n",
        "k.jsonl": f'{{"{long}": 1, "{long}": 2}}\n',
    }.items():
        with (
            pytest.raises(TableError) as found,
            open_table(str(write(tmp_path, name, content))) as table,
        ):
            find_columns(table)
        assert len(str(found.value)) < 500


def test_what_cannot_be_read_twice(tmp_path):
    with pytest.raises(
        TableError, match="/dev/zero is a pipe or a device, and this has to be read more than once"
    ):
        check_reread("/dev/zero")
    with pytest.raises(TableError, match="standard input can be read only once"):
        check_reread("-")
    check_reread(str(tmp_path))


def test_folders_of_odd_files(tmp_path):
    write(tmp_path, "a.TXT", "one")
    write(tmp_path, "b.Txt.GZ", gzip.compress(b"two"))
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("three")
    assert [row["id"] for row in rows_of(tmp_path)] == ["a.TXT", "b.Txt.GZ", "caf\\xe9.txt"]
    assert rewrite(tmp_path, "o.csv").decode().splitlines()[3] == "caf\\xe9.txt,x"
    (tmp_path / "lost.txt").symlink_to("nowhere.txt")
    with pytest.raises(FileNotFoundError, match=r"lost\.txt"):
        rows_of(tmp_path)


def test_line_numbers_count_blank_lines_before_the_header(tmp_path):
    path = write(tmp_path, "b.csv", "\n\n  \n\nid,text\n1,a,b\n")
    with pytest.raises(TableError, match=r"b.csv, line 6 has 3 fields, but the header has 2"):
        rows_of(path)


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ('"text, long";label\na,b;c\n', ["text, long", "label"]),
        ('"a;b"|"c,d"|e\n1|2|3\n', ["a;b", "c,d", "e"]),
        ('"a ""x, y""";b\n1;2\n', ['a "x, y"', "b"]),
        ('"a,\nb,";c\n1;2\n', ["a,\nb,", "c"]),
        ('a;"b,\r\nc,"\r\n1;2\r\n', ["a", "b,\r\nc,"]),
        ('5" disk,b\n1,2\n', ['5" disk', "b"]),
        ('"a;b"\n1\n', ["a;b"]),
        ('"";b\n1;2\n', ["", "b"]),
        ('"""";"b,"\n1;2\n', ['"', "b,"]),
    ],
)
def test_the_delimiter_is_looked_for_outside_of_quotes(tmp_path, content, columns):
    path = write(tmp_path, "d.csv", content)
    with open_table(str(path)) as table:
        assert table.columns == columns
    again = write(tmp_path, "again.csv", rewrite(path, "again.csv"))
    assert [{**row, "label": "x"} for row in rows_of(path)] == [
        {**row, "label": "x"} for row in rows_of(again)
    ]
    with open_table(str(again)) as table:
        assert table.columns == list(dict.fromkeys([*columns, "label"]))


def test_a_header_that_never_closes_its_quote(tmp_path):
    with pytest.raises(TableError, match=r"h.csv, line 1: a quote opens here and never closes"):
        rows_of(write(tmp_path, "h.csv", '"id,text\n1,a\n'))


@pytest.mark.parametrize(
    ("encoding", "data", "message"),
    [
        (
            "utf-16",
            "id,text\n1,a\n".encode("utf-16-le"),
            r"e.csv is not utf-16 \(.*BOM\); name the right encoding with --encoding",
        ),
        ("base64", b"id,text\n1,a\n", "encoding 'base64' is not known"),
        ("idna", b"id,text\n1,a\n", "encoding 'idna' is not known"),
    ],
)
def test_encodings_that_cannot_be(tmp_path, encoding, data, message):
    with pytest.raises(InputError, match=message):
        rows_of(write(tmp_path, "e.csv", data), encoding=encoding)


def as_parquet(folder, **columns):
    pq.write_table(pa.table(columns), folder / "p.parquet")
    return folder / "p.parquet"


SECONDS = 86_400 * 18_262  # from 1970 to 2020
AGES = 86_400 * 25 * 146_097  # ten thousand years


def test_parquet_values_that_python_has_not(tmp_path):
    """Values for which csv and JSON have no type are written as Arrow writes them."""
    path = as_parquet(
        tmp_path,
        text=["a", "b"],
        far=pa.array([1000 * (SECONDS + AGES), None], pa.timestamp("ms")),
        early=pa.array([1_000_000 * (SECONDS - AGES), 1], pa.timestamp("us")),
        fine=pa.array([1, None], pa.timestamp("ns", tz="Europe/Berlin")),
        long=pa.array([2**62, -1500], pa.duration("ms")),
        day=pa.array([datetime.date(2020, 1, 1), None]),
        time=pa.array([3661, None], pa.time32("s")),
        price=pa.array([Decimal("1.10"), None]),
        raw=pa.array([b"\0\xff", None]),
        inner=pa.array(
            [{"when": [1000 * AGES]}, None], pa.struct([("when", pa.list_(pa.timestamp("ms")))])
        ),
        number=[float("nan"), float("-inf")],
    )
    written = pq.read_table(io.BytesIO(rewrite(path, "o.parquet")))
    assert written.drop_columns(["label", "number"]).equals(
        pq.read_table(path).drop_columns("number")
    )
    assert rewrite(path, "o.csv").decode().splitlines() == [
        "text,far,early,fine,long,day,time,price,raw,inner,number,label",
        "a,12020-01-01 00:00:00.000,-7980-01-01 00:00:00.000000,"
        "1970-01-01 01:00:00.000000001+0100,4611686018427387904,"
        '2020-01-01,01:01:01.000,1.10,AP8=,"{""when"": [""11970-01-01 00:00:00.000""]}",NaN,x',
        "b,,1970-01-01 00:00:00.000001,,-1500,,,,,,-Infinity,x",
    ]
    first, second = map(json.loads, rewrite(path, "o.jsonl").splitlines())
    assert (first["day"], first["price"], first["raw"]) == ("2020-01-01", 1.1, "AP8=")
    assert b'"price": 1.10,' in rewrite(path, "o.jsonl")
    assert first["number"] is second["number"] is None


def test_parquet_with_bytes_that_are_not_utf_8(tmp_path):
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    path = as_parquet(tmp_path, text=["a"], other=broken)
    with pytest.raises(
        TableError,
        match=r"p.parquet cannot be read on after row 0 \('utf-8' codec can't decode byte 0xff",
    ):
        rows_of(path)


@pytest.mark.parametrize("number", ["1e400", "-0", "1.10", "1E5", "9" * 5000, "NaN"])
def test_numbers_of_a_jsonl_keep_their_text(tmp_path, number):
    path = write(
        tmp_path, "n.jsonl", f'{{"text":"a" ,"x":{number}, "y": [{number}], "label": null}}\r\n'
    )
    assert (
        rewrite(path, "o.jsonl", "p").decode()
        == f'{{"text":"a" ,"x":{number}, "y": [{number}], "label": null, "p": "x"}}\r\n'
    )
    assert (
        rewrite(path, "o.jsonl").decode()
        == f'{{"text": "a", "x": {number}, "y": [{number}], "label": "x"}}\r\n'
    )
    assert rewrite(path, "o.csv").decode().splitlines()[1] == f"a,{number},[{number}],x"


def test_a_number_of_many_digits_leaves_those_beside_it_numbers(tmp_path):
    digits = "9" * 5000
    path = write(tmp_path, "n.jsonl", f'{{"text": "good film", "label": 1, "x": {digits}}}\n')
    with open_table(str(path)) as table:
        assert read_documents(table, find_columns(table)).labels == [1]
    assert rows_of(path) == [{"text": "good film", "label": 1, "x": WrittenNumber(digits)}]


@pytest.mark.parametrize("output", ["o.jsonl", "o.csv"])
def test_a_key_that_comes_late_is_not_overwritten(tmp_path, output):
    lines = ['{"text": "a"}'] * N_KEY_ROWS + ['{"text": "b", "label": "mine"}']
    path = write(tmp_path, "late.jsonl", "\n".join(lines))
    with pytest.raises(
        TableError,
        match=r"late.jsonl, line 1001 has 'label' of its own, .* the first 1000 rows",
    ):
        rewrite(path, output)
    with open_table(str(path)) as table:
        read_documents(table, find_columns(table))
        assert table.columns == ["text", "label"]


@pytest.mark.parametrize("cell", ["good\rfilm", " ", '"', "a\nb", "\ufeff", "\0"])
def test_cells_that_a_csv_has_to_quote(tmp_path, cell):
    """Once as a cell, once as the only column's name, which is the first thing of the file."""
    quoted = '"' + cell.replace('"', '""') + '"'
    path = write(tmp_path, "c.csv", f"{quoted}\n1\n{quoted}\n")
    again = write(tmp_path, "again.csv", rewrite(path, "again.csv"))
    assert rows_of(again) == [{cell: "1", "label": "x"}, {cell: cell, "label": "x"}]


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
            "tags": pa.array(
                [[text, None, "x"][: i % 4] if i % 5 else None for i, text in enumerate(texts)]
            ),
            "two": pa.array(
                [[text, "y"] if i % 5 else None for i, text in enumerate(texts)],
                pa.list_(pa.string(), 2),
            ),
            "inner": pa.array(
                [
                    {"a": text, "b": [{"c": text, "d": i}]} if i % 5 else None
                    for i, text in enumerate(texts)
                ]
            ),
            "map": pa.array(pairs, pa.map_(pa.string(), pa.string())),
            "number": pa.array(range(n)),
            "nothing": pa.nulls(n),
        }
    )


def test_parquet_values_and_types_stay(tmp_path):
    table = mixed(3000)
    table = table.append_column("view", table.column("text").cast(pa.string_view()))
    path, buffer, rows = tmp_path / "d.parquet", io.BytesIO(), []
    pq.write_table(table, path, row_group_size=1100, dictionary_pagesize_limit=20_000)
    with (
        open_table(str(path)) as opened,
        open_writer(buffer, "o.parquet", opened, {"p": float}) as writer,
    ):
        for part in opened.parts(700):
            assert len(part.rows) <= 700
            rows += part.rows
            writer.write(part, {"p": [0.5] * len(part.rows)})
    assert pq.read_table(buffer).drop_columns("p").equals(pq.read_table(path))
    assert [row["text"] for row in rows] == table.column("text").to_pylist()
    assert json.dumps([row["tags"] for row in rows]) == json.dumps(table.column("tags").to_pylist())
