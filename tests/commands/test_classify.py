"""gramshift classify, as a user types it."""

import json
import os
import re
import shlex
from html import escape

import numpy as np
import pyarrow.parquet as pq
import pytest

import gramshift as gs
from gramshift.learn.ridge import SingularKernelError
from gramshift.model import diagnosis
from gramshift.model.settings import PRESETS
from small_demo import load_demo
from small_tables import read_csv, write_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
DEFAULT = ("classify", "pans.csv", "knives.csv", "--target", "films.csv")
TKC = ("--method", "tkc", "--ngrams", "3-5")
RUN = (*DEFAULT, *TKC)


@pytest.fixture(scope="module")
def expected():
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), n_added=60)
    return clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


def test_two_files_in_labels_out(gramshift, folder, expected):
    answer = gramshift(*RUN, "--output", "labels.csv", "--save", "m.gramshift")
    assert answer.code == 0, answer.err
    assert answer.err.startswith("120 source and 120 target documents: about ")
    assert answer.err.count("\n") == 1
    rows = read_csv(folder / "labels.csv")
    assert list(rows[0]) == [
        "id",
        "text",
        "label",
        "confidence",
        "p_negative",
        "p_positive",
        "plain_label",
        "issue",
    ]
    assert [row["id"] for row in rows] == [f"f{number}" for number in range(120)]
    assert [row["text"] for row in rows] == FILMS.texts
    assert [row["label"] for row in rows] == expected.transduction_.tolist()
    sure = expected.transduction_proba_
    assert [float(row["p_positive"]) for row in rows] == pytest.approx(
        sure[:, 1].tolist(), abs=1e-6
    )
    assert [float(row["confidence"]) for row in rows] == pytest.approx(
        sure.max(axis=1).tolist(), abs=1e-6
    )
    assert gs.load("m.gramshift").predict(FILMS.texts).tolist() == expected.transduction_.tolist()
    assert "Source and target look" in answer.out
    assert "Did adapting help? " in answer.out
    assert "labels in labels.csv, model in m.gramshift" in answer.out


def test_json(gramshift, folder):
    answer = gramshift(*RUN, "--output", "labels.csv", "--json")
    found = json.loads(answer.out)
    assert found["n_source"] == found["n_target"] == sum(found["labels"].values()) == 120
    assert found["sources"] == [["pans.csv", 70], ["knives.csv", 50]]
    assert found["n_added"] == 60
    assert found["scores"] is None
    assert set(found["diagnostics"]) == {
        "separability",
        "agreement with plain",
        "drift of the class proportions",
        "verdict",
    }
    assert len(found["history"]) == 2


@pytest.mark.parametrize("end", ["jsonl", "parquet"])
def test_the_target_keeps_its_format(gramshift, folder, end, expected):
    gramshift(*RUN, "--output", f"films.{end}")
    answer = gramshift(
        "classify", "pans.csv", "knives.csv", "--target", f"films.{end}", *TKC, "-o", f"again.{end}"
    )
    assert answer.code == 0, answer.err
    names = "'label', 'confidence', 'p_negative', 'p_positive', 'plain_label', 'issue'"
    assert (
        f"films.{end} already has the columns {names}: kept as they are."
        " Predictions go to 'predicted_label'," in answer.err
    )
    assert f"To score against the labels of films.{end}: --truth label." in answer.err
    if end == "parquet":
        table = pq.read_table("again.parquet")
        assert table.column_names[8:] == [
            "predicted_label",
            "predicted_confidence",
            "predicted_p_negative",
            "predicted_p_positive",
            "predicted_plain_label",
            "predicted_issue",
        ]
        labels = table["predicted_label"].to_pylist()
    else:
        labels = [
            json.loads(line)["predicted_label"]
            for line in (folder / "again.jsonl").read_text().splitlines()
        ]
    assert labels == expected.transduction_.tolist()


