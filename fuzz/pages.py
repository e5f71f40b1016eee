"""The target ``page``: hostile words in every place of a report; they must stay words.

A page with hostile words is compared with the same page with tame ones: as many tags, in the same order, with the same
attributes, and as many brackets in its source. Its data must come back from it as they were.
"""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from fuzz.made_up import hostile, sentence
from fuzz.targets import Case, Target, Wrong
from gramshift.model.classifier import TransductiveClassifier
from gramshift.report.contents import DocumentEntry, IssueEntry, Map, Neighbour, NGramFound, ReportContents
from gramshift.report.page import make_payload, page_script, render_page

SHAPES = 32
SIZES = [1, 2, 3, 6]  # words of a page; with the shape they decide which tags it has
CODE = [files("gramshift.report").joinpath("assets", "review.css").read_text(encoding="utf-8"), page_script()]
DATA = re.compile(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', re.DOTALL)


class Skeleton(HTMLParser):
    """The tags of a page in order, each with the names of its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, ...]] = []
        self.strange: list[str] = []
        self.brackets = page.count("<"), page.count(">")
        for code in CODE:
            page = page.replace(code, "")  # it takes long to read and is ours
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(("/", tag))

    def handle_comment(self, data: str) -> None:
        self.strange.append(f"comment {data}")

    def handle_pi(self, data: str) -> None:
        self.strange.append(f"instruction {data}")

    def unknown_decl(self, data: str) -> None:
        self.strange.append(f"declaration {data}")


class Pages(Target):
    """Reports."""

    name = "page"
    cut = cut_within = ("words",)

    def __init__(self) -> None:
        self._model: Any = None
        self._explained: set[tuple[str, ...]] = set()
        self._tame: dict[tuple[int, int], Skeleton] = {}

    def prepare(self, folder: Path) -> None:
        rng = Random("pages")
        labels = ["</b><script>", "good"] * 6
        texts = [sentence(rng, good=label == "good") for label in labels]
        self._model = TransductiveClassifier(preset="best", n_jobs=1).fit(texts, labels, target=texts[:4])
        for size in SIZES:
            for shape in range(SHAPES):
                self._tame[shape, size] = Skeleton(render_page(make_contents(shape, ["tame"] * size)))
        self._explained = {tag for text in [*texts, "unknown", ""] for tag in Skeleton(self._model.explain(text).html()).tags}

    def draw(self, rng: Random) -> Case:
        return {
            "words": [hostile(rng) for _ in range(rng.choice(SIZES))],
            "shape": rng.randrange(SHAPES),
            "explained": rng.random() < 0.1,
        }

    def run(self, case: Case, folder: Path) -> None:
        words = [word if word.strip() else f"{word}." for word in case["words"]] or ["."]
        if case["explained"]:
            self._explain(f"{words[0]} good film {' '.join(words)}")
            return
        contents = make_contents(case["shape"], words)
        page = render_page(contents)
        if (case["shape"], len(words)) not in self._tame:  # words of a case that was shrunk
            self._tame[case["shape"], len(words)] = Skeleton(render_page(make_contents(case["shape"], ["tame"] * len(words))))
        ours, theirs = Skeleton(page), self._tame[case["shape"], len(words)]
        if ours.tags != theirs.tags or ours.strange != theirs.strange:
            differ = [pair for pair in zip(ours.tags, theirs.tags, strict=False) if pair[0] != pair[1]]
            raise Wrong("hostile words became tags", f"{differ[:1]}, {ours.strange[:3]}")
        if ours.brackets != theirs.brackets:
            raise Wrong("hostile words stand in the source as they are", f"{ours.brackets} brackets, not {theirs.brackets}")
        found = DATA.findall(page)
        if len(found) != 1 or json.loads(found[0]) != json.loads(json.dumps(make_payload(contents))):
            raise Wrong("the data of a page are not what they were")

    def _explain(self, text: str) -> None:
        explanation = self._model.explain(text)
        explanation.text()
        found = Skeleton(explanation.html())
        strange = [tag for tag in found.tags if tag not in self._explained]
        if strange or found.strange:
            raise Wrong("hostile words became tags of an explanation", f"{strange[:3]}, {found.strange[:3]}")


def make_contents(shape: int, words: list[str]) -> ReportContents:
    """A report with words in every place that takes some; how many of what it has depends on ``shape`` alone."""
    rng = Random(shape)

    def word() -> str:
        return rng.choice(words)

    classes = [words[0], words[0] + "2"] if rng.random() < 0.5 else [words[0], "other"]
    documents = [_make_entry(rng, number, word, classes) for number in range(rng.randrange(4))]
    points = Map([0.0, 1.0, 2.0], [0.0, 2.0, 1.0], ["source", "source", "target"], [classes[0], classes[1], classes[1]])
    rounds = rng.randrange(3)
    history = [{"added": {classes[0]: 1}, "labels": {classes[0]: 2}, "changed": 0, "seconds": 0.1}] * rounds
    return ReportContents(
        title=word(),
        created=word(),
        sentence=word(),
        warnings=[word() for _ in range(rng.randrange(2))],
        options={word(): word(), "adapt": True},
        versions={"gramshift": word()},
        sources=[(word(), 2)],
        n_source=2,
        n_target=len(documents),
        classes=classes,
        documents=documents,
        shares=[{classes[0]: 0.25, classes[1]: 0.75}] * rounds,
        history=history,
        before=points if rng.random() < 0.3 else None,
        after=points if rng.random() < 0.1 else None,
        diagnostics={word(): {"value": word(), "sentence": word()}, "plain": word(), "verdict": f"No{word()}: {word()}"},
        scores={"accuracy": 0.5, "confusion": [[1, 2], [3, 4]], "mcnemar_p": 0.1, "confusion_labels": [f"{word()}~", "x"]},
        changes=[{"id": word(), "before": word(), "after": word()}],
        model_parameters={word(): word()},
        share_names=[word() for _ in range(rounds)],
        notes=[word()],
        target_name=word(),
        command=word(),
        strongest_ngrams=[
            [NGramFound(f"a{word()}a", 2.0, 1, 0)],
            [NGramFound(f"a{word()}a", 0.5, 0, 3)],
        ],  # no blanks at the ends
        issues=[IssueEntry(word(), word(), word(), word(), word(), word()), IssueEntry("empty text", word(), word(), "")],
        expected_accuracy={"value": 0.7, "low": 0.6, "high": 0.8} if rng.random() < 0.5 else None,
        new_classes=[classes[1]],
        next_command=word(),
    )


def _make_entry(rng: Random, number: int, word: Callable[[], str], classes: list[str]) -> DocumentEntry:
    text = word() + word()
    half = len(text) // 2
    return DocumentEntry(
        id=f"{number}{word()}",
        text=text,
        label=rng.choice(classes),
        confidence=0.75,
        probabilities=[0.25, 0.75],
        round=rng.randrange(2),
        reference_label=rng.choice([None, classes[0], word()]),
        truth=rng.choice([None, word()]),
        corrected=rng.random() < 0.2,
        spans=[(0, half, 1.0, 0)] if half else [],
        neighbours=[Neighbour(word(), word(), 0.5, word())],
        explained=rng.random() < 0.8,
        abstained=rng.random() < 0.1,
        more=[(word(), word())],
    )


TARGET = Pages()
