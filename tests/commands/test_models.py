"""gramshift predict, explain and info: what is done with a saved model."""

import csv
import io
import json
import os
import sys
import tracemalloc
from collections import Counter

import numpy as np
import pytest

import gramshift as gs
from gramshift.commands.label.one_file import MAX_ROWS
from gramshift.commands.predict import predict
from gramshift.model.settings import PRESETS
from small_demo import load_demo
from small_tables import read_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.gramshift"
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), n_added=60).fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    )
    clf.save(path)
    return path


def test_an_empty_class_is_no_gap(gramshift, folder):
    """Only Python can fit a class that is called "", and predict counts it."""
    labels = ["" if label == "negative" else label for label in KITCHEN.labels[:60]]
    clf = gs.TransductiveClassifier(ngram_range=(2, 3)).fit(
        KITCHEN.texts[:60], labels, target=FILMS.texts[:60]
    )
    clf.save("m")
    run = ("predict", "--model", "m", "--input", "films.csv", "--output", "new.csv", "--json")
    counts = Counter(clf.predict([row["text"] for row in read_csv(folder / "films.csv")]).tolist())
    found = json.loads(gramshift(*run).out)
    assert (found["labels"], found["abstained"]) == (counts, 0)


@pytest.fixture
def books(folder):
    """In several parts, so that none can be forgotten or swapped."""
    texts = [
        f"{a} {b} {n}"
        for n, (a, b) in enumerate(zip(KITCHEN.texts, reversed(FILMS.texts), strict=True))
    ]
    (folder / "books.jsonl").write_text(
        "".join(json.dumps({"body": text, "n": n}) + "\n" for n, text in enumerate(texts))
    )
    return texts


def test_predictions_are_those_of_python_part_by_part(gramshift, folder, model, books, read_rows):
    answer = gramshift(
        "predict", "--model", model, "--input", "books.jsonl", "--output", "out.jsonl"
    )
    assert answer.code == 0, answer.err
    read_rows(7)
    assert predict(str(model), "books.jsonl", "parts.jsonl")["n"] == 120
    assert (folder / "parts.jsonl").read_text() == (folder / "out.jsonl").read_text()
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    clf = gs.load(model)
    assert [row["body"] for row in rows] == books
    assert [row["n"] for row in rows] == list(range(120))
    assert [row["label"] for row in rows] == clf.predict(books).tolist()
    assert [row["p_positive"] for row in rows] == pytest.approx(
        clf.predict_proba(books)[:, 1].tolist(), abs=1e-6
    )
    assert (answer.out.splitlines()[0], answer.err) == ("Result: 120 documents labelled", "")


def test_predictions_go_to_standard_output(gramshift, folder, model):
    answer = gramshift(
        "predict", "--model", model, "--input", "films.csv", "--abstain-below", "0.8"
    )
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [row["text"] for row in rows] == FILMS.texts
    assert [row["label"] == "" for row in rows] == [float(row["confidence"]) < 0.8 for row in rows]
    assert "without a label" in answer.err
    assert gramshift("predict", "-m", model, "-i", "films.csv", "--json").code == 2


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(folder, model, read_rows):
    """Twenty times the file takes no more: measured on what Python and NumPy hold at the peak,
    garbage included.
    """
    peaks = []
    read_rows(20)
    for n in (200, 200, 4000):
        (folder / "big.csv").write_text("text\n" + "".join(f"{'x' * 1000}{k}\n" for k in range(n)))
        tracemalloc.start()
        predict(str(model), "big.csv", "out.csv", force=True)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(read_csv(folder / "out.csv")) == n
    assert peaks[2] < peaks[1] + 600_000  # the file has grown by 3.8 million


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "nothing.csv"], "nothing.csv: No such file or directory"),
        (["--input", "films.csv", "--abstain-below", "7"], "--abstain-below 7"),
        (
            ["--input", "late.jsonl", "--output", "out.jsonl"],
            f"late.jsonl, line {MAX_ROWS + 1}: 'text' is 3",
        ),
        (
            ["--input", "films.csv", "--output", "out.jsonl", "--model", "films.csv"],
            "films.csv is not a Gramshift model, or not a whole one",
        ),
    ],
)
def test_mistakes_leave_no_file(gramshift, folder, model, arguments, message):
    (folder / "late.jsonl").write_text('{"text": "fine"}\n' * MAX_ROWS + '{"text": 3}\n')
    before = sorted(os.listdir())
    answer = gramshift("predict", "--model", model, *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.splitlines()) == 1
    assert sorted(os.listdir()) == before


def test_a_text_is_explained(gramshift, folder, model):
    text = "a great film, sadly too long"
    why = gs.load(model).explain(text)
    assert gramshift("explain", "--model", model, text).out == why.text() + "\n"
    found = json.loads(gramshift("explain", "--model", model, text, "--json", "--top", "3").out)
    assert found[0]["label"] == why.label
    assert found[0]["score"] == why.score
    assert len(found[0]["documents"]) == 3
    assert found[0]["words"] == found[0]["spans"] == []


def test_a_file_is_explained_on_a_page(gramshift, folder, model):
    (folder / "two.csv").write_text("text\n<script>alert(1)</script> great\nit broke\n")
    answer = gramshift("explain", "--model", model, "--input", "two.csv", "--html", "why.html")
    assert answer.code == 0, answer.err
    page = (folder / "why.html").read_text()
    assert page.count("<figure") == 2
    assert "<script" not in page
    assert page.count("Use the default, best, for marked words.") == 2
    assert "The five words" not in page
    assert (
        gramshift("explain", "--model", model, "--input", "two.csv", "--html", "why.html").code == 2
    )
    assert gramshift("explain", "--model", model, "text", "--input", "two.csv").code == 2
    assert gramshift("explain", "--model", model).code == 2


