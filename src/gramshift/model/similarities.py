"""Comparing documents by whatever the user named as kernel: always similarities, 1 for a document with itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.registry import KERNELS
from gramshift.kernels.weighting import Powers
from gramshift.learn.features import Described, compact, normalize_gram
from gramshift.model.inputs import check_gram, check_rows
from gramshift.model.settings import WORD_RANGE, WORDS
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress, count_threads
from gramshift.text.documents import as_list

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Normalised kernels of documents; several are averaged."""

    kernels: list[Any]
    n_jobs: int | None = -1
    selves: dict[int, Floats] = field(default_factory=dict, compare=False, repr=False)
    """k(x, x) of the documents of the fit, by the place of a kernel that is a function."""
    groups: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Domains and classes of the documents of the fit, for weights; None for no class."""

    @property
    def by_counts(self) -> bool:
        """Whether all kernels are sums over shared n-grams."""
        return all(isinstance(kernel, StringKernel) and kernel.counts for kernel in self.kernels)

    @property
    def by_classes(self) -> bool:
        """Whether some n-grams are weighted by what the classes of documents say of them."""
        return any(powers.classes > 0 for _, powers in self._weighted())

    @property
    def by_weights(self) -> bool:
        """Whether what documents are compared with decides how much some n-grams count."""
        return bool(self._weighted())

    def _weighted(self) -> list[tuple[StringKernel, Powers]]:
        """The kernels whose n-grams have weights, and what these are made of."""
        ours = [kernel for kernel in self.kernels if isinstance(kernel, StringKernel)]
        return [(kernel, powers) for kernel in ours if (powers := kernel.powers) is not None]

    def across_domains(self) -> "Comparison":
        """The same kernels with n-grams that have weights counting by how evenly they are spread over the domains too."""
        powers = {id(kernel): vars(one) | {"consistency": max(1.0, one.consistency)} for kernel, one in self._weighted()}
        kernels = [
            StringKernel(**one.get_params() | {"weighting": powers[id(one)]}) if id(one) in powers else one
            for one in self.kernels
        ]
        return Comparison(kernels, self.n_jobs, self.selves, self.groups)

    def without_weights(self) -> "Comparison":
        """The same kernels with every n-gram counting alike."""
        kernels = [
            StringKernel(**one.get_params() | {"weighting": None}) if isinstance(one, StringKernel) else one
            for one in self.kernels
        ]
        return Comparison(kernels, self.n_jobs)

    def on_one_thread(self) -> "Comparison":
        """The same for a worker that has one; its kernels use no other."""
        kernels = [
            StringKernel(**one.get_params() | {"n_jobs": 1}) if isinstance(one, StringKernel) else one for one in self.kernels
        ]
        return Comparison(kernels, 1, self.selves, self.groups)

    @property
    def n_lengths(self) -> int:
        """How many lengths of n-grams our kernels have together, at least 1."""
        ranges = [one.ngram_range for one in self.kernels if isinstance(one, StringKernel)]
        return max(1, sum(1 + high - low for low, high in ranges))

    def takes_rows(self, X: Any) -> bool:
        """Whether X is to be read as rows of numbers: for functions of the user's, unless it holds texts."""
        if any(isinstance(kernel, StringKernel) for kernel in self.kernels):
            return False
        shape = getattr(X, "shape", None)
        if shape is not None:
            return len(shape) != 1 or not any(isinstance(one, str) for one in as_list(X[:1]))
        return hasattr(X, "__array__") or (isinstance(X, (list, tuple)) and not any(isinstance(one, str) for one in X[:1]))

    def describe_all(self, documents: Sequence[Any], *, adapt: bool, progress: Progress | None = None) -> Described:
        """Documents among themselves; of a single kernel that counts n-grams the counts are kept as they are."""
        n_threads = count_threads(self.n_jobs)
        if self.by_counts and len(self.kernels) == 1:
            counts = compact(self.kernels[0].gram(documents, normalize=False, progress=progress, **self.groups))
            return Described.from_gram(counts, adapt=adapt, n_threads=n_threads)
        ones = np.ones(len(documents))
        return Described(self._average(documents, None, progress), ones, ones, adapt, n_threads)

    def describe_again(
        self, documents: Sequence[Any], *, adapt: bool, progress: Progress | None = None
    ) -> Callable[..., Described]:
        """What describes documents among themselves, again and again, as ``groups`` change; n-grams are found once.

        It takes a number n, to describe the first n alone, by each other, and ``across``, to have the domains alike. What
        it gave before is overwritten: the gram keeps its place in memory.
        """
        from gramshift.grams.reweighted import sum_similarities  # compiled code that few need

        weighted, constant = [kernel for kernel, _ in self._weighted()], None
        finders = [
            (kernel, kernel.find_ngrams(list(documents), Runtime(kernel.n_jobs, kernel.memory_limit, progress=progress)))
            for kernel in weighted
        ]
        others = [one for one in self.kernels if all(one is not kernel for kernel in weighted)]
        if others:
            constant = Comparison(others, self.n_jobs, self.selves)._average(documents, None, progress) * len(others)
        scale = np.full(len(documents), 1 / np.sqrt(len(self.kernels)))
        place = np.empty(len(documents) ** 2)

        def describe(n: int | None = None, *, across: bool = False) -> Described:
            size = len(documents) if n is None else n
            total = place[: size * size].reshape(size, size)
            if constant is not None:
                total[:] = constant[:size, :size]
            weightings = []
            for kernel, found in finders:
                weighting = kernel.make_weighting(len(documents), **self.groups, across=across)
                assert weighting is not None
                weightings.append((found, weighting))
            sum_similarities(weightings, total, anew=constant is None, runtime=Runtime(weighted[0].n_jobs, progress=progress))
            return Described(total, scale[:n], scale[:n], adapt, count_threads(self.n_jobs))

        return describe

    def remember(self, documents: Sequence[Any]) -> None:
        """What others will be compared with, for kernels that are functions."""
        for place, kernel in enumerate(self.kernels):
            if not isinstance(kernel, StringKernel):
                self.selves[place] = _selves(kernel, documents)

    def describe(self, documents: Sequence[Any], others: Sequence[Any], *, adapt: bool) -> Described:
        """New documents by their similarity to others."""
        ones = np.ones(len(documents)), np.ones(len(others))
        return Described(self._average(documents, others), *ones, adapt, count_threads(self.n_jobs))

    def _average(self, documents: Sequence[Any], others: Sequence[Any] | None, progress: Progress | None = None) -> Floats:
        total: Floats = np.zeros((0, 0))
        for place, kernel in enumerate(self.kernels):
            if isinstance(kernel, StringKernel):
                values = kernel.gram(documents, others, normalize=True, progress=progress, **self.groups)
            elif others is None:
                gram = check_gram(_call(kernel, documents, documents), name="kernel", n_threads=count_threads(self.n_jobs))
                self.selves[place] = np.diagonal(gram).astype(float)
                values = normalize_gram(gram)
            else:
                values = normalize_gram(_call(kernel, documents, others), _selves(kernel, documents), self.selves[place])
                check_rows(values, name="kernel")
            total = total + values if place else values
        total /= len(self.kernels)
        return total


