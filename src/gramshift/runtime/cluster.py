"""Running independent pieces of work on Dask workers, of a cluster of the user's or of one that lives as long as the work."""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from uuid import uuid4

from gramshift.errors import MemoryLimitError
from gramshift.runtime.memory import free_memory, human, parse_bytes, require
from gramshift.runtime.threads import Report, count_threads
from gramshift.runtime.workers import (
    PATIENCE,
    Handle,
    Patience,
    call_checked,
    check_versions,
    connect,
    find_handles,
    local_workers,
    own_versions,
    quiet,
    require_dask,
    with_futures,
)

T = TypeVar("T")
LOOK = 1  # seconds without any news between two looks at the workers
SENDING = 120  # seconds for a value to reach all workers
RECOVERY = 0.5  # seconds for the scheduler to notice that a worker is gone
COUNT = 1  # seconds between two counts of the workers
PER_THREAD = 2  # tasks sent out for each thread of the workers: one under way, one to go on with
AHEAD = 2  # times as many results as there are tasks under way may wait for one before them
LOSSES = 3  # times in a row that shared values may be lost with the worker that held them, as often as Dask lets a task try
ROOM = 0.6  # of a worker's memory: beyond it Dask moves values to disk, and later ends the worker
UNLIMITED = 2**62
LEAST = 300 * 10**6  # bytes for a worker: it takes two thirds of that before it does anything


