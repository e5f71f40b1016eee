"""What the classifier benchmark found, in tables."""

from typing import Any

from bench.kernel_tables import machine_lines
from bench.table import table

Result = dict[str, Any]


def show(result: Result) -> str:
    """All tables, one below the other."""
    n, n_source = result["documents"], result["source_documents"]
    head = f"{machine_lines(result)}\ntexts     {n_source} source and {n - n_source} target documents"
    return "\n\n".join((head, race(result), memory(result), growth(result)))


def race(result: Result) -> str:
    """Seconds against NumPy."""
    algebra, whole = result["algebra"], result["whole"]
    columns = ("rival", "ours, min", "ours, median", "ratio of least", "same labels", "scores off by")
    keys = ("numpy_s", "gramshift_s", "gramshift_median_s", "ratio", "same_labels", "largest_difference")
    rows = [
        ["from a given gram", *(algebra[key] for key in keys)],
        ["from texts", whole["rival_s"], whole["gramshift_s"], whole["gramshift_median_s"], whole["ratio"], None, None],
    ]
    return table("two rounds (s)", columns, rows)


def memory(result: Result) -> str:
    """Megabytes of a process."""
    rows = [[row["contestant"], row["peak_mb"], row["beyond_mb"]] for row in result["memory"]]
    return table("peak memory", ("MB", "beyond the gram"), rows)


def growth(result: Result) -> str:
    """Seconds by number of documents, and where they go."""
    stages = list(result["growth"][0]["shares_percent"])
    rows = [
        [row["documents"], row["with_probabilities_s"], row["fit_s"], *row["shares_percent"].values()]
        for row in result["growth"]
    ]
    return table("documents", ("fit (s)", "labels alone (s)", *(f"{stage} (%)" for stage in stages)), rows)
