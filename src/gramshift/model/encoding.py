"""Documents described by landmarks, a part at a time."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import compact
from gramshift.model.similarities import Comparison
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.budget import PER_NGRAM
from gramshift.runtime.pieces import Arrays
from gramshift.runtime.threads import run_threads
from gramshift.text.encode import encode

Floats = NDArray[np.float64]


class Encoder:
    """Turns texts into similarities to landmarks. The n-grams of the landmarks are found once, if one kernel counts them."""

    def __init__(self, comparison: Comparison, landmarks: Sequence[Any], *, n_threads: int) -> None:
        """``n_threads`` are used to find these."""
        self._comparison, self._landmarks = comparison, landmarks
        self._kernel: StringKernel | None = None
        self.scale = np.ones(len(landmarks))
        comparison.remember(landmarks)
        if counts_simply(comparison):
            from gramshift.ngrams.lookup import build_lookup  # compiled code that few need
            from gramshift.ngrams.sorted_ngrams import sort_ngrams

            kernel: StringKernel = comparison.kernels[0]
            ngram_range, _ = kernel.check_parameters()
            self._kernel = kernel
            run = partial(run_threads, n_threads=n_threads)
            ngrams = sort_ngrams(encode(kernel.prepare(landmarks)), ngram_range, keep=False)
            self._lookup = build_lookup(ngrams, kind=kernel.kind, run=run)
            self.scale = _one_over_root(self._lookup.self_values)

    @property
    def nbytes(self) -> int:
        """Of the n-grams of the landmarks; of those that are sorted with every part, while they are."""
        if self._kernel is not None:
            return self._lookup.nbytes
        return PER_NGRAM * self._comparison.n_lengths * sum(map(len, self._landmarks))

    @property
    def uses_one_thread(self) -> bool:
        """So that several parts can be worked on at once."""
        return self._kernel is not None

    def __call__(self, documents: Sequence[Any]) -> Arrays:
        """Their gram with the landmarks, counts if there are such, and what the rows are multiplied by."""
        if self._kernel is None:
            described = self._comparison.describe(documents, self._landmarks, adapt=False)
            return {"gram": described.gram, "row_scale": np.array([float(bool(text.strip())) for text in documents])}
        from gramshift.kernels.to_landmarks import count_shared

        counts, own = count_shared(self._lookup, self._kernel.prepare(documents))
        return {"gram": compact(counts, symmetric=False), "row_scale": _one_over_root(own)}


def counts_simply(comparison: Comparison) -> bool:
    """Whether documents are compared by whole numbers of shared character n-grams."""
    if not comparison.by_counts or len(comparison.kernels) > 1 or comparison.by_weights:
        return False
    return bool(comparison.kernels[0].unit == "character")


def _one_over_root(own: NDArray[np.int64]) -> Floats:
    result: Floats = np.divide(1.0, np.sqrt(own.astype(float)), out=np.zeros(len(own)), where=own > 0)
    return result
