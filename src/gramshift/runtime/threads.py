"""Running independent pieces of work on threads, with progress, and stopping at once when asked to."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import islice
from numbers import Integral
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from gramshift.errors import InputError

T = TypeVar("T")
BATCHES = 2  # that each thread gets of many short pieces of work, because handing one over takes time too
AHEAD = 4  # items for each thread that are taken before the first of them is done
Progress = Callable[[str, int, int], None]
"""What a user gives: called as progress(stage, done, total), from the thread that asked for the work."""
Report = Callable[[int, int], None]
"""What work is given to tell of one stage: called as report(done, total)."""


def count_threads(n_jobs: int | None) -> int:
    """scikit-learn's convention: -1 for all cores (one inside a parallel worker), None for 1."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InputError(f"n_jobs={n_jobs!r}: give a number of threads, or -1 for all cores")
    if "joblib" in sys.modules:  # only then can this be one of its workers, which is meant to keep to its share
        return int(sys.modules["joblib"].effective_n_jobs(n_jobs))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 1 if n_jobs is None else int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def run_threads(
    function: Callable[[Any], T],
    items: Iterable[Any],
    *,
    n_threads: int,
    report: Report | None = None,
    n_before: int = 0,
) -> list[T]:
    """[function(item) for item in items] on a pool of its own, so that calls from many threads or forks do not meet.

    An error or Ctrl-C lets the pieces under way finish, starts no other and is raised. Reports begin with ``n_before``.
    """
    work = list(items)
    return list(iterate_threads(function, work, len(work), n_threads=n_threads, report=report, n_before=n_before))


class OneBlasThread:
    """Have BLAS compute on one thread while anybody is inside: the first who comes sets it, the last who goes sets it back.

    The number is one for the whole process. If everybody set back what they found, those who overlap would leave it at one.
    Only where BLAS runs on OpenMP does each thread have a number of its own.
    """

    def __init__(self) -> None:
        self._lock, self._n_inside, self._before = threading.Lock(), 0, list[tuple[Any, int]]()
        self._own = threading.local()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_all)

    def __enter__(self) -> None:
        self._own.before = [*getattr(self._own, "before", ()), _limit(_find_blas(of_process=False))]
        with self._lock:
            if not self._n_inside:
                self._before = _limit(_find_blas(of_process=True))
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        _set_threads(self._own.before.pop())
        with self._lock:
            self._n_inside -= 1
            if not self._n_inside:
                _set_threads(self._before)

    def _leave_all(self) -> None:
        """Those who were inside are threads that a forked process does not have."""
        if self._n_inside:
            _set_threads(self._before)
        self._lock, self._n_inside = threading.Lock(), 0


def _limit(libraries: list[Any]) -> list[tuple[Any, int]]:
    """One thread for each of them; how many they had."""
    before = [(library, library.num_threads) for library in libraries]
    _set_threads([(library, 1) for library in libraries])
    return before


def _set_threads(numbers: list[tuple[Any, int]]) -> None:
    for library, number in numbers:
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)  # threadpoolctl lets one thread set the number, and we may leave in another than we came
        library.set_num_threads(number)
        release(force=True)


@cache
def _find_blas(*, of_process: bool) -> list[Any]:
    """Libraries with one number of threads for all of the process, or one for each thread. Finding them takes milliseconds."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [one for one in found if (getattr(one, "threading_layer", "") != "openmp") == of_process]


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


def iterate_threads(
    function: Callable[[Any], T],
    items: Iterable[Any],
    total: int,
    *,
    n_threads: int,
    ahead: int = AHEAD,
    report: Report | None = None,
    n_before: int = 0,
) -> Iterator[T]:
    """Yield one function(item) after another: items are taken and results wait no more than ``ahead`` for each thread."""
    stop = threading.Event()

    def guarded(item: Any) -> T | None:
        if stop.is_set():
            return None  # what failed stands further on in the queue
        try:
            return function(item)
        except BaseException:
            stop.set()
            raise

    def tell(n_done: int) -> None:
        if report is not None:
            report(n_before + n_done, n_before + total)

    tell(0)
    if n_threads == 1 or total <= 1:
        for done, item in enumerate(items, start=1):
            yield function(item)
            tell(done)
        return
    with ThreadPoolExecutor(min(n_threads, total), thread_name_prefix="gramshift") as pool:
        waiting: deque[Future[Any]] = deque()
        done, left = 0, iter(items)
        try:
            while True:
                waiting.extend(pool.submit(guarded, item) for item in islice(left, ahead * n_threads - len(waiting)))
                if not waiting:
                    return
                result = waiting.popleft().result()
                if stop.is_set():
                    continue
                done += 1
                tell(done)
                yield result
                del result
        except BaseException:
            stop.set()
            raise
