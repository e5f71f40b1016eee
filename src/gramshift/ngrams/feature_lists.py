"""Which documents have which n-grams, by n-gram: what a linear model of n-grams is multiplied by."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.ngrams.index import KINDS
from gramshift.ngrams.leaves import lists as leaves
from gramshift.ngrams.leaves import runs
from gramshift.ngrams.sorted_ngrams import HoldsArrays, Run, SortedNGrams, SortedShard, run_serially

Array = NDArray[Any]
Floats = NDArray[np.float64]
FOUR = 4  # numbers that a processor adds at once: columns are multiples of it
N_CHUNKS = 16  # of a pass over all features: the same for any number of threads, so that sums have the same order
MOST_CELLS = 1 << 23  # of the results of all chunks together
Count = Callable[[NDArray[np.int64], int], NDArray[np.int64]]
"""(a group for each document, number of groups) -> documents of each group that have each n-gram; -1 is no group."""
WORTH_THREADS = 1 << 16  # entries: fewer are read sooner than threads are started


@dataclass(frozen=True)
class FeatureLists(HoldsArrays):
    """Feature f stands for ``times[f]`` n-grams, all in the same ``sizes[f]`` documents, two or more, and in no others.

    Its documents stand in ``gaps[starts[f]:starts[f + 1]]`` as :mod:`gramshift.ngrams.leaves.lists` tells; ``counts`` say how
    often each has it, where that matters. Its n-grams begin at ``places[f]`` of the texts, the longest with ``longest[f]``
    characters and each other with one less than the one before. ``unshared[d]`` is what the n-grams that document d alone has
    add to its kernel with itself, unless they have weights.
    """

    n_docs: int
    starts: Array
    gaps: Array
    counts: Array
    sizes: Array
    times: Array
    places: Array
    longest: Array
    unshared: Array

    @property
    def n_features(self) -> int:
        return self.starts.size - 1

    def weigh(self, make_weights: Callable[[Count], Floats], *, run: Run = run_serially) -> Floats:
        """What an n-gram of each feature weighs: ``make_weights`` asks how many documents have some of them."""

        def weigh(first: int, last: int) -> Floats:
            def count(groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
                if n_groups == 1 and not groups.any():  # all documents
                    everywhere: NDArray[np.int64] = self.sizes[None, first:last].astype(np.int64)
                    return everywhere
                counts = np.zeros((n_groups, last - first), np.int64)
                leaves.count_groups(self.starts, self.gaps, groups, first, last, counts)
                return counts

            return make_weights(count)

        return np.concatenate(self._run(run, weigh))

    def own_values(self, weights: Floats, *, run: Run = run_serially) -> Floats:
        """What each document's features add to its kernel with itself."""

        def add(first: int, last: int) -> Floats:
            out = np.zeros(self.n_docs)
            leaves.add_own(self.starts, self.gaps, self.counts, weights, first, last, out)
            return out

        return self._sum(self._run(run, add, width=1), np.zeros(self.n_docs))

    def multiply(self, weights: Floats, vectors: Floats, *, run: Run = run_serially) -> Floats:
        """X diag(weights) X' vectors, where X has a row per document: the same bits for any number of threads."""
        width = vectors.shape[1]
        if self.counts.size:
            return self._multiply(leaves.multiply_counted, (self.counts, weights), vectors, run)
        if width == 1:
            return self._multiply(leaves.multiply_vector, (weights,), vectors[:, 0], run)[:, None]
        padded = np.zeros((self.n_docs, -(-width // FOUR) * FOUR))
        padded[:, :width] = vectors
        return self._multiply(leaves.multiply_vectors, (weights,), padded, run)[:, :width]

    def _multiply(self, leaf: Any, weighted: tuple[Array, ...], vectors: Floats, run: Run) -> Floats:
        vectors = np.ascontiguousarray(vectors)

        def add(first: int, last: int) -> Floats:
            out = np.zeros(vectors.shape)
            leaf(self.starts, self.gaps, *weighted, first, last, vectors, out)
            return out

        parts = self._run(run, add, width=vectors.size // max(1, self.n_docs))
        return self._sum(parts, np.zeros(vectors.shape))

    def gather(self, vectors: Floats, features: Array | None = None, *, run: Run = run_serially) -> Floats:
        """X' vectors: the sum of the documents of each feature, or of some features, which ascend."""
        chosen = np.arange(self.n_features) if features is None else np.ascontiguousarray(features, np.int64)
        vectors, out = np.ascontiguousarray(vectors), np.zeros((chosen.size, vectors.shape[1]))

        def add(first: int, last: int) -> None:
            part = slice(*np.searchsorted(chosen, [first, last]).tolist())
            leaves.gather_lists(self.starts, self.gaps, self.counts, chosen[part], vectors, out[part])

        self._run(run, add)
        return out

    def rows(self, weights: Floats, documents: Array) -> Floats:
        """X diag(weights) X' in full, for some documents: they need not ascend, but must differ."""
        numbers = np.full(self.n_docs, -1, np.int64)
        numbers[documents] = np.arange(len(documents))
        out, members, frequencies = (
            np.zeros((len(documents), self.n_docs)),
            np.empty(self.n_docs, np.uint32),
            np.empty(self.n_docs),
        )
        leaves.add_rows(self.starts, self.gaps, self.counts, weights, numbers, members, frequencies, out)
        return out

    def narrow(self, weights: Floats, documents: Array, *, run: Run = run_serially) -> tuple["FeatureLists", Floats, Floats]:
        """The same for some documents, which ascend: features that two of them have or more, and that weigh something.

        Also the weights of these features, and what all others add to the kernel of each document with itself.
        """
        numbers = np.full(self.n_docs, -1, np.int64)
        numbers[documents] = np.arange(len(documents))

        def write(first: int, last: int) -> tuple[Array, Array, Array, Floats, Floats]:
            size, own, written = int(self.starts[last] - self.starts[first]), np.zeros(len(documents)), np.zeros(2, np.int64)
            made = self._make_arrays(last - first, size)
            leaves.narrow_lists(self.starts, self.gaps, self.counts, weights, first, last, numbers, *made, own, written)
            f, n = written.tolist()
            # in the order of their sizes, the ends of loops over them are foreseen, which takes a third off their time
            sizes = np.minimum(np.diff(made[0][: f + 1]), leaves.FAR).astype(np.uint16)  # sorted by digits, in no time
            order = np.argsort(sizes, kind="stable")
            sorted_ = self._make_arrays(f, n)
            leaves.reorder_lists(*made, order, *sorted_)
            return *sorted_, own

        starts, gaps, counts, new_weights, own = map(list, zip(*self._run(run, write), strict=True))
        none = np.zeros(0, np.uint32)
        narrowed = FeatureLists(
            len(documents), _join_starts(starts), _join(gaps, np.uint16), _join(counts, np.uint32), none, none, none, none, none
        )
        return narrowed, _join(new_weights, np.float64), self._sum(own, np.zeros(len(documents)))

    def _make_arrays(self, n_features: int, n_entries: int) -> tuple[Array, Array, Array, Floats]:
        """Room for starts, gaps, counts and weights."""
        counts = np.empty(n_entries if self.counts.size else 0, np.uint32)
        return np.empty(n_features + 1, np.int64), np.empty(n_entries, np.uint16), counts, np.empty(n_features)

    @cached_property
    def _cuts(self) -> Array:
        """Where a pass is cut into chunks of about as many entries each."""
        places = np.linspace(0, self.gaps.size, N_CHUNKS + 1)
        cuts: Array = np.searchsorted(self.starts, places)
        cuts[0], cuts[-1] = 0, self.n_features
        return cuts

    def _run(self, run: Run, work: Callable[[int, int], Any], *, width: int = 0) -> list[Any]:
        """What ``work`` makes of each chunk, in order; of results with so many columns a row per document fewer are held."""
        few = self.gaps.size < WORTH_THREADS
        step = N_CHUNKS if few else 1
        while step < N_CHUNKS and N_CHUNKS // step * width * self.n_docs > MOST_CELLS:
            step *= 2
        cuts = self._cuts[::step].tolist()
        chunks = list(pairwise(cuts))
        run = run_serially if few else run
        return run(lambda chunk: work(*chunk), chunks)

    @staticmethod
    def _sum(parts: list[Floats], total: Floats) -> Floats:
        for part in parts:
            total += part
        return total


def build_lists(ngrams: SortedNGrams, *, kind: str = "presence", run: Run = run_serially) -> FeatureLists:
    """Find all n-grams that two documents or more share, and list these documents."""
    parts = ngrams.map(lambda shard: _list_shard(shard, ngrams, kind), run=run)
    n_docs = ngrams.texts.n_docs
    starts = _join_starts([part.pop("starts") for part in parts])
    self_values = sum((part.pop("self_values") for part in parts), start=np.zeros(n_docs, np.int64))
    joined = {name: _join([part.pop(name) for part in parts], dtype) for name, dtype in TYPES.items()}
    found = FeatureLists(n_docs, starts, **joined, unshared=self_values)
    shared = found.own_values(found.times.astype(np.float64), run=run)  # whole numbers, exact in double precision
    np.subtract(self_values, shared.astype(np.int64), out=self_values)
    return found


TYPES = {
    "gaps": np.uint16,
    "counts": np.uint32,
    "sizes": np.uint32,
    "times": np.uint32,
    "places": np.uint32,
    "longest": np.uint32,
}


def _list_shard(shard: SortedShard, ngrams: SortedNGrams, kind: str) -> dict[str, Array]:
    """The lists of one shard, by the names of the arrays."""
    texts, (shortest, longest) = ngrams.texts, ngrams.limits
    docs, self_values = shard.docs(), np.zeros(texts.n_docs, np.int64)
    runs.count_unshared(docs, texts.bounds, shard.positions, shard.common, shortest, longest, self_values)
    found = shard.runs(shortest)
    lengths = found[:, 1] - found[:, 0]
    if kind == "intersection":  # a run can become several features, but its positions are an upper bound for their members
        n_features, n_members = int(lengths.sum()) // 2, int(lengths.sum())
    else:
        n_features, n_members = len(found), int(np.minimum(lengths, texts.n_docs).sum())
    n_entries = n_members + n_features * (texts.n_docs // leaves.FAR)
    most = {"gaps": n_entries, "counts": n_entries if kind == "spectrum" else 0}
    arrays = {name: np.empty(most.get(name, n_features), dtype) for name, dtype in TYPES.items()}
    starts, written, largest = np.empty(n_features + 1, np.int64), np.zeros(2, np.int64), min(texts.n_docs, docs.size)
    leaves.list_runs(
        docs, shard.positions, shard.common, found, KINDS[kind], np.full(texts.n_docs, -1, np.int32),
        np.empty(2 * largest, np.uint32), np.empty(largest, np.uint32), self_values,
        starts, *(arrays[name] for name in ("sizes", "times", "places", "longest", "gaps", "counts")), written,
    )  # fmt: skip
    f, n = written.tolist()
    cut = {name: array[: min(array.size, n if name in most else f)].copy() for name, array in arrays.items()}
    return cut | {"starts": starts[: f + 1].copy(), "self_values": self_values}


def _join(parts: list[Array], dtype: Any) -> Array:
    """Arrays one after another; each is let go of once it is copied, so that they do not take twice the memory."""
    whole, at = np.empty(sum(part.size for part in parts), dtype), 0
    for number in range(len(parts)):
        part = parts[number]
        whole[at : at + part.size] = part
        at += part.size
        parts[number] = part[:0].copy()
    return whole


def _join_starts(parts: list[Array]) -> Array:
    """The starts of lists that stand one after another."""
    ends = np.cumsum([0, *(int(part[-1]) for part in parts)])
    return np.concatenate([*(part[:-1] + end for part, end in zip(parts, ends, strict=False)), ends[-1:]]).astype(np.int64)
