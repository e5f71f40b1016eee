"""All results of the paper's tables, against a straightforward script on some settings."""

from functools import partial
from typing import Any

import numpy as np

from bench.child import run_child
from bench.corpus import NGRAM_RANGE, Texts, normalise
from bench.machine import machine_lines, say, table, timed
from bench.rivals import ALPHA, GRAMS, N_ADDED, Floats, MismatchError, fit_predict

PART = ("E-K", "DEK-B")  # one setting of each sort
COUNTS = {"E-K": 12, "DEK-B": 4}  # how many there are of that sort
KERNELS = ("presence", "intersection")
MAX_SCORE_DIFFERENCE = 1e-6


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Run all of ours, the rival on one setting of each kind, and extrapolate."""
    from gramshift.evaluate.protocol import GROUPS

    codes = (np.arange(len(texts)) * 8 // len(texts) + 1) % 2
    rival, settings = {}, []
    for name in PART:
        say(f"straightforward script: {name}, presence")
        rival[name], theirs = timed(partial(straightforward, normalise(texts), codes, name))
        settings.append(compare(texts, codes, name, theirs))
    say("gramshift: all settings, two kernels, three methods")
    runs = (
        [run_child("settings", texts=texts)]
        if smoke
        else [run_child("reproduce") for _ in range(min(repeat, 3))]
    )
    ours = min(runs, key=lambda one: one["seconds"])
    whole = len(KERNELS) * sum(rival[name] * COUNTS[name] for name in PART)
    return {
        "documents": len(texts),
        "results": 3 * len(KERNELS) * len(GROUPS["all"]),
        "rival_parts_s": rival,
        "rival_extrapolated_s": whole,
        "gramshift_s": ours["seconds"],
        "gramshift_runs_s": [one["seconds"] for one in runs],
        "ratio_extrapolated": whole / ours["seconds"],
        "peak_mb": max(one["peak_mb"] for one in runs),
        "compared": settings,
    }


def straightforward(texts: Texts, codes: Any, name: str) -> dict[str, Floats]:
    """Compute plain, adapted and tkc for one setting with scikit-learn and NumPy."""
    source, target = (rows(len(texts), letters) for letters in name.split("-"))
    order = np.concatenate([source, target])
    gram = GRAMS["presence"]([texts[i] for i in order])
    known, n_source = codes[source], len(source)
    scores = {}
    for method in ("plain", "adapted", "tkc"):
        diagonal = np.sqrt(np.maximum(np.diagonal(gram), 1))
        kernel = gram / np.outer(diagonal, diagonal)
        if method != "plain":
            kernel = np.exp(-1 + kernel)
            kernel = kernel @ kernel.T
        train, labels = np.arange(n_source), known
        found = fit_predict(kernel, train, labels, n_source)
        if method == "tkc":
            surest = np.argsort(-np.abs(found), kind="stable")[: min(N_ADDED, len(found) // 2)]
            train = np.concatenate([train, n_source + surest])
            labels = np.concatenate([labels, (found[surest] > 0).astype(int)])
            found = fit_predict(kernel, train, labels, n_source)
        scores[method] = found
    return scores


def rows(n: int, letters: str) -> Any:
    """Return the rows of these domains."""
    size = n // 4
    return np.concatenate([np.arange(size) + size * "BDEK".index(letter) for letter in letters])


def compare(texts: Texts, codes: Any, name: str, theirs: dict[str, Floats]) -> dict[str, Any]:
    """Raise an error if our scores of that setting are not the rival's."""
    import gramshift as gs
    from gramshift.evaluate.paper_stages import run_stages
    from gramshift.evaluate.protocol import parse_settings
    from gramshift.evaluate.results import StackedReviews

    gram = gs.StringKernel(ngram_range=NGRAM_RANGE).gram(texts)
    (outcomes,) = run_stages(
        gram, StackedReviews("BDEK", codes), parse_settings(name), list(theirs)
    )
    off = {}
    for one in outcomes:
        off[one.method] = float(
            np.abs(one.scores - theirs[one.method]).max() / np.abs(theirs[one.method]).max()
        )
        if off[one.method] > MAX_SCORE_DIFFERENCE:
            raise MismatchError(
                f"{name}, {one.method}: scores differ by {off[one.method]:.1e} of the largest"
            )
    return {"setting": name, "scores_off_by": off, "alpha": ALPHA}


def show(result: dict[str, Any]) -> str:
    """Show tables for people."""
    parts = result["rival_parts_s"]
    body = [
        [
            "script, "
            + " and ".join(f"{name} {seconds:.1f} s" for name, seconds in parts.items())
            + ", presence",
            None,
            None,
        ],
        ["script, all (extrapolated)", result["rival_extrapolated_s"], None],
        ["gramshift, all", result["gramshift_s"], result["peak_mb"]],
    ]
    ratio = f"times as fast (extrapolated): {result['ratio_extrapolated']:.1f}"
    runs = ", ".join(f"{seconds:.1f}" for seconds in result["gramshift_runs_s"])
    title = f"{result['results']} results"
    figures = table(title, ("seconds", "peak MB"), body)
    return f"{machine_lines(result)}\n\n{figures}\n\n{ratio}; runs of ours: {runs} s"
