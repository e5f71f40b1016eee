"""Features of a fit's documents and the solvers for them: of n-grams, or of a kernel matrix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.corpus import Corpus
from gramshift.kernels.string_kernel import KernelSpec
from gramshift.kernels.weighting import Count, Weighting, frequency_ratios, make_weights
from gramshift.learn.class_proportions import measure_drift
from gramshift.learn.features import Features, KernelFeatures, one_over_root
from gramshift.learn.linear import N_SKETCHED, LinearRidge, NGramFeatures, NGramFeaturesPart
from gramshift.learn.solvers import Solver
from gramshift.learn.training_set import Rows, TrainingSet
from gramshift.learn.vectors import VectorFeatures
from gramshift.model.kernel_list import KernelList
from gramshift.ngrams.feature_lists import FeatureLists
from gramshift.ngrams.sorted_ngrams import Run
from gramshift.runtime import Runtime

Floats = NDArray[np.float64]
MakeSolver = Callable[[Any, Rows], Solver]
"""Makes a solver of features and source documents."""
GRAM_CELL = 32  # bytes for each cell of a kernel matrix, with what training on it takes
SKETCH_CELL = 48  # bytes for each similarity from which a preconditioner is made
TYPICAL_DRIFT = 0.6  # about that between reviews of different products


class KernelFeatureMaker:
    """Makes kernel features: once, or for every training set if they depend on classes."""

    weights = None  # kernel fits take no weights of documents

    def __init__(
        self,
        make_features: Callable[[TrainingSet, bool], tuple[KernelFeatures, Mapping[int, Floats]]],
        make_solver: MakeSolver,
        *,
        by_labels: bool = False,
    ) -> None:
        """``make_features`` takes a training set and ``across``, as ``features_for`` does.

        It returns the features, and k(x, x) of each document for kernels that are functions.
        """
        self._make_features = make_features
        self._make_solver = make_solver
        self.by_labels = by_labels
        self._features: KernelFeatures | None = None
        self.self_values: Mapping[int, Floats] = {}

    def features_for(self, training_set: TrainingSet, *, across: bool = False) -> KernelFeatures:
        """Return the features of all documents."""
        if self._features is not None and not self.by_labels:
            return self._features
        features, self.self_values = self._make_features(training_set, across)
        if not self.by_labels:
            self._features = features
        return features

    def make_solver(self, features: Features, source: Rows) -> Solver:
        """Return the solver that the settings name."""
        return self._make_solver(features, source)

    def measure_drift(self, training_set: TrainingSet) -> float:
        """Return a typical value: drift cannot be measured from a kernel matrix."""
        return TYPICAL_DRIFT


@dataclass(frozen=True)
class NGramFeatureMaker:
    """Makes n-gram features: n-grams are found once, and weighted for every training set.

    ``run`` does short pieces of work, by default on threads that are started for each; ``weights``
    are those of documents. ``vectors`` join the n-grams, with ``vector_weight`` relative to these.
    """

    kernel_list: KernelList
    documents: Corpus
    alpha: float = field(kw_only=True)
    bias: bool = field(kw_only=True)
    runtime: Runtime = field(kw_only=True)
    run: Run | None = field(default=None, kw_only=True)
    weights: Floats | None = field(default=None, kw_only=True)
    vectors: VectorFeatures | None = field(default=None, kw_only=True)
    vector_weight: float = field(default=0.0, kw_only=True)
    self_values: Mapping[int, Floats] = field(default_factory=dict, init=False)

    @property
    def by_labels(self) -> bool:
        """True if weights of n-grams depend on classes."""
        return self.kernel_list.by_classes

    @property
    def makes_ngram_model(self) -> bool:
        """True if only n-grams of several documents have weight, so that they can be listed."""
        return self.kernel_list.by_shared_alone

    def features_for(self, training_set: TrainingSet, *, across: bool = False) -> NGramFeatures:
        """Return the features of all documents, with weights by the classes of a training set.

        With ``across`` they have no vectors, by which proportions were estimated worse: in both
        domains the mean of the vectors is 0, whatever the proportions are.
        """
        parts = [
            self._describe(kernel, training_set, across) for kernel in self.kernel_list.kernels
        ]
        ngrams = NGramFeatures(parts, self._run)
        if self.vectors is None or across:
            return ngrams
        return ngrams.with_vectors(self.vectors, self.vector_weight)

    def measure_drift(self, training_set: TrainingSet, source: Rows | None = None) -> float:
        """Measure the drift from all or some of the source to the target.

        It is that of the n-grams of the last kernel, which is that of words if there is one.
        """
        kernel = self.kernel_list.kernels[-1]
        domains = np.where(training_set.is_source, -1, 1)
        domains[training_set.source if source is None else source] = 0
        n_documents = np.bincount(domains[domains >= 0], minlength=2)
        ratios, variances = [np.zeros(0)], [np.zeros(0)]

        def collect(count: Count) -> Floats:
            counts = count(domains, 2)
            some_ratios, some_variances = frequency_ratios(counts, n_documents)
            ratios.append(some_ratios)
            variances.append(some_variances)
            return np.zeros(counts.shape[1])

        self.documents.lists(kernel, self.runtime).weigh(collect, run=self._run)
        return measure_drift(np.concatenate(ratios), np.concatenate(variances))

    def find_weightless(self, source: TrainingSet) -> NDArray[np.bool_]:
        """Return which target documents have no n-gram with weight in the source, and no vector."""
        scales = [part.scale for part in self.features_for(source).parts]
        weightless: NDArray[np.bool_] = np.max(scales, axis=0)[source.target] == 0
        return weightless

    def make_solver(self, features: Features, source: Rows) -> LinearRidge:
        """Return ridge regression by conjugate gradients."""
        assert isinstance(features, NGramFeatures), "made here"
        memory = max(0, self.runtime.memory)
        return LinearRidge(
            features,
            self.alpha,
            bias=self.bias,
            progress=self.runtime.progress,
            most=isqrt(memory // GRAM_CELL),
            sketched=min(N_SKETCHED, memory // (SKETCH_CELL * len(features))),
            weights=self.weights,
        )

    @property
    def _run(self) -> Run:
        return self.run or self.runtime.run

    def _describe(
        self, kernel: KernelSpec, training_set: TrainingSet, across: bool
    ) -> NGramFeaturesPart:
        lists, run = self.documents.lists(kernel, self.runtime), self._run
        weighting = weigh_by(kernel, training_set, across=across)
        weight_each, weight_unshared = weigh_lists(lists, weighting, len(training_set), run)
        weights = weight_each * lists.times
        own = weight_unshared * lists.unshared
        scale = one_over_root(own + lists.own_values(weights, run=run))
        return NGramFeaturesPart(lists, weights, own, scale)


def compare_plainly(kernel: KernelSpec, documents: Corpus, runtime: Runtime, rows: Rows) -> Floats:
    """Return similarities of some documents, in ascending order, with equal weights of n-grams."""
    lists = documents.lists(kernel, runtime)
    weights = lists.times.astype(np.float64)
    scale = one_over_root(lists.unshared + lists.own_values(weights, run=runtime.run))
    part = NGramFeaturesPart(lists, weights, lists.unshared.astype(np.float64), scale)
    features = NGramFeatures([part], runtime.run).narrow(rows)
    return np.vstack(list(features.rows(np.arange(len(rows)))))


def weigh_by(
    kernel: KernelSpec, training_set: TrainingSet, *, across: bool = False
) -> Weighting | None:
    """Return how the kernel weights n-grams by domains and classes; None for equal weights."""
    powers = kernel.powers
    if powers is None:
        return None
    if across:
        powers = replace(powers, consistency=max(1.0, powers.consistency))
    return Weighting(powers, np.where(training_set.is_source, 0, 1), training_set.known)


def weigh_lists(
    lists: FeatureLists, weighting: Weighting | None, n: int, run: Run
) -> tuple[Floats, float]:
    """Return the weight of an n-gram of each feature, and that of one in a single document."""
    if weighting is None:
        return np.ones(lists.n_features), 1.0

    def count_none(groups: Any, n_groups: int) -> NDArray[np.int64]:
        return np.zeros((n_groups, 1), np.int64)

    unshared = make_weights(weighting, n, count_none)
    return lists.weigh(partial(make_weights, weighting, n), run=run), float(unshared[0])
