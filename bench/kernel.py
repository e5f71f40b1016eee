"""Kernel matrices by gramshift and by scikit-learn, in turns, equal in every cell."""

import os
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import gramshift as gs
from bench.child import run_child
from bench.corpus import NGRAM_RANGE, Texts, count_ngrams, normalise, spread
from bench.machine import least_and_median, machine_lines, say, table, timed
from bench.rivals import GRAMS, require_equal
from gramshift.datasets.demo import load_demo

SIZES = (1000, 2000, 4000, 8000)
RIVAL_SIZE = 2000  # above this scikit-learn takes part once only


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Measure everything.

    Code is compiled once, by the child that times it, and kept on disk for all later runs; with
    ``smoke`` the existing cache is used.
    """
    normalised, few = normalise(texts), 1 if smoke else 3
    result: dict[str, Any] = {
        "documents": len(texts),
        "ngram_range": NGRAM_RANGE,
        "ngram_occurrences": count_ngrams(normalised),
        "repeat": repeat,
    }
    with TemporaryDirectory(prefix="gramshift-bench-") as folder:
        if not smoke:
            os.environ["NUMBA_CACHE_DIR"] = folder  # numba is not imported yet
        cold = start_cold(texts)
        result["kinds"] = {kind: race(kind, texts, normalised, repeat) for kind in GRAMS}
        result["growth"] = grow(texts, few)
        result["cold"] = cold
        result["memory"] = weigh(texts, normalised, ["presence"] if smoke else list(GRAMS))
    return result


def start_cold(texts: Texts) -> dict[str, float]:
    """Measure a fresh process, with nothing compiled and then with compiled code on disk."""
    say("cold start, nothing compiled")
    fresh = run_child("cold", texts=load_demo("kitchen").texts)
    say("cold start, compiled code on disk")
    return run_child("cold", texts=texts) | {"compile_s": fresh["import_s"] + fresh["first_call_s"]}


def race(kind: str, texts: Texts, normalised: Texts, repeat: int) -> dict[str, Any]:
    """Time both for one kind of kernel; every result of ours is compared."""
    say(f"{kind}: scikit-learn, {len(texts)} documents")
    rival_times: list[float] = []
    our_times: list[float] = []
    theirs: Any = None
    for _ in range(1 if len(texts) > RIVAL_SIZE else min(repeat, 3)):
        theirs = None  # free it before the next one is made
        took, theirs = timed(partial(GRAMS[kind], normalised))
        rival_times.append(took)
    say(f"{kind}: gramshift, once to warm up and {repeat} x in earnest")
    kernel = gs.StringKernel(kind, ngram_range=NGRAM_RANGE)
    for _ in range(1 + repeat):
        took, ours = timed(partial(kernel.gram, texts))
        require_equal(ours, theirs, kind)
        del ours
        our_times.append(took)
    ours_s, rival_s = least_and_median(our_times[1:]), min(rival_times)
    return {
        "sklearn_s": rival_s,
        "sklearn_runs": len(rival_times),
        "gramshift_min_s": ours_s["min_s"],
        "gramshift_median_s": ours_s["median_s"],
        "ratio": rival_s / ours_s["min_s"],
        "ratio_median": rival_s / ours_s["median_s"],
        "equal": True,
    }


def grow(texts: Texts, repeat: int) -> list[dict[str, Any]]:
    """Time presence on samples of growing size; scikit-learn on the two smallest."""
    n = len(texts)
    sizes = [size for size in SIZES if size <= n] if n >= SIZES[1] else [n // 4, n // 2, n]
    kernel, rows = gs.StringKernel("presence", ngram_range=NGRAM_RANGE), []
    for place, size in enumerate(sizes):
        say(f"growth: {size} documents")
        sample, theirs, rival_s = spread(texts, size), None, None
        if place < 2:
            rival_s, theirs = timed(partial(GRAMS["presence"], normalise(sample)))
        times = []
        for _ in range(repeat):
            took, ours = timed(partial(kernel.gram, sample))
            if theirs is not None:
                require_equal(ours, theirs, f"presence of {size} documents")
            del ours
            times.append(took)
        rows.append(
            {
                "documents": size,
                "gramshift_s": min(times),
                "gramshift_docs2_per_s": size * size / min(times),
                "sklearn_s": rival_s,
                "sklearn_docs2_per_s": None if rival_s is None else size * size / rival_s,
            }
        )
    return rows


def weigh(texts: Texts, normalised: Texts, kinds: list[str]) -> list[dict[str, Any]]:
    """Measure the peak memory of a process that computes one gram."""
    entries = [("gramshift", kind, texts) for kind in kinds] + [
        ("scikit-learn", "presence", normalised)
    ]
    rows = []
    for contestant, kind, given in entries:
        say(f"memory: {contestant}, {kind}")
        rows.append(
            {"contestant": contestant, "kind": kind}
            | run_child("memory", contestant=contestant, kind=kind, texts=given)
        )
    return rows


def show(result: dict[str, Any]) -> str:
    """Show all tables, one below the other."""
    parts = (
        show_head(result),
        show_races(result),
        show_growth(result),
        show_cold(result),
        show_memory(result),
    )
    return "\n\n".join(parts)


def show_head(result: dict[str, Any]) -> str:
    """Show machine, versions and texts."""
    lo, hi = result["ngram_range"]
    ngrams = f"{result['ngram_occurrences'] / 1e6:.3g} million n-grams of {lo} to {hi} characters"
    return f"{machine_lines(result)}\ntexts     {result['documents']} documents, {ngrams}"


def show_races(result: dict[str, Any]) -> str:
    """Show seconds against scikit-learn."""
    columns = (
        "scikit-learn",
        "ours, min",
        "ours, median",
        "ratio to min",
        "ratio to median",
        "equal",
    )
    keys = ("sklearn_s", "gramshift_min_s", "gramshift_median_s", "ratio", "ratio_median", "equal")
    return table(
        "gram (s)", columns, [[kind, *map(row.get, keys)] for kind, row in result["kinds"].items()]
    )


def show_growth(result: dict[str, Any]) -> str:
    """Show seconds by number of documents."""
    columns = ("ours (s)", "docs^2/s", "scikit-learn (s)", "docs^2/s")
    keys = ("documents", "gramshift_s", "gramshift_docs2_per_s", "sklearn_s", "sklearn_docs2_per_s")
    return table("documents", columns, [[row[key] for key in keys] for row in result["growth"]])


def show_cold(result: dict[str, Any]) -> str:
    """Show seconds of a fresh process."""
    columns = ("import", "first call", "later call", "extra", "nothing compiled")
    keys = ("import_s", "first_call_s", "later_call_s", "extra_s", "compile_s")
    return table("cold (s)", columns, [["presence", *(result["cold"][key] for key in keys)]])


def show_memory(result: dict[str, Any]) -> str:
    """Show megabytes of a process."""
    rows = [
        [f"{row['contestant']}, {row['kind']}", row["peak_mb"], row["gram_mb"]]
        for row in result["memory"]
    ]
    return table("peak memory", ("MB", "of which gram"), rows)
