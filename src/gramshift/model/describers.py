"""How the documents of a fit are described: by their n-grams, by a gram, or by landmarks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.to_landmarks import count_shared
from gramshift.kernels.weighting import Count, Weighting, frequency_ratios, make_weights
from gramshift.learn.features import Features, GramFeatures, compact
from gramshift.learn.labelling import Labelling, Rows
from gramshift.learn.landmark_ridge import LandmarkRidge
from gramshift.learn.linear import SKETCHED, LinearFeatures, LinearPart, LinearRidge
from gramshift.learn.piecewise import LandmarkFeatures
from gramshift.learn.shares import measure_drift
from gramshift.learn.solvers import Solver
from gramshift.model.inputs import ListedCorpus
from gramshift.model.landmarks import FirstPass, unchanged
from gramshift.model.similarities import Reference, Similarities
from gramshift.model.string_kernel import StringKernel
from gramshift.ngrams.feature_lists import FeatureLists
from gramshift.ngrams.lookup import build_lookup
from gramshift.ngrams.sorted_ngrams import Run, sort_ngrams
from gramshift.runtime.budget import PER_NGRAM, piece_size
from gramshift.runtime.checkpoint import Checkpoint
from gramshift.runtime.memory import require
from gramshift.runtime.pieces import Arrays, Pieces, Store, StoredPieces
from gramshift.runtime.remote_pieces import RemotePieces, StoredByWorkers
from gramshift.runtime.resources import Runtime
from gramshift.runtime.schema import EPSILON, Array
from gramshift.runtime.threads import run_threads
from gramshift.text.corpus import InParts, in_lists
from gramshift.text.encode import encode

Floats = NDArray[np.float64]
MakeSolver = Callable[[Any, Rows], Solver]
"""(features, source documents) -> what trains on them."""
WORKER_BYTES = 320 << 20  # of a Dask worker with our libraries
SQUARES_BYTES = 3 * 8  # of each pair of landmarks: two sums that are added, and what sends the result
TOGETHER_BYTES = 64 << 20  # pieces that a task trains on
PAUSED = 0.8  # of a worker's memory: with more it gets no more work
GRAM_CELL = 32  # bytes of a gram while documents are trained on by it
SKETCH_CELL = 48  # and of the similarities to some documents, from which a preconditioner is made
UNKNOWN_DRIFT = 0.6  # about that of reviews of unlike products
CELL_BYTES = 24  # of a piece under way: counts, what they become, and the texts


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
        self._make_features, self._make_solver, self.by_labels = make_features, make_solver, by_labels
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
        self._kernels: list[StringKernel] = similarities.kernels
        self._run: Run = run or runtime.run
        self._documents, self._runtime, self._alpha, self._bias = documents, runtime, alpha, bias
        self.by_labels = similarities.by_classes

    def describe(self, labelling: Labelling, *, across: bool = False) -> LinearFeatures:
        """All documents, with n-grams weighted by the classes of this labelling."""
        return LinearFeatures([self._describe(kernel, labelling, across) for kernel in self._kernels], self._run)

    def measure_drift(self, labelling: Labelling, source: Rows | None = None) -> float:
        """The drift from all or some of the source, by n-grams of the last kernel, which is that of words if there is one."""
        lists, domains = self._documents.lists(self._kernels[-1], self._runtime), np.where(labelling.is_source, -1, 1)
        domains[labelling.source if source is None else source] = 0
        found: list[tuple[Floats, Floats]] = []

        def look(count: Count) -> Floats:
            counts = count(domains, 2)
            found.append(frequency_ratios(counts, np.bincount(domains[domains >= 0], minlength=2)))
            return np.zeros(counts.shape[1])

        lists.weigh(look, run=self._run)
        ratios, variances = (np.concatenate([np.zeros(0), *parts]) for parts in zip(*found, strict=True)) if found else ([], [])
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

    def _describe(self, kernel: StringKernel, labelling: Labelling, across: bool) -> LinearPart:
        lists, run = self._documents.lists(kernel, self._runtime), self._run
        weighting = weigh_by(kernel, labelling, across=across)
        weights, alone = weigh_lists(lists, weighting, len(labelling), run)
        weights, own = weights * lists.times, alone * lists.unshared
        return LinearPart(lists, weights, own, one_over_root(own + lists.own_values(weights, run=run)))


def compare_plainly(kernel: StringKernel, documents: ListedCorpus, runtime: Runtime, rows: Rows) -> Floats:
    """The similarities of some documents, which ascend, to each other, with every n-gram counting alike."""
    lists = documents.lists(kernel, runtime)
    own = lists.unshared + lists.own_values(lists.times.astype(np.float64), run=runtime.run)
    part = LinearPart(lists, lists.times.astype(np.float64), lists.unshared.astype(np.float64), one_over_root(own))
    few = LinearFeatures([part], runtime.run).narrow(rows)
    return np.vstack(list(few.rows(np.arange(len(rows)))))


def weigh_by(kernel: StringKernel, labelling: Labelling, *, across: bool = False) -> Weighting | None:
    """How the kernel weighs n-grams by the domains and classes of documents; None if it does not."""
    powers = kernel.powers
    if powers is None:
        return None
    if across:
        powers = replace(powers, consistency=max(1.0, powers.consistency))
    return Weighting(powers, np.where(labelling.is_source, 0, 1), labelling.known)


def weigh_lists(lists: FeatureLists, weighting: Weighting | None, n: int, run: Run) -> tuple[Floats, float]:
    """What an n-gram of each feature weighs, and what one of a single document does."""
    if weighting is None:
        return np.ones(lists.n_features), 1.0
    alone = make_weights(weighting, n, lambda groups, n_groups: np.zeros((n_groups, 1), np.int64))
    return lists.weigh(partial(make_weights, weighting, n), run=run), float(alone[0])


class Encoder:
    """Turns texts into similarities to landmarks. The n-grams of the landmarks are found once, if one kernel counts them."""

    def __init__(self, similarities: Similarities, landmarks: Reference, *, n_threads: int) -> None:
        """Find the n-grams of the landmarks, on so many threads."""
        self._similarities, self._landmarks = similarities, landmarks
        self._kernel: StringKernel | None = None
        self.scale = np.ones(len(landmarks.documents))
        if similarities.by_lookup:
            kernel: StringKernel = similarities.kernels[0]
            ngram_range, _ = kernel.check_parameters()
            self._kernel = kernel
            ngrams = sort_ngrams(encode(kernel.prepare(landmarks.documents)), ngram_range, keep=False)
            self._lookup = build_lookup(ngrams, kind=kernel.kind, run=partial(run_threads, n_threads=n_threads))
            self.scale = one_over_root(self._lookup.self_values)

    @property
    def nbytes(self) -> int:
        """Bytes that the n-grams of the landmarks take; where these are sorted with every part, while they are."""
        if self._kernel is not None:
            return self._lookup.nbytes
        return PER_NGRAM * self._similarities.n_lengths * sum(map(len, self._landmarks.documents))

    @property
    def uses_one_thread(self) -> bool:
        """Whether a call uses one thread, so that several parts can be worked on at once."""
        return self._kernel is not None

    def declare(self, n: int) -> dict[str, Array]:
        """What a call with n documents gives: counts, none above a landmark's with itself but for products, or similarities."""
        sides, scales = (n, len(self.scale)), Array("<f8", (n,), low=0, most=1)
        if self._kernel is None:
            return {"gram": Array("<f8", sides, low=0, most=1 + EPSILON), "row_scale": scales}
        most = 2**62 if self._kernel.kind == "spectrum" else int(self._lookup.self_values.max(initial=0))
        return {"gram": Array(("<i4", "<i8"), sides, low=0, most=most), "row_scale": scales}

    def __call__(self, documents: Sequence[Any]) -> Arrays:
        """Their gram with the landmarks, counts if there are such, and what the rows are multiplied by."""
        if self._kernel is None:
            described = self._similarities.describe(documents, self._landmarks, adapt=False)
            return {"gram": described.gram, "row_scale": np.array([float(bool(text.strip())) for text in documents])}
        counts, own = count_shared(self._lookup, self._kernel.prepare(documents))
        return {"gram": compact(counts, symmetric=False), "row_scale": one_over_root(own)}


