"""What the kernel benchmark found, in tables."""

from typing import Any

from bench.table import table

Result = dict[str, Any]


def show(result: Result) -> str:
    """All tables, one below the other."""
    parts = (head(result), races(result), growth(result), cold(result), memory(result))
    return "\n\n".join(parts)


def machine_lines(result: Result) -> str:
    """Machine and versions."""
    machine = result["machine"]
    used = f"{machine['cores_used']} cores used, {machine['memory_gb']:.1f} GB, load before {machine['load_before']:.1f}"
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items()) + f" (source {result['source']})"
    return f"machine   {machine['cpu']}, {used}\nversions  {versions}"


def head(result: Result) -> str:
    """Machine, versions, texts."""
    lo, hi = result["ngram_range"]
    ngrams = f"{result['ngram_occurrences'] / 1e6:.3g} million n-grams of {lo} to {hi} characters"
    return f"{machine_lines(result)}\ntexts     {result['documents']} documents, {ngrams}"


def races(result: Result) -> str:
    """Seconds against scikit-learn."""
    columns = ("scikit-learn", "ours, min", "ours, median", "ratio to min", "ratio to median", "equal")
    keys = ("sklearn_s", "gramshift_min_s", "gramshift_median_s", "ratio", "ratio_median", "equal")
    return table("gram (s)", columns, [[kind, *map(row.get, keys)] for kind, row in result["kinds"].items()])


def growth(result: Result) -> str:
    """Seconds by number of documents."""
    columns = ("ours (s)", "docs^2/s", "scikit-learn (s)", "docs^2/s")
    keys = ("documents", "gramshift_s", "gramshift_docs2_per_s", "sklearn_s", "sklearn_docs2_per_s")
    return table("documents", columns, [[row[key] for key in keys] for row in result["growth"]])


def cold(result: Result) -> str:
    """Seconds of a fresh process."""
    columns = ("import", "first call", "later call", "extra", "touching memory", "all compiled anew")
    keys = ("import_s", "first_call_s", "later_call_s", "extra_s", "touch_s", "compile_s")
    return table("cold (s)", columns, [["presence", *(result["cold"][key] for key in keys)]])


def memory(result: Result) -> str:
    """Megabytes of a process."""
    rows = [[f"{row['contestant']}, {row['kind']}", row["peak_mb"], row["gram_mb"]] for row in result["memory"]]
    return table("peak memory", ("MB", "of which gram"), rows)
