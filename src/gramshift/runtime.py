"""The resources of a computation: threads, memory and a callback for progress."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self, TypeVar

from gramshift.memory import free_memory, parse_bytes, require
from gramshift.parallel import Progress, count_threads, run_threads

T = TypeVar("T")
log = logging.getLogger("gramshift")
STAGES = {
    "reading": "reading",
    "encoding": "encoding texts",
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
"""The stages that a progress callback receives, each with the step that a terminal shows for it."""


@dataclass(frozen=True)
class Runtime:
    """Resources of a computation, which affect how long it takes and never its result."""

    n_jobs: int | None = -1
    """The number of threads as in scikit-learn: -1 for all cores."""
    memory_limit: int | float | str | None = None
    """Bytes that may be used, or a size such as "2 GB"; None for all free memory."""
    progress: Progress | None = None
    """Called as progress(stage, done, total), from the thread that asked for the work."""
    say: Callable[[str], None] | None = None
    """Called with one line in words for each round, where no progress can be drawn."""
    tile: tuple[int, int] | None = None
    """Height and width of the tiles of a kernel matrix, for tests; None to choose them."""

    @cached_property
    def n_threads(self) -> int:
        """The number of threads."""
        return count_threads(self.n_jobs)

    @property
    def memory(self) -> int:
        """The number of bytes that may be used: the user's limit, or all free memory."""
        return free_memory() if self.memory_limit is None else parse_bytes(self.memory_limit)

    def require(self, what: str, n_bytes: int, advice: str) -> None:
        """Raise a MemoryError with the advice if ``what`` needs more bytes than may be used."""
        require(what, n_bytes, self.memory, advice)

    def pinned(self) -> Self:
        """Return a copy whose memory limit is what may be used now, before memory is taken."""
        return replace(self, memory_limit=self.memory)

    def under(self, stage: str) -> Self:
        """Return a copy that reports all progress as one stage, for a fit next to another."""
        assert stage in STAGES, stage
        if self.progress is None:
            return self
        progress = self.progress
        return replace(self, progress=lambda _, done, total: progress(stage, done, total))

    def report(self, stage: str, done: int, total: int) -> None:
        """Report progress to the callback, if there is one."""
        assert stage in STAGES, stage
        if self.progress is not None:
            self.progress(stage, done, total)

    def announce(self, words: str) -> None:
        """Log a line about a round, and say it if that is wanted."""
        log.info(words)
        if self.say is not None:
            self.say(words)

    def run(
        self,
        function: Callable[[Any], T],
        items: Iterable[Any],
        *,
        stage: str = "",
        n_threads: int | None = None,
    ) -> list[T]:
        """Return [function(item) for item in items], computed on threads, as one stage.

        ``n_threads`` replaces the number of ``n_jobs``.
        """
        n_threads = self.n_threads if n_threads is None else n_threads
        report = partial(self.report, stage) if stage else None
        return run_threads(function, items, n_threads=n_threads, report=report)
