"""The CPU seconds of each stage of the command that this process was given.

Only the standard library is imported at the top, because imports are a stage too.
"""

import importlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import GeneratorType
from typing import Any

IMPORTS, REST = "imports", "all else"
STAGES = {  # name: the function that it consists of
    "reading files": "gramshift.commands.classify.run:read_inputs",
    "finding n-grams": "gramshift.kernels.corpus:Corpus.lists",
    "rounds": "gramshift.model.classifier:TransductiveClassifier.fit",
    "comparing the domains": "gramshift.model.diagnosis:measure_separability",
    "problems in the data": "gramshift.model.result:find_issues",
    "writing labels": "gramshift.commands.classify.run:write_labels",
    "report: words that decide": "gramshift.report.build:find_highlights",
    "report: nearest documents": "gramshift.report.build:find_neighbours",
    "report: map": "gramshift.report.build:draw_maps",
    "report: page": "gramshift.report.build:write_page",
    "report: all else": "gramshift.commands.classify.run:write_report",
}


class Stopwatch:
    """CPU seconds by stage, without those of stages that run within it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._running = [REST]
        self._begun = 0.0

    def switch(self) -> None:
        """Credit the time since the last switch to the stage that is running."""
        now = time.process_time()
        self.seconds[self._running[-1]] += now - self._begun
        self._begun = now

    def wrap(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time credited to a stage."""

        def timed(*arguments: Any, **options: Any) -> Any:
            with self._during(stage):
                result = function(*arguments, **options)
            return self._each(stage, result) if isinstance(result, GeneratorType) else result

        return timed

    def _each(self, stage: str, items: Iterator[Any]) -> Iterator[Any]:
        """Yield what a generator makes, with its time credited to a stage."""
        end = object()
        while True:
            with self._during(stage):
                item = next(items, end)
            if item is end:
                return
            yield item

    @contextmanager
    def _during(self, stage: str) -> Iterator[None]:
        """Credit the time within the block to a stage."""
        self.switch()
        self._running.append(stage)
        try:
            yield
        finally:
            self.switch()
            self._running.pop()

    def watch(self, stage: str, place: str) -> None:
        """Wrap a function or method, named as module:name; another commit may lack it."""
        module, _, name = place.partition(":")
        *owners, name = name.split(".")
        try:
            owner = importlib.import_module(module)
            for one in owners:
                owner = getattr(owner, one)
            setattr(owner, name, self.wrap(stage, getattr(owner, name)))
        except (ImportError, AttributeError):
            print(f"bench: no {place} to time", file=sys.stderr)


def main(file: str) -> None:
    """Run the command of ``sys.argv`` and write the seconds of its stages to a file, as JSON."""
    watch = Stopwatch()
    for stage, place in STAGES.items():
        watch.watch(stage, place)
    entry = importlib.import_module("gramshift.commands.entry")
    watch.switch()
    watch.seconds[IMPORTS] = watch.seconds.pop(REST)
    try:
        entry.run()
    finally:
        watch.switch()
        Path(file).write_text(json.dumps(watch.seconds))
