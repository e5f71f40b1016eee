import os
import shlex
import subprocess

import pytest

from gramshift.commands.classify.hand_labels import (
    MIN_RANDOM_LABELS,
    read_corrections,
    read_truth,
)
from gramshift.commands.classify.label_columns import label_columns, renamed_in_words
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.tables.table import Table, TableError, TableStyle
from gramshift.terminal import Line, quote_word, visible
from small_tables import write_csv


def make_table(*columns, kept=None):
    return Table(
        "t.csv", list(columns), TableStyle("csv", kept=kept), parts=iter, position=lambda: (0, 0)
    )


def test_names_that_are_taken_get_a_prefix():
    table = make_table("text", "label", "predicted_label", "p_a")
    columns = label_columns(table, ["a", "b"])
    assert columns.label == "predicted_predicted_label"
    assert (columns.confidence, columns.of_class) == ("confidence", ["predicted_p_a", "p_b"])
    assert "Predictions go to 'predicted_predicted_label', 'predicted_p_a'." in renamed_in_words(
        table, columns
    )
    assert label_columns(table, ["a", "b"], filled="label").label == "label"
    assert label_columns(make_table("id", "text", "label", kept=["id"]), ["a"]).label == "label"
    assert renamed_in_words(make_table("text"), label_columns(make_table("text"), ["a"])) is None


def test_a_document_just_as_sure_as_asked_for_keeps_its_label():
    columns = label_columns(make_table("text"), ["a", "b"])
    found = columns.values(
        ["a", "b", "a", "b"], [[0.7, 0.3], [0.31, 0.69], [1 / 3, 2 / 3], []], abstain_below=0.7
    )
    assert found == {
        "label": ["a", None, None, "b"],
        "confidence": [0.7, 0.69, 0.666667, None],
        "p_a": [0.7, 0.31, 0.333333, None],
        "p_b": [0.3, 0.69, 0.666667, None],
    }


@pytest.mark.parametrize(
    ("classes", "label", "expected"),
    [([1, 2], "7", 7), ([1.0, 2.0], "3.0", 3.0), (["1", "2"], "7", "7")],
)
def test_a_new_label_has_the_type_of_the_others(tmp_path, classes, label, expected):
    write_csv(
        tmp_path / "c.csv",
        ["id", "label", "mark"],
        [("a", label, "New label"), ("b", classes[0], "")],
    )
    found = read_corrections([str(tmp_path / "c.csv")], ids=["a", "b"], classes=classes)
    assert found.labels == {"a": expected, "b": classes[0]}
    assert type(found.labels["a"]) is type(classes[0])
    assert found.new == {expected: 1}


@pytest.mark.parametrize(
    ("classes", "label"),
    [([1, 2], "many"), ([1, 2], "07"), ([False, True], "maybe"), ([1, 2], "9" * 900)],
)
def test_a_new_label_of_another_type_is_refused(tmp_path, classes, label):
    write_csv(tmp_path / "c.csv", ["id", "label", "mark"], [("a", label, "new label")])
    with pytest.raises(TableError, match="a new one must be of that type"):
        read_corrections([str(tmp_path / "c.csv")], ids=["a"], classes=classes)


def corrections_of(folder, rows, columns=("id", "label", "mark", "drawn")):
    """Read a file of these rows, for documents 0 to 99 of the classes a and b."""
    write_csv(folder / "c.csv", columns, rows)
    return read_corrections(
        [str(folder / "c.csv")], ids=[str(number) for number in range(100)], classes=["a", "b"]
    )


def test_labels_of_a_random_sample_are_told_apart(tmp_path):
    sample = [(number, "ab"[number % 2], "", "random") for number in range(12)]
    others = [(20, "a", "", "doubtful"), (21, "b", "", "Chosen"), (22, "a", "", "")]
    skipped = [(30, "", "unclear", "random"), (31, "", "", "random"), (32, "b", "", " Random ")]
    found = corrections_of(tmp_path, sample + others + skipped)
    assert found.random == {*map(str, range(12)), "32"}
    assert len(found.labels) == 16
    assert found.skipped == {"unclear": 1, "not filled in": 1}
    assert (found.drawn["20"], found.drawn["21"], found.drawn.get("22")) == (
        "doubtful",
        "chosen",
        None,
    )
    told = found.in_words("c.csv")[0]
    assert "13 labels of documents drawn at random" in told
    assert "the other 3 are corrections" in told
    assert "other" not in corrections_of(tmp_path, sample).in_words("c.csv")[0]


