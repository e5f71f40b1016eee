"""Fitting with landmarks: documents are read part by part, described by landmarks and never all held."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Rows
from gramshift.learn.landmark_ridge import CANDIDATES, MOST_CANDIDATES, LandmarkRidge, draw, spread
from gramshift.learn.piecewise import DescribedParts
from gramshift.learn.rounds import Codes
from gramshift.model.encoding import Encoder, counts_simply
from gramshift.model.similarities import Comparison
from gramshift.model.trainer import Trainer
from gramshift.runtime.budget import piece_size
from gramshift.runtime.checkpoint import Checkpoint
from gramshift.runtime.cluster import Cluster
from gramshift.runtime.memory import require
from gramshift.runtime.pieces import Pieces, Store, StoredPieces
from gramshift.runtime.remote_pieces import RemotePieces, StoredByWorkers
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress, count_threads
from gramshift.text.corpus import DIGEST, InParts, digest_of, in_lists

Floats = NDArray[np.float64]
WORKER_BYTES = 320 << 20  # of a Dask worker with our libraries
SQUARES_BYTES = 3 * 8  # of each pair of landmarks: two sums that are added, and what sends the result
TOGETHER_BYTES = 64 << 20  # pieces that a task trains on
PAUSED = 0.8  # of a worker's memory: with more it gets no more work
CELL_BYTES = 24  # of a piece under way: counts, what they become, and the texts


@dataclass(frozen=True)
class Seen:
    """What the first pass over all documents keeps."""

    landmarks: list[str]
    digest: str
    digests: NDArray[np.uint8]
    """Of the target documents."""


def look_through(documents: InParts, rows: Rows, is_source: NDArray[np.bool_], progress: Progress | None) -> Seen:
    """All documents once: the texts of ``rows``, and by what to know the others again."""
    wanted, found = set(rows.tolist()), []
    whole, digests, row = sha256(), bytearray(), 0
    for part in documents.parts():
        if row + len(part) > len(documents):
            raise ValueError(f"there were {len(documents)} documents at first, and more now; they must not change")
        for text in part:
            if row in wanted:
                found.append(text)
            one = digest_of(text)
            whole.update(one)
            if not is_source[row]:
                digests += one
            row += 1
        if progress is not None:
            progress("reading", row, len(documents))
    return Seen(found, whole.hexdigest(), np.frombuffer(bytes(digests), np.uint8).reshape(-1, DIGEST))


def unchanged(parts: Iterator[list[str]], digest: str) -> Iterator[list[str]]:
    """The same parts; an error in the end if they are not those that were looked through."""
    whole = sha256()
    for part in parts:
        for text in part:
            whole.update(digest_of(text))
        yield part
    if whole.hexdigest() != digest:
        raise ValueError("the documents are not the same as when they were first read; they must not change during a fit")


def choose_landmarks(
    documents: InParts, is_source: NDArray[np.bool_], n: int, *, choice: str, seed: int, comparison: Comparison
) -> Rows:
    """The numbers of n documents, in order."""
    generator = np.random.default_rng(seed)
    if choice == "uniform" or n >= len(is_source):
        return draw(is_source, n, generator)
    candidates = draw(is_source, max(n, min(CANDIDATES * n, MOST_CANDIDATES)), generator)
    texts = look_through(documents, candidates, is_source, None).landmarks
    unweighted = comparison.without_weights()  # those of classes are not known yet
    unweighted.remember(texts)
    similarity = unweighted.describe(texts, texts, adapt=False).gram
    return candidates[spread(similarity.__getitem__, n, np.diagonal(similarity), generator)]


class LandmarkTrainer(Trainer):
    """Runs the rounds of a fit on documents that are described by landmarks; without a store on the workers of a cluster."""

    def __init__(
        self,
        comparison: Comparison,
        documents: InParts,
        is_source: NDArray[np.bool_],
        codes: Codes,
        classes: list[Any],
        settings: Mapping[str, Any],
        *,
        landmarks: Rows,
        seen: Seen,
        store: Store | None,
        cluster: Cluster | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(comparison, documents, is_source, codes, classes, settings, progress=progress)
        self._landmarks, self._texts, self._digest = landmarks, seen.landmarks, seen.digest
        self._store, self._cluster = store, cluster
        self._described: tuple[Pieces, DescribedParts] | None = None
        self._times = 0
        comparison.groups["domains"] = np.where(is_source[landmarks], 0, 1).tolist()

    def _describe(self, n: int | None = None, *, across: bool = False) -> Any:
        """All documents; again only if labels changed what n-grams weigh."""
        if self._described is not None and not self._changing:
            return self._described[1]
        if self._described is not None:
            self._described[0].drop()
        assert self.comparison is not None
        name, size = f"landmarks-{self._times}", self.size
        comparison = self.comparison.across_domains() if across else self.comparison
        comparison = comparison if self._cluster is None else comparison.on_one_thread()
        encoder = Encoder(comparison, self._texts, n_threads=count_threads(self.settings["n_jobs"]))
        total = -(-self.n // size)
        parts = in_lists(unchanged(self.documents.parts(), self._digest), size)
        pieces = self._make_pieces(name, encoder, parts, total)
        self._times += 1
        adapt = bool(self.settings["adapt"])
        kept = self._store if isinstance(self._store, Checkpoint) and not self._changing else None
        described = DescribedParts(pieces, n=self.n, size=size, scale=encoder.scale, adapt=adapt, store=kept)
        self._described = pieces, described
        return described

    def _make_pieces(self, name: str, encoder: Encoder, parts: Iterator[list[str]], total: int) -> Pieces:
        """In memory or on disk by threads; on Dask workers; or by these but kept in the user's folder."""
        runtime = Runtime(self.settings["n_jobs"], cluster=self._cluster, progress=self._progress)
        if self._cluster is not None:
            in_piece, room = CELL_BYTES * self.size * len(self._texts), int(PAUSED * self._cluster.memory_limit)
            sorted_with = 0 if encoder.uses_one_thread else self.size / len(self._texts)  # documents to a landmark
            comparing = int(encoder.nbytes * (1 + sorted_with)) + in_piece
            needed = WORKER_BYTES + max(comparing, SQUARES_BYTES * len(self._texts) ** 2 + TOGETHER_BYTES)
            advice = "give each worker more memory, or take fewer landmarks"
            require(f"a Dask worker that compares {self.size} documents with {len(self._texts)}", needed, room, advice)
        if self._cluster is not None and self._store is None:
            of_piece = (4 if encoder.uses_one_thread else 8) * self.size * len(self._texts)
            pieces: Pieces = RemotePieces(runtime, name, together=max(1, TOGETHER_BYTES // max(1, of_piece)))
        else:
            assert self._store is not None
            kind = StoredPieces if self._cluster is None else StoredByWorkers
            pieces = kind(self._store, name, runtime, one_at_a_time=not encoder.uses_one_thread)
        pieces.fill(encoder, parts, total, stage="landmarks")
        return pieces

    @property
    def size(self) -> int:
        """Of a piece."""
        assert self.comparison is not None
        return piece_size(len(self._texts), again=not counts_simply(self.comparison))

    def _make_solver(self, documents: Any, source: Rows) -> Any:
        alpha, bias = float(self.settings["alpha"]), bool(self.settings["bias"])
        return LandmarkRidge(documents, self._landmarks, source, alpha, bias=bias)

    def _set_classes(self, training: Rows, codes: Codes) -> None:
        known = np.full(self.n, -1)
        known[training] = codes
        assert self.comparison is not None
        self.comparison.groups["classes"] = [None if code < 0 else code for code in known[self._landmarks].tolist()]
