"""The paper's protocol on made-up data in the data set's format, and on the data set itself."""

import csv
import gzip
import io
import json
import random
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import gramshift as gs
from gramshift.commands.reproduce import show_tables
from gramshift.datasets import reviews as sentiment
from gramshift.evaluate.paper_stages import run_stages
from gramshift.evaluate.protocol import SINGLE, Setting, parse_settings
from gramshift.evaluate.reproduce import OutcomeStore, reproduce, run_on_texts
from gramshift.evaluate.result_tables import make_tables, to_markdown
from gramshift.evaluate.results import Outcome, StackedReviews, make_means, make_rows
from gramshift.methods import METHODS, parse_methods
from gramshift.model.settings import PRESETS
from naive_algorithm import transductive_kernel_algorithm
from small_demo import load_demo

N = 20  # reviews per file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sentences of the demo corpus as reviews of four domains."""
    folder, chance = tmp_path_factory.mktemp("data"), random.Random(0)
    reviews = [load_demo(name) for name in ("kitchen", "films")]
    for domain in sentiment.DOMAINS.values():
        for name, label in zip(sentiment.FILES, ("positive", "negative"), strict=True):
            texts = [
                text
                for one in reviews
                for text, found in zip(one.texts, one.labels, strict=True)
                if found == label
            ]
            path = folder / domain / name
            path.parent.mkdir(exist_ok=True)
            chosen = chance.sample(texts, N)
            path.write_text(
                "".join(
                    f"<review>\n<title>\n{text[:20]}\n</title>\n<review_text>\n{text}\n</review_text>\n</review>\n"
                    for text in chosen
                )
            )
    return folder


def run(folder, output, **options):
    given = {
        "settings": parse_settings("all"),
        "methods": ["plain", "adapted", "tkc"],
        "kernels": ["presence", "intersection"],
    }
    return reproduce(folder, output, n_reviews=N, **given | options)


def test_scores_are_those_of_the_algorithm_line_by_line(folder, tmp_path):
    result = run(folder, tmp_path, settings=parse_settings("D-B,DEK-B"), kernels=["presence"])
    documents, codes, texts = result["documents"], result["documents"].codes, result["texts"]
    for setting in parse_settings("D-B,DEK-B"):
        source, target = documents.rows(setting.source), documents.rows(setting.target)
        order = np.concatenate([source, target])
        gram = gs.StringKernel().gram([texts[i] for i in order])
        for method, n_rounds in (("adapted", 1), ("tkc", 2)):
            found = result["outcomes"][setting, "presence", method]
            _, scores = transductive_kernel_algorithm(
                gram.tolist(), codes[source].tolist(), 2, N, 1e-5, n_rounds
            )
            np.testing.assert_allclose(found.scores, np.array(scores)[:, 1], rtol=0, atol=1e-6)
        plain = result["outcomes"][setting, "presence", "plain"]
        clf = gs.TransductiveClassifier(preset="paper", adapt=False, n_rounds=1)
        clf.fit([texts[i] for i in source], codes[source], target=[texts[i] for i in target])
        np.testing.assert_allclose(plain.scores, clf.transduction_score_[:, 1], rtol=0, atol=1e-7)


def test_one_setting_has_the_bits_of_the_classifier_that_users_call(folder, tmp_path):
    """Shared products in single precision change scores by no more than the solver's residual."""
    result = run(folder, tmp_path, settings=parse_settings("B-K"), kernels=["presence"])
    whole = run(folder, tmp_path / "whole", settings=parse_settings("all"), kernels=["presence"])
    documents, codes, texts = result["documents"], result["documents"].codes, result["texts"]
    source, target = ([texts[i] for i in documents.rows(letter)] for letter in "BK")
    for name, options in (
        ("tkc", {}),
        ("adapted", {"n_rounds": 1}),
        ("plain", {"n_rounds": 1, "adapt": False}),
    ):
        clf = gs.TransductiveClassifier(preset="paper", **options)
        clf.fit(source, codes[documents.rows("B")], target=target)
        found = result["outcomes"][Setting("B", "K"), "presence", name].scores
        if name == "plain":  # users get it without a gram, step by step
            np.testing.assert_allclose(found, clf.transduction_score_[:, 1], rtol=0, atol=1e-6)
        else:
            assert found.tobytes() == clf.transduction_score_[:, 1].tobytes()
        shared = whole["outcomes"][Setting("B", "K"), "presence", name].scores
        np.testing.assert_allclose(shared, found, rtol=0, atol=1e-8)


