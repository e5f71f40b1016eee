"""Reading tables of every format, and what is wrong with them."""

import gzip
import io
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gramshift.tables.columns import check_ids, find_columns, read_documents
from gramshift.tables.opening import open_table
from gramshift.tables.table import TableError, in_parts

ROWS = [
    {"id": "a", "text": 'He said "wow", twice.\nThen left.', "label": "1"},
    {"id": "b", "text": "Ünïcode 😀; a, b\tc", "label": ""},
    {"id": "c", "text": "", "label": "0"},
]
CSV = 'id,text,label\na,"He said ""wow"", twice.\nThen left.",1\nb,"Ünïcode 😀; a, b\tc",\nc,,0\n'


def read(name, *, size=2, **options):
    named = {
        key: options.pop(key) for key in ("text", "label", "id", "need_label") if key in options
    }
    with open_table(str(name), **options) as table:
        return read_documents(table, find_columns(table, **named), size=size)


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def as_parquet(rows):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


CONTENTS = {
    "t.csv": CSV.encode(),
    "bom.csv": b"\xef\xbb\xbf" + CSV.encode(),
    "crlf.csv": CSV.replace(",1\n", ",1\r\n").replace("label\n", "label\r\n").encode(),
    "semicolon.csv": CSV.replace("id,text,label", "id;text;label")
    .replace("a,", "a;", 1)
    .replace('",1', '";1')
    .replace("b,", "b;", 1)
    .replace('",\n', '";\n')
    .replace("c,,0", "c;;0")
    .encode(),
    "t.tsv": CSV.replace("id,text,label", "id\ttext\tlabel")
    .replace("\na,", "\na\t")
    .replace('",1', '"\t1')
    .replace("\nb,", "\nb\t")
    .replace('",\n', '"\t\n')
    .replace("c,,0", "c\t\t0")
    .encode(),
    "t.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "blank.ndjson": "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS).encode(),
    "t.parquet": as_parquet(ROWS),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_gives_the_same_documents(tmp_path, name, packed):
    content = gzip.compress(CONTENTS[name]) if packed else CONTENTS[name]
    documents = read(write(tmp_path, name + ".gz" * packed, content))
    assert documents.texts == [row["text"] for row in ROWS]
    assert documents.labels == ["1", None, "0"]
    assert documents.ids == ["a", "b", "c"]
    assert [len(part.rows) for part in documents.raw] == [2, 1]


@pytest.mark.parametrize("name", CONTENTS)
def test_standard_input_is_known_by_how_it_begins(monkeypatch, name):
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(CONTENTS[name])))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read("-").texts == [row["text"] for row in ROWS]
    stdin.detach()


def test_folders(tmp_path):
    for label, name, text in (
        ("pos", "1.txt", "good"),
        ("pos", "2.txt.gz", "fine"),
        ("neg", "1.txt", "bad\r\n"),
    ):
        (tmp_path / "classes" / label).mkdir(parents=True, exist_ok=True)
        data = text.encode()
        (tmp_path / "classes" / label / name).write_bytes(
            gzip.compress(data) if name.endswith("gz") else data
        )
    (tmp_path / "classes" / ".git").mkdir()
    (tmp_path / "classes" / "notes.md").write_text("no document")
    documents = read(tmp_path / "classes", need_label=True)
    assert documents.ids == ["neg/1.txt", "pos/1.txt", "pos/2.txt.gz"]
    assert documents.texts == ["bad\r\n", "good", "fine"]
    assert documents.labels == ["neg", "pos", "pos"]
    flat = read(tmp_path / "classes" / "pos")
    assert (flat.ids, flat.labels) == (["1.txt", "2.txt.gz"], [None, None])
    (tmp_path / "classes" / "stray.txt").write_text("x")
    with pytest.raises(TableError, match=r"has .txt files of its own and in folders \(neg, pos\)"):
        read(tmp_path / "classes")
    (tmp_path / "classes" / "stray.txt").unlink()
    with pytest.raises(TableError, match=r"has no .txt files"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("header", "options", "found"),
    [
        ("ID,Review,Sentiment", {}, (["Review"], "Sentiment", "ID")),
        ("body,content,text,label", {}, (["text"], "label", None)),
        ("a,b,c,label", {"text": "b"}, (["b"], "label", None)),
        ("a,b,c,label", {"text": "c, A"}, (["c", "a"], "label", None)),
        ("title,body", {"text": "review|title,body"}, (["title", "body"], None, None)),
        ("one", {}, (["one"], None, None)),
        ("words,class,id", {}, (["words"], "class", "id")),
        ("text,x,id", {"label": "x", "id": "none"}, (["text"], "x", None)),
        ('"x,y",z', {"text": "x,y"}, (["x,y"], None, None)),
    ],
)
def test_columns_are_found(tmp_path, header, options, found):
    path = write(
        tmp_path,
        "t.csv",
        f"{header}\n{','.join('1' * len(header.split(',')))}\n".replace(
            '"x,y",z\n1,1,1', '"x,y",z\n1,1'
        ),
    )
    with open_table(str(path)) as table:
        columns = find_columns(table, **options)
    assert (columns.texts, columns.label, columns.id) == found


