"""Kernels that sum over shared n-grams: exact counts, and presence with weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.kernels.compiled.bits import add_bits, add_transposed
from gramshift.kernels.compiled.counting import add_lists
from gramshift.kernels.compiled.weighted import (
    add_own,
    add_weighted,
    count_groups,
    transpose_features,
)
from gramshift.kernels.kernel import Floats, Job, Kernel
from gramshift.kernels.weighting import Weighting, make_weights
from gramshift.ngrams.index import MAX_INDEX, NGramIndex, find_shared
from gramshift.ngrams.sorted_ngrams import HoldsArrays, Run, SortedNGrams, run_serially

Array = NDArray[Any]
EXCESS_COLUMNS = 512  # columns whose excess is computed at a time


@dataclass(frozen=True)
class SharedNGrams(Kernel):
    """The kernel of an index (presence, intersection or spectrum), with exact counts as int64."""

    index: NGramIndex

    dtype = np.int64

    @classmethod
    def of_index(cls, index: NGramIndex) -> "SharedNGrams":
        """Return the kernel that an index describes."""
        return cls(index.n_cols, index.first_row, index.self_values, index)

    def fill_below(self, rows: slice, cols: slice, gram: NDArray[np.int64]) -> None:
        """Sum up the lists and the bits that the rows of the tile refer to."""
        index = self.index
        area = (rows.start, rows.stop, cols.start, cols.stop)
        gram[area[0] : area[1], cols] = 0
        cut = cols.start > 0 or cols.stop < (rows.stop if self.symmetric else index.n_cols)
        add_lists(
            index.list_ptr, index.list_ref, index.list_factor, index.list_docs, *area, cut, gram
        )
        add_bits(index.bit_ptr, index.bit_ref, index.bits, *area, 0, 0, gram)
        if index.excess_ref.size:
            self._add_excess(rows, cols, gram)

    def _add_excess(self, rows: slice, cols: slice, gram: NDArray[np.int64]) -> None:
        """Add the excess of columns: compute it with columns as rows, then transpose it."""
        index = self.index
        for left in range(cols.start, cols.stop, EXCESS_COLUMNS):
            right = min(left + EXCESS_COLUMNS, cols.stop)
            part = np.zeros((right - left, rows.stop - rows.start), np.int64)
            add_bits(
                index.excess_ptr,
                index.excess_ref,
                index.bits,
                left,
                right,
                rows.start,
                rows.stop,
                left,
                rows.start,
                part,
            )
            add_transposed(part, rows.start, left, gram)


@dataclass(frozen=True)
class Incidence(HoldsArrays):
    """The documents of each feature and the features of each document, both ascending.

    Feature f stands for ``times[f]`` n-grams of exactly the documents
    ``docs[starts[f]:starts[f + 1]]``, two or more. Document d has the features
    ``features[bounds[d]:bounds[d + 1]]``; in the same range, ``places`` is where d is in ``docs``,
    and ``n_before`` how many documents of the feature come before it. ``unshared[d]`` n-grams are
    in no other document.
    """

    starts: Array
    docs: Array
    times: Array
    bounds: Array
    features: Array
    places: Array
    n_before: Array
    unshared: Array

    @property
    def n_docs(self) -> int:
        """The number of documents."""
        return self.unshared.size

    def count(self, groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
        """Count the documents of each group that have a feature, without those of group -1.

        The result has a row per group.
        """
        if n_groups == 1 and not groups.any():  # all documents
            everywhere: NDArray[np.int64] = np.diff(self.starts)[None]
            return everywhere
        counts = np.zeros((n_groups, self.times.size), np.int64)
        count_groups(self.starts, self.docs, groups, counts)
        return counts


def build_incidence(
    ngrams: SortedNGrams,
    *,
    run: Run = run_serially,
    check_size: Callable[[int], None] = lambda n_bytes: None,
) -> Incidence:
    """Find all n-grams that two documents or more share.

    ``check_size`` receives the bytes of the result before they are allocated, and may raise.
    """
    parts = find_shared(ngrams, kind="presence", run=run)
    n_docs = ngrams.texts.n_docs
    n_members = sum(part.members.size for part in parts)
    if n_members > MAX_INDEX:
        raise InputError(
            f"the documents share {n_members} n-grams; one index can hold {MAX_INDEX}: compare "
            "fewer at a time"
        )
    check_size(16 * n_members + 16 * sum(part.times.size for part in parts))
    empty = np.zeros(0, np.int64)
    ends = np.cumsum([0, *(part.members.size for part in parts)])
    starts = np.concatenate(
        [*(part.starts[:-1] + end for part, end in zip(parts, ends, strict=False)), [n_members]]
    )
    docs = np.concatenate([np.zeros(0, np.uint32), *(part.members for part in parts)])
    times = np.concatenate([empty, *(part.times for part in parts)])
    n_ngrams = sum((part.self_values for part in parts), start=np.zeros(n_docs, np.int64))
    del parts
    bounds = np.concatenate([[0], np.cumsum(np.bincount(docs, minlength=n_docs))])
    features, places, n_before = (np.empty(n_members, np.uint32) for _ in range(3))
    transpose_features(
        starts, docs, times, bounds[:-1].copy(), features, places, n_before, n_ngrams
    )
    return Incidence(starts, docs, times, bounds, features, places, n_before, n_ngrams)


@dataclass(frozen=True)
class WeightedNGrams(Kernel):
    """The presence kernel with weights: feature f adds sums[f] for two documents that have it."""

    incidence: Incidence
    sums: Floats

    def fill_below(self, rows: slice, cols: slice, gram: Floats) -> None:
        """Add the weights of the features that rows and columns share."""
        found = self.incidence
        area = (rows.start, rows.stop, cols.start, cols.stop)
        gram[area[0] : area[1], cols] = 0.0
        cut = cols.start > 0 or not self.symmetric or cols.stop < rows.stop
        add_weighted(
            found.bounds, found.features, found.places, found.n_before, found.docs, self.sums,
            self.first_row, *area, cut, gram,
        )  # fmt: skip


def prepare_weighted(job: Job) -> WeightedNGrams:
    """Find all shared n-grams and weigh them."""
    assert job.weighting is not None
    incidence = build_incidence(job.ngrams, run=job.run, check_size=job.check_size)
    return weigh_ngrams(incidence, job.weighting, n_cols=job.n_cols)


def weigh_ngrams(
    incidence: Incidence, weighting: Weighting, *, n_cols: int | None = None
) -> WeightedNGrams:
    """Return the kernel of all documents, or of those after the first ``n_cols`` with these.

    The documents of the columns determine the weights.
    """
    n_fit = incidence.n_docs if n_cols is None else n_cols
    beyond = np.full(incidence.n_docs - n_fit, -1, np.int64)

    def count(groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
        return incidence.count(np.concatenate([groups, beyond]), n_groups)

    weights = make_weights(weighting, n_fit, count)
    alone = make_weights(
        weighting, n_fit, lambda groups, n_groups: np.zeros((n_groups, 1), np.int64)
    )
    sums = np.ascontiguousarray(weights * incidence.times)
    self_values = np.empty(incidence.n_docs)
    add_own(
        incidence.bounds, incidence.features, sums, incidence.unshared, float(alone[0]), self_values
    )
    return WeightedNGrams(n_fit, n_cols or 0, self_values, incidence, sums)