def test_true_labels_of_the_target_are_never_used(folder, tmp_path):
    texts = run(folder, tmp_path, settings=parse_settings("D-B"), kernels=["presence"])["texts"]
    gram = gs.StringKernel().gram(texts)
    codes = np.tile(np.repeat([1, 0], N), 2)
    wrong = codes.copy()
    wrong[: 2 * N] = 1 - codes[: 2 * N]  # those of B
    scores = [
        next(run_stages(gram, StackedReviews("BD", given), [Setting("D", "B")], ["tkc"]))[0].scores
        for given in (codes, wrong)
    ]
    assert (scores[0] == scores[1]).all()


@pytest.mark.slow
def test_files_and_tables(folder, tmp_path):
    result = run(folder, tmp_path)
    assert len(result["rows"]) == 96
    rows = list(csv.DictReader(io.StringIO((tmp_path / "results.csv").read_text())))
    kept = json.loads((tmp_path / "results.json").read_text())
    assert kept["rows"] == result["rows"]
    assert kept["versions"]["gramshift"] == gs.__version__
    with gzip.open(tmp_path / "predictions.csv.gz", "rt", newline="") as file:
        predictions = list(csv.DictReader(file))
    assert len(predictions) == 96 * 2 * N
    for row in rows:
        mine = [
            one
            for one in predictions
            if all(one[key] == row[key] for key in ("setting", "method", "kernel"))
        ]
        assert sum(one["true"] == one["predicted"] for one in mine) == int(row["correct"])
        assert np.isclose(
            100 * int(row["correct"]) / int(row["n"]), float(row["accuracy"]), atol=1e-3
        )
        assert all(
            (float(one["score"]) > 0) == (one["predicted"] == "positive")
            for one in mine
            if float(one["score"])
        )
    table = (tmp_path / "tables.md").read_text()
    assert "| DEK-B | BEK-D | BDK-E | BDE-K |" in table
    assert "84.9 /" in table
    assert "| SST | 76.3 /" in table


@pytest.mark.slow
def test_the_same_command_gives_the_same_bytes_and_resuming_too(folder, tmp_path):
    run(folder, tmp_path / "a")
    run(folder, tmp_path / "b")
    for name in ("results.csv", "tables.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    for path in sorted((tmp_path / "b" / "parts").iterdir())[::2]:
        path.unlink()
    damaged = next((tmp_path / "b" / "parts").iterdir())
    damaged.write_text(damaged.read_text().replace("1", "2"))
    done = []
    run(folder, tmp_path / "b", resume=True, progress=lambda *step: done.append(step))
    assert (tmp_path / "a" / "results.csv").read_bytes() == (
        tmp_path / "b" / "results.csv"
    ).read_bytes()
    assert [step for step in done if step[0] == "methods"][-1][1:] == (96, 96)


def test_outcomes_of_other_data_or_other_options_are_not_reused(tmp_path):
    cell = Setting("D", "B"), "presence", "plain"
    key = {"fields": "text", "presets": 1, "source_only": False}
    data = {"B": "b", "D": "d", "E": "e"}
    outcome = Outcome(cell[0], cell[2], np.array([0.5, -0.25]), 1.0)
    OutcomeStore(tmp_path, key, data, 2).save(cell, outcome)
    other = OutcomeStore(tmp_path, key, data | {"E": "other"}, 2)
    assert other.load(cell).scores.tolist() == [0.5, -0.25]
    assert OutcomeStore(tmp_path, key, data | {"B": "other"}, 2).load(cell) is None
    assert OutcomeStore(tmp_path, key | {"presets": 2}, data, 2).load(cell) is None
    assert OutcomeStore(tmp_path, key | {"source_only": True}, data, 2).load(cell) is None
    assert OutcomeStore(tmp_path, key, data, 2).load((*cell[:2], "tkc")) is None
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text().replace("-0.25", "0.25"))
    assert OutcomeStore(tmp_path, key, data, 2).load(cell) is None


def test_the_order_in_which_methods_are_named_does_not_matter(folder, tmp_path):
    for name, methods, resume in (
        ("a", ["plain", "tkc"], False),
        ("b", ["tkc", "plain"], False),
        ("b", ["tkc", "plain"], True),
    ):
        run(folder, tmp_path / name, methods=methods, settings=parse_settings("D-B"), resume=resume)
        assert (tmp_path / "a" / "results.csv").read_bytes() == (
            tmp_path / name / "results.csv"
        ).read_bytes()


