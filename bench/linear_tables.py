"""What the benchmark of the preset "best" found, in tables."""

from collections.abc import Callable
from typing import Any

from bench.kernel_tables import machine_lines
from bench.table import cell, table

Result = dict[str, Any]


def show(result: Result) -> str:
    """All tables of the sections that ran, one below the other."""
    parts = [machine_lines(result)]
    for name, make in TABLES.items():
        found = result.get(name)
        if found is not None:
            parts.append(make(found))
    failed = [f"failed   {name}: {words}" for name, words in result["failed"].items()]
    return "\n\n".join([*parts, "\n".join([*map(tell, result["goals"]), *failed])]).rstrip()


def tell(goal: Result) -> str:
    """One goal and whether it was reached."""
    return f"{'reached' if goal['reached'] else 'missed '}  {cell(goal['value'])} {goal['words']} ({goal['goal']})"


def rival(rows: list[Result]) -> str:
    """Seconds and megabytes; then how far the answers are apart."""
    title, answers = f"reviews, {rows[0]['setting']}", "scores off, probabilities off, ties"
    columns = ("scikit-learn (s)", "of its CPU", "ours (s)", "of our CPUs", "ratio", "scikit-learn (MB)", "ours (MB)", "share")
    seconds = ("sklearn_s", "sklearn_cpu_s", "gramshift_s", "gramshift_cpu_s", "ratio")
    keys = (*seconds, "sklearn_mb", "gramshift_mb", "memory_share")
    costs = table(title, columns, [[row["documents"], *map(row.get, keys)] for row in rows])
    apart = ("scores_off", "probabilities_off", "ties")
    return costs + "\n\n" + table(title, answers.split(", "), [[row["documents"], *map(row.get, apart)] for row in rows])


def paper(rows: list[Result]) -> str:
    lines = [
        [
            f"{row['documents']:,} of {row['setting']}{', grown' if row['grown'] else ''}",
            *(row[kind][preset] for kind in ("seconds", "cpu_s") for preset in ("paper", "best")),
            row["ratio"],
        ]
        for row in rows
    ]
    return table("documents", ("paper (s)", "best (s)", "CPUs of paper", "CPUs of best", "ratio"), lines)


def growth(rows: list[Result]) -> str:
    lines = []
    for row in rows:
        name = f"{row['documents']:,} of {row['setting']}, {row['ngram_range'][0]} to {row['ngram_range'][1]}"
        per_document = 1000 * row["peak_mb"] / row["documents"]
        lines.append([name, row["seconds"], row["cpu_s"], row["ms_per_document"], row["peak_mb"], per_document])
    return table("documents, n-grams", ("seconds", "of CPUs", "ms/document", "peak MB", "KB/document"), lines)


def predict(found: Result) -> str:
    lines = [
        [f"ours, {row['training']:,}", row["per_second"], row["peak_mb"], row["model_mb"], row["load_s"]]
        for row in found["models"]
    ]
    lines.append([f"scikit-learn, {found['models'][0]['training']:,}", found["sklearn"]["per_second"], None, None, None])
    words = f"ratio {found['ratio']:.1f}, scores off by {found['scores_off']:.1e}"
    columns = ("reviews/s", "peak MB", "model MB", "loading (s)")
    return f"{table('one core, documents of the fit', columns, lines)}\n{words}"


def workers(found: Result) -> str:
    lines = [[k, found["seconds"][k], found["per_second"][k]] for k in found["seconds"]]
    return table(f"Dask workers, {found['documents']:,} documents", ("seconds", "documents/s"), lines)


def sample(found: Result) -> str:
    title = f"classify --sample {found['sample']:,} --memory {found['limit_mb']:,} MB"
    return table(title, ("seconds", "peak MB"), [[f"{found['documents']:,} documents", found["seconds"], found["peak_mb"]]])


def classes(rows: list[Result]) -> str:
    columns = ("seconds", "of CPUs", "ns/character", "beside 2", "peak MB", "accuracy (%)")
    keys = ("classes", "seconds", "cpu_s", "ns_per_character", "ratio", "peak_mb", "accuracy_percent")
    return table(f"classes, {rows[0]['documents']:,} documents", columns, [[row[key] for key in keys] for row in rows])


TABLES: dict[str, Callable[[Any], str]] = {
    "rival": rival,
    "paper": paper,
    "growth": growth,
    "predict": predict,
    "workers": workers,
    "sample": sample,
    "classes": classes,
}
