"""How the documents of a fit are described: by their n-grams, or by a gram."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.weighting import Count, Weighting, frequency_ratios, make_weights
from gramshift.learn.features import Features, GramFeatures, one_over_root
from gramshift.learn.labelling import Labelling, Rows
from gramshift.learn.linear import SKETCHED, LinearFeatures, LinearPart, LinearRidge
from gramshift.learn.shares import measure_drift
from gramshift.learn.solvers import Solver
from gramshift.model.inputs import ListedCorpus
from gramshift.model.similarities import Similarities
from gramshift.model.string_kernel import KernelSpec
from gramshift.ngrams.feature_lists import FeatureLists
from gramshift.ngrams.sorted_ngrams import Run
from gramshift.runtime.resources import Runtime

Floats = NDArray[np.float64]
MakeSolver = Callable[[Any, Rows], Solver]
"""(features, source documents) -> what trains on them."""
GRAM_CELL = 32  # bytes of a gram while documents are trained on by it
SKETCH_CELL = 48  # and of the similarities to some documents, from which a preconditioner is made
UNKNOWN_DRIFT = 0.6  # about that of reviews of unlike products


class GramDescriber:
    """Describes documents by a gram: one that is given, or made when it is first needed, and again if labels shape it."""

    def __init__(
        self,
        make_features: Callable[[Labelling, bool], tuple[GramFeatures, Mapping[int, Floats]]],
        make_solver: MakeSolver,
        *,
        by_labels: bool = False,
    ) -> None:
        """``make_features`` gives the documents and the self-values of kernels that are functions.

        It is called with a labelling, and whether n-grams that one domain has more often than the other count less.
        """
        self._make_features, self._make_solver, self.by_labels = (
            make_features,
            make_solver,
            by_labels,
        )
        self._features: GramFeatures | None = None
        self.self_values: Mapping[int, Floats] = {}

    def describe(self, labelling: Labelling, *, across: bool = False) -> GramFeatures:
        """All documents."""
        if self._features is not None and not self.by_labels:
            return self._features
        features, self.self_values = self._make_features(labelling, across)
        if not self.by_labels:
            self._features = features
        return features

    def make_solver(self, features: Features, source: Rows) -> Solver:
        """The solver that the settings name."""
        return self._make_solver(features, source)

    def measure_drift(self, labelling: Labelling) -> float:
        """Similarities do not tell."""
        return UNKNOWN_DRIFT


class LinearDescriber:
    """Describes documents as a linear model of their n-grams: these are found once, and weighed for every labelling."""

    def __init__(
        self,
        similarities: Similarities,
        documents: ListedCorpus,
        *,
        alpha: float,
        bias: bool,
        runtime: Runtime,
        run: Run | None = None,
        weights: Floats | None = None,
    ) -> None:
        """``run`` does short pieces of work, by default on threads that are started for each; ``weights`` are of documents."""
        self.weights = weights
        self._kernels: list[KernelSpec] = similarities.kernels
        self._run: Run = run or runtime.run
        self._documents, self._runtime, self._alpha, self._bias = documents, runtime, alpha, bias
        self.by_labels = similarities.by_classes

    def describe(self, labelling: Labelling, *, across: bool = False) -> LinearFeatures:
        """All documents, with n-grams weighted by the classes of this labelling."""
        return LinearFeatures(
            [self._describe(kernel, labelling, across) for kernel in self._kernels], self._run
        )

    def measure_drift(self, labelling: Labelling, source: Rows | None = None) -> float:
        """The drift from all or some of the source, by n-grams of the last kernel, which is that of words if there is one."""
        lists, domains = (
            self._documents.lists(self._kernels[-1], self._runtime),
            np.where(labelling.is_source, -1, 1),
        )
        domains[labelling.source if source is None else source] = 0
        found: list[tuple[Floats, Floats]] = []

        def look(count: Count) -> Floats:
            counts = count(domains, 2)
            found.append(frequency_ratios(counts, np.bincount(domains[domains >= 0], minlength=2)))
            return np.zeros(counts.shape[1])

        lists.weigh(look, run=self._run)
        ratios, variances = (
            (np.concatenate([np.zeros(0), *parts]) for parts in zip(*found, strict=True))
            if found
            else ([], [])
        )
        return measure_drift(np.asarray(ratios), np.asarray(variances))

    def make_solver(self, features: Features, source: Rows) -> LinearRidge:
        """Ridge regression by conjugate gradients."""
        assert isinstance(features, LinearFeatures), "made here"
        memory = max(0, self._runtime.memory)
        most, sketched = isqrt(memory // GRAM_CELL), memory // (SKETCH_CELL * len(features))
        return LinearRidge(
            features,
            self._alpha,
            bias=self._bias,
            progress=self._runtime.progress,
            most=most,
            sketched=min(SKETCHED, sketched),
            weights=self.weights,
        )

    def _describe(self, kernel: KernelSpec, labelling: Labelling, across: bool) -> LinearPart:
        lists, run = self._documents.lists(kernel, self._runtime), self._run
        weighting = weigh_by(kernel, labelling, across=across)
        weights, alone = weigh_lists(lists, weighting, len(labelling), run)
        weights, own = weights * lists.times, alone * lists.unshared
        return LinearPart(
            lists, weights, own, one_over_root(own + lists.own_values(weights, run=run))
        )


def compare_plainly(
    kernel: KernelSpec, documents: ListedCorpus, runtime: Runtime, rows: Rows
) -> Floats:
    """The similarities of some documents, which ascend, to each other, with every n-gram counting alike."""
    lists = documents.lists(kernel, runtime)
    own = lists.unshared + lists.own_values(lists.times.astype(np.float64), run=runtime.run)
    part = LinearPart(
        lists, lists.times.astype(np.float64), lists.unshared.astype(np.float64), one_over_root(own)
    )
    few = LinearFeatures([part], runtime.run).narrow(rows)
    return np.vstack(list(few.rows(np.arange(len(rows)))))


def weigh_by(kernel: KernelSpec, labelling: Labelling, *, across: bool = False) -> Weighting | None:
    """How the kernel weighs n-grams by the domains and classes of documents; None if it does not."""
    powers = kernel.powers
    if powers is None:
        return None
    if across:
        powers = replace(powers, consistency=max(1.0, powers.consistency))
    return Weighting(powers, np.where(labelling.is_source, 0, 1), labelling.known)


def weigh_lists(
    lists: FeatureLists, weighting: Weighting | None, n: int, run: Run
) -> tuple[Floats, float]:
    """What an n-gram of each feature weighs, and what one of a single document does."""
    if weighting is None:
        return np.ones(lists.n_features), 1.0
    alone = make_weights(weighting, n, lambda groups, n_groups: np.zeros((n_groups, 1), np.int64))
    return lists.weigh(partial(make_weights, weighting, n), run=run), float(alone[0])
