"""What the characters of many documents add to their scores, from one walk over all n-grams."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import e
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.leaves.attribution import count_members, spread_runs
from gramshift.kernels.weighting import Groups, Weighting, make_weights
from gramshift.model.fitted import Model
from gramshift.model.string_kernel import StringKernel
from gramshift.ngrams.index import KINDS
from gramshift.ngrams.places import Places, find_places
from gramshift.runtime.threads import Progress, count_threads, run_threads
from gramshift.text.align import Aligned
from gramshift.text.encode import encode

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
    groups = model.comparison.groups if model.comparison is not None else {}
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

    run_threads(work, range(0, len(texts), BLOCK), n_threads=n_threads, stage="explain", progress=progress)
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
