"""Grams of the same texts with weights that change: their n-grams are found once."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gramshift.grams.gram import clip_range, fill_gram
from gramshift.grams.plan import plan_gram
from gramshift.kernels.registry import KERNELS
from gramshift.kernels.weighted import SummedNGrams, weigh_ngrams
from gramshift.kernels.weighting import Weighting
from gramshift.ngrams.incidence import build_incidence
from gramshift.ngrams.sorted_ngrams import sort_ngrams
from gramshift.runtime.memory import require
from gramshift.runtime.resources import Runtime
from gramshift.text.encode import encode

Floats = NDArray[np.float64]


class WeightedGrams:
    """The n-grams of prepared texts, for presence kernels with one weighting after another."""

    def __init__(self, texts: Sequence[str], *, ngram_range: tuple[int, int], runtime: Runtime) -> None:
        """Find them; what is free now is the limit for the grams, too, if the runtime names none."""
        self.limit = runtime.memory
        encoded, n = encode(texts), len(texts)
        ngram_range = clip_range(encoded, "presence", ngram_range)

        def check_size(n_bytes: int) -> None:
            require(f"a gram of {n} x {n} documents, with its index,", 8 * n * n + n_bytes, self.limit, "raise memory_limit")

        check_size(KERNELS["presence"].estimate(encoded, ngram_range))
        run = partial(runtime.run, stage=KERNELS["presence"].stage)
        self.incidence = build_incidence(sort_ngrams(encoded, ngram_range, keep=False), run=run, check_size=check_size)


def sum_similarities(found: Sequence[tuple[WeightedGrams, Weighting]], out: Floats, *, anew: bool, runtime: Runtime) -> None:
    """Fill a square gram with the sum of several kernels' similarities, of as many documents as it has rows."""
    parts = [weigh_ngrams(grams.incidence, weighting) for grams, weighting in found]
    kernel = SummedNGrams(parts, len(out), anew)
    budget = min(grams.limit for grams, _ in found) - out.nbytes - kernel.nbytes
    plan = plan_gram(kernel, runtime, budget, n_threads=runtime.n_threads)
    fill_gram(kernel, out, plan, runtime=replace(runtime, cluster=None))
