"""Progress as one line in a terminal or in a notebook."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from gramshift.parallel import Progress
from gramshift.runtime import STAGES
from gramshift.terminal import is_terminal

ROUNDS = "rounds"
TRAINING = STAGES["training"]


@contextmanager
def shown_progress(wanted: bool, given: Progress | None) -> Iterator[Progress | None]:
    """Yield the given callback; without one, if progress is wanted, one that draws a line."""
    if given is not None or not wanted:
        yield given
        return
    with progress_bar() as report:
        yield report


class Steps:
    """The steps of a run and how far it is, according to the reports of its stages.

    With a ``plan`` of stages in their order, the line begins with the number of the step and
    never goes back: stages of an earlier step, or of none, belong to the current one.
    """

    def __init__(self, plan: Sequence[str] = ()) -> None:
        self._plan = [STAGES[stage] for stage in plan]
        self._step: str | None = None
        self._fraction = 0.0  # of the step
        self._rounds = (0, 0)  # done, total

    def follow(self, stage: str, done: int, total: int) -> tuple[str, float]:
        """Process a report; return the words to show and the fraction done, 0 to 1."""
        step = STAGES[stage]
        fraction = min(1.0, done / max(1, total))
        if stage == ROUNDS:  # it encloses the steps that follow: n-grams are found within a round
            self._rounds = (done, total)
        elif step != self._step and self._comes_next(step):
            self._step = step
            self._fraction = 0.0
        if stage != ROUNDS and step == TRAINING and self._rounds[1]:
            fraction = 0.0  # there are many trainings in a round
        if step == self._step:
            self._fraction = max(self._fraction, fraction)
        return self._words(), self._overall()

    def _comes_next(self, step: str) -> bool:
        if self._plan and step not in self._plan:
            return False
        if self._step is None or not self._plan:
            return True
        return self._plan.index(step) > self._plan.index(self._step)

    def _words(self) -> str:
        if self._step is None:
            return ""
        words = self._step
        done, n_rounds = self._rounds
        if self._step == TRAINING and n_rounds > 1:
            words += f", round {min(done + 1, n_rounds)} of {n_rounds}"
        if len(self._plan) > 1:
            words = f"{self._plan.index(self._step) + 1}/{len(self._plan)} {words}"
        return words

    def _overall(self) -> float:
        if not self._plan or self._step is None:
            return self._fraction
        return (self._plan.index(self._step) + self._fraction) / len(self._plan)


@contextmanager
def progress_bar(plan: Sequence[str] = (), *, quiet: bool = False) -> Iterator[Progress | None]:
    """Yield a callback that draws one line, erased at the end; None if it could not be seen.

    ``plan`` names the stages that begin the steps of the run, as far as they are known.
    """
    if quiet or not (is_terminal(sys.stderr) or in_notebook()):
        yield None
        return
    from rich.console import Console  # its import takes as long as all others of --help
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", table_column=Column(no_wrap=True), markup=False),
        BarColumn(bar_width=None, table_column=Column(ratio=1)),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with RichProgress(*columns, console=console, transient=True, expand=True) as line:
        steps = Steps(plan)
        task = line.add_task("", total=1.0)

        def report(stage: str, done: int, total: int) -> None:
            words, fraction = steps.follow(stage, done, total)
            line.update(task, description=words, completed=fraction)

        yield report


def in_notebook() -> bool:
    """Return True in a notebook that can show rich's progress: one with ipywidgets."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    in_kernel = "IPKernelApp" in getattr(shell, "config", {})
    return in_kernel and find_spec("ipywidgets") is not None
