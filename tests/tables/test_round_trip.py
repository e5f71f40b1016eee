"""Random tables through all pairs of formats: cells stay, and pandas and polars agree."""

import base64
import csv
import io
import json
import math
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from gramshift.commands.classify.label_columns import label_columns
from gramshift.errors import GramshiftError
from gramshift.tables.opening import open_table
from gramshift.tables.table import TableError
from gramshift.tables.writing import open_writer
from in_child import check_in_child

ODD = [
    '"',
    '""',
    ",",
    ";",
    "\t",
    "|",
    "\r",
    "\n",
    "\r\n",
    "\0",
    "\ufeff",
    " ",
    "'",
    "\\",
    "\u2028",
    "\x85",
    "\x1c",
    "\x1a",
    "=1+1",
]
LIKE_OTHERS = [
    "0012",
    "1.0",
    "1.10",
    "NaN",
    "NA",
    "null",
    "None",
    "True",
    "2020-01-01",
    "-0",
    "1e400",
    "{}",
    "[1]",
    "#",
]
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
cells = st.lists(words | st.sampled_from(ODD) | st.sampled_from(LIKE_OTHERS), max_size=3).map(
    "".join
)
halves = st.tuples(cells, st.sampled_from(["\ud800", "\udfff", "\ude00\ud83d"]), cells).map("".join)
usual = st.sampled_from(["id", "text", "label", "confidence", "p_pos", "predicted_label"])
names = st.lists(usual | cells, min_size=1, max_size=4, unique=True)
numbers = st.sampled_from(
    [
        "0",
        "-0",
        "1.10",
        "1e400",
        "-1E-5",
        "1" * 30,
        "0.1",
        "1.0",
        "12345678901234567890.5",
        "9" * 5000,
    ]
)


class Number(NamedTuple):
    """A number of JSON by its text."""

    text: str


scalars = cells | halves | numbers.map(Number) | st.booleans() | st.none()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(cells, inner, max_size=2),
    max_leaves=4,
)


class Made(NamedTuple):
    """A file, and the cells that are in it."""

    format: str
    data: bytes
    columns: list
    rows: list
    encoding: str = "utf-8"
    delimiter: str = ","


@st.composite
def delimited(draw, format):
    columns = draw(names)
    rows = draw(
        st.lists(
            st.lists(cells, min_size=len(columns), max_size=len(columns)), min_size=1, max_size=4
        )
    )
    delimiter = "\t" if format == "tsv" else draw(st.sampled_from(",;\t|"))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    text = io.StringIO()
    options = {
        "delimiter": delimiter,
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
        "quoting": csv.QUOTE_ALL,
    }
    csv.writer(text, **options).writerows([columns, *rows])
    known = delimiter if len(columns) > 1 or format == "tsv" else ","
    return Made(
        format,
        text.getvalue().encode(encoding),
        columns,
        rows,
        encoding.removesuffix("-sig"),
        known,
    )


