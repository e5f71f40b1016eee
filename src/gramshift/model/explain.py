"""Why a document got its score: what its characters add to it, and the documents that it shares n-grams with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import pairwise
from math import e
from textwrap import shorten
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
from gramshift.model.fitted import Fit, Model
from gramshift.model.ngram_model import at_origins
from gramshift.model.string_kernel import StringKernel
from gramshift.ngrams.index import KINDS
from gramshift.ngrams.sorted_ngrams import SortedNGrams, SortedShard, sort_ngrams
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress
from gramshift.text.corpus import Corpus
from gramshift.text.encode import encode
from gramshift.text.steps import Aligned, TextSteps, align
from gramshift.text.terminal import visible
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
) -> Iterator[Shares]:
    """Find the shares of each text. With its normaliser held fixed K-hat is a sum over n-grams, and through the exponential
    each of them gets its part of exp(-1 + s) - exp(-1) in proportion to its part of s.

    ``own`` tells which document of the model each text is, -1 for none. What it has in common with itself is then left out:
    all of it is, and would drown the rest. ``cells`` and ``block`` say how many similarities are held and how many documents a
    thread works on at a time.
    """
    step = max(1, cells // max(1, len(model.documents)))
    documents = Corpus(list(model.documents))
    for start in range(0, len(texts), step):
        here = partial(_move, progress, block, start, len(texts)) if progress else None
        part = slice(start, start + step)
        yield from _find(model, documents, texts[part], own[part] if own is not None else None, here, block)


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
        what = f"a gram of {shape[0]} x {shape[1]} documents, with its index,"
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
    """All documents of the fit, or all landmarks, those that counted most for the label first; none without texts."""

    def text(self, *, n: int = 8) -> str:
        """Describe the strongest stretches and documents in lines for a terminal."""
        chosen = sorted(self.spans, key=lambda span: -abs(span.shares[self.label]))[:n]
        lines = [
            f"{self.label}: score {self.score[self.label]:+.4f}, of which {self.empty[self.label]:+.4f} for any document",
            "",
            f"what counts for and against {self.label}:",
            *(f"  {span.shares[self.label]:+.4f}  {visible(span.text)!r}" for span in chosen),
        ]
        if self.documents:
            lines += ["", "through likeness with:"]
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


def spread_scores(
    model: Model, texts: Sequence[str], *, own: Sequence[int], progress: Progress | None = None, block: int = BLOCK
) -> Iterator[Floats]:
    """What each character of each text adds to its scores, per class; ``own`` as :func:`find_shares` has it."""
    if model.ngrams is None:
        yield from (one.by_character for one in find_shares(model, texts, own=own, progress=progress))
        return
    numbers = np.asarray(own, np.intp)
    for start in range(0, len(texts), block):
        part = slice(start, start + block)
        known = numbers[part]
        coefficients = np.zeros((len(known), len(model.intercepts)))
        coefficients[known >= 0] = model.coefficients[known[known >= 0]]  # none, if it was saved without texts
        yield from model.ngrams.spread(texts[part], coefficients)
        if progress is not None:
            progress("explain", min(start + block, len(texts)), len(texts))


def _take_apart(model: Model, text: str) -> tuple[Floats, Floats, Floats]:
    """What each character adds, the similarity to each document of the model, and what that adds."""
    if model.ngrams is None:
        (shares,) = find_shares(model, [text])
        return shares.by_character, shares.similarity, model.coefficients * shares.gain[:, None]
    similarity = model.compare([text], model.documents)[0] if len(model.documents) else np.zeros(0)
    return model.ngrams.spread([text])[0], similarity, model.coefficients * similarity[:, None]


def explain_text(fit: Fit, text: str) -> Explanation:
    """Take the score of one document apart; what its n-grams do not add is the score of an empty document."""
    if not isinstance(text, str):
        raise InputTypeError(f"explain takes one document as a str, not a {type(text).__name__}; call it for each of several")
    if fit.model.similarities is None or not fit.model.similarities.by_counts:
        counting = ", ".join(repr(name) for name, kind in KERNELS.items() if kind.counts)
        raise InputError(f"explain needs string kernels that count n-grams ({counting}): of others the parts are not known")
    model, classes, numbers, labels = fit.model, fit.classes.tolist(), fit.compared.tolist(), fit.all_labels
    is_source = fit.labelling.is_source
    by_character, similarity, by_document = _take_apart(model, text)
    base = model.coefficients.sum(axis=0) / e if model.adapt else np.zeros(len(classes))
    empty = base + model.intercepts
    score = empty + (by_document if model.ngrams is None else by_character).sum(axis=0)
    chosen = int(np.argmax(score))

    def name(values: Floats) -> dict[Any, float]:
        return dict(zip(classes, values.tolist(), strict=True))

    order = np.argsort(-np.abs(by_document[:, chosen]), kind="stable").tolist()
    among_all = range(len(is_source)) if fit.sampled is None else fit.sampled.rows.tolist()
    neighbours = [
        Neighbour(
            among_all[numbers[i]],
            "source" if is_source[numbers[i]] else "target",
            labels[numbers[i]],
            float(similarity[i]),
            model.documents[i],
            name(by_document[i]),
        )
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
