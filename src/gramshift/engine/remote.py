"""Pieces of a large array on Dask workers: made there, kept there, worked on there."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from gramshift.engine.cluster import PER_THREAD, Cluster
from gramshift.engine.handles import Handle
from gramshift.engine.pieces import Arrays, StoredPieces
from gramshift.engine.threads import Progress

T = TypeVar("T")
AT_ONCE = 64  # pieces whose items are held at a time
SMALL = 1 << 20  # bytes that are sent with every task rather than to every worker before
SHORT = 8  # tasks for each thread, of passes that are too short for a stage: nobody may wait for the next task


class RemotePieces:
    """Pieces that stay on the workers of a cluster, which make them again if a worker is lost."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster, self._name = cluster, name
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
        self._handles = self._cluster.keep(partial(_make, maker), items, name=self._name)
        self._cluster.run(_measure, self._handles, name=f"{self._name}-made", stage=stage, progress=progress)

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
        size = sum(getattr(part, "nbytes", 0) for part in shared)
        handle = self._cluster.share(shared, f"{function.__name__}-shared") if size > SMALL else shared
        items = [(number, self._handles[number], argument) for number, argument in sorted(arguments.items())]
        self._cluster.run(
            partial(_apply, function, handle),
            items,
            name=lambda item: f"{function.__name__}-{item[0]}",
            stage=stage,
            progress=progress,
            receive=lambda item, result: receive(item[0], result),
            per_thread=PER_THREAD if stage else SHORT,
        )

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


def _apply(function: Callable[[Any, Any, Any], T], shared: Any, item: tuple[int, Any, Any]) -> T:
    _, piece, argument = item
    return function(piece, shared, argument)
