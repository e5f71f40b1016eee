"""Which documents share which n-grams, both ways round: for kernels that weigh every n-gram on its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.ngrams.index import MAX_CHARS, find_shared
from gramshift.ngrams.leaves.transpose import count_groups, turn_round
from gramshift.ngrams.sorted_ngrams import HoldsArrays, Run, SortedNGrams, run_serially

Array = NDArray[Any]


@dataclass(frozen=True)
class Incidence(HoldsArrays):
    """Feature f stands for ``times[f]`` n-grams, all in the documents ``docs[starts[f]:starts[f + 1]]`` and no others.

    These are two documents or more, ascending. Document d has the features ``features[bounds[d]:bounds[d + 1]]``, ascending,
    and itself stands at ``places`` of the same range in docs, after ``n_before`` others. ``unshared[d]`` n-grams are in no
    other document.
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
        return self.unshared.size

    def count(self, groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
        """How many documents of each group have a feature, shape (n_groups, features); group -1 is not counted."""
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
    """Find all n-grams that two documents or more share; ``check_size`` is told the bytes before they are allocated."""
    parts, n_docs = find_shared(ngrams, kind="presence", run=run), ngrams.texts.n_docs
    n_members = sum(part.members.size for part in parts)
    if n_members > MAX_CHARS:
        raise InputError(f"the documents share {n_members} n-grams; one index can hold {MAX_CHARS}: compare fewer at a time")
    check_size(16 * n_members + 16 * sum(part.times.size for part in parts))
    empty = np.zeros(0, np.int64)
    ends = np.cumsum([0, *(part.members.size for part in parts)])
    starts = np.concatenate([*(part.starts[:-1] + end for part, end in zip(parts, ends, strict=False)), [n_members]])
    docs = np.concatenate([np.zeros(0, np.uint32), *(part.members for part in parts)])
    times = np.concatenate([empty, *(part.times for part in parts)])
    n_ngrams = sum((part.self_values for part in parts), start=np.zeros(n_docs, np.int64))
    del parts
    bounds = np.concatenate([[0], np.cumsum(np.bincount(docs, minlength=n_docs))])
    features, places, n_before = (np.empty(n_members, np.uint32) for _ in range(3))
    turn_round(starts, docs, times, bounds[:-1].copy(), features, places, n_before, n_ngrams)
    return Incidence(starts, docs, times, bounds, features, places, n_before, n_ngrams)