def dump(value):
    """JSON with numbers by their text."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)} :{dump(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return json.dumps(value)


@st.composite
def objects(draw):
    columns = draw(names)
    rows = draw(
        st.lists(
            st.fixed_dictionaries({}, optional=dict.fromkeys(columns, values)),
            min_size=1,
            max_size=4,
        )
    )
    rows.append(dict.fromkeys(columns, "x"))  # so that all columns are there
    return Made(
        "jsonl",
        "".join(dump(row) + "\n" for row in rows).encode(),
        list(dict.fromkeys(k for r in rows for k in r)),
        rows,
    )


KINDS = {
    pa.string(): cells,
    pa.large_string(): cells,
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float64(): st.floats(),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
    pa.decimal128(9, 2): st.integers(-(10**8), 10**8).map(lambda cents: Decimal(cents) / 100),
    pa.binary(): st.binary(max_size=5),
    pa.list_(pa.string()): st.lists(cells, max_size=2),
    pa.struct([("a", pa.int8()), ("when", pa.timestamp("us"))]): st.fixed_dictionaries(
        {"a": st.integers(-9, 9), "when": st.datetimes() | st.none()}
    ),
}


@st.composite
def arrow(draw):
    columns = draw(names)
    kinds = [draw(st.sampled_from(list(KINDS))) for _ in columns]
    n_rows = draw(st.integers(1, 4))
    found = [
        draw(st.lists(KINDS[kind] | st.none(), min_size=n_rows, max_size=n_rows)) for kind in kinds
    ]
    arrays = [pa.array(one, kind) for one, kind in zip(found, kinds, strict=True)]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, names=columns), buffer)
    return Made(
        "parquet", buffer.getvalue(), columns, [list(row) for row in zip(*found, strict=True)]
    )


MADE = {"csv": delimited("csv"), "tsv": delimited("tsv"), "jsonl": objects(), "parquet": arrow()}


class Rewritten(NamedTuple):
    path: Path
    input: Path
    ours: dict
    columns: list
    encoding: str
    delimiter: str

    @property
    def data(self):
        return self.path.read_bytes()


def rewrite(made, output, folder):
    """Write what was made, read it in parts, and write it again with our columns."""
    path, target = Path(folder, f"in.{made.format}"), Path(folder, f"out.{output}")
    path.write_bytes(made.data)
    with open_table(str(path), encoding=made.encoding) as table, target.open("wb") as file:
        ours = label_columns(table, ["neg", "pos"])
        with open_writer(file, target.name, table, ours.types) as writer:
            for part in table.parts(3):
                writer.write(
                    part, ours.values(["pos"] * len(part.rows), [[0.25, 0.75]] * len(part.rows))
                )
        style, columns = table.style, list(table.columns)
    values = {name: one[0] for name, one in ours.values(["pos"], [[0.25, 0.75]]).items()}
    assert not values.keys() & set(columns)
    delimiter = style.delimiter if output == made.format else "\t" if output == "tsv" else ","
    encoding = "utf-8" if output == "jsonl" and style.encoding == "utf-8-sig" else style.encoding
    return Rewritten(target, path, values, columns, encoding, delimiter)


def in_csv(value):
    """The text of a value in a csv, told as plainly as can be."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, datetime):
        return value.isoformat(" ", timespec="microseconds")
    plain = {
        Number: lambda: value.text,
        date: value.isoformat if isinstance(value, date) else None,
        Decimal: lambda: f"{value:.2f}",
    }
    plain |= {
        type(None): lambda: "",
        bool: lambda: str(value).lower(),
        bytes: lambda: base64.b64encode(value).decode(),
    }
    if type(value) in plain:
        return plain[type(value)]()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def as_json(value):
    """A value as JSON gives it back."""
    if isinstance(value, dict):
        return {key: as_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_json(one) for one in value]
    if isinstance(value, (datetime, date, bytes)):
        return in_csv(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return float(value) if isinstance(value, Decimal) else value


def check_csv(made, found):
    """Ours, Python's csv, pandas and polars read the same cells."""
    text = found.data.decode(found.encoding)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=found.delimiter, strict=True))
    header = [in_csv(name) for name in found.columns] + list(found.ours)
    assert rows[0] == header
    assert len(rows) == len(made.rows) + 1
    for written, row in zip(rows[1:], made.rows, strict=True):
        read = [row.get(name) for name in made.columns] if isinstance(row, dict) else row
        assert written[len(read) :] == [in_csv(one) for one in found.ours.values()]
        for cell, value in zip(written, read, strict=False):
            if isinstance(value, (dict, list)):
                assert json.loads(cell, parse_int=str, parse_float=str) == json.loads(
                    dump(as_json(value)), parse_int=str, parse_float=str
                )
            else:
                assert cell == in_csv(value)
    with open_table(str(found.path), encoding=found.encoding) as table:
        ours = [list(row.values()) for part in table.parts(2) for row in part.rows]
        assert [table.columns, *ours] == rows
    frame = pd.read_csv(
        found.path,
        sep=found.delimiter,
        header=None,
        dtype=str,
        na_filter=False,
        encoding=found.encoding,
        skip_blank_lines=False,
    )
    assert frame.to_numpy().tolist() == rows
    data = text.removeprefix("\ufeff").encode() if found.encoding != "utf-16" else text.encode()
    frame = pl.read_csv(data, separator=found.delimiter, has_header=False, infer_schema=False)
    assert [[cell or "" for cell in row] for row in frame.rows()] == rows


def check_jsonl(made, found):
    lines = found.data.decode(found.encoding).split("\n")
    assert lines.pop() == ""
    if made.format == "jsonl":
        for line, before in zip(lines, made.data.decode().splitlines(), strict=True):
            assert line.startswith(before[:-1])
            assert json.loads("{" + line[len(before) - 1 :].removeprefix(", ")) == found.ours
            json.loads(line, parse_int=str)
    else:
        for line, row in zip(lines, made.rows, strict=True):
            assert (
                json.loads(line)
                == dict(zip(made.columns, map(as_json, row), strict=True)) | found.ours
            )
    frames = {"pandas": read_json_with_pandas(found.path, found.encoding)}
    if found.encoding == "utf-8":
        frames["polars"] = attempt(pl.read_ndjson, found.path)
    for frame in frames.values():
        if made.format == "jsonl" or frame is None:
            continue
        assert len(frame) == len(made.rows)
        if made.format != "parquet":
            assert [list(frame[name]) for name in made.columns] == [
                list(column) for column in zip(*made.rows, strict=True)
            ]
    if made.format == "jsonl":
        agree(read_json_with_pandas(found.input, "utf-8"), frames["pandas"])
        agree(attempt(pl.read_ndjson, found.input), frames.get("polars"))