def test_gaps_in_one_file_are_filled(gramshift, folder, expected):
    rows = [
        (f"k{n}", text, label)
        for n, (text, label) in enumerate(zip(KITCHEN.texts, KITCHEN.labels, strict=True))
    ]
    rows += [(f"f{n}", text, "") for n, text in enumerate(FILMS.texts)]
    mixed = [row for pair in zip(rows[:120], rows[120:], strict=True) for row in pair]
    write_csv(folder / "all.csv", ["id", "text", "label"], mixed)
    answer = gramshift("classify", "all.csv", *TKC, "--output", "filled.csv")
    assert answer.code == 0, answer.err
    found = read_csv(folder / "filled.csv")
    assert [row["id"] for row in found] == [row[0] for row in mixed]
    assert [row["label"] for row in found[0::2]] == KITCHEN.labels
    assert [row["label"] for row in found[1::2]] == expected.transduction_.tolist()
    assert {row["confidence"] for row in found[0::2]} == {""}
    assert all(0.5 <= float(row["confidence"]) <= 1 for row in found[1::2])


def test_folders_in_csv_out(gramshift, folder, expected):
    for number, (text, label) in enumerate(zip(KITCHEN.texts, KITCHEN.labels, strict=True)):
        (folder / "kitchen" / label).mkdir(parents=True, exist_ok=True)
        (folder / "kitchen" / label / f"{number:03}.txt").write_text(text)
    (folder / "films").mkdir()
    for number, text in enumerate(FILMS.texts):
        (folder / "films" / f"{number:03}.txt").write_text(text)
    answer = gramshift("classify", "kitchen", "--target", "films", *TKC, "-o", "labels.csv")
    assert answer.code == 0, answer.err
    rows = read_csv(folder / "labels.csv")
    assert list(rows[0]) == [
        "id",
        "label",
        "confidence",
        "p_negative",
        "p_positive",
        "plain_label",
        "issue",
    ]
    assert rows[7]["id"] == "007.txt"
    assert [row["label"] for row in rows] == expected.transduction_.tolist()


def test_labels_of_the_target_in_the_named_column_are_noticed(gramshift, folder):
    """--dry-run says it, before any work."""
    for name in ("pans", "truth"):
        rows = read_csv(folder / f"{name}.csv")
        write_csv(
            folder / f"{name}.csv", ["id", "text", "my stars"], [list(row.values()) for row in rows]
        )
    answer = gramshift(
        "classify", "pans.csv", "--target", "truth.csv", "--label", "my stars", "--dry-run"
    )
    assert answer.code == 0, answer.err
    assert "To score against the labels of truth.csv: --truth 'my stars'." in answer.err


def test_truth_scores_and_never_teaches(gramshift, folder):
    gramshift(*RUN, "--output", "blind.csv")
    run = (
        "classify",
        "pans.csv",
        "knives.csv",
        "--target",
        "truth.csv",
        *TKC,
        "--truth",
        "label",
        "--json",
    )
    answer = gramshift(*run, "--output", "seen.csv")
    assert (
        "already has a 'label' column: kept as is. Predictions go to 'predicted_label'."
        in answer.err
    )
    assert "To score against" not in answer.err
    blind, seen = read_csv(folder / "blind.csv"), read_csv(folder / "seen.csv")
    for key in ("confidence", "p_negative", "p_positive"):
        assert [row[key] for row in blind] == [row[key] for row in seen]
    assert [row["label"] for row in blind] == [row["predicted_label"] for row in seen]
    right = sum(row["label"] == row["predicted_label"] for row in seen)
    scores = json.loads(answer.out)["scores"]
    assert scores["accuracy"] == pytest.approx(right / 120)
    assert sum(map(sum, scores["confusion"])) == 120
    assert 0 < scores["mcnemar_p"] <= 1
    write_csv(
        folder / "truth.csv",
        ["id", "text", "label"],
        [(row["id"], row["text"], "negative") for row in seen[:60]]
        + [(row["id"], row["text"], "") for row in seen[60:]],
    )
    answer = gramshift(*run, "--output", "lies.csv")
    assert [row["predicted_label"] for row in read_csv(folder / "lies.csv")] == [
        row["predicted_label"] for row in seen
    ]
    assert json.loads(answer.out)["scores"]["n"] == 60


def test_words_for_people_tell_the_scores(gramshift, folder):
    answer = gramshift(
        "classify",
        "pans.csv",
        "knives.csv",
        "--target",
        "truth.csv",
        *TKC,
        "--truth",
        "label",
        "-o",
        "l.csv",
    )
    assert "of 120 documents with a known label; plain " in answer.out
    assert "true \\ found" in answer.out


