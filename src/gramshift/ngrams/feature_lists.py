"""Lists of the documents that have each n-gram: the matrix that a linear model is trained with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.ngrams.compiled import lists as loops
from gramshift.ngrams.compiled import nesting, runs
from gramshift.ngrams.sorted_ngrams import HoldsArrays, Run, SortedNGrams, SortedShard, run_serially

Array = NDArray[Any]
Floats = NDArray[np.float64]
SIMD_WIDTH = 4  # numbers that a processor adds at once; columns are padded to a multiple
N_GROUPS = 16  # of chunks, for any number of threads: this fixes the order of sums
MAX_RESULT_CELLS = 1 << 23  # of all groups together
CHUNK_ENTRIES = 1 << 17  # of a chunk, more if a tree has more
MIN_PARALLEL_ENTRIES = 1 << 15  # fewer entries are read faster than threads start
NONE = np.zeros(0, np.uint32)
Count = Callable[[NDArray[np.int64], int], NDArray[np.int64]]
"""Counts documents: (a group for each document, number of groups) -> groups x n-grams.

Documents of group -1 are not counted.
"""


@dataclass(frozen=True)
class Chunk(HoldsArrays):
    """Some of the features, as the arrays described in :mod:`gramshift.ngrams.compiled.lists`."""

    ends: Array
    list_ends: Array
    starts: Array
    docs: Array
    owners: Array
    parents: Array

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.parents.size

    @cached_property
    def _largest(self) -> int:
        """The number of features of the largest block."""
        return int(np.diff(self.ends, prepend=0).max(initial=0))

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return self.ends, self.list_ends, self.starts, self.docs, self.owners, self.parents

    def count(self, groups: NDArray[np.int64], at: int, counts: NDArray[np.int64]) -> None:
        """Add the documents of each group that have each feature to ``counts``, from column ``at``.

        These columns are 0 before.
        """
        loops.count_groups(*self._arrays, groups, at, counts)

    def gather(self, vectors: Floats) -> Floats:
        """Return X' vectors."""
        sums = np.zeros((self.n_features, vectors.shape[1]))
        loops.gather_lists(*self._arrays, vectors, sums)
        return sums

    def add_own(self, weights: Floats, out: Floats) -> None:
        """Add the diagonal of X diag(weights) X' to ``out``."""
        loops.add_own(*self._arrays, weights, np.empty(self._largest + 1), out)

    def add_product(self, weights: Floats, vectors: Floats, out: Floats) -> None:
        """Add X diag(weights) X' vectors to ``out``, for a matrix of vectors or a single vector."""
        multiply = loops.multiply_vector if vectors.ndim == 1 else loops.multiply_vectors
        sums = np.empty((self._largest + 1, *vectors.shape[1:]))
        multiply(*self._arrays, weights, vectors, sums, out)

    def add_rows(
        self, weights: Floats, row_of: Array, column_of: Array, seen: Array, first: int, out: Floats
    ) -> None:
        """Add some rows and columns of X diag(weights) X' to ``out``.

        ``seen``, a scratch array, holds numbers of features below ``first`` only.
        """
        loops.add_rows(*self._arrays, weights, row_of, column_of, seen, first, out)

    def narrow(
        self, weights: Floats, numbers: Array, own: Floats, totals: Array
    ) -> tuple["Chunk", Floats]:
        """Return the features with a weight that two chosen documents or more have, and weights.

        The weight of a feature that one chosen document has is added to its ``own`` value.
        ``totals`` are 0, before and after.
        """
        starts = np.empty(self.n_features + 1, np.int64)
        kept = np.empty(self.n_features)
        added, up = np.empty(self.n_features, np.uint32), np.empty(self.n_features, np.uint32)
        docs = np.empty(self.docs.size, np.uint32)
        n = nesting.narrow_lists(
            *self._arrays, weights, numbers, own, totals, starts, added, docs, up, kept
        )
        return arrange(starts[: n + 1], added[:n], docs, up[:n]), kept[:n].copy()


