"""A fit with landmarks from beginning to end: which documents are landmarks, where pieces are kept, the rounds."""

import json
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.engine.memory import free_memory, parse_bytes
from gramshift.engine.pieces import Memory, Store
from gramshift.engine.threads import Progress
from gramshift.estimators.comparison import Comparison
from gramshift.estimators.encoding import counts_simply
from gramshift.estimators.files import kernel_to_json
from gramshift.estimators.labels import as_labels, is_missing
from gramshift.estimators.landmarks import Seen, choose_landmarks, look_through, piece_size
from gramshift.estimators.string_kernel import StringKernel
from gramshift.estimators.target import Target
from gramshift.learn.described import Rows
from gramshift.text.parts import InParts, Joined, as_parts

log = logging.getLogger("gramshift")
IN_MEMORY = 4  # pieces are kept on disk if they would take more than this part of the memory


@dataclass(frozen=True)
class Given:
    """All documents of a fit, source and target, and their labels with gaps for the target."""

    documents: InParts
    labels: list[Any]

    @property
    def is_source(self) -> NDArray[np.bool_]:
        return np.array([not is_missing(label) for label in self.labels], bool)


def gather_parts(X: Any, y: Any, target: Any, comparison: Comparison) -> Given:
    """What fit was given, without reading any document that comes in parts."""
    if not isinstance(X, InParts) and comparison.takes_rows(X):
        raise TypeError("landmarks are for texts, and X has rows of numbers; leave landmarks out")
    target = target.documents if isinstance(target, Target) else target
    source = as_parts(X, name="X")
    labels = as_labels(y, n_documents=len(source))
    if target is None:
        return Given(source, labels)
    more = as_parts(target, name="target")
    if not len(more):
        raise ValueError("target is an empty list; leave it out for an ordinary classifier")
    return Given(Joined([source, more]), labels + [None] * len(more))


def count_landmarks(given: Given, settings: Mapping[str, Any]) -> int:
    """As many as the user wants, or as memory allows; no more than there are documents."""
    n = len(given.labels)
    if settings["landmarks"] != "auto":
        return min(n, int(settings["landmarks"]))
    raise NotImplementedError


@dataclass(frozen=True)
class Chosen:
    """The landmarks of a fit, and what was seen of all documents."""

    rows: Rows
    seen: Seen


def choose(given: Given, comparison: Comparison, settings: Mapping[str, Any], n: int, progress: Progress | None) -> Chosen:
    options = {"choice": settings["landmark_choice"], "seed": int(settings["random_state"])}
    rows = choose_landmarks(given.documents, given.is_source, n, comparison=comparison, **options)
    return Chosen(rows, look_through(given.documents, rows, given.is_source, progress))


@contextmanager
def open_store(
    chosen: Chosen, comparison: Comparison, settings: Mapping[str, Any], given: Given, resume: Any
) -> Iterator[Store]:
    """Where pieces are kept: in the folder that the user named, else in memory, else in a folder that is removed again."""
    n, n_landmarks = len(given.labels), len(chosen.rows)
    size = n * n_landmarks * (4 if counts_simply(comparison) else 8)
    limit = free_memory() if settings["memory_limit"] is None else parse_bytes(settings["memory_limit"])
    if resume is None and size <= limit // IN_MEMORY:
        yield Memory()
        return
    from gramshift.engine.checkpoint import Checkpoint

    if resume is not None:
        with Checkpoint.open(resume, _describe(chosen, comparison, settings, given)) as kept:
            if kept.n_done:
                log.info("gramshift: %s has %d finished pieces", resume, kept.n_done)
            yield kept
        return
    with tempfile.TemporaryDirectory(prefix="gramshift-") as folder, Checkpoint.open(folder, {}) as scratch:
        scratch.drops = True
        yield scratch


def _describe(chosen: Chosen, comparison: Comparison, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """What decides the pieces, in plain values; the labels too, if n-grams are weighted by them."""
    key: dict[str, Any] = {
        "task": "similarities to landmarks",
        "kernel": kernel_to_json([_without_machine(kernel) for kernel in comparison.kernels]),
        "documents": len(given.labels),
        "source documents": int(given.is_source.sum()),
        "content": chosen.seen.digest,
        "landmarks": len(chosen.rows),
        "landmark choice": settings["landmark_choice"],
        "random state": int(settings["random_state"]),
        "documents in a piece": piece_size(len(chosen.rows)),
    }
    if comparison.by_classes:
        rounds = ("adapt", "n_rounds", "n_added", "select", "alpha", "bias")
        key |= {name: str(settings[name]) for name in rounds} | {"labels": _digest_labels(given.labels)}
    return key


def _without_machine(kernel: Any) -> Any:
    """The kernel as far as it decides values."""
    return StringKernel(**kernel.get_params() | {"memory_limit": None, "n_jobs": -1})


def _digest_labels(labels: list[Any]) -> str:
    return sha256(json.dumps([None if is_missing(label) else str(label) for label in labels]).encode()).hexdigest()
