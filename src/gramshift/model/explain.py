"""Why a document got its score: the n-grams that it shares with others, and these others."""

from dataclasses import dataclass
from html import escape
from math import e
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.model.fitted import Model
from gramshift.model.shares import find_shares
from gramshift.text.terminal import visible

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Span:
    """A stretch of the text that pushes towards one class; a share per class."""

    start: int
    stop: int
    text: str
    label: Any
    shares: dict[Any, float]


@dataclass(frozen=True)
class Neighbour:
    """A document of the fit: its number, whether it was source or target, its label, its similarity, a share per class."""

    number: int
    role: str
    label: Any
    similarity: float
    text: str
    shares: dict[Any, float]


@dataclass(frozen=True)
class Explanation:
    """The score of one document, taken apart twice: by stretches of its text and by documents. Each adds up with ``empty``."""

    given: str
    label: Any
    score: dict[Any, float]
    empty: dict[Any, float]
    """What a document without any n-gram would score."""
    spans: list[Span]
    documents: list[Neighbour]
    """All documents of the fit, or all landmarks, those that counted most for the label first."""

    def text(self, *, n: int = 8) -> str:
        """For a terminal: the strongest stretches and documents."""
        chosen = sorted(self.spans, key=lambda span: -abs(span.shares[self.label]))[:n]
        lines = [
            f"{self.label}: score {self.score[self.label]:+.4f}, of which {self.empty[self.label]:+.4f} for any document",
            "",
            f"what counts for and against {self.label}:",
            *(f"  {span.shares[self.label]:+.4f}  {visible(span.text)!r}" for span in chosen),
            "",
            "through likeness with:",
        ]
        for one in self.documents[:n]:
            about = f"{one.role} {one.number}, {one.label}"
            lines.append(f"  {one.shares[self.label]:+.4f}  {about}: {visible(shorten(one.text, 70, placeholder=' ...'))}")
        return "\n".join(lines)

    def html(self) -> str:
        """The text with its stretches marked, as a fragment of HTML: blue for the label, red against it."""
        strongest = max((abs(span.shares[self.label]) / len(span.text) for span in self.spans), default=0.0) or 1.0
        parts, place = [], 0
        for span in self.spans:
            share = span.shares[self.label]
            strength = abs(share) / len(span.text) / strongest
            colour = "33, 102, 172" if share > 0 else "178, 24, 43"
            title = escape(f"{share:+.4f} for {self.label}")
            parts.append(escape(self.given[place : span.start]))
            parts.append(f'<mark style="background: rgba({colour}, {0.6 * strength:.2f}); color: inherit" title="{title}">')
            parts.append(f"{escape(span.text)}</mark>")
            place = span.stop
        parts.append(escape(self.given[place:]))
        head = f"{self.label}: {self.score[self.label]:+.4f}"
        page = (
            f'<figure class="gramshift-explanation"><figcaption dir="auto">{escape(head)}</figcaption>'
            f'<p dir="auto" style="white-space: pre-wrap; unicode-bidi: isolate">{"".join(parts)}</p></figure>'
        )
        return page.encode("utf-8", "replace").decode()  # half a surrogate pair cannot stand in a page


def explain_text(
    model: Model, text: str, *, classes: list[Any], labels: list[Any], roles: list[str], numbers: list[int]
) -> Explanation:
    """Take the score of one document apart; what its n-grams do not add is the score of an empty document.

    ``numbers`` are those that the documents of the model have in the fit.
    """
    (shares,) = find_shares(model, [text])
    gain, by_character = shares.gain, shares.by_character
    base = model.coefficients.sum(axis=0) / e if model.adapt else np.zeros(len(classes))
    empty = base + model.intercepts
    by_document = model.coefficients * gain[:, None]
    score = empty + by_document.sum(axis=0)
    chosen = int(np.argmax(score))

    def name(values: Floats) -> dict[Any, float]:
        return dict(zip(classes, values.tolist(), strict=True))

    order = np.argsort(-np.abs(by_document[:, chosen]), kind="stable").tolist()
    neighbours = [
        Neighbour(numbers[i], roles[i], labels[i], float(shares.similarity[i]), model.documents[i], name(by_document[i]))
        for i in order
    ]
    spans = [
        Span(start, stop, text[start:stop], classes[code], name(by_character[start:stop].sum(axis=0)))
        for start, stop, code in stretches(by_character)
    ]
    return Explanation(text, classes[chosen], name(score), name(empty), spans, neighbours)


def stretches(by_character: Floats) -> list[tuple[int, int, int]]:
    """Runs of characters that push towards the same class, as (start, stop, class); characters without effect end a run."""
    leading = np.where(np.any(by_character != 0, axis=1), by_character.argmax(axis=1), -1)
    edges = np.flatnonzero(np.diff(leading, prepend=-2, append=-2))
    runs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return [(start, stop, int(leading[start])) for start, stop in runs if leading[start] >= 0]
