"""Problems in the data as the command tells them: a column, JSON, a line, the report."""

import csv
import json

import pytest

import gramshift as gs
from small_demo import load_demo
from small_tables import write_csv

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def files(folder):
    """A target with an empty text and copies; all that is right has no issue."""
    films = [*FILMS.texts[:60], "", KITCHEN.texts[4].upper(), FILMS.texts[7]]
    write_csv(
        folder / "target.csv", ["id", "text"], [(f"t{row}", text) for row, text in enumerate(films)]
    )
    return folder


@pytest.mark.parametrize("method", ["best", "plain"])
def test_a_column_has_what_is_wrong_with_a_document(gramshift, files, method):
    answer = gramshift(
        "classify", "pans.csv", "--target", "target.csv", "-o", "out.csv", "--method", method
    )
    assert answer.code == 0, answer.err
    rows = read(files / "out.csv")
    assert list(rows[0])[-1] == "issue"
    issues = {row["id"]: row["issue"] for row in rows if row["issue"]}
    assert issues["t60"] == "empty text"
    assert issues["t61"] == "copy of pans.csv 4"
    assert issues["t62"] == "copy of target.csv t7"
    assert len(issues) <= 5
    assert "Problems in the data: " in answer.out
    assert "2 copies, 1 empty text" in answer.out


def test_json_and_the_report_name_documents_as_the_user_does(gramshift, files):
    answer = gramshift(
        "classify", "pans.csv", "--target", "target.csv", "--report", "r.html", "--json"
    )
    assert answer.code == 0, answer.err
    issues = json.loads(answer.out)["issues"]
    assert issues["counts"]["copy"] == 2
    assert {
        one["document"]: one["about"] for one in issues["documents"] if one["issue"] == "copy"
    } == {
        "target.csv t61": "copy of pans.csv 4",
        "target.csv t62": "copy of target.csv t7",
    }
    page = (files / "r.html").read_text(encoding="utf-8")
    assert "Problems in the data" in page
    assert "<bdi>target.csv t61</bdi>" in page


def test_rows_of_a_file_with_gaps_that_had_a_label_have_their_issues_too(gramshift, folder):
    texts, labels = [*KITCHEN.texts[:40], KITCHEN.texts[3], *FILMS.texts[:20], ""], KITCHEN.labels
    given = [*labels[:40], labels[3], *[""] * 20, ""]
    write_csv(folder / "gaps.csv", ["text", "label"], zip(texts, given, strict=True))
    answer = gramshift("classify", "gaps.csv", "-o", "out.csv")
    assert answer.code == 0, answer.err
    issues = {row: one["issue"] for row, one in enumerate(read(folder / "out.csv")) if one["issue"]}
    assert issues[40] == "copy of gaps.csv 4"
    assert issues[61] == "empty text"


def test_labels_that_a_person_has_corrected_are_not_doubted(gramshift, files):
    corrected = [(f"t{row}", label) for row, label in enumerate(FILMS.labels[:30])]
    write_csv(files / "fixed.csv", ["id", "label"], corrected)
    command = [
        "classify",
        "pans.csv",
        "--target",
        "target.csv",
        "--corrections",
        "fixed.csv",
        "-o",
        "out.csv",
    ]
    answer = gramshift(*command)
    assert answer.code == 0, answer.err
    assert not any("label doubtful" in row["issue"] for row in read(files / "out.csv"))


def test_a_column_of_that_name_stays_as_it_is(gramshift, folder):
    write_csv(
        folder / "target.csv", ["text", "issue"], [(text, "mine") for text in FILMS.texts[:30]]
    )
    gramshift("classify", "pans.csv", "--target", "target.csv", "-o", "out.csv")
    rows = read(folder / "out.csv")
    assert {row["issue"] for row in rows} == {"mine"}
    assert "predicted_issue" in rows[0]


def test_explain_names_documents_by_file_and_id(gramshift, files):
    command = [
        "classify",
        "pans.csv",
        "--target",
        "target.csv",
        "--method",
        "plain",
        "--save",
        "model",
    ]
    assert gramshift(*command).code == 0
    shown = gramshift("explain", "--model", "model", KITCHEN.texts[4]).out
    _, _, documents = shown.partition("most influential training documents:\n")
    names = [line.split("  ")[2].partition(",")[0] for line in documents.splitlines()]
    assert len(names) == 5
    assert all(name.startswith(("pans.csv ", "target.csv t")) for name in names)
    fit = gs.load("model").result_
    assert fit.origins[4] == ("pans.csv", "4")
    assert fit.origins[70 + 61] == ("target.csv", "t61")
