"""What a fit with landmarks costs, as a sum of a few terms, fitted to measured runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from gramshift.runtime.budget import piece_size
from gramshift.runtime.remote_pieces import TOGETHER
from gramshift.text.corpus import DIGEST

CELL = 4  # bytes
Run = Mapping[str, Any]
"""documents, characters, training, landmarks, on_disk; seconds and peak_mb if it was measured."""
Costs = dict[str, float]
Terms = dict[str, Callable[[Run], float]]
SECONDS: Terms = {
    "fixed": lambda run: 1,
    "character": lambda run: run["characters"],
    "character x landmark": lambda run: run["characters"] * run["landmarks"],
    "document x landmark": lambda run: run["documents"] * run["landmarks"],
    "training document x landmark^2": lambda run: run["training"] * run["landmarks"] ** 2,
    "landmark": lambda run: run["landmarks"],
    "landmark^3": lambda run: run["landmarks"] ** 3,
}
BYTES: Terms = {
    "fixed": lambda run: 1,
    "document": lambda run: run["documents"],
    "document x landmark, unless on disk": lambda run: 0 if run["on_disk"] else run["documents"] * run["landmarks"],
    "landmark": lambda run: run["landmarks"],
    "landmark^2": lambda run: run["landmarks"] ** 2,
}


def fit_costs(terms: Terms, runs: Sequence[Run], measured: Sequence[float]) -> Costs:
    """What each term costs, nothing below 0: least squares of the errors as shares of what was measured."""
    rows = np.array([[term(run) for term in terms.values()] for run in runs], float) / np.array(measured, float)[:, None]
    scale = rows.max(axis=0)
    found, _ = nnls(rows / np.where(scale > 0, scale, 1), np.ones(len(runs)))
    return dict(zip(terms, (found / np.where(scale > 0, scale, 1)).tolist(), strict=True))


def estimate(terms: Terms, costs: Costs, run: Run) -> float:
    return sum(costs[name] * term(run) for name, term in terms.items())


def model(runs: Sequence[Run], unseen: Sequence[Run]) -> dict[str, Any]:
    """Costs of both sorts, and how far off they are: for the runs that they were fitted on, and for others."""
    found: dict[str, Any] = {}
    for name, terms, key, unit in (("seconds", SECONDS, "seconds", 1.0), ("bytes", BYTES, "peak_mb", 1e6)):
        costs = fit_costs(terms, runs, [run[key] * unit for run in runs])
        off = [[estimate(terms, costs, run) / (run[key] * unit) - 1 for run in several] for several in (runs, unseen)]
        found[name] = {"costs": costs, "off_percent": [[100 * one for one in several] for several in off]}
    return found


def carry(found: Mapping[str, Any], run: Run, machines: int) -> dict[str, float]:
    """What the model says of a run far beyond those measured, on so many machines like this one.

    Machines share what grows with documents. One of them, the client, holds what is kept of each document, and adds up a square
    of landmarks from every group of pieces with training documents.
    """
    seconds, memory = found["seconds"]["costs"], found["bytes"]["costs"]
    n, n_landmarks = run["documents"], run["landmarks"]
    alone = {name for name in SECONDS if name == "fixed" or name.startswith("landmark")}
    parts = {name: seconds[name] * term(run) for name, term in SECONDS.items()}
    n_pieces = -(-n // piece_size(n_landmarks))
    return {
        "machines": machines,
        "seconds": sum(value if name in alone else value / machines for name, value in parts.items()),
        "client_bytes": memory["fixed"] + memory["document"] * n,
        "digest_bytes": DIGEST * (n - n // 2),
        "machine_bytes": CELL * n * n_landmarks / machines,
        "pieces": n_pieces,
        "travelling_bytes": 8 * n_landmarks**2 * n_pieces / TOGETHER * run["training"] / n,
    }
