"""Dask workers that can be trusted with our tasks: of the same versions, started here or found at an address; their values."""

import logging
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from gramshift.errors import InputError, MissingPackageError, ScriptError
from gramshift.runtime.replacing import UNDER_WAY

COMMAND = "pip install 'gramshift[dask]'"
PACKAGES = ("gramshift", "numpy", "numba")
"""The last two decide how floating-point sums are rounded, and with one version each the bits are the same everywhere."""


def require_dask(engine: str, scheduler: str | None) -> None:
    """Raise an error that says what to install, if a package is missing that this ``engine``, as the user wrote it, needs."""
    if find_spec("distributed") is None:
        raise MissingPackageError(f"{engine} needs dask and distributed: {COMMAND}", name="distributed")
    if scheduler is None and find_spec("cryptography") is None:
        words = f"{engine} needs cryptography to close workers on this machine to its other users: {COMMAND}"
        raise MissingPackageError(words, name="cryptography")


@cache
def own_versions() -> tuple[str, ...]:
    """The versions that this process has, in the order of PACKAGES."""
    return tuple(version(package) for package in PACKAGES)


def check_versions(client: Any) -> None:
    """Raise a ValueError that says which worker has what, if one of them has not what this process has.

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
                f"pip install {package}=={ours} there, and start the workers anew"
            )


def call_checked(ours: tuple[str, ...], function: Any, arguments: Any, keywords: Any, item: Any) -> Any:
    """function(*arguments, item, **keywords), on a worker that may have joined after the others were asked for versions."""
    if own_versions() != ours:
        raise InputError(f"this worker has {own_versions()} of {PACKAGES}, not {ours}")
    return function(*arguments, item, **keywords)


@dataclass(frozen=True)
class Patience:
    """How many seconds something is waited for before an error says that it does not come."""

    connect: float = 5
    """Seconds for a scheduler to answer."""
    arrive: float = 30
    """Seconds for its first worker to be there."""
    start: float = 120
    """Seconds for the workers that are started on this machine to be there."""
    deserted: float = 60
    """Seconds for a worker that can work, when all are gone or paused in the middle."""


PATIENCE = Patience()
ALONE = {
    # what Dask does beside the work; as often as it does by itself, that takes a tenth of each core
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
    # pages would show all users of this machine what is computed: no certificate is asked for there
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
PREFIX = "gramshift-dask-"
UNGUARDED = "unguarded"


@contextmanager
def local_workers(n_workers: int, memory_limit: int, patience: Patience) -> Iterator[Any]:
    """A client of workers that end with it, and with this process however it ends.

    Who reaches a scheduler can run anything as its user, and all users of this machine reach a port of it: certificates that
    only this process and its workers have, made anew each time, keep them out.
    """
    import dask
    import distributed

    _refuse_to_start_from_a_worker()
    prefix = f"{PREFIX}{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        UNDER_WAY.add(Path(folder))
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
                _wait_for_workers(client, n_workers, Path(folder) / UNGUARDED, patience.start)
                yield client
        finally:
            UNDER_WAY.discard(Path(folder))


def _wait_for_workers(client: Any, n_workers: int, unguarded: Path, seconds: float) -> None:
    begun = time.monotonic()
    while len(client.nthreads()) < n_workers:
        time.sleep(0.02)
        if unguarded.exists():
            raise ScriptError(
                "each Dask worker begins by running this script, up to here, and would start workers of its own: put the "
                "work of the script below a line: if __name__ == '__main__':"
            )
        if time.monotonic() - begun > seconds:
            raise ConnectionError(f"{n_workers} Dask workers on this machine did not start within {seconds:.0f} seconds")


def _refuse_to_start_from_a_worker() -> None:
    """A worker that is being started runs the user's script first: if that comes here, tell the process that started it."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}{os.getppid()}-*"):
            (folder / UNGUARDED).touch()
        sys.exit(1)


@contextmanager
def connect(scheduler: str, patience: Patience) -> Iterator[Any]:
    """A client of workers that are there already, all with our versions."""
    import distributed

    client = distributed.Client.__new__(distributed.Client)
    try:
        client.__init__(scheduler, timeout=patience.connect, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        with suppress(Exception):
            client.close(timeout=1)  # left to the garbage collector, it would block the thread of a client to come
        if isinstance(error, OSError):
            raise ConnectionError(
                f"scheduler={scheduler!r}: no Dask scheduler answers there; start one with 'dask scheduler', or leave the "
                "address out for workers on this machine"
            ) from None
        raise InputError(
            f"scheduler={scheduler!r}: give the address of a Dask scheduler, such as 'tcp://127.0.0.1:8786' ({error})"
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=patience.arrive)
        except TimeoutError:
            raise ConnectionError(
                f"scheduler={scheduler!r}: it has no workers; start some with 'dask worker {scheduler}'"
            ) from None
        check_versions(client)
        yield client
    finally:
        client.close(timeout=patience.connect)


@contextmanager
def quiet() -> Iterator[None]:
    """Dask writes about lost workers and connections by itself; we say what matters in an error."""
    handlers = logging.getLogger("distributed").handlers
    levels = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=False):
            handler.setLevel(level)


@dataclass(eq=False)
class Handle:
    """A value on the workers. It is put there anew if it was lost with the only worker that held it."""

    put: Callable[[], Any]
    needs: tuple["Handle", ...] = ()

    def __post_init__(self) -> None:
        self.future = self.put()

    def revive(self) -> None:
        """Put the value, and those that it needs, there anew if they were lost."""
        for handle in self.needs:
            handle.revive()
        if self.future.status in ("lost", "cancelled"):
            self.future = self.put()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a handle can be an item, an entry of one, or an argument of functools.partial, and nothing else")


def find_handles(value: Any) -> list[Handle]:
    """Find the handles in an argument that stand where workers can find them."""
    if isinstance(value, partial):
        return [handle for part in (*value.args, *value.keywords.values()) for handle in find_handles(part)]
    if isinstance(value, (list, tuple)):
        return [part for part in value if isinstance(part, Handle)]
    return [value] if isinstance(value, Handle) else []


def with_futures(value: Any) -> Any:
    """The argument with Dask's futures in the places of handles."""
    if isinstance(value, Handle):
        return value.future
    if isinstance(value, (list, tuple)) and find_handles(value):
        return [part.future if isinstance(part, Handle) else part for part in value]
    return value