def make_comparison(kernel: Any, ngram_range: tuple[int, int], weighting: Any = None, **options: Any) -> Comparison:
    """From a name, a StringKernel, another callable, or a list of these."""
    named = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    if not named:
        raise ValueError("kernel=[]: give at least one kernel, for example ['presence', 'spectrum']")
    given = {"ngram_range": ngram_range, "weighting": weighting} | options
    return Comparison([_make(one, given) for one in named], options.get("n_jobs", -1))


def copy_kernel(kernel: Any) -> Any:
    """One that does not change with the user's."""
    if isinstance(kernel, (list, tuple)):
        return [copy_kernel(one) for one in kernel]
    return StringKernel(**kernel.get_params()) if isinstance(kernel, StringKernel) else kernel


def can_be_weighted(kernel: Any) -> bool:
    """Whether a kernel is given by a name, and can have weights."""
    return isinstance(kernel, str) and (kernel == WORDS or (kernel in KERNELS and KERNELS[kernel].weigh is not None))


def _make(kernel: Any, options: dict[str, Any]) -> Any:
    """A kernel of our own: what the caller does to theirs later does not matter."""
    if isinstance(kernel, str) and kernel in (*KERNELS, WORDS):
        words = {"kind": "presence", "unit": "word", "ngram_range": WORD_RANGE}
        made = StringKernel(**options | (words if kernel == WORDS else {"kind": kernel}))
        made.check_parameters()
        return made
    if isinstance(kernel, StringKernel):
        kernel.check_parameters()
        return StringKernel(**kernel.get_params())
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError("kernel='precomputed' cannot stand in a list; add up the grams yourself, normalised")
    if callable(kernel) and not isinstance(kernel, type):
        return kernel
    names = ", ".join(map(repr, [*KERNELS, WORDS, "precomputed"]))
    raise ValueError(f"kernel={kernel!r}: must be one of {names}, a StringKernel, another callable, or a list of kernels")


def _selves(kernel: Any, documents: Sequence[Any]) -> Floats:
    """k(x, x) of each."""
    return np.array([_call(kernel, documents[i : i + 1], documents[i : i + 1])[0, 0] for i in range(len(documents))], float)


def _call(kernel: Any, documents: Sequence[Any], others: Sequence[Any]) -> Floats:
    result = np.asarray(kernel(documents, others), dtype=float)
    shape = len(documents), len(others)
    if result.shape != shape:
        raise ValueError(f"the kernel gave an array of shape {result.shape} for {shape[0]} and {shape[1]} documents")
    return result
