"""With what a computation runs: threads or Dask workers, how much memory, who is told of progress, how work is cut."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self, TypeVar

from gramshift.errors import InputError, InputTypeError
from gramshift.runtime.budget import memory_of
from gramshift.runtime.cluster import Cluster, open_cluster
from gramshift.runtime.memory import require
from gramshift.runtime.threads import Progress, Report, count_threads, run_threads

T = TypeVar("T")
ENGINES = ("threads", "dask")
STAGES = {
    "reading": "documents are read",
    "index": "the n-grams of documents are found",
    "diagonal": "documents are compared with themselves",
    "gram": "documents are compared with each other",
    "rounds": "rounds of a fit whose kernel changes",
    "training": "a classifier is trained",
    "sureness": "held-out scores are worked out, for probabilities",
    "reference": "what labels are compared with is trained: the same without adapting, or plain",
    "before": "the classifier is trained without corrections",
    "problems": "problems in the data are looked for",
    "explain": "documents are explained",
    "compare": "the nearest source documents are looked for",
    "report": "the page is put together",
    "labelling": "new documents are labelled",
    "settings": "settings of the paper are run",
    "others": "other methods are run",
    "methods": "methods are compared",
    "download": "a file is fetched",
}
"""All that a progress callback can be told of, by name."""


@dataclass(frozen=True)
class Runtime:
    """With what a computation runs. It decides how long something takes, never what comes out of it."""

    n_jobs: int | None = -1
    """As in scikit-learn: the number of threads, or of Dask workers that are started; -1 for all cores."""
    memory_limit: int | float | str | None = None
    """Bytes that may be used, or a size such as "2 GB"; None for all that is free."""
    cluster: Cluster | None = None
    """The Dask workers to work on; None for threads of this process."""
    progress: Progress | None = None
    """Called as progress(stage, done, total), from the thread that asked for the work."""
    tile: tuple[int, int] | None = None
    """The height and width of the tiles of a gram; None for what suits memory and threads."""
    engine: str = "threads"
    """Where work is to be done: on threads of this process, or by Dask workers."""
    scheduler: str | None = None
    """The address of a Dask scheduler that runs already; None for workers that are started for the time of the work."""
    announced_from: float = 20.0
    """How many seconds a gram must take to be worth a word beforehand."""

    @cached_property
    def n_threads(self) -> int:
        """How many threads of this process work at once."""
        return count_threads(self.n_jobs)

    @property
    def memory(self) -> int:
        """How many bytes may be used: those that the user allows, or all that are free."""
        return memory_of(self.memory_limit)

    def require(self, what: str, n_bytes: int, advice: str) -> None:
        """Raise a MemoryError with both numbers and the advice if ``what`` takes more bytes than may be used."""
        require(what, n_bytes, self.memory, advice)

    def pinned(self) -> Self:
        """The same with the memory that is free now as its limit, for the time while that memory is being taken."""
        return replace(self, memory_limit=self.memory)

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell whoever listens how far a stage is."""
        assert stage in STAGES, stage
        if self.progress is not None:
            self.progress(stage, done, total)

    def telling(self, stage: str) -> Report:
        """What reports this stage, called as report(done, total); without a name nothing is reported."""
        assert not stage or stage in STAGES, stage
        return partial(self.report, stage) if stage else lambda done, total: None

    def run(
        self,
        function: Callable[[Any], T],
        items: Iterable[Any],
        *,
        stage: str = "",
        n_before: int = 0,
        n_threads: int | None = None,
    ) -> list[T]:
        """[function(item) for item in items] on the threads of this process; progress is reported if the stage has a name.

        With ``n_threads`` so many work at once, whatever ``n_jobs`` says.
        """
        n_threads = self.n_threads if n_threads is None else n_threads
        return run_threads(function, items, n_threads=n_threads, report=self.telling(stage), n_before=n_before)

    def under(self, stage: str) -> Self:
        """The same with everything reported as one stage, for a fit beside another."""
        assert stage in STAGES, stage
        progress = self.progress
        return self if progress is None else replace(self, progress=lambda _, done, total: progress(stage, done, total))


def check_engine(engine: Any, scheduler: Any = None) -> None:
    """Raise an error if there is no such engine, or if it has no use for the address of a scheduler."""
    if engine not in ENGINES:
        raise InputError(f"engine={engine!r}: must be one of {', '.join(map(repr, ENGINES))}")
    if scheduler is not None and not isinstance(scheduler, str):
        raise InputTypeError(f"scheduler={scheduler!r}: give the address of a Dask scheduler, such as 'tcp://127.0.0.1:8786'")
    if scheduler is not None and engine != "dask":
        raise InputError(f"scheduler={scheduler!r} is for engine='dask', not for engine={engine!r}")


@contextmanager
def on_engine(runtime: Runtime, *, reserved: int = 0) -> Iterator[Runtime]:
    """The same runtime with its engine ready: as it is for threads, with the workers of a cluster for Dask.

    If the workers are to be started on this machine, there are ``n_jobs`` of them. What the memory limit leaves beside the
    ``reserved`` bytes, which this process will take, is shared by them and this process.
    """
    check_engine(runtime.engine, runtime.scheduler)
    if runtime.engine == "threads" or runtime.cluster is not None:
        yield runtime
        return
    n_workers = runtime.n_threads
    share = max(1, runtime.memory - reserved) // (n_workers + 1)
    with open_cluster(runtime.scheduler, n_workers=n_workers, memory_limit=share) as cluster:
        yield replace(runtime, cluster=cluster)
