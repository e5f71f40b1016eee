"""With what a computation runs: threads, how much memory, who is told of progress, how work is cut."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self, TypeVar

from gramshift.runtime.memory import memory_of, require
from gramshift.runtime.threads import Progress, Report, count_threads, run_threads

T = TypeVar("T")
STAGES = {
    "reading": "reading",
    "index": "finding n-grams",
    "diagonal": "finding n-grams",
    "gram": "comparing documents",
    "rounds": "training",
    "training": "training",
    "sureness": "training",
    "reference": "without adapting",
    "before": "without corrections",
    "problems": "looking for problems",
    "explain": "explaining documents",
    "compare": "explaining documents",
    "report": "explaining documents",
    "labelling": "labelling",
    "methods": "running methods",
    "download": "downloading",
}
"""Stages that a progress callback hears of, each with the step of a run that a terminal shows, in few characters."""


@dataclass(frozen=True)
class Runtime:
    """With what a computation runs. It decides how long something takes, never what comes out of it."""

    n_jobs: int | None = -1
    """As in scikit-learn: the number of threads; -1 for all cores."""
    memory_limit: int | float | str | None = None
    """Bytes that may be used, or a size such as "2 GB"; None for all that is free."""
    progress: Progress | None = None
    """Called as progress(stage, done, total), from the thread that asked for the work."""
    tile: tuple[int, int] | None = None
    """The height and width of the tiles of a gram; None for what suits memory and threads."""

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
        n_threads: int | None = None,
    ) -> list[T]:
        """[function(item) for item in items] on the threads of this process; progress is reported if the stage has a name.

        With ``n_threads`` so many work at once, whatever ``n_jobs`` says.
        """
        n_threads = self.n_threads if n_threads is None else n_threads
        return run_threads(function, items, n_threads=n_threads, report=self.telling(stage))

    def under(self, stage: str) -> Self:
        """The same with everything reported as one stage, for a fit beside another."""
        assert stage in STAGES, stage
        progress = self.progress
        return self if progress is None else replace(self, progress=lambda _, done, total: progress(stage, done, total))
