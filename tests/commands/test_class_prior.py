"""Class proportions given by ``classify --class-prior`` or by labels of ``--corrections``."""

import json
import re
import shlex

import pytest

import gramshift as gs
from gramshift.commands.classify.options import match_class_prior, parse_class_prior
from gramshift.errors import InputError
from small_demo import load_demo
from small_tables import read_csv, write_csv

RUN = ("classify", "pans.csv", "knives.csv", "--target", "films.csv", "--output", "labels.csv")
CLASSES = "; the classes are negative, positive: give a proportion for each of these, or 0"


@pytest.mark.parametrize(
    "value",
    [
        "positive=60%,negative=40%",
        " positive = 60 % , negative = 40% ",
        "positive=60,negative=40",
        "positive=.6,negative=0.4",
    ],
)
def test_proportions_are_read_as_people_write_them(value):
    found = parse_class_prior(value)
    assert list(found) == ["positive", "negative"]
    assert found["positive"] / sum(found.values()) == pytest.approx(0.6)


def test_a_name_may_have_an_equals_sign():
    assert parse_class_prior("a=b=1,c=0") == {"a=b": 1.0, "c": 0.0}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "half",
            "'half' is not of the form class=proportion; give source, or a proportion for every"
            " class, such as positive=60%",
        ),
        ("estimated", "'estimated' is not of the form class=proportion; give source, or"),
        ("=1,b=1", "'=1' is not of the form class=proportion"),
        ("a=1,", "'' is not of the form class=proportion"),
        ("a=1,a=2", "'a' is there twice; give source, or"),
        ("a=1,b=many", "'many' of 'b' is not a number; give source, or"),
        ("a=1%,b=%", "'%' of 'b' is not a number; give source, or"),
        ("a=1,b=-1", "-1 of 'b' is not a proportion from 0 on; give source, or"),
        ("a=1,b=nan", "nan of 'b' is not a proportion from 0 on"),
        ("a=1,b=inf", "inf of 'b' is not a proportion from 0 on"),
        ("a=60%,b=0.4", "some numbers have a % and some have none; give source, or"),
        ("a=0,b=0%", "some numbers have a % and some have none"),
        ("a=0%,b=0%", "every class has 0; give at least one class a proportion above 0"),
    ],
)
def test_what_cannot_be_proportions_is_an_error(value, message):
    with pytest.raises(InputError, match=re.escape(f"--class-prior {value}: {message}")):
        parse_class_prior(value)


def test_proportions_are_those_of_the_labels_as_the_source_has_them():
    assert match_class_prior(None, [1, 2]) == "source"
    assert match_class_prior({"2": 0.5, "1": 1.5}, [1, 2, 1]) == {1: 1.5, 2: 0.5}


@pytest.mark.parametrize(
    ("proportions", "message"),
    [
        (
            {"postive": 1.0, "negative": 1.0},
            f"no class of the source is called 'postive'{CLASSES}; did you mean positive?",
        ),
        ({"good": 1.0, "bad": 1.0}, f"no class of the source is called 'good'{CLASSES}"),
        ({"positive": 1.0}, f"it has nothing for 'negative'{CLASSES}"),
    ],
)
def test_proportions_of_other_classes_are_an_error(proportions, message):
    with pytest.raises(InputError, match=re.escape(f"--class-prior: {message}")):
        match_class_prior(proportions, ["positive", "negative"])


def test_many_classes_are_not_all_named():
    with pytest.raises(InputError, match=r"are 0, 1, 10, .* 26 and 10 more: give"):
        match_class_prior({"x": 1.0}, list(range(30)))


@pytest.mark.parametrize(("value", "used"), [("positive=75%,negative=25%", 0.75), ("source", 0.5)])
def test_it_is_used_and_told(gramshift, folder, value, used):
    answer = gramshift(*RUN, "--class-prior", value, "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["class_prior"]["positive"]["used"] == pytest.approx(used, abs=0.01)
    assert "shares" not in found
    assert set(found["history"][-1]["class_prior"]) == {"positive", "negative"}
    assert shlex.split(found["command"])[-2:] == ["--class-prior", value]


def test_unadapted_labels_have_the_proportions_of_the_source(gramshift, folder):
    labels = []
    for options in (), ("--class-prior", "positive=90%,negative=10%"):
        assert gramshift(*RUN, *options, "--force").code == 0
        labels.append([row["unadapted_label"] for row in read_csv(folder / "labels.csv")])
    assert labels[0] == labels[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--class-prior", "positive=1,negativ=1"), "did you mean negative?"),
        (
            ("--class-prior", "source", "--method", "tkc"),
            "--class-prior goes with best; tkc does not use class proportions",
        ),
    ],
)
def test_a_mistake_is_told_before_the_work(gramshift, folder, options, message):
    answer = gramshift(*RUN, *options)
    assert answer.code == 2
    assert message in answer.err
    assert not (folder / "labels.csv").exists()


def draw_labels(folder, n, drawn):
    """Write true labels of the first n positive films and of a third as many negative ones."""
    films = load_demo("films")
    rows = [row for row in range(120) if films.labels[row] == "positive"][:n]
    rows += [row for row in range(120) if films.labels[row] == "negative"][: n // 3]
    write_csv(
        folder / "c.csv",
        ["id", "label", "drawn"],
        [(f"f{row}", films.labels[row], drawn) for row in rows],
    )
    return rows


@pytest.mark.parametrize("drawn", ["random", "doubtful"])
def test_labels_of_random_documents_set_the_class_proportions(gramshift, folder, drawn):
    rows, before = draw_labels(folder, 30, drawn), json.loads(gramshift(*RUN, "--json").out)
    answer = gramshift(*RUN, "--force", "--corrections", "c.csv", "--save", "m.gramshift", "--json")
    assert answer.code == 0, answer.err
    found, clf = json.loads(answer.out), gs.load("m.gramshift")
    labels = {row["id"]: row for row in read_csv(folder / "labels.csv")}
    films = load_demo("films")
    assert all(labels[f"f{row}"]["label"] == films.labels[row] for row in rows)
    assert all(float(labels[f"f{row}"]["confidence"]) > 1 - 1e-6 for row in rows)
    told = (
        "40 labels of documents drawn at random set the class proportions and measure the accuracy"
    )
    assert (told in answer.err) == (drawn == "random")
    mine, old = found["class_prior"]["positive"], before["class_prior"]["positive"]
    if drawn == "random":
        assert min(0.75, old["used"]) < mine["used"] < max(0.75, old["used"])
        assert abs(mine["used"] - 0.75) < abs(mine["used"] - old["used"])
        assert mine["high"] - mine["low"] < old["high"] - old["low"]
        assert found["expected_accuracy"] != before["expected_accuracy"]
        assert (
            clf.labeled_iter_ == 0
        ).sum() == 120  # they are target documents, and join the training set
    else:
        assert abs(mine["used"] - 0.75) > 0.1
        assert (clf.labeled_iter_ == 0).sum() == 160
    assert "120 source, 80 target, 40 corrected" in gramshift("info", "m.gramshift").out