@dataclass(frozen=True)
class FeatureLists(HoldsArrays):
    """The documents of all n-grams that two documents or more have.

    N-grams with exactly the same documents, and of which one begins the next, are one feature:
    feature f stands for ``times[f]`` n-grams in ``sizes[f]`` documents. They begin at ``places[f]``
    of the texts; the longest has ``longest[f]`` characters, each other one character less than the
    one before.
    Features are a forest, and each lists only documents that its children do not have.
    ``unshared[d]`` is the number of n-grams that only document d has.
    """

    n_docs: int
    chunks: Sequence[Chunk]
    sizes: Array
    times: Array
    places: Array
    longest: Array
    unshared: Array

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays, those of the chunks included."""
        return super().nbytes + sum(chunk.nbytes for chunk in self.chunks)

    @property
    def n_features(self) -> int:
        """The number of features in all chunks."""
        return int(self._firsts[-1])

    @cached_property
    def n_entries(self) -> int:
        """The number of entries in all lists."""
        return sum(chunk.docs.size for chunk in self.chunks)

    def weigh(self, make_weights: Callable[[Count], Floats], *, run: Run = run_serially) -> Floats:
        """Return the weight of each feature's n-grams.

        ``make_weights`` receives a function that counts documents, for some features at a time.
        """

        def weigh(group: range) -> list[Floats]:
            def count(groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
                if n_groups == 1 and not groups.any():  # all documents
                    everywhere = self.sizes[self._firsts[group.start] : self._firsts[group.stop]]
                    return everywhere[None].astype(np.int64)
                first = self._firsts[group.start]
                counts = np.zeros((n_groups, self._firsts[group.stop] - first), np.int64)
                for number in group:
                    at = int(self._firsts[number] - first)
                    self.chunks[number].count(groups, at, counts)
                return counts

            return [make_weights(count)]

        return np.concatenate([np.zeros(0), *self._run(run, weigh)])

    def own_values(self, weights: Floats, *, run: Run = run_serially) -> Floats:
        """Return the diagonal of X diag(weights) X'."""

        def add(group: range) -> list[Floats]:
            out = np.zeros(self.n_docs)
            for number in group:
                self.chunks[number].add_own(self._part(weights, number), out)
            return [out]

        return _sum(self._run(run, add, self.n_docs), np.zeros(self.n_docs))

    def multiply(self, weights: Floats, vectors: Floats, *, run: Run = run_serially) -> Floats:
        """Return X diag(weights) X' vectors, identical for any number of threads.

        X has a row per document and a column per feature.
        """
        width = vectors.shape[1]
        if width == 1:
            return self._multiply(weights, np.ascontiguousarray(vectors[:, 0]), run)[:, None]
        padded = np.zeros((self.n_docs, -(-width // SIMD_WIDTH) * SIMD_WIDTH))
        padded[:, :width] = vectors
        return self._multiply(weights, padded, run)[:, :width]

    def _multiply(self, weights: Floats, vectors: Floats, run: Run) -> Floats:
        def add(group: range) -> list[Floats]:
            out = np.zeros(vectors.shape)
            for number in group:
                self.chunks[number].add_product(self._part(weights, number), vectors, out)
            return [out]

        return _sum(self._run(run, add, vectors.size), np.zeros(vectors.shape))

    def gather(
        self, vectors: Floats, features: Array | None = None, *, run: Run = run_serially
    ) -> Floats:
        """Return X' vectors, the sums over the documents of all features, or of some, ascending."""
        chosen = np.arange(self.n_features) if features is None else features
        vectors = np.ascontiguousarray(vectors)
        bounds = np.searchsorted(chosen, self._firsts)
        out = np.empty((len(chosen), vectors.shape[1]))

        def gather(group: range) -> list[None]:
            for number in group:
                here = slice(bounds[number], bounds[number + 1])
                out[here] = self.chunks[number].gather(vectors)[chosen[here] - self._firsts[number]]
            return []

        self._run(run, gather)
        return out

    def rows(self, weights: Floats, documents: Array, others: Array) -> Floats:
        """Return some rows and columns of X diag(weights) X'; in any order, but without repeats."""
        out = np.zeros((len(documents), len(others)))
        row_of = self._number(documents)
        column_of = self._number(others)
        seen = np.full(self.n_docs, -1, np.int64)
        for number, chunk in enumerate(self.chunks):
            chunk.add_rows(
                self._part(weights, number), row_of, column_of, seen, int(self._firsts[number]), out
            )
        return out

    def narrow(
        self, weights: Floats, documents: Array, *, run: Run = run_serially
    ) -> tuple["FeatureLists", Floats, Floats]:
        """Return the lists of some documents (ascending), the weights left, and ``own`` values.

        Features without a weight, or that fewer than two of the documents have, are dropped.
        ``own`` is the part of the diagonal of X diag(weights) X' that comes from dropped features.
        The result has only the arrays that training needs.
        """
        numbers = self._number(documents).astype(np.int32)

        def narrow(group: range) -> list[tuple[list[tuple[Chunk, Floats]], Floats]]:
            own, totals = np.zeros(len(documents)), np.zeros(len(documents), np.int32)
            found = [
                self.chunks[number].narrow(self._part(weights, number), numbers, own, totals)
                for number in group
            ]
            return [(found, own)]

        parts = self._run(run, narrow, len(documents))
        found = [one for some, _ in parts for one in some]
        narrowed = FeatureLists(
            len(documents), [chunk for chunk, _ in found], NONE, NONE, NONE, NONE, NONE
        )
        left = np.concatenate([np.zeros(0), *(kept for _, kept in found)])
        return narrowed, left, _sum([own for _, own in parts], np.zeros(len(documents)))

    def _number(self, documents: Array) -> Array:
        """Return the number of each document among those given, -1 for the others."""
        numbers = np.full(self.n_docs, -1, np.int64)
        numbers[documents] = np.arange(len(documents))
        return numbers

    @cached_property
    def _firsts(self) -> Array:
        """The number of the first feature of each chunk, and the number of all features."""
        return np.cumsum([0, *(chunk.n_features for chunk in self.chunks)])

    def _part(self, values: Array, number: int) -> Array:
        """Return the values of the features of one chunk."""
        return values[self._firsts[number] : self._firsts[number + 1]]

    @cached_property
    def _cuts(self) -> list[int]:
        """The bounds of the groups of chunks, which have about the same number of entries each."""
        after = np.cumsum([0, *(chunk.docs.size for chunk in self.chunks)])
        cuts: list[int] = np.searchsorted(after, np.linspace(0, after[-1], N_GROUPS + 1)).tolist()
        return [0, *cuts[1:-1], len(self.chunks)]

    def _run(self, run: Run, work: Callable[[range], list[Any]], n_cells: int = 0) -> list[Any]:
        """Return the results of ``work`` for each group, in order.

        Results of ``n_cells`` each are made for fewer groups if they would take too much memory.
        """
        few = self.n_entries < MIN_PARALLEL_ENTRIES
        step = N_GROUPS if few else 1
        while step < N_GROUPS and N_GROUPS // step * n_cells > MAX_RESULT_CELLS:
            step *= 2
        groups = [range(*both) for both in pairwise(self._cuts[::step])]
        return [one for found in (run_serially if few else run)(work, groups) for one in found]


def arrange(starts: Array, added: Array, docs: Array, up: Array) -> Chunk:
    """Cut features into blocks, and order the lists of each block."""
    ends = np.empty(up.size, np.int64)
    ends = ends[: nesting.cut_blocks(up, ends)].copy()
    n_lists = int(np.count_nonzero(added) + np.count_nonzero(np.diff(starts) > added))
    n_entries = int(starts[-1] - starts[0])
    list_ends, list_starts = np.empty((ends.size, 2), np.int64), np.empty(n_lists + 1, np.int64)
    owners, parents, new_docs = (
        np.empty(size, np.uint32) for size in (n_lists, up.size, n_entries)
    )
    nesting.order_lists(
        starts, added, docs, up, ends, list_ends, list_starts, owners, parents, new_docs
    )
    return Chunk(ends, list_ends, list_starts, new_docs, owners, parents)


def arrange_in_chunks(
    starts: Array, added: Array, docs: Array, up: Array, in_chunk: int = CHUNK_ENTRIES
) -> list[Chunk]:
    """Arrange features in chunks of whole trees, with about ``in_chunk`` entries each."""
    reach = np.maximum.accumulate(np.arange(up.size) + up)  # the last parent of the features so far
    ends = np.concatenate([[0], np.flatnonzero(reach == np.arange(up.size)) + 1])
    places = np.searchsorted(starts[ends], np.arange(in_chunk, starts[-1], in_chunk))
    cuts = np.unique(np.concatenate([[0], ends[places], [up.size]]))
    return [
        arrange(starts[first : last + 1], added[first:last], docs, up[first:last])
        for first, last in pairwise(cuts.tolist())
    ]


def _sum(parts: Sequence[Floats], total: Floats) -> Floats:
    for part in parts:
        total += part
    return total


def build_lists(
    ngrams: SortedNGrams, *, in_chunk: int = CHUNK_ENTRIES, run: Run = run_serially
) -> FeatureLists:
    """List the documents of all n-grams that two documents or more have.

    ``in_chunk`` affects speed and rounding only.
    """
    n_docs = ngrams.texts.n_docs
    unshared, lock = np.zeros(n_docs, np.int64), Lock()

    def read(shard: SortedShard) -> dict[str, Any]:
        made, alone = _nest_shard(shard, ngrams, in_chunk)
        with lock:  # an array for each shard would take more memory than the lists
            np.add(unshared, alone, out=unshared)
        return made

    parts = ngrams.map(read, run=run)
    chunks = [chunk for part in parts for chunk in part.pop("chunks")]
    joined = {
        name: np.concatenate([NONE, *(part.pop(name) for part in parts)]) for name in OF_FEATURES
    }
    return FeatureLists(n_docs, chunks, **joined, unshared=unshared)


OF_FEATURES = ("sizes", "times", "places", "longest")


def _nest_shard(
    shard: SortedShard, ngrams: SortedNGrams, in_chunk: int
) -> tuple[dict[str, Any], Array]:
    """Return the arrays of one shard by name, and the n-grams that each document alone has."""
    texts, (shortest, longest) = ngrams.texts, ngrams.limits
    docs = shard.docs()
    unshared = np.zeros(texts.n_docs, np.int64)
    runs.count_unshared(
        docs, texts.bounds, shard.positions, shard.common, shortest, longest, unshared
    )
    found = shard.runs(shortest)
    n_runs, n = len(found), docs.size
    parents, sizes, shared = (np.empty(n_runs, np.int32) for _ in range(3))
    smallest, meetings, order = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.uint32)
    lengths, ends = np.empty(n_runs, np.uint32), np.empty(n_runs, np.int64)
    nesting.nest_runs(found, parents, smallest)
    nesting.sort_by_document(docs, texts.n_docs, order)
    nesting.find_meetings(order, docs, found, parents, smallest, meetings, sizes)
    nesting.find_shared_runs(docs, found, parents, sizes, shortest, shared, lengths, unshared)
    n_entries = nesting.count_entries(smallest, meetings, shared, ends)
    entries = np.empty(n_entries, np.uint32)
    nesting.collect_entries(order, docs, smallest, meetings, shared, ends, entries)
    del order, smallest, meetings, shared  # a shard with n-grams of one letter is large
    n_features = int(np.count_nonzero(sizes > 1))
    made = {name: np.empty(n_features, np.uint32) for name in OF_FEATURES}
    starts, added, up = (
        np.empty(n_features + 1, np.int64),
        *(np.empty(n_features, np.uint32) for _ in range(2)),
    )
    listed = np.empty(n_entries, np.uint32)
    nesting.list_nested(
        docs, shard.positions, found, parents, sizes, lengths, ends, entries,
        np.full(texts.n_docs, -1, np.int32),
        starts, added, up, *(made[name] for name in OF_FEATURES), listed,
    )  # fmt: skip
    return made | {"chunks": arrange_in_chunks(starts, added, listed, up, in_chunk)}, unshared
