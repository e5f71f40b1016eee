"""Odd and damaged tables: one clear error, or read as they are."""

import csv
import datetime
import gzip
import io
import json
import os
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gramshift.data.columns import LONGEST_LABEL, find_columns, read_documents
from gramshift.data.readers import LOOKED_AT, open_table, read_lines
from gramshift.data.tables import LONGEST, TableError, check_reread, decoded_lines
from gramshift.data.values import Written
from gramshift.data.writing import open_writer
from gramshift.errors import InputError


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
    with open_table(str(source), **options) as table, open_writer(buffer, output, table, {name: str}) as writer:
        for part in table.parts(3):
            writer.write(part, {name: ["x"] * len(part.rows)})
    return buffer.getvalue()


@pytest.mark.parametrize(
    "cell", ["a, b\n" * 50_000, '""' * 30_000 + ',"\n,' * 30_000, "," * 2_000_000, "\n" * 20_000 + "," * 20_000]
)
def test_a_quoted_text_may_have_more_commas_than_a_table_columns(tmp_path, cell):
    quoted = '"' + cell.replace('"', '""') + '"'
    path = write(tmp_path, "c.csv", f'id,text,more\n1,{quoted},5" disk\n2,{quoted},{quoted}\n')
    assert rows_of(path) == [{"id": "1", "text": cell, "more": '5" disk'}, {"id": "2", "text": cell, "more": cell}]


@pytest.mark.parametrize("size", [1 << 20, 1000])
def test_a_long_line_is_put_together_once(size):
    """In many pieces: when each was added to what there was before, this copied 100 GB."""
    pieces = (b"x" * size for _ in range((1 << 26) // size))
    assert [len(line) for line in decoded_lines(pieces, encoding="utf-8", name="x")] == [(1 << 26) // size * size]


def test_a_line_that_never_ends_is_refused(tmp_path):
    with pytest.raises(TableError, match=r"x, line 2 has more than 1,000 characters"):
        list(decoded_lines([b"a\n", *([b"b" * 300] * 4)], encoding="utf-8", name="x", longest=1000))
    lines = decoded_lines([b"a" * 600, b"\n" + b"b" * 600, b"\n"] * 3, encoding="utf-8", name="x", longest=1000)
    assert [len(line) for line in lines] == [601] * 6


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_device_that_never_ends(format):
    with pytest.raises(TableError, match=f"/dev/zero, line 1 has more than {LONGEST:,} characters"):
        rows_of("/dev/zero", format=format)


def test_lines_of_a_device():
    with pytest.raises(TableError, match=f"/dev/zero, line 1 has more than {LONGEST:,} characters"):
        read_lines("/dev/zero")


def test_a_quote_that_never_closes_does_not_take_all_there_is(tmp_path):
    """A cell is as long as a line may be; what follows a quote that somebody forgot is not read on and on."""
    path = tmp_path / "q.csv"
    with path.open("wb") as file:
        file.write(b'id,text\n1,"')
        for _ in range(LONGEST // (1 << 20) + 1):
            file.write((b"x" * 1023 + b"\n") * 1024)
    with pytest.raises(TableError, match=r"q.csv, line 2: a cell has more than 67,108,864 characters; perhaps a quote"):
        rows_of(path)


PACKED = gzip.compress(b"abc\n", mtime=0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (gzip.compress(b"abc\n" * 999, mtime=0)[:-9], "ended before"),
        (PACKED[:5], "ended before"),
        (PACKED + b"more", "Not a gzipped file"),
        (PACKED[:-8] + b"\0" * 8, "CRC check failed"),
        (PACKED[:-4] + b"\1\0\0\0", "Incorrect length"),
    ],
)
def test_gzip_that_is_damaged(tmp_path, data, words):
    with pytest.raises(TableError, match=rf"d.txt is not a whole gzip file \(.*{words}.*\); make it again"):
        read_lines(str(write(tmp_path, "d.txt", data)))


def test_gzip_of_several_members_and_with_zeros_behind(tmp_path):
    data = gzip.compress(b"a\nb") + gzip.compress(b"") + gzip.compress(b"c\nd\n") + b"\0" * 20_000
    assert read_lines(str(write(tmp_path, "m.txt", data))) == ["a", "bc", "d"]


@pytest.mark.parametrize("signs", ["[]", "{}"])
def test_json_within_json(tmp_path, signs):
    def nested(depth):
        inner = "[" * depth + "]" * depth if signs == "[]" else '{"a": ' * depth + "1" + "}" * depth
        return inner, write(tmp_path, "d.jsonl", '{"text": "[[[", "x": ' + inner + "}\n")

    inner, path = nested(99)
    assert json.loads(rewrite(path, "o.jsonl"))["x"] == json.loads(inner)
    assert list(csv.reader(io.StringIO(rewrite(path, "o.csv").decode())))[1] == ["[[[", inner, "x"]
    with pytest.raises(TableError, match=r"d.jsonl, line 1: arrays and objects are nested too deep"):
        rows_of(nested(100_000)[1])


def test_brackets_in_texts_are_no_depth(tmp_path):
    path = write(tmp_path, "b.jsonl", json.dumps({"text": "[{" * 5000}) + "\n")
    assert rows_of(path) == [{"text": "[{" * 5000}]


def test_a_label_that_is_a_text(tmp_path):
    path = write(tmp_path, "l.csv", "text,label\na," + "x" * LONGEST_LABEL + "\nb," + "y" * (LONGEST_LABEL + 1) + "\n")
    message = r"l.csv, line 3: 'label' has 1,001 characters; a label has 1,000 at most: name the column of labels with label="
    with open_table(str(path)) as table, pytest.raises(TableError, match=message):
        read_documents(table, find_columns(table))
    path = write(tmp_path, "l.jsonl", '{"text": "a", "label": ' + "9" * 5000 + "}\n")
    with open_table(str(path)) as table, pytest.raises(TableError, match=r"line 1: 'label' has 5,000 characters"):
        read_documents(table, find_columns(table))


def test_errors_do_not_fill_the_screen(tmp_path):
    long = "c" * 100_000
    for name, content in {
        "t.csv": f"{long},{long}\n1,2\n",
        "h.csv": f"{long},b\n",
        "n.csv": f"{long},b,c\n1,2,3\n",
        "k.jsonl": f'{{"{long}": 1, "{long}": 2}}\n',
    }.items():
        with pytest.raises(TableError) as found, open_table(str(write(tmp_path, name, content))) as table:
            find_columns(table)
        assert len(str(found.value)) < 500


def make_fifo(folder):
    os.mkfifo(folder / "pipe.csv")
    return str(folder / "pipe.csv")


def test_what_cannot_be_read_twice(tmp_path):
    for name, kind in ((make_fifo(tmp_path), "a pipe"), ("/dev/zero", "a device")):
        with pytest.raises(TableError, match=f"{name} is {kind}, and this has to be read more than once; save it as a file"):
            check_reread(name)
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
    with pytest.raises(TableError, match=r"lost.txt is a link to a file that is not there; remove it or put the file back"):
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
    assert [{**row, "label": "x"} for row in rows_of(path)] == [{**row, "label": "x"} for row in rows_of(again)]
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
            r"e.csv is not utf-16 \(.*BOM\); name the right encoding with encoding=",
        ),
        ("idna", b"id,text\n1,a\n", "encoding 'idna' is not known"),
        ("punycode", b"id,text\n1,a\n", "encoding 'punycode' is not known"),
        ("undefined", b"id,text\n1,a\n", "encoding 'undefined' is not known"),
        ("utf\x008", b"id,text\n1,a\n", "is not known"),
    ],
)
def test_encodings_that_cannot_be(tmp_path, encoding, data, message):
    with pytest.raises(InputError, match=message):
        rows_of(write(tmp_path, "e.csv", data), encoding=encoding)