def test_unsure_documents_are_left_without_a_label(gramshift, folder):
    answer = gramshift(*RUN, "--output", "labels.csv", "--abstain-below", "70%", "--json")
    assert "--abstain-below 0.7" in json.loads(answer.out)["command"]
    rows = read_csv(folder / "labels.csv")
    assert [row["label"] == "" for row in rows] == [float(row["confidence"]) < 0.7 for row in rows]
    assert json.loads(answer.out)["abstained"] == sum(row["label"] == "" for row in rows) > 0


def test_corrections_are_learnt_from_and_what_changed_is_told(gramshift, folder):
    gramshift(*RUN, "--output", "labels.csv")
    before = {row["id"]: row["label"] for row in read_csv(folder / "labels.csv")}
    other = {"negative": "positive", "positive": "negative"}
    corrections = {"f3": other[before["f3"]], "f5": before["f5"], "f9": other[before["f9"]]}
    write_csv(
        folder / "corrections.csv",
        ["id", "label", "was"],
        [(one, label, before[one]) for one, label in corrections.items()],
    )
    answer = gramshift(
        *RUN,
        "--output",
        "labels.csv",
        "--force",
        "--corrections",
        "corrections.csv",
        "--save",
        "m.gramshift",
        "--json",
    )
    assert answer.code == 0, answer.err
    after = {row["id"]: row for row in read_csv(folder / "labels.csv")}
    for one, label in corrections.items():
        assert (after[one]["label"], after[one]["confidence"], after[one][f"p_{label}"]) == (
            label,
            "1.0",
            "1.0",
        )
    told = json.loads(answer.out)["corrections"]
    others = [one for one in after if one not in corrections and after[one]["label"] != before[one]]
    assert (told["given"], told["changed"], told["others_changed"]) == (3, 2, len(others))
    assert {change["id"] for change in told["changes"]} == {"f3", "f9", *others}
    clf = gs.load("m.gramshift")
    assert (clf.labeled_iter_ == 0).sum() == 123
    run = [part if part != "films.csv" else "truth.csv" for part in RUN]
    answer = gramshift(
        *run, "--output", "x.csv", "--truth", "label", "--corrections", "corrections.csv", "--json"
    )
    assert json.loads(answer.out)["scores"]["n"] == 117  # a person has labelled the others


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("nobody", "positive")], "no target document has the id 'nobody'"),
        (
            [("f1", "postive")],
            "no class is called 'postive'; the source has negative, positive;"
            " did you mean positive?",
        ),
        ([("f1", "d" * 900)], f"no class is called '{'d' * 57}...'; the source has"),
        ([("f" * 900, "positive")], f"no target document has the id '{'f' * 57}...'"),
        ([("f1", "")], "none of its 1 document has a label yet"),
        (
            [("f1", "positive"), ("f1", "negative")],
            "c.csv, line 3: the document 'f1' is corrected twice, to 'positive' and to 'negative';"
            " keep one of the two rows",
        ),
        ([(f"f{n}", "positive") for n in range(120)], "has a label for every target document"),
    ],
)
def test_corrections_that_cannot_be(gramshift, folder, rows, message):
    write_csv(folder / "c.csv", ["id", "label"], rows)
    answer = gramshift(*RUN, "--output", "labels.csv", "--corrections", "c.csv")
    assert answer.code == 2
    assert message in answer.err
    assert not (folder / "labels.csv").exists()


