"""Whether the preset "best" does harm anywhere: a matrix of languages, sizes, class shares and numbers of classes.

Plain, the paper's method and best, beside tf-idf with logistic regression and the same with balanced self-training. All on
development data: labels of a target are looked at to score, and for the ceiling of learning from them, never by a method.
"""

import json
import traceback
from collections.abc import Sequence
from typing import Any

from bench.corpus import CorpusError, Texts
from bench.machine import describe_machine, describe_versions, say, source_state
from bench.robust_answers import Answers, Kept, ask_all
from bench.robust_cells import Cell, Sets, load_demo_sets, load_sets, make_cells, make_demo_cells
from bench.robust_goals import judge, measure, summarise
from bench.robust_tables import show
from gramshift.model.settings import PRESETS

__all__ = ["run", "show"]

FOLDERS = ("text", "ngrams", "kernels", "runtime", "grams", "learn", "model")
OWN_FROM, OWN_FROM_DEMO = 1000, 100
"""How many documents a target must have for the ceiling."""


def run(
    texts: Texts, *, smoke: bool, repeat: int, only: Sequence[str] | None = None, rivals: str | None = None
) -> dict[str, Any]:
    """All cells, or those of some families; ``texts`` and ``repeat`` are not used."""
    if smoke and only:
        raise CorpusError("--only names families of the development data, and --smoke has none of them; leave one out")
    cells, sets = (make_demo_cells(), load_demo_sets()) if smoke else (make_cells(only), load_sets())
    return run_cells(cells, sets, Kept(rivals, source_state(FOLDERS)), own_from=OWN_FROM_DEMO if smoke else OWN_FROM)


def run_cells(cells: Sequence[Cell], sets: Sets, kept: Kept, *, own_from: int = OWN_FROM) -> dict[str, Any]:
    """Rows, their summary and the goals; every finished row goes to stderr at once."""
    result: dict[str, Any] = {
        "benchmark": "robust",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "source": kept.source,
        "best": PRESETS["best"],
        "failed": {},
        "rows": [],
    }
    answers: dict[str, dict[str, Answers]] = {}
    for i, cell in enumerate(cells, start=1):
        try:
            answers[cell.name] = ask_all(cell, sets, kept, own_from=own_from)
        except Exception as error:  # other cells may take hours and still be well
            traceback.print_exc()
            result["failed"][cell.name] = f"{type(error).__name__}: {error}"
            continue
        row = measure(cell, answers[cell.name])
        say(f"row {i} of {len(cells)}: {json.dumps(row)}")
        result["rows"].append(row)
    summary = summarise(result["rows"], answers) if result["rows"] else None
    result |= {"reused": kept.n_reused, "reused_older": kept.n_older, "source_changed": source_state(FOLDERS) != kept.source}
    return result | {"summary": summary, "goals": judge(summary) if summary else []}
