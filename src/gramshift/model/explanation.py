"""Explanations: the score of a document, split by its characters and by other documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import e
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, InputTypeError
from gramshift.model.result import FitResult, KernelModel
from gramshift.model.word_spans import N_SHOWN, rank_words
from gramshift.parallel import Progress
from gramshift.terminal import visible

Floats = NDArray[np.float64]
BLOCK = 64  # documents that are explained at a time
MAX_BLOCK_CHARACTERS = 1 << 18  # of texts explained at a time; a longer text is alone
NO_WORDS = (
    "No words are marked: this method does not score words one by one."
    " Use the default, best, for marked words."
)
MAX_SHOWN = 100_000  # characters in HTML: browsers are slow with long texts without blanks


@dataclass(frozen=True)
class Span:
    """A part of the text that pushes towards one class; a share per class."""

    start: int
    stop: int
    text: str
    label: Any
    shares: dict[Any, float]


@dataclass(frozen=True)
class Neighbour:
    """A document of the fit: its role, label and similarity, and a share of the score per class.

    ``number`` is its place in X for a source document, in ``transduction_`` for a target document.
    ``file`` and ``id`` name it if they are known.
    """

    number: int
    role: str
    label: Any
    similarity: float
    text: str
    shares: dict[Any, float]
    file: str | None = None
    id: str | None = None

    @property
    def name(self) -> str:
        """The name by which the user knows it."""
        return f"{self.role} {self.number}" if self.id is None else f"{self.file} {self.id}"


@dataclass(frozen=True, repr=False)
class Explanation:
    """The score of one document, split by spans of its text, and also by documents.

    Each split, ``vectors`` and ``empty`` add up to the score. Models that are not linear, such as
    those of the preset "paper", are explained by documents only.
    """

    given: str
    label: Any
    """As returned by ``predict``: a document of the target keeps the label of the fit."""
    score: dict[Any, float]
    empty: dict[Any, float]
    """The score of a document without any n-gram or vector."""
    spans: list[Span]
    """Runs of characters that push towards the same class, in the order of the text."""
    documents: list[Neighbour]
    """All other documents of the fit, the most influential first; none without texts."""
    probability: dict[Any, float]
    """As returned by ``predict_proba``."""
    words: list[Span]
    """Words and short phrases that push towards a class, strongest first."""
    itself: dict[Any, float] | None = None
    """The share of the document itself, if it took part in the fit."""
    has_words: bool = True
    """True if the model is linear, so that there are spans and words."""
    vectors: dict[Any, float] | None = None
    """The share of the vector of the whole text, if the classifier has an encoder."""

    def text(self, *, n: int = N_SHOWN) -> str:
        """Describe the n strongest words for and against the label, and n documents, in lines."""
        label, lines, found = self.label, [self.headline()], _sum_up(self.words, self.label)
        speaks_for = [(word, share) for word, share in found if share > 0][:n]
        speaks_against = [(word, share) for word, share in reversed(found) if share < 0][:n]
        for about, chosen in (
            (f"words for {label}:", speaks_for),
            (f"words against {label}:", speaks_against),
        ):
            if chosen:
                lines += ["", visible(about), *(_in_line(share, word) for word, share in chosen)]
        if not self.has_words:
            lines += ["", NO_WORDS]
        if self.vectors is not None:
            lines += ["", self._vectors_in_words()]
        if self.documents:
            lines += ["", "most influential training documents:"]
        for one in self.documents[:n]:
            about = f"{one.name}, {one.label}: {shorten(one.text, 70, placeholder=' ...')}"
            lines.append(_in_line(one.shares[label], about))
        return "\n".join(lines)

    def headline(self) -> str:
        """Return the label, its probability and its score, in a line."""
        empty = f"an empty text scores {self.empty[self.label]:+.3f}"
        score = f"score {self.score[self.label]:+.3f} ({empty})"
        return visible(f"{self.label} ({self.probability[self.label]:.0%}): {score}")

    def _vectors_in_words(self) -> str:
        assert self.vectors is not None
        return f"vectors of the text: {self.vectors[self.label]:+.3f}"

    def __repr__(self) -> str:
        return f"<Explanation: {self.headline()}>"

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Return the text with its five strongest words marked, as a fragment of HTML.

        Only the first 100,000 characters are shown.
        """
        classes, n_more = list(self.score), len(self.given) - MAX_SHOWN
        parts, place = [], 0
        chosen = sorted(
            (word for word in self.words[:N_SHOWN] if word.stop <= MAX_SHOWN),
            key=lambda word: word.start,
        )
        largest = max((_ahead(word) for word in chosen), default=0.0) or 1.0
        for word in chosen:
            style = mark_style(classes.index(word.label), _ahead(word) / largest)
            title = escape(f"{word.shares[word.label]:+.3f} for {word.label}")
            parts.append(escape(self.given[place : word.start]))
            parts.append(f'<mark style="{style}" title="{title}">{escape(word.text)}</mark>')
            place = word.stop
        parts.append(escape(self.given[place:MAX_SHOWN]))
        notes = f"<p>{n_more} more characters are not shown.</p>" if n_more > 0 else ""
        notes += "" if self.has_words else f"<p>{NO_WORDS}</p>"
        notes += "" if self.vectors is None else f"<p>{self._vectors_in_words()}</p>"
        page = (
            '<figure class="gramshift-explanation">'
            f'<figcaption dir="auto">{escape(self.headline())}</figcaption>'
            '<p dir="auto" style="white-space: pre-wrap; unicode-bidi: isolate">'
            f"{''.join(parts)}</p>{notes}</figure>"
        )
        return page.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded


