"""The kernels of a fit: normalised, so that a document has similarity 1 to itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, InputTypeError
from gramshift.kernels.corpus import Corpus
from gramshift.kernels.registry import KERNELS
from gramshift.kernels.string_kernel import KernelSpec, StringKernel
from gramshift.kernels.weighting import Powers
from gramshift.learn.features import KernelFeatures, compact, normalize_gram
from gramshift.model.inputs import check_gram, check_rows
from gramshift.model.settings import (
    WORD_RANGE,
    WORDS,
    Settings,
    check_kernel,
    kernel_is_precomputed,
    kernel_is_rows,
)
from gramshift.parallel import count_threads
from gramshift.runtime import Runtime

Floats = NDArray[np.float64]


class RowsKernel:
    """The cosine of rows of numbers, such as embeddings; a row of zeros is similar to none."""

    def __call__(self, rows: Any, others: Any) -> Floats:
        """Return the cosine of each row with each of the others."""
        return self._units(rows) @ self._units(others).T

    def self_values(self, rows: Any) -> Floats:
        """Return the cosine of each row with itself, without rounding."""
        known: Floats = np.any(self._check(rows) != 0, axis=1).astype(float)
        return known

    @staticmethod
    def _check(rows: Any) -> Floats:
        """Return the rows, or raise an error if they are texts."""
        if not isinstance(rows, np.ndarray):
            raise InputTypeError(
                "kernel='rows' takes rows of numbers, such as embeddings of the documents, and not "
                "texts"
            )
        return rows

    def _units(self, rows: Any) -> Floats:
        rows = self._check(rows)
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
        scaled = rows / np.where(
            largest > 0, largest, 1
        )  # else squares of very large or small numbers are lost
        lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
        units: Floats = scaled / np.where(lengths > 0, lengths, 1)
        return units


@dataclass(frozen=True)
class ComparedDocuments:
    """Documents that others are compared with, and their properties that kernels need."""

    documents: Sequence[Any]
    groups: Mapping[str, Any] = field(default_factory=dict)
    """Domain and class of each, None for unknown; weights of n-grams depend on them."""
    self_values: Mapping[int, Floats] = field(default_factory=dict)
    """k(x, x) of each, by the position of a kernel that is a function."""


@dataclass(frozen=True)
class KernelList:
    """Normalised kernels of documents; several are averaged."""

    kernels: list[Any]
    n_jobs: int | None = -1

    @property
    def by_counts(self) -> bool:
        """True if all kernels are sums over shared n-grams."""
        return all(isinstance(kernel, KernelSpec) and kernel.counts for kernel in self.kernels)

    @property
    def by_presence(self) -> bool:
        """True if all kernels are sums over shared n-grams, however frequent."""
        return all(
            isinstance(kernel, KernelSpec) and kernel.kind == "presence" for kernel in self.kernels
        )

    @property
    def by_classes(self) -> bool:
        """True if weights of some n-grams depend on classes."""
        return any(powers.classes > 0 for _, powers in self.weighted())

    @property
    def by_weights(self) -> bool:
        """True if some n-grams have weights that depend on the documents."""
        return bool(self.weighted())

    @property
    def by_shared_alone(self) -> bool:
        """True if n-grams of fewer than two documents have weight 0, in all kernels."""
        ours = self.by_counts and len(self.weighted()) == len(self.kernels)
        return ours and all(
            powers.classes > 0 or powers.consistency > 0 for _, powers in self.weighted()
        )

    def weighted(self) -> list[tuple[KernelSpec, Powers]]:
        """Return the kernels with weights of n-grams, and the powers of these."""
        ours = [kernel for kernel in self.kernels if isinstance(kernel, KernelSpec)]
        return [(kernel, powers) for kernel in ours if (powers := kernel.powers) is not None]

    def across_domains(self) -> "KernelList":
        """Return the kernels with less weight for n-grams that are more common in one domain."""
        return self._with_powers(
            lambda powers: replace(powers, consistency=max(1.0, powers.consistency))
        )

    def without_weights(self) -> "KernelList":
        """Return the same kernels with every n-gram counting alike."""
        return self._with_powers(lambda powers: None)

    def _with_powers(self, change: Callable[[Powers], Powers | None]) -> "KernelList":
        weighted = {
            id(kernel): replace(kernel, powers=change(powers)) for kernel, powers in self.weighted()
        }
        return replace(self, kernels=[weighted.get(id(kernel), kernel) for kernel in self.kernels])

    @property
    def n_lengths(self) -> int:
        """Number of n-gram lengths of all string kernels together, at least 1."""
        ranges = [one.ngram_range for one in self.kernels if isinstance(one, KernelSpec)]
        return max(1, sum(1 + high - low for low, high in ranges))

    @property
    def by_rows(self) -> bool:
        """True if documents are rows of numbers, compared by their cosine."""
        return len(self.kernels) == 1 and isinstance(self.kernels[0], RowsKernel)

    def takes_rows(self, X: Any) -> bool:
        """Return True if X is to be read as rows of numbers: for functions, unless it has texts."""
        if any(isinstance(kernel, KernelSpec) for kernel in self.kernels):
            return False
        shape = getattr(X, "shape", None)
        if shape is not None:
            return not any(isinstance(one, str) for one in np.asarray(X[:1]).ravel().tolist())
        return hasattr(X, "__array__") or (
            isinstance(X, (list, tuple)) and not any(isinstance(one, str) for one in X[:1])
        )

    def describe_all(
        self,
        documents: Corpus | Sequence[Any],
        groups: Mapping[str, Any],
        runtime: Runtime,
        *,
        adapt: bool,
    ) -> tuple[KernelFeatures, dict[int, Floats]]:
        """Return features of all documents, and ``Reference.self_values``.

        Counts of a single kernel are kept as they are.
        """
        if self.by_counts and len(self.kernels) == 1:
            kernel = self.kernels[0]
            counts = compact(
                kernel.compute(
                    documents, runtime=within(kernel, runtime), normalize=False, **groups
                )
            )
            return KernelFeatures.from_gram(counts, adapt=adapt, n_threads=runtime.n_threads), {}
        ones = np.ones(len(documents))
        similarity, self_values = self.average(documents, groups, runtime)
        return KernelFeatures(similarity, ones, ones, adapt, runtime.n_threads), self_values

    def refer_to(self, documents: Any, groups: Mapping[str, Any]) -> ComparedDocuments:
        """Return a reference to documents that have not been compared with each other."""
        functions = [
            (place, kernel)
            for place, kernel in enumerate(self.kernels)
            if not isinstance(kernel, KernelSpec)
        ]
        return ComparedDocuments(
            documents,
            groups,
            {place: _self_values(kernel, documents) for place, kernel in functions},
        )

    def describe(
        self, documents: Sequence[Any], reference: ComparedDocuments, *, adapt: bool
    ) -> KernelFeatures:
        """Return features of new documents: similarities to those of a reference."""
        total: Floats = np.zeros((0, 0))
        for place, kernel in enumerate(self.kernels):
            others = reference.documents
            if isinstance(kernel, KernelSpec):
                values = kernel.compute(documents, others, normalize=True, **reference.groups)
            else:
                self_values = _self_values(kernel, documents), reference.self_values[place]
                values = normalize_gram(_call(kernel, documents, others), *self_values)
                check_rows(values, name="kernel")
            total = total + values if place else values
        total /= len(self.kernels)
        return KernelFeatures(
            total,
            np.ones(total.shape[0]),
            np.ones(total.shape[1]),
            adapt,
            count_threads(self.n_jobs),
        )

    def average(
        self, documents: Corpus | Sequence[Any], groups: Mapping[str, Any], runtime: Runtime
    ) -> tuple[Floats, dict[int, Floats]]:
        """Return the mean of all kernels of documents, and k(x, x) of those that are functions."""
        total: Floats = np.zeros((0, 0))
        self_values: dict[int, Floats] = {}
        given = (
            documents.texts if isinstance(documents, Corpus) else documents
        )  # as functions of users take them
        for place, kernel in enumerate(self.kernels):
            if isinstance(kernel, KernelSpec):
                values = kernel.compute(
                    documents, runtime=within(kernel, runtime), normalize=True, **groups
                )
            else:
                gram = check_gram(
                    _call(kernel, given, given), name="kernel", n_threads=runtime.n_threads
                )
                self_values[place] = (
                    np.diagonal(gram).astype(float)
                    if not self.by_rows
                    else _self_values(kernel, given)
                )
                values = normalize_gram(gram)
            total = total + values if place else values
        total /= len(self.kernels)
        return total, self_values


def within(kernel: KernelSpec, runtime: Runtime) -> Runtime:
    """Return the runtime with the threads and the memory of a kernel; a named one has the fit's."""
    return replace(runtime, n_jobs=kernel.n_jobs, memory_limit=kernel.memory_limit)


