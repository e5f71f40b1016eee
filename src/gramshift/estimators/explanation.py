"""Why a document got its score: the n-grams that it shares with others, and these others."""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from html import escape
from math import e
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.estimators.model import Model
from gramshift.estimators.string_kernel import StringKernel
from gramshift.kernels.weighting import make_weights

Floats = NDArray[np.float64]
PART = 1024  # n-grams that are looked up at a time


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
    """All documents of the fit, those that counted most for the label first."""

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


def visible(text: str) -> str:
    """Without characters that would rearrange a terminal's line or hide."""
    return "".join(char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}" for char in text)


def explain_text(model: Model, text: str, *, classes: list[Any], labels: list[Any], roles: list[str]) -> Explanation:
    """Take the score of one document apart.

    With the document's normaliser held fixed K-hat is a sum over n-grams. Through the exponential each n-gram gets its part of
    exp(-1 + s) - exp(-1) in proportion to its part of s; what is left is the score of an empty document.
    """
    described = model.describe([text])
    similarity: Floats = described.gram[0] * described.row_scale[0] * described.scale
    if model.adapt:
        gain, base = np.expm1(similarity) / e, model.coefficients.sum(axis=0) / e
    else:
        gain, base = similarity, np.zeros(len(classes))
    per_similarity = np.divide(gain, similarity, out=np.zeros_like(gain), where=similarity > 0)
    by_character = np.zeros((len(text), len(classes)))
    kernels = model.comparison.kernels if model.comparison is not None else []
    groups = model.comparison.groups if model.comparison is not None else {}
    for kernel in kernels:
        worth = model.coefficients * (per_similarity / len(kernels))[:, None]
        by_character += _share_by_character(kernel, text, model.documents, worth, groups)
    empty = base + model.intercepts
    by_document = model.coefficients * gain[:, None]
    score = empty + by_document.sum(axis=0)
    chosen = int(np.argmax(score))

    def name(shares: Floats) -> dict[Any, float]:
        return dict(zip(classes, shares.tolist(), strict=True))

    order = np.argsort(-np.abs(by_document[:, chosen]), kind="stable").tolist()
    neighbours = [
        Neighbour(i, roles[i], labels[i], float(similarity[i]), model.documents[i], name(by_document[i])) for i in order
    ]
    spans = [
        Span(start, stop, text[start:stop], classes[code], name(by_character[start:stop].sum(axis=0)))
        for start, stop, code in _stretches(by_character)
    ]
    return Explanation(text, classes[chosen], name(score), name(empty), spans, neighbours)


def _share_by_character(kernel: StringKernel, text: str, documents: Any, worth: Floats, groups: dict[str, Any]) -> Floats:
    """What each character of the text adds to the scores; ``worth`` is that of one unit of similarity, by document and class.

    An n-gram's share is spread evenly over the places where it stands, and there over its characters.
    """
    (low, high), _ = kernel.check_parameters()
    aligned, prepared = kernel.align(text, documents)
    counted, normal = (kernel.gram([text], documents, normalize=normalize, **groups)[0] for normalize in (False, True))
    weighting = kernel.make_weighting(len(documents), **groups)
    per_count = np.divide(normal, counted, out=np.zeros(len(counted)), where=counted > 0)
    worth = worth * per_count[:, None]
    shares = np.zeros((len(text), worth.shape[1]))
    for length in range(low, min(high, len(aligned.text)) + 1):
        counts = Counter(aligned.text[i : i + length] for i in range(len(aligned.text) - length + 1))
        exact = StringKernel("spectrum", ngram_range=(length, length), strip=False, lowercase=False, collapse_whitespace=False)
        names = list(counts)
        found: dict[str, Floats] = {}
        for start in range(0, len(names), PART):  # an n-gram is a document with one n-gram
            part = names[start : start + PART]
            theirs = exact.gram(part, prepared)
            here = _combine(kernel.kind, theirs, np.array([[counts[name]] for name in part]))
            if weighting is not None:
                here *= make_weights(weighting, len(documents), partial(_count_groups, theirs > 0))[:, None]
            found |= dict(zip(part, here @ worth, strict=True))
        for i in range(len(aligned.text) - length + 1):
            ngram = aligned.text[i : i + length]
            for k in range(i, i + length):
                start, stop = aligned.starts[k], aligned.stops[k]
                shares[start:stop] += found[ngram] / (counts[ngram] * length * (stop - start))
    return shares


def _count_groups(present: NDArray[np.bool_], groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    """How many documents of each group have each n-gram, by its row of ``present``."""
    return np.array([present[:, groups == group].sum(axis=1) for group in range(n_groups)], np.int64).reshape(n_groups, -1)


def _combine(kind: str, theirs: NDArray[Any], ours: NDArray[Any]) -> Floats:
    """What an n-gram adds to the kernel, from its counts in both documents."""
    together = {"presence": np.minimum(theirs, 1), "intersection": np.minimum(theirs, ours), "spectrum": theirs * ours}
    floats: Floats = together[kind].astype(float)
    return floats


def _stretches(by_character: Floats) -> list[tuple[int, int, int]]:
    """Runs of characters that push towards the same class, as (start, stop, class); characters without effect end a run."""
    leading = np.where(np.any(by_character != 0, axis=1), by_character.argmax(axis=1), -1)
    edges = np.flatnonzero(np.diff(leading, prepend=-2, append=-2))
    runs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return [(start, stop, int(leading[start])) for start, stop in runs if leading[start] >= 0]
