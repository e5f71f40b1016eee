"""Odd tables on the command line: mixed numbers as labels, pipes, late keys, lone surrogates."""

import csv
import json
import os

import pytest

from gramshift.tables.jsonl import N_KEY_ROWS
from small_demo import load_demo

TKC = ["--method", "tkc", "--ngrams", "3-5"]
KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_jsonl(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def films(tmp_path, monkeypatch):
    """source.jsonl with labels, target.jsonl without, of 40 documents each."""
    monkeypatch.chdir(tmp_path)
    pairs = list(zip(KITCHEN.texts[:40], KITCHEN.labels[:40], strict=True))
    write_jsonl(
        tmp_path / "source.jsonl", [{"text": text, "label": label} for text, label in pairs]
    )
    write_jsonl(
        tmp_path / "target.jsonl",
        [{"id": f"f{n}", "text": text} for n, text in enumerate(FILMS.texts[:40])],
    )
    return tmp_path


@pytest.mark.parametrize(
    ("large", "words"),
    [
        (1, "mixes whole numbers and decimals (1 and 2.0); write all of them alike"),
        (2**53 + 1, "has the label 9007199254740993 among floats, which cannot hold it"),
    ],
)
def test_whole_numbers_beside_others_are_no_labels(gramshift, films, large, words):
    """As floats, 1 would be written as 1.0 and 2**53 + 1 as another number."""
    labels = {"positive": large, "negative": 2.0}
    rows = [
        {"text": row["text"], "label": labels[row["label"]]}
        for row in read_jsonl(films / "source.jsonl")
    ]
    write_jsonl(films / "source.jsonl", rows)
    (films / "right.csv").write_text(f"id,label\nf0,{large}\n")
    options = ["--corrections", "right.csv", "--report", "page.html", "--output", "labels.csv"]
    answer = gramshift("classify", "source.jsonl", "--target", "target.jsonl", *TKC, *options)
    assert answer.code == 2
    assert f"'label' of source.jsonl {words}" in answer.err
    assert not (films / "labels.csv").exists()


def test_a_pipe_that_would_be_read_twice(gramshift, films):
    os.mkfifo("pipe.jsonl")
    run = [
        "classify",
        "source.jsonl",
        "--target",
        "pipe.jsonl",
        "--fit-on",
        "10",
        "--output",
        "o.jsonl",
    ]
    answer = gramshift(*run)
    assert answer.code == 2
    assert (
        "pipe.jsonl is a pipe or a device, and this has to be read more than once; save it"
        in answer.err
    )
    gramshift("classify", "source.jsonl", "--target", "target.jsonl", *TKC, "--save", "m.gramshift")
    answer = gramshift(
        "predict",
        "--model",
        "m.gramshift",
        "--input",
        "target.jsonl",
        "pipe.jsonl",
        "--output",
        "labels/",
    )
    assert answer.code == 2
    assert "pipe.jsonl is a pipe" in answer.err
    assert len(read_jsonl(films / "labels" / "target.jsonl")) == 40


def test_keys_that_come_late_stay_as_they_are(gramshift, films):
    own = {"label": "mine", "confidence": 7, "p_negative": None}
    rows = [{"id": f"f{n}", "text": f"{FILMS.texts[n % 40]} {n}"} for n in range(N_KEY_ROWS + 50)]
    rows[N_KEY_ROWS + 20] |= own
    write_jsonl(films / "target.jsonl", rows)
    run = [
        "classify",
        "source.jsonl",
        "--target",
        "target.jsonl",
        "--method",
        "plain",
        "--ngrams",
        "3",
    ]
    answer = gramshift(*run, "--output", "o.jsonl", "--save", "m.gramshift")
    assert answer.code == 0, answer.err
    found = read_jsonl(films / "o.jsonl")
    assert own.items() <= found[N_KEY_ROWS + 20].items()
    assert all(row["predicted_label"] in ("positive", "negative") for row in found)
    assert gramshift(*run, "--output", "o.csv").code == 0
    with (films / "o.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    assert (written[N_KEY_ROWS + 20]["label"], written[N_KEY_ROWS + 20]["confidence"]) == (
        "mine",
        "7",
    )
    answer = gramshift(
        "predict", "--model", "m.gramshift", "--input", "target.jsonl", "--output", "p.jsonl"
    )
    assert answer.code == 2
    assert (
        f"target.jsonl, line {N_KEY_ROWS + 21} has 'label' of its own, which none of the first"
        in answer.err
    )
    assert not (films / "p.jsonl").exists()


def test_corrections_by_ids_with_half_a_surrogate_pair(gramshift, films):
    rows = read_jsonl(films / "target.jsonl")
    rows[3]["id"] = "half \ud83d"
    write_jsonl(films / "target.jsonl", rows)
    (films / "right.csv").write_bytes(b"id,label\nhalf \\ud83d,positive\n")
    run = [
        "classify",
        "source.jsonl",
        "--target",
        "target.jsonl",
        *TKC,
        "--corrections",
        "right.csv",
    ]
    answer = gramshift(*run, "--output", "o.jsonl", "--report", "page.html")
    assert answer.code == 0, answer.err
    found = read_jsonl(films / "o.jsonl")[3]
    assert (found["id"], found["label"], found["confidence"]) == ("half \ud83d", "positive", 1.0)
