"""Threads: how many, running independent pieces of work on them, and BLAS on a single one."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from math import ceil
from numbers import Integral
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from gramshift.errors import InputError

T = TypeVar("T")
BATCHES_PER_THREAD = 2  # of many short pieces of work, because handing one over takes time too
Progress = Callable[[str, int, int], None]
"""A callback of the user: progress(stage, done, total), called from the user's own thread."""
Report = Callable[[int, int], None]
"""The callback for one stage: report(done, total)."""


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads by scikit-learn's convention: -1 for all cores, None for 1."""
    is_number = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_number or n_jobs == 0):
        raise InputError(f"n_jobs={n_jobs!r}: give a number of threads, or -1 for all cores")
    from joblib import effective_n_jobs  # its import takes 0.2 s, for which --help need not wait

    return int(effective_n_jobs(n_jobs))


def run_threads(
    function: Callable[[Any], T],
    items: Iterable[Any],
    *,
    n_threads: int,
    report: Report | None = None,
) -> list[T]:
    """Return [function(item) for item in items], computed on threads of its own.

    After an error or Ctrl-C the pieces under way are finished, and no other is started.
    """
    work = list(items)
    results: list[T] = []
    stop = threading.Event()

    def run_unless_stopped(item: Any) -> Any:
        if stop.is_set():
            return None  # never seen: the error belongs to an earlier item
        try:
            return function(item)
        except BaseException:
            stop.set()
            raise

    def receive(found: Iterable[T]) -> list[T]:
        if report is not None:
            report(0, len(work))
        for result in found:
            results.append(result)
            if report is not None:
                report(len(results), len(work))
        return results

    if n_threads == 1 or len(work) <= 1:
        return receive(map(function, work))
    with ThreadPoolExecutor(min(n_threads, len(work)), thread_name_prefix="gramshift") as pool:
        try:
            return receive(pool.map(run_unless_stopped, work))
        except BaseException:
            stop.set()
            raise


@contextmanager
def thread_pool(n_threads: int) -> Iterator[Any]:
    """Yield run(function, items), as ``run_threads`` but on threads that are started only once.

    It is for pieces of work that take no longer than starting a thread.
    """
    if n_threads == 1:
        yield lambda function, items: [function(item) for item in items]
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="gramshift") as pool:

        def run(function: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
            work = list(items)
            size = max(1, ceil(len(work) / (BATCHES_PER_THREAD * n_threads)))
            batches = [work[first : first + size] for first in range(0, len(work), size)]
            results = pool.map(lambda batch: [function(item) for item in batch], batches)
            return [result for batch in results for result in batch]

        yield run


class OneBlasThread:
    """A context in which BLAS computes on one thread; several threads may be inside at once.

    The first that enters sets the limit, and the last that leaves removes it. Contexts of
    threadpoolctl that overlap in several threads would leave BLAS at one thread for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limits: list[Any] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def __enter__(self) -> None:
        with self._lock:
            self._limits.append(_find_libraries().limit(limits=1, user_api="blas"))
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if not self._n_inside:
                self._restore()

    def _restore(self) -> None:
        self._limits[0].restore_original_limits()
        self._limits.clear()

    def _reset(self) -> None:
        """Remove the limit in a forked process, which lacks the threads that were inside."""
        if self._limits:
            self._restore()
        self._lock = threading.Lock()
        self._n_inside = 0


@cache
def _find_libraries() -> ThreadpoolController:
    """Find the loaded libraries once, because it takes milliseconds."""
    return ThreadpoolController()


ONE_BLAS_THREAD = OneBlasThread()
