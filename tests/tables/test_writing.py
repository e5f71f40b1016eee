"""Writing tables again with more columns."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conftest import ALPHABET
from gramshift.tables.jsonl import N_KEY_ROWS
from gramshift.tables.opening import open_table
from gramshift.tables.table import TableError
from gramshift.tables.writing import csv_text, open_writer

TYPES = {"label": str, "p": float}
NEW = [("good", 0.5), (None, 0.25), ("bad", 1.0)]


def rewrite(source, output, *, size=2, types=TYPES, values=NEW, **options):
    """The table at ``source`` with the columns of TYPES, as bytes."""
    buffer, rest = io.BytesIO(), iter(values)
    with (
        open_table(str(source), **options) as table,
        open_writer(buffer, output, table, types) as writer,
    ):
        for part in table.parts(size):
            rows = [next(rest) for _ in part.rows]
            writer.write(part, {name: [row[k] for row in rows] for k, name in enumerate(types)})
    return buffer.getvalue()


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


@given(st.lists(st.tuples(st.text(ALPHABET, max_size=5), st.text(max_size=5)), max_size=4))
@example([("a\rb", "\r")])
def test_rows_of_any_text_are_read_as_they_were_written(rows):
    assert list(csv.reader(io.StringIO(csv_text(rows), newline=""), strict=True)) == [
        list(row) for row in rows
    ]


def test_a_csv_keeps_its_columns_quotes_and_order(tmp_path):
    source = write(tmp_path, "t.csv", b'text,n\n"a, ""b""\nc",1\nd,"02"\n,\n')
    assert (
        rewrite(source, "out.csv").decode()
        == 'text,n,label,p\n"a, ""b""\nc",1,good,0.5\nd,02,,0.25\n,,bad,1.0\n'
    )


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b"\xef\xbb\xbftext;n\r\n\xc3\xa9;1\r\nb;2\r\nc;3\r\n", {}),
        ("text;n\r\né;1\r\nb;2\r\nc;3\r\n".encode("latin-1"), {"encoding": "latin-1"}),
        ("text;n\r\né;1\r\nb;2\r\nc;3\r\n".encode("utf-16"), {"encoding": "utf-16"}),
    ],
)
def test_mark_encoding_delimiter_and_line_ends_stay(tmp_path, content, options):
    found = rewrite(write(tmp_path, "t.csv", content), "-", **options)
    encoding = options.get("encoding", "utf-8")
    expected = (
        content.decode(encoding)
        .replace("n\r\n", "n;label;p\r\n")
        .replace("1\r\n", "1;good;0.5\r\n")
    )
    expected = expected.replace("2\r\n", "2;;0.25\r\n").replace("3\r\n", "3;bad;1.0\r\n")
    assert found.decode(encoding) == expected
    assert found[:2] == content[:2]


def test_jsonl_keeps_whatever_there_was(tmp_path):
    rows = [
        {"text": "a", "deep": {"x": [1, None]}},
        {"text": "\ud800 half"},
        {"other": True, "text": "é"},
    ]
    lines = [json.dumps(row, ensure_ascii=not row["text"].isalpha()) for row in rows]
    source = write(tmp_path, "t.jsonl", "".join(line + "\n" for line in lines).encode())
    written = rewrite(source, "out.jsonl").decode().splitlines()
    assert [json.loads(line) for line in written] == [
        row | {"label": label, "p": p} for row, (label, p) in zip(rows, NEW, strict=True)
    ]
    assert all(new.startswith(old[:-1]) for old, new in zip(lines, written, strict=True))
    assert "é" in written[2]


def test_parquet_keeps_its_types(tmp_path):
    table = pa.table(
        {
            "text": ["a", "b", "c"],
            "when": pa.array([1, 2, None], pa.timestamp("ns")),
            "price": pa.array([1, 2, 3], pa.int8()),
            "tags": [["x"], [], None],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = pq.read_table(
        io.BytesIO(
            rewrite(
                tmp_path / "t.parquet",
                "out.parquet",
                values=[(None, 0.5), (None, 0.25), ("bad", 1.0)],
            )
        )
    )
    assert found.select(table.column_names).equals(table)
    assert found["label"].to_pylist() == [None, None, "bad"]
    assert found["label"].type == pa.string()
    assert found["p"].to_pylist() == [0.5, 0.25, 1.0]


def test_a_column_that_the_table_has_is_filled_in_place(tmp_path):
    source = write(tmp_path, "t.csv", b"text,label,n\na,,1\nb,,2\nc,old,3\n")
    assert rewrite(source, "o.csv").decode().splitlines() == [
        "text,label,n,p",
        "a,good,1,0.5",
        "b,,2,0.25",
        "c,bad,3,1.0",
    ]


def test_other_formats_than_the_input(tmp_path):
    source = write(tmp_path, "t.csv", b"text\na\nb\nc\n")
    assert rewrite(source, "o.tsv").decode().splitlines()[1] == "a\tgood\t0.5"
    assert json.loads(rewrite(source, "o.jsonl").splitlines()[1]) == {
        "text": "b",
        "label": None,
        "p": 0.25,
    }
    assert pq.read_table(io.BytesIO(rewrite(source, "o.parquet"))).to_pylist()[2] == {
        "text": "c",
        "label": "bad",
        "p": 1.0,
    }
    assert gzip.decompress(rewrite(source, "o.csv.gz")).decode().splitlines()[3] == "c,bad,1.0"
    objects = write(
        tmp_path,
        "t.jsonl",
        b'{"text": "a", "n": 1}\n{"text": "b", "m": [1, true]}\n{"text": "c"}\n',
    )
    rows = list(csv.reader(rewrite(objects, "o.csv").decode().splitlines()))
    assert rows == [
        ["text", "n", "m", "label", "p"],
        ["a", "1", "", "good", "0.5"],
        ["b", "", "[1, true]", "", "0.25"],
        ["c", "", "", "bad", "1.0"],
    ]
    with pytest.raises(TableError, match="have no fixed types"):
        rewrite(objects, "o.parquet")
    with pytest.raises(TableError, match=r"o.doc: the format .doc is not known"):
        rewrite(source, "o.doc")


def test_a_text_that_parquet_cannot_hold(tmp_path):
    source = write(tmp_path, "t.csv", b"text\na\n")
    with pytest.raises(TableError, match="the column 'label' cannot be written as parquet"):
        rewrite(source, "o.parquet", values=[("half \ud800", 0.5)])


def test_keys_that_come_late_are_refused_in_a_csv(tmp_path):
    objects = write(
        tmp_path, "t.jsonl", b'{"text": "a"}\n' * N_KEY_ROWS + b'{"text": "c", "late": 1}\n'
    )
    with pytest.raises(
        TableError, match=f"line {N_KEY_ROWS + 1} has 'late', which the rows before did not"
    ):
        rewrite(objects, "o.csv", values=NEW[:1] * (N_KEY_ROWS + 1))


def test_a_folder_is_written_without_its_texts(tmp_path):
    for name in "abc":
        write(tmp_path, f"{name}.txt", b"some text")
    assert rewrite(tmp_path, "o.csv").decode().splitlines()[:2] == ["id,label,p", "a.txt,good,0.5"]
    assert json.loads(rewrite(tmp_path, "o.jsonl").splitlines()[0]) == {
        "id": "a.txt",
        "label": "good",
        "p": 0.5,
    }


def test_numbers_and_words_of_json_as_labels(tmp_path):
    source = write(tmp_path, "t.csv", b"text\na\nb\nc\n")
    lines = rewrite(
        source,
        "o.csv",
        types={"x": bool, "p": float},
        values=[(True, 1.0), (False, 0.5), (None, 0.1)],
    )
    assert lines.decode().splitlines()[1:] == ["a,true,1.0", "b,false,0.5", "c,,0.1"]


def test_a_class_that_parquet_cannot_name(tmp_path):
    source = write(tmp_path, "t.csv", b"text\na\n")
    message = r"the column 'p_\\ud800' cannot be written as parquet, .* \.csv or \.jsonl"
    with pytest.raises(TableError, match=message):
        rewrite(source, "out.parquet", types={"p_\ud800": float}, values=[(0.5,)])
    assert (
        rewrite(source, "out.csv", types={"p_\ud800": float}, values=[(0.5,)])
        == b"text,p_\\ud800\na,0.5\n"
    )
