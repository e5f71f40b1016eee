"""What a run says in the end: a short result, and what to type next."""

import shlex
from types import SimpleNamespace

import numpy as np
import pytest

from gramshift.commands.classify.findings import describe_findings
from gramshift.commands.classify.fitting import ClassifyOutcome
from gramshift.commands.classify.hand_labels import Corrections
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.wording import in_words
from gramshift.model.data_problems import Issues
from gramshift.terminal import list_classes

RESULT = {
    "labels": {"1": 190, "2": 14, "4": 684},
    "source_labels": {"1": 500, "2": 250, "4": 250},
    "mean_confidence": 0.86,
    "expected_accuracy": {"value": 0.55, "low": 0.4, "high": 0.7},
    "diagnostics": {
        "separability": {"value": 0.9, "sentence": "Source and target differ."},
        "drift of the class proportions": {"value": 0.1, "sentence": "They moved."},
        "verdict": "No, not as they are: hardly more than chance.",
    },
    "warnings": ["one class dominates"],
    "issues": {"counts": {"copy": 3}},
    "scores": None,
    "corrections": None,
    "output": "labels.csv",
    "report": None,
    "model": None,
    "seconds": 2.0,
}


def options(**more):
    given = {
        "source": ["a.csv", "my b.csv"],
        "target": "t.csv",
        "output": "labels.csv",
        "abstain_below": 0.7,
    }
    return ClassifyOptions(**given | more)


def test_classes_are_a_table_in_one_order():
    assert list_classes(RESULT["labels"], RESULT["source_labels"]) == [
        "class  labels  target  source",
        "1         190     21%     50%",
        "2          14      2%     25%",
        "4         684     77%     25%",
    ]
    many = {f"c{number}": 1 for number in range(30)}
    assert list_classes(many)[0].endswith("and 18 more classes")
    assert list_classes({"猫": 1, "dog": 3})[1:] == [
        "猫          1     25%",
        "dog         3     75%",
    ]


def test_the_result_has_a_heading_and_a_doubtful_verdict_is_red():
    lines = in_words(RESULT, options())
    words = [line.words for line in lines]
    result = words.index("Result: 888 documents labelled")
    assert lines[result].style == "bold"
    assert words[result + 5 : result + 9] == [
        "Expected accuracy 55% (40% to 70%)",
        "Can I use these labels? No, not as they are: hardly more than chance.",
        "Warning: one class dominates",
        "labels in labels.csv; 2.0 s",
    ]
    assert {
        line.style for line in lines if "not as they are" in line.words or "Warning" in line.words
    } == {"bold red"}
    assert "Problems in the data: 3 copies (add --report or --json to list them)" in words
    assert "They moved." not in words, "it is in the report"


def test_mean_confidence_is_not_taken_for_an_accuracy():
    result = RESULT | {"expected_accuracy": None}
    words = [line.words for line in in_words(result, options(method="tfidf"))]
    assert "Mean confidence 0.86: how sure the method is, not how often it is right" in words
    assert any(one.startswith("Can I use these labels?") for one in words)
    words = [line.words for line in in_words(result, options(method="tkc"))]
    assert any(one.startswith("Did adapting help?") for one in words)


def test_the_count_does_not_contradict_what_is_left_out():
    words = [line.words for line in in_words(RESULT | {"abstained": 112}, options())]
    assert "Result: 888 of 1000 documents labelled (112 left without a label)" in words
    words = [line.words for line in in_words(RESULT | {"labels": {"1": 1}}, options())]
    assert "Result: 1 document labelled" in words


AGAIN = "--corrections to-label.csv --abstain-below 0.7 --force"


