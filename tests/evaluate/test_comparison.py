"""Methods side by side: who is asked what, what is counted, and what is kept."""

import csv
import gzip
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramshift as gs
from conftest import examples
from gramshift.evaluate.cases import (
    Case,
    LabelledDomains,
    LabelledTexts,
    MethodAnswers,
    answer,
    draw_half,
    every_pair,
    make_cases,
)
from gramshift.evaluate.comparison_files import (
    answers_to_csv,
    plot_lines,
    settings_of,
    to_csv,
    to_json,
    to_markdown,
    write_comparison,
    write_plot,
)
from gramshift.evaluate.comparison_run import Comparison, ComparisonPlan
from gramshift.evaluate.result_store import ResultStore
from gramshift.evaluate.scoring import brier, by_class, calibration_error
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
X, Y, TARGET, TRUTH = KITCHEN.texts[:60], KITCHEN.labels[:60], FILMS.texts[:50], FILMS.labels[:50]
FAST = ["plain", "tfidf"]
HALF = 21  # of 40 documents: the larger halves of classes of 19 and 21


@pytest.fixture(scope="module")
def pair():
    return gs.compare(X, Y, target=TARGET, target_labels=TRUTH, methods=FAST)


@pytest.fixture(scope="module")
def domains():
    texts, labels = (
        X[:40] + TARGET[:40] + KITCHEN.texts[60:100],
        Y[:40] + TRUTH[:40] + KITCHEN.labels[60:100],
    )
    names = ["kitchen"] * 40 + ["films"] * 40 + ["more"] * 40
    return gs.compare(texts, labels, domains=names, methods=FAST, repeats=2, random_state=7)


def test_figures_are_those_of_the_classifiers(pair):
    for name, made in (
        ("plain", gs.TransductiveClassifier(preset="paper", adapt=False, n_rounds=1)),
        ("tfidf", None),
    ):
        clf = (made or gs.baselines.TfidfLogistic()).fit(X, Y, target=TARGET)
        right = [
            label == truth for label, truth in zip(clf.transduction_.tolist(), TRUTH, strict=True)
        ]
        row = next(row for row in pair.rows if row["method"] == name)
        assert row["accuracy"] == pytest.approx(sum(right) / 50)
        one_hot = [[float(truth == label) for label in clf.classes_] for truth in TRUTH]
        assert row["brier"] == pytest.approx(
            np.mean(np.sum((clf.transduction_proba_ - one_hot) ** 2, axis=1)), abs=1e-5
        )
        for label in ("negative", "positive"):
            found, true = clf.transduction_ == label, np.array(TRUTH) == label
            assert row["classes"][label]["recall"] == pytest.approx(
                (found & true).sum() / true.sum()
            )
            assert row["classes"][label]["precision"] == pytest.approx(
                (found & true).sum() / found.sum()
            )


def test_the_summary_has_an_interval_and_a_test_against_the_reference(pair):
    plain, tfidf = pair.summary
    assert pair.reference == "plain"  # the first, as best is not among them
    assert plain["p_value"] is None
    assert plain["difference"] is None
    assert 0 <= tfidf["p_value"] <= tfidf["p_holm"] <= 1
    for line in (plain, tfidf):
        assert line["low"] <= line["accuracy"] <= line["high"]
        assert line["spread"] is None
        assert line["seconds"] > 0
    assert tfidf["difference"] == pytest.approx(tfidf["accuracy"] - plain["accuracy"])
    assert tfidf["difference_low"] <= tfidf["difference"] <= tfidf["difference_high"]


def test_every_pair_of_domains_with_random_halves(domains):
    settings = {
        "kitchen > films",
        "kitchen > more",
        "films > kitchen",
        "films > more",
        "more > kitchen",
        "more > films",
    }
    assert {row["setting"] for row in domains.rows} == settings
    assert len(domains.rows) == 6 * 2 * 2
    assert {row["n"] for row in domains.rows} == {HALF}
    assert all(line["spread"] is not None and line["cases"] == 12 for line in domains.summary)
    one, other = (case.target_rows for case in domains.cases if case.setting == "kitchen > films")
    assert one.tolist() != other.tolist()
    shared = [case for case in domains.cases if case.target == "films" and case.repeat == 1]
    assert len({tuple(case.target_rows) for case in shared}) == 1
    again = make_cases(domains.data, every_pair(["kitchen", "films", "more"]), repeats=2, seed=7)
    assert [case.target_rows.tolist() for case in again] == [
        case.target_rows.tolist() for case in domains.cases
    ]


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 5))
@examples(50)
def test_halves_keep_the_proportions_of_classes(codes, seed):
    codes = np.array(codes, np.intp)
    half = draw_half(codes, np.random.default_rng(seed))
    assert sorted(set(half.tolist())) == half.tolist()
    for code in range(4):
        assert np.sum(codes[half] == code) == (np.sum(codes == code) + 1) // 2


