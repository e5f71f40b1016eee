"""Why a document got its score: what its characters add to it, and the documents that it shares n-grams with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import e
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, InputTypeError
from gramshift.grams.gram import clip_range, fill_gram
from gramshift.grams.plan import plan_gram
from gramshift.kernels.kernel import Job
from gramshift.kernels.leaves.attribution import count_members, spread_runs
from gramshift.kernels.registry import KERNELS
from gramshift.kernels.weighting import Groups, Weighting, make_weights
from gramshift.model.explanation import Explanation, Neighbour, Span
from gramshift.model.fitted import Fit, Model
from gramshift.model.ngram_model import at_origins
from gramshift.model.string_kernel import StringKernel
from gramshift.model.word_spans import rank_words
from gramshift.ngrams.index import KINDS
from gramshift.ngrams.sorted_ngrams import SortedNGrams, SortedShard, sort_ngrams
from gramshift.runtime.budget import EXPLAINED_TOGETHER, LINEAR_TOGETHER
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress
from gramshift.text.corpus import Corpus
from gramshift.text.encode import encode
from gramshift.text.steps import Aligned, TextSteps, align
from gramshift.text.words import align_words

Floats = NDArray[np.float64]
CELLS = 1 << 24  # similarities that are held at a time
BLOCK = 64  # documents that a thread works on at a time


@dataclass(frozen=True)
class Shares:
    """One document: its similarity to those of the fit, what that is worth, and what each character adds, per class."""

    similarity: Floats
    gain: Floats
    by_character: Floats


def find_shares(
    model: Model,
    texts: Sequence[str],
    *,
    own: Sequence[int] | None = None,
    progress: Progress | None = None,
    cells: int = CELLS,
    block: int = BLOCK,
    together: int = EXPLAINED_TOGETHER,
) -> Iterator[Shares]:
    """Find the shares of each text. With its normaliser held fixed K-hat is a sum over n-grams, and through the exponential
    each of them gets its part of exp(-1 + s) - exp(-1) in proportion to its part of s.

    ``own`` tells which document of the model each text is, -1 for none. What it has in common with itself is then left out:
    all of it is, and would drown the rest. ``cells`` and ``together`` say how many similarities and characters are held,
    ``block`` how many documents a thread works on at a time.
    """
    step = max(1, cells // max(1, len(model.documents)))
    documents = Corpus(list(model.documents))
    for part in cut_parts(texts, step, together):
        here = partial(_move, progress, block, part.start, len(texts)) if progress else None
        yield from _find(model, documents, texts[part], own[part] if own is not None else None, here, block)


def cut_parts(texts: Sequence[str], most: int, together: int) -> Iterator[slice]:
    """Yield which texts to take at a time: so many at most, with so many characters ``together``, or one that has more."""
    start, held = 0, 0
    for number, text in enumerate(texts):
        if number > start and (number - start >= most or held + len(text) > together):
            yield slice(start, number)
            start, held = number, 0
        held += len(text)
    if start < len(texts):
        yield slice(start, len(texts))


def _move(progress: Progress, block: int, start: int, total: int, stage: str, done: int, _: int) -> None:
    progress(stage, min(start + done * block, total), total)


def _find(
    model: Model,
    documents: Corpus,
    texts: Sequence[str],
    own: Sequence[int] | None,
    progress: Progress | None,
    block: int,
) -> Iterator[Shares]:
    kernels: list[StringKernel] = model.similarities.kernels if model.similarities is not None else []
    groups = model.reference.groups
    origins: dict[TextSteps, list[Aligned]] = {}
    compared = []
    for kernel in kernels:
        _, steps = kernel.check_parameters()
        if steps not in origins:
            origins[steps] = [align(text, steps) for text in texts]
        aligned, known = origins[steps], documents.form(steps)
        if kernel.unit == "word":
            aligned, known = align_words(aligned, known)
        compared.append(_compare(kernel, aligned, known, kernel.make_weighting(len(documents), **groups)))
    similarity = np.mean([one.similarity for one in compared], axis=0)
    if own is not None:
        rows = np.flatnonzero(np.asarray(own) >= 0)
        similarity[rows, np.asarray(own)[rows]] = 0
    gain = np.expm1(similarity) / e if model.adapt else similarity
    per_similarity = np.divide(gain, similarity, out=np.zeros_like(gain), where=similarity > 0)
    shares = [np.zeros((len(text), model.coefficients.shape[1])) for text in texts]
    for one in compared:
        values, counted = one.similarity, one.counted
        factor = np.divide(values, counted, out=values, where=counted > 0)  # of no use where nothing is counted
        factor *= per_similarity
        factor /= len(kernels)
        for row, (more, origin) in enumerate(zip(_spread(one, model, factor, progress, block), one.aligned, strict=True)):
            shares[row] += at_origins(more, origin, len(texts[row]))
    for row, by_character in enumerate(shares):
        yield Shares(similarity[row], gain[row], by_character)


@dataclass(frozen=True)
class _Compared:
    """Texts and the documents of the fit as one kernel sees them: their n-grams, documents first, and both grams."""

    kernel: StringKernel
    aligned: list[Aligned]
    weighting: Weighting | None
    ngrams: SortedNGrams
    counted: NDArray[Any]
    similarity: Floats


def _compare(kernel: StringKernel, aligned: list[Aligned], known: list[str], weighting: Weighting | None) -> _Compared:
    """Sort the n-grams once; count those that texts and documents share, and divide that by what each has with itself."""
    shape, runtime = (len(aligned), len(known)), Runtime(kernel.n_jobs, kernel.memory_limit).pinned()

    def check_size(n_bytes: int) -> None:
        what = f"a kernel matrix of {shape[0]} x {shape[1]} documents, with its index,"
        runtime.require(what, 16 * shape[0] * shape[1] + n_bytes, "raise memory_limit, or explain fewer documents at a time")

    encoded = encode([*known, *(one.text for one in aligned)])
    ngram_range = clip_range(encoded, kernel.kind, kernel.check_parameters()[0])
    check_size(KERNELS[kernel.kind].estimate(encoded, ngram_range))
    ngrams = sort_ngrams(encoded, ngram_range, run=runtime.run)
    job = Job(encoded, len(known), ngram_range, False, {}, runtime.run, check_size, weighting, sorted_ngrams=ngrams)
    ready = KERNELS[kernel.kind].make_ready(job)
    counted = np.empty(shape, ready.dtype)
    budget = runtime.memory - 2 * counted.nbytes - ready.nbytes
    fill_gram(ready, counted, plan_gram(ready, runtime, budget, n_threads=runtime.n_threads), runtime=runtime)
    similarity = counted.copy()
    ready.normalize(slice(0, shape[0]), slice(0, shape[1]), similarity)
    return _Compared(kernel, aligned, weighting, ngrams, counted, similarity.view(np.float64))


@dataclass(frozen=True)
class _MixedRuns:
    """The runs of one shard that hold documents of the fit and others, and what their n-grams weigh."""

    docs: NDArray[Any]
    shard: SortedShard
    runs: NDArray[np.int64]
    weights: Floats


def _spread(one: _Compared, model: Model, factor: Floats, progress: Progress | None, block: int) -> Iterator[Floats]:
    """What each character of each prepared text adds, per class."""
    encoded, n_known, runtime = one.ngrams.texts, factor.shape[1], Runtime(one.kernel.n_jobs, progress=progress)
    first_character, kind = encoded.bounds[n_known], KINDS[one.kernel.kind]
    out = np.zeros((encoded.codes.size - first_character, model.coefficients.shape[1]))
    find = partial(_find_mixed, one, n_known)
    parts = one.ngrams.map(find, run=runtime.run)

    def work(start: int) -> None:
        first, last = n_known + start, n_known + min(start + block, len(factor))
        here = out[encoded.bounds[first] - first_character : encoded.bounds[last] - first_character]
        for part in parts:
            spread_runs(
                part.docs, part.shard.positions, part.shard.common, part.runs, part.weights, kind, encoded.bounds,
                n_known, first, factor[start : start + block], model.coefficients, here,
            )  # fmt: skip

    runtime.run(work, range(0, len(factor), block), stage="explain")
    bounds = encoded.bounds[n_known:] - first_character
    for start, stop in pairwise(bounds):
        yield out[start:stop]


def _find_mixed(one: _Compared, n_known: int, shard: SortedShard) -> _MixedRuns:
    """The runs with documents of both sorts: the first ``n_known`` and others; known documents that have an n-gram weigh it."""
    docs, runs, weighting = shard.docs(), shard.runs(one.ngrams.ngram_range[0]), one.weighting
    before = np.concatenate([[0], np.cumsum(docs < n_known)])
    known, size = before[runs[:, 1]] - before[runs[:, 0]], runs[:, 1] - runs[:, 0]
    runs = np.ascontiguousarray(runs[(known > 0) & (known < size)])
    if weighting is None:
        return _MixedRuns(docs, shard, runs, np.ones(len(runs)))

    def count(groups: Groups, n_groups: int) -> NDArray[np.int64]:
        counts = np.zeros((n_groups, len(runs)), np.int64)
        count_members(docs, runs, np.concatenate([groups, np.full(one.ngrams.texts.n_docs - n_known, -1)]), counts)
        return counts

    return _MixedRuns(docs, shard, runs, make_weights(weighting, n_known, count))


def spread_scores(
    model: Model,
    texts: Sequence[str],
    *,
    own: Sequence[int],
    progress: Progress | None = None,
    block: int = BLOCK,
    together: int = LINEAR_TOGETHER,
) -> Iterator[Floats]:
    """What each character of each text adds to its scores, per class; ``own`` as :func:`find_shares` has it.

    Of a linear model ``block`` texts, with so many characters ``together``, are looked at at a time.
    """
    if model.ngrams is None:
        yield from (one.by_character for one in find_shares(model, texts, own=own, progress=progress))
        return
    numbers = np.asarray(own, np.intp)
    for part in cut_parts(texts, block, together):
        known = numbers[part]
        coefficients = np.zeros((len(known), len(model.intercepts)))
        coefficients[known >= 0] = model.coefficients[known[known >= 0]]  # none, if it was saved without texts
        yield from model.ngrams.spread(texts[part], coefficients)
        if progress is not None:
            progress("explain", part.stop, len(texts))


def _take_apart(model: Model, text: str) -> tuple[Floats, Floats, Floats]:
    """What each character adds, the similarity to each document of the model, and what that adds."""
    if model.ngrams is None:
        (shares,) = find_shares(model, [text])
        return shares.by_character, shares.similarity, model.coefficients * shares.gain[:, None]
    similarity = model.compare([text], model.documents)[0] if len(model.documents) else np.zeros(0)
    return model.ngrams.spread([text])[0], similarity, model.coefficients * similarity[:, None]


def explain_text(fit: Fit, text: str) -> Explanation:
    """Take the score of one document apart; what its n-grams do not add is the score of an empty document."""
    if fit.is_of_rows:
        raise InputError("explain shows the words of a text that decided, and this classifier was fitted on rows of numbers")
    if not isinstance(text, str):
        raise InputTypeError(f"explain takes one document as a str, not a {type(text).__name__}; call it for each of several")
    if fit.model.similarities is None or not fit.model.similarities.by_counts:
        counting = ", ".join(repr(name) for name, kind in KERNELS.items() if kind.counts)
        raise InputError(f"explain needs string kernels that count n-grams ({counting}): of others the parts are not known")
    model, classes = fit.model, fit.classes.tolist()
    by_character, similarity, by_document = _take_apart(model, text)
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