def test_a_name_with_nul():
    with pytest.raises(InputError, match=r"'a\\x00b.csv' holds a NUL character, which no name of a file does"):
        rows_of("a\0b.csv")


def as_parquet(folder, **columns):
    pq.write_table(pa.table(columns), folder / "p.parquet")
    return folder / "p.parquet"


SECONDS = 86_400 * 18_262  # from 1970 to 2020
AGES = 86_400 * 25 * 146_097  # ten thousand years


def test_parquet_values_that_python_has_not(tmp_path):
    """Years beyond 9999, nanoseconds, and the rest of what a csv or JSON has no type for, are told by their text."""
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
        inner=pa.array([{"when": [1000 * AGES]}, None], pa.struct([("when", pa.list_(pa.timestamp("ms")))])),
        number=[float("nan"), float("-inf")],
    )
    written = pq.read_table(io.BytesIO(rewrite(path, "o.parquet")))
    assert written.drop_columns(["label", "number"]).equals(pq.read_table(path).drop_columns("number"))
    assert rewrite(path, "o.csv").decode().splitlines() == [
        "text,far,early,fine,long,day,time,price,raw,inner,number,label",
        "a,12020-01-01T00:00:00.000,-7980-01-01T00:00:00.000000,1970-01-01T00:00:00.000000001Z,PT4611686018427387.904S,"
        '2020-01-01,01:01:01.000,1.10,AP8=,"{""when"": [""11970-01-01T00:00:00.000""]}",NaN,x',
        "b,,1970-01-01T00:00:00.000001,,-PT1.500S,,,,,,-Infinity,x",
    ]
    first, second = map(json.loads, rewrite(path, "o.jsonl").splitlines())
    assert (first["day"], first["price"], first["raw"]) == ("2020-01-01", 1.1, "AP8=")
    assert b'"price": 1.10,' in rewrite(path, "o.jsonl")
    assert first["number"] is second["number"] is None


