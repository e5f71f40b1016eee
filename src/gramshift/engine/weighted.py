"""Grams of the same texts with weights that change: their n-grams are found once."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gramshift.engine.gram import clip_range, fill_gram
from gramshift.engine.memory import free_memory, parse_bytes
from gramshift.engine.plan import plan_tiles, require
from gramshift.engine.threads import Progress, count_threads, run_threads
from gramshift.kernels.kinds import KERNELS
from gramshift.kernels.weighted import weigh_ngrams
from gramshift.kernels.weighting import Weighting
from gramshift.ngrams.incidence import build_incidence
from gramshift.text.encode import encode

Floats = NDArray[np.float64]


class WeightedGrams:
    """The presence kernel of prepared texts with each other, for one weighting after another."""

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
        self._limit = free_memory() if memory_limit is None else parse_bytes(memory_limit)
        encoded, n = encode(texts), len(texts)
        ngram_range = clip_range(encoded, "presence", ngram_range)

        def check_size(n_bytes: int) -> None:
            require(f"a gram of {n} x {n} documents, with its index,", 8 * n * n + n_bytes, self._limit, "raise memory_limit")

        check_size(KERNELS["presence"].estimate(encoded, ngram_range))
        run = partial(run_threads, n_threads=self.n_threads, stage=KERNELS["presence"].stage, progress=progress)
        self._incidence = build_incidence(encoded, ngram_range=ngram_range, run=run, check_size=check_size)

    def gram(
        self, weighting: Weighting, *, n: int | None = None, normalize: bool = False, progress: Progress | None = None
    ) -> Floats:
        """All values, or similarities; of the first n documents only, if that is given, with weights that come from all."""
        kernel = weigh_ngrams(self._incidence, weighting)
        if n is not None:
            kernel = replace(kernel, n_cols=n)
        gram = np.empty(kernel.shape)
        budget = self._limit - gram.nbytes - kernel.nbytes
        plan = plan_tiles(*kernel.shape, n_threads=self.n_threads, budget=budget)
        fill_gram(kernel, gram, plan, normalize=normalize, progress=progress)
        return gram
