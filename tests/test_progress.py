"""One line of progress: the number of the step, what it is, and never backwards."""

import io
import os
import sys

import pytest

from gramshift.commands.classify.options import ClassifyOptions
from gramshift.progress import Steps, progress_bar
from gramshift.runtime import STAGES

PLAN = ["reading", "index", "training", "reference", "report"]
BEST = [  # what a fit of the preset best reports, shortened
    ("reading", 50, 100),
    ("reading", 100, 100),
    ("rounds", 0, 2),
    ("index", 1, 1),
    ("training", 100, 100),
    ("sureness", 1, 2),
    ("rounds", 1, 2),
    ("index", 0, 1),
    ("training", 3, 100),
    ("rounds", 2, 2),
    ("reference", 1, 2),
    ("report", 0, 1),
    ("explain", 200, 400),
    ("compare", 10, 400),
    ("report", 1, 1),
]


def test_every_stage_belongs_to_a_step_that_has_words():
    assert max(map(len, STAGES.values())) <= 22, (
        "a terminal of 40 columns shows the number, the time and a piece of the bar, too"
    )


def test_steps_and_rounds_are_numbered():
    steps = Steps(PLAN)
    shown = list(dict.fromkeys(steps.follow(*one)[0] for one in BEST))
    assert shown == [
        "1/5 reading",
        "2/5 finding n-grams",
        "3/5 training, round 1 of 2",
        "3/5 training, round 2 of 2",
        "4/5 without adapting",
        "5/5 explaining documents",
    ]


@pytest.mark.parametrize("plan", [PLAN, ["reading", "training", "report"]])
def test_the_bar_never_goes_back(plan):
    steps = Steps(plan)
    parts = [steps.follow(*one)[1] for one in BEST]
    assert parts == sorted(parts)
    assert (parts[0], parts[-1]) == (0.5 / len(plan), 1.0)


def test_without_a_plan_there_are_no_numbers():
    steps = Steps()
    assert steps.follow("reading", 1, 2) == ("reading", 0.5)
    assert steps.follow("training", 1, 4) == ("training", 0.25)
    assert Steps(["labelling"]).follow("labelling", 1, 4) == ("labelling", 0.25)


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({}, ["reading", "index", "training", "problems"]),
        ({"truth": "label"}, ["reading", "index", "training", "reference", "problems"]),
        (
            {"corrections": ["c.csv"], "report": "r.html"},
            ["reading", "before", "index", "training", "problems", "report"],
        ),
        ({"method": "tkc"}, ["reading", "index", "gram", "training", "reference", "problems"]),
        ({"method": "plain"}, ["reading", "index", "training", "problems"]),
        ({"method": "tfidf"}, ["reading", "training"]),
        ({"fit_on": "50"}, ["reading", "index", "training", "problems", "labelling"]),
    ],
)
def test_the_steps_of_a_run_are_known_beforehand(options, steps):
    assert (
        ClassifyOptions(source=["a.csv"], target="b.csv", output="c.csv", **options).steps == steps
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("width", [80, 40])
def test_a_terminal_shows_one_line_which_is_gone_at_the_end(monkeypatch, width):
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    for name, value in {"COLUMNS": str(width), "TERM": "xterm", "NO_COLOR": "1"}.items():
        monkeypatch.setitem(os.environ, name, value)
    with progress_bar(PLAN) as report:
        for one in BEST:
            report(*one)
    shown = stream.getvalue()
    assert "5/5 explaining documents" in shown
    assert shown.count("\n") <= 1, "it is always the same line"
    assert shown.rstrip().endswith("\x1b[2K"), "and it is erased"


def test_nothing_is_shown_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    with progress_bar(PLAN) as report:
        assert report is None
    assert stream.getvalue() == ""