def test_rivals_run_resume_and_stand_in_the_tables(folder, tmp_path):
    """A baseline's scores are its own, and finished results are not computed again."""
    names = ["plain", "tfidf", "self-training", "sfa"]
    result = run(
        folder, tmp_path, methods=names, settings=parse_settings("D-B,E-B"), kernels=["presence"]
    )
    assert [(row["method"], row["kernel"]) for row in result["rows"][:4]] == [
        ("plain", "presence"), *((name, None) for name in names[1:])
    ]  # fmt: skip
    documents, texts = result["documents"], result["texts"]
    source, target = documents.rows("E"), documents.rows("B")
    for name in names[1:]:
        one, clf = result["outcomes"][Setting("E", "B"), None, name], METHODS[name].make()
        clf.fit(
            [texts[i] for i in source], documents.codes[source], target=[texts[i] for i in target]
        )
        np.testing.assert_allclose(one.scores, clf.transduction_score_[:, 1], atol=1e-6)
    row = next(row for row in result["rows"] if row["setting"] == "D-B" and row["method"] == "sfa")
    assert row["published"] == 79.8
    assert row["against"] == "plain presence"
    table = (tmp_path / "tables.md").read_text()
    assert "| SFA† | 79.8 /" in table
    assert "† SFA: published with 1600 source" in table
    assert "| CORAL | 78.3 / - |" in table  # not run, still shown
    done = []
    again = run(
        folder,
        tmp_path,
        methods=[*names, "kda"],
        settings=parse_settings("D-B,E-B"),
        kernels=["presence"],
        resume=True,
        progress=lambda *step: done.append(step),
    )
    assert [step[1:] for step in done if step[0] == "methods"] == [
        (9, 10),
        (10, 10),
    ]  # kda alone was missing
    kept = [row for row in again["rows"] if row["method"] != "kda"]
    assert [row["correct"] for row in kept] == [row["correct"] for row in result["rows"]]


def test_each_method_without_adaptation(folder, tmp_path):
    methods, settings = ["adapted", "tkc", "best", "sfa", "kda"], parse_settings("D-B")
    given = {"methods": methods, "settings": settings, "kernels": ["presence"]}
    result = run(folder, tmp_path, **given, source_only=True)
    assert [row["method"] for row in result["rows"]] == ["plain", "best", "kda", "sfa"]
    documents, texts = result["documents"], result["texts"]
    source, target = documents.rows("D"), documents.rows("B")
    expected = {
        "plain": gs.TransductiveClassifier(preset="paper", adapt=False, n_rounds=1),
        "best": gs.TransductiveClassifier(n_rounds=1, class_prior="source"),
        "kda": gs.baselines.KernelDiscriminant(),
        "sfa": gs.baselines.SFA(adapt=False),
    }
    for one in result["outcomes"].values():
        clf = expected[one.method]
        clf.fit(
            [texts[i] for i in source], documents.codes[source], target=[texts[i] for i in target]
        )
        np.testing.assert_allclose(one.scores, clf.transduction_score_[:, 1], atol=1e-6)
    table = (tmp_path / "tables.md").read_text()
    assert "| SFA, source only | - /" in table
    assert "| SFA | 79.8 / - |" in table  # published with adaptation
    assert "† SFA" not in table
    assert {row["method"]: row["published"] for row in result["rows"]}["sfa"] is None
    assert (tmp_path / "results.csv").read_text().splitlines()[0].endswith(",source_only")
    adapted = run(folder, tmp_path, **given, resume=True)["rows"]
    assert [row["method"] for row in adapted] == ["adapted", "tkc", "best", "kda", "sfa"]
    assert "source_only" not in (tmp_path / "results.csv").read_text()


def test_rivals_get_no_true_labels_of_the_target(folder, tmp_path, monkeypatch):
    texts = run(
        folder, tmp_path, settings=parse_settings("D-B"), kernels=["presence"], methods=["plain"]
    )["texts"]
    codes = np.tile(np.repeat([1, 0], N), 2)
    wrong = codes.copy()
    wrong[: 2 * N] = 1 - codes[: 2 * N]  # those of B
    tasks = [("tsvm", Setting("D", "B")), ("tradaboost", Setting("D", "B"))]
    found = [
        {one.method: one.scores for one in run_on_texts(texts, StackedReviews("BD", c), tasks)}
        for c in (codes, wrong)
    ]
    for name, _ in tasks:
        assert (found[0][name] == found[1][name]).all()


def test_rivals_without_a_run_of_our_own(folder, tmp_path):
    result = run(folder, tmp_path, settings=parse_settings("D-B"), methods=["tfidf"])
    assert [(row["method"], row["p_value"]) for row in result["rows"]] == [("tfidf", None)]


