"""gramshift compare: from files to a folder of results."""

import csv
import gzip
import json
import shutil

import pytest

from conftest import posix
from small_demo import load_demo
from small_tables import write_csv


@pytest.fixture
def labelled(folder):
    """Both domains in one file too."""
    rows = [
        (text, label, name)
        for name in ("kitchen", "films")
        for text, label in zip(*(p[:50] for p in load_demo(name)), strict=True)
    ]
    write_csv(folder / "all.csv", ["text", "label", "kind"], rows)
    return folder


SMALL = ("--methods", "plain,tfidf")
PAIR = ("compare", "pans.csv", "knives.csv", "--target", "truth.csv", *SMALL)


def test_source_and_target(gramshift, labelled):
    write_csv(
        labelled / "knives.csv",
        ["id", "text", "label"],
        [("1", "a sharp knife", "positive"), ("2", "blunt", "negative")],
    )
    answer = gramshift(*PAIR, "--output", "found")
    assert answer.code == 0
    assert "tf-idf + logistic regression" in answer.out
    assert "minus plain" in answer.out
    assert "Wilson" in answer.out
    assert "2 results; found has comparison.md, comparison.csv, " in answer.err
    assert "found has" not in answer.out  # which may go to a file
    told = json.loads((labelled / "found" / "comparison.json").read_text())
    assert [row["n"] for row in told["rows"]] == [120, 120]
    assert f"{100 * told['summary'][1]['accuracy']:.1f}" in answer.out


def test_classes_of_odd_names_in_tables(gramshift, labelled):
    """Python's own writer does not quote a lone carriage return."""
    rows = [(text, ("a\rb", "=c,d")[text > "m"]) for text in load_demo("kitchen").texts[:60]]
    for name, part in (("source.jsonl", rows[:40]), ("target.jsonl", rows[40:])):
        lines = [json.dumps({"text": text, "label": label}) + "\n" for text, label in part]
        (labelled / name).write_text("".join(lines))
    given = ("compare", "source.jsonl", "--target", "target.jsonl", *SMALL, "--no-plot")
    assert gramshift(*given, "--output", "found").code == 0
    with open(labelled / "found" / "comparison.csv", newline="") as file:
        table = list(csv.reader(file, strict=True))
    assert len({len(row) for row in table}) == 1
    assert len(table) == 3
    assert "recall a\rb" in table[0]
    with gzip.open(labelled / "found" / "answers.csv.gz", "rt", newline="") as file:
        answers = list(csv.DictReader(file, strict=True))
    assert [one["true"] for one in answers] == [label for _, label in rows[40:]] * 2


def test_methods_without_adaptation(gramshift, labelled):
    answer = gramshift(*PAIR[:-1], "plain,tsvm", "--source-only", "--no-plot")
    assert answer.code == 0
    assert "Source only: each method's own classifier without adaptation" in answer.out