def test_corrections_of_several_files_are_read_one_after_the_other(gramshift, folder):
    write_csv(folder / "a.csv", ["id", "label", "drawn"], [("f1", "positive", "random")])
    write_csv(folder / "b.csv", ["id", "text", "label"], [("f2", "", "negative"), ("f3", "", "")])
    write_csv(folder / "c.csv", ["id", "label", "mark"], [("f1", "negative", ""), ("f4", "", "x")])
    both = ["--corrections", "a.csv", "--corrections", "b.csv"]
    answer = gramshift(*RUN, "--output", "labels.csv", *both, "--report", "r.html", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["corrections"]["given"] == 2
    assert " ".join(both) in found["command"]
    answer = gramshift("sample", "labels.csv", "--random", "118", "-o", "s.csv", *both, "--json")
    assert {"f1", "f2"}.isdisjoint(json.loads(answer.out)["ids"])
    answer = gramshift(*RUN, "--output", "x.csv", *both, "--corrections", "c.csv")
    assert "c.csv, line 2: the document 'f1' is corrected twice, to 'positive'" in answer.err
    answer = gramshift(*RUN, "a.csv", "--output", "x.csv", "--corrections", "b.csv")
    assert "as corrections, type --corrections a.csv" in answer.err


def test_only_the_target_needs_the_column_of_ids(gramshift, folder):
    films = read_csv(folder / "films.csv")
    write_csv(folder / "t.csv", ["nr", "text"], [(row["id"], row["text"]) for row in films])
    write_csv(folder / "more.csv", ["text"], [("a fine film",)])
    write_csv(folder / "c.csv", ["id", "label"], [("f1", "positive")])
    run = ["classify", "pans.csv", "knives.csv", "--method", "plain", "--ngrams", "3-4"]
    run += ["--id", "nr", "--unlabelled", "more.csv", "--output", "labels.csv"]
    answer = gramshift(*run, "--target", "t.csv", "--corrections", "c.csv")
    assert answer.code == 0, answer.err
    assert read_csv(folder / "labels.csv")[1]["nr"] == "f1"
    answer = gramshift(*run, "--target", "films.csv", "--force")
    assert answer.code == 2
    assert "--id nr: films.csv has no such column" in answer.err


def test_marks_and_notes_without_a_label_are_left_to_the_classifier(gramshift, folder):
    rows = [
        ("f1", "positive", "", ""),
        ("f2", "", "unclear", ""),
        ("f3", "", "unclear", "odd"),
        ("f4", "", "", "look again"),
    ]
    write_csv(folder / "c.csv", ["id", "label", "mark", "note"], rows)
    answer = gramshift(*RUN, "--output", "labels.csv", "--corrections", "c.csv", "--json")
    assert answer.code == 0, answer.err
    assert (
        "c.csv: documents without a label are left to the classifier (2 unclear, 1 with a note)"
        in answer.err
    )
    assert json.loads(answer.out)["corrections"]["given"] == 1
    assert all(row["label"] for row in read_csv(folder / "labels.csv"))


def test_a_new_label_that_is_meant_becomes_a_class(gramshift, folder):
    rows = [(f"f{number}", "mixed", "new label") for number in range(3, 9)]
    write_csv(
        folder / "c.csv",
        ["id", "label", "mark"],
        [*rows, ("f1", "mixed", ""), ("f2", "positive", "")],
    )
    files = ("--output", "labels.csv", "--report", "r.html")
    answer = gramshift(*DEFAULT, *files, "--corrections", "c.csv", "--json")
    assert answer.code == 0, answer.err
    assert "'mixed' is a new class, with 7 documents; so few teach little of it" in answer.err
    assert json.loads(answer.out)["classes"] == ["mixed", "negative", "positive"]
    found = {row["id"]: row for row in read_csv(folder / "labels.csv")}
    assert [found[f"f{number}"]["label"] for number in (1, 2, 3)] == ["mixed", "positive", "mixed"]
    assert found["f3"]["p_mixed"] == "1.0"
    assert '"new":[0]' in (folder / "r.html").read_text()


@pytest.mark.parametrize(
    ("label", "options", "message"),
    [
        (
            "postive",
            (),
            "If it is meant as a class of its own, write 'new label' into a column mark",
        ),
        (
            "mixed",
            ("--class-prior", "positive=0.5,negative=0.5"),
            "c.csv adds 'mixed'; leave --class-prior out",
        ),
    ],
)
def test_a_new_label_that_cannot_be(gramshift, folder, label, options, message):
    write_csv(
        folder / "c.csv", ["id", "label", "mark"], [("f1", label, "new label" if options else "")]
    )
    answer = gramshift(*DEFAULT, "--output", "labels.csv", "--corrections", "c.csv", *options)
    assert answer.code == 2
    assert message in answer.err


def test_the_page_has_other_columns_and_what_to_type_next(gramshift, folder):
    rows = read_csv(folder / "films.csv")
    more = [
        (row["id"], row["text"], f"Film {number}", "", "positive")
        for number, row in enumerate(rows)
    ]
    write_csv(folder / "my films.csv", ["id", "text", "title", "year", "seen"], more)
    run = [part if part != "films.csv" else "my films.csv" for part in RUN]
    answer = gramshift(*run, "--truth", "Seen", "--report", "r.html", "--abstain-below", "0.6")
    assert answer.code == 0, answer.err
    data = json.loads(
        re.search(
            r'type="application/json" id="data">(.*?)</script>', (folder / "r.html").read_text()
        )[1]
    )
    assert data["documents"][3]["more"] == [
        ["title", "Film 3"]
    ]  # what is empty or true is not shown there
    write_csv(folder / "corrections.csv", ["id", "label"], [("f1", "positive")])
    assert data["command"].endswith("--abstain-below 0.6 --force")
    answer = gramshift(*shlex.split(data["command"])[1:])
    assert answer.code == 0, answer.err
    assert "1 correction" in answer.out


def test_a_frame_of_python_has_the_columns_of_the_file(gramshift, folder):
    run = ("classify", "pans.csv", "--target", "films.csv", "--output", "labels.csv")
    assert gramshift(*run).code == 0
    rows = read_csv(folder / "labels.csv")
    source = KITCHEN.texts[:70], KITCHEN.labels[:70]
    frame = gs.TransductiveClassifier().fit(*source, target=FILMS.texts).to_frame()
    assert ["id", *frame] == list(rows[0])
    for column in ("label", "unadapted_label", "text"):
        assert [row[column] for row in rows] == frame[column].tolist()
    confidence = [float(row["confidence"]) for row in rows]
    assert confidence == pytest.approx(frame["confidence"].tolist(), abs=1e-6)


def test_standard_input_and_output(gramshift, folder, monkeypatch, expected):
    import io
    import sys

    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO((folder / "films.csv").read_bytes())))
    monkeypatch.setattr(sys, "stdin", stdin)
    answer = gramshift("classify", "pans.csv", "knives.csv", "--target", "-", *TKC, "-o", "-")
    assert answer.code == 0, answer.err
    assert (
        answer.out.splitlines()[0]
        == "id,text,label,confidence,p_negative,p_positive,plain_label,issue"
    )
    assert answer.out.count("\n") == 121
    stdin.detach()


