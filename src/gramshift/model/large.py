"""What a large fit needs before its rounds: its documents, whether they fit, which are landmarks, where pieces are kept."""

import errno
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Rows, compact
from gramshift.model.encoding import counts_simply
from gramshift.model.inputs import Target, as_labels, is_missing
from gramshift.model.landmarks import Seen, choose_landmarks, look_through
from gramshift.model.settings import MOST_LANDMARKS, count_added
from gramshift.model.similarities import Comparison
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.budget import (
    BASE,
    IN_MEMORY,
    Work,
    check_exact,
    check_landmarks_fit,
    memory_of,
    most_landmarks,
    piece_size,
)
from gramshift.runtime.checkpoint import Checkpoint, check_folder
from gramshift.runtime.memory import human
from gramshift.runtime.pieces import Memory, Store
from gramshift.runtime.threads import Progress
from gramshift.text.corpus import InParts, Joined, as_parts, count_characters

GRAM = "gram.npy"  # in the folder of a checkpoint
log = logging.getLogger("gramshift")


@dataclass(frozen=True)
class Given:
    """All documents of a fit, source and target, and their labels with gaps for the target."""

    documents: InParts
    labels: list[Any]

    @cached_property
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


def count_landmarks(given: Given, settings: Mapping[str, Any], comparison: Comparison, *, kept: bool) -> int:
    """As many as the user wants, or as memory allows; no more than there are documents."""
    n = len(given.labels)
    work, cell_bytes = describe_work(given, settings, comparison), 4 if counts_simply(comparison) else 8
    allowed = memory_of(settings["memory_limit"]) + BASE  # which is in use already
    if settings["landmarks"] != "auto":
        wanted = min(n, int(settings["landmarks"]))
        check_landmarks_fit(work, wanted, allowed, cell_bytes=cell_bytes, kept=kept)
        return wanted
    chosen = most_landmarks(work, allowed, MOST_LANDMARKS, cell_bytes=cell_bytes, kept=kept)
    check_landmarks_fit(work, chosen, allowed, cell_bytes=cell_bytes, kept=kept)
    log.warning("gramshift: %d landmarks of %d documents, by the memory limit and the most that pay", chosen, n)
    return chosen


def prepare_gram(
    given: Given,
    comparison: Comparison | None,
    settings: Mapping[str, Any],
    *,
    resume: Any = None,
    progress: Progress | None = None,
) -> NDArray[Any] | None:
    """Refuse a fit that does not fit into memory; with ``resume`` make its gram, from what is there already."""
    kernels = [] if comparison is None else comparison.kernels
    one = comparison is not None and comparison.by_counts and len(kernels) == 1 and not comparison.by_weights
    if resume is not None and not one:
        raise ValueError("resume keeps the gram of one kernel that counts n-grams; with other kernels it needs landmarks")
    if settings["engine"] == "dask" and not one:
        raise ValueError(
            "engine='dask' fills the gram of one kernel that counts n-grams; with other kernels it needs landmarks"
        )
    work, allowed = describe_work(given, settings, comparison), memory_of(settings["memory_limit"]) + BASE
    ways = ({"disk": "fit(..., resume='folder')"} if one else {}) | ({"landmarks": "landmarks={}"} if kernels else {})
    cell_bytes = 4 if comparison is not None and counts_simply(comparison) else 8
    _, on_disk = check_exact(work, allowed, may_use_disk=resume is not None, options=ways, cell_bytes=cell_bytes)
    if resume is None and settings["engine"] != "dask":
        return None
    texts = [text for part in given.documents.parts() for text in part]
    where = {name: settings[name] for name in ("engine", "scheduler")}
    return make_gram(kernels[0], texts, on_disk=on_disk, resume=resume, progress=progress, **where)


