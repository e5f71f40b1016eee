"""Helpers of the benchmarks; `make bench-smoke` runs the benchmarks themselves."""

import re
from pathlib import Path

import numpy as np
import pytest

from bench.__main__ import make_parser
from bench.corpus import CorpusError, Grown, load_reviews, split_setting, themed
from bench.development import read_development
from bench.linear import SECTIONS, compare
from bench.rivals import MismatchError, surest
from bench.robust import Answers, Kept, choose, measure, summarise, true_prior
from bench.robust_cells import draw, load_demo_sets, make_cells, make_demo_cells


def test_development_reviews_are_read_once_each(tmp_path):
    (tmp_path / "positive.txt").write_text("good\n\ngood\nfine\n")
    (tmp_path / "negative.txt").write_text("bad\n")
    assert read_development(tmp_path) == (["good", "fine", "bad"], [1, 1, 0])


def test_grown_documents_are_sentences_of_their_domain_and_class_and_the_same_each_time():
    reviews = load_reviews(smoke=True)
    grown = Grown(reviews, "BE", 2300)
    parts = list(grown.parts())
    assert [len(part) for part in parts] == [1000, 1000, 300]
    texts = [text for part in parts for text in part]
    assert texts == [text for part in grown.parts() for text in part]
    assert texts[:1200] == grown.first(1200)
    pools = [(letter, code) for letter in "BE" for code in (1, 0)]
    for i, text in enumerate(texts[:20]):
        letter, code = pools[i % 4]
        assert grown.labels[i] == code
        sentences = {
            one for review in reviews[letter][code] for one in re.split(r"(?<=[.!?])\s+", review)
        }
        longest_first = sorted(sentences, key=len, reverse=True)
        assert not re.sub("|".join(map(re.escape, longest_first)), "", text).strip()


def test_grown_documents_are_as_long_as_real_ones():
    reviews = load_reviews(smoke=True)
    lengths = [
        np.mean([len(text) for text in texts])
        for texts in (reviews["B"][1], Grown(reviews, "B", 2000).first(2000)[::2])
    ]
    assert abs(lengths[1] / lengths[0] - 1) < 0.1


def test_a_rival_may_differ_only_where_scores_are_equal_to_rounding():
    """Labels that differ by more are no answer to the same question, and no time counts."""
    scores = [[-0.5, 0.5], [1e-9, -1e-9], [0.3, -0.3]]
    ours = {
        "codes": [1, 0, 0],
        "scores": scores,
        "probabilities": [[0.2, 0.8], [0.5, 0.5], [0.6, 0.4]],
    }
    assert compare(ours, ours | {"codes": [1, 1, 0]})["ties"] == 1
    with pytest.raises(MismatchError, match="1 other labels"):
        compare(ours, ours | {"codes": [0, 0, 0]})


def test_sections_of_a_benchmark_can_be_chosen(capsys):
    assert make_parser().parse_args(["linear", "--only", "growth,classes"]).only == [
        "growth",
        "classes",
    ]
    with pytest.raises(SystemExit):
        make_parser().parse_args(["linear", "--only", "growth,speed"])
    assert f"speed: give some of {', '.join(SECTIONS)}" in capsys.readouterr().err


def test_documents_of_several_classes_tell_their_class_by_words_that_all_domains_share():
    reviews = load_reviews(smoke=True)
    texts, codes = themed(reviews, "BD", 60, 5, seed=0)
    assert (texts, codes.tolist()) == (
        themed(reviews, "BD", 60, 5, seed=0)[0],
        [i % 5 for i in range(60)],
    )
    assert all(texts)
    source, codes, target = split_setting(reviews, "BDE-K", 80)
    assert (len(source), len(target), codes.tolist()[:3]) == (60, 20, [1, 0, 1])


def test_cells_of_the_matrix_have_names_of_their_own_and_are_drawn_the_same_each_time():
    names = [cell.name for cell in make_cells()]
    assert len(set(names)) == len(names)
    assert {cell.family for cell in make_cells(["short", "domains"])} == {"short", "domains"}
    sets, (_, skewed, small) = load_demo_sets(), make_demo_cells()
    (source, labels), (target, truth) = skewed.draw(sets, 0)
    assert (
        len(source),
        np.sum(labels == "positive"),
        len(target),
        np.sum(truth == "positive"),
    ) == (60, 30, 60, 48)
    assert skewed.draw(sets, 0)[1][0] == target != skewed.draw(sets, 1)[1][0]
    assert (small.repeats, len(small.draw(sets, 7)[1][0])) == (8, 30)


