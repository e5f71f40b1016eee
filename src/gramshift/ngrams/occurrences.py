"""Every occurrence of every n-gram, by document, sorted by n-gram and place: for kernels to which the place matters."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gramshift.ngrams.index import Run, run_serially, shard_positions, sort_positions
from gramshift.ngrams.leaves.numbering import number_shard
from gramshift.text.encode import Encoded

MAX_OCCURRENCES = 2**32 - 1
CHUNK = 1 << 18  # occurrences that are sorted at a time


@dataclass(frozen=True)
class Occurrences:
    """Of document i: keys[bounds[i]:bounds[i + 1]], ascending; a key is the number of an n-gram * 2**32 + its place.

    Two keys have the same number exactly if the n-grams are the same; numbers go over all lengths.
    """

    keys: NDArray[np.uint64]
    bounds: NDArray[np.int64]


def count_occurrences(texts: Encoded, ngram_range: tuple[int, int]) -> NDArray[np.int64]:
    """How many n-grams of all lengths each document has, repeated ones counted again."""
    lo, hi = ngram_range
    longest = np.minimum(hi, texts.lengths)
    n_lengths = np.maximum(longest - lo + 1, 0)
    counts: NDArray[np.int64] = n_lengths * (2 * texts.lengths - lo - longest + 2) // 2
    return counts


def estimate_occurrences(texts: Encoded, ngram_range: tuple[int, int]) -> int:
    """How many bytes :func:`find_occurrences` needs at its peak: the keys, and what sorting positions takes."""
    return 8 * int(count_occurrences(texts, ngram_range).sum()) + 40 * texts.codes.size


def find_occurrences(texts: Encoded, ngram_range: tuple[int, int], *, run: Run = run_serially) -> Occurrences:
    """Number the n-grams of all documents, exactly."""
    lo, hi = ngram_range
    bounds = np.append(0, np.cumsum(count_occurrences(texts, ngram_range)))
    n_numbers = int(np.maximum(texts.lengths - lo + 1, 0).sum()) * (hi - lo + 1)
    if n_numbers > MAX_OCCURRENCES:
        raise ValueError(
            f"ngram_range={ngram_range}: the documents have {n_numbers} places for n-grams; one gram can hold "
            f"{MAX_OCCURRENCES}: use fewer lengths, or compare fewer documents at a time"
        )
    doc_of = np.repeat(np.arange(texts.n_docs, dtype=np.uint32), texts.lengths)
    keys = np.empty(int(bounds[-1]), np.uint64)
    shards = shard_positions(texts, ngram_range, run)
    offsets = np.cumsum([0] + [positions.size * (hi - lo + 1) for positions, _ in shards]).tolist()

    def number(shard: int) -> None:
        positions, common = sort_positions(texts, doc_of, *shards[shard], hi)
        number_shard(positions, common, doc_of, texts.bounds, lo, hi, offsets[shard], bounds, keys)

    def sort(chunk: range) -> None:
        for doc in chunk:
            keys[bounds[doc] : bounds[doc + 1]].sort()

    run(number, range(len(shards)))
    cuts = np.searchsorted(bounds, np.arange(0, keys.size + CHUNK, CHUNK)).clip(max=texts.n_docs).tolist()
    run(sort, [range(first, last) for first, last in pairwise(cuts) if first < last])
    return Occurrences(keys, bounds)