def test_best_stands_beside_the_papers_methods(folder, tmp_path):
    """Its scores are those of the preset on texts and source labels alone."""
    names, settings = ["plain", "tkc", "best", "tfidf"], parse_settings("D-B,E-B")
    result = run(
        folder, tmp_path, methods=names, settings=settings, kernels=["presence", "intersection"]
    )
    first = [(row["method"], row["kernel"]) for row in result["rows"] if row["setting"] == "D-B"]
    assert first[4:] == [("best", None), ("tfidf", None)]
    best, tfidf = (
        row for row in result["rows"] if row["setting"] == "D-B" and row["kernel"] is None
    )
    assert best["against"] == "tkc presence"
    assert tfidf["against"] in ("plain presence", "plain intersection")
    assert result["parameters"]["best"] == PRESETS["best"]
    documents, texts = result["documents"], result["texts"]
    source, target = documents.rows("D"), documents.rows("B")
    clf = gs.TransductiveClassifier(preset="best")
    clf.fit(
        [texts[i] for i in source],
        documents.codes[source],
        target=gs.Target([texts[i] for i in target]),
    )
    np.testing.assert_allclose(
        result["outcomes"][Setting("D", "B"), None, "best"].scores,
        clf.transduction_score_[:, 1],
        atol=1e-9,
    )
    lines = [
        line.split("|")[1].strip()
        for line in (tmp_path / "tables.md").read_text().splitlines()
        if line.startswith("| ")
    ]
    assert lines[4:10] == [
        "plain 0/1",
        "plain ∩",
        "tkc 0/1",
        "tkc ∩",
        "best",
        "tf-idf + logistic regression",
    ]
    done = []
    run(
        folder,
        tmp_path,
        methods=names,
        settings=settings,
        resume=True,
        progress=lambda *step: done.append(step),
    )
    assert done == []  # nothing was run again
    alone = run(
        folder,
        tmp_path / "alone",
        methods=["plain", "best"],
        settings=settings[:1],
        kernels=["presence"],
    )["rows"]
    assert (alone[-1]["against"], alone[-1]["correct"]) == ("plain presence", best["correct"])


def test_names_of_methods():
    assert parse_methods("own") == ["plain", "adapted", "tkc"]
    assert parse_methods("sfa, best, TKC") == ["tkc", "best", "sfa"]
    assert set(parse_methods("all")) == set(METHODS)
    ours = {"plain", "adapted", "tkc", "best", "best-words", "best-characters"}
    assert set(parse_methods("baselines")) == set(METHODS) - ours
    with pytest.raises(
        ValueError,
        match=r"'tfdf' is not known; there are own, baselines, all, plain.*; did you mean tfidf\?",
    ):
        parse_methods("tfdf")
    with pytest.raises(ValueError, match="no method is named"):
        parse_methods(",")


def test_a_method_that_lacks_a_package_says_what_to_install(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS, "sst", replace(METHODS["sst"], needs=("no_such_package",)))
    with pytest.raises(
        ModuleNotFoundError,
        match=r"SST needs no_such_package: pip install 'gramshift\[baselines\]'",
    ):
        run(folder, tmp_path, methods=["tkc", "sst"])


def make_outcomes(n_right, n=100):
    """Return outcomes with the given numbers of right documents, all of them positive."""
    setting = Setting("D", "B")
    outcomes = {
        (setting, kernel, method): Outcome(
            setting, method, np.where(np.arange(n) < count, 1.0, -1.0), 0.5
        )
        for (kernel, method), count in n_right.items()
    }
    return outcomes, StackedReviews("BD", np.ones(2 * n, np.intp))


def test_rows_stars_and_tables(capsys):
    n_right = {
        ("presence", "plain"): 60,
        ("presence", "tkc"): 80,
        ("intersection", "plain"): 62,
        ("intersection", "tkc"): 40,
    }
    rows = make_rows(*make_outcomes(n_right), fields="text")
    by = {(row["method"], row["kernel"]): row for row in rows}
    assert (
        by["plain", "intersection"]["p_value"] is None
    )  # the better plain kernel, which the others are tested against
    assert by["plain", "presence"]["p_value"] == 0.5
    assert by["plain", "presence"]["against"] == "plain intersection"
    assert by["tkc", "presence"]["significant"]
    assert not by["tkc", "intersection"]["significant"]  # significantly worse
    assert by["tkc", "intersection"]["p_value"] < 0.01
    assert by["tkc", "presence"]["published"] == 84.9
    page = to_markdown(make_tables(rows, [], "text"))
    assert "84.9 / **80.0**\\* (-4.9)" in page
    assert "Means" not in page
    show_tables({"rows": rows, "means": []}, "text")
    shown = capsys.readouterr().out
    assert "84.9 / 80.0* (-4.9)" in shown
    assert "TR-TrAdaBoost" in shown


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "gramshift.commands.main", "reproduce", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "/nowhere"), "/nowhere: no such folder; get the data with"),
        (("--data", ".", "--settings", "D-X"), "setting 'D-X' is not known; there are all, single"),
        (
            ("--data", ".", "--methods", "magic,best"),
            "method 'magic' is not known; there are own, baselines, all, plain",
        ),
        (("--data", ".", "--preset", "magic"), "--preset magic: there are paper and best"),
        (("--data", ".", "--kernels", "words"), "kernel 'words' is not known; there are presence"),
        (
            ("--data", ".", "--fields", "body"),
            "fields 'body' is not known; there are text, title+text",
        ),
    ],
)
def test_bad_input_is_one_line(gramshift, arguments, message, tmp_path):
    done = gramshift("reproduce", *arguments, "--output", tmp_path / "out")
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