def test_shares_of_some_classes_leave_the_others_as_they_fall():
    labels = np.repeat(["a", "b", "c"], [50, 30, 20])
    _, drawn = draw(([str(i) for i in range(100)], labels), 50, {"a": 0.02}, [0])
    assert (len(drawn), np.sum(drawn == "a")) == (50, 1)
    assert true_prior(["a", "b", "d"], labels) == {"a": 0.5, "b": 0.3, "d": 0}


def test_random_labels_are_tried_in_cells_of_each_family_with_changed_proportions_if_there_are_any():
    chosen = choose(make_cells(["video skew", "dialects"]), 500)
    assert [cell.words for cell in chosen] == ["5% positive", "20% positive", "", "no MSA"]
    assert make_parser().parse_args(["robust", "--only", "flip,labels"]).only == ["flip", "labels"]
    assert make_cells(["labels"]) == []


def test_answers_of_rivals_are_kept_while_their_documents_are_the_same(tmp_path):
    path = str(tmp_path / "rivals.json")
    first = Answers(np.array([True, False]), np.array([0.9, 0.6]), 1.5)
    other = Answers(np.array([False, False]), np.array([0.8, 0.7]), 2.0)
    one, two = Kept(path), Kept(path)  # two runs at once lose nothing
    one.ask("cell", "plain", "abc", lambda: first)
    two.ask("cell", "paper", "abc", lambda: other)
    two.ask("cell", "own labels", "abc", lambda: None)
    kept = Kept(path)
    found = kept.ask("cell", "plain", "abc", lambda: other)
    assert (found.right.tolist(), found.confidence.tolist(), found.seconds) == (
        [True, False],
        [0.9, 0.6],
        1.5,
    )
    assert kept.ask("cell", "own labels", "abc", lambda: first) is None
    assert kept.n_reused == 2
    assert kept.ask("cell", "plain", "other documents", lambda: other).accuracy == 0
    assert Kept(path).ask("cell", "plain", "other documents", lambda: first).accuracy == 0
    Path(path).write_text("[1]")
    with pytest.raises(CorpusError, match="no file that robust has written"):
        Kept(path)


def test_the_surest_of_each_class_join_up_to_its_quota():
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2], [0.3, 0.7]])
    rows, codes = surest(probabilities, [2, 2])
    assert (rows.tolist(), codes.tolist()) == ([0, 2, 3], [0, 0, 1])


def test_robust_tells_where_best_does_harm():
    rng, cell = np.random.default_rng(0), make_demo_cells()[0]
    sure = np.full(100, 0.75)

    def answers(n_right, **told):
        return Answers(
            np.arange(100) < n_right,
            sure + rng.normal(0, 0.001, 100),
            1.0,
            [told] if told else [{}],
        )

    expected = {"value": 62.0, "low": 50.0, "high": 70.0}
    right = {"unadapted": np.arange(100) < 75, "true": np.arange(100) < 66}
    found = {
        "plain": answers(75),
        "paper": answers(50),
        "tfidf": answers(61),
        "tfidf balanced": answers(58),
    }
    found |= {
        "best": answers(60, accuracy=60.0, expected=expected, right=right),
        "own labels": answers(63),
    }
    row = measure(cell, found)
    assert (row["rival"], row["unadapted"], row["p"]["rival"], row["priors"]) == (
        "tfidf",
        75,
        1,
        {"true": 6},
    )
    summary = summarise([row], {cell.name: found})
    below = {other: (one["percent"], one["largest"]) for other, one in summary["below"].items()}
    assert below == {"plain": (100, 15), "unadapted": (100, 15), "rival": (0, 0)}
    family = summary["families"]["demo"]
    assert family["rival_below_own"] == pytest.approx(2)
    assert family["interval"] == {"draws": 1, "covered_percent": 100, "too_high": 2}