def test_no_method_is_told_a_true_label_of_the_target():
    """Labels of the target that are all wrong change what is counted, and no answer."""
    wrong = ["positive" if label == "negative" else "negative" for label in TRUTH]
    right, other = (
        gs.compare(X, Y, target=TARGET, target_labels=truth, methods=[*FAST, "self-training"])
        for truth in (TRUTH, wrong)
    )
    for one, two in zip(right.answers[0], other.answers[0], strict=True):
        assert one.codes.tolist() == two.codes.tolist()
        np.testing.assert_array_equal(one.probabilities, two.probabilities)
    assert [
        a["accuracy"] + b["accuracy"] for a, b in zip(right.rows, other.rows, strict=True)
    ] == pytest.approx([1.0] * 3)


def test_each_method_without_adaptation(tmp_path):
    given = {
        "target": TARGET,
        "target_labels": TRUTH,
        "methods": "self-training,tfidf",
        "folder": tmp_path,
    }
    adapted, alone = gs.compare(X, Y, **given), gs.compare(X, Y, **given, source_only=True)
    clf = gs.baselines.SelfTraining(adapt=False).fit(X, Y, target=TARGET)
    assert alone.answers[0][1].codes.tolist() == [
        ["negative", "positive"].index(one) for one in clf.transduction_
    ]
    assert (
        alone.answers[0][0].codes.tolist() == adapted.answers[0][0].codes.tolist()
    )  # which does not adapt
    assert (adapted.n_reused, alone.n_reused) == (0, 0)
    assert gs.compare(X, Y, **given, source_only=True).n_reused == 2
    assert "without adaptation, trained on the source alone" in to_markdown(alone)
    assert "without adaptation" not in to_markdown(adapted)
    assert to_json(alone)["source_only"]


def test_a_class_that_no_source_has_is_missed():
    truth = ["unclear", *TRUTH[1:]]
    with pytest.warns(
        UserWarning, match=r"1 target documents have labels that the source lacks \(unclear\)"
    ):
        found = gs.compare(X, Y, target=TARGET, target_labels=truth, methods="tfidf")
    row = found.rows[0]
    assert list(row["classes"]) == ["negative", "positive", "unclear"]
    assert row["classes"]["unclear"] == {"precision": None, "recall": 0.0, "n": 1}
    assert found.answers[0][0].probabilities[:, 2].max() == 0
    assert "| - / 0.0 |" in to_markdown(found)


def test_labels_may_be_numbers():
    codes, truth = ([int(label == "positive") for label in labels] for labels in (Y, TRUTH))
    found = gs.compare(X, codes, target=TARGET, target_labels=truth, methods="tfidf")
    assert list(found.rows[0]["classes"]) == ["0", "1"]
    by_name = gs.compare(X, Y, target=TARGET, target_labels=TRUTH, methods="tfidf")
    assert found.rows[0]["accuracy"] == by_name.rows[0]["accuracy"]


def test_what_was_found_is_kept_and_taken_again(tmp_path, pair):
    told = []
    options = {
        "methods": FAST,
        "folder": tmp_path / "parts",
        "progress": lambda *step: told.append(step),
    }
    first = gs.compare(X, Y, target=TARGET, target_labels=TRUTH, **options)
    assert told == [("methods", 1, 2), ("methods", 2, 2)]
    again = gs.compare(X, Y, target=TARGET, target_labels=TRUTH, **options)
    assert [row["seconds"] for row in again.rows] == [
        row["seconds"] for row in first.rows
    ]  # nothing ran
    damaged, other = sorted((tmp_path / "parts").iterdir())
    damaged.write_text(
        damaged.read_text()
        .replace('"codes": [0', '"codes": [1')
        .replace('"codes": [1', '"codes": [0', 1)[:-3]
    )
    mended = gs.compare(X, Y, target=TARGET, target_labels=TRUTH, **options)
    assert [row["accuracy"] for row in mended.rows] == [row["accuracy"] for row in first.rows]
    others = gs.compare(X[:-1], Y[:-1], target=TARGET, target_labels=TRUTH, **options)
    assert len(list((tmp_path / "parts").iterdir())) == 4  # other documents, other results
    assert other.exists()
    assert [row["accuracy"] for row in others.rows] != []