def test_a_dry_run_checks_all_and_writes_nothing(gramshift, folder):
    before = sorted(os.listdir())
    answer = gramshift(
        *RUN,
        "--output",
        "labels.csv",
        "--report",
        "r.html",
        "--save",
        "m.gramshift",
        "--dry-run",
        "--json",
    )
    assert answer.code == 0
    assert json.loads(answer.out)["needs"]["bytes"] > 0
    assert sorted(os.listdir()) == before
    assert gramshift(*RUN, "--output", "pans.csv", "--dry-run").code == 2


def test_numbers_as_labels_stay_as_typed(gramshift, folder):
    rows = read_csv(folder / "pans.csv")
    write_csv(
        folder / "ones.csv",
        ["text", "label"],
        [(row["text"], "01" if row["label"] == "positive" else "0") for row in rows],
    )
    gramshift("classify", "ones.csv", "--target", "films.csv", *TKC, "-o", "labels.csv")
    assert {row["label"] for row in read_csv(folder / "labels.csv")} == {"01", "0"}
    lines = [
        json.dumps({"text": row["text"], "label": int(row["label"] == "positive")}) for row in rows
    ]
    (folder / "ones.jsonl").write_text("\n".join(lines))
    gramshift("classify", "ones.jsonl", "--target", "films.csv", *TKC, "-o", "labels.jsonl")
    assert {
        json.loads(line)["label"] for line in (folder / "labels.jsonl").read_text().splitlines()
    } == {0, 1}


def test_rows_without_a_label_in_a_source_are_left_out_and_it_is_said(gramshift, folder):
    with (folder / "pans.csv").open("a") as file:
        file.write("x1,no label here,\nx2,nor here,  \n")
    answer = gramshift(*RUN, "--output", "labels.csv")
    assert "pans.csv: 2 rows without a label are left out" in answer.err
    assert "120 source and 120 target documents" in answer.err


def test_the_report_holds_the_run(gramshift, folder):
    answer = gramshift(
        *RUN, "--output", "labels.csv", "--report", "report.html", "--abstain-below", "0.7"
    )
    assert answer.code == 0, answer.err
    assert "report in report.html" in answer.out
    page = (folder / "report.html").read_text()
    for words in (
        "films.csv, labelled from pans.csv, knives.csv",
        "--abstain-below 0.7",
        "Source and target look",
    ):
        assert words in page
    assert (
        "Strongest n-grams of each class" not in page
    )  # documents have coefficients there, and n-grams have none
    assert gramshift(*RUN, "--report", "report.html").err.startswith(
        "gramshift: report.html exists; choose another --report"
    )


