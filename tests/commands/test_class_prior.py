"""Class proportions that a user gives: ``classify --class-prior``."""

import json
import re

import pytest

from gramshift.commands.classify.options import match_class_prior, parse_class_prior
from gramshift.errors import InputError
from small_tables import read_csv

RUN = ("classify", "--source", "pans.csv", "knives.csv", "--target", "films.csv", "--output", "labels.csv")
CLASSES = "; the classes are negative, positive: give a proportion for each of these, or 0"


@pytest.mark.parametrize(
    "value",
    ["positive=60%,negative=40%", " positive = 60 % , negative = 40% ", "positive=60,negative=40", "positive=.6,negative=0.4"],
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
            "'half' is not of the form class=proportion; give source, or a proportion for every class, such as positive=60%",
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
    assert f'class-prior = "{value}"' in found["options"]


def test_unadapted_labels_have_the_proportions_of_the_source(gramshift, folder):
    labels = []
    for options in (), ("--class-prior", "positive=90%,negative=10%"):
        assert gramshift(*RUN, *options, "--force").code == 0
        labels.append([row["unadapted_label"] for row in read_csv(folder / "labels.csv")])
    assert labels[0] == labels[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--class-prior", "positive=60%,negative=0.4"), "some numbers have a % and some have none"),
        (("--class-prior", "positive=1,negativ=1"), "did you mean negative?"),
        (("--class-prior", "source", "--method", "tkc"), "--class-prior goes with best; tkc does not use class proportions"),
    ],
)
def test_a_mistake_is_told_before_the_work(gramshift, folder, options, message):
    answer = gramshift(*RUN, *options)
    assert answer.code == 2
    assert message in answer.err
    assert not (folder / "labels.csv").exists()
