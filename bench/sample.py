"""Which documents to label next: what 50 labels by hand are worth, drawn by chance, least sure first, or doubtful and unlike.

The development sets alone are looked at. A fit is done, some of its documents get their true label, and it is done again: the
accuracy on all documents that none of the ways has chosen, before and after.
"""

from typing import Any

import numpy as np

import gramshift as gs
from bench.corpus import Texts
from bench.machine import describe_machine, describe_versions, say
from bench.robust_cells import EVEN, Cell, load_demo_sets, load_sets
from bench.table import table

N_CHOSEN, SEEDS = 50, 3
CELLS = [
    *(Cell("video", letter, "V", 1000, 1000, EVEN, EVEN) for letter in "BDEK"),
    Cell("chinese", "books", "hotels", 1000, 1000, EVEN, EVEN),
    Cell("chinese", "hotels", "fruit", 1000, 1000, EVEN, EVEN),
    Cell("short", "tweets", "editorials", 1000, 1000),
    Cell("short", "editorials", "tweets", 1000, 1000),
]
SMOKE = [Cell("demo", "kitchen", "films", 100, 100, EVEN, EVEN)]
WAYS = ("random", "least sure", "doubtful")


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """All cells, each drawn some times; ``texts`` are not used, and nothing is timed."""
    sets = load_demo_sets() if smoke else load_sets()
    rows = []
    for cell in SMOKE if smoke else CELLS:
        for seed in range(1 if smoke else SEEDS):
            rows.append(measure(cell, sets, seed, n=10 if smoke else N_CHOSEN))
            say(f"{cell.name}, draw {seed}: " + ", ".join(f"{way} {rows[-1]['gain'][way]:+.1f}" for way in WAYS))
    mean = {way: float(np.mean([row["gain"][way] for row in rows])) for way in WAYS}
    error = {way: float(np.std([row["gain"][way] for row in rows]) / max(1, len(rows) - 1) ** 0.5) for way in WAYS}
    about = {"machine": describe_machine(), "versions": describe_versions()}
    return {"benchmark": "sample", **about, "rows": rows, "mean": mean, "error": error}


def measure(cell: Cell, sets: dict[str, Any], seed: int, *, n: int) -> dict[str, Any]:
    """What the labels of the chosen documents are worth for all others, in points of accuracy."""
    (source, labels), (target, truth) = cell.draw(sets, seed)
    first = gs.TransductiveClassifier().fit(source, labels.tolist(), target=target)
    confidence = first.transduction_proba_.max(axis=1)
    chosen = {
        "random": first.sample(n, how="random", random_state=seed),
        "least sure": np.argsort(confidence, kind="stable")[:n],
        "doubtful": first.sample(n),
    }
    rest = np.setdiff1d(np.arange(len(target)), np.concatenate(list(chosen.values())))
    before = 100 * float(np.mean(first.transduction_[rest] == truth[rest]))
    gain = {}
    for way, rows in chosen.items():
        known = np.full(len(target), None, object)
        known[rows] = truth[rows]
        again = gs.TransductiveClassifier().fit([*source, *target], [*labels.tolist(), *known.tolist()])
        left = np.flatnonzero(known == None)  # noqa: E711
        found = dict(zip(left.tolist(), again.transduction_.tolist(), strict=True))
        gain[way] = 100 * float(np.mean([found[row] == truth[row] for row in rest.tolist()])) - before
    return {"cell": cell.name, "seed": seed, "before": before, "gain": gain}


def show(result: dict[str, Any]) -> str:
    """A row per fit, then the means and their standard errors."""
    rows = [
        [f"{row['cell']}, draw {row['seed']}", row["before"], *(row["gain"][way] for way in WAYS)] for row in result["rows"]
    ]
    rows.append(["mean", None, *(result["mean"][way] for way in WAYS)])
    rows.append(["standard error", None, *(result["error"][way] for way in WAYS)])
    return table("points gained", ["before", *WAYS], rows)
