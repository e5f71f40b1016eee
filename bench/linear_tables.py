"""Goals of the benchmark linear, whether they are reached, and its tables."""

from collections.abc import Callable
from typing import Any

from bench.table import Goal, at_least, at_most, cell, machine_lines, table

SECTIONS = ("rival", "paper", "growth", "predict", "workers", "sample", "classes")
FASTER, MEMORY_SHARE = 20, 1 / 3
PAPER_SMALL, PAPER_LARGE = 1.5, 1.0
FLAT_PERCENT = 20
FIXED_MB, KB_PER_DOCUMENT, LARGEST_MB, LARGEST_DOCS = 600, 16, 4000, 200_000
PER_SECOND, PREDICT_FASTER = 2000, 15
WORKERS_FASTER = 1.8
CLASSES_RATIO = 1.5  # what "little more than two" is taken for


def judge(result: dict[str, Any]) -> list[Goal]:
    """All goals of the sections that ran."""
    goals: list[Goal] = []
    for name, judged in JUDGES.items():
        found = result.get(name)
        if found is not None:
            goals += [{"section": name} | goal for goal in judged(found)]
    return goals


def of_rival(rows: list[Goal]) -> list[Goal]:
    last = rows[-1]
    what = f"{last['documents']:,} reviews"
    return [
        at_least(last["ratio"], FASTER, f"times as fast as scikit-learn, {what}"),
        at_most(last["memory_share"], MEMORY_SHARE, f"of its peak memory, {what}"),
    ]


def of_paper(rows: list[Goal]) -> list[Goal]:
    small, large = rows[0], rows[1]
    return [
        at_most(small["ratio"], PAPER_SMALL, f"times the time of the preset paper, {small['documents']:,} reviews"),
        at_most(large["ratio"], PAPER_LARGE, f"times the time of the preset paper, {large['documents']:,} reviews"),
    ]


def of_growth(found: list[Goal]) -> list[Goal]:
    goals = []
    for lengths in dict.fromkeys(tuple(row["ngram_range"]) for row in found):
        rows = [row for row in found if tuple(row["ngram_range"]) == lengths]
        first, last, what = rows[0], rows[-1], f"n-grams of {lengths[0]} to {lengths[1]}"
        change, of_cpu = (
            100 * (last[key] / last["documents"] / (first[key] / first["documents"]) - 1) for key in ("seconds", "cpu_s")
        )
        sizes = f"{first['documents']:,} to {last['documents']:,} documents"
        words = f"% change of time per document ({of_cpu:+.0f} by CPU), {sizes}, {what}"
        goals.append(at_most(abs(change), FLAT_PERCENT, words))
        worst = max(1000 * (row["peak_mb"] - FIXED_MB) / row["documents"] for row in rows)
        goals.append(at_most(worst, KB_PER_DOCUMENT, f"KB a document beyond {FIXED_MB} MB, {what}"))
        if last["documents"] >= LARGEST_DOCS:
            goals.append(at_most(last["peak_mb"], LARGEST_MB, f"MB at {last['documents']:,} documents, {what}"))
    return goals


def of_predict(found: Goal) -> list[Goal]:
    few, many = found["models"]
    sizes = f"models of {few['training']:,} and {many['training']:,} documents"
    return [
        at_least(min(few["per_second"], many["per_second"]), PER_SECOND, "reviews a second on one core"),
        at_most(abs(found["change_percent"]), FLAT_PERCENT, f"% apart, {sizes}"),
        at_least(found["ratio"], PREDICT_FASTER, "times as fast as CountVectorizer and coefficients"),
    ]


def of_workers(found: Goal) -> list[Goal]:
    return [at_least(found["ratio"], WORKERS_FASTER, f"times as fast by 2 Dask workers, {found['documents']:,} documents")]


def of_sample(found: Goal) -> list[Goal]:
    return [at_most(found["peak_mb"], found["limit_mb"], f"MB for classify --sample on {found['documents']:,} documents")]


def of_classes(rows: list[Goal]) -> list[Goal]:
    last = rows[-1]
    return [at_most(last["ratio"], CLASSES_RATIO, f"times the time of 2 classes for {last['classes']}")]


JUDGES: dict[str, Any] = {
    "rival": of_rival,
    "paper": of_paper,
    "growth": of_growth,
    "predict": of_predict,
    "workers": of_workers,
    "sample": of_sample,
    "classes": of_classes,
}


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
