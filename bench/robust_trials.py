"""What labels of random target documents are worth to best, and how many of its labels depend on order or on one document."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.robust_answers import Draw, label, true_prior
from bench.robust_cells import Cell, Sets, take

N_LABELS = (0, 25, 50, 100)
SEEDS, SHUFFLES, LEFT_OUT = 3, 3, 5
CHANGES = ("source shuffled", "target shuffled", "one left out")


def choose(cells: Sequence[Cell], n: int, least: int) -> list[Cell]:
    """Choose up to two cells of each family: the first of equal sizes and the first of changed proportions, if it has both.

    Targets have ``least`` documents or more.
    """
    chosen = []
    for family in dict.fromkeys(cell.family for cell in cells):
        large = [cell for cell in cells if cell.family == family and cell.n_target is not None and cell.n_target >= least]
        usual = [cell for cell in large if not cell.words and cell.n_source == cell.n_target]
        changed = [cell for cell in large if cell.words]
        chosen += [*usual[:1], *changed, *usual[1:]][:n]
    return chosen


def try_labels(cell: Cell, sets: Sets) -> dict[str, Any]:
    """Measure the accuracy with so many random labels, the mean of some draws of them, and with the true proportions."""
    draw = cell.draw(sets, 0)
    (_, y), (_, truth) = draw
    found = {
        str(n): float(np.mean([score_unlabelled(draw, n, seed) for seed in range(SEEDS if n else 1)]))
        for n in N_LABELS
        if n < len(truth)
    }
    true = 100 * float(np.mean(label(draw, class_prior=true_prior(y, truth)) == truth))
    return {"cell": cell.name, "family": cell.family, "accuracy": found, "true": true}


def score_unlabelled(draw: Draw, n: int, seed: int) -> float:
    """Fit with the labels of so many random target documents; the accuracy of all others in percent."""
    truth = draw[1][1]
    order = np.random.default_rng(seed).permutation(len(truth))  # fewer labels are among more
    known: list[str | None] = [None] * len(truth)
    for row in order[:n]:
        known[row] = str(truth[row])
    found = label(draw, random_labels=known if n else None)
    return 100 * float(np.mean((found == truth)[order[n:]]))


def try_shuffled(cell: Cell, sets: Sets) -> dict[str, Any]:
    """Count the labels that change with the order of the source, with that of the target, and without a source document."""
    source, target = cell.draw(sets, 0)
    before, rng = label((source, target)), np.random.default_rng(0)
    of_source, of_target = np.arange(len(source[0])), np.arange(len(target[0]))

    def count(rows: Any, target_rows: Any) -> int:
        return int(np.sum(label((take(source, rows), take(target, target_rows))) != before[target_rows]))

    counts = (
        [count(rng.permutation(of_source), of_target) for _ in range(SHUFFLES)],
        [count(of_source, rng.permutation(of_target)) for _ in range(SHUFFLES)],
        [count(np.delete(of_source, row), of_target) for row in rng.choice(of_source, LEFT_OUT, replace=False)],
    )
    changed = {name: float(np.mean(several)) for name, several in zip(CHANGES, counts, strict=True)}
    return {"cell": cell.name, "family": cell.family, "documents": len(before), "changed": changed}


TRIALS: dict[str, Any] = {"labels": (2, try_labels), "shuffled": (1, try_shuffled)}
"""For each part of the benchmark beside the matrix, how many cells of a family it takes, and what it does with one."""
