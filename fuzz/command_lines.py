"""The target ``cli``: command lines and config files, in this process; whatever is typed, there is never a traceback."""

import io
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

from fuzz.made_up import cell, sentence
from fuzz.models import take_apart
from fuzz.targets import Case, Refusal, Target, Wrong
from gramshift.commands.main import OUR_FAULT, main
from gramshift.methods import FORMATS, KERNELS, METHODS
from gramshift.model.classifier import TransductiveClassifier

CODES = (0, 1, 2)
ODD = [
    "", " ", "-", "--", "0", "-1", "1", "2", "1e400", "nan", "inf", "99999999999999999999", "9" * 400, "x", "\x1b[31m",
    "é", "=", "a=b", "pos=0.5,neg=0.5", "source", "auto", "none", "0.5", "1.5", "2-3", "3-2", "0-1",
    "2-99999999999999999999", "1-1", "2 GiB", "1 KiB", ".", "..", "/", "/dev/null", "/dev/zero", "nowhere/x.csv",
    "\udcff", "text,id", "text|label", "~", "$HOME", "%s", "{}", "[a]", "*", "in/*",
]  # fmt: skip
FILES = [
    "source.csv", "target.csv", "gaps.csv", "source.jsonl", "target.jsonl", "lines.txt", "texts", "empty.csv",
    "header.csv", "binary.csv", "model.gramshift", "best.gramshift", "broken.gramshift", "config.toml",
    "corrections.csv", "nowhere.csv", "late.csv", ".",
]  # fmt: skip
OUTPUTS = [
    "out.csv",
    "out.jsonl",
    "out.tsv",
    "out.csv.gz",
    "out.npy",
    "out.html",
    "out.gramshift",
    "out.xyz",
    "out",
    "source.csv",
    "new/out.csv",
]
OPTIONS: dict[str, dict[str, str]] = {  # by command: what an option takes
    "classify": {
        "--source": "file", "--target": "file", "--output": "output", "--report": "output", "--save": "output",
        "--corrections": "file", "--config": "config", "--text": "column", "--label": "column", "--id": "column",
        "--truth": "column", "--format": "format", "--encoding": "encoding", "--method": "method", "--kernel": "kernel",
        "--ngrams": "odd", "--added": "odd", "--class-prior": "odd", "--unlabelled": "file", "--abstain-below": "odd",
        "--landmarks": "odd", "--sample": "odd", "--resume": "folder", "--memory": "odd", "--jobs": "jobs", "--preset": "odd",
        "--dry-run": "", "--force": "", "--json": "",
    },
    "predict": {
        "--model": "file", "--input": "file", "--output": "output", "--text": "column", "--format": "format",
        "--encoding": "encoding", "--abstain-below": "odd", "--jobs": "jobs", "--force": "", "--json": "",
    },
    "explain": {
        "--model": "file", "--input": "file", "--html": "output", "--top": "odd", "--text": "column", "--format": "format",
        "--encoding": "encoding", "--force": "", "--json": "",
    },
    "kernel": {
        "--output": "output", "--kernel": "kernel", "--ngrams": "odd", "--decay": "odd", "--max-offset": "odd",
        "--sigma": "odd",
        "--normalize": "", "--encoding": "encoding", "--memory": "odd", "--jobs": "jobs", "--resume": "folder", "--force": "",
        "--json": "",
    },
    "info": {"--json": ""},
    "compare": {
        "--source": "file", "--target": "file", "--truth": "column", "--methods": "method", "--text": "column",
        "--label": "column", "--output": "folder", "--dry-run": "",
    },
    "fetch": {"--output": "folder", "--url": "url"},
    "reproduce": {"--data": "folder", "--output": "folder"},
}  # fmt: skip
USUAL: dict[str, list[list[str]]] = {  # command lines that work, to begin with
    "classify": [
        ["--source", "source.csv", "--target", "target.csv", "--output", "out.csv", "--method", "plain", "--ngrams", "2-3"],
        ["--source", "source.jsonl", "--target", "target.jsonl", "--output", "out.jsonl", "--method", "tkc", "--ngrams", "2"],
        ["--source", "gaps.csv", "--output", "out.csv", "--method", "tfidf"],
        ["--source", "source.csv", "--target", "target.csv", "--save", "out.gramshift", "--dry-run"],
        ["--config", "config.toml"],
    ],
    "predict": [
        ["--model", "model.gramshift", "--input", "target.csv", "--output", "out.csv"],
        ["--model", "best.gramshift", "--input", "texts"],
    ],
    "explain": [["--model", "model.gramshift", "a good film"], ["--model", "best.gramshift", "--input", "target.csv"]],
    "kernel": [["lines.txt", "--output", "out.npy", "--ngrams", "1-2"]],
    "info": [["model.gramshift"], ["best.gramshift", "--json"], ["broken.gramshift"]],
    "compare": [["--source", "source.csv", "--target", "source.csv", "--dry-run"]],
    "fetch": [["sentiment", "--url", "http://127.0.0.1:9/x", "--output", "data"]],
    "reproduce": [["--data", "nowhere"]],
}
CHANCES = {"classify": 8, "predict": 8, "explain": 6, "kernel": 8, "info": 3, "compare": 2, "fetch": 1, "reproduce": 1}
FEW_METHODS = ["plain", "tkc", "best", "tfidf", "nbsvm", "sfa", "tradaboost", "tfidf,plain"]
ENCODINGS = ["utf-8", "latin-1", "utf-16", "ascii", "idna", "undefined", "base64", "x"]
URLS = ["http://127.0.0.1:9/x", "file:///etc/passwd", "ftp://127.0.0.1:9/x", "x", "http://", "http://[", "data:,x"]


