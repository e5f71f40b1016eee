"""What a fit of the sparse linear model costs, as a sum of a few terms, and what that makes of very many documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench.cost import Run, Terms, estimate, fit_costs

SECONDS: Terms = {
    "fixed": lambda run: 1,
    "document": lambda run: run["documents"],
    "character": lambda run: run["characters"],
    "character x length of n-grams": lambda run: run["characters"] * run["lengths"],
}
BYTES: Terms = SECONDS
SORTS = (("seconds", SECONDS, 1.0), ("peak_mb", BYTES, 1e6))


def model(runs: Sequence[Run], unseen: Sequence[Run]) -> dict[str, Any]:
    """Costs of both sorts, and by how much they are off: for the runs that they were fitted on, and for others."""
    found: dict[str, Any] = {}
    for key, terms, unit in SORTS:
        costs = fit_costs(terms, runs, [run[key] * unit for run in runs])
        off = [[100 * (estimate(terms, costs, run) / (run[key] * unit) - 1) for run in several] for several in (runs, unseen)]
        found["bytes" if key == "peak_mb" else key] = {"costs": costs, "off_percent": off}
    return found


def carry(
    found: Mapping[str, Any], fitted: Run, documents: int, machines: int, predicted: Mapping[str, Any] | None
) -> dict[str, Any]:
    """One machine fits a source and a sample, the others label files with what it has learnt, one core of each at work."""
    seconds, n_bytes = (
        estimate(terms, found[name]["costs"], fitted) for name, terms in (("seconds", SECONDS), ("bytes", BYTES))
    )
    result: dict[str, Any] = {
        "documents": documents,
        "machines": machines,
        "fitted_documents": fitted["documents"],
        "fit_s": seconds,
        "fit_bytes": n_bytes,
    }
    if predicted is None:
        return result
    label_s = documents / (machines - 1) / predicted["per_second"]
    return result | {"label_s": label_s, "label_bytes": predicted["peak_mb"] * 1e6, "seconds": seconds + label_s}
