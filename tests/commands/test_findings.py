"""What a run says in the end: a short result, and what to type next."""

import shlex

import pytest

from gramshift.commands.classify.findings import in_words, list_classes
from gramshift.commands.classify.options import ClassifyOptions

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
    given = {"source": ["a.csv", "my b.csv"], "target": "t.csv", "output": "labels.csv", "abstain_below": 0.7}
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
    assert list_classes({"猫": 1, "dog": 3})[1:] == ["猫          1     25%", "dog         3     75%"]


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
    assert {line.style for line in lines if "not as they are" in line.words or "Warning" in line.words} == {"bold red"}
    assert "Problems in the data: copy: 3 (add --report or --json to list them)" in words
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


@pytest.mark.parametrize(
    ("more", "commands"),
    [
        (
            {},
            [
                "--report report.html --abstain-below 0.7 --force",
                "sample labels.csv --doubtful 50 --output to-label.csv",
                "sample labels.csv --random 100 --output to-score.csv",
            ],
        ),
        ({"report": "r.html"}, ["--corrections corrections.csv", "sample labels.csv --doubtful", "sample labels.csv --random"]),
        (
            {"corrections": "c.csv", "save": "m.gramshift"},
            [
                "--output to-score.csv --corrections c.csv",  # and no second file of corrections, of which a run takes one
                "predict --model m.gramshift --input new.csv",
            ],
        ),
        ({"target": "-"}, []),
        ({"sample": "50"}, []),
        ({"output": None, "report": "r.html"}, ["--corrections corrections.csv"]),
    ],
)
def test_what_to_do_next_can_be_copied(more, commands):
    found = [line.words for line in in_words(RESULT, options(**more)) if line.is_command]
    assert len(found) == len(commands)
    assert all(words in command for words, command in zip(commands, found, strict=True))
    assert all(shlex.split(command)[0] == "gramshift" for command in found)


def test_a_run_is_typed_again_with_what_it_had():
    again = options().to_command(corrections="c.csv", force=True)
    assert again == (
        'gramshift classify --source a.csv "my b.csv" --target t.csv --output labels.csv --corrections c.csv '
        "--abstain-below 0.7 --force"
    )


def test_the_model_is_used_as_the_target_was_read():
    """Another column of texts, or rows of numbers, would be labelled by what was learnt elsewhere."""

    def last(result, **more):
        return [line.words for line in in_words(result, options(save="m.gramshift", **more)) if line.is_command][-1]

    assert last(RESULT | {"read_as": {"text": "title,body", "id": "Nr"}}).endswith("--output new-labels.csv --text title,body")
    assert last(RESULT, embeddings="v.npy").endswith("--output new-labels.csv --embeddings new.npy")


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
    result["diagnostics"] = {"verdict": "Yes, for most purposes: 90 of 100 labels are right."}
    (line,) = (line for line in in_words(result, options(method="tkc")) if "90 of 100" in line.words)
    assert (line.words.split("?")[0], line.style) == ("Can I use these labels", "green")
