"""The n-grams of documents in sorted order, from which lists, indexes and counts are built.

Only here, texts are cut into shards and sorted, and the runs of equal n-grams are found.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gramshift.ngrams.compiled import runs, sorting
from gramshift.text.encode import Encoded

SHARD_SIZE = 1 << 18  # positions that are sorted at a time
SHARDS_PER_PASS = 64  # of one pass over the texts, which bounds memory

T = TypeVar("T")
Array = NDArray[Any]


class Run(Protocol):
    """A function that applies another to every item, possibly in parallel.

    It returns the results in the order of the items.
    """

    def __call__(self, function: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
        """Return the result of the function for each item."""
        ...


def run_serially(function: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """Apply a function to one item after another."""
    return [function(item) for item in items]


class HoldsArrays:
    """A dataclass of arrays that knows how much memory they take."""

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))


@dataclass(frozen=True)
class DocumentPlaces:
    """A lookup of documents by position in all texts.

    ``bounds`` is where documents begin; ``nearby`` has the document of every 64th character.
    """

    bounds: Array
    nearby: Array

    @classmethod
    def of_texts(cls, texts: Encoded) -> "DocumentPlaces":
        """Return the lookup for encoded texts."""
        starts = np.arange(0, texts.codes.size + 1, sorting.LOOKUP_STEP)
        return cls(
            texts.bounds, np.searchsorted(texts.bounds[1:], starts, side="right").astype(np.uint32)
        )

    def find(self, positions: Array) -> Array:
        """Return the document of each position."""
        docs = np.empty(positions.size, np.uint32)
        sorting.find_docs(positions, self.bounds, self.nearby, docs)
        return docs


@dataclass(frozen=True)
class SortedShard:
    """Some of the n-grams, each with all its occurrences.

    Positions in the texts are in the order of the characters that follow. ``common[i]`` is the
    number of characters that positions[i] and positions[i - 1] have in common, at most the length
    of the longest n-gram. ``n_before`` positions are in the shards before this one.
    """

    positions: Array
    common: Array
    places: "DocumentPlaces"
    n_before: int

    def docs(self) -> Array:
        """Return the document of each position; not cached, because it is as large as positions."""
        return self.places.find(self.positions)

    def runs(self, shortest: int) -> Array:
        """Return the runs (begin, end, times) of n-grams of at least ``shortest`` characters."""
        found = np.empty((self.positions.size, 3), np.int64)  # rows not written take no memory
        return found[: runs.find_runs(self.common, shortest, found)]


@dataclass(frozen=True)
class SortedNGrams:
    """All n-grams of documents, of all lengths in the range, in shards.

    They are sorted at each reading, shard by shard, and not kept, which takes the least memory.
    Shards have about ``shard_size`` positions; this affects speed only.
    """

    texts: Encoded
    ngram_range: tuple[int, int]
    shard_size: int = SHARD_SIZE

    @property
    def limits(self) -> tuple[int, int]:
        """The lengths of the shortest and the longest n-gram that documents can have."""
        low, high = self.ngram_range
        return low, max(low, min(high, int(self.texts.lengths.max(initial=0))))

    def map(self, read: Callable[[SortedShard], T], *, run: Run = run_serially) -> list[T]:
        """Return the results of ``read`` for each shard, in order."""
        places = DocumentPlaces.of_texts(self.texts)
        longest = self.limits[1]

        def sort_and_read(shard: tuple[int, Array, Array]) -> T:
            n_before, positions, keys = shard
            common = _sort_positions(self.texts, places, positions, keys, longest)
            return read(SortedShard(positions, common, places, n_before))

        results: list[T] = []
        for shards in _shard_positions(self, run):
            results += run(sort_and_read, shards)
            del shards[:]  # free their memory before the next ones are made
        return results


def block_width(texts: Encoded) -> int:
    """Return how many characters fit into 64 bits."""
    return 64 // max(1, texts.n_chars.bit_length())


def _shard_positions(ngrams: SortedNGrams, run: Run) -> Iterator[list[tuple[int, Array, Array]]]:
    """Yield shards (positions before it, positions, first characters) in groups, not yet sorted.

    Equal n-grams are in the same shard. Each group takes one pass over the texts.
    """
    texts, (low, high) = ngrams.texts, ngrams.limits
    n_positions = int(np.maximum(texts.lengths - low + 1, 0).sum())
    if n_positions == 0:
        return
    n_shards = n_positions // ngrams.shard_size + 1
    cuts = np.searchsorted(texts.bounds, np.linspace(0, texts.codes.size, min(8, n_shards) + 1))
    cuts[0], cuts[-1] = 0, texts.n_docs
    chunks = list(enumerate(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)))
    bits = texts.n_chars.bit_length()
    size = min(high, block_width(texts))

    def scatter(
        first_shard: int,
        cursors: Array,
        positions: Array,
        keys: Array,
        chunk: tuple[int, tuple[int, int]],
    ) -> None:
        number, (first, last) = chunk
        sizes = low, size, bits, n_shards, first_shard
        sorting.scatter(
            texts.codes, texts.bounds, first, last, *sizes, cursors[number], positions, keys
        )

    counts = np.zeros((len(chunks), n_shards), np.int64)
    run(partial(scatter, 0, counts, np.empty(0, np.uint32), np.empty(0, np.uint64)), chunks)
    n_before = 0
    for start in range(0, n_shards, SHARDS_PER_PASS):
        here = counts[:, start : start + SHARDS_PER_PASS]
        ends = np.cumsum(here.T.ravel()).reshape(here.shape[1], len(chunks))
        positions, keys = (
            np.empty(int(ends[-1, -1]), np.uint32),
            np.empty(int(ends[-1, -1]), np.uint64),
        )
        run(
            partial(scatter, start, np.ascontiguousarray((ends - here.T).T), positions, keys),
            chunks,
        )
        bounds = [0, *ends[:, -1].tolist()]
        yield [
            (n_before + begin, positions[begin:end], keys[begin:end])
            for begin, end in pairwise(bounds)
        ]
        n_before += len(positions)
        del positions, keys  # before the next ones are made


def _sort_positions(
    texts: Encoded, places: DocumentPlaces, positions: Array, keys: Array, longest: int
) -> Array:
    """Sort positions, in place, by the characters that follow; return the array ``common``.

    ``keys`` holds the first block of characters. Further blocks are read only where neighbours
    agree so far.
    """
    bits, width = texts.n_chars.bit_length(), block_width(texts)
    common = np.zeros(positions.size, np.int32)
    keys, in_order = sorting.radix_sort(keys, positions, bits * min(width, longest))
    if in_order is not positions:
        positions[:] = in_order
    sorting.extend_common(keys, 0, min(width, longest), bits, common)
    for skip in range(width, longest, width):
        size = min(width, longest - skip)
        more = np.append(common == skip, False)
        tied = np.flatnonzero(more[:-1] | more[1:])
        if tied.size == 0:
            break
        part, agree, group = positions[tied], common[tied], np.cumsum(~more[tied]).astype(np.uint64)
        keys = np.empty(part.size, np.uint64)
        sorting.pack(texts.codes, places.find(part), part, texts.bounds, skip, size, bits, keys)
        _, order = sorting.radix_sort(
            keys.copy(), np.arange(part.size, dtype=np.uint32), bits * size
        )
        _, order = sorting.radix_sort(group[order], order, int(group[-1]).bit_length())
        sorting.extend_common(keys[order], skip, size, bits, agree)
        positions[tied], common[tied] = part[order], agree
    return common
