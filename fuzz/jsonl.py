"""The target ``jsonl``: objects with any keys and values, numbers written in every way, keys twice, and late ones."""

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.made_up import cell, sentence
from fuzz.mutation import LATIN, apply_steps, draw_steps
from fuzz.tables import Given, check_table
from fuzz.targets import Case, Target, Wrong

WORDS = [
    "{", "}", "[", "]", ":", ",", '"', "\n", "\r\n", "\r", "\\", "\\ud800", "\\u0000", "\\ud83d\\ude00", "NaN",
    "Infinity", "-Infinity", "1e400", "-0", "1.10", "null", "true", "false", "12345678901234567890", "1E+2", "0123",
    '"text"', '"text": "a", ', '"label": 1, ', '"id": 7, ', "[" * 300, "{\"a\":" * 300, "1" * 400, "\xef\xbb\xbf",
    "\xff", "\0", " ", "\xe2\x80\xa8",
]  # fmt: skip
NUMBERS = [
    "0", "-0", "-0.0", "1", "1.10", "1e400", "-1e400", "1e-400", "12345678901234567890", "12345678901234567890.5", "1E5",
    "1e+05", "0.1000", "9007199254740993", "-1", "3.141592653589793238", "1e22", "5e-324", "NaN", "Infinity",
]  # fmt: skip
KEYS = ["id", "text", "label", "confidence", "p_pos", "x", "y"]
LATE = 1001  # rows before a key that the reader has not seen when it names the columns


def draw_value(rng: Random, depth: int = 0) -> str:
    """A value as it stands in JSON."""
    roll = rng.randrange(10)
    if roll < 4 or depth > 3:
        return json.dumps(cell(rng, halves=True), ensure_ascii=rng.random() < 0.5)
    if roll < 7:
        return rng.choice([*NUMBERS, "true", "false", "null"])
    if roll == 7:
        return "[" + ", ".join(draw_value(rng, depth + 1) for _ in range(rng.randrange(3))) + "]"
    if roll == 8:
        names = dict.fromkeys(cell(rng) for _ in range(rng.randrange(3)))
        return "{" + ", ".join(f"{json.dumps(name)}: {draw_value(rng, depth + 1)}" for name in names) + "}"
    return json.dumps(sentence(rng, good=True))


def draw_row(rng: Random, keys: list[str]) -> str:
    """An object on a line; most have a text."""
    pairs = {key: draw_value(rng) for key in keys if rng.random() < 0.9}
    if rng.random() < 0.8:
        pairs["text"] = json.dumps(sentence(rng, good=rng.random() < 0.5))
    if rng.random() < 0.5:
        pairs["id"] = json.dumps(rng.randrange(10**6))
    return "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in pairs.items()) + "}"


class Jsonl(Target):
    """Objects, one on a line."""

    name = "jsonl"
    cut = ("steps", "lines", "data")
    cut_within = ("lines",)

    def draw(self, rng: Random) -> Case:
        keys = list(dict.fromkeys(rng.choice(KEYS) if rng.random() < 0.7 else cell(rng) for _ in range(rng.randrange(1, 5))))
        late = rng.random() < 0.002
        return {
            "lines": [draw_row(rng, keys) for _ in range(rng.randrange(1, 6))],
            "before": LATE if late else 0,
            "packed": rng.random() < 0.05,
            "encoding": "utf-16" if rng.random() < 0.05 else "utf-8",
            "steps": [] if late or rng.random() < 0.3 else draw_steps(rng, WORDS),
            "size": rng.choice([1, 2, 7, 4096]),
            "output": "jsonl" if rng.random() < 0.7 else rng.choice(["csv", "tsv", "jsonl.gz"]),
        }

    def run(self, case: Case, folder: Path) -> None:
        path = folder / "in.jsonl"
        path.write_bytes(make_bytes(case))
        check_table(Given(path, "jsonl", case["encoding"], case["size"], case["output"]), None)
        if case["output"].startswith("jsonl"):
            out = folder / f"out.{case['output']}"
            check_numbers(path.read_bytes(), out.read_bytes(), case["encoding"])

    def flatten(self, case: Case) -> Case:
        if "data" in case:
            return case
        return {"data": make_bytes(case).decode(LATIN)} | {name: case[name] for name in ("encoding", "size", "output")}


def check_numbers(before: bytes, after: bytes, encoding: str) -> None:
    """Numbers are written again as they were: 1.10 is not 1.1, and 1e400 is a number of JSON."""
    for one, other in zip(_parse(before, encoding), _parse(after, encoding), strict=True):
        changed = [name for name, value in one.items() if other.get(name) != value]
        if changed:
            raise Wrong("JSON is not written as it was read", f"{one[changed[0]]!r} became {other.get(changed[0])!r}")


def _parse(data: bytes, encoding: str) -> list[dict[str, Any]]:
    """The rows of a file, with numbers as they are written."""
    text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode(encoding).removeprefix("\ufeff")
    hooks: dict[str, Any] = dict.fromkeys(("parse_float", "parse_int", "parse_constant"), lambda number: ("number", number))
    return [json.loads(line, **hooks) for line in text.split("\n") if line.strip()]


def make_bytes(case: Case) -> bytes:
    """The file of a case."""
    if "data" in case:
        data: str = case["data"]
        return data.encode(LATIN)
    lines: list[Any] = ['{"text": "as all before it"}'] * case["before"] + case["lines"]
    whole = "".join(f"{line}\n" for line in lines).encode(case["encoding"], "replace")
    return apply_steps(gzip.compress(whole, 1, mtime=0) if case["packed"] else whole, case["steps"])


TARGET = Jsonl()