def test_an_interrupt_during_the_report_leaves_no_labels_either(gramshift, folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(gs.TransductiveClassifier, "report", interrupted)
    assert gramshift(*RUN, "--output", "labels.csv", "--report", "report.html").code == 130
    assert not (folder / "labels.csv").exists()


def test_a_baseline_writes_labels_and_probabilities_alone(gramshift, folder):
    run = ("classify", "pans.csv", "knives.csv", "--target", "truth.csv", "--method", "tsvm")
    answer = gramshift(*run, "--truth", "label", "--output", "labels.csv", "--json")
    assert answer.code == 0, answer.err
    rows, found = read_csv(folder / "labels.csv"), json.loads(answer.out)
    clf = gs.baselines.TransductiveSVM().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    assert [row["predicted_label"] for row in rows] == clf.transduction_.tolist()
    columns = ["predicted_label", "confidence", "p_negative", "p_positive"]
    assert list(rows[0]) == ["id", "text", "label", *columns]
    assert found["scores"]["accuracy"] == np.mean(clf.transduction_ == FILMS.labels)
    assert "reference" not in found["scores"]
    blind = gramshift(*RUN, "--method", "tsvm", "--output", "blind.csv", "--json")
    assert (
        "this method cannot estimate its accuracy"
        in json.loads(blind.out)["diagnostics"]["verdict"]
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--save", "m.gramshift"), "--save m.gramshift: the baseline tsvm is not saved; leave"),
        (("--report", "r.html"), "--report does not go with the baseline tsvm; use one of plain"),
        (("--corrections", "c.csv"), "--corrections does not go with the baseline tsvm"),
    ],
)
def test_a_baseline_has_no_model_report_or_corrections(gramshift, folder, option, message):
    answer = gramshift(*RUN, "--method", "tsvm", "--output", "labels.csv", *option)
    assert answer.code == 2
    assert message in answer.err
    assert not (folder / "labels.csv").exists()


def test_the_preset_best_is_a_method(gramshift, folder):
    """--preset best, --method best and none of them are the same, with all outputs."""
    (folder / "right.csv").write_text("id,label\nf0,positive\nf1,negative\n")
    run = DEFAULT
    options = ("--corrections", "right.csv", "--report", "r.html", "--save", "m.gramshift")
    answer = gramshift(*run, *options, "--preset", "best", "--output", "labels.csv", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["method"] == "best"
    assert "--method" not in found["command"]  # it is the default
    assert len(found["history"]) == PRESETS["best"]["n_rounds"]
    y = [*KITCHEN.labels, "positive", "negative", *[None] * 118]
    domains = (
        ["pans.csv"] * 70 + ["knives.csv"] * 50 + ["films.csv"] * 2 + [""] * 118
    )  # sources are distinguished by their files
    clf = gs.TransductiveClassifier().fit(KITCHEN.texts + FILMS.texts, y, domains=domains)
    labels = ["positive", "negative", *clf.transduction_.tolist()]
    assert [row["label"] for row in read_csv(folder / "labels.csv")] == labels
    assert gs.load("m.gramshift").predict(FILMS.texts[2:]).tolist() == labels[2:]
    page = (folder / "r.html").read_text()
    assert "no text has highlights" not in page
    section = page[page.index('id="h-ngrams"') : page.index('id="h-run"')]
    for ngrams in clf.strongest_ngrams(15, overlapping=False).values():
        assert all(f'<bdi class="gram">{escape(name)}</bdi>' in section for name, _ in ngrams)
    for number, method in enumerate((("--method", "best"), ())):
        answer = gramshift(
            *run, "--corrections", "right.csv", *method, "--output", f"again{number}.csv"
        )
        assert answer.code == 0, answer.err
        assert (folder / f"again{number}.csv").read_bytes() == (folder / "labels.csv").read_bytes()


@pytest.mark.parametrize(
    ("method", "kernel"), [("best-words", "words"), ("best-characters", "presence")]
)
def test_best_on_one_of_its_kernels(gramshift, folder, method, kernel):
    answer = gramshift(*DEFAULT, "--method", method, "--output", "labels.csv", "--json")
    assert answer.code == 0, answer.err
    clf = gs.TransductiveClassifier(preset="best", kernel=kernel).fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    )
    rows = read_csv(folder / "labels.csv")
    assert [row["label"] for row in rows] == clf.transduction_.tolist()
    assert [row["unadapted_label"] for row in rows] == clf.unadapted_transduction_.tolist()
    refused = gramshift(
        *DEFAULT, "--method", method, "--kernel", "spectrum", "--output", "labels.csv"
    )
    assert f"{method} has its own, leave it out" in refused.err