def draw_value(rng: Random, kind: str) -> str:
    """What might stand behind an option."""
    choices: dict[str, Callable[[], str]] = {
        "file": lambda: rng.choice(FILES),
        "output": lambda: rng.choice(OUTPUTS),
        "config": lambda: "config.toml",
        "column": lambda: rng.choice(["text", "label", "id", "none", "Text", "text,id", "nowhere", cell(rng)]),
        "format": lambda: rng.choice([*FORMATS, "xlsx"]),
        "encoding": lambda: rng.choice(ENCODINGS),
        "method": lambda: rng.choice(FEW_METHODS if rng.random() < 0.8 else [*METHODS]),
        "kernel": lambda: rng.choice([*KERNELS, "subsequence", "local_rank"]),
        "folder": lambda: rng.choice(["kept", "texts", "source.csv", "new/kept", "."]),
        "jobs": lambda: rng.choice(["1", "1", "2", "0", "-1", "-2", "x"]),
        "url": lambda: rng.choice(URLS),
    }
    if kind not in choices or rng.random() < 0.1:
        return rng.choice(ODD)
    return choices[kind]()


class CommandLines(Target):
    """What people type."""

    name = "cli"
    cut = ("arguments", "config")

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def prepare(self, folder: Path) -> None:
        rng = Random("cli")
        labels = ["pos" if place % 2 else "neg" for place in range(12)]
        texts = [sentence(rng, good=label == "pos") for label in labels]
        target = [sentence(rng, good=rng.random() < 0.5) for _ in range(6)]
        rows = [f"{place},{text},{label}\n" for place, (text, label) in enumerate(zip(texts, labels, strict=True))]
        new = [f"{place},{text}\n" for place, text in enumerate(target)]
        tables = {
            "source.csv": "id,text,label\n" + "".join(rows),
            "target.csv": "id,text\n" + "".join(new),
            "gaps.csv": "id,text,label\n" + "".join([*rows[:8], *(line.rpartition(",")[0] + ",\n" for line in rows[8:])]),
            "source.jsonl": "".join(
                f'{{"text": "{text}", "label": "{label}"}}\n' for text, label in zip(texts, labels, strict=True)
            ),
            "target.jsonl": "".join(f'{{"text": "{text}"}}\n' for text in target),
            "lines.txt": "".join(f"{text}\n" for text in texts),
            "texts/1.txt": target[0],
            "texts/2.txt": target[1],
            "empty.csv": "",
            "header.csv": "id,text\n",
            "late.csv": "id,text\n1,a\n2\n",
            "corrections.csv": "id,label\n1,pos\n",
        }
        self._files = {name: text.encode() for name, text in tables.items()} | {"binary.csv": bytes(range(256))}
        for name, preset in {"model": "paper", "best": "best"}.items():
            path = folder / f"{name}.gramshift"
            options: dict[str, Any] = {"ngram_range": (2, 3), "n_added": 2} if preset == "paper" else {}
            TransductiveClassifier(preset=preset, n_jobs=1, **options).fit(texts, labels, target=target).save(path)
            take_apart(path)
            self._files[path.name] = path.read_bytes()
        self._files["broken.gramshift"] = self._files["model.gramshift"][:-100]

    def draw(self, rng: Random) -> Case:
        command = rng.choices(list(CHANCES), weights=list(CHANCES.values()))[0]
        arguments = list(rng.choice(USUAL[command])) if rng.random() < 0.85 else []
        options = OPTIONS[command]
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            option = rng.choice(list(options))
            value = [draw_value(rng, options[option])] if options[option] else []
            place = rng.randrange(len(arguments) + 1) if rng.random() < 0.3 else len(arguments)
            arguments[place:place] = [option, *value]
        if arguments and rng.random() < 0.3:
            place = rng.randrange(len(arguments))
            arguments[place : place + 1] = rng.choice([[], [rng.choice(ODD)], [rng.choice(FILES)], [arguments[place]] * 2])
        if rng.random() < 0.02:
            command = rng.choice(["", "--help", "--version", "clasify", "-x"])
        return {"arguments": [command, *arguments], "config": draw_config(rng)}

    def run(self, case: Case, folder: Path) -> None:
        here = folder / "here"
        shutil.rmtree(here, ignore_errors=True)
        (here / "texts").mkdir(parents=True)
        for name, data in self._files.items():
            (here / name).write_bytes(data)
        (here / "config.toml").write_text(case["config"], errors="backslashreplace")
        os.chdir(here)
        code, said, told = call(case["arguments"])
        os.chdir(folder)
        if code not in CODES:
            raise Wrong(f"exit code {code}", told[-500:])
        if OUR_FAULT in told or "Traceback" in told or "should not happen" in told:
            places = re.findall(r"gramshift/(\S+\.py)\W+line \d+,? in (\w+)", told)
            raise Wrong(f"the command says that it is at fault, in {' '.join(places[-1]) if places else '?'}", told[-800:])
        if code and not told.strip():
            raise Wrong("it fails without a word", said[-300:])
        typed = "Usage: " in told  # a mistake in the line itself, which is shown as it was typed
        if not typed and any(not char.isprintable() and char not in "\n\r\t" for char in told):
            raise Wrong("control characters reach the terminal", repr(told)[:500])
        if code:
            raise Refusal(told)