# those of review.css
COLOURS = ("#c05518", "#2c6db3", "#287d4e", "#8450c4", "#8f6c08", "#bb3583", "#0b7a84", "#66707c")


def mark_style(code: int, strength: float) -> str:
    """Return the style of a word that indicates a class; a page may have its own colours.

    Classes that come after the last colour have the same ones with another line.
    """
    times, number = divmod(code, len(COLOURS))
    line = ("2px solid", "2px dashed", "2px dotted", "3px double")[times % 4]
    colour = f"var(--c{number}, {COLOURS[number]})"
    background = f"color-mix(in srgb, {colour} {10 + 40 * strength:.0f}%, transparent)"
    return f"background: {background}; color: inherit; border-bottom: {line} {colour}"


def _ahead(word: Span) -> float:
    """Return the share of a word for its class, minus its mean share."""
    return word.shares[word.label] - sum(word.shares.values()) / len(word.shares)


def _sum_up(words: list[Span], label: Any) -> list[tuple[str, float]]:
    """Return each word once, with its share of the score of the label; largest first."""
    places: dict[str, list[Span]] = {}
    for word in words:
        places.setdefault(" ".join(word.text.split()).casefold(), []).append(word)
    found = []
    for several in places.values():
        times = f" ({len(several)} times)" if len(several) > 1 else ""
        found.append((several[0].text + times, sum(word.shares[label] for word in several)))
    return sorted(found, key=lambda one: -one[1])


def _in_line(share: float, words: str) -> str:
    return f"  {share:+.3f}  {visible(' '.join(words.split()))}"


def spread_scores(
    model: KernelModel,
    texts: Sequence[str],
    *,
    own: Sequence[int],
    progress: Progress | None = None,
    block: int = BLOCK,
    together: int = MAX_BLOCK_CHARACTERS,
) -> Iterator[Floats]:
    """Yield what each character of each text adds to its scores in a linear model, per class.

    ``own`` is the number of each text among the documents of the model, -1 for none. Its effect on
    its own score is left out, because a document shares all of its n-grams with itself. At most
    ``block`` texts with ``together`` characters are scored at a time.
    """
    assert model.ngrams is not None, "characters have shares in a linear model"
    numbers = np.asarray(own, np.intp)
    for part in cut_parts(texts, block, together):
        known = numbers[part]
        coefficients = np.zeros((len(known), len(model.intercepts)))
        coefficients[known >= 0] = model.coefficients[known[known >= 0]]
        yield from model.ngrams.spread(texts[part], coefficients)
        if progress is not None:
            progress("explain", part.stop, len(texts))