@pytest.mark.parametrize(
    ("more", "commands"),
    [
        (
            {},
            [
                "--report report.html --abstain-below 0.7 --force",
                "sample labels.csv --random 50 --output to-label.csv",
                AGAIN,
            ],
        ),
        (
            {"report": "r.html"},
            [
                "--corrections corrections.csv",
                "sample labels.csv --random 50",
                "--corrections to-label.csv",
            ],
        ),
        (
            {"class_prior": "1=50%,2=25%,4=25%"},  # known, and still no good
            [
                "--report report.html",
                "sample labels.csv --doubtful 50 --output to-label.csv",
                "--corrections to-label.csv",
            ],
        ),
        (
            {"class_prior": "source"},
            ["--report report.html", "sample labels.csv --random 50", "--corrections to-label.csv"],
        ),
        (
            {"corrections": ["c.csv"], "save": "m.gramshift"},
            [
                "--output to-label.csv --corrections c.csv",
                "--save m.gramshift --corrections c.csv --corrections to-label.csv",
                "predict --model m.gramshift --input new.csv",
            ],
        ),
        (
            {"corrections": ["to-label.csv", "to-label-2.csv"]},
            [
                "--output to-label-3.csv --corrections to-label.csv --corrections to-label-2.csv",
                "--corrections to-label-2.csv --corrections to-label-3.csv",
            ],
        ),
        ({"target": "-"}, []),
        ({"fit_on": "50"}, []),
        ({"output": None, "report": "r.html"}, ["--corrections corrections.csv"]),
        ({"output": "-"}, ["--output - --report report.html"]),  # which sample cannot read
    ],
)
def test_what_to_do_next_can_be_copied(more, commands):
    found = [line.words for line in in_words(RESULT, options(**more)) if line.is_command]
    assert len(found) == len(commands)
    assert all(words in command for words, command in zip(commands, found, strict=True))
    assert all(shlex.split(command)[0] == "gramshift" for command in found)


def next_steps(result, **more):
    """What is said under the heading Next."""
    words = [line.words for line in in_words(result, options(**more))]
    return words[words.index("Next") + 1 :]


UNKNOWN = {
    "value": 0.4,
    "sentence": "Class proportions are unknown and decide this result: label 50 random documents.",
}


def test_unknown_proportions_that_decide_come_first():
    result = RESULT | {
        "diagnostics": {
            "class proportions unknown": UNKNOWN,
            "verdict": "Yes, for most purposes: fine.",
        }
    }
    steps = next_steps(result)
    assert steps[:3] == [
        "Label 50 random documents by hand; they set the class proportions, measure the accuracy"
        " and are learnt from:",
        "gramshift sample labels.csv --random 50 --output to-label.csv",
        "Fill in the column label of to-label.csv, and run again:",
    ]
    assert steps[3] == options().to_command(corrections=["to-label.csv"], force=True)
    assert steps[4] == "See why, and correct labels in a browser:"
    assert UNKNOWN["sentence"] in [line.words for line in in_words(result, options())]
    assert not any(
        "sample" in one
        for one in next_steps(
            RESULT | {"diagnostics": {"verdict": "Yes, for most purposes: fine."}}
        )
    )


@pytest.mark.parametrize(("n", "not_scored", "is_advised"), [(888, 0, 0), (880, 8, 0), (880, 0, 1)])
def test_no_labels_by_hand_are_asked_for_where_all_are_known(n, not_scored, is_advised):
    scores = {
        "n": n,
        "accuracy": 0.8,
        "accuracy_interval": (0.7, 0.9),
        "macro_f1": 0.8,
        "confusion_labels": [],
        "confusion": [],
    }
    diagnostics = RESULT["diagnostics"] | {"class proportions unknown": UNKNOWN}
    result = RESULT | {"diagnostics": diagnostics, "scores": scores, "not_scored": not_scored}
    assert sum("gramshift sample" in one for one in next_steps(result)) == is_advised


def test_random_labels_score_a_baseline():
    steps = next_steps(RESULT | {"expected_accuracy": None}, method="tfidf")
    place = steps.index("Label 50 random documents by hand, to score the labels with them:")
    assert steps[place + 3] == options(method="tfidf").to_command(truth="to-label.csv", force=True)


def test_how_many_documents_to_label_depends_on_the_target():
    for n, drawn in ((60, "--random 30 "), (20, "--random 10 "), (19, None)):
        steps = " ".join(
            next_steps(RESULT | {"labels": {"1": n - 5, "2": 1, "4": 0}, "abstained": 4})
        )
        assert drawn in steps if drawn else "sample" not in steps


def test_what_random_labels_have_measured_is_not_measured_again():
    measured = RESULT | {"n_random": 50}
    (doubtful,) = (
        one
        for one in next_steps(measured, corrections=["c.csv"])
        if one.startswith("gramshift sample")
    )
    assert "--doubtful 50 --output to-label.csv --corrections c.csv" in doubtful
    assert options().to_command(corrections=["c.csv", "to-label.csv"], force=True) in next_steps(
        measured, corrections=["c.csv"]
    )
    measured |= {"diagnostics": {"verdict": "With care: fine."}}
    assert not [
        line
        for line in in_words(measured, options(corrections=["c.csv"]))
        if line.words.startswith("gramshift sample")
    ]
    words = [line.words for line in in_words(measured, options())]
    assert (
        "55% of labels right (40% to 70%), by 50 random labels and the estimate together" in words
    )


