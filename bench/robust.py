"""Whether the preset "best" does harm anywhere: a matrix of languages, sizes, class shares and numbers of classes.

Plain, the paper's method and best, beside tf-idf with logistic regression and the same with balanced self-training. All on
development data: labels of a target are looked at to score, and for the ceiling of learning from them, never by a method.
"""

import json
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bench.corpus import CorpusError, Texts
from bench.machine import describe_machine, describe_versions, say, source_state
from bench.robust_answers import TRIALS, Kept, ask_all, choose
from bench.robust_cells import Cell, Sets, load_demo_sets, load_sets, make_cells, make_demo_cells
from bench.robust_tables import Row, judge, measure, show, summarise
from gramshift.model.settings import PRESETS

__all__ = ["run", "show"]

FOLDERS = ("text", "ngrams", "kernels", "runtime", "grams", "learn", "model")
OWN_FROM, OWN_FROM_DEMO = 1000, 100
"""How many documents a target must have for the ceiling."""
TRIED_FROM, TRIED_FROM_DEMO = 500, 60
"""How many documents a target must have for the parts beside the matrix."""


def run(
    texts: Texts, *, smoke: bool, repeat: int, only: Sequence[str] | None = None, rivals: str | None = None
) -> dict[str, Any]:
    """Run the matrix and the parts beside it, or some families and parts; ``texts`` and ``repeat`` are not used.

    Families alone leave out the parts; parts without a family take cells of all families.
    """
    if smoke and only:
        raise CorpusError("--only names families of the development data, and --smoke has none of them; leave one out")
    cells, sets = (make_demo_cells(), load_demo_sets()) if smoke else (make_cells(only), load_sets())
    own_from, least = (OWN_FROM_DEMO, TRIED_FROM_DEMO) if smoke else (OWN_FROM, TRIED_FROM)
    parts = {part: n for part, (n, _) in TRIALS.items() if only is None or part in only}
    tried = {part: choose(cells or make_cells(), n, least) for part, n in parts.items()}
    return run_all(cells, tried, sets, Kept(rivals, source_state(FOLDERS)), own_from=own_from)


def run_all(cells: Sequence[Cell], tried: dict[str, list[Cell]], sets: Sets, kept: Kept, *, own_from: int) -> dict[str, Any]:
    """Measure rows, their summary and the goals; every finished row goes to stderr at once."""
    result: dict[str, Any] = {
        "benchmark": "robust",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "source": kept.source,
        "best": PRESETS["best"],
        "failed": {},
    }
    answers = {}

    def measure_cell(cell: Cell) -> Row:
        answers[cell.name] = ask_all(cell, sets, kept, own_from=own_from)
        return measure(cell, answers[cell.name])

    result["rows"] = run_each(cells, measure_cell, "row", result["failed"])
    for part, chosen in tried.items():
        result[part] = run_each(chosen, partial(TRIALS[part][1], sets=sets), part, result["failed"])
    summary = summarise(result["rows"], answers) if result["rows"] else None
    result |= {"reused": kept.n_reused, "reused_older": kept.n_older, "source_changed": source_state(FOLDERS) != kept.source}
    return result | {"summary": summary, "goals": judge(summary, result.get("labels", []))}


def run_each(cells: Sequence[Cell], work: Callable[[Cell], Row], name: str, failed: dict[str, str]) -> list[Row]:
    """Do the same with each cell; of one that fails the error is noted."""
    rows = []
    for i, cell in enumerate(cells, start=1):
        try:
            rows.append(work(cell))
        except Exception as error:  # other cells may take hours and still be well
            traceback.print_exc()
            failed[f"{name}, {cell.name}"] = f"{type(error).__name__}: {error}"
        else:
            say(f"{name} {i} of {len(cells)}: {json.dumps(rows[-1])}")
    return rows
