"""Running independent pieces of work on threads, with progress, and stopping at once when asked to."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from gramshift.errors import InputError

T = TypeVar("T")
BATCHES = 2  # that each thread gets of many short pieces of work, because handing one over takes time too
Progress = Callable[[str, int, int], None]
"""What a user gives: called as progress(stage, done, total), from the thread that asked for the work."""
Report = Callable[[int, int], None]
"""What work is given to tell of one stage: called as report(done, total)."""


def count_threads(n_jobs: int | None) -> int:
    """scikit-learn's convention: -1 for all cores (one inside a parallel worker), None for 1."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InputError(f"n_jobs={n_jobs!r}: give a number of threads, or -1 for all cores")
    from joblib import effective_n_jobs  # which takes a fifth of a second, for which --help need not wait

    return int(effective_n_jobs(n_jobs))


def run_threads(function: Callable[[Any], T], items: Iterable[Any], *, n_threads: int, report: Report | None = None) -> list[T]:
    """[function(item) for item in items] on a pool of its own, so that calls from many threads or forks do not meet.

    An error or Ctrl-C lets the pieces under way finish, starts no other and is raised.
    """
    work, results, stop = list(items), list[T](), threading.Event()

    def guarded(item: Any) -> Any:
        if stop.is_set():
            return None  # what failed stands further on in the queue
        try:
            return function(item)
        except BaseException:
            stop.set()
            raise

    def tell() -> None:
        if report is not None and not stop.is_set():
            report(len(results), len(work))

    tell()
    if n_threads == 1 or len(work) <= 1:
        for item in work:
            results.append(function(item))
            tell()
        return results
    with ThreadPoolExecutor(min(n_threads, len(work)), thread_name_prefix="gramshift") as pool:
        try:
            for result in pool.map(guarded, work):
                results.append(result)
                tell()
        except BaseException:
            stop.set()
            raise
    return results


class OneBlasThread:
    """Have BLAS compute on one thread while anybody is inside: the first who comes sets it, the last who goes sets it back.

    Contexts of threadpoolctl alone, where they overlap in several threads, would leave BLAS at one thread.
    """

    def __init__(self) -> None:
        self._lock, self._n_inside, self._limits = threading.Lock(), 0, list[Any]()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_all)

    def __enter__(self) -> None:
        with self._lock:
            self._limits.append(_find_libraries().limit(limits=1, user_api="blas"))
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if not self._n_inside:
                self._set_back()

    def _set_back(self) -> None:
        self._limits[0].restore_original_limits()
        self._limits.clear()

    def _leave_all(self) -> None:
        """Those who were inside are threads that a forked process does not have."""
        if self._limits:
            self._set_back()
        self._lock, self._n_inside = threading.Lock(), 0


@cache
def _find_libraries() -> ThreadpoolController:
    """The libraries that are loaded; finding them takes milliseconds."""
    return ThreadpoolController()


ONE_BLAS_THREAD = OneBlasThread()


@contextmanager
def stay_ready(n_threads: int) -> Iterator[Any]:
    """What does the same on threads that are started once: for pieces of work that take no longer than starting threads."""
    if n_threads == 1:
        yield lambda function, items: [function(item) for item in items]
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="gramshift") as pool:

        def run(function: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
            several, size = list(items), 1
            if len(several) > BATCHES * n_threads:
                size = -(-len(several) // (BATCHES * n_threads))
            batches = [several[first : first + size] for first in range(0, len(several), size)]
            return [one for found in pool.map(lambda batch: [function(item) for item in batch], batches) for one in found]

        yield run
