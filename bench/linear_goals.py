"""What the preset "best" was to reach, and whether it did."""

from typing import Any

from bench.table import cell

Goal = dict[str, Any]
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


def at_least(value: float, goal: float, words: str) -> Goal:
    return {"value": value, "goal": f"at least {cell(goal)}", "reached": bool(value >= goal), "words": words}


def at_most(value: float, goal: float, words: str) -> Goal:
    return {"value": value, "goal": f"at most {cell(goal)}", "reached": bool(value <= goal), "words": words}


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
