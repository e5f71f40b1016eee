"""How far it goes: fits with landmarks as documents grow, on Dask workers, their accuracy beside exact fits, a cost model."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bench.child import run_child
from bench.corpus import NGRAM_RANGE, Texts
from bench.cost import carry, model
from bench.grown import load_reviews, resemble
from bench.landmarks import compare
from bench.machine import describe_machine, describe_versions, say, source_state
from bench.scale_tables import show
from gramshift.runtime.budget import BASE, Work, estimate_landmarks
from gramshift.runtime.memory import parse_bytes

__all__ = ["run", "show"]

FOLDERS = ("text", "ngrams", "kernels", "runtime", "grams", "learn", "model")
LARGEST = 80_000
LANDMARKS = 2000
LIMIT, SMALL_LIMIT = "3 GB", "1 GB"
SETTING = "BD-EK"
ADDED = 1000  # of the paper, where the target has twice as many
N_LENGTHS = 1 + NGRAM_RANGE[1] - NGRAM_RANGE[0]
CARRIED, MACHINES = 100_000_000, 100
FLAT_PERCENT, PEAK_MB, FASTER = 15, 3000, 1.7


def run(texts: Texts, *, smoke: bool, repeat: int, docs: int | None) -> dict[str, Any]:
    """All measurements; ``texts`` are not used, ``docs`` is the largest number of documents."""
    largest, n_landmarks = docs or (800 if smoke else LARGEST), 40 if smoke else LANDMARKS
    few = 1 if smoke else min(repeat, 3)
    reviews, source = load_reviews(smoke=smoke), source_state(FOLDERS)
    result: dict[str, Any] = {
        "benchmark": "scale",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "source": source,
        "landmarks": n_landmarks,
        "setting": SETTING,
        "memory_limit": LIMIT,
        "repeat": few,
        "resemblance": resemble(reviews, (50, 200) if smoke else (250, 1000, 4000)),
    }
    sizes = [largest // 2, largest] if smoke else [largest // 8, largest // 4, largest // 2, largest]
    result["growth"] = [measure(n, n_landmarks, repeat=few, smoke=smoke, here=smoke and n < largest) for n in sizes]
    result["goals"] = judge(result["growth"])
    fewer, more = [n_landmarks // 4, n_landmarks // 2], [2 * n_landmarks]
    result["others"] = [
        measure(n, k, smoke=smoke, here=smoke) for n in sizes[: 1 if smoke else 2] for k in (more if smoke else fewer + more)
    ]
    shorter = [] if smoke else [measure(sizes[0], n_landmarks, setting=setting, smoke=smoke) for setting in ("B-D", "E-K")]
    result["others"] += shorter
    result["on_disk"] = measure(sizes[-2], n_landmarks, limit=SMALL_LIMIT, smoke=smoke, here=smoke)
    result["unseen"] = [measure(3 * largest // 8, 3 * n_landmarks // 4, setting="BE-DK", smoke=smoke, here=smoke)]
    result["workers"] = race_workers(largest, n_landmarks, repeat=few, smoke=smoke)
    result["processes"] = race_processes(largest // 4, n_landmarks, repeat=few, smoke=smoke)
    result["model"] = model([*result["growth"], *result["others"], result["on_disk"]], result["unseen"])
    result["carried"] = carry(result["model"], carried(result["growth"][-1]), MACHINES)
    result["accuracy"] = compare(reviews, smoke=smoke)
    result["source_changed"] = source_state(FOLDERS) != source
    return result


def carried(last: dict[str, Any]) -> dict[str, Any]:
    """A run of as many documents as nobody has measured, each like those of the last one."""
    more = {name: CARRIED * last[name] / last["documents"] for name in ("characters", "training")}
    return {"documents": CARRIED, "landmarks": last["landmarks"], "on_disk": True} | more


def measure(
    n: int,
    n_landmarks: int,
    *,
    smoke: bool,
    setting: str = SETTING,
    limit: str = LIMIT,
    repeat: int = 1,
    here: bool = False,
) -> dict[str, Any]:
    """A fit in a process of its own, unless it is to run here; of several the fastest, with the largest peak."""
    runs = []
    for _ in range(repeat):
        say(f"{n} documents of {setting}, {n_landmarks} landmarks, memory limit {limit}")
        arguments = (str(n), str(n_landmarks), setting, limit, str(int(smoke)))
        runs.append(run_child("landmarks", *arguments, texts=[], here=here))
    best = min(runs, key=lambda one: one["seconds"])
    half = n // 2
    work = Work(n - half, half, min(ADDED, half), int(best["characters"]), N_LENGTHS, adapts=True)
    told = estimate_landmarks(work, n_landmarks, memory=parse_bytes(limit) + BASE)
    return best | {
        "documents": n,
        "landmarks": n_landmarks,
        "setting": setting,
        "memory_limit": limit,
        "on_disk": told.disk > 0,
        "told_seconds": told.seconds,
        "told_mb": told.n_bytes / 1e6,
        "peak_mb": max(one["peak_mb"] for one in runs),
        "all_seconds": [one["seconds"] for one in runs],
        "ms_per_document": 1000 * best["seconds"] / n,
    }


def race_workers(n: int, n_landmarks: int, *, repeat: int, smoke: bool) -> dict[str, Any]:
    """The same fit on one Dask worker and on two, in turns, each time on a cluster of its own."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeat):
        for k, several in times.items():
            say(f"{n} documents, {n_landmarks} landmarks, Dask workers: {k}")
            arguments = (str(n), str(n_landmarks), SETTING, str(k), str(int(smoke)))
            several.append(run_child("dask", *arguments, texts=[], here=smoke)["seconds"])
    seconds = {k: min(several) for k, several in times.items()}
    ratio = seconds[1] / seconds[2]
    return {"documents": n, "seconds": seconds, "all_seconds": times, "ratio": ratio, "reached": ratio >= FASTER}


