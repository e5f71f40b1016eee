"""Why a document got its score: what its characters add to it, and the documents that it shares n-grams with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from math import e
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.leaves.attribution import count_members, spread_runs
from gramshift.kernels.weighting import Groups, Weighting, make_weights
from gramshift.model.fitted import Fit, Model
from gramshift.model.string_kernel import StringKernel
from gramshift.ngrams.index import KINDS
from gramshift.ngrams.places import Places, find_places
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress, count_threads, run_threads
from gramshift.text.encode import encode
from gramshift.text.steps import Aligned
from gramshift.text.terminal import visible

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
    model: Model, texts: Sequence[str], *, own: Sequence[int] | None = None, progress: Progress | None = None
) -> Iterator[Shares]:
    """For each text. With its normaliser held fixed K-hat is a sum over n-grams, and through the exponential each of them
    gets its part of exp(-1 + s) - exp(-1) in proportion to its part of s.

    ``own`` tells which document of the model each text is, -1 for none. What it has in common with itself is then left out:
    all of it is, and would drown the rest.
    """
    step = max(1, CELLS // max(1, len(model.documents)))
    for start in range(0, len(texts), step):
        here = partial(_move, progress, start, len(texts)) if progress else None
        part = slice(start, start + step)
        yield from _find(model, texts[part], own[part] if own is not None else None, here)


def _move(progress: Progress, start: int, total: int, stage: str, done: int, _: int) -> None:
    progress(stage, min(start + done * BLOCK, total), total)


def _find(model: Model, texts: Sequence[str], own: Sequence[int] | None, progress: Progress | None) -> Iterator[Shares]:
    kernels: list[StringKernel] = model.comparison.kernels if model.comparison is not None else []
    groups = model.reference.groups
    normal = [kernel.gram(texts, model.documents, normalize=True, **groups) for kernel in kernels]
    similarity = np.mean(normal, axis=0)
    if own is not None:
        rows = np.flatnonzero(np.asarray(own) >= 0)
        similarity[rows, np.asarray(own)[rows]] = 0
    gain = np.expm1(similarity) / e if model.adapt else similarity
    per_similarity = np.divide(gain, similarity, out=np.zeros_like(gain), where=similarity > 0)
    shares = [np.zeros((len(text), model.coefficients.shape[1])) for text in texts]
    for kernel, values in zip(kernels, normal, strict=True):
        counted = kernel.gram(texts, model.documents, normalize=False, **groups)
        factor = np.divide(values, counted, out=values, where=counted > 0)  # of no use where nothing is counted
        factor *= per_similarity
        factor /= len(kernels)
        weighting = kernel.make_weighting(len(model.documents), **groups)
        for row, more in enumerate(_spread(kernel, texts, model, weighting, factor, progress)):
            shares[row] += more
    for row, by_character in enumerate(shares):
        yield Shares(similarity[row], gain[row], by_character)


def _spread(
    kernel: StringKernel,
    texts: Sequence[str],
    model: Model,
    weighting: Weighting | None,
    factor: Floats,
    progress: Progress | None,
) -> Iterator[Floats]:
    (low, high), _ = kernel.check_parameters()
    aligned, known = kernel.align(texts, model.documents)
    n_known, n_threads = len(known), count_threads(kernel.n_jobs)
    encoded = encode([*known, *(one.text for one in aligned)])
    first_character = encoded.bounds[n_known]
    out = np.zeros((encoded.codes.size - first_character, model.coefficients.shape[1]))
    longest = max(len(one.text) for one in aligned)
    run = partial(run_threads, n_threads=n_threads)
    found = find_places(encoded, (low, min(high, longest)), run=run) if longest >= low else []
    mixed = [(part, _mixed(part, n_known)) for part in found]
    parts = [(part, runs, _weigh(part, runs, weighting, n_known, encoded.n_docs)) for part, runs in mixed]

    def work(start: int) -> None:
        first, last = n_known + start, n_known + min(start + BLOCK, len(texts))
        here = out[encoded.bounds[first] - first_character : encoded.bounds[last] - first_character]
        for part, runs, weights in parts:
            spread_runs(
                part.docs, part.positions, part.common, runs, weights, KINDS[kernel.kind], encoded.bounds,
                n_known, first, factor[start : start + BLOCK], model.coefficients, here,
            )  # fmt: skip

    Runtime(n_threads, progress=progress).run(work, range(0, len(texts), BLOCK), stage="explain")
    bounds = encoded.bounds[n_known:] - first_character
    for text, one, start, stop in zip(texts, aligned, bounds[:-1], bounds[1:], strict=True):
        yield _at_origins(out[start:stop], one, len(text))


def _mixed(part: Places, n_known: int) -> NDArray[np.int64]:
    """The runs that hold documents of both sorts: the first ``n_known`` and others."""
    before = np.concatenate([[0], np.cumsum(part.docs < n_known)])
    known, size = before[part.runs[:, 1]] - before[part.runs[:, 0]], part.runs[:, 1] - part.runs[:, 0]
    return np.ascontiguousarray(part.runs[(known > 0) & (known < size)])


def _weigh(part: Places, runs: NDArray[np.int64], weighting: Weighting | None, n_known: int, n_docs: int) -> Floats:
    """What the n-grams of each run weigh, by the known documents that have them."""
    if weighting is None:
        return np.ones(len(runs))

    def count(groups: Groups, n_groups: int) -> NDArray[np.int64]:
        counts = np.zeros((n_groups, len(runs)), np.int64)
        count_members(part.docs, runs, np.concatenate([groups, np.full(n_docs - n_known, -1)]), counts)
        return counts

    return make_weights(weighting, n_known, count)


def _at_origins(shares: Floats, aligned: Aligned, length: int) -> Floats:
    """From characters of the prepared text to those of the original, evenly where one comes from several."""
    result = np.zeros((length, shares.shape[1]))
    if not len(shares):
        return result
    origins: NDArray[Any] = np.array([aligned.starts, aligned.stops]).T
    edges = np.flatnonzero(np.any(np.diff(origins, axis=0, prepend=-1) != 0, axis=1))  # several can come from one
    starts, stops = origins[edges].T
    widths = stops - starts
    values = np.add.reduceat(shares, edges, axis=0) / widths[:, None]
    places = np.arange(widths.sum()) + np.repeat(starts - np.cumsum(widths) + widths, widths)
    np.add.at(result, places, np.repeat(values, widths, axis=0))
    return result


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


def explain_text(fit: Fit, text: str) -> Explanation:
    """Take the score of one document apart; what its n-grams do not add is the score of an empty document."""
    model, classes, numbers, labels = fit.model, fit.classes.tolist(), fit.compared.tolist(), fit.all_labels
    is_source = fit.labelling.is_source
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
        Neighbour(
            numbers[i],
            "source" if is_source[numbers[i]] else "target",
            labels[numbers[i]],
            float(shares.similarity[i]),
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
