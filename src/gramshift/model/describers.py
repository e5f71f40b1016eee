"""How the documents of a fit are described: by a gram that stays, by one that labels shape, or by landmarks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.grams.reweighted import sum_similarities
from gramshift.kernels.to_landmarks import count_shared
from gramshift.learn.features import Features, GramFeatures, compact
from gramshift.learn.labelling import Labelling, Rows
from gramshift.learn.landmark_ridge import LandmarkRidge
from gramshift.learn.piecewise import LandmarkFeatures
from gramshift.learn.solvers import Solver
from gramshift.model.landmarks import FirstPass, unchanged
from gramshift.model.similarities import Reference, Similarities, within
from gramshift.model.string_kernel import StringKernel
from gramshift.ngrams.lookup import build_lookup
from gramshift.ngrams.sorted_ngrams import sort_ngrams
from gramshift.runtime.budget import PER_NGRAM, piece_size
from gramshift.runtime.checkpoint import Checkpoint
from gramshift.runtime.memory import require
from gramshift.runtime.pieces import Arrays, Pieces, Store, StoredPieces
from gramshift.runtime.remote_pieces import RemotePieces, StoredByWorkers
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import run_threads
from gramshift.text.corpus import Corpus, InParts, in_lists
from gramshift.text.encode import encode

Floats = NDArray[np.float64]
MakeSolver = Callable[[Any, Rows], Solver]
"""(features, source documents) -> what trains on them."""
WORKER_BYTES = 320 << 20  # of a Dask worker with our libraries
SQUARES_BYTES = 3 * 8  # of each pair of landmarks: two sums that are added, and what sends the result
TOGETHER_BYTES = 64 << 20  # pieces that a task trains on
PAUSED = 0.8  # of a worker's memory: with more it gets no more work
CELL_BYTES = 24  # of a piece under way: counts, what they become, and the texts


class GramDescriber:
    """Describes documents by a gram that labels do not shape: one that is given, or made when it is first needed."""

    by_labels = False

    def __init__(
        self, make_features: Callable[[Labelling], tuple[GramFeatures, Mapping[int, Floats]]], make_solver: MakeSolver
    ) -> None:
        """``make_features`` gives the documents and the self-values of kernels that are functions."""
        self._make_features, self._make_solver = make_features, make_solver
        self._features: GramFeatures | None = None
        self.self_values: Mapping[int, Floats] = {}

    def describe(self, labelling: Labelling, *, n: int | None = None, across: bool = False) -> GramFeatures:
        """All documents, the same ones for every labelling."""
        if self._features is None:
            self._features, self.self_values = self._make_features(labelling)
        return self._features

    def make_solver(self, features: Features, source: Rows) -> Solver:
        """The solver that the settings name."""
        return self._make_solver(features, source)


class ReweightedDescriber:
    """Describes documents by a gram whose n-grams have weights by class: n-grams are found once, the gram filled each time.

    What was described before is overwritten: the gram keeps its place in memory.
    """

    by_labels = True

    def __init__(
        self,
        similarities: Similarities,
        documents: Corpus | Sequence[Any],
        make_solver: MakeSolver,
        *,
        adapt: bool,
        runtime: Runtime,
    ) -> None:
        self._similarities, self._make_solver, self._adapt, self._runtime = similarities, make_solver, adapt, runtime
        self._n, self.self_values = len(documents), dict[int, Floats]()
        weighted, self._constant = [kernel for kernel, _ in similarities.weighted()], None
        found = [kernel.find_ngrams(documents, within(kernel, runtime)) for kernel in weighted]
        self._finders = list(zip(weighted, found, strict=True))
        others = {place: one for place, one in enumerate(similarities.kernels) if all(one is not mine for mine in weighted)}
        if others:
            kernels = list(others.values())
            mean, self_values = Similarities(kernels, similarities.n_jobs).average(documents, {}, runtime)
            self._constant = mean * len(kernels)
            self.self_values = {list(others)[place]: values for place, values in self_values.items()}
        self._place = np.empty(self._n**2)

    def describe(self, labelling: Labelling, *, n: int | None = None, across: bool = False) -> GramFeatures:
        """All documents, or the first n by each other, with n-grams weighted by the classes of this labelling."""
        n = None if self._adapt else n  # adapted documents are described by all others
        size, groups = self._n if n is None else n, labelling.groups()
        total = self._place[: size * size].reshape(size, size)
        if self._constant is not None:
            total[:] = self._constant[:size, :size]
        weightings = []
        for kernel, found in self._finders:
            weighting = kernel.make_weighting(self._n, **groups, across=across)
            assert weighting is not None, "only weighted kernels are here"
            weightings.append((found, weighting))
        sum_similarities(weightings, total, anew=self._constant is None, runtime=self._runtime)
        scale = np.full(size, 1 / np.sqrt(len(self._similarities.kernels)))
        return GramFeatures(total, scale, scale, self._adapt, self._runtime.n_threads)

    def make_solver(self, features: Features, source: Rows) -> Solver:
        """The solver that the settings name."""
        return self._make_solver(features, source)


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
            self.scale = _one_over_root(self._lookup.self_values)

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

    def __call__(self, documents: Sequence[Any]) -> Arrays:
        """Their gram with the landmarks, counts if there are such, and what the rows are multiplied by."""
        if self._kernel is None:
            described = self._similarities.describe(documents, self._landmarks, adapt=False)
            return {"gram": described.gram, "row_scale": np.array([float(bool(text.strip())) for text in documents])}
        counts, own = count_shared(self._lookup, self._kernel.prepare(documents))
        return {"gram": compact(counts, symmetric=False), "row_scale": _one_over_root(own)}


def _one_over_root(own: NDArray[np.int64]) -> Floats:
    result: Floats = np.divide(1.0, np.sqrt(own.astype(float)), out=np.zeros(len(own)), where=own > 0)
    return result


class LandmarkDescriber:
    """Describes documents by landmarks, piece by piece: in a store, or without one on the workers of a cluster."""

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
        self._described: tuple[Pieces, LandmarkFeatures] | None = None
        self._times = 0

    @property
    def by_labels(self) -> bool:
        """Whether n-grams have weights by class."""
        return self._similarities.by_classes

    @property
    def size(self) -> int:
        """The number of documents in a piece."""
        return size_of_pieces(self._similarities, len(self._landmarks), self._runtime)

    def describe(self, labelling: Labelling, *, n: int | None = None, across: bool = False) -> LandmarkFeatures:
        """All documents; again only if labels changed what n-grams weigh."""
        if self._described is not None and not self.by_labels:
            return self._described[1]
        if self._described is not None:
            self._described[0].drop()
        name, runtime = f"landmarks-{self._times}", self._runtime
        similarities = self._similarities.across_domains() if across else self._similarities
        similarities = similarities if runtime.cluster is None else similarities.on_one_thread()
        reference = similarities.refer_to(self._seen.landmarks, labelling.groups(self._landmarks))
        encoder = Encoder(similarities, reference, n_threads=runtime.n_threads)
        parts = in_lists(unchanged(self._documents.parts(), self._seen.digest), self.size)
        pieces = self._make_pieces(name, encoder, parts, -(-len(labelling) // self.size))
        self._times += 1
        kept = self._store if isinstance(self._store, Checkpoint) and not self.by_labels else None
        described = LandmarkFeatures(
            pieces,
            n=len(labelling),
            size=self.size,
            scale=encoder.scale,
            adapt=self._adapt,
            store=kept,
        )
        self._described = pieces, described
        return described

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
            pieces = kind(self._store, name, runtime, one_at_a_time=not encoder.uses_one_thread)
        pieces.fill(encoder, parts, total, stage="landmarks")
        return pieces


def size_of_pieces(similarities: Similarities, n_landmarks: int, runtime: Runtime) -> int:
    """How many documents are in a piece: what the runtime says, or the same for so many landmarks on every machine."""
    return runtime.piece_size or piece_size(n_landmarks, again=not similarities.by_lookup)
