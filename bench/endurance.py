"""A process that goes on for long: memory, open files and threads over thousands of predictions and hundreds of fits."""

import gc
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

import gramshift as gs
from bench.machine import describe_machine, describe_versions, say
from bench.table import table
from gramshift.runtime.memory import give_back

PREDICTIONS, FITS = 10_000, 200
LOOKS = 10  # at memory, in even steps
WARM = 0.2  # of the calls come before the first look that counts: caches and pools of the libraries fill up
GOAL = 0.05  # memory at any later look over that at the first
SOURCE, TARGET = 150, 100  # documents of a fit
WAYS: dict[str, dict[str, Any]] = {
    "best": {"preset": "best"},
    "paper": {"preset": "paper", "ngram_range": (3, 5), "n_added": 30},
    "landmarks": {"preset": "paper", "ngram_range": (3, 5), "n_added": 30, "landmarks": 30},
}


def run(texts: list[str], *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Call after call in this process, each stage from where the one before has left it."""
    n_predictions, n_fits = (200, 9) if smoke else (PREDICTIONS, FITS)
    short = [text[:400] for text in texts]
    source, target = short[:SOURCE], short[SOURCE : SOURCE + TARGET]
    labels = ["a" if place % 2 else "b" for place in range(len(source))]
    result: dict[str, Any] = {"machine": describe_machine(), "versions": describe_versions(), "goal": GOAL, "stages": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {name: fit(way, source, labels, target) for name, way in WAYS.items()}
        with tempfile.TemporaryDirectory(prefix="gramshift-bench-") as folder:
            path = Path(folder) / "model.gramshift"
            stages: dict[str, tuple[int, Callable[[int], Any]]] = {
                "predictions": (n_predictions, lambda call: use(list(models.values())[call % len(models)], short, call)),
                "fits": (n_fits, lambda call: fit(list(WAYS.values())[call % len(WAYS)], source, labels, target)),
                "saved and loaded": (n_fits, lambda call: keep(list(models.values())[call % len(models)], path)),
            }
            for name, (n_calls, function) in stages.items():
                say(f"endurance: {n_calls} {name}")
                result["stages"][name] = watch(function, n_calls)
    result["failed"] = not all(one["reached"] for one in result["stages"].values()) and not smoke
    return result


def fit(way: dict[str, Any], source: list[str], labels: list[str], target: list[str]) -> gs.TransductiveClassifier:
    """A fit on threads, as users have it."""
    return gs.TransductiveClassifier(**way).fit(source, labels, target=target)


def use(model: gs.TransductiveClassifier, texts: list[str], call: int) -> None:
    """Label a few texts, other ones at each call; now and then with probabilities, and with reasons."""
    chosen = [texts[(7 * call + step) % len(texts)] for step in range(3)]
    if call % 10 == 8:
        model.predict_proba(chosen)
    elif call % 100 == 99:
        model.explain(chosen[0])
    else:
        model.predict(chosen)


def keep(model: gs.TransductiveClassifier, path: Path) -> None:
    """Write the model and read it back."""
    model.save(path)
    gs.load(path)


def watch(function: Callable[[int], Any], n_calls: int) -> dict[str, Any]:
    """Call it so often; what the process holds at each look, and whether it is what it was after the first calls."""
    begun = time.perf_counter()
    looks = list(look_around(function, n_calls))
    first = next(one for one in looks if one["calls"] >= WARM * n_calls)
    later = looks[looks.index(first) :]
    growth = max(one["rss"] for one in later) / first["rss"] - 1
    more = {name: later[-1][name] - first[name] for name in ("handles", "threads")}
    reached = growth <= GOAL and max(more.values()) <= 0
    return {
        "calls": n_calls,
        "seconds": time.perf_counter() - begun,
        "looks": looks,
        "growth": growth,
        **more,
        "reached": reached,
    }


def look_around(function: Callable[[int], Any], n_calls: int) -> Iterator[dict[str, Any]]:
    """Memory, open files and threads, in even steps; what has been freed goes back to the system first."""
    process = psutil.Process(os.getpid())
    for call in range(n_calls):
        function(call)
        if (call + 1) % max(1, n_calls // LOOKS) == 0:
            gc.collect()
            give_back()
            held = {"rss": process.memory_info().rss, "handles": process.num_fds(), "threads": process.num_threads()}
            yield {"calls": call + 1, **held}


def show(result: dict[str, Any]) -> str:
    """A table for each stage, and whether its goal is reached."""
    parts = []
    for name, stage in result["stages"].items():
        rows = [[f"{one['calls']:,}", one["rss"] / 1e6, one["handles"], one["threads"]] for one in stage["looks"]]
        parts.append(table(name, ["memory, MB", "open files", "threads"], rows))
        verdict = "reached" if stage["reached"] else "MISSED"
        left = f"{stage['handles']:+d} open files, {stage['threads']:+d} threads"
        parts.append(
            f"after a fifth of the calls memory grows by {stage['growth']:+.1%} at most (goal: {result['goal']:.0%}), {left}: "
            f"{verdict}; {stage['seconds']:.0f} s\n"
        )
    return "\n".join(parts)
