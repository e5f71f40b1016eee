"""Local Rank Distance as a kernel: documents are alike if n-grams are at about the same places."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.kernels.compiled.local_rank import compare_document
from gramshift.kernels.kernel import Floats, Job, PairKernel
from gramshift.ngrams.compiled.runs import number_shard
from gramshift.ngrams.sorted_ngrams import HoldsArrays, Run, SortedNGrams, SortedShard, run_serially
from gramshift.text.encode import Encoded

MAX_OCCURRENCES = 2**32 - 1
SORTED_AT_A_TIME = 1 << 18  # occurrences


@dataclass(frozen=True)
class Occurrences(HoldsArrays):
    """The n-grams of each document with their places, as ``keys[bounds[i]:bounds[i + 1]]``, sorted.

    A key is the number of an n-gram * 2**32 + its place. Two n-grams have the same number exactly
    if they are equal.
    """

    keys: NDArray[np.uint64]
    bounds: NDArray[np.int64]


def count_occurrences(texts: Encoded, ngram_range: tuple[int, int]) -> NDArray[np.int64]:
    """Count the n-grams of all lengths in each document, including repeated ones."""
    lo, hi = ngram_range
    longest = np.minimum(hi, texts.lengths)
    n_lengths = np.maximum(longest - lo + 1, 0)
    counts: NDArray[np.int64] = n_lengths * (2 * texts.lengths - lo - longest + 2) // 2
    return counts


def estimate_occurrences(texts: Encoded, ngram_range: tuple[int, int]) -> int:
    """Estimate the bytes that :func:`find_occurrences` needs at its peak, for keys and sorting."""
    return 8 * int(count_occurrences(texts, ngram_range).sum()) + 40 * texts.codes.size


def find_occurrences(
    ngrams: SortedNGrams,
    *,
    run: Run = run_serially,
    chunk: int = SORTED_AT_A_TIME,
    most: int = MAX_OCCURRENCES,
) -> Occurrences:
    """Find the places of all n-grams, which are numbered.

    At most ``most`` numbers fit into a key; ``chunk`` affects speed only.
    """
    texts, (lo, hi) = ngrams.texts, ngrams.limits
    bounds = np.append(0, np.cumsum(count_occurrences(texts, ngrams.ngram_range)))
    n_numbers = int(np.maximum(texts.lengths - lo + 1, 0).sum()) * (hi - lo + 1)
    if n_numbers > most:
        raise InputError(
            f"ngram_range={ngrams.ngram_range}: the documents have {n_numbers} places for "
            "n-grams; one kernel matrix can hold "
            f"{most}: use fewer lengths, or compare fewer documents at a time"
        )
    keys = np.empty(int(bounds[-1]), np.uint64)

    doc_of = texts.doc_of

    def number(shard: SortedShard) -> None:
        offset = shard.n_before * (hi - lo + 1)
        number_shard(
            shard.positions, shard.common, doc_of, texts.bounds, lo, hi, offset, bounds, keys
        )

    def sort(docs: range) -> None:
        for doc in docs:
            keys[bounds[doc] : bounds[doc + 1]].sort()

    ngrams.map(number, run=run)
    cuts = (
        np.searchsorted(bounds, np.arange(0, keys.size + chunk, chunk))
        .clip(max=texts.n_docs)
        .tolist()
    )
    run(sort, [range(first, last) for first, last in pairwise(cuts) if first < last])
    return Occurrences(keys, bounds)


@dataclass(frozen=True)
class LocalRank(PairKernel):
    """The kernel exp(-distance / (2 sigma ** 2)) of Local Rank Distance, scaled to at most 1."""

    occurrences: Occurrences
    max_offset: int
    sigma: float

    @property
    def tile_bytes(self) -> int:
        """No scratch memory: documents are compared in place."""
        return 0

    def compare(self, doc: int, col0: int, col1: int, out: Floats) -> None:
        """Set ``out`` to the kernel of a document and some columns."""
        found = self.occurrences
        compare_document(
            found.keys,
            found.bounds,
            doc,
            col0,
            col1,
            self.max_offset,
            2 * self.sigma * self.sigma,
            out,
        )

    def nanoseconds(self, n_rows: int, row_length: float, n_cols: int, col_length: float) -> float:
        """Estimate the time of rows and columns: merging lists of n-grams is linear."""
        return 100.0 * n_rows * n_cols + 5.0 * (n_rows * col_length + n_cols * row_length)


def prepare_local_rank(job: Job) -> LocalRank:
    """Find the places of all n-grams."""
    found = find_occurrences(job.ngrams, run=job.run)
    sizes = np.diff(found.bounds)
    max_offset, sigma = int(job.parameters["max_offset"]), float(job.parameters["sigma"])
    return LocalRank(
        job.columns, job.first_row, (sizes > 0).astype(float), sizes, found, max_offset, sigma
    )
