"""Comparing documents by whatever the user named as kernel: always similarities, 1 for a document with itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.engine.threads import count_threads
from gramshift.estimators.string_kernel import StringKernel
from gramshift.learn.adapt import normalize_gram
from gramshift.learn.described import Described, compact
from gramshift.ngrams.index import KINDS
from gramshift.text.documents import as_list

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Normalised kernels of documents; several are averaged."""

    kernels: list[Any]
    n_jobs: int | None = -1

    @property
    def by_strings(self) -> bool:
        """Whether all kernels count n-grams."""
        return all(isinstance(kernel, StringKernel) for kernel in self.kernels)

    def takes_rows(self, X: Any) -> bool:
        """Whether X is to be read as rows of numbers: for functions of the user's, unless it holds texts."""
        if any(isinstance(kernel, StringKernel) for kernel in self.kernels):
            return False
        shape = getattr(X, "shape", None)
        if shape is not None:
            return len(shape) != 1 or not any(isinstance(one, str) for one in as_list(X[:1]))
        return hasattr(X, "__array__") or (isinstance(X, (list, tuple)) and not any(isinstance(one, str) for one in X[:1]))

    def describe_all(self, documents: Sequence[Any], *, adapt: bool) -> Described:
        """Documents among themselves; of a single string kernel the counts are kept as they are."""
        n_threads = count_threads(self.n_jobs)
        if self.by_strings and len(self.kernels) == 1:
            counts = compact(self.kernels[0].gram(documents, normalize=False))
            return Described.from_gram(counts, adapt=adapt, n_threads=n_threads)
        ones = np.ones(len(documents))
        return Described(self._average(documents, None), ones, ones, adapt, n_threads)

    def describe(self, documents: Sequence[Any], others: Sequence[Any], *, adapt: bool) -> Described:
        """New documents by their similarity to others."""
        ones = np.ones(len(documents)), np.ones(len(others))
        return Described(self._average(documents, others), *ones, adapt, count_threads(self.n_jobs))

    def _average(self, documents: Sequence[Any], others: Sequence[Any] | None) -> Floats:
        total = _similarities(self.kernels[0], documents, others)
        for kernel in self.kernels[1:]:
            total += _similarities(kernel, documents, others)
        total /= len(self.kernels)
        return total


def make_comparison(kernel: Any, ngram_range: tuple[int, int], **options: Any) -> Comparison:
    """From a name, a StringKernel, another callable, or a list of these."""
    named = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    if not named:
        raise ValueError("kernel=[]: give at least one kernel, for example ['presence', 'spectrum']")
    return Comparison([_make(one, ngram_range, options) for one in named], options.get("n_jobs", -1))


def _make(kernel: Any, ngram_range: tuple[int, int], options: dict[str, Any]) -> Any:
    if isinstance(kernel, str) and kernel in KINDS:
        return StringKernel(kernel, ngram_range=ngram_range, **options)
    if isinstance(kernel, StringKernel):
        kernel.check_parameters()
        return kernel
    if callable(kernel):
        return kernel
    names = ", ".join(map(repr, [*KINDS, "precomputed"]))
    raise ValueError(f"kernel={kernel!r}: must be one of {names}, a StringKernel, another callable, or a list of kernels")


def _similarities(kernel: Any, documents: Sequence[Any], others: Sequence[Any] | None) -> Floats:
    if isinstance(kernel, StringKernel):
        return kernel.gram(documents, others, normalize=True)
    gram = _check_values(kernel(documents, documents if others is None else others), documents, others)
    if others is None:
        return normalize_gram(gram)
    selves = [_self_kernels(kernel, group) for group in (documents, others)]
    return normalize_gram(gram, *selves)


def _self_kernels(kernel: Any, documents: Sequence[Any]) -> Floats:
    """k(x, x) of each document, one call each: a callable promises no more."""
    return np.array(
        [float(np.asarray(kernel(documents[i : i + 1], documents[i : i + 1]))[0, 0]) for i in range(len(documents))]
    )


def _check_values(gram: Any, documents: Sequence[Any], others: Sequence[Any] | None) -> Floats:
    result = np.asarray(gram, dtype=float)
    shape = len(documents), len(documents if others is None else others)
    if result.shape != shape:
        raise ValueError(f"the kernel gave an array of shape {result.shape} for {shape[0]} and {shape[1]} documents")
    if not np.isfinite(result).all():
        row, column = np.argwhere(~np.isfinite(result))[0]
        raise ValueError(f"the kernel of documents {row} and {column} is {result[row, column]}; every value must be finite")
    return result