def draw_config(rng: Random) -> str:
    """A file for --config."""
    usual = {
        "source": '["source.csv"]',
        "target": '"target.csv"',
        "output": '"out.csv"',
        "method": '"plain"',
        "ngrams": '"2-3"',
    }
    values = [
        '"a"',
        "1",
        "-1",
        "1.5",
        "true",
        "[]",
        '["a", "b"]',
        "{}",
        "nan",
        "inf",
        "1979-05-27",
        '"""x"""',
        "99999999999999999999",
    ]
    values += ["[" * 2000, '"\\u0000"', '["source.csv", 1]', "''", "0"]
    for _ in range(rng.choice([0, 1, 2])):
        names = [*usual, *(option.strip("-").replace("-", "_") for option in OPTIONS["classify"]), "x", "a.b", '"é"']
        usual[rng.choice(names)] = rng.choice(values) if rng.random() < 0.7 else repr(rng.choice([*FILES, "text", "0.5"]))
    lines = [f"{name} = {value}" for name, value in usual.items()]
    if rng.random() < 0.1:
        lines.insert(rng.randrange(len(lines)), rng.choice(["[table]", "x", "= 1", '"', "\x00", "[[a]]", "source = 1"]))
    return "\n".join(lines) + "\n"


def call(arguments: list[str]) -> tuple[int, str, str]:
    """Run the command as if it were typed; exit code, stdout and stderr."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    sys.argv, sys.stdin, code = ["gramshift", *arguments], io.TextIOWrapper(io.BytesIO(b"text\na\n")), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "replace") if isinstance(stream.buffer, io.BytesIO) else "")
    return code, texts[0], texts[1]


TARGET = CommandLines()