@pytest.mark.parametrize(
    ("header", "options", "message"),
    [
        (
            "a,b,c",
            {},
            r"t.csv has the columns a, b, c, none of them a usual name for texts .* --text$",
        ),
        (
            "text,b,c",
            {"need_label": True},
            r"none of them a usual name for labels \(label, class, .*name it with --label$",
        ),
        (
            "text,stars,c",
            {"label": "start"},
            r"--label start: t.csv has no such column; it has .* did you mean stars\?",
        ),
        ("text,stars,c", {"text": "txet"}, r"--text txet: .*did you mean text\?"),
        (
            "text,stars,c",
            {"text": "text,nope"},
            r"--text nope: .* it has the columns text, stars, c; .* --text 'text,nope\|NAME'$",
        ),
        ("text,stars,c", {"id": "key"}, r"--id key: "),
        ("label,stars,c", {"text": "label"}, r"'label' cannot be both text and label"),
        ("text,a,a", {}, r"columns 2 and 3 are both called 'a'"),
    ],
)
def test_columns_that_are_not_there(tmp_path, header, options, message, monkeypatch):
    write(tmp_path, "t.csv", f"{header}\n1,2,3\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TableError, match=message):
        read("t.csv", **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", "", "e.csv is empty; it should begin with a line that names the columns"),
        ("e.csv", "\n  \n", "e.csv is empty"),
        ("e.csv", "id,text\n\n", r"e.csv has a header \(id, text\), but no rows"),
        ("e.jsonl", "\n", "e.jsonl is empty"),
        (
            "e.parquet",
            as_parquet([{"text": "x"}][:0] or [{"text": "x"}])[:20],
            "e.parquet is not a parquet file",
        ),
        ("e.csv", "id,text\n1,a\n2,b,c\n", "e.csv, line 3 has 3 fields, but the header has 2"),
        ("e.csv", 'id,text\n1,"a\nb"\n2\n', "e.csv, line 4 has 1 fields, but the header has 2"),
        (
            "e.csv",
            'id,text\n1,a\n2,"b\n3,c\n',
            "e.csv, line 3: a quote opens here and never closes",
        ),
        ("e.csv", 'id,text\n1,"a"b\n', "e.csv, line 2: not a row of a table"),
        ("e.csv", "id,text\n1,a\r2,b\n", "e.csv, line 2: a line ends with"),
        (
            "e.csv",
            b"id,text\n1,caf\xe9\n",
            r"e.csv, line 2: the byte 0xe9 is not utf-8; .* all inputs; .* as UTF-8$",
        ),
        ("e.csv", "id,text\n1,a\n".encode("utf-16"), "it looks like --encoding utf-16$"),
        (
            "e.csv.gz",
            gzip.compress(b"id,text\n1,a\n" * 9, mtime=0)[:-12],
            "e.csv.gz is not a whole gzip file",
        ),
        (
            "e.jsonl",
            '{"text": "a"}\n{"text": 5}\n',
            r"e.jsonl, line 2: 'text' is 5 \(int\); a text is a string",
        ),
        ("e.jsonl", '{"text": "a"}\n{"text": null}\n', "e.jsonl, line 2: 'text' is null"),
        (
            "e.jsonl",
            '{"text": "a"}\n{"body": "b"}\n',
            "e.jsonl, line 2 has no 'text'; every row needs its text",
        ),
        ("e.jsonl", '{"text": "a"}\n{"text": "b"\n', "e.jsonl, line 2 is not JSON"),
        ("e.jsonl", '{"text": "a", "text": "b"}\n', "the key 'text' occurs twice"),
        ("e.jsonl", '[{"text": "a"}]\n', "e.jsonl, line 1 is an array; every line is an object"),
        (
            "e.jsonl",
            '{"text": "a", "label": ["x"]}\n',
            "e.jsonl, line 1: 'label' is an array; a label is",
        ),
        (
            "e.jsonl",
            '{"text": "a", "id": null}\n',
            "e.jsonl, line 1 has no id in 'id'; number the rows",
        ),
        (
            "e.csv",
            "id;text;label\n1;a;x\n;;\n",
            "e.csv, line 3 has no id in 'id'; all of its cells are empty: delete this row",
        ),
        (
            "e.xlsx",
            "PK",
            r"e.xlsx: the format .xlsx is not known; save the sheet as csv. Known are csv, tsv",
        ),
        ("e.json", "[]", "write one object per line and call it .jsonl"),
        ("e", "id", "of a name without an end is not known; say which it is with --format\\."),
    ],
)
def test_files_that_cannot_be_read_say_where(tmp_path, monkeypatch, name, content, message):
    write(tmp_path, name, content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        read(name)


def test_an_unknown_format_is_named():
    with pytest.raises(TableError, match="--format xml: there are csv, tsv, jsonl, parquet"):
        read("x.csv", format="xml")


def test_ids_that_repeat(tmp_path):
    path = write(tmp_path, "t.csv", "id,text\n7,a\n8,b\n7,c\n")
    with pytest.raises(
        TableError, match=r"the id '7' is in line 2 and line 4; .*with --id, or .*with --id none$"
    ):
        check_ids(read(path))
    assert read(path, id="none").ids == ["1", "2", "3"]


def test_long_fields_nul_bytes_and_many_parts(tmp_path):
    long = "x" * 300_000
    path = write(tmp_path, "t.csv", f"text\n{long}\na\0b\n" + "c\n" * 5000)
    documents = read(path, size=1000)
    assert documents.texts[:3] == [long, "a\0b", "c"]
    assert len(documents.texts) == 5002
    assert [len(part.rows) for part in documents.raw] == [1000] * 5 + [2]


def test_a_part_ends_early_where_texts_are_very_long():
    rows = [(place, {"text": "0123456789"}, None) for place in range(7)]
    assert [len(part.rows) for part in in_parts(rows, 100, large=25)] == [3, 3, 1]
    assert [len(part.rows) for part in in_parts(rows, 100)] == [7]


def test_two_columns_are_joined(tmp_path):
    path = write(tmp_path, "t.csv", "title,body\nA,b\n,c\nD,\n")
    assert read(path, text="title,body").texts == ["A\nb", "c", "D"]


def test_labels_keep_their_type_in_jsonl(tmp_path):
    rows = [{"text": "a", "label": label} for label in (1, True, "x", None, 2.0, float("nan"))] + [
        {"text": "b"}
    ]
    path = write(tmp_path, "t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert read(path).labels == [1, True, "x", None, 2.0, None, None]


def test_without_pyarrow_it_says_how_to_get_it(tmp_path, monkeypatch):
    path = write(tmp_path, "t.parquet", CONTENTS["t.parquet"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TableError, match=r"pip install 'gramshift\[parquet\]'"):
        read(path)