INTERRUPTED = """
import os, signal, sys
written = []
def interrupt(event, arguments):
    if event == "os.rename" and os.path.basename(os.path.dirname(str(arguments[1]))) == "parts":
        written.append(arguments[1])
        if len(written) == 4:  # the first setting is finished, the next one is not
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(interrupt)
from gramshift.commands.main import main
main()
"""


def test_ctrl_c_keeps_what_is_finished(data_folder, tmp_path, monkeypatch):
    monkeypatch.undo()
    arguments = (
        "--data",
        str(data_folder),
        "--kernels",
        "presence",
        "--settings",
        "D-B,B-D",
        "--output",
        str(tmp_path),
    )
    command_line = [sys.executable, "-c", INTERRUPTED, "reproduce", *arguments]
    stopped = subprocess.run(command_line, capture_output=True, text=True, timeout=300, check=False)
    assert stopped.returncode == 130, stopped.stderr
    assert "interrupted; finished settings are kept, continue with --continue" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "results.csv").exists()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("parts/*.json")}
    assert len(before) == 3
    assert command(*arguments, "--continue", "--no-plots").returncode == 0
    assert (tmp_path / "results.csv").exists()
    assert {path: path.stat().st_mtime_ns for path in before} == before, "they were computed again"
    assert len(list(tmp_path.glob("parts/*.json"))) == 6


def test_one_setting_of_the_real_data(data_folder, tmp_path, monkeypatch):
    """E-K with the presence kernel: an independent script has 87.3 on title and text."""
    monkeypatch.undo()
    done = command(
        "--data",
        str(data_folder),
        "--settings",
        "E-K",
        "--kernels",
        "presence",
        "--output",
        str(tmp_path),
        "--json",
    )
    assert done.returncode == 0, done.stderr
    rows = {row["method"]: row for row in json.loads(done.stdout)}
    assert round(rows["plain"]["accuracy"], 1) == 87.3
    assert rows["tkc"]["accuracy"] > rows["plain"]["accuracy"]
    assert rows["tkc"]["n"] == 2000
    keys = {
        "setting",
        "method",
        "kernel",
        "fields",
        "accuracy",
        "published",
        "n",
        "correct",
        "p_value",
        "seconds",
    }
    assert keys <= set(rows["tkc"])


def test_means_have_intervals_that_know_of_shared_targets():
    """Three settings with the same labels of one target are one piece of evidence."""
    generator = np.random.default_rng(0)
    documents, outcomes = StackedReviews("BDEK", generator.integers(0, 2, 400).astype(np.intp)), {}
    for setting in SINGLE:
        truth = 2.0 * documents.truth(setting.target) - 1
        for name, n_right in (("tkc", 80), ("plain", 60)):
            scores = truth * np.where(np.arange(100) < n_right, 1, -1)
            outcomes[setting, "presence", name] = Outcome(setting, name, scores, 0.5)
    tkc, plain = make_means(outcomes, documents)
    assert (tkc["accuracy"], plain["accuracy"]) == pytest.approx((80, 60))
    assert plain["against"] == "tkc presence"
    assert plain["difference"][0] == pytest.approx(-20, abs=0.5)
    assert plain["p_value"] < 0.01
    assert tkc["p_value"] is None
    wide = (tkc["high"] - tkc["low"]) / 2
    assert wide == pytest.approx(
        1.96 * 100 * np.sqrt(0.8 * 0.2 / 400), rel=0.1
    )  # of 400 documents, not of 1200
    assert (
        make_means(
            {cell: one for cell, one in outcomes.items() if cell[0].name == "D-B"}, documents
        )
        == []
    )
