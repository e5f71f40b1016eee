"""Comparing documents by whatever the user named as kernel: always similarities with a diagonal of 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.estimators.string_kernel import StringKernel
from gramshift.learn.adapt import normalize_gram
from gramshift.ngrams.index import KINDS
from gramshift.text.documents import as_documents

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Normalised kernels of documents, summed if there are several."""

    kernels: list[Any]

    def similarities(self, documents: Sequence[Any], others: Sequence[Any] | None = None) -> Floats:
        """K-hat of documents with each other or with others; a sum of kernels is divided by their number."""
        total: Floats = sum((_similarities(kernel, documents, others) for kernel in self.kernels), start=np.zeros(()))
        return total / len(self.kernels)


def make_comparison(kernel: Any, ngram_range: tuple[int, int], **options: Any) -> Comparison:
    """From a name, a StringKernel, another callable, or a list of these."""
    named = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    if not named:
        raise ValueError("kernel=[]: give at least one kernel, for example ['presence', 'spectrum']")
    return Comparison([_make(one, ngram_range, options) for one in named])


def _make(kernel: Any, ngram_range: tuple[int, int], options: dict[str, Any]) -> Any:
    if isinstance(kernel, str) and kernel in KINDS:
        return StringKernel(kernel, ngram_range=ngram_range, **options)
    if callable(kernel):
        return kernel
    names = ", ".join(map(repr, [*KINDS, "precomputed"]))
    raise ValueError(f"kernel={kernel!r}: must be one of {names}, a StringKernel, another callable, or a list of kernels")


def _similarities(kernel: Any, documents: Sequence[Any], others: Sequence[Any] | None) -> Floats:
    if isinstance(kernel, StringKernel):
        return kernel.gram(as_documents(documents), None if others is None else as_documents(others), normalize=True)
    gram = _check_finite(kernel(documents, documents if others is None else others))
    if others is None:
        return normalize_gram(gram)
    selves = [np.array([float(np.asarray(kernel([one], [one]))[0, 0]) for one in group]) for group in (documents, others)]
    return normalize_gram(gram, *selves)


def _check_finite(gram: Any) -> Floats:
    result = np.asarray(gram, dtype=float)
    if not np.isfinite(result).all():
        row, column = np.argwhere(~np.isfinite(result))[0]
        raise ValueError(f"the kernel of documents {row} and {column} is {result[row, column]}; every value must be finite")
    return result
