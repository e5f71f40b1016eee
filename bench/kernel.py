"""Kernel matrices by gramshift and by scikit-learn, on the same texts, equal in every cell."""

import os
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import gramshift as gs
from bench.child import run_child
from bench.corpus import NGRAM_RANGE, Texts, count_ngrams, normalise, spread
from bench.machine import Row, say, timed
from bench.rivals import KINDS, Gram, kernel_matrix, require_equal
from gramshift.datasets.demo import load_demo

SIZES = (1000, 2000, 4000, 8000)
N_RIVAL_SIZES = 2  # the smallest, which scikit-learn computes too


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Measure everything.

    Code is compiled once, by the child that times it, and kept on disk for all later runs; with
    ``smoke`` the existing cache is used.
    """
    normalised = normalise(texts)
    with TemporaryDirectory(prefix="gramshift-bench-") as folder:
        if not smoke:
            os.environ["NUMBA_CACHE_DIR"] = folder  # numba is not imported yet
        cold = start_cold(texts)
        tables = {
            "kinds": [race(kind, texts, normalised, repeat) for kind in KINDS],
            "growth": grow(texts, 1 if smoke else 3),
            "cold": [cold],
            "memory": weigh(texts, normalised, KINDS[:1] if smoke else KINDS),
        }
    lo, hi = NGRAM_RANGE
    millions = f"{count_ngrams(normalised) / 1e6:.3g} million n-grams of {lo} to {hi} characters"
    return {"texts": f"{len(texts)} documents, {millions}", "repeat": repeat, "tables": tables}


def start_cold(texts: Texts) -> Row:
    """Measure a fresh process, with nothing compiled and then with compiled code on disk."""
    say("cold start, nothing compiled")
    fresh = run_child("cold", texts=load_demo("kitchen").texts)
    say("cold start, compiled code on disk")
    found = run_child("cold", texts=texts)
    compiling = fresh["import"] + fresh["first call"]
    return {"cold (s)": "presence"} | found | {"nothing compiled": compiling}


def race(kind: str, texts: Texts, normalised: Texts, repeat: int) -> Row:
    """Time both for one kind of kernel."""
    say(f"{kind}: scikit-learn, {len(texts)} documents")
    rival_s, theirs = timed(partial(kernel_matrix, kind, normalised))
    say(f"{kind}: gramshift, once to warm up and {repeat} x in earnest")
    times = time_ours(kind, texts, theirs, 1 + repeat)[1:]
    return {
        "gram (s)": kind,
        "scikit-learn": rival_s,
        "ours, min": min(times),
        "ours, median": median(times),
        "ratio to min": rival_s / min(times),
        "ratio to median": rival_s / median(times),
        "equal": True,
    }


def time_ours(kind: str, texts: Texts, theirs: Gram | None, repeat: int) -> list[float]:
    """Time some runs of ours; each result is compared with the rival's, if there is one."""
    kernel, times = gs.StringKernel(kind, ngram_range=NGRAM_RANGE), []
    for _ in range(repeat):
        took, ours = timed(partial(kernel.gram, texts))
        if theirs is not None:
            require_equal(ours, theirs, f"{kind}, {len(texts)} documents")
        del ours  # before the next one is made
        times.append(took)
    return times


def grow(texts: Texts, repeat: int) -> list[Row]:
    """Time presence on samples of growing size; scikit-learn on the two smallest."""
    n, rows = len(texts), list[Row]()
    for size in [size for size in SIZES if size <= n] if n >= SIZES[1] else [n // 4, n // 2, n]:
        say(f"growth: {size} documents")
        sample, theirs, rival_s = spread(texts, size), None, None
        if len(rows) < N_RIVAL_SIZES:
            rival_s, theirs = timed(partial(kernel_matrix, "presence", normalise(sample)))
        ours_s = min(time_ours("presence", sample, theirs, repeat))
        rows.append({"documents": size, "ours (s)": ours_s, "scikit-learn (s)": rival_s})
    return rows


def weigh(texts: Texts, normalised: Texts, kinds: tuple[str, ...]) -> list[Row]:
    """Measure the peak memory of a process that computes one gram."""
    rows = []
    for contestant, kind, given in [
        *(("gramshift", kind, texts) for kind in kinds),
        ("scikit-learn", "presence", normalised),
    ]:
        say(f"memory: {contestant}, {kind}")
        found = run_child("memory", contestant=contestant, kind=kind, texts=given)
        rows.append({"peak memory": f"{contestant}, {kind}"} | found)
    return rows