class Cluster:
    """Workers to run functions on; made by open_cluster."""

    def __init__(self, client: Any, *, deserted: float = PATIENCE.deserted) -> None:
        """``deserted``: seconds without any worker that could work, after which none will come."""
        self.client, self._deserted_after = client, deserted
        self.address: str = client.scheduler.address
        self._limits: list[tuple[int, int]] = []
        self._n_places, self._counted = 1, -math.inf
        self._find_limits()

    @property
    def n_workers(self) -> int:
        with self._connected():
            return len(self.client.nthreads())

    @property
    def n_threads(self) -> int:
        """Tasks that can run at once on all workers together."""
        with self._connected():
            return sum(self.client.nthreads().values())

    @property
    def memory_limit(self) -> int:
        """Bytes that the smallest worker may use."""
        return min((limit for limit, _ in self._find_limits()), default=UNLIMITED)

    def room(self, shared: int = 0) -> int:
        """Bytes that each task may take on any worker, beside values of that size that its tasks share; below 0 for none."""
        return min(((int(ROOM * limit) - shared) // n_threads for limit, n_threads in self._find_limits()), default=UNLIMITED)

    def _find_limits(self) -> list[tuple[int, int]]:
        """The memory and the threads of each worker; of those that were there last, if there is none just now."""
        with self._connected():
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        self._limits = [(worker["memory_limit"] or UNLIMITED, worker["nthreads"]) for worker in workers] or self._limits
        return self._limits

    def share(self, value: Any, name: str = "shared") -> Handle:
        """Put a large value that all tasks need on every worker, once; those that join later get it from the others."""

        def put() -> Any:
            with self._connected():
                for _ in range(LOSSES):
                    try:
                        return self._scatter(value, name)
                    except OSError:  # a worker that was lost on the way, unless the scheduler is gone
                        if self.client.status != "running":
                            raise
                        time.sleep(RECOVERY)
                return self._scatter(value, name)

        return Handle(put)

    def _scatter(self, value: Any, name: str) -> Any:
        """Dask itself may wait for ever for a worker that is lost while it is sent something."""
        key, done = f"{name}-{uuid4().hex}", SimpleQueue[Any]()

        def scatter() -> None:
            try:
                done.put(self.client.scatter({key: value}, broadcast=True)[key])
            except BaseException as error:
                done.put(error)

        threading.Thread(target=scatter, daemon=True, name="gramshift-scatter").start()
        try:
            result = done.get(timeout=SENDING)
        except Empty:
            raise TimeoutError(f"workers did not take {name} within {SENDING} seconds") from None
        if isinstance(result, BaseException):
            raise result
        return result

    def keep(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        *,
        name: str | Callable[[Any], str] = "kept",
        finished: Callable[[int], None] = lambda n: None,
    ) -> list[Handle]:
        """Handles of [function(item) for item in items], which stay on the workers and are computed again if one is lost.

        Items are taken as workers get on, and ``finished`` is told how many are done; the last are not waited for.
        """
        handles: list[Handle] = []
        under_way, losses = _UnderWay(), 0
        try:
            for number, item in enumerate(items):
                needs = (*find_handles(function), *find_handles(item))
                handles.append(Handle(partial(self._submit, function, item, name, number), needs))
                under_way.add(number, handles[-1].future)
                while len(under_way) >= self._count_places():
                    settled, future = self._wait_for_one(under_way)
                    if future.status == "error":
                        self._result(future)
                    elif future.status == "finished":
                        losses = 0
                    else:  # lost with a worker, or cancelled because what it needs was
                        losses += 1
                        if losses > LOSSES:
                            raise self._killed(future)
                        again = {settled: future, **under_way.take_unfinished()}  # they wait for what was lost as well
                        self._abandon(list(again.values())[1:])
                        for other in again:
                            handles[other].revive()
                            under_way.add(other, handles[other].future)
                    finished(len(handles) - len(under_way))
        except BaseException:
            self._abandon(under_way.futures())
            raise
        return handles

    def run(
        self,
        function: Callable[[Any], T],
        items: Iterable[Any],
        *,
        name: str | Callable[[Any], str] = "part",
        report: Report = lambda done, total: None,
        receive: Callable[[Any, T], Any] | None = None,
        in_order: bool = False,
        n_before: int = 0,
    ) -> list[Any]:
        """[function(item) for item in items] on the workers, which find the values of handles in their places.

        ``name`` begins the names of the tasks in Dask's dashboard; as a function it names the task of an item. With ``receive``
        the calling thread hands over every item and its result, as they come or ``in_order``, and what that returns is kept
        instead; few results wait for their turn. An error or Ctrl-C starts no other task and is raised. Reports begin with
        ``n_before``.
        """
        work, results = list(items), dict[int, Any]()
        report(n_before, n_before + len(work))
        with closing(self._finish(function, work, name, in_order)) as finished:
            for number, result in finished:
                results[number] = result if receive is None else receive(work[number], result)
                del result  # the next one needs the room
                report(n_before + len(results), n_before + len(work))
        return [results[number] for number in range(len(work))]

    def _finish(
        self, function: Callable[[Any], T], work: list[Any], name: str | Callable[[Any], str], in_order: bool
    ) -> Generator[tuple[int, T]]:
        """The number and the result of every item, as they come or in order."""
        waiting, losses, n_given = deque(range(len(work))), 0, 0
        under_way, done = _UnderWay(), dict[int, T]()
        try:
            while n_given < len(work):
                most = self._count_places()
                while (
                    waiting
                    and len(under_way) < most
                    and (not in_order or not len(under_way) or waiting[0] < n_given + AHEAD * most)
                ):
                    number = waiting.popleft()
                    under_way.add(number, self._submit(function, work[number], name, number))
                number, future = self._wait_for_one(under_way)
                try:
                    done[number] = self._result(future)
                except _Lost:
                    losses += 1
                    again = {number: future, **under_way.take_unfinished()}  # they wait for what was lost as well
                    self._abandon(list(again.values())[1:])
                    waiting = deque(sorted((*again, *waiting)))
                    if losses > LOSSES:
                        raise self._killed(future) from None
                    for handle in (*find_handles(function), *(one for other in again for one in find_handles(work[other]))):
                        handle.revive()
                    continue
                del future  # it would hold the result
                losses = 0
                for ready in count(n_given) if in_order else [number]:
                    if ready not in done:
                        break
                    n_given += 1
                    yield ready, done.pop(ready)
        except BaseException:
            self._abandon(under_way.futures())
            raise

    def find(self, handles: Iterable[Handle]) -> list[str]:
        """The address of a worker that has each of these; an empty one if none has just now."""
        from distributed import CancelledError

        futures = [handle.future for handle in handles]
        try:
            with self._connected():
                places = self.client.who_has(futures)
        except CancelledError:  # some were lost, which is noticed when they are used
            places = {}
        return [next(iter(places.get(future.key, ())), "") for future in futures]

    def _submit(self, function: Any, item: Any, name: str | Callable[[Any], str], number: int) -> Any:
        arguments: tuple[Any, ...] = ()
        keywords: dict[str, Any] = {}
        if isinstance(function, partial):
            arguments, keywords, function = function.args, function.keywords, function.func
        keywords = {key: with_futures(value) for key, value in keywords.items()}
        label = name(item) if callable(name) else f"{name}-{number}"
        return self.client.submit(
            call_checked,
            own_versions(),
            function,
            tuple(map(with_futures, arguments)),
            keywords,
            with_futures(item),
            key=f"{label}-{uuid4().hex[:12]}",  # never that of another run, whose result would be taken for this one's
            pure=False,
        )

    def _count_places(self) -> int:
        """How many tasks may be under way: more if workers have joined."""
        if time.monotonic() - self._counted > COUNT:
            self._n_places, self._counted = max(1, PER_THREAD * self.n_threads), time.monotonic()
        return self._n_places

    def _wait_for_one(self, under_way: "_UnderWay") -> tuple[int, Any]:
        """Wait until a task is no longer under way; return its number and its future."""
        peopled = time.monotonic()
        while (found := under_way.take_settled(LOOK)) is None:
            now = time.monotonic()
            peopled = now if self._find_statuses() - {"paused"} else peopled
            if now - peopled > self._deserted_after:
                raise self._deserted()
        return found

    def _find_statuses(self) -> set[str]:
        with self._connected():
            return {worker["status"] for worker in self.client.scheduler_info(n_workers=-1)["workers"].values()}

    def _deserted(self) -> Exception:
        """There is nobody who could go on with the work."""
        if self._find_statuses():
            allowed = f"the smallest may use {human(self.memory_limit)}"
            return MemoryLimitError(f"all Dask workers are paused for want of memory ({allowed}): give each of them more")
        return ConnectionError(f"the Dask scheduler at {self.address} has no workers left: start some and try again")

    def _result(self, future: Any) -> Any:
        """Return what the task returned; raise its error, in words where it is one of Dask's."""
        from distributed import CancelledError, KilledWorker

        try:
            with self._connected():
                return future.result()
        except CancelledError:
            raise _Lost from None
        except KilledWorker:
            raise self._killed(future) from None
        except ConnectionError:
            raise
        except Exception:
            check_versions(self.client)  # it may come from a worker that joined with another version
            raise

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Say it in a sentence if the scheduler is no longer there."""
        from distributed import CancelledError
        from distributed.comm import CommClosedError

        try:
            yield
        except (Exception, CancelledError) as error:
            if self.client.status == "running" and not isinstance(error, CommClosedError):
                raise
            raise ConnectionError(
                f"the Dask scheduler at {self.address} has gone away in the middle of the work: start it and try again"
            ) from None

    def _killed(self, future: Any) -> MemoryError:
        limit = self.memory_limit
        allowed = "" if limit >= UNLIMITED else f" (the smallest may use {human(limit)})"
        return MemoryLimitError(
            f"workers died again and again over the task {future.key.rpartition('-')[0]}, most likely for want of "
            f"memory{allowed}: give each worker more memory, or let the work come in smaller parts"
        )

    def _abandon(self, futures: list[Any]) -> None:
        """Start no more of these tasks."""
        try:
            if self.client.status == "running":
                self.client.cancel(futures)
        except Exception:  # there is an error already, which says more
            logging.getLogger("gramshift").debug("could not cancel tasks", exc_info=True)


class _UnderWay:
    """The futures of tasks that were sent out, by number. Dask tells when one of them is settled.

    distributed.as_completed would wait for ever where all workers are gone or paused: nothing is settled there any more.
    """

    def __init__(self) -> None:
        self._futures: dict[int, Any] = {}
        self._news = SimpleQueue[tuple[int, str]]()

    def __len__(self) -> int:
        return len(self._futures)

    def add(self, number: int, future: Any) -> None:
        self._futures[number] = future
        future.add_done_callback(lambda done: self._news.put((number, done.key)))

    def futures(self) -> list[Any]:
        return list(self._futures.values())

    def take_settled(self, seconds: float) -> tuple[int, Any] | None:
        """Take a task that is settled out of those under way; None if there is none for so many seconds."""
        while True:
            try:
                number, key = self._news.get(timeout=seconds)
            except Empty:
                return None
            if number in self._futures and self._futures[number].key == key:  # not one that was abandoned
                return number, self._futures.pop(number)

    def take_unfinished(self) -> dict[int, Any]:
        """Take all tasks that are not finished out of those under way."""
        numbers = [number for number, future in self._futures.items() if future.status != "finished"]
        return {number: self._futures.pop(number) for number in numbers}


class _Lost(Exception):
    """A task can no longer be computed, because a value that it needs was lost."""


@contextmanager
def open_cluster(
    scheduler: str | None = None,
    *,
    n_workers: int | None = None,
    memory_limit: int | float | str | None = None,
    patience: Patience = PATIENCE,
) -> Iterator[Cluster]:
    """The cluster of a scheduler with this address; with None one of processes on this machine, for the time being.

    The latter has ``n_workers`` (default: one for each core), each of which may use ``memory_limit`` (default: its share
    of what is free).
    """
    require_dask("engine='dask'", scheduler)
    with quiet():
        if scheduler is None:
            n_workers = count_threads(-1) if n_workers is None else n_workers
            limit = free_memory() // n_workers if memory_limit is None else parse_bytes(memory_limit)
            require("a Dask worker", LEAST, limit, "raise memory_limit, or have fewer workers")
            with local_workers(n_workers, limit, patience) as client:
                yield Cluster(client, deserted=patience.deserted)
        else:
            with connect(scheduler, patience) as client:
                yield Cluster(client, deserted=patience.deserted)
