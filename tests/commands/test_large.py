"""``gramshift classify`` with kernel methods: memory and engines."""

import json
import os
import sys

import pytest

from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
COMMON = ["--method", "tkc", "--ngrams", "3-5"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, demo in (("source", KITCHEN), ("target", FILMS)):
        rows = [
            {"id": f"{name}-{i}", "text": text, "label" if name == "source" else "truth": label}
            for i, (text, label) in enumerate(zip(demo.texts, demo.labels, strict=True))
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["classify", "source.jsonl", "--target", "target.jsonl", *COMMON]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--engine", "dask"],
            "--engine dask has workers label the files of a target, which goes with --sample",
        ),
        (["--engine", "ray"], "--engine ray: there are threads, dask"),
        (["--scheduler", "tcp://1.2.3.4:5"], "is for Dask; add --engine dask"),
        (["--memory", "lots"], "--memory lots: give a number of bytes or a size"),
    ],
)
def test_wrong_options_are_refused_before_any_work(gramshift, files, arguments, words):
    answer = gramshift(*files, "--output", "out.jsonl", *arguments)
    assert answer.code == 2
    assert words in answer.err
    assert answer.err.count("\n") <= 2
    assert not os.path.exists("out.jsonl")


def test_missing_dask_is_noticed_before_any_work(gramshift, files, monkeypatch):
    for package, words in {
        "cryptography": "cryptography to close workers",
        "distributed": "dask and distributed",
    }.items():
        monkeypatch.setitem(sys.modules, package, None)
        answer = gramshift(*files, "--output", "out/", "--sample", "50", "--engine", "dask")
        assert answer.code == 2
        assert answer.err.startswith(f"gramshift: --engine dask needs {words}")
        assert answer.err.endswith(": pip install 'gramshift[dask]'\n")


def test_too_little_memory_is_refused_with_advice(gramshift, files):
    answer = gramshift(*files, "--output", "out.jsonl", "--memory", "200MB")
    assert answer.code == 2
    assert "120 source and 120 target documents take about" in answer.err
    assert "but the memory limit is 190.7 MiB: allow more memory" in answer.err