@pytest.mark.parametrize("change", [{"codes": [0.5] * 50}, {"codes": [2] * 50}, {"seconds": "1x"}])
def test_kept_answers_that_cannot_be_are_found_again(tmp_path, change):
    """Their checksum fits."""
    options = {"target": TARGET, "target_labels": TRUTH, "methods": "tfidf", "folder": tmp_path}
    first = gs.compare(X, Y, **options)
    (path,) = tmp_path.iterdir()
    body = json.loads(path.read_text())["body"]
    ResultStore(tmp_path).save(path.stem, body["key"], body["result"] | change)
    again = gs.compare(X, Y, **options)
    assert again.n_reused == 0
    assert again.rows[0]["accuracy"] == first.rows[0]["accuracy"]
    assert gs.compare(X, Y, **options).n_reused == 1


def test_files(domains, tmp_path):
    names = [
        *write_comparison(domains, tmp_path / "new"),
        write_plot(plot_lines(domains), tmp_path / "new"),
    ]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(names)
    told = json.loads((tmp_path / "new" / "comparison.json").read_text())
    assert told == json.loads(json.dumps(to_json(domains)))
    lines = list(csv.DictReader(io.StringIO(to_csv(domains))))
    assert [float(line["accuracy"]) for line in lines] == [row["accuracy"] for row in domains.rows]
    answers = list(
        csv.DictReader(
            io.StringIO(
                gzip.decompress((tmp_path / "new" / "answers.csv.gz").read_bytes()).decode()
            )
        )
    )
    assert len(answers) == 24 * HALF
    mine = [
        one["true"] == one["found"] for one in answers if tuple(one[name] for name in KEYS) == NAMED
    ]
    row = next(row for row in domains.rows if tuple(str(row[name]) for name in KEYS) == NAMED)
    assert sum(mine) / HALF == row["accuracy"]
    assert answers_to_csv(domains).count("\n") == 1 + 24 * HALF
    page = to_markdown(domains)
    assert "Means over 2 random halves of source and target of 6 settings" in page
    assert "| films > more |" in page
    assert (tmp_path / "new" / "comparison.png").read_bytes().startswith(b"\x89PNG")


KEYS, NAMED = ("source", "target", "repeat", "method"), ("films", "more", "1", "tfidf")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either target= with target_labels=, or domains="),
        ({"target": TARGET, "domains": ["a"] * 60}, "either target="),
        ({"target": TARGET}, "50 documents without labels"),
        ({"target": TARGET, "target_labels": TRUTH[:-1]}, "49 labels for 50 documents"),
        ({"target": TARGET, "target_labels": [None, *TRUTH[1:]]}, "1 documents have no label"),
        ({"domains": ["a"] * 60}, "all documents are of one domain"),
        ({"domains": ["a", "b"]}, "domains has 2 names for 60 documents"),
        (
            {"target": TARGET, "target_labels": TRUTH, "methods": "plain,bset"},
            "method 'bset' is not known",
        ),
        (
            {"target": TARGET, "target_labels": TRUTH, "reference": "sfa"},
            "reference 'sfa' is not among the methods",
        ),
        (
            {"target": TARGET, "target_labels": TRUTH, "repeats": -1},
            "repeats=-1: give a number of random halves",
        ),
        ({"target": [], "target_labels": []}, "the target has no documents"),
        (
            {"target": TARGET, "target_labels": TRUTH, "random_state": -1},
            "random_state=-1: give a whole number",
        ),
        ({"domains": [None, *["a", "b"] * 29, "a"]}, "1 documents have no domain"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(gs.GramshiftError, match=message):
        gs.compare(X, Y, **options)


def test_a_source_of_one_class_is_named():
    domains = ["a"] * 30 + ["b"] * 30
    labels = ["positive"] * 30 + Y[30:]
    with pytest.raises(gs.GramshiftError, match="a > b: all source documents have one label"):
        gs.compare(X, labels, domains=domains, methods="tfidf")


def test_a_method_for_two_classes_is_refused_before_others_have_run():
    labels = [["a", "b", "c"][i % 3] for i in range(60)]
    told = []
    with pytest.raises(
        gs.GramshiftError, match="tsvm is defined for two classes; source > target has 3"
    ):
        gs.compare(
            X,
            labels,
            target=TARGET,
            target_labels=TRUTH,
            methods="tfidf,tsvm",
            progress=lambda *one: told.append(one),
        )
    assert told == []


def test_several_sources_are_one_training_set():
    corpus = LabelledDomains(
        {name: LabelledTexts(X[i : i + 20], np.arange(20) % 2) for i, name in enumerate("abc")},
        ["no", "yes"],
    )
    rows = np.arange(20)
    found = answer(corpus, Case(("a", "b"), "c", (rows, rows[:10]), rows), "tfidf")
    clf = gs.baselines.TfidfLogistic().fit(X[:20] + X[1:11], [*range(2)] * 15, target=X[2:22])
    assert found.codes.tolist() == clf.transduction_.tolist()


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.lists(st.floats(0.01, 1), min_size=3, max_size=3)),
        min_size=1,
        max_size=30,
    )
)
@examples(100)
def test_calibration_is_that_of_loops(drawn):
    truth = np.array([code for code, _ in drawn])
    probabilities = np.array([[one / sum(row) for one in row] for _, row in drawn])
    found = probabilities.argmax(axis=1)
    pairs = zip(truth, probabilities, strict=True)
    squares = [sum((p - (k == code)) ** 2 for k, p in enumerate(row)) for code, row in pairs]
    assert brier(truth, probabilities) == pytest.approx(sum(squares) / len(drawn))
    sure, right, error = probabilities.max(axis=1), found == truth, 0.0
    for k in range(10):
        mine = [i for i, p in enumerate(sure) if min(int(p * 10 + 1e-9), 9) == k]
        if mine:
            error += (
                len(mine)
                / len(drawn)
                * abs(np.mean([sure[i] for i in mine]) - np.mean([right[i] for i in mine]))
            )
    assert calibration_error(right, sure) == pytest.approx(error)
    for code, one in enumerate(by_class(truth, found, 3)):
        both = sum(t == f == code for t, f in zip(truth, found, strict=True))
        assert one["n"] == list(truth).count(code)
        assert one["recall"] == (both / one["n"] if one["n"] else None)
        assert one["precision"] == (both / list(found).count(code) if code in found else None)


