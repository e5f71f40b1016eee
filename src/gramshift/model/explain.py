"""Why a document got its score: what its characters add to it, and the documents that it shares n-grams with."""

from collections.abc import Iterator, Sequence
from math import e
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, InputTypeError
from gramshift.model.explanation import Explanation, Neighbour, Span
from gramshift.model.fitted import Fit, Model
from gramshift.model.word_spans import rank_words
from gramshift.runtime.budget import LINEAR_TOGETHER
from gramshift.runtime.threads import Progress

Floats = NDArray[np.float64]
BLOCK = 64  # documents that are explained at a time


def spread_scores(
    model: Model,
    texts: Sequence[str],
    *,
    own: Sequence[int],
    progress: Progress | None = None,
    block: int = BLOCK,
    together: int = LINEAR_TOGETHER,
) -> Iterator[Floats]:
    """Yield what each character of each text adds to its scores in a linear model, per class.

    ``own`` has the number of each text among the documents of the model, -1 for none: what it taught about itself is left out,
    because a document shares all of its n-grams with itself. At most ``block`` texts with ``together`` characters are looked up
    at a time.
    """
    assert model.ngrams is not None, "characters have shares in a linear model"
    numbers = np.asarray(own, np.intp)
    for part in cut_parts(texts, block, together):
        known = numbers[part]
        coefficients = np.zeros((len(known), len(model.intercepts)))
        coefficients[known >= 0] = model.coefficients[known[known >= 0]]  # none, if it was saved without texts
        yield from model.ngrams.spread(texts[part], coefficients)
        if progress is not None:
            progress("explain", part.stop, len(texts))


def cut_parts(texts: Sequence[str], most: int, together: int) -> Iterator[slice]:
    """Yield slices of at most ``most`` texts with at most ``together`` characters; a longer text has a slice of its own."""
    start, held = 0, 0
    for number, text in enumerate(texts):
        if number > start and (number - start >= most or held + len(text) > together):
            yield slice(start, number)
            start, held = number, 0
        held += len(text)
    if start < len(texts):
        yield slice(start, len(texts))


def explain_text(fit: Fit, text: str) -> Explanation:
    """Split the score of one document by the documents of the fit, and by its characters if the model is linear."""
    model, classes = fit.model, fit.classes.tolist()
    if model.similarities is None or not all(isinstance(one, str) for one in model.documents[:1]):
        given = "a kernel matrix" if model.similarities is None else "rows of numbers"
        raise InputError(f"explain takes a text, and this classifier was fitted on {given}; fit on texts to see what decided")
    if not isinstance(text, str):
        raise InputTypeError(f"explain takes one document as a str, not a {type(text).__name__}; call it for each of several")
    similarity = model.describe([text]).gram[0] if len(model.documents) else np.zeros(0)
    gain = np.expm1(similarity) / e if model.adapt else similarity
    by_document = model.coefficients * gain[:, None]
    by_character = np.zeros((len(text), len(classes))) if model.ngrams is None else model.ngrams.spread([text])[0]
    base = model.coefficients.sum(axis=0) / e if model.adapt else np.zeros(len(classes))
    empty = base + model.intercepts
    score = empty + (by_document if model.ngrams is None else by_character).sum(axis=0)
    code, probability = fit.judge(text, score)

    def name(values: Floats) -> dict[Any, float]:
        return dict(zip(classes, values.tolist(), strict=True))

    def span(start: int, stop: int, code: int) -> Span:
        return Span(start, stop, text[start:stop], classes[code], name(by_character[start:stop].sum(axis=0)))

    own = _find_itself(fit, text)
    order = [row for row in np.argsort(-np.abs(by_document[:, code]), kind="stable").tolist() if row != own]
    return Explanation(
        text,
        classes[code],
        name(score),
        name(empty),
        [span(*one) for one in decisive_spans(by_character)],
        [_introduce(fit, row, float(similarity[row]), name(by_document[row])) for row in order],
        {} if probability is None else name(probability),
        [span(one.start, one.stop, one.code) for one in rank_words(text, by_character)],
        None if own is None else name(by_document[own]),
        has_words=model.ngrams is not None,
    )


def _find_itself(fit: Fit, text: str) -> int | None:
    """Which of the compared documents a text is: one of the target if there is one, else one of the source."""
    equal = [row for row, document in enumerate(fit.model.documents) if document == text]
    return min(equal, key=lambda row: bool(fit.labelling.is_source[row]), default=None)


def _introduce(fit: Fit, row: int, similarity: float, shares: dict[Any, float]) -> Neighbour:
    """Say who one of the compared documents is."""
    role = "source" if fit.labelling.is_source[row] else "target"
    file, known_as = (None, None) if fit.origins is None else fit.origins[row]
    label, text = fit.all_labels[row], fit.model.documents[row]
    return Neighbour(fit.places[row], role, label, similarity, text, shares, file, known_as)


def decisive_spans(by_character: Floats) -> list[tuple[int, int, int]]:
    """Runs of characters that push towards the same class, as (start, stop, class); characters without effect end a run."""
    leading = np.where(np.any(by_character != 0, axis=1), by_character.argmax(axis=1), -1)
    edges = np.flatnonzero(np.diff(leading, prepend=-2, append=-2))
    runs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return [(start, stop, int(leading[start])) for start, stop in runs if leading[start] >= 0]
