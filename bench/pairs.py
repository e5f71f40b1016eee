"""Kernels that look at every pair of documents: pairs a second by length of the documents.

One core is measured in its own time, which others on the machine do not take; all cores by the clock on the wall.
"""

import time
from typing import Any

import gramshift as gs
from bench.corpus import NGRAM_RANGE, Texts, normalise
from bench.kernel_tables import machine_lines
from bench.machine import describe_machine, describe_versions, say, source_state
from bench.table import table

__all__ = ["run", "show"]

FOLDERS = ("text", "ngrams", "kernels", "runtime", "grams", "model")
LENGTHS = (100, 300, 1000, 3000)
SECONDS = 2  # about what one measurement may take
NANOSECONDS = {"subsequence": lambda length: 2 * length**2, "local_rank": lambda length: 40 * length}  # of a pair, to plan


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """The best of some runs for every kernel and length."""
    stream = " ".join(normalise(texts))
    result: dict[str, Any] = {
        "benchmark": "pairs",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "source": source_state(FOLDERS),
        "ngram_range": NGRAM_RANGE,
        "kernels": [measure(kind, stream, length, smoke, repeat) for kind in NANOSECONDS for length in LENGTHS],
    }
    return result


def measure(kind: str, stream: str, length: int, smoke: bool, repeat: int) -> dict[str, Any]:
    """Documents are cut from the texts as one stream, as many as take some seconds."""
    pairs = (0.02 if smoke else 1) * SECONDS * 1e9 / NANOSECONDS[kind](length)
    n = max(2, min(int((2 * pairs) ** 0.5), len(stream) // length, 4000))
    documents = [stream[k * length : (k + 1) * length] for k in range(n)]
    say(f"{kind}: {n} documents of {length} characters")
    rates = {}
    for name, n_jobs, clock in (("one_core", 1, time.process_time), ("all_cores", -1, time.perf_counter)):
        kernel = gs.StringKernel(kind, ngram_range=NGRAM_RANGE, normalize=True, n_jobs=n_jobs)
        kernel.gram(documents[:2])
        times = []
        for _ in range(min(repeat, 3)):
            begun = clock()
            kernel.gram(documents)
            times.append(clock() - begun)
        rates[f"pairs_per_s_{name}"] = n * (n + 1) / 2 / min(times)
    return {"kind": kind, "characters": length, "documents": n} | rates


def show(result: dict[str, Any]) -> str:
    """One line per kernel and length."""
    columns = ("characters", "documents", "pairs/s, one core", "pairs/s, all cores")
    rows = [list(row.values()) for row in result["kernels"]]
    return f"{machine_lines(result)}\n\n{table('kernel', columns, rows)}"