def make_kernel_list(
    kernel: Any, ngram_range: tuple[int, int], weighting: Any = None, **options: Any
) -> KernelList:
    """Return the kernels given by a name, a StringKernel, another callable, or a list of these."""
    check_kernel(kernel)
    named = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    given = {"ngram_range": ngram_range, "weighting": weighting} | options
    return KernelList([_make(one, given) for one in named], options.get("n_jobs", -1))


def kernel_list_of(settings: Settings, runtime: Runtime) -> KernelList | None:
    """Return the kernels that the settings name; None for a given kernel matrix."""
    if settings.is_precomputed:
        return None
    options = {"memory_limit": runtime.memory_limit, "n_jobs": runtime.n_jobs}
    return make_kernel_list(settings.kernel, settings.ngram_range, settings.weighting, **options)


def refer_to_rows(
    kernel_list: KernelList | None, rows: NDArray[Any] | None, n: int
) -> ComparedDocuments | None:
    """Return the reference to n rows of numbers from a file, or None if the kernel takes none.

    Raise an error if rows and kernel do not match.
    """
    if kernel_list is None or not kernel_list.by_rows:
        if rows is not None:
            raise ValueError("it has rows of numbers, which its kernel does not take")
        return None
    if rows is None or rows.ndim != 2 or len(rows) != n or not rows.shape[1]:
        raise ValueError(f"it has no rows of numbers for its {n} documents")
    return kernel_list.refer_to(rows, {})


