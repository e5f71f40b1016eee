"""The preset "best": against scikit-learn and the preset "paper", as documents and classes grow, and what predicting takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.child import run_child
from bench.corpus import NGRAM_RANGE, CorpusError, Texts
from bench.grown import Reviews, load_reviews
from bench.linear_commands import classify_by_sample, race_predicting
from bench.linear_tables import SECTIONS, judge, show
from bench.machine import describe_machine, describe_versions, say, source_state
from bench.rivals import MismatchError

__all__ = ["run", "show"]

FOLDERS = ("text", "ngrams", "kernels", "runtime", "grams", "learn", "model")
RIVAL_SETTING, PAIR_SETTING, GROWN_SETTING = "BDE-K", "E-K", "BD-EK"
SIZES = (10_000, 20_000, 50_000, 100_000, 200_000)
RANGES = (NGRAM_RANGE, (1, 8))
CLASSES = (2, 5, 20)
TIE = 1e-6  # of the largest score: below that rounding decides
CLOSE = 1e-6
SAMPLED = 100_000


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    reviews: Reviews
    smoke: bool
    repeat: int
    docs: int
    largest: int
    sampled: int

    def child(self, task: str, *arguments: object, own: bool = False) -> dict[str, Any]:
        """A task in a process of its own; of made-up texts only those that are to have one (``own``)."""
        texts = [*map(str, arguments), str(int(self.smoke))]
        return run_child(task, *texts, texts=[], here=self.smoke and not own)


def run(
    texts: Texts,
    *,
    smoke: bool,
    repeat: int,
    docs: int | None,
    only: Sequence[str] | None = None,
    largest: int | None = None,
    million: bool = False,
) -> dict[str, Any]:
    """All measurements, or some sections; ``texts`` are not used, ``docs`` is the number of real reviews."""
    largest = largest or (400 if smoke else SIZES[-1])
    sampled = 1_000_000 if million else min(largest, 2000 if smoke else 100_000)
    reviews, source = load_reviews(smoke=smoke), source_state(FOLDERS)
    plan = Plan(reviews, smoke, 1 if smoke else min(repeat, 3), docs or (120 if smoke else 8000), largest, sampled)
    result: dict[str, Any] = {
        "benchmark": "linear",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "source": source,
        "ngram_range": NGRAM_RANGE,
        "repeat": plan.repeat,
        "failed": {},
    }
    for name in SECTIONS if only is None else [name for name in SECTIONS if name in only]:
        try:
            result[name] = MEASURE[name](plan, result)
        except (MismatchError, CorpusError, CalledProcessError) as error:  # other sections may take hours and still be well
            say(f"{name}: {error}")
            result["failed"][name] = str(error)
    result["goals"] = judge(result)
    result["source_changed"] = source_state(FOLDERS) != source
    return result


def race_rival(plan: Plan, result: dict[str, Any]) -> list[dict[str, Any]]:
    """From texts to labels and probabilities, by scikit-learn and by the preset, each in a process of its own."""
    rows = []
    for n in [plan.docs] if plan.smoke else [plan.docs // 4, plan.docs // 2, plan.docs]:
        say(f"rival: scikit-learn, {n} reviews")
        theirs = plan.child("real_rival", RIVAL_SETTING, n)
        say(f"rival: gramshift, {n} reviews")
        ours = plan.child("real_fit", RIVAL_SETTING, n, plan.repeat, own=True)
        row = {"documents": n, "setting": RIVAL_SETTING} | compare(ours, theirs)
        for name, one in (("sklearn", theirs), ("gramshift", ours)):
            row |= {f"{name}_s": one["seconds"], f"{name}_mb": one["peak_mb"]}
            row |= {f"{name}_cpu_s": one["cpu_s"]}
        row |= {"ratio": theirs["seconds"] / ours["seconds"], "memory_share": ours["peak_mb"] / theirs["peak_mb"]}
        rows.append(row | {"all_seconds": ours["all_seconds"]})
    return rows


def compare(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """How far apart two answers are; labels may differ where two classes have the same score to rounding."""
    scores, others = (np.array(one["scores"]) for one in (ours, theirs))
    off = float(np.abs(scores - others).max())
    differ = np.array(ours["codes"]) != np.array(theirs["codes"])
    ordered = np.sort(others, axis=1)
    tied = ordered[:, -1] - ordered[:, -2] <= TIE * np.abs(others).max()
    if (differ & ~tied).any():
        raise MismatchError(
            f"gramshift and scikit-learn give {int((differ & ~tied).sum())} other labels; scores are off by {off:.1e}"
        )
    probabilities = np.abs(np.array(ours["probabilities"]) - np.array(theirs["probabilities"])).max()
    return {"ties": int(differ.sum()), "scores_off": off, "probabilities_off": float(probabilities)}


def race_paper(plan: Plan, result: dict[str, Any]) -> list[dict[str, Any]]:
    """Both presets on real reviews of two and of four domains, and on twice as many grown documents."""
    rows = []
    for setting, n, grown in (
        (PAIR_SETTING, plan.docs // 2, 0),
        (RIVAL_SETTING, plan.docs, 0),
        (GROWN_SETTING, 2 * plan.docs, 1),
    ):
        say(f"paper: {n} documents of {setting}{', grown' if grown else ''}")
        found = plan.child("presets", setting, n, grown, plan.repeat)
        ratio = found["seconds"]["best"] / found["seconds"]["paper"]
        rows.append({"documents": n, "setting": setting, "grown": bool(grown), "ratio": ratio} | found)
    return rows


def grow(plan: Plan, result: dict[str, Any]) -> list[dict[str, Any]]:
    """Fits of growing size for two ranges of n-grams."""
    sizes = [size for size in SIZES if size <= plan.largest]
    sizes = sizes if len(sizes) > 1 else [plan.largest // 2, plan.largest]
    rows: list[dict[str, Any]] = []
    for lengths in RANGES:
        try:
            for n in sizes:
                rows.append(measure(plan, n, lengths))
        except CalledProcessError as error:  # what is larger still would fail too; smaller ones took long
            if not rows:
                raise
            say(f"growth: {error}")
            result["failed"]["growth"] = f"{n} documents, n-grams of {lengths[0]} to {lengths[1]}: {error}"
    return rows


def measure(plan: Plan, n: int, lengths: tuple[int, int]) -> dict[str, Any]:
    """A fit of grown documents, each time in a process of its own: of several the fastest, with the largest peak."""
    runs = []
    for _ in range(plan.repeat):
        say(f"growth: {n} documents, n-grams of {lengths[0]} to {lengths[1]}")
        runs.append(plan.child("grown_fit", n, *lengths, GROWN_SETTING))
    found = min(runs, key=lambda one: float(one["seconds"]))
    found |= {"cpu_s": min(one["cpu_s"] for one in runs), "peak_mb": max(one["peak_mb"] for one in runs)}
    found["all_seconds"] = [one["seconds"] for one in runs]
    described = {"documents": n, "setting": GROWN_SETTING, "ngram_range": list(lengths)}
    return described | found | {"ms_per_document": 1000 * found["seconds"] / n}


def race_predict(plan: Plan, result: dict[str, Any]) -> dict[str, Any]:
    """Models of few and of many documents, on one core, and CountVectorizer with the coefficients of the first."""
    many = min(SAMPLED, plan.largest)
    few = min(4000, many // 2)
    n, pinned, rows = min(4000, plan.docs // 2), int(not plan.smoke), []
    with TemporaryDirectory(prefix="gramshift-bench-") as folder:
        for size in (few, many):
            path = Path(folder) / f"{size}.gramshift"
            say(f"predict: a model of {size} documents")
            kept = plan.child("keep_model", size, path)
            say(f"predict: {n} reviews")
            found = plan.child("predict", path, n, plan.repeat, pinned)
            rows.append({"training": size, "fit_s": kept["seconds"], "model_mb": kept["model_mb"]} | found)
    say(f"predict: scikit-learn, {n} reviews")
    theirs = plan.child("predict_rival", few, n, pinned)
    ours, _ = (np.array(row.pop("scores")) for row in rows)
    off = float(np.abs(ours - np.array(theirs.pop("scores"))).max())
    if off > CLOSE:
        raise MismatchError(f"gramshift and scikit-learn give scores that are {off:.1e} apart")
    return {
        "documents": n,
        "models": rows,
        "sklearn": theirs,
        "ratio": rows[0]["per_second"] / theirs["per_second"],
        "scores_off": off,
        "change_percent": 100 * (rows[0]["per_second"] / rows[1]["per_second"] - 1),
    }


def race_workers(plan: Plan, result: dict[str, Any]) -> dict[str, Any]:
    return race_predicting(plan.reviews, plan.largest, repeat=plan.repeat, smoke=plan.smoke)


def sample(plan: Plan, result: dict[str, Any]) -> dict[str, Any]:
    return classify_by_sample(plan.reviews, plan.sampled)


def race_classes(plan: Plan, result: dict[str, Any]) -> list[dict[str, Any]]:
    """The same number of documents in more and more classes; lengths differ a little, so that time is for a character."""
    rows: list[dict[str, Any]] = []
    for n_classes in CLASSES:
        say(f"classes: {n_classes}, {plan.docs} documents")
        found = plan.child("classes", plan.docs, n_classes, plan.repeat)
        found["ns_per_character"] = 1e9 * found["seconds"] / found["characters"]
        first = rows[0] if rows else found
        ratio = found["ns_per_character"] / first["ns_per_character"]
        rows.append({"classes": n_classes, "documents": plan.docs, "ratio": ratio} | found)
    return rows


MEASURE: dict[str, Callable[[Plan, dict[str, Any]], Any]] = {
    "rival": race_rival,
    "paper": race_paper,
    "growth": grow,
    "predict": race_predict,
    "workers": race_workers,
    "sample": sample,
    "classes": race_classes,
}
