"""Pieces of a large array on Dask workers: made there, kept there, worked on there."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice, zip_longest
from typing import Any, TypeVar

from gramshift.runtime.cluster import PER_THREAD
from gramshift.runtime.pieces import Arrays, StoredPieces, add
from gramshift.runtime.resources import Runtime
from gramshift.runtime.workers import Handle

T = TypeVar("T")
AT_ONCE = 64  # pieces whose items are held at a time
SMALL = 1 << 20  # bytes that are sent with every task rather than to every worker before; sums that travel each by itself
TOGETHER = 8  # pieces that a task works on at most
GROUPS = 32  # sums over neighbouring pieces that are made at least, so that there is work for all workers


class RemotePieces:
    """Pieces that stay on the workers of a cluster, which make them again if a worker is lost."""

    def __init__(self, runtime: Runtime, name: str, *, together: int = TOGETHER) -> None:
        """A task works on no more pieces than ``together``: if they were moved to disk, it needs them all at once."""
        assert runtime.cluster is not None
        self._runtime, self._cluster, self._name, self._together = runtime, runtime.cluster, name, min(together, TOGETHER)
        self._handles: list[Handle] = []

    def fill(self, make: Callable[[Any], Arrays], items: Iterable[Any], total: int, *, stage: str = "") -> None:
        """Have the workers make the pieces."""
        maker, report = self._cluster.share(make, f"{self._name}-encoder"), self._runtime.telling(stage)
        report(0, total)
        self._handles = self._cluster.keep(
            partial(_make, maker), items, name=self._name, finished=lambda done: report(done, total)
        )
        rest = [handle for handle in self._handles if handle.future.status != "finished"]
        self._cluster.run(_measure, rest, name=f"{self._name}-made", report=report, n_before=total - len(rest))

    def map(
        self,
        function: Callable[[Any, Any, Any], T],
        shared: Any,
        arguments: Mapping[int, Any],
        receive: Callable[[int, T], None],
        *,
        stage: str = "",
    ) -> None:
        """receive(number, function(piece, shared, argument)) in the order of the pieces, each worked on where it is."""
        turns, early = deque(sorted(arguments)), dict[int, T]()

        def receive_all(numbers: list[int], results: list[T]) -> None:
            early.update(zip(numbers, results, strict=True))
            while turns and turns[0] in early:
                number = turns.popleft()
                receive(number, early.pop(number))

        self._run(_apply, function, shared, arguments, self._group_by_worker(sorted(arguments)), receive_all, stage=stage)

    def add_up(
        self,
        function: Callable[[Any, Any, Any], Any],
        shared: Any,
        arguments: Mapping[int, Any],
        total: Any,
        *,
        stage: str = "",
    ) -> None:
        """total += function(piece, shared, argument); of large sums workers add some up, so that few travel.

        Neighbours are added first, always the same, however many workers there are and whatever they hold.
        """
        if total.nbytes <= SMALL:
            return self.map(function, shared, arguments, partial(add, total), stage=stage)
        numbers = sorted(arguments)
        size = max(1, min(self._together, len(numbers) // GROUPS))
        groups = [numbers[at : at + size] for at in range(0, len(numbers), size)]
        receive = partial(add, total)
        return self._run(_add_up, function, shared, arguments, groups, receive, in_order=True, stage=stage)

    def _run(
        self,
        apply: Callable[..., Any],
        function: Callable[[Any, Any, Any], Any],
        shared: Any,
        arguments: Mapping[int, Any],
        groups: list[list[int]],
        receive: Callable[[Any, Any], None],
        *,
        in_order: bool = False,
        stage: str,
    ) -> None:
        """A task for each group of pieces: one for each piece would cost more than many of them take."""
        large = getattr(shared, "nbytes", 0) > SMALL
        handle = self._cluster.share(shared, f"{function.__name__}-shared") if large else shared
        items = [
            ([arguments[number] for number in numbers], numbers, *(self._handles[number] for number in numbers))
            for numbers in groups
        ]
        self._cluster.run(
            partial(apply, function, handle),
            items,
            name=lambda item: f"{function.__name__}-{item[1][0]}",
            report=self._runtime.telling(stage),
            receive=lambda item, result: receive(item[1], result),
            in_order=in_order,
        )

    def _group_by_worker(self, numbers: list[int]) -> list[list[int]]:
        """Numbers of pieces that are on the same worker, several groups for each, in turns so that nobody waits."""
        places = self._cluster.find(self._handles[number] for number in numbers)
        by_place: dict[str, list[int]] = {}
        for number, place in zip(numbers, places, strict=True):
            by_place.setdefault(place, []).append(number)
        size = max(1, min(self._together, len(numbers) // (PER_THREAD * max(1, self._cluster.n_threads))))
        groups = [[several[at : at + size] for at in range(0, len(several), size)] for several in by_place.values()]
        return [group for turn in zip_longest(*groups) for group in turn if group is not None]

    def drop(self) -> None:
        """Free the pieces, which are not needed any more."""
        self._handles = []


class StoredByWorkers(StoredPieces):
    """Pieces of a store that the workers of a cluster make; threads of this process work on them."""

    def fill(self, make: Callable[[Any], Arrays], items: Iterable[Any], total: int, *, stage: str = "") -> None:
        """Have the workers make the pieces that the store lacks; they are kept there as they come."""
        cluster, self._n = self._runtime.cluster, total
        assert cluster is not None
        maker, report = cluster.share(make, f"{self._name}-encoder"), self._runtime.telling(stage)
        done, numbered = 0, enumerate(items)
        while batch := list(islice(numbered, AT_ONCE)):  # no more are held at a time
            missing = [(number, item) for number, item in batch if not self.has(number)]
            done += len(batch) - len(missing)
            cluster.run(
                partial(_make_numbered, maker),
                missing,
                name=lambda item: f"{self._name}-{item[0]}",
                report=lambda n, _: report(n, total),
                receive=lambda item, arrays: self.put(item[0], arrays),
                n_before=done,
            )
            done += len(missing)


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
