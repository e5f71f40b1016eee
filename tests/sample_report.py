"""Sample contents of reports, harmless and hostile."""

from dataclasses import fields, replace

from gramshift.model.data_problems import Issue
from gramshift.report.contents import (
    DocumentEntry,
    DocumentMap,
    ReportContents,
    RunInfo,
    SimilarDocument,
)

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<!--<script>",
    "<img src=x onerror='window.hacked = 2'>",
    "\"'><svg onload=window.hacked=3>",
    "javascript:window.hacked=4",
    "{{ 7 * 7 }} {% raw %} ${window.hacked = 5}",
    "\u202eright to left override, never ended",
    "\u2067\u05e9\u05dc\u05d5\u05dd \u2066",
    "line\u2028separator\u2029and\r\nothers\0NUL\x1b[31m\ufeff",
    "lone \ud83d and \ude00, together \ud83d\ude00",
    "]]>&lt;b&gt;&amp;<b>bold</b>",
    "=HYPERLINK(1)",
]


def make_entry(number, **changes):
    text = f"document {number}: a great film, but the sound broke"
    entry = DocumentEntry(
        id=f"doc-{number}",
        text=text,
        label=("bad", "good")[number % 2],
        confidence=0.5 + (number * 7 % 50) / 100,
        probabilities=[0.3, 0.7],
        round=number % 3 % 2,
        reference_label="good",
        spans=[
            (text.index("great"), text.index("great") + 5, 1.0, 1),
            (text.index("broke"), text.index("broke") + 5, 0.4, 0),
        ],
        neighbours=[SimilarDocument("s-1", "good", 0.25, "a great pan")],
    )
    return replace(entry, **changes)


def make_contents(documents=None, **changes):
    """Return contents with changes to fields of ReportContents or RunInfo."""
    documents = [make_entry(number) for number in range(60)] if documents is None else documents
    points = DocumentMap(
        [0.0, 1.0, 2.0], [0.0, 2.0, 1.0], ["source", "source", "target"], ["bad", "good", "good"]
    )
    contents = ReportContents(
        title="films labelled from kitchen",
        created="2026-01-02 03:04",
        sentence="60 documents labelled.",
        warnings=[],
        versions={"gramshift": "0.1.0"},
        sources=[("kitchen.csv", 2)],
        n_source=2,
        classes=["bad", "good"],
        documents=documents,
        shares={"source": {"bad": 0.5, "good": 0.5}, "round 1": {"bad": 0.25, "good": 0.75}},
        history=[
            {
                "added": {"bad": 0, "good": 0},
                "labels": {"bad": 30, "good": 30},
                "changed": 0,
                "seconds": 0.1,
            }
        ],
        before=points,
        after=points,
        diagnostics={
            "agreement": {"value": 0.9, "sentence": "of the labels are those of the plain kernel."},
            "a": "word",
        },
        model_parameters={"alpha": "1e-05"},
        run=RunInfo(options={"ngrams": "5-8", "adapt": True, "added": 0.5}),
    )
    in_run = {one.name for one in fields(RunInfo)} - {one.name for one in fields(ReportContents)}
    run = replace(contents.run, **{name: changes.pop(name) for name in in_run & changes.keys()})
    return replace(contents, run=run, **changes)


def make_many(n):
    """Return contents with n classes, whose names differ in length and script, and all parts."""
    scripts = ["art", "кино", "书籍", "كتب", "health and personal care", "βιβλία"]
    classes = [f"{scripts[k % len(scripts)]} {k}" for k in range(n)]
    documents = [
        make_entry(
            number,
            label=classes[number % n],
            reference_label=classes[number * 7 % n],
            truth=classes[number % n],
            probabilities=[0.5 if k == number % n else 0.5 / (n - 1) for k in range(n)],
            spans=[(0, 8, 1.0, number % n), (9, 12, 0.5, (number + 1) % n)],
        )
        for number in range(max(60, n))
    ]
    share = dict.fromkeys(classes, 1 / n)
    step = {"added": dict.fromkeys(classes, 9), "labels": {}, "changed": 0, "seconds": 0.1}
    points = DocumentMap(
        list(range(n)), list(range(n)), ["source", "target"] * (n // 2) + ["target"] * (n % 2),
        classes,
    )  # fmt: skip
    return make_contents(
        documents,
        classes=classes,
        shares={"source": share, "unadapted": share} | {f"round {k}": share for k in range(1, 6)},
        history=[step] * 5,
        before=points,
        after=None,
        diagnostics={"separability": {"value": 0.9, "sentence": "The domains differ."}},
        expected_accuracy={"value": 0.7, "low": 0.6, "high": 0.8},
        scores={
            "accuracy": 0.5,
            "confusion": [[105] * n] * n,
            "by_confidence": [{"low": 0.5, "high": 1.0, "n": 3, "accuracy": 0.5}],
        },
        strongest_ngrams=[[("broke", 1.0, 3, 2)]] * n,
        issues=[make_issue("empty text", "t.csv 5", "empty text", "")],
    )


def make_issue(issue, name, about, text, *, label=None, role="target"):
    return Issue(issue, role, 0, about, 0.0, label, None, text, 0, name)


def make_hostile():
    """Return contents with hostile text wherever text of others can be."""
    words = " ".join(HOSTILE)
    documents = [
        make_entry(
            number,
            id=f"{number} {text}",
            text=text,
            label=words,
            reference_label=words,
            truth=words + "!",
            spans=[(0, len(text) // 2, 1.0, 0)],
            neighbours=[
                SimilarDocument(text, words, 0.5, text),
                SimilarDocument("other", "no class", 0.4, words),
            ],
            more=[(words, text)],
        )
        for number, text in enumerate([*HOSTILE, "x" * 100_000, "<" * 100_000, "", " \n\t "])
    ]
    return make_contents(
        documents,
        title=words,
        sentence=words,
        created=words,
        warnings=[words],
        options={words: words},
        versions={words: words},
        sources=[(words, 1)],
        classes=[words, "other"],
        shares={words: {words: 1.0}},
        history=[{"added": {words: 1}, "labels": {words: 1}, "changed": 0, "seconds": 0.1}],
        before=DocumentMap([0.0, 1.0], [0.0, 1.0], ["source", "target"], [words, "other"]),
        diagnostics={words: {"value": words, "sentence": words}, "verdict": words},
        next_command=words,
        scores={
            "accuracy": 0.5,
            "confusion": [[1, 2], [3, 4]],
            "confusion_labels": [words, "x"],
            "mcnemar_p": 0.1,
        },
        changes=[{"id": words, "before": words, "after": words}],
        model_parameters={words: words},
        notes=[words],
        target_name=words,
        command=words,
        strongest_ngrams=[
            [(text, 2.0 - place / 10) for place, text in enumerate(HOSTILE)],
            [(words, 0.5)],
        ],
    )
