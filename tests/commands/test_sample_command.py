"""gramshift sample: from labels to a file that a person fills in, and back."""

import json

import pytest

from gramshift.commands.classify.hand_labels import read_corrections
from gramshift.tables.opening import open_table
from small_demo import load_demo
from small_tables import read_csv, write_csv

FILMS = load_demo("films")
TRUTH = {f"f{number}": label for number, label in enumerate(FILMS.labels)}
RUN = (
    "classify",
    "pans.csv",
    "knives.csv",
    "--target",
    "films.csv",
    "--method",
    "plain",
    "--ngrams",
    "3-4",
)


def fill(folder, name, n=None):
    """Fill in the right labels of the first documents, as a person would."""
    rows = read_csv(folder / name)
    for row in rows[:n]:
        row["label"] = TRUTH[row["id"]]
    write_csv(folder / name, list(rows[0]), [list(row.values()) for row in rows])
    return {row["id"]: row["label"] for row in rows[:n]}


def test_doubtful_documents_are_drawn_and_learnt_from(gramshift, folder):
    assert gramshift(*RUN, "--output", "labels.csv").code == 0
    answer = gramshift("sample", "labels.csv", "--doubtful", "12", "--output", "to-label.csv")
    assert answer.code == 0, answer.err
    assert (
        "Result: 12 of 120 documents to label, doubtful ones that are unlike each other"
        in answer.out
    )
    assert "--corrections to-label.csv" in answer.out
    rows, labels = (
        read_csv(folder / "to-label.csv"),
        {row["id"]: row for row in read_csv(folder / "labels.csv")},
    )
    assert list(rows[0]) == ["id", "text", "predicted_label", "confidence", "label", "drawn"]
    assert {row["drawn"] for row in rows} == {"doubtful"}
    assert len({row["id"] for row in rows}) == 12
    for row in rows:
        found = labels[row["id"]]
        assert (row["text"], row["predicted_label"], row["label"]) == (
            found["text"],
            found["label"],
            "",
        )
        assert float(row["confidence"]) == pytest.approx(float(found["confidence"]))
    answer = gramshift(*RUN, "--output", "again.csv", "--corrections", "to-label.csv")
    assert answer.code == 2
    assert (
        "to-label.csv: none of its 12 documents has a label yet; fill in the column label"
        in answer.err
    )
    known = fill(folder, "to-label.csv", n=7)  # not to its end
    answer = gramshift(*RUN, "--output", "again.csv", "--corrections", "to-label.csv", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["corrections"]["given"] == 7
    again = {row["id"]: row["label"] for row in read_csv(folder / "again.csv")}
    assert {one: again[one] for one in known} == known


def test_random_documents_score_the_labels(gramshift, folder):
    assert gramshift(*RUN, "--output", "labels.csv").code == 0
    answer = gramshift(
        "sample",
        "labels.csv",
        "--random",
        "30",
        "--seed",
        "5",
        "--output",
        "to-score.csv",
        "--json",
    )
    drawn = json.loads(answer.out)
    assert (drawn["n"], drawn["how"], len(set(drawn["ids"]))) == (30, "random", 30)
    known = fill(folder, "to-score.csv")
    answer = gramshift(*RUN, "--output", "again.csv", "--truth", "to-score.csv", "--json")
    assert answer.code == 0, answer.err
    scores = json.loads(answer.out)["scores"]
    labels = {row["id"]: row["label"] for row in read_csv(folder / "labels.csv")}
    assert scores["n"] == 30
    assert scores["accuracy"] == pytest.approx(
        sum(labels[one] == label for one, label in known.items()) / 30
    )
    assert (folder / "again.csv").read_bytes() == (folder / "labels.csv").read_bytes(), (
        "true labels teach nothing"
    )


def test_random_documents_need_no_labels(gramshift, folder):
    answer = gramshift("sample", "films.csv", "--random", "5", "--output", "-")
    assert answer.out.splitlines()[0] == "id,text,predicted_label,confidence,label,drawn"
    assert answer.out.count("\n") == 6
    assert answer.err.startswith("Result: 5 of 120 documents")
    assert "Next" not in answer.err, "nothing was written to a file"


def test_a_sample_says_what_it_leaves_out(gramshift, folder):
    write_csv(folder / "t.csv", ["id", "text"], [*((n, f"text {n}") for n in range(9)), (9, " ")])
    write_csv(folder / "c.csv", ["id", "label"], [("1", "a"), ("2", "b")])
    run = ("sample", "t.csv", "--random", "5", "--corrections", "c.csv", "--output", "s.csv")
    found = gramshift(*run).out
    assert "5 of 7 documents to label (1 empty text, 2 labelled documents left out)" in found


def test_a_sample_comes_back_with_how_it_was_drawn(gramshift, folder):
    rows = [
        (*row.values(), "by the editor") for row in read_csv(folder / "films.csv")
    ]  # no business of ours
    write_csv(folder / "films.csv", ["id", "text", "drawn"], rows)
    answer = gramshift("sample", "films.csv", "--random", "30", "--output", "to-label.csv")
    assert answer.code == 0, answer.err
    assert "--corrections to-label.csv" in answer.out
    known = fill(folder, "to-label.csv", n=20)
    ids, classes = list(TRUTH), ["negative", "positive"]
    found = read_corrections([str(folder / "to-label.csv")], ids=ids, classes=classes)
    assert found.labels == known
    assert found.random == set(known)
    answer = gramshift(
        *RUN, "--output", "labels.csv", "--corrections", "to-label.csv", "--report", "r.html"
    )
    assert answer.code == 0, answer.err
    assert "to-label.csv: 20 labels of documents drawn at random" in answer.err.replace(
        "\n    ", " "
    )
    assert (folder / "r.html").read_text().count(
        '"drawn":"random"'
    ) == 20  # the next download has them, too
    answer = gramshift(*RUN, "--output", "again.csv", "--truth", "to-label.csv", "--json")
    assert json.loads(answer.out)["scores"]["n"] == 20
    assert "drawn at random set" not in answer.err


def test_the_label_that_was_found_last_is_shown(gramshift, folder):
    rows = [(f"f{n}", f"text {n}", "old", "new", 0.5 + n / 100) for n in range(20)]
    write_csv(folder / "twice.csv", ["id", "text", "label", "predicted_label", "confidence"], rows)
    gramshift("sample", "twice.csv", "--doubtful", "3", "--output", "few.csv")
    assert {row["predicted_label"] for row in read_csv(folder / "few.csv")} == {"new"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("films.csv", "-o", "x.csv"),
            "films.csv has no column confidence, which shows the doubtful documents",
        ),
        (
            ("films.csv", "--random", "500", "-o", "x.csv"),
            "--random 500: give a number from 1 to 120",
        ),
        (("films.csv", "--random", "5", "--doubtful", "5", "-o", "x.csv"), "draw two samples"),
        (("films.csv", "--random", "5", "-o", "x.json"), "give a name that ends in .csv"),
        (
            ("films.csv", "--random", "5", "--seed", "-1", "-o", "x.csv"),
            "--seed -1: give 0 or more",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(gramshift, folder, options, message):
    answer = gramshift("sample", *options)
    assert answer.code == 2
    assert message in answer.err
    assert not (folder / "x.csv").exists()


def test_truth_in_a_file_names_documents_that_there_are(gramshift, folder):
    (folder / "odd.csv").write_text("id,label\nnobody,positive\n")
    answer = gramshift(*RUN, "--output", "x.csv", "--truth", "odd.csv")
    assert answer.code == 2
    assert "odd.csv, line 2: no target document has the id 'nobody'" in answer.err
    (folder / "odd.csv").write_text("id,label\nf1,\n")
    assert (
        "no document has a label yet"
        in gramshift(*RUN, "--output", "x.csv", "--truth", "odd.csv").err
    )


def turned(folder):
    """Write the films with unusual names of columns, and with numbers as ids."""
    rows = read_csv(folder / "films.csv")
    write_csv(
        folder / "odd.csv",
        ["Nr", "Bemerkung"],
        [[len(rows) - place, row["text"]] for place, row in enumerate(rows)],
    )
    return {str(len(rows) - place): TRUTH[row["id"]] for place, row in enumerate(rows)}


def test_the_next_command_reads_the_output_as_the_run_did(gramshift, folder):
    truth = turned(folder)
    run = (
        "classify",
        "pans.csv",
        "knives.csv",
        "--target",
        "odd.csv",
        "--method",
        "plain",
        "--ngrams",
        "3-4",
    )
    run = (*run, "--text", "text|Review|Bemerkung", "--id", "Nr")
    for name in ("pans.csv", "knives.csv"):
        rows = read_csv(folder / name)
        write_csv(
            folder / name,
            [*rows[0], "Nr"],
            [[*row.values(), place] for place, row in enumerate(rows)],
        )
    answer = gramshift(*run, "--output", "labels.csv")
    assert answer.code == 0, answer.err
    found = next(line for line in answer.out.splitlines() if "gramshift sample" in line).split()
    assert found[found.index("--id") + 1] == "Nr"
    assert found[found.index("--text") + 1] == "Bemerkung"
    assert gramshift(*found[1:]).code == 0
    drawn = read_csv(folder / "to-label.csv")
    write_csv(
        folder / "to-label.csv",
        ["id", "text", "label"],
        [[row["id"], row["text"], truth[row["id"]]] for row in drawn],
    )
    answer = gramshift(*run, "--output", "again.csv", "--truth", "to-label.csv", "--json")
    labels = {row["Nr"]: row["label"] for row in read_csv(folder / "labels.csv")}
    right = sum(labels[row["id"]] == truth[row["id"]] for row in drawn) / len(drawn)
    assert json.loads(answer.out)["scores"]["accuracy"] == pytest.approx(right)


@pytest.mark.parametrize("option", ["--truth", "--corrections"])
def test_texts_that_are_not_those_of_the_ids_are_refused(gramshift, folder, option):
    rows = read_csv(folder / "films.csv")
    lines = [
        [row["id"], other["text"], TRUTH[row["id"]]]
        for row, other in zip(rows[:20], rows[20:40], strict=True)
    ]
    write_csv(folder / "other.csv", ["id", "text", "label"], lines)
    answer = gramshift(*RUN, "--output", "again.csv", option, "other.csv")
    assert answer.code == 2
    assert (
        "other.csv: 20 of its texts are not those of the target, such as that of the id 'f0'"
        in answer.err
    )


def test_labels_that_are_not_scored_are_named(gramshift, folder):
    lines = [
        [f"f{number}", TRUTH[f"f{number}"].title() if number < 4 else TRUTH[f"f{number}"]]
        for number in range(20)
    ]
    write_csv(folder / "truth.csv", ["id", "label"], lines)
    answer = gramshift(*RUN, "--output", "labels.csv", "--truth", "truth.csv")
    assert (
        "is called 'Positive', so it always counts as wrong; did you mean positive?" in answer.out
    )
    write_csv(folder / "right.csv", ["id", "label"], lines[4:])
    answer = gramshift(
        *RUN, "--output", "again.csv", "--truth", "right.csv", "--corrections", "right.csv"
    )
    assert "16 documents with a true label given as corrections, and so not scored" in answer.out
    answer = gramshift(*RUN, "--output", "more.csv", "--truth", "nowhere.csv")
    assert answer.code == 2
    assert (
        "--truth nowhere.csv: there is no such file, and films.csv has no such column" in answer.err
    )


def test_documents_that_were_reviewed_are_not_drawn_again(gramshift, folder):
    assert gramshift(*RUN, "--output", "labels.csv").code == 0
    rows = [(f"f{number}", "positive", "") for number in range(100)] + [
        ("f100", "", "unclear"),
        ("f101", "", ""),
    ]
    write_csv(folder / "seen.csv", ["id", "label", "mark"], rows)
    answer = gramshift(
        "sample",
        "labels.csv",
        "--random",
        "19",
        "--output",
        "s.csv",
        "--corrections",
        "seen.csv",
        "--json",
    )
    assert answer.code == 0, answer.err
    assert {row["id"] for row in read_csv(folder / "s.csv")} == {
        f"f{number}" for number in range(101, 120)
    }
    answer = gramshift(
        "sample", "labels.csv", "--random", "20", "--output", "t.csv", "--corrections", "seen.csv"
    )
    assert answer.code == 2
    assert "--random 20: give a number from 1 to 19" in answer.err
    write_csv(folder / "seen.csv", ["id", "label"], [("unknown", "positive")])
    answer = gramshift(
        "sample", "labels.csv", "--random", "9", "--output", "t.csv", "--corrections", "seen.csv"
    )
    assert answer.code == 2
    assert "no target document has the id 'unknown'" in answer.err
    answer = gramshift(
        "sample", "labels.csv", "--output", "seen.csv", "--corrections", "seen.csv", "--force"
    )
    assert answer.code == 2, "the corrections would be lost"


def test_a_sample_is_read_as_it_was_written(gramshift, folder):
    """A lone carriage return ends a row unless it is in quotes."""
    texts = {"one\rid": "good\rbut short", "two": 'he said "no",\r\nand left', "three": "plain"}
    rows = [{"id": one, "text": text} for one, text in texts.items()]
    (folder / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = gramshift("sample", "odd.jsonl", "--random", "3", "--output", "few.csv")
    assert answer.code == 0, answer.err
    with open_table(str(folder / "few.csv")) as table:
        found = {row["id"]: row["text"] for part in table.parts(99) for row in part.rows}
    assert found == texts