def _make(kernel: Any, options: dict[str, Any]) -> Any:
    """Parse a kernel, so that later changes by the caller have no effect."""
    if isinstance(kernel, str) and kernel in (*KERNELS, WORDS):
        words = {"kind": "presence", "unit": "word+opening", "ngram_range": WORD_RANGE}
        return StringKernel(**options | (words if kernel == WORDS else {"kind": kernel})).parse()
    if kernel_is_precomputed(kernel):
        raise InputError(
            "kernel='precomputed' has no documents to compare; give texts and another kernel"
        )
    if kernel_is_rows(kernel):
        return RowsKernel()
    return kernel.parse() if isinstance(kernel, StringKernel) else kernel


def _self_values(kernel: Any, documents: Sequence[Any]) -> Floats:
    """Return k(x, x) of each document."""
    if isinstance(kernel, RowsKernel):
        return kernel.self_values(documents)
    return np.array(
        [
            _call(kernel, documents[i : i + 1], documents[i : i + 1])[0, 0]
            for i in range(len(documents))
        ],
        float,
    )


def _call(kernel: Any, documents: Sequence[Any], others: Sequence[Any]) -> Floats:
    result = np.asarray(kernel(documents, others), dtype=float)
    shape = len(documents), len(others)
    if result.shape != shape:
        raise InputError(
            f"the kernel gave an array of shape {result.shape} for {shape[0]} and {shape[1]} "
            f"documents"
        )
    return result