def test_a_random_sample_with_a_new_class_measures_nothing(tmp_path):
    """With a class that the source does not have, all labels are corrections."""
    sample = [(number, "ab"[number % 2], "", "random") for number in range(12)]
    found = corrections_of(tmp_path, [*sample, (32, "c", "new label", "random")])
    assert (found.random, found.new, len(found.labels)) == (set(), {"c": 1}, 13)
    assert (
        "13 labels of documents drawn at random, some of them of a new class: used as corrections"
        in found.in_words("c.csv")[0]
    )
    chosen = corrections_of(tmp_path, [*sample, (32, "c", "new label", "chosen")])
    assert (len(chosen.random), chosen.new) == (12, {"c": 1})


def test_a_document_in_two_samples_is_in_the_random_one(tmp_path):
    sample = [(number, "a", "", "random") for number in range(10)]
    both = [(number, "a", "", "doubtful") for number in (0, 9)]
    assert len(corrections_of(tmp_path, sample + both).random) == 10
    assert len(corrections_of(tmp_path, both + sample).random) == 10


def test_few_labels_of_a_random_sample_are_corrections(tmp_path):
    rows = [(number, "a", "", "random") for number in range(MIN_RANDOM_LABELS)]
    assert len(corrections_of(tmp_path, rows).random) == MIN_RANDOM_LABELS
    found = corrections_of(tmp_path, [*rows[:-1], (50, "", "unclear", "random"), (51, "b", "", "")])
    assert found.random == set()
    assert len(found.labels) == MIN_RANDOM_LABELS
    told = " ".join(found.in_words("c.csv"))
    assert f"only {MIN_RANDOM_LABELS - 1} labels" in told
    assert "label more of them" in told
    assert list(found.drawn.values()) == ["random"] * (
        MIN_RANDOM_LABELS - 1
    )  # they count once there are more


def test_a_file_that_does_not_say_how_it_was_drawn_is_corrections(tmp_path):
    found = corrections_of(tmp_path, [(number, "a") for number in range(20)], ("id", "label"))
    assert (len(found.labels), found.random, found.in_words("c.csv")) == (20, set(), [])


@pytest.mark.parametrize("label", ["a", ""])
def test_another_way_to_draw_is_refused(tmp_path, label):
    with pytest.raises(
        TableError,
        match=r"c\.csv, line 3: .*'rondom'.* random, doubtful, chosen or empty.*mean random",
    ):
        corrections_of(tmp_path, [(1, "a", "", "random"), (2, label, "", "rondom")])
    assert read_truth(str(tmp_path / "c.csv"), ids=["1", "2"])[0] == "a"  # which does not ask


def test_texts_of_one_column_of_several_are_known_again(tmp_path):
    """A sample may contain one of the columns; other texts are refused."""
    texts = ["a title\nand its body", "another title\nand more"]
    write_csv(
        tmp_path / "t.csv",
        ["id", "text", "label"],
        [("a", "and its  body", "x"), ("b", "and more", "y")],
    )
    assert read_truth(str(tmp_path / "t.csv"), ids=["a", "b"], texts=texts) == ["x", "y"]
    with pytest.raises(
        TableError,
        match="its ids seem to be others: give the same --id and --text in both commands",
    ):
        read_truth(str(tmp_path / "t.csv"), ids=["b", "a"], texts=texts)


def test_a_run_is_written_as_a_command_that_a_shell_takes():
    options = ClassifyOptions(
        source=["kitchen.csv", "it's; rm -rf.csv"],
        target="my films.csv",
        report="r.html",
        text="-t",
        jobs=2,
        dry_run=True,
    )
    line = options.to_command(corrections=["corrections.csv"], force=True)
    assert "--target 'my films.csv'" in line
    assert shlex.split(line) == [
        *("gramshift", "classify", "kitchen.csv", "it's; rm -rf.csv", "--target", "my films.csv"),
        *(
            "--report",
            "r.html",
            "--text=-t",
            "--corrections",
            "corrections.csv",
            "--jobs",
            "2",
            "--force",
        ),
    ]
    for word in ("$HOME", "`id`", '"', "", "*", "~", "naïve 😀"):
        assert shlex.split(quote_word(word)) == [word]


@pytest.mark.parametrize(
    "word",
    [
        "a\nb",
        "my\u00a0results",
        "映画\u3000評.csv",
        "it's\ta\\b",
        "caf\udce9",
        "\u202egpj",
        "\U000e0001x",
    ],
)
def test_names_that_a_terminal_would_show_otherwise_are_escaped(word):
    """A no-break blank shown as a blank would name another file."""
    quoted = quote_word(word)
    assert visible(quoted) == quoted
    typed = ["bash", "-c", f"printf %s {quoted}"]
    shown = subprocess.run(typed, capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout
    assert shown == os.fsencode(word)
    line = f"gramshift classify --target {quoted} --output labels.csv"
    assert Line(line, is_command=True).plain() == line