def read_json_with_pandas(path, encoding):
    options = {"dtype": False, "convert_dates": False, "convert_axes": False, "precise_float": True}
    return attempt(pd.read_json, path, lines=True, encoding=encoding, **options)


def check_parquet(made, found):
    written = pq.read_table(found.path)
    assert written.drop_columns(found.columns).to_pylist() == [found.ours] * len(made.rows)
    if made.format == "parquet":
        assert written.select(made.columns).schema.equals(pq.read_table(found.input).schema)
        for read in (pd.read_parquet, pl.read_parquet):
            agree(attempt(read, found.input), attempt(read, found.path))
    else:
        rows = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
        assert written.select(made.columns).to_pylist() == rows
        assert pl.read_parquet(found.path).select(made.columns).rows() == [
            tuple(row) for row in made.rows
        ]
        assert pd.read_parquet(found.path)[made.columns].to_numpy().tolist() == made.rows


def attempt(read, *arguments, **options):
    """What a reader makes of a file; None if it cannot read it, which is not ours to judge."""
    try:
        return read(*arguments, **options)
    except (Exception, pl.exceptions.PanicException):
        return None


def agree(before, after):
    """Whoever could read the input reads the same in the output."""
    if isinstance(before, pd.DataFrame):
        pd.testing.assert_frame_equal(after[list(before.columns)], before)
    elif before is not None:
        assert after.select(before.columns).equals(before)


CHECKS = {"csv": check_csv, "tsv": check_csv, "jsonl": check_jsonl, "parquet": check_parquet}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of pandas, about what it makes of odd cells
@pytest.mark.parametrize("output", CHECKS)
@pytest.mark.parametrize("format", MADE)
def test_cells_are_written_as_they_were_read(format, output):
    @examples(40)
    @given(MADE[format])
    def check(made):
        with TemporaryDirectory() as folder:
            if (format, output) == ("jsonl", "parquet"):
                with pytest.raises(
                    TableError, match="the objects of a jsonl file have no fixed types"
                ):
                    rewrite(made, output, folder)
            else:
                CHECKS[output](made, rewrite(made, output, folder))

    check()


PIECES = [
    *ODD,
    *LIKE_OTHERS,
    "{",
    "}",
    "[",
    ":",
    "\\ud800",
    "\xff",
    "\x80",
    '"text": "a", ',
    "PAR1",
    "\x15\x02",
    "\xff\xff\xff\x7f",
    "[" * 300,
]
changes = st.tuples(
    st.sampled_from(["put", "over", "cut", "end", "copy"]),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from(PIECES) | st.characters(max_codepoint=255),
)


def change(data, what, where, piece):
    """Damage a file: put bytes in or over others, leave some out, cut it off, or repeat some."""
    at, new = int(where * len(data)), piece.encode("latin-1", "replace")
    return {
        "put": data[:at] + new + data[at:],
        "over": data[:at] + new + data[at + len(new) :],
        "cut": data[:at] + data[at + len(new) :],
        "end": data[:at],
        "copy": data[:at] + data[at : at + 20] * 3 + data[at + 20 :],
    }[what]


def read_rows(path, encoding):
    with open_table(str(path), encoding=encoding) as table:
        return [row for part in table.parts(2) for row in part.rows]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("format", MADE)
def test_a_damaged_table_is_refused_by_name_or_comes_out_as_it_was_read(format):
    """Libraries that read tables have compiled code, so that this is done in a child."""

    def check_all(note):
        @examples(200)
        @given(MADE[format], st.lists(changes, min_size=1, max_size=4))
        def check(made, steps):
            data = reduce(lambda data, step: change(data, *step), steps, made.data)
            note((made, steps))
            with TemporaryDirectory() as folder:
                found, told = None, ""
                try:
                    found = rewrite(made._replace(data=data), format, folder)
                except GramshiftError as error:
                    told = str(error)
                if found is None:
                    assert folder in told
                    assert len(told) < 10_000
                    return
                before, after = (
                    read_rows(found.input, made.encoding),
                    read_rows(found.path, found.encoding),
                )
                assert before
                assert repr(
                    [{name: row[name] for name in row if name not in found.ours} for row in after]
                ) == repr(before)

        check()

    check_in_child(check_all)