def race_processes(n: int, n_landmarks: int, *, repeat: int, smoke: bool) -> dict[str, Any]:
    """The same fit in one process and in two at once that know nothing of each other: what two cores are good for here."""
    arguments = ("alone", str(n), str(n_landmarks), SETTING, str(int(smoke)))
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeat):
        for k, several in times.items():
            say(f"{n} documents, {n_landmarks} landmarks, processes of one thread: {k}")
            with ThreadPoolExecutor(k) as pool:
                runs = [pool.submit(run_child, *arguments, texts=[], here=smoke) for _ in range(k)]
                several.append(max(run.result()["seconds"] for run in runs))
    seconds = {k: min(several) for k, several in times.items()}
    return {"documents": n, "seconds": seconds, "all_seconds": times, "ratio": 2 * seconds[1] / seconds[2]}


def judge(growth: list[dict[str, Any]]) -> dict[str, Any]:
    """What was to be reached; and what a fit costs before its first document, beside which few documents weigh little."""
    each = [row["ms_per_document"] for row in growth]
    change, peak = 100 * (each[-1] / each[0] - 1), max(row["peak_mb"] for row in growth)
    n, seconds = (np.array([row[key] for row in growth], float) for key in ("documents", "seconds"))
    fixed, per_document = np.linalg.lstsq(np.column_stack([1 / seconds, n / seconds]), np.ones(len(n)))[0]
    beyond = (seconds - fixed) / n
    return {
        "change_percent": change,
        "flat": abs(change) <= FLAT_PERCENT,
        "fixed_s": float(fixed),
        "ms_per_document": 1000 * float(per_document),
        "change_beyond_fixed_percent": 100 * float(beyond[-1] / beyond[0] - 1),
        "peak_mb": peak,
        "bounded": peak <= PEAK_MB,
    }
