"""Dask workers, started on this machine or found at an address, that run one task per item."""

import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from gramshift.errors import InputError, MemoryLimitError, MissingPackageError
from gramshift.files import UNFINISHED
from gramshift.memory import require, size_in_words

T = TypeVar("T")
Item = TypeVar("Item")
INSTALL = "pip install 'gramshift[dask]'"
PACKAGES = ("gramshift", "numpy", "numba")
"""Workers must have our versions of these packages, so that they round sums as we do."""
MIN_BYTES = 300 * 10**6  # of a worker: it takes two thirds of that before it does anything
CONNECT_SECONDS = 5  # for a scheduler to answer
ARRIVE_SECONDS = 30  # for the first worker of a scheduler
START_SECONDS = 120  # for workers on this machine
CHECK_SECONDS = 30  # between looks at the workers; if none can work twice in a row, we give up
LOCAL_CONFIG = {
    # by default Dask spends a tenth of each core on watching itself
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
    # its pages ask for no certificate: all users of this machine could read them
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


def require_dask(scheduler: str | None) -> None:
    """Raise an error that says what to install, if a package is missing."""
    if find_spec("distributed") is None:
        words = f"--engine dask needs dask and distributed: {INSTALL}"
        raise MissingPackageError(words, name="distributed")
    if scheduler is None and find_spec("cryptography") is None:
        raise MissingPackageError(
            "--engine dask needs cryptography to close workers on this machine to its other "
            f"users: {INSTALL}",
            name="cryptography",
        )


@contextmanager
def open_workers(scheduler: str | None, *, n_workers: int, memory_limit: int) -> Iterator[Any]:
    """Yield a Dask client of the scheduler at an address, or of ``n_workers`` own processes.

    Own processes may use ``memory_limit`` bytes each. They end with the client, and with this
    process however it ends.
    """
    require_dask(scheduler)
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # Dask logs every lost connection; our errors are clearer
    try:
        if scheduler is not None:
            with _connect(scheduler) as client:
                yield client
        else:
            advice = "raise --memory, or have fewer workers: --jobs"
            require("a Dask worker", MIN_BYTES, memory_limit, advice)
            with _start(n_workers, memory_limit) as client:
                yield client
    finally:
        logging.disable(disabled)


def run_tasks(
    client: Any,
    function: Callable[..., T],
    arguments: tuple[Any, ...],
    items: Iterable[Item],
    *,
    name: Callable[[Item], str],
) -> Iterator[tuple[Item, T]]:
    """Yield item, function(*arguments, item) for all items, as workers finish them.

    Dask gives the tasks of a lost worker to others; ``name`` is what its dashboard calls the task
    of an item. After an error or Ctrl-C no other task is started.
    """
    tasks = {}
    for item in items:
        key = f"{name(item)}-{uuid4().hex[:12]}"
        task = client.submit(_call, own_versions(), function, *arguments, item, key=key)
        tasks[task] = item
    try:
        for task in _as_completed(client, tasks):
            yield tasks.pop(task), _result(client, task)
    except BaseException:
        with suppress(Exception):  # the first error is the one to raise
            client.cancel(list(tasks))
        raise


def _as_completed(client: Any, tasks: dict[Any, Any]) -> Iterator[Any]:
    """Yield tasks as they are completed; raise an error if no worker can work on the others.

    The caller removes from ``tasks`` what it receives.
    """
    from distributed import as_completed

    n_left_before = None  # when no worker was found
    while tasks:
        try:
            yield from as_completed(list(tasks), loop=client.loop, timeout=CHECK_SECONDS)
        except TimeoutError:
            if find_statuses(client) - {"paused"}:
                n_left_before = None
            elif n_left_before != len(tasks):
                n_left_before = len(tasks)
            else:
                raise ConnectionError(
                    f"the Dask scheduler at {client.scheduler.address} has no worker that can "
                    "work: start some, or give those that are paused for want of memory more of it"
                ) from None


@cache
def own_versions() -> tuple[str, ...]:
    """Return the versions that this process has of PACKAGES."""
    return tuple(version(package) for package in PACKAGES)


def _call(versions: tuple[str, ...], function: Callable[..., T], *arguments: Any) -> T:
    """Call the function on a worker, whose versions are checked because it may have joined late."""
    if own_versions() != versions:
        raise InputError(f"this worker has {own_versions()} of {PACKAGES}, not {versions}")
    return function(*arguments)


def _result(client: Any, task: Any) -> Any:
    """Return the result of a task; raise its error, in our words if it is one of Dask's."""
    from distributed import CancelledError, KilledWorker

    try:
        return task.result()
    except KilledWorker as error:
        limit = error.last_worker.memory_limit
        allowed = f" (the last may use {size_in_words(limit)})" if limit else ""
        raise MemoryLimitError(
            f"workers died repeatedly over the task {task.key.rpartition('-')[0]}, most likely for "
            f"want of memory{allowed}: give each worker more memory"
        ) from None
    except CancelledError:
        if client.status != "running":
            raise _lost_scheduler(client) from None
        raise ConnectionError(
            "the Dask workers that had the model are gone: give the same command again, finished "
            "files are kept"
        ) from None
    except Exception:
        try:
            _check_versions(client)  # a worker with other versions may have raised it
        except OSError:
            raise _lost_scheduler(client) from None
        raise


def find_statuses(client: Any) -> set[str]:
    """Return the statuses of the workers, such as "running" or "paused"."""
    if client.status == "running":
        with suppress(OSError):
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            return {worker["status"] for worker in workers}
    raise _lost_scheduler(client)


def _lost_scheduler(client: Any) -> ConnectionError:
    where = client.scheduler.address if client.scheduler is not None else "the given address"
    return ConnectionError(
        f"the Dask scheduler at {where} has gone away in the middle of the work: start it and try "
        "again"
    )


def _check_versions(client: Any) -> None:
    """Raise an error that names the workers that lack our version of a package.

    They are asked by a function of the standard library, so that one without our package answers.
    """
    for package, ours in zip(PACKAGES, own_versions(), strict=True):
        theirs = client.run(version, package, on_error="return")
        wrong = [
            f"worker {worker} has {found if isinstance(found, str) else 'none'}"
            for worker, found in sorted(theirs.items())
            if found != ours
        ]
        if wrong:
            raise InputError(
                f"every worker must have {package} {ours}, as here, but {', '.join(wrong[:5])}"
                f"{f' and {len(wrong) - 5} more differ' if len(wrong) > 5 else ''}: "
                f"pip install {package}=={ours} there, and start the workers again"
            )


@contextmanager
def _start(n_workers: int, memory_limit: int) -> Iterator[Any]:
    """Yield a client of workers on this machine.

    Whoever reaches a scheduler can run code as its user, and every user of this machine reaches
    its port: certificates made for each run, known to this process and its workers, keep them out.
    """
    import dask
    import distributed

    prefix = f"gramshift-dask-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        UNFINISHED.add(Path(folder))
        try:
            with (
                dask.config.set(LOCAL_CONFIG),
                distributed.LocalCluster(
                    n_workers=0,  # started below, where an interrupt closes the cluster
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=memory_limit,
                    dashboard_address="127.0.0.1:0",
                    local_directory=folder,
                    scheduler_kwargs={"local_directory": folder, "dashboard": False},
                    security=distributed.Security.temporary(),
                    silence_logs=logging.CRITICAL,
                ) as cluster,
                distributed.Client(cluster, set_as_default=False, direct_to_workers=True) as client,
            ):
                cluster.scale(n_workers)
                try:
                    client.wait_for_workers(n_workers, timeout=START_SECONDS)
                except TimeoutError:
                    raise ConnectionError(
                        f"{n_workers} Dask workers on this machine did not start within "
                        f"{START_SECONDS} seconds"
                    ) from None
                yield client
        finally:
            UNFINISHED.discard(Path(folder))


@contextmanager
def _connect(scheduler: str) -> Iterator[Any]:
    """Yield a client of the workers of a scheduler, which all have our versions."""
    import distributed

    client = distributed.Client.__new__(distributed.Client)
    try:
        client.__init__(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        with suppress(Exception):
            client.close(timeout=1)  # the garbage collector would block the next client's thread
        if isinstance(error, OSError):
            raise ConnectionError(
                f"--scheduler {scheduler}: no Dask scheduler answers there; start one with 'dask "
                "scheduler', or leave the address out for workers on this machine"
            ) from None
        raise InputError(
            f"--scheduler {scheduler}: give the address of a Dask scheduler, such as "
            f"tcp://127.0.0.1:8786 ({error})"
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=ARRIVE_SECONDS)
        except TimeoutError:
            raise ConnectionError(
                f"--scheduler {scheduler}: it has no workers; start some with "
                f"'dask worker {scheduler}'"
            ) from None
        _check_versions(client)
        yield client
    finally:
        client.close(timeout=CONNECT_SECONDS)