def test_dates_are_no_labels_and_no_texts(tmp_path):
    path = as_parquet(tmp_path, text=["a"], label=[datetime.date(2020, 1, 1)])
    with (
        open_table(str(path)) as table,
        pytest.raises(TableError, match="'label' is 2020-01-01; a label is a string, a number"),
    ):
        read_documents(table, find_columns(table))
    path = as_parquet(tmp_path, text=[datetime.date(2020, 1, 1)])
    with open_table(str(path)) as table, pytest.raises(TableError, match="'text' is 2020-01-01; a text is a string"):
        read_documents(table, find_columns(table))


def test_parquet_with_bytes_that_are_not_utf_8(tmp_path):
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    path = as_parquet(tmp_path, text=["a"], other=broken)
    with pytest.raises(
        TableError, match=r"p.parquet cannot be read on after row 0 \(the column 'other' has a text that is not"
    ):
        rows_of(path)


def test_a_parquet_file_that_loses_rows(tmp_path):
    """Its footer says that there are rows, and those that are there are fewer: as damage, not as an answer of no rows."""
    path = as_parquet(tmp_path, text=["a"] * 50)

    class Shortened:
        def __init__(self, file):
            self._file = file
            self.schema_arrow, self.metadata = file.schema_arrow, file.metadata

        def iter_batches(self, batch_size):
            yield from list(self._file.iter_batches(batch_size=batch_size))[:2]

    with pytest.MonkeyPatch.context() as patch:
        whole = pq.ParquetFile
        patch.setattr(pq, "ParquetFile", lambda source: Shortened(whole(source)))
        with pytest.raises(TableError, match=r"p.parquet has 50 rows by what it says, and 14 were found; it is damaged"):
            rows_of(path)


NUMBERS = ["1e400", "-0", "1.10", "12345678901234567890.5", "1E5", "-0.0", "0.1e-7", "9" * 400, "9" * 5000, "NaN", "-Infinity"]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_of_a_jsonl_keep_their_text(tmp_path, number):
    path = write(tmp_path, "n.jsonl", f'{{"text":"a" ,"x":{number}, "y": [{number}], "label": null}}\r\n')
    assert (
        rewrite(path, "o.jsonl", "p").decode() == f'{{"text":"a" ,"x":{number}, "y": [{number}], "label": null, "p": "x"}}\r\n'
    )
    assert rewrite(path, "o.jsonl").decode() == f'{{"text": "a", "x": {number}, "y": [{number}], "label": "x"}}\r\n'
    assert rewrite(path, "o.csv").decode().splitlines()[1] == f"a,{number},[{number}],x"


def test_a_number_of_many_digits_leaves_those_beside_it_numbers(tmp_path):
    digits = "9" * 5000
    path = write(tmp_path, "n.jsonl", f'{{"text": "good film", "label": 1, "x": {digits}}}\n')
    with open_table(str(path)) as table:
        assert read_documents(table, find_columns(table)).labels == [1]
    assert rows_of(path) == [{"text": "good film", "label": 1, "x": Written(digits, is_number=True)}]


@pytest.mark.parametrize("output", ["o.jsonl", "o.csv"])
def test_a_key_that_comes_late_is_not_overwritten(tmp_path, output):
    lines = ['{"text": "a"}'] * LOOKED_AT + ['{"text": "b", "label": "mine"}']
    path = write(tmp_path, "late.jsonl", "\n".join(lines))
    with pytest.raises(
        TableError, match=r"late.jsonl, line 1001 has 'label' of its own, which none of the first 1000 rows has"
    ):
        rewrite(path, output)
    with open_table(str(path)) as table:
        read_documents(table, find_columns(table))
        assert table.columns == ["text", "label"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("cell", ["good\rfilm", "\r", " ", "\u2028", '"', "a\nb", "\x85", "\ufeff", "\0"])
def test_cells_that_a_csv_has_to_quote(tmp_path, cell, end):
    """Once as a cell, once as the only column's name, which is the first thing of the file."""
    quoted = '"' + cell.replace('"', '""') + '"'
    path = write(tmp_path, "c.csv", f"{quoted}{end}1{end}{quoted}{end}")
    again = write(tmp_path, "again.csv", rewrite(path, "again.csv"))
    assert rows_of(again) == [{cell: "1", "label": "x"}, {cell: cell, "label": "x"}]


def test_the_end_gz_may_be_in_capitals(tmp_path):
    path = write(tmp_path, "c.csv", "text\na\n")
    assert gzip.decompress(rewrite(path, "O.CSV.GZ")) == b"text,label\na,x\n"
