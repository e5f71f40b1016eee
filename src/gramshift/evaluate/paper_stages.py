"""The stages of the paper's method (plain, adapted, tkc) on many settings.

All settings share the kernel matrix and the products of its rows, which are most of the work: a
fit of each setting by the classifier takes several times as long.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.evaluate.protocol import Setting
from gramshift.evaluate.results import Outcome, StackedReviews
from gramshift.learn.features import KernelFeatures
from gramshift.learn.products import Products, SharedProducts
from gramshift.learn.ridge import KernelRidgeSolver
from gramshift.learn.rounds import Round, fit_rounds
from gramshift.learn.training_set import TrainingSet
from gramshift.model.feature_makers import KernelFeatureMaker
from gramshift.model.settings import PLAIN, PRESETS, Settings
from gramshift.runtime import Runtime

PAPER = Settings(**PRESETS["paper"])
MIN_SETTINGS_TO_SHARE = 4  # for fewer, the products of all domains take longer than their own


def run_stages(
    gram: NDArray[Any],
    reviews: StackedReviews,
    settings: list[Setting],
    stages: list[str],
    *,
    n_jobs: int | None = -1,
) -> Iterator[list[Outcome]]:
    """Yield the outcomes of all stages for one setting after the other.

    ``gram`` is the kernel matrix of all reviews. True labels of targets are not used.
    """
    runtime = Runtime(n_jobs)
    shared = None
    if stages != [PLAIN] and len(settings) >= MIN_SETTINGS_TO_SHARE:
        documents = KernelFeatures.from_gram(gram, adapt=True, n_threads=runtime.n_threads)
        shared = SharedProducts(documents, [reviews.place(letter) for letter in reviews.letters])
    for letters in dict.fromkeys(setting.letters for setting in settings):
        rows = reviews.rows(letters)
        part = gram if letters == reviews.letters else reviews.cut(gram, letters)
        products = None
        if shared is not None:
            columns = [reviews.letters.index(letter) for letter in letters]
            products = shared.choose(rows, columns)
        group = _Group(part, StackedReviews(letters, reviews.codes[rows]), products, runtime)
        for setting in settings:
            if setting.letters == letters:
                yield group.run(setting, stages)


class _Group:
    """Settings among the same domains: their documents, with and without adaptation."""

    def __init__(
        self,
        gram: NDArray[Any],
        reviews: StackedReviews,
        products: Products | None,
        runtime: Runtime,
    ) -> None:
        self._reviews = reviews
        self._products = products
        self._runtime = runtime
        self._plain = KernelFeatures.from_gram(gram, adapt=False, n_threads=runtime.n_threads)
        self._adapted = KernelFeatures.from_gram(gram, adapt=True, n_threads=runtime.n_threads)

    def run(self, setting: Setting, stages: list[str]) -> list[Outcome]:
        """Return the outcomes of a setting; the stage "adapted" is the first round of tkc."""
        codes = self._reviews.codes
        is_source = np.isin(np.arange(len(codes)), self._reviews.rows(setting.source))
        training_set = TrainingSet.of_source(is_source, codes[is_source], 2)  # no target labels
        rounds: dict[str, list[Round]] = {}
        if PLAIN in stages:
            rounds[PLAIN] = self._fit(self._plain, training_set, 1)
        n_rounds = 1 + ("tkc" in stages)
        adapting = [name for name in stages if name != PLAIN]
        if adapting:
            fitted = self._fit(self._adapted, training_set, n_rounds)
            rounds |= {name: fitted[: 1 if name == "adapted" else n_rounds] for name in adapting}
        return [
            Outcome(setting, name, some[-1].scores[:, 1], sum(one.seconds for one in some))
            for name, some in rounds.items()
        ]

    def _fit(
        self, documents: KernelFeatures, training_set: TrainingSet, n_rounds: int
    ) -> list[Round]:
        products = self._products if documents.adapt else None
        feature_maker = KernelFeatureMaker(
            lambda *_: (documents, {}),
            lambda features, source: KernelRidgeSolver(
                features, source, PAPER.alpha, products=products
            ),
        )
        schedule = replace(PAPER.make_schedule(len(training_set.target), [0, 1]), n_rounds=n_rounds)
        return fit_rounds(
            feature_maker, training_set, schedule, self._runtime, calibrate=False
        ).rounds
