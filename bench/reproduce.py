"""All results of the paper's tables, against a straightforward script on some settings."""

from functools import partial
from typing import Any

import numpy as np

import gramshift as gs
from bench.child import PAPER_KERNELS, run_child
from bench.corpus import NGRAM_RANGE, Texts, normalise
from bench.machine import say, timed
from bench.rivals import Floats, MismatchError, algorithm_1, kernel_matrix
from gramshift.evaluate.paper_stages import run_stages
from gramshift.evaluate.protocol import GROUPS, parse_settings
from gramshift.evaluate.results import StackedReviews
from gramshift.methods import STAGES

PART = {"E-K": 12, "DEK-B": 4}  # one setting of each sort, and how many there are of that sort
MAX_SCORE_DIFFERENCE = 1e-6


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Run all of ours, the rival on one setting of each kind, and extrapolate."""
    codes = (np.arange(len(texts)) * 8 // len(texts) + 1) % 2
    gram = gs.StringKernel(ngram_range=NGRAM_RANGE).gram(texts)
    times = {}
    for name in PART:
        say(f"straightforward script: {name}, presence")
        times[name], theirs = timed(partial(straightforward, normalise(texts), codes, name))
        require_same_scores(gram, codes, name, theirs)
    say("gramshift: all settings, two kernels, three methods")
    if smoke:
        runs = [run_child("settings", texts=texts)]
    else:
        runs = [run_child("reproduce") for _ in range(min(repeat, 3))]
    seconds = [one["seconds"] for one in runs]
    whole = len(PAPER_KERNELS) * sum(times[name] * n for name, n in PART.items())
    title = f"{len(STAGES) * len(PAPER_KERNELS) * len(GROUPS['all'])} results"
    parts = " and ".join(f"{name} {took:.1f} s" for name, took in times.items())
    rows = [
        {title: f"script, {parts}, presence", "seconds": None, "peak MB": None},
        {title: "script, all (extrapolated)", "seconds": whole},
        {
            title: "gramshift, all",
            "seconds": min(seconds),
            "peak MB": max(one["peak_mb"] for one in runs),
        },
    ]
    note = (
        f"times as fast (extrapolated): {whole / min(seconds):.1f}; "
        f"runs of ours: {', '.join(f'{took:.1f}' for took in seconds)} s"
    )
    return {"tables": {"results": rows}, "notes": [note]}


def straightforward(texts: Texts, codes: Any, name: str) -> dict[str, Floats]:
    """Compute plain, adapted and tkc for one setting with scikit-learn and NumPy."""
    source, target = (rows(len(texts), letters) for letters in name.split("-"))
    order = np.concatenate([source, target])
    gram = kernel_matrix("presence", [texts[i] for i in order])
    return {stage: algorithm_1(gram, codes[order], len(source), stage=stage) for stage in STAGES}


def rows(n: int, letters: str) -> Any:
    """Return the rows of these domains."""
    size = n // 4
    return np.concatenate([np.arange(size) + size * "BDEK".index(letter) for letter in letters])


def require_same_scores(gram: Any, codes: Any, name: str, theirs: dict[str, Floats]) -> None:
    """Raise an error if our scores of that setting are not the rival's."""
    documents = StackedReviews("BDEK", codes)
    (outcomes,) = run_stages(gram, documents, parse_settings(name), list(theirs))
    for one in outcomes:
        rival = theirs[one.method]
        off = np.abs(one.scores - rival).max() / np.abs(rival).max()
        if off > MAX_SCORE_DIFFERENCE:
            raise MismatchError(f"{name}, {one.method}: scores differ by {off:.1e} of the largest")