def cut_parts(texts: Sequence[str], most: int, together: int) -> Iterator[slice]:
    """Yield slices of at most ``most`` texts with ``together`` characters, or of one text."""
    start, held = 0, 0
    for number, text in enumerate(texts):
        if number > start and (number - start >= most or held + len(text) > together):
            yield slice(start, number)
            start, held = number, 0
        held += len(text)
    if start < len(texts):
        yield slice(start, len(texts))


def explain_text(fit: FitResult, text: str) -> Explanation:
    """Split the score of a document by documents, and by characters if the model is linear."""
    model, classes = fit.model, fit.classes.tolist()
    if model.kernel_list is None or not all(isinstance(one, str) for one in model.documents[:1]):
        given = "a kernel matrix" if model.kernel_list is None else "rows of numbers"
        raise InputError(
            f"explain takes a text, and this classifier was fitted on {given};"
            " fit on texts to see what decided"
        )
    if not isinstance(text, str):
        raise InputTypeError(
            f"explain takes one document, a str, and not one of type {type(text).__name__};"
            " call it for each of several"
        )
    similarity = model.describe([text]).gram[0] if len(model.documents) else np.zeros(0)
    gain = np.expm1(similarity) / e if model.adapt else similarity
    by_document = model.coefficients * gain[:, None]
    by_character = np.zeros((len(text), len(classes)))
    by_vector = None
    if model.ngrams is not None:
        by_character = model.ngrams.spread([text])[0]
    if model.ngrams is not None and model.ngrams.vectors is not None:
        by_vector = model.ngrams.score_vectors([text])[0]
        by_document *= 1 - model.ngrams.vectors.share
    base = model.coefficients.sum(axis=0) / e if model.adapt else np.zeros(len(classes))
    empty = base + model.intercepts
    score = empty + (by_document if model.ngrams is None else by_character).sum(axis=0)
    if by_vector is not None:
        score = score + by_vector
    code, probability = fit.judge(text, score)

    def name(values: Floats) -> dict[Any, float]:
        return dict(zip(classes, values.tolist(), strict=True))

    def span(start: int, stop: int, code: int) -> Span:
        shares = name(by_character[start:stop].sum(axis=0))
        return Span(start, stop, text[start:stop], classes[code], shares)

    own = _find_itself(fit, text)
    order = np.argsort(-np.abs(by_document[:, code]), kind="stable").tolist()
    others = [row for row in order if row != own]
    return Explanation(
        given=text,
        label=classes[code],
        score=name(score),
        empty=name(empty),
        spans=[span(*one) for one in decisive_spans(by_character)],
        documents=[
            _introduce(fit, row, float(similarity[row]), name(by_document[row])) for row in others
        ],
        probability=name(probability),
        words=[span(one.start, one.stop, one.code) for one in rank_words(text, by_character)],
        itself=None if own is None else name(by_document[own]),
        has_words=model.ngrams is not None,
        vectors=None if by_vector is None else name(by_vector),
    )


def _find_itself(fit: FitResult, text: str) -> int | None:
    """Return the number of a document with this text, of the target if possible; None if none."""
    equal = [row for row, document in enumerate(fit.model.documents) if document == text]
    return min(equal, key=lambda row: bool(fit.training_set.is_source[row]), default=None)


def _introduce(fit: FitResult, row: int, similarity: float, shares: dict[Any, float]) -> Neighbour:
    """Return a document of the fit with its share of the score."""
    role = "source" if fit.is_source[row] else "target"
    file, known_as = (None, None) if fit.origins is None else fit.origins[row]
    label, text = fit.all_labels[row], fit.model.documents[row]
    return Neighbour(fit.places[row], role, label, similarity, text, shares, file, known_as)


def decisive_spans(by_character: Floats) -> list[tuple[int, int, int]]:
    """Return runs of characters that push towards the same class, as (start, stop, class)."""
    leading = np.where(np.any(by_character != 0, axis=1), by_character.argmax(axis=1), -1)
    edges = np.flatnonzero(np.diff(leading, prepend=-2, append=-2))
    runs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return [(start, stop, int(leading[start])) for start, stop in runs if leading[start] >= 0]
