"""The CPU seconds of each stage of a command: ``python -m bench.stages FILE classify ...``.

Only the standard library is imported at the top, because imports are a stage too.
"""

import importlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

IMPORTS, REST = "imports", "all else"
STAGES = {  # name: the functions that it consists of
    "reading files": ["gramshift.commands.classify.run:read_inputs"],
    "finding n-grams": ["gramshift.kernels.corpus:Corpus.lists"],
    "rounds": ["gramshift.model.classifier:TransductiveClassifier.fit"],
    "comparing domains": ["gramshift.model.diagnosis:measure_separability"],
    "problems in the data": ["gramshift.model.data_problems:find_issues"],
    "writing labels": ["gramshift.commands.classify.run:write_labels"],
    "words that decide": ["gramshift.report.evidence:find_highlights"],
    "nearest documents": ["gramshift.report.evidence:find_neighbours"],
    "rest of the report": ["gramshift.commands.classify.run:write_report"],
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
            self.switch()
            self._running.append(stage)
            try:
                return function(*arguments, **options)
            finally:
                self.switch()
                self._running.pop()

        return timed

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


def main(file: str, *words: str) -> None:
    """Run the command and write the seconds of its stages to a file, as JSON."""
    watch = Stopwatch()
    for stage, places in STAGES.items():
        for place in places:
            watch.watch(stage, place)
    entry = importlib.import_module("gramshift.commands.entry")
    watch.switch()
    watch.seconds[IMPORTS] = watch.seconds.pop(REST)
    sys.argv = ["gramshift", *words]
    try:
        entry.run()
    finally:
        watch.switch()
        Path(file).write_text(json.dumps(watch.seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
