"""The second benchmark: its layout, its figures, and ours beside them."""

import json

import numpy as np
import pytest

import gramshift as gs
from gramshift.evaluate.amazon5 import (
    DOMAINS,
    PAIRS,
    PUBLISHED,
    load_amazon5,
    parse_pairs,
    run_amazon5,
    with_published,
)
from gramshift.evaluate.result_store import ResultStore
from small_demo import load_demo


@pytest.fixture
def data(tmp_path):
    """Five domains of 20 reviews each in the layout of the benchmark."""
    texts, labels = (a + b for a, b in zip(load_demo("kitchen"), load_demo("films"), strict=True))
    for number, name in enumerate(DOMAINS.values()):
        folder = tmp_path / "data" / "raw_data" / name
        folder.mkdir(parents=True)
        for label in ("positive", "negative"):
            some = [text for text, one in zip(texts, labels, strict=True) if one == label][
                number * 10 : number * 10 + 10
            ]
            (folder / f"review_{label}").write_text(
                "\n".join(text.replace("\n", " ") for text in some) + "\n\n", "utf-8"
            )
    return tmp_path / "data"


def test_the_published_figures_are_those_of_the_table():
    assert len(PAIRS) == len(PUBLISHED) == 20
    assert np.mean(list(PUBLISHED.values())) == pytest.approx(86.49, abs=0.005)
    assert (PUBLISHED["B-D"], PUBLISHED["E-K"], PUBLISHED["V-K"]) == (87.70, 90.12, 86.02)


def test_pairs_by_name():
    assert parse_pairs("all") == PAIRS
    assert parse_pairs("v-b, B-D") == [("B", "D"), ("V", "B")]
    for wrong, message in (("B-B", "setting 'B-B' is not known"), (" ", "no setting is named")):
        with pytest.raises(gs.GramshiftError, match=message):
            parse_pairs(wrong)


def test_reviews_are_lines(data):
    said = []
    corpus = load_amazon5(data, "BV", said.append)
    assert list(corpus.domains) == ["B", "V"]
    assert corpus.classes == ["negative", "positive"]
    assert corpus.domains["B"].codes.tolist() == [0] * 10 + [1] * 10
    kitchen = load_demo("kitchen")
    first = next(text for text, label in zip(*kitchen, strict=True) if label == "positive")
    assert corpus.domains["B"].texts[10] == first
    assert "review_negative has 10 reviews; the published figures are for 3000" in said[0]
    assert (
        load_amazon5(data / "raw_data", "B", said.append).domains["B"].texts
        == corpus.domains["B"].texts
    )


def test_what_stands_beside_the_published_figures(data, tmp_path):
    found = run_amazon5(
        data, [("B", "D"), ("K", "V")], ["tfidf", "nbsvm"], kept=ResultStore(tmp_path / "parts")
    )
    corpus = load_amazon5(data, "BD", lambda words: None)
    source, target = corpus.domains["B"], corpus.domains["D"]
    clf = gs.baselines.TfidfLogistic().fit(source.texts, source.codes, target=target.texts)
    right = 100 * np.mean(clf.transduction_ == target.codes)
    heading, lines = with_published(found)
    assert heading[:2] == ["", "HATN, published"]
    assert [line[0] for line in lines] == ["B-D", "K-V", "mean"]
    assert lines[0][1:3] == ["87.70", f"{right:.2f} ({right - 87.7:+.2f})"]
    assert lines[2][1] == f"{(87.70 + 84.03) / 2:.2f}"


def test_the_command(gramshift, data, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = (
        "reproduce",
        "--benchmark",
        "amazon5",
        "--data",
        str(data),
        "--settings",
        "B-D",
        "--methods",
        "tfidf",
    )
    answer = gramshift(*arguments, "--no-plots")
    assert answer.code == 0
    assert "HATN, published" in answer.out
    assert "87.70" in (tmp_path / "results" / "published.md").read_text()
    told = json.loads(gramshift(*arguments, "--continue", "--json", "--no-plots").out)
    assert [row["n"] for row in told] == [20]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--benchmark", "amazon"), "--benchmark amazon: there are paper and amazon5"),
        (
            ("--benchmark", "amazon5", "--fields", "text"),
            "--fields text goes with --benchmark paper",
        ),
        (("--benchmark", "amazon5", "--settings", "B-Q"), "setting 'B-Q' is not known"),
        (
            ("--benchmark", "amazon5"),
            "books/review_negative: no such file; --benchmark amazon5 reads",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(gramshift, tmp_path, arguments, message):
    answer = gramshift(
        "reproduce", "--data", str(tmp_path), "--output", str(tmp_path / "new"), *arguments
    )
    assert answer.code == 2
    assert message in answer.err


def test_a_file_without_reviews_is_named(data):
    (data / "raw_data" / "books" / "review_positive").write_text("\n \n")
    with pytest.raises(gs.GramshiftError, match="review_positive has no review"):
        load_amazon5(data, "B", lambda words: None)
