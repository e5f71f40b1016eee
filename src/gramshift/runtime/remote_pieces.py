"""Pieces of a large array on Dask workers: made there, kept there, worked on there."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice, zip_longest
from typing import Any, TypeVar

import numpy as np

from gramshift.runtime.cluster import PER_THREAD, Cluster
from gramshift.runtime.futures import Handle
from gramshift.runtime.pieces import Arrays, StoredPieces
from gramshift.runtime.threads import Progress

T = TypeVar("T")
AT_ONCE = 64  # pieces whose items are held at a time
SMALL = 1 << 20  # bytes that are sent with every task rather than to every worker before
TOGETHER = 8  # pieces that a task works on at most


class RemotePieces:
    """Pieces that stay on the workers of a cluster, which make them again if a worker is lost."""

    def __init__(self, cluster: Cluster, name: str, *, together: int = TOGETHER) -> None:
        """A task works on no more pieces than ``together``: if they were moved to disk, it needs them all at once."""
        self._cluster, self._name, self._together = cluster, name, min(together, TOGETHER)
        self._handles: list[Handle] = []

    def fill(
        self,
        make: Callable[[Any], Arrays],
        items: Iterable[Any],
        total: int,
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> None:
        """Make the pieces, each from its item."""
        maker = self._cluster.share(make, f"{self._name}-encoder")

        def report(done: int) -> None:
            if progress is not None:
                progress(stage, done, total)

        report(0)
        self._handles = self._cluster.keep(partial(_make, maker), items, name=self._name, finished=report)
        rest = [handle for handle in self._handles if handle.future.status != "finished"]
        told: dict[str, Any] = {"stage": stage, "progress": progress, "n_before": total - len(rest)}
        self._cluster.run(_measure, rest, name=f"{self._name}-made", **told)

    def map(
        self,
        function: Callable[[Any, Any, Any], T],
        shared: tuple[Any, ...],
        arguments: Mapping[int, Any],
        receive: Callable[[int, T], None],
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> None:
        """Where the pieces are; results come in whatever order they are done."""

        def receive_all(numbers: list[int], results: list[T]) -> None:
            for number, result in zip(numbers, results, strict=True):
                receive(number, result)

        self._run(_apply, function, shared, arguments, receive_all, stage, progress)

    def add_up(
        self,
        function: Callable[[Any, Any, Any], Any],
        shared: tuple[Any, ...],
        arguments: Mapping[int, Any],
        total: Any,
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> None:
        """Workers add up what they have, so that few sums travel; these come in whatever order they are done."""

        def add(_: list[int], result: Any) -> None:
            np.add(total, result, out=total)

        self._run(_add_up, function, shared, arguments, add, stage, progress)

    def _run(
        self,
        apply: Callable[..., Any],
        function: Callable[[Any, Any, Any], Any],
        shared: tuple[Any, ...],
        arguments: Mapping[int, Any],
        receive: Callable[[list[int], Any], None],
        stage: str,
        progress: Progress | None,
    ) -> None:
        """A task for several pieces of a worker: one for each would cost more than many of them take."""
        size = sum(getattr(part, "nbytes", 0) for part in shared)
        handle = self._cluster.share(shared, f"{function.__name__}-shared") if size > SMALL else shared
        items = [
            ([arguments[number] for number in numbers], numbers, *(self._handles[number] for number in numbers))
            for numbers in self._group(sorted(arguments))
        ]
        self._cluster.run(
            partial(apply, function, handle),
            items,
            name=lambda item: f"{function.__name__}-{item[1][0]}",
            stage=stage,
            progress=progress,
            receive=lambda item, result: receive(item[1], result),
        )

    def _group(self, numbers: list[int]) -> list[list[int]]:
        """Numbers of pieces that are on the same worker, several groups for each, in turns so that nobody waits."""
        places = self._cluster.find(self._handles[number] for number in numbers)
        by_place: dict[str, list[int]] = {}
        for number, place in zip(numbers, places, strict=True):
            by_place.setdefault(place, []).append(number)
        size = max(1, min(self._together, len(numbers) // (PER_THREAD * max(1, self._cluster.n_threads))))
        groups = [[several[at : at + size] for at in range(0, len(several), size)] for several in by_place.values()]
        return [group for turn in zip_longest(*groups) for group in turn if group is not None]

    def drop(self) -> None:
        self._handles = []


def fill_remotely(
    cluster: Cluster,
    pieces: StoredPieces,
    make: Callable[[Any], Arrays],
    items: Iterable[Any],
    total: int,
    *,
    name: str,
    stage: str = "",
    progress: Progress | None = None,
) -> None:
    """Let workers make the pieces that a store lacks; they are kept there as they come."""
    maker = cluster.share(make, f"{name}-encoder")
    done = 0

    def report(_: str, n: int, __: int) -> None:
        if progress is not None:
            progress(stage, n, total)

    numbered = enumerate(items)
    while batch := list(islice(numbered, AT_ONCE)):  # no more are held at a time
        missing = [(number, item) for number, item in batch if not pieces.has(number)]
        done += len(batch) - len(missing)
        cluster.run(
            partial(_make_numbered, maker),
            missing,
            name=lambda item: f"{name}-{item[0]}",
            progress=report,
            receive=lambda item, arrays: pieces.put(item[0], arrays),
            n_before=done,
        )
        done += len(missing)
    pieces.complete(total)


def _make(make: Any, item: Any) -> Arrays:
    made: Arrays = make(item)
    return made


def _make_numbered(make: Any, item: tuple[int, Any]) -> Arrays:
    return _make(make, item[1])


def _measure(piece: Arrays) -> int:
    return len(piece)


def _apply(function: Callable[[Any, Any, Any], T], shared: Any, item: Sequence[Any]) -> list[T]:
    arguments, _, *pieces = item
    return [function(piece, shared, argument) for piece, argument in zip(pieces, arguments, strict=True)]


def _add_up(function: Callable[[Any, Any, Any], Any], shared: Any, item: Sequence[Any]) -> Any:
    arguments, _, first, *others = item
    total = function(first, shared, arguments[0])
    for piece, argument in zip(others, arguments[1:], strict=True):
        total += function(piece, shared, argument)
    return total