def test_a_model_file_is_described(gramshift, model):
    answer = gramshift("info", model)
    assert answer.code == 0, answer.err
    for words in (
        "negative, positive",
        "120 source, 120 target documents",
        "all 240 texts",
        "all checksums match",
        "\n  ngram_range   [3, 5]\n",
    ):
        assert words in answer.out
    assert gramshift("info", "--model", model) == gramshift("info", model)
    for typed in ((), (model, "-m", model)):
        refused = gramshift("info", *typed)
        assert (refused.code, "gramshift info model.gramshift" in refused.err) == (2, True)
    found = json.loads(gramshift("info", model, "--json").out)
    assert found["classes"] == ["negative", "positive"]
    assert (found["n_source"], found["n_target"], found["n_texts"]) == (120, 120, 240)
    assert found["n_ngrams"] is None
    assert found["versions"]["gramshift"] == gs.__version__
    assert found["rounds"][1]["added"].keys() == {"negative", "positive"}
    assert found["saved"].startswith("20")


def test_a_model_tells_corrections_from_the_source(gramshift, folder):
    (folder / "right.csv").write_text("id,label\nf0,positive\nf1,negative\n")
    run = (
        "classify",
        "pans.csv",
        "knives.csv",
        "--target",
        "films.csv",
        "--corrections",
        "right.csv",
    )
    assert (
        gramshift(
            *run, "--method", "plain", "--ngrams", "3-4", "--save", "corrected.gramshift"
        ).code
        == 0
    )
    assert (
        "learnt from   120 source, 118 target, 2 corrected documents"
        in gramshift("info", "corrected.gramshift").out
    )
    found = json.loads(gramshift("info", "corrected.gramshift", "--json").out)
    assert (found["n_source"], found["n_target"], found["n_corrected"]) == (120, 118, 2)


def test_what_is_no_model(gramshift, folder):
    answer = gramshift("info", "films.csv")
    assert answer.code == 2
    assert "films.csv is not a Gramshift model, or not a whole one" in answer.err
    assert gramshift("info", "nothing").code == 2


def test_a_model_of_rows_of_numbers_is_for_python(gramshift, folder):
    rows = np.array([[len(text), text.count("a")] for text in KITCHEN.texts], float)
    gs.TransductiveClassifier("rows").fit(rows, KITCHEN.labels, target=rows).save(
        folder / "rows.gramshift"
    )
    answer = gramshift("predict", "-m", "rows.gramshift", "-i", "films.csv", "-o", "labels.csv")
    assert answer.code == 2
    assert "rows.gramshift was fitted on rows of numbers" in answer.err
    assert not (folder / "labels.csv").exists()
    assert "240 rows of numbers" in gramshift("info", "rows.gramshift").out


def test_standard_input_is_explained(gramshift, folder, model, monkeypatch):
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"text\nvery good\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert (
        gramshift("explain", "--model", model, "--input", "-").out
        == gs.load(model).explain("very good").text() + "\n"
    )
    stdin.detach()


@pytest.fixture(scope="module")
def best(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "best.gramshift"
    gs.TransductiveClassifier(preset="best").fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    ).save(path)
    return path


def test_a_model_of_the_preset_best_with_texts_says_so(gramshift, tmp_path):
    clf = gs.TransductiveClassifier(preset="best", ngram_range=(3, 4)).fit(
        ["abc abc", "xyz xyz"] * 2, [0, 1, 0, 1], target=["abc"]
    )
    clf.save(tmp_path / "model", texts=True)
    found = json.loads(gramshift("info", tmp_path / "model", "--json").out)
    assert (found["n_texts"], found["n_characters"]) == (5, 31)
    # "abc", "bc ", "c a", " ab", "abc ", "bc a", "c ab", " abc", the words "abc" and "abc abc", and
    # those of the other class
    assert found["n_ngrams"] == 20
    words = gramshift("info", tmp_path / "model").out
    assert "20 n-grams that documents share, and all 5 texts of the fit, 31 characters" in words
    assert (
        "most influential training documents:"
        in gramshift("explain", "--model", tmp_path / "model", "abc").out
    )


def test_a_model_of_the_preset_best_predicts_explains_and_tells_of_itself(gramshift, folder, best):
    answer = gramshift("predict", "--model", best, "--input", "films.csv", "--output", "out.csv")
    assert answer.code == 0, answer.err
    clf = gs.load(best)
    assert [row["label"] for row in read_csv(folder / "out.csv")] == clf.transduction_.tolist()
    answer = gramshift("explain", "--model", best, "A great, great pan!", "--json")
    (found,) = json.loads(answer.out)
    score = clf.decision_function(["A great, great pan!"])[0]
    assert found["score"]["positive"] == pytest.approx(score)
    total = found["empty"]["positive"] + sum(span["shares"]["positive"] for span in found["spans"])
    assert total == pytest.approx(score)
    assert found["documents"] == []
    words = gramshift("explain", "--model", best, "A great, great pan!").out
    assert "words for positive:" in words
    assert "most influential" not in words  # no document is kept
    found = json.loads(gramshift("info", best, "--json").out)
    assert (found["n_texts"], found["n_characters"]) == (0, 0)
    assert (
        f"holds         {found['n_ngrams']} n-grams that documents share, and no texts\n"
        in gramshift("info", best).out
    )
    assert found["parameters"]["preset"] == "best"
    assert found["parameters"]["weighting"] == {
        "idf": 2,
        "classes": 1,
    }  # what held, though it was not given
    assert len(found["rounds"]) == PRESETS["best"]["n_rounds"]
