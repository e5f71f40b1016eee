"""Where work can run: on threads of this process, or on Dask workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gramshift.runtime.cluster import Cluster, open_cluster
from gramshift.runtime.memory import free_memory, parse_bytes
from gramshift.runtime.threads import count_threads

ENGINES = ("threads", "dask")


def check_engine(engine: Any, scheduler: Any = None) -> None:
    """Raise an error if there is no such engine, or if it has no use for the address of a scheduler."""
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r}: must be one of {', '.join(map(repr, ENGINES))}")
    if scheduler is not None and not isinstance(scheduler, str):
        raise TypeError(f"scheduler={scheduler!r}: give the address of a Dask scheduler, such as 'tcp://127.0.0.1:8786'")
    if scheduler is not None and engine != "dask":
        raise ValueError(f"scheduler={scheduler!r} is for engine='dask', not for engine={engine!r}")


@contextmanager
def open_engine(
    engine: str,
    scheduler: str | None = None,
    *,
    n_jobs: int | None = -1,
    memory_limit: int | float | str | None = None,
    own: int = 0,
) -> Iterator[Cluster | None]:
    """The cluster to work on, or None for threads. ``own`` bytes will be taken by this process.

    If the workers are to be started on this machine, there are ``n_jobs`` of them. What ``memory_limit`` leaves is shared
    by them and this process.
    """
    check_engine(engine, scheduler)
    if engine == "threads":
        yield None
        return
    n_workers = count_threads(n_jobs)
    limit = free_memory() if memory_limit is None else parse_bytes(memory_limit)
    share = max(1, limit - own) // (n_workers + 1)
    with open_cluster(scheduler, n_workers=n_workers, memory_limit=share) as cluster:
        yield cluster