def one_over_root(own: NDArray[Any]) -> Floats:
    """1 / sqrt(own), 0 for a document without n-grams that count."""
    result: Floats = np.divide(1.0, np.sqrt(own.astype(float)), out=np.zeros(own.shape), where=own > 0)
    return result


class LandmarkDescriber:
    """Describes documents by landmarks, piece by piece: in a store, or without one on the workers of a cluster."""

    by_labels = False

    def __init__(
        self,
        similarities: Similarities,
        documents: InParts,
        landmarks: Rows,
        seen: FirstPass,
        *,
        adapt: bool,
        alpha: float,
        bias: bool,
        store: Store | None,
        runtime: Runtime,
    ) -> None:
        self._similarities, self._documents, self._landmarks, self._seen = similarities, documents, landmarks, seen
        self._adapt, self._alpha, self._bias, self._store, self._runtime = adapt, alpha, bias, store, runtime
        self._described: LandmarkFeatures | None = None

    @property
    def size(self) -> int:
        """The number of documents in a piece."""
        return size_of_pieces(self._similarities, len(self._landmarks), self._runtime)

    def measure_drift(self, labelling: Labelling) -> float:
        """Similarities do not tell."""
        return UNKNOWN_DRIFT

    def describe(self, labelling: Labelling, *, across: bool = False) -> LandmarkFeatures:
        """All documents, the same for every labelling."""
        if self._described is not None:
            return self._described
        runtime = self._runtime
        similarities = self._similarities if runtime.cluster is None else self._similarities.on_one_thread()
        reference = similarities.refer_to(self._seen.landmarks, labelling.groups(self._landmarks))
        encoder = Encoder(similarities, reference, n_threads=runtime.n_threads)
        parts = in_lists(unchanged(self._documents.parts(), self._seen.digest), self.size)
        self._described = LandmarkFeatures(
            self._make_pieces("landmarks", encoder, parts, -(-len(labelling) // self.size)),
            n=len(labelling),
            size=self.size,
            scale=encoder.scale,
            adapt=self._adapt,
            store=self._store if isinstance(self._store, Checkpoint) else None,
        )
        return self._described

    def make_solver(self, features: Any, source: Rows) -> LandmarkRidge:
        """Ridge regression on similarities to landmarks."""
        return LandmarkRidge(features, self._landmarks, source, self._alpha, bias=self._bias)

    def _make_pieces(self, name: str, encoder: Encoder, parts: Iterator[list[str]], total: int) -> Pieces:
        """The pieces in memory or on disk, made by threads; on Dask workers; or made by these but kept in the user's folder."""
        runtime, n_landmarks = self._runtime, len(self._landmarks)
        if runtime.cluster is not None:
            in_piece, room = CELL_BYTES * self.size * n_landmarks, int(PAUSED * runtime.cluster.memory_limit)
            sorted_with = 0 if encoder.uses_one_thread else self.size / n_landmarks  # documents to a landmark
            comparing = int(encoder.nbytes * (1 + sorted_with)) + in_piece
            needed = WORKER_BYTES + max(comparing, SQUARES_BYTES * n_landmarks**2 + TOGETHER_BYTES)
            advice = "give each worker more memory, or take fewer landmarks"
            require(f"a Dask worker that compares {self.size} documents with {n_landmarks}", needed, room, advice)
        if runtime.cluster is not None and self._store is None:
            of_piece = (4 if encoder.uses_one_thread else 8) * self.size * n_landmarks
            pieces: Pieces = RemotePieces(runtime, name, together=max(1, TOGETHER_BYTES // max(1, of_piece)))
        else:
            assert self._store is not None, "only a cluster keeps pieces without one"
            kind = StoredPieces if runtime.cluster is None else StoredByWorkers
            expect = partial(self._expect, encoder, total)
            pieces = kind(self._store, name, runtime, one_at_a_time=not encoder.uses_one_thread, expect=expect)
        pieces.fill(encoder, parts, total, stage="landmarks")
        return pieces

    def _expect(self, encoder: Encoder, total: int, number: int) -> dict[str, Array]:
        """What a piece must be; the last one may have fewer documents."""
        n = self.size if number < total - 1 else len(self._documents) - self.size * (total - 1)
        return encoder.declare(n)


def size_of_pieces(similarities: Similarities, n_landmarks: int, runtime: Runtime) -> int:
    """How many documents are in a piece: what the runtime says, or the same for so many landmarks on every machine."""
    return runtime.piece_size or piece_size(n_landmarks, again=not similarities.by_lookup)