def test_every_pair_of_a_column_of_domains(gramshift, labelled):
    answer = gramshift(
        "compare",
        "--data",
        "all.csv",
        "--domain",
        "kind",
        *SMALL,
        "--repeat",
        "2",
        "--json",
        "--no-plot",
    )
    assert answer.code == 0
    told = json.loads(answer.out)
    assert {row["setting"] for row in told["rows"]} == {"kitchen > films", "films > kitchen"}
    assert {row["repeat"] for row in told["rows"]} == {0, 1}
    assert not (labelled / "comparison" / "comparison.png").exists()
    with (labelled / "comparison" / "comparison.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 8


def test_a_table_of_the_user_is_not_replaced_unasked(gramshift, labelled):
    path = labelled / "comparison" / "comparison.csv"
    path.parent.mkdir()
    path.write_text("mine")
    refused = gramshift("compare", "--data", "all.csv", "--domain", "kind", *SMALL, "--no-plot")
    assert refused.code == 2
    assert "comparison.csv exists; --force replaces it" in refused.err
    assert path.read_text() == "mine"


def test_a_folder_of_results_is_not_replaced_unasked(gramshift, labelled):
    once = ("compare", "--data", "all.csv", "--domain", "kind", *SMALL, "--no-plot")
    assert gramshift(*once).code == 0
    before = (labelled / "comparison" / "comparison.json").read_bytes()
    refused = gramshift(*once)
    assert refused.code == 2
    assert "--force replaces them" in refused.err
    assert (labelled / "comparison" / "comparison.json").read_bytes() == before
    assert gramshift(*once, "--continue").code == 0
    resumed = json.loads((labelled / "comparison" / "comparison.json").read_text())
    assert resumed == json.loads(before) | {"reused": 4}  # seconds too: nothing ran again
    assert gramshift(*once, "--force").code == 0
    assert (
        json.loads((labelled / "comparison" / "comparison.json").read_text())["rows"][0]["seconds"]
        != resumed["rows"][0]["seconds"]
    )


@posix
def test_files_of_a_user_are_not_deleted(gramshift, labelled):
    once = ("compare", "pans.csv", "--target", "truth.csv", *SMALL, "--no-plot", "--output", "new")
    for folder in ("new", "new/compared", "precious"):
        (labelled / folder).mkdir()
        (labelled / folder / "mine.json").write_text("{}")
    assert gramshift(*once).code == 0
    shutil.rmtree(labelled / "new" / "compared")
    (labelled / "new" / "compared").symlink_to("../precious")
    refused = gramshift(*once, "--force")
    assert refused.code == 2
    assert "new/compared is a link" in refused.err
    assert [path.name for path in (labelled / "precious").iterdir()] == ["mine.json"]


def test_a_refused_command_loses_nothing(gramshift, labelled):
    once = ("compare", "--data", "all.csv", "--domain", "kind", *SMALL, "--no-plot")
    assert gramshift(*once).code == 0
    kept = sorted((labelled / "comparison" / "compared").iterdir())
    assert len(kept) == 4
    wrong = gramshift(
        "compare", "--data", "all.csv", "--domain", "kind", "--reference", "best", *SMALL, "--force"
    )
    assert wrong.code == 2
    other = gramshift("compare", "pans.csv", "--target", "truth.csv", *SMALL, "--continue")
    assert other.code == 2
    assert "results of another comparison" in other.err
    alone = gramshift(*once, "--source-only", "--continue")
    assert (alone.code, "results of another comparison" in alone.err) == (2, True)
    (labelled / "comparison" / "comparison.json").unlink()  # as if it had been stopped
    stopped = gramshift(*once)
    assert stopped.code == 2
    assert "--continue resumes it" in stopped.err
    assert sorted((labelled / "comparison" / "compared").iterdir()) == kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a source and a --target"),
        (("pans.csv",), "name a source and a --target"),
        (("--data", "all.csv"), "name the column of the domain"),
        (("--data", "all.csv", "--domain", "kinds"), "all.csv has no such column"),
        (
            ("--data", "all.csv", "--domain", "kind", "--target", "truth.csv"),
            "leave out the sources, --target and --truth",
        ),
        (
            ("pans.csv", "--target", "truth.csv", "--domain", "kind"),
            "--domain kind goes with --data",
        ),
        (("pans.csv", "--target", "pans.csv"), "--target pans.csv is also a source"),
        (("pans.csv", "pans.csv", "--target", "truth.csv"), "the source pans.csv is named twice"),
        (("pans.csv", "--target", "films.csv"), "none of them a usual name for labels"),
        (("pans.csv", "--target", "truth.csv", "--methods", "bets"), "method 'bets' is not known"),
        (
            ("pans.csv", "--target", "truth.csv", "--reference", "sfa"),
            "--reference sfa is not among --methods",
        ),
        (("pans.csv", "--target", "truth.csv", "--repeat", "-1"), "--repeat -1: give 0 or more"),
        (("pans.csv", "--target", "truth.csv", "--jobs", "0"), "--jobs 0"),
        (
            ("pans.csv", "--target", "truth.csv", "--output", "all.csv"),
            "all.csv is a file; give a folder",
        ),
        (
            ("pans.csv", "--target", "truth.csv", "--output", "all.csv/x"),
            "all.csv is a file; give a folder",
        ),
        (("pans.csv", "--target", "gaps.csv"), "gaps.csv: 1 of 2 rows have no label"),
    ],
)
def test_mistakes_are_one_line_before_any_work(gramshift, labelled, arguments, message):
    write_csv(labelled / "gaps.csv", ["text", "label"], [("good", "positive"), ("bad", "")])
    answer = gramshift("compare", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.strip().count("\n") == 0
    assert not (labelled / "comparison").exists()