def describe(
    labels, truth=None, *, confidence=0.9, reference=None, by_source=None, expected=None, **more
):
    """Findings of a run that is made up."""
    n = len(labels)
    classifier = SimpleNamespace(
        classes_=np.array(["a", "b"]),
        transduction_=np.array(labels),
        transduction_proba_=np.broadcast_to(np.array(confidence).reshape(-1, 1), (n, 1)),
        history_=[],
        expected_accuracy_=expected,
    )
    outcome = ClassifyOutcome(classifier, {}, [], Issues([]), reference, by_source)
    columns = SimpleNamespace(texts=["text"])
    inputs = SimpleNamespace(
        labels=["a", "b"],
        target_truth=truth,
        target_ids=list(map(str, range(n))),
        target=SimpleNamespace(columns=columns),
        corrections=Corrections(),
    )
    given = options(**{"abstain_below": None} | more)
    return describe_findings(given, inputs, outcome)


def test_labels_that_were_given_have_an_expected_accuracy_of_their_own():
    expected = {"value": 0.7, "low": 0.6, "high": 0.8}
    sure = [0.9, 0.8, 0.7, 0.6, 0.5]
    found = describe(
        ["a", "b", "a", "b", "a"], confidence=sure, expected=expected, abstain_below=0.7
    )
    assert found["expected_accuracy_given"] == {"value": 0.8, "n": 3}
    assert found["expected_accuracy"] == expected
    assert found["sentence"].endswith(
        "; expected accuracy 70% (60% to 80%), 80% of the labels given"
    )
    found = describe(["a", "b"], confidence=[0.6, 0.5], expected=expected, abstain_below=0.7)
    assert found["expected_accuracy_given"] == {"value": None, "n": 0}
    assert "expected_accuracy_given" not in describe(["a"], expected=expected)
    assert "expected_accuracy_given" not in describe(["a"], abstain_below=0.7)


def hits(n):
    """Labels of 100 documents of class a, of which so many are right."""
    return ["a"] * n + ["b"] * (100 - n)


def test_better_labels_are_told_with_how_to_get_them():
    def better(**more):
        return describe(hits(60), ["a"] * 100, **more)["scores"].get("better", {}).get("sentence")

    assert better() is None
    assert better(reference=hits(61), by_source=hits(67)) is None
    assert better(reference=hits(70)) == (
        "The unadapted labels are better here (70.0% of 100 against 60.0%):"
        " use the column unadapted_label."
    )
    figures = "(75.0% of 100 against 60.0%)"
    by_source = f"The labels with the source's class proportions are better here {figures}: "
    assert better(reference=hits(70), by_source=hits(75)) == by_source + "add --class-prior source."
    assert "use the column plain_label" in better(reference=hits(70), method="tkc")
    found = describe(hits(60), ["a"] * 100, by_source=hits(75))
    assert found["scores"]["source_prior_accuracy"] == 0.75
    written = found | {"output": "labels.csv", "report": None, "model": None, "seconds": 2.0}
    assert by_source + "add --class-prior source." in [
        line.words for line in in_words(written, options())
    ]


def test_the_model_is_used_as_the_target_was_read():
    """Another column of texts would be labelled by what was learnt elsewhere."""

    def last(result, **more):
        return [
            line.words
            for line in in_words(result, options(save="m.gramshift", **more))
            if line.is_command
        ][-1]

    assert last(RESULT | {"read_as": {"text": "title,body", "id": "Nr"}}).endswith(
        "--output new-labels.csv --text title,body"
    )


def test_measured_labels_are_asked_about_as_such():
    scores = {
        "n": 60,
        "accuracy": 0.9,
        "accuracy_interval": (0.8, 0.95),
        "macro_f1": 0.9,
        "confusion_labels": [],
        "confusion": [],
    }
    result = RESULT | {"expected_accuracy": None, "scores": scores, "warnings": []}
    result["diagnostics"] = {"verdict": "Yes, for most purposes: 90% are right."}
    (line,) = (line for line in in_words(result, options(method="tkc")) if "90% are" in line.words)
    assert (line.words.split("?")[0], line.style) == ("Can I use these labels", "green")
