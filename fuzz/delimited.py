"""The target ``csv``: tables with commas, semicolons, tabs or bars, in any encoding, compressed or not, whole or damaged."""

import gzip
from pathlib import Path
from random import Random

from fuzz.made_up import cell, sentence
from fuzz.mutation import LATIN, apply_steps, draw_steps
from fuzz.tables import Given, check_table
from fuzz.targets import Case, Refusal, Target, Wrong

SPECIAL = ',;\t|"\r\n'
WORDS = [
    ",", ";", "\t", "|", '"', '""', "\n", "\r\n", "\r", "\n\n", "\0", "\xef\xbb\xbf", "\xff", "\xff\xfe", "\xed\xa0\x80",
    "\xe2\x80\xa8", "\xc2\x85", "\x1a", "\x1f\x8b", "text", "label", "id", '","', '"\n"', "'", " ", "\\", "\\\"", "=1+1",
    "confidence", "p_pos", "\xc3\xa9", "\xf0\x9f\x98\x80", "x" * 200,
]  # fmt: skip
ENCODINGS = ["utf-8"] * 12 + ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp1252", "shift_jis", "ascii"]
NAMES = ["id", "text", "label", "confidence", "p_pos", "predicted_label", "title", "ID", " text "]


def draw_columns(rng: Random) -> list[str]:
    """Names of columns, each once; most tables have a text."""
    wanted, names = rng.randrange(1, 6), ["text"] if rng.random() < 0.7 else []
    while len(names) < wanted:
        name = rng.choice(NAMES) if rng.random() < 0.7 else cell(rng)
        if name not in names:
            names.append(name)
    rng.shuffle(names)
    return names


class Delimited(Target):
    """Tables of strings."""

    name = "csv"
    cut = ("steps", "rows", "data")

    def draw(self, rng: Random) -> Case:
        columns = draw_columns(rng)
        rows = [
            [sentence(rng, good=rng.random() < 0.5) if rng.random() < 0.2 else cell(rng) for _ in columns]
            for _ in range(rng.randrange(1, 7))
        ]
        format = "tsv" if rng.random() < 0.15 else "csv"
        case: Case = {
            "columns": columns,
            "rows": rows,
            "format": format,
            "delimiter": "\t" if format == "tsv" else rng.choice(",,;\t|"),
            "end": rng.choice(["\n", "\n", "\r\n"]),
            "all": rng.random() < 0.4,
            "mark": rng.random() < 0.1,
            "packed": rng.random() < 0.08,
            "encoding": rng.choice(ENCODINGS),
            "steps": draw_steps(rng, WORDS) if rng.random() < 0.75 else [],
            "size": rng.choice([1, 2, 7, 4096]),
            "output": format if rng.random() < 0.7 else rng.choice(["csv", "tsv", "jsonl", "parquet", "csv.gz"]),
        }
        return case

    def run(self, case: Case, folder: Path) -> None:
        data, encoding = make_bytes(case)
        path = folder / f"in.{case['format']}"
        path.write_bytes(data)
        whole = "data" not in case and not case["steps"]
        expected = [dict(zip(case["columns"], row, strict=True)) for row in case["rows"]] if whole else None
        try:
            check_table(Given(path, case["format"], encoding, case["size"], case["output"]), expected)
        except Refusal as error:
            if whole and case["rows"] and not str(error).startswith(str(path.with_name("out."))):
                raise Wrong("a sound table is refused", str(error)) from error
            raise

    def flatten(self, case: Case) -> Case:
        if "data" in case:
            return case
        data, encoding = make_bytes(case)
        kept = {name: case[name] for name in ("format", "size", "output")}
        return {"data": data.decode(LATIN), "encoding": encoding} | kept


def make_bytes(case: Case) -> tuple[bytes, str]:
    """The file of a case and its encoding: UTF-8 where the one that was drawn lacks a character."""
    if "data" in case:
        return case["data"].encode(LATIN), case["encoding"]
    alone = len(case["columns"]) == 1
    lines = [
        case["delimiter"].join(quote(one, always=case["all"] or alone) for one in row) + case["end"]
        for row in [case["columns"], *case["rows"]]
    ]
    text, encoding = "".join(lines), case["encoding"]
    try:
        data = text.encode(encoding)
        if data.decode(encoding) != text:
            raise UnicodeError("it has two characters for one")
    except UnicodeError:
        data, encoding = text.encode(), "utf-8"
    if case["mark"] and encoding == "utf-8":
        data = b"\xef\xbb\xbf" + data
    steps = case["steps"]
    if case["packed"]:
        half = len(steps) // 2  # some within, some outside of the compression
        return apply_steps(gzip.compress(apply_steps(data, steps[:half]), 1, mtime=0), steps[half:]), encoding
    return apply_steps(data, steps), encoding


def quote(text: str, *, always: bool) -> str:
    """A cell as it stands in a file."""
    plain = text and text.strip() == text and not any(char in SPECIAL for char in text) and "\ufeff" not in text
    return text if plain and not always else '"' + text.replace('"', '""') + '"'


TARGET = Delimited()
