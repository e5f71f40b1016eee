"""Weighted grams by gramshift and by scikit-learn: same texts, in turns, and equal in every cell to rounding."""

from functools import partial
from typing import Any

import numpy as np

import gramshift as gs
from bench.corpus import NGRAM_RANGE, Texts, normalise
from bench.machine import describe_machine, describe_versions, least_and_median, say, source_state, timed
from bench.rivals import MismatchError, count
from bench.table import table

FOLDERS = ("text", "ngrams", "kernels", "runtime", "grams", "model")
CLOSE = 1e-9
POWER = 2


def rival(texts: Texts) -> Any:
    """Presence of n-grams, weighted by log(N / df) ** POWER, multiplied as a sparse matrix."""
    features = count(texts, binary=True).astype(np.float64)
    having = np.bincount(features.indices, minlength=features.shape[1])
    features.data = np.log(len(texts) / having)[features.indices] ** (POWER / 2)
    return (features @ features.T).toarray()


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """scikit-learn once, ours once to warm up and then in earnest."""
    source, normalised = source_state(FOLDERS), normalise(texts)
    kernel = gs.StringKernel(ngram_range=NGRAM_RANGE, weighting={"idf": POWER})
    say(f"scikit-learn, {len(texts)} documents")
    rival_s, theirs = timed(partial(rival, normalised))
    times = []
    for number in range(1 + repeat):
        say(f"gramshift, run {number} of {repeat}")
        took, ours = timed(partial(kernel.gram, texts))
        scale = np.sqrt(np.multiply.outer(theirs.diagonal(), theirs.diagonal())) + 1e-300
        off = float((np.abs(ours - theirs) / scale).max())
        if off > CLOSE:
            raise MismatchError(f"gramshift and scikit-learn differ by {off:.1e} of the self-kernels")
        del ours, scale
        times.append(took)
    ours_s = least_and_median(times[1:])
    return {
        "benchmark": "weighted",
        "machine": describe_machine(),
        "versions": describe_versions(),
        "source": source,
        "documents": len(texts),
        "ngram_range": NGRAM_RANGE,
        "weighting": {"idf": POWER},
        "sklearn_s": rival_s,
        "gramshift_min_s": ours_s["min_s"],
        "gramshift_median_s": ours_s["median_s"],
        "ratio": rival_s / ours_s["min_s"],
        "ratio_median": rival_s / ours_s["median_s"],
        "off": off,
        "source_changed": source_state(FOLDERS) != source,
    }


def show(result: dict[str, Any]) -> str:
    """One line."""
    names = ("sklearn_s", "gramshift_min_s", "gramshift_median_s", "ratio", "ratio_median", "off")
    return table(f"{result['documents']} documents, idf {POWER}", names, [("seconds", *(result[name] for name in names))])