def make_gram(
    kernel: StringKernel, texts: list[str], *, on_disk: bool = False, resume: Any = None, **options: Any
) -> NDArray[Any]:
    """The counts of all documents with each other; ``on_disk`` they are in the folder ``resume``."""
    if not on_disk:
        return compact(kernel.gram(texts, normalize=False, resume=resume, **options))
    check_folder(resume)
    Path(resume).mkdir(exist_ok=True)
    path = Path(resume) / GRAM
    kernel.gram(texts, normalize=False, resume=resume, out=path, **options)
    counts: NDArray[Any] = np.asarray(np.load(path, mmap_mode="c"))  # nobody writes, but leaves take what can be written
    return counts


def describe_work(given: Given, settings: Mapping[str, Any], comparison: Comparison | None) -> Work:
    """The size of a fit; of documents that come in parts the length is not known, and taken for that of a review."""
    n_source = int(given.is_source.sum())
    n_target = len(given.labels) - n_source
    n_characters = count_characters(given.documents)
    return Work(
        n_source=n_source,
        n_target=n_target,
        n_added=count_added(settings["n_added"], n_target)[-1],
        n_characters=n_characters,
        n_lengths=1 if comparison is None else comparison.n_lengths,
        adapts=int(settings["n_rounds"]) > 1,
        jobs=settings["n_jobs"],
        n_grams=int(settings["n_rounds"]) if comparison is not None and comparison.by_classes else 1,
    )


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
) -> Iterator[Store | None]:
    """Where pieces are kept: in the folder that the user named, else in memory, else in a folder that is removed again.

    None if they are to stay on Dask workers.
    """
    if resume is None and settings["engine"] == "dask":
        yield None
        return
    n, n_landmarks = len(given.labels), len(chosen.rows)
    size = n * n_landmarks * (4 if counts_simply(comparison) else 8)
    if resume is None and size <= (memory_of(settings["memory_limit"]) + BASE) // IN_MEMORY:
        yield Memory()
        return
    _require_disk(tempfile.gettempdir() if resume is None else Path(resume).absolute().parent, size)
    if resume is not None:
        with Checkpoint.open(resume, _describe(chosen, comparison, settings, given)) as kept:
            if kept.n_done:
                log.info("%s: %d finished pieces were there already", resume, kept.n_done)
            yield kept
        return
    with tempfile.TemporaryDirectory(prefix="gramshift-") as folder, Checkpoint.open(folder, {}) as scratch:
        scratch.drops = True
        yield scratch


def _require_disk(folder: str | Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        words = f"similarities to the landmarks take {human(needed)} of disk, but {human(free)} are free; make room, or resume="
        raise OSError(errno.ENOSPC, words + " a folder on another disk", os.fspath(folder))


def _describe(chosen: Chosen, comparison: Comparison, settings: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """What decides the pieces, in plain values; the labels too, if n-grams are weighted by them."""
    key: dict[str, Any] = {
        "what": "similarities to landmarks",
        "kernels": len(comparison.kernels),
        "documents": len(given.labels),
        "source documents": int(given.is_source.sum()),
        "content": chosen.seen.digest,
        "landmarks": len(chosen.rows),
        "landmark choice": settings["landmark_choice"],
        "random state": int(settings["random_state"]),
        "source and landmarks": sha256(given.is_source.tobytes() + chosen.rows.tobytes()).hexdigest(),
        "documents in a piece": piece_size(len(chosen.rows), again=not counts_simply(comparison)),
    }
    for number, kernel in enumerate(comparison.kernels, start=1):  # each by itself, so that what differs can be told
        key |= {f"{name} of kernel {number}": value for name, value in _values_of(kernel).items()}
    if comparison.by_classes:
        rounds = ("adapt", "n_rounds", "n_added", "select", "alpha", "bias")
        key |= {name: str(settings[name]) for name in rounds} | {"labels": _digest_labels(given.labels)}
    return key


def _values_of(kernel: StringKernel) -> dict[str, Any]:
    """The parameters that decide what it finds."""
    return {name: value for name, value in kernel.get_params().items() if name not in ("memory_limit", "n_jobs", "normalize")}


def _digest_labels(labels: list[Any]) -> str:
    return sha256(json.dumps([None if is_missing(label) else str(label) for label in labels]).encode()).hexdigest()
