"""An index of shared n-grams by document, from which whole kernel matrices are summed up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.ngrams.compiled import layout as placing
from gramshift.ngrams.compiled import runs
from gramshift.ngrams.sorted_ngrams import HoldsArrays, Run, SortedNGrams, SortedShard, run_serially
from gramshift.text.encode import Encoded

KINDS = {"presence": runs.PRESENCE, "intersection": runs.INTERSECTION, "spectrum": runs.SPECTRUM}
MAX_INDEX = 2**32 - 1  # of a character or of an entry, in 32 bits
Array = NDArray[Any]


@dataclass(frozen=True)
class NGramIndex(HoldsArrays):
    """For every row, references to the documents that share an n-gram with it, as lists and bits.

    Columns are documents 0 to n_cols - 1, rows are documents from ``first_row`` on. In a symmetric
    index both are all documents, and a row refers only to the columns before itself.
    ``self_values`` is the kernel of each document with itself. The other arrays are described in
    :mod:`.compiled.layout`.
    """

    n_cols: int
    first_row: int
    self_values: NDArray[np.int64]
    list_ptr: Array
    list_ref: Array
    list_factor: Array
    list_docs: Array
    bit_ptr: Array
    bit_ref: Array
    excess_ptr: Array
    excess_ref: Array
    bits: Array

    @property
    def symmetric(self) -> bool:
        """True if rows and columns are the same documents."""
        return self.first_row == 0 and self.n_cols == self.n_rows

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.self_values.size - self.first_row


@dataclass(frozen=True)
class SharedSets:
    """The sets of documents that share n-grams of one shard.

    Feature f stands for ``times[f]`` n-grams of the documents ``members[starts[f]:starts[f + 1]]``,
    of which the first ``n_columns[f]`` are columns.
    """

    starts: Array
    n_columns: Array
    times: Array
    members: Array
    counts: Array
    self_values: Array


def build_index(
    ngrams: SortedNGrams,
    *,
    kind: str,
    n_cols: int | None = None,
    dense_at: int | None = None,
    run: Run = run_serially,
    check_size: Callable[[int], None] = lambda n_bytes: None,
) -> NGramIndex:
    """Index all documents against each other, or those after the first ``n_cols`` against these.

    A feature that ``dense_at`` columns or more share is stored as bits, others as lists; this
    affects speed only. ``check_size`` receives the number of bytes of the index before they are
    allocated, and may raise.
    """
    first_row = 0 if n_cols is None else n_cols
    n_docs = ngrams.texts.n_docs
    n_cols = n_docs if n_cols is None else n_cols
    if dense_at is None:
        dense_at = max(32, 8 * n_blocks(n_cols))
    found = find_shared(
        ngrams, kind=kind, n_cols=n_cols, first_row=first_row, dense_at=dense_at, run=run
    )
    return _lay_out(found, n_cols, first_row, dense_at, n_docs, run, check_size)


def find_shared(
    ngrams: SortedNGrams,
    *,
    kind: str,
    n_cols: int | None = None,
    first_row: int = 0,
    dense_at: int | None = None,
    run: Run = run_serially,
) -> list[SharedSets]:
    """Find the features that rows share with columns, by default all documents, for each shard.

    The columns of a feature ascend if they are fewer than ``dense_at``, by default always.
    """
    n_cols = ngrams.texts.n_docs if n_cols is None else n_cols
    dense_at = n_cols + 1 if dense_at is None else dense_at
    texts, limits = ngrams.texts, ngrams.limits

    def find_in_shard(shard: SortedShard) -> SharedSets:
        docs = shard.docs()
        self_values = np.zeros(texts.n_docs, np.int64)
        runs.count_unshared(docs, texts.bounds, shard.positions, shard.common, *limits, self_values)
        found = shard.runs(limits[0])
        lengths = found[:, 1] - found[:, 0]
        if kind == "intersection":  # a run becomes several features, of at most its positions
            n_features, n_members = int(lengths.sum()) // 2, int(lengths.sum())
        else:
            n_features, n_members = len(found), int(np.minimum(lengths, texts.n_docs).sum())
        largest = min(texts.n_docs, docs.size)
        starts, n_columns, times = (np.empty(n_features + 1, np.int64) for _ in range(3))
        members = np.empty(n_members + largest, np.uint32)
        counts = np.empty(n_members if kind == "spectrum" else 0, np.uint32)
        sizes = np.zeros(2, np.int64)
        runs.collect(
            docs, found, KINDS[kind], n_cols, first_row, dense_at,
            np.full(texts.n_docs, -1, np.int32), np.empty(largest, np.uint32), self_values,
            starts, n_columns, times, members, counts, sizes,
        )  # fmt: skip
        f, m = sizes.tolist()
        return SharedSets(
            starts[: f + 1].copy(),
            n_columns[:f].copy(),
            times[:f].copy(),
            members[:m].copy(),
            counts[:m].copy(),
            self_values,
        )

    return ngrams.map(find_in_shard, run=run)


def estimate_index(texts: Encoded, kind: str, ngram_range: tuple[int, int]) -> int:
    """Estimate the bytes that :func:`build_index` needs at its peak, as measured on reviews.

    N-grams longer than the first eight lengths of the range are mostly not shared.
    """
    n_lengths = min(ngram_range[1] - ngram_range[0] + 1, 8)
    return texts.codes.size * (16 + n_lengths * (16 if kind == "spectrum" else 12))


def n_blocks(n_cols: int) -> int:
    """Return how many blocks of bits hold a bit for every column."""
    return max(1, -(-n_cols // placing.BLOCK))


def _lay_out(
    found: list[SharedSets],
    n_cols: int,
    first_row: int,
    dense_at: int,
    n_docs: int,
    run: Run,
    check_size: Callable[[int], None],
) -> NGramIndex:
    """Lay out the features of all shards: measure each, allocate, then write each into its part."""
    n_shards, n_rows = len(found), n_docs - first_row
    ends = np.zeros((n_shards + 1, 2), np.int64)
    cursors = np.zeros((n_shards + 1, 3, n_rows), np.int64)  # by kind of reference
    outputs: tuple[Array, ...] = (
        np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty(0, np.uint16),
        np.empty((0, 0, 0), np.uint64), np.empty(0, np.uint32), np.empty(0, np.uint32),
    )  # fmt: skip
    write = False

    def place(shard: int) -> None:
        part = found[shard]
        placing.place_features(
            part.starts, part.n_columns, part.times, part.members, part.counts, first_row, dense_at,
            np.empty((2, n_cols), np.uint32), ends[shard], cursors[shard], write, *outputs,
        )  # fmt: skip

    run(place, range(n_shards))
    list_ptr, bit_ptr, excess_ptr = _to_offsets(cursors)
    ends = np.cumsum(np.roll(ends, 1, axis=0), axis=0)
    (n_listed, n_dense), n_lists = ends[-1].tolist(), int(list_ptr[-1])
    if n_listed > MAX_INDEX:
        raise InputError(
            f"the documents share {n_listed} n-grams; one index can hold {MAX_INDEX}: compare "
            "fewer at a time"
        )
    counted = any(part.counts.size for part in found)
    n_bit_words = n_blocks(n_cols) * (n_dense + 1) * placing.BLOCK // 64
    check_size(
        4 * n_listed
        + (10 if counted else 8) * n_lists
        + 8 * n_bit_words
        + 4 * int(bit_ptr[-1] + excess_ptr[-1])
    )
    outputs = (
        np.empty(n_listed, np.uint32), np.empty(n_lists, np.uint64),
        np.empty(n_lists if counted else 0, np.uint16),
        np.zeros((n_blocks(n_cols), n_dense + 1, placing.BLOCK // 64), np.uint64),
        np.empty(int(bit_ptr[-1]), np.uint32), np.empty(int(excess_ptr[-1]), np.uint32),
    )  # fmt: skip
    write = True
    run(place, range(n_shards))
    list_docs, list_ref, list_factor, bits, bit_ref, excess_ref = outputs
    self_values = sum((part.self_values for part in found), start=np.zeros(n_docs, np.int64))
    return NGramIndex(
        n_cols, first_row, self_values, list_ptr, list_ref, list_factor, list_docs,
        bit_ptr, bit_ref, excess_ptr, excess_ref, bits,
    )  # fmt: skip


def _to_offsets(counts: Array) -> Array:
    """Turn counts (shards x kinds x rows), in place, into where each begins.

    Return the bounds of rows for each kind.
    """
    bounds = np.zeros((counts.shape[1], counts.shape[2] + 1), np.int64)
    np.cumsum(counts.sum(axis=0), axis=1, out=bounds[:, 1:])
    counts[:] = np.cumsum(counts, axis=0) - counts + bounds[:, :-1]
    return bounds
