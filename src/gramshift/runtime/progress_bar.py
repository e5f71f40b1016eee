"""Progress as people see it, if somebody is looking: one line in a terminal or in a notebook."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from gramshift.runtime.resources import STAGES
from gramshift.runtime.threads import Progress
from gramshift.text.terminal import is_terminal

ROUNDS, TRAINING = "rounds", STAGES["training"]


@contextmanager
def shown_progress(wanted: bool, given: Progress | None) -> Iterator[Progress | None]:
    """Yield the callback that was given, or if progress is wanted one that draws bars where this process can show them."""
    if given is not None or not wanted:
        yield given
        return
    with progress_bar() as report:
        yield report


class Steps:
    """Turns what stages report into one line: how far a run is, and with what.

    With a ``plan`` of steps in their order the line begins with the number of the step, and never goes back: what belongs to
    an earlier step, or to none of them, is part of the one under way.
    """

    def __init__(self, plan: Sequence[str] = ()) -> None:
        self._plan = [STAGES[stage] for stage in plan]
        self._step: str | None = None
        self._part = 0.0  # of the step
        self._rounds = (0, 0)

    def follow(self, stage: str, done: int, total: int) -> tuple[str, float]:
        """Take in a report; return what to show, and which part of all is done, 0 to 1."""
        step, part = STAGES[stage], min(1.0, done / max(1, total))
        if stage == ROUNDS:  # of all that follows: the n-grams are found within the first
            self._rounds = (done, total)
        elif step != self._step and self._goes_on(step):
            self._step, self._part = step, 0.0
        if stage != ROUNDS and step == TRAINING and self._rounds[1]:
            part = 0.0  # of one of many trainings within a round
        if step == self._step:
            self._part = max(self._part, part)
        return self._words(), self._overall()

    def _goes_on(self, step: str) -> bool:
        if self._plan and step not in self._plan:
            return False
        return self._step is None or not self._plan or self._plan.index(step) > self._plan.index(self._step)

    def _words(self) -> str:
        if self._step is None:
            return ""
        words, (done, n_rounds) = self._step, self._rounds
        if self._step == TRAINING and n_rounds > 1:
            words += f", round {min(done + 1, n_rounds)} of {n_rounds}"
        return f"{self._plan.index(self._step) + 1}/{len(self._plan)} {words}" if len(self._plan) > 1 else words

    def _overall(self) -> float:
        if not self._plan or self._step is None:
            return self._part
        return (self._plan.index(self._step) + self._part) / len(self._plan)


@contextmanager
def progress_bar(plan: Sequence[str] = ()) -> Iterator[Progress | None]:
    """Yield a callback that draws one line, removed at the end; None if stderr is no terminal and this is no notebook.

    ``plan`` names the stages that begin the steps of the run, as far as they are known beforehand.
    """
    if not is_terminal(sys.stderr) and not in_notebook():
        yield None
        return
    from rich.console import Console  # late: it takes as long as all other imports of --help
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    words = TextColumn("{task.description}", table_column=Column(no_wrap=True), markup=False)
    columns = (words, BarColumn(bar_width=None, table_column=Column(ratio=1)), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True, expand=True) as line:
        steps, task = Steps(plan), line.add_task("", total=1.0, start=True)

        def report(stage: str, done: int, total: int) -> None:
            shown, part = steps.follow(stage, done, total)
            line.update(task, description=shown, completed=part)

        yield report


def in_notebook() -> bool:
    """Return True in the kernel of a notebook that can show rich's progress: one with ipywidgets."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "IPKernelApp" in getattr(shell, "config", {}) and find_spec("ipywidgets") is not None
