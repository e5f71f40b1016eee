"""Dask workers, started on this machine or found at an address, that run one task for each item."""

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
from gramshift.runtime.files import UNFINISHED
from gramshift.runtime.memory import human, require

T = TypeVar("T")
COMMAND = "pip install 'gramshift[dask]'"
PACKAGES = ("gramshift", "numpy", "numba")
"""The last two decide how floating-point sums are rounded, and with one version each the bits are the same everywhere."""
LEAST_BYTES = 300 * 10**6  # for a worker: it takes two thirds of that before it does anything
CONNECT_SECONDS, ARRIVE_SECONDS, START_SECONDS = 5, 30, 120  # for a scheduler, its first worker, and workers on this machine
DESERTED_SECONDS = 60  # without a result and without a worker that can work
ALONE = {
    # what Dask does beside the work; as often as it does by itself, that takes a tenth of each core
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
    # pages would show all users of this machine what is computed: no certificate is asked for there
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


def require_dask(scheduler: str | None) -> None:
    """Raise an error that says what to install, if a package is missing."""
    if find_spec("distributed") is None:
        raise MissingPackageError(f"--engine dask needs dask and distributed: {COMMAND}", name="distributed")
    if scheduler is None and find_spec("cryptography") is None:
        words = f"--engine dask needs cryptography to close workers on this machine to its other users: {COMMAND}"
        raise MissingPackageError(words, name="cryptography")


@contextmanager
def open_workers(scheduler: str | None, *, n_workers: int, memory_limit: int) -> Iterator[Any]:
    """Yield a Dask client of the scheduler with this address; with None of ``n_workers`` processes on this machine.

    Each of the latter may use ``memory_limit`` bytes. They end with the client, and with this process however it ends.
    """
    require_dask(scheduler)
    with _quiet():
        if scheduler is not None:
            with _connect(scheduler) as client:
                yield client
        else:
            require("a Dask worker", LEAST_BYTES, memory_limit, "raise --memory, or have fewer workers: --jobs")
            with _start(n_workers, memory_limit) as client:
                yield client


def run_tasks(
    client: Any,
    function: Callable[..., T],
    arguments: tuple[Any, ...],
    items: Iterable[Any],
    receive: Callable[[Any, T], None],
    *,
    name: Callable[[Any], str],
) -> None:
    """Call receive(item, function(*arguments, item)) for all items, as workers finish them; Dask gives lost tasks to others.

    ``name`` is what the task of an item is called in Dask's dashboard. After an error or Ctrl-C no other task is started.
    """
    from distributed import as_completed

    tasks = {
        client.submit(_call, own_versions(), function, *arguments, item, key=f"{name(item)}-{uuid4().hex[:12]}"): item
        for item in items
    }
    limit, completed, deserted = _find_limit(client), None, False
    try:
        while tasks:
            if completed is None:
                completed = as_completed(list(tasks), loop=client.loop, timeout=DESERTED_SECONDS / 2)
            try:
                task = next(completed)
            except TimeoutError:  # files are long, or nobody works: then twice in a row
                was_deserted, deserted = deserted, not _find_statuses(client) - {"paused"}
                if deserted and was_deserted:
                    raise _deserted(client, limit) from None
                completed = None
                continue
            deserted = False
            receive(tasks.pop(task), _result(client, task, limit))
    except BaseException:
        with suppress(Exception):  # there is an error already, which says more
            client.cancel(list(tasks))
        raise


@cache
def own_versions() -> tuple[str, ...]:
    """Return the versions that this process has, in the order of PACKAGES."""
    return tuple(version(package) for package in PACKAGES)


def _call(ours: tuple[str, ...], function: Callable[..., T], *arguments: Any) -> T:
    """function(*arguments), on a worker that may have joined after the others were asked for versions."""
    if own_versions() != ours:
        raise InputError(f"this worker has {own_versions()} of {PACKAGES}, not {ours}")
    return function(*arguments)


def _result(client: Any, task: Any, limit: str) -> Any:
    """Return what a task returned; raise its error, in words where it is one of Dask's."""
    from distributed import CancelledError, KilledWorker

    try:
        return task.result()
    except CancelledError:
        if client.status == "running":
            words = "the Dask workers that had the model are gone: give the same command again, finished files are kept"
            raise ConnectionError(words) from None
        raise _gone(client) from None
    except KilledWorker:
        words = f"workers died again and again over the task {task.key.rpartition('-')[0]}, most likely for want of memory"
        raise MemoryLimitError(f"{words}{limit}: give each worker more memory") from None
    except Exception:
        try:
            _check_versions(client)  # it may come from a worker that joined with another version
        except OSError:
            raise _gone(client) from None
        raise


def _find_workers(client: Any) -> list[dict[str, Any]]:
    """Return what the scheduler knows of its workers."""
    if client.status == "running":
        with suppress(OSError):
            return list(client.scheduler_info(n_workers=-1)["workers"].values())
    raise _gone(client)


def _find_statuses(client: Any) -> set[str]:
    return {worker["status"] for worker in _find_workers(client)}


def _deserted(client: Any, limit: str) -> Exception:
    """Return the error for no worker left, or none that works."""
    if _find_statuses(client):
        return MemoryLimitError(f"all Dask workers are paused for want of memory{limit}: give each of them more")
    return ConnectionError(f"the Dask scheduler at {client.scheduler.address} has no workers left: start some and try again")


def _gone(client: Any) -> ConnectionError:
    where = client.scheduler.address if client.scheduler is not None else "the given address"
    return ConnectionError(f"the Dask scheduler at {where} has gone away in the middle of the work: start it and try again")


def _find_limit(client: Any) -> str:
    """Say how much memory the smallest worker may use, if there is a limit."""
    limits = [worker["memory_limit"] for worker in _find_workers(client) if worker["memory_limit"]]
    return f" (the smallest may use {human(min(limits))})" if limits else ""


def _check_versions(client: Any) -> None:
    """Raise an error that says which worker has what, if one of them has not what this process has.

    Workers are asked by a function of the standard library, so that one without our package can answer too.
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

    Who reaches a scheduler can run anything as its user, and all users of this machine reach a port of it: certificates that
    only this process and its workers have, made for each run, keep them out.
    """
    import dask
    import distributed

    with tempfile.TemporaryDirectory(prefix=f"gramshift-dask-{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        UNFINISHED.add(Path(folder))
        try:
            with (
                dask.config.set(ALONE),
                distributed.LocalCluster(
                    n_workers=0,  # they come below, where an interrupt closes what has been started
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
                    words = f"{n_workers} Dask workers on this machine did not start within {START_SECONDS} seconds"
                    raise ConnectionError(words) from None
                yield client
        finally:
            UNFINISHED.discard(Path(folder))


@contextmanager
def _connect(scheduler: str) -> Iterator[Any]:
    """Yield a client of workers that are there already, all with our versions."""
    import distributed

    client = distributed.Client.__new__(distributed.Client)
    try:
        client.__init__(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        with suppress(Exception):
            client.close(timeout=1)  # left to the garbage collector, it would block the thread of a client to come
        if isinstance(error, OSError):
            raise ConnectionError(
                f"--scheduler {scheduler}: no Dask scheduler answers there; start one with 'dask scheduler', or leave the "
                "address out for workers on this machine"
            ) from None
        raise InputError(
            f"--scheduler {scheduler}: give the address of a Dask scheduler, such as tcp://127.0.0.1:8786 ({error})"
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=ARRIVE_SECONDS)
        except TimeoutError:
            raise ConnectionError(
                f"--scheduler {scheduler}: it has no workers; start some with 'dask worker {scheduler}'"
            ) from None
        _check_versions(client)
        yield client
    finally:
        client.close(timeout=CONNECT_SECONDS)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from writing about lost workers and connections; an error says what matters."""
    handlers = logging.getLogger("distributed").handlers
    levels = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=False):
            handler.setLevel(level)