def test_labels_are_compared_with_the_first_round_or_with_plain(gramshift, folder):
    run = (
        "classify",
        "pans.csv",
        "knives.csv",
        "--target",
        "truth.csv",
        "--truth",
        "label",
        "--json",
    )
    for options, name, other in (
        ((), "unadapted", "plain"),
        (TKC, "plain", "unadapted"),
    ):
        answer = gramshift(*run, *options, "--output", "l.csv", "--report", "r.html", "--force")
        assert answer.code == 0, answer.err
        found, rows = json.loads(answer.out), read_csv(folder / "l.csv")
        same = np.mean([row[f"{name}_label"] == row["predicted_label"] for row in rows])
        assert found["diagnostics"][f"agreement with {name}"]["value"] == pytest.approx(
            same, abs=1e-4
        )
        assert (
            f"match the {name} ones" in found["diagnostics"][f"agreement with {name}"]["sentence"]
        )
        assert found["scores"]["reference"] == name
        assert found["scores"]["reference_accuracy"] == np.mean(
            [row[f"{name}_label"] == row["label"] for row in rows]
        )
        assert f" right ({name} " in found["sentence"]
        page = (folder / "r.html").read_text()
        assert f'"reference":"{name}"' in page
        assert f"accuracy, {name}" in page
        assert not [
            words
            for words in (*rows[0], *found["diagnostics"], found["sentence"])
            if other in words
        ]
    assert (
        gramshift(*run, "--method", "plain", "--ngrams", "3-5", "--output", "l.csv", "--force").code
        == 0
    )
    assert not {"plain_label", "unadapted_label"} & set(read_csv(folder / "l.csv")[0])


def test_the_preset_paper_is_the_method_tkc(gramshift, folder):
    """With the lengths of n-grams and the number of documents that the paper has, as in Python."""
    answer = gramshift(*DEFAULT, "--preset", "paper", "--output", "labels.csv", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert (found["method"], found["n_added"], len(found["history"])) == ("tkc", 60, 2)
    assert found["command"].count("--method tkc") == 1
    clf = gs.TransductiveClassifier(preset="paper").fit(
        KITCHEN.texts, KITCHEN.labels, target=FILMS.texts
    )
    assert sum(clf.history_[1]["added"].values()) == 60
    rows = read_csv(folder / "labels.csv")
    assert [row["label"] for row in rows] == clf.transduction_.tolist()
    assert [float(row["p_positive"]) for row in rows] == pytest.approx(
        clf.transduction_proba_[:, 1].tolist(), abs=1e-6
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--preset", "ppaer"),
            "--preset ppaer: there are paper and best; did you mean paper?",
        ),
        (
            ("--preset", "best", "--method", "plain"),
            "--preset best and --method plain do not go together",
        ),
        (
            ("--preset", "paper", "--method", "best"),
            "--preset paper and --method best do not go together",
        ),
        (
            ("--method", "best", "--added", "5"),
            "--added goes with plain, adapted and tkc; best has its own",
        ),
        (
            ("--method", "best", "--kernel", "spectrum"),
            "--kernel goes with plain, adapted and tkc; best has its own",
        ),
    ],
)
def test_what_does_not_go_with_a_preset_is_said(gramshift, folder, options, message):
    answer = gramshift(*RUN, "--output", "labels.csv", *options)
    assert answer.code == 2
    assert message in answer.err


def test_labels_do_not_need_plain_beside_them(gramshift, folder, monkeypatch):
    """Its alpha is much smaller, and can be too small where that of the method is not."""

    def refuse_plain(*given, **more):
        raise SingularKernelError("alpha=1e-05 is too small for these documents")

    monkeypatch.setattr(diagnosis, "fit_documents", refuse_plain)
    run = [*RUN, "--output", "labels.csv", "--report", "page.html"]
    answer = gramshift(*run)
    assert answer.code == 0, answer.err
    assert (
        "could not be compared with the plain ones: alpha=1e-05 is too small for these documents."
        in answer.out
    )
    assert len(read_csv(folder / "labels.csv")) == 120
    assert (folder / "page.html").stat().st_size > 100_000
