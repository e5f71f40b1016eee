"""Grams of the same texts with weights that change: their n-grams are found once."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gramshift.grams.gram import clip_range, fill_gram
from gramshift.grams.plan import plan_tiles
from gramshift.kernels.registry import KERNELS
from gramshift.kernels.weighted import SummedNGrams, weigh_ngrams
from gramshift.kernels.weighting import Weighting
from gramshift.ngrams.incidence import build_incidence
from gramshift.ngrams.sorted_ngrams import sort_ngrams
from gramshift.runtime.memory import free_memory, parse_bytes, require
from gramshift.runtime.threads import Progress, count_threads, run_threads
from gramshift.text.encode import encode

Floats = NDArray[np.float64]


class WeightedGrams:
    """The n-grams of prepared texts, for presence kernels with one weighting after another."""

    def __init__(
        self,
        texts: Sequence[str],
        *,
        ngram_range: tuple[int, int],
        memory_limit: int | float | str | None = None,
        n_jobs: int | None = -1,
        progress: Progress | None = None,
    ) -> None:
        self.n_threads = count_threads(n_jobs)
        self.limit = free_memory() if memory_limit is None else parse_bytes(memory_limit)
        encoded, n = encode(texts), len(texts)
        ngram_range = clip_range(encoded, "presence", ngram_range)

        def check_size(n_bytes: int) -> None:
            require(f"a gram of {n} x {n} documents, with its index,", 8 * n * n + n_bytes, self.limit, "raise memory_limit")

        check_size(KERNELS["presence"].estimate(encoded, ngram_range))
        run = partial(run_threads, n_threads=self.n_threads, stage=KERNELS["presence"].stage, progress=progress)
        self.incidence = build_incidence(sort_ngrams(encoded, ngram_range, keep=False), run=run, check_size=check_size)


def sum_similarities(
    found: Sequence[tuple[WeightedGrams, Weighting]], out: Floats, *, anew: bool, progress: Progress | None = None
) -> None:
    """Fill a square gram with the sum of several kernels' similarities, of as many documents as it has rows."""
    parts = [weigh_ngrams(grams.incidence, weighting) for grams, weighting in found]
    kernel, n_threads = SummedNGrams(parts, len(out), anew), found[0][0].n_threads
    budget = min(grams.limit for grams, _ in found) - out.nbytes - kernel.nbytes
    fill_gram(kernel, out, plan_tiles(*kernel.shape, n_threads=n_threads, budget=budget), progress=progress)
