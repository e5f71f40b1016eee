"""The target ``parquet``: columns of every type that Python can make values for, and bytes changed after that."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from fuzz.made_up import cell, sentence
from fuzz.mutation import LATIN, apply_steps, draw_steps
from fuzz.tables import Given, check_table
from fuzz.targets import Case, Target
from gramshift.data.parquet import import_pyarrow

pa = import_pyarrow()
TYPES = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "int8": pa.int8(),
    "float": pa.float64(),
    "half": pa.float16(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "large": pa.large_string(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    "stamp": pa.timestamp("us"),
    "stamp_ns": pa.timestamp("ns"),
    "zoned": pa.timestamp("ms", tz="UTC"),
    "far": pa.timestamp("s"),
    "time": pa.time64("us"),
    "duration": pa.duration("us"),
    "decimal": pa.decimal128(20, 3),
    "list": pa.list_(pa.int64()),
    "struct": pa.struct([("a", pa.int64()), ("b", pa.string())]),
    "map": pa.map_(pa.string(), pa.int64()),
    "words": pa.dictionary(pa.int32(), pa.string()),
    "null": pa.null(),
}
DAY = datetime(2020, 2, 29, 12, 30, 15, 123456)
VALUES: dict[str, list[Any]] = {
    "int64": [0, -1, 2**63 - 1, -(2**63), 2**53 + 1],
    "uint64": [0, 2**64 - 1, 2**63],
    "int8": [0, -128, 127],
    "float": [0.0, -0.0, 1.5, float("nan"), float("inf"), 5e-324, 1e308],
    "half": [0.0, 1.5, -2.0],
    "bool": [True, False],
    "bytes": [b"", b"\x00\xff", b"text"],
    "date": [DAY.date(), date(1, 1, 1), date(9999, 12, 31)],
    "stamp": [DAY, datetime(1, 1, 1), datetime(9999, 12, 31)],
    "stamp_ns": [DAY, datetime(1970, 1, 1)],
    "zoned": [DAY.replace(tzinfo=UTC, microsecond=0)],
    "far": [10**11, 0, -(10**12), 10**15],
    "time": [time(1, 2, 3, 4), time()],
    "duration": [timedelta(days=1), timedelta(microseconds=-1)],
    "decimal": [Decimal("1.100"), Decimal("-0.001")],
    "list": [[], [1, 2, None]],
    "struct": [{"a": 1, "b": "x"}, {"a": None, "b": ""}],
    "map": [[("a", 1)], []],
    "null": [None],
}
PACKINGS = ["none", "snappy", "gzip", "zstd"]
TAIL = 1800  # bytes at the end, where a parquet file says what it holds
WORDS = [
    "\x00",
    "\xff",
    "\x15\x00",
    "\x15\x02",
    "\x19\x1c",
    "PAR1",
    "\x18\x04text",
    "\x80\x80\x80\x80\x10",
    "\xff\xff\xff\x7f",
    "\x2c",
]


class Parquet(Target):
    """Files that pyarrow writes."""

    name = "parquet"
    cut = ("steps", "columns", "data")

    def draw(self, rng: Random) -> Case:
        n = rng.choice([1, 2, 5, 40])
        kinds = [rng.choice(list(TYPES)) for _ in range(rng.randrange(5))]
        columns = [[f"{kind}_{place}", kind] for place, kind in enumerate(kinds)]
        if rng.random() < 0.8:
            columns.append([rng.choice(["text", "label", "id", "confidence", cell(rng)]), "string"])
        return {
            "columns": columns or [["text", "string"]],
            "rows": n,
            "values": rng.randrange(2**32),
            "packing": rng.choice(PACKINGS),
            "page": rng.choice(["1.0", "2.0"]),
            "words": rng.random() < 0.5,
            "steps": draw_steps(rng, WORDS, tail=TAIL) if rng.random() < 0.8 else [],
            "size": rng.choice([1, 3, 4096]),
            "output": rng.choice(["parquet", "parquet", "csv", "jsonl"]),
        }

    def run(self, case: Case, folder: Path) -> None:
        path = folder / "in.parquet"
        path.write_bytes(make_bytes(case))
        check_table(Given(path, "parquet", "utf-8", case["size"], case["output"]), None)

    def flatten(self, case: Case) -> Case:
        if "data" in case:
            return case
        return {"data": make_bytes(case).decode(LATIN)} | {name: case[name] for name in ("size", "output")}


def make_bytes(case: Case) -> bytes:
    """The file of a case."""
    if "data" in case:
        data: str = case["data"]
        return data.encode(LATIN)
    rng = Random(case["values"])
    arrays = [pa.array(_draw_values(rng, kind, case["rows"]), TYPES[kind]) for _, kind in case["columns"]]
    table = pa.Table.from_arrays(arrays, names=[name for name, _ in case["columns"]])
    sink = pa.BufferOutputStream()
    options = {"compression": case["packing"], "use_dictionary": case["words"], "data_page_version": case["page"]}
    pa.parquet.write_table(table, sink, **options)
    return apply_steps(sink.getvalue().to_pybytes(), case["steps"])


def _draw_values(rng: Random, kind: str, n: int) -> list[Any]:
    def draw() -> Any:
        if rng.random() < 0.1:
            return None
        if kind in ("string", "large", "words"):
            return cell(rng) if rng.random() < 0.7 else sentence(rng, good=True)
        return rng.choice(VALUES[kind])

    return [draw() for _ in range(n)]


TARGET = Parquet()