def test_few_documents_are_no_proof():
    """Three documents, all right against all wrong, are little evidence."""
    rows = np.arange(3)
    corpus = LabelledDomains(
        {name: LabelledTexts(X[:3], np.array([0, 1, 0])) for name in ("source", "target")},
        ["no", "yes"],
    )
    codes = {"tfidf": np.array([0, 1, 0]), "nbsvm": np.array([1, 0, 1])}
    answers = [
        MethodAnswers(name, found, np.eye(2)[found], 0.1, None) for name, found in codes.items()
    ]
    plan = ComparisonPlan(
        corpus, [Case(("source",), "target", (rows,), rows)], list(codes), "tfidf"
    )
    right, wrong = Comparison(plan, [answers]).summary
    assert (right["accuracy"], wrong["accuracy"]) == (1, 0)
    assert right["low"] < 0.5
    assert wrong["high"] > 0.5
    assert wrong["p_value"] == pytest.approx(0.25)


def test_a_kept_result_that_was_changed_is_not_taken(tmp_path):
    ResultStore(tmp_path).save("one", {"a": 1}, [1, 2])
    assert ResultStore(tmp_path).load("one", {"a": 1}) == [1, 2]
    assert ResultStore(tmp_path).load("one", {"a": 2}) is None
    path = tmp_path / "one.json"
    path.write_text(path.read_text().replace("[1, 2]", "[1, 3]"))
    assert ResultStore(tmp_path).load("one", {"a": 1}) is None


def test_settings_whose_names_look_alike_are_kept_apart():
    names = ["A", "B > C", "A > B", "C"]
    domains = [names[i % 4] for i in range(60)]
    found = gs.compare(X, Y, domains=domains, methods="tfidf")
    assert found.summary[0]["settings"] == 12
    assert len(settings_of(found)[1]) == 12


def test_copies_and_labels_that_look_alike_are_named():
    with pytest.warns(
        UserWarning, match="50 of 60 target documents are also in the source, word for word"
    ):
        gs.compare(X[:50], Y[:50], target=X, target_labels=Y, methods="tfidf")
    with (
        pytest.raises(gs.GramshiftError, match="no label of the target is one"),
        pytest.warns(UserWarning, match="case"),
    ):
        gs.compare(
            X, Y, target=TARGET, target_labels=[label.title() for label in TRUTH], methods="tfidf"
        )


def test_results_of_other_code_are_not_taken(tmp_path, monkeypatch):
    options = {"target": TARGET, "target_labels": TRUTH, "methods": "tfidf", "folder": tmp_path}
    assert gs.compare(X, Y, **options).n_reused == 0
    assert gs.compare(X, Y, **options).n_reused == 1
    monkeypatch.setattr("gramshift.evaluate.result_store.digest_source", lambda: "other")
    assert gs.compare(X, Y, **options).n_reused == 0
