"""Running methods on the settings of the paper; what settings have in common is computed once."""

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from gramshift.evaluate.cases import fit_method
from gramshift.evaluate.protocol import Setting
from gramshift.learn.features import GramFeatures
from gramshift.learn.labelling import Labelling
from gramshift.learn.products import Products, SharedProducts
from gramshift.learn.ridge import RidgeSolver
from gramshift.learn.rounds import Round, fit_rounds
from gramshift.methods import METHODS
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.describers import GramDescriber
from gramshift.model.settings import Settings
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import count_threads

Floats = NDArray[np.float64]
PAPER = Settings.from_parameters(TransductiveClassifier(preset="paper").get_params())
WORTH_SHARING = 4  # groups of settings over the same domains


@dataclass(frozen=True)
class Outcome:
    """Scores of the positive class for the target documents of one setting, by one method; positive means code 1."""

    setting: Setting
    method: str
    scores: Floats
    added: NDArray[np.intp]
    """Target documents that had joined the training set, surest first."""
    seconds: float


@dataclass(frozen=True)
class Documents:
    """Where the documents of each domain stand in the gram, and their classes."""

    letters: str
    codes: NDArray[np.intp]

    @property
    def size(self) -> int:
        """Documents of one domain."""
        return len(self.codes) // len(self.letters)

    def rows(self, letters: str) -> NDArray[np.intp]:
        return np.concatenate([np.arange(self.size) + self.size * self.letters.index(letter) for letter in letters])

    def place(self, letter: str) -> slice:
        start = self.size * self.letters.index(letter)
        return slice(start, start + self.size)

    def cut(self, gram: NDArray[Any], letters: str) -> NDArray[Any]:
        """The gram of some domains, block by block."""
        places = [self.place(letter) for letter in letters]
        return np.block([[gram[rows, cols] for cols in places] for rows in places])


def run_settings(
    gram: NDArray[Any],
    documents: Documents,
    settings: list[Setting],
    methods: list[str],
    *,
    n_jobs: int | None = -1,
    paper: Settings = PAPER,
) -> Iterator[list[Outcome]]:
    """The outcomes of all methods, setting by setting; true labels of the target are never looked at."""
    runtime = Runtime(n_jobs)
    n_threads = runtime.n_threads
    groups = list(dict.fromkeys(setting.letters for setting in settings))
    adapting, shared = bool(set(methods) - {"plain"}), None
    if adapting and len(groups) >= WORTH_SHARING:
        everything = GramFeatures.from_gram(gram, adapt=True, n_threads=n_threads)
        shared = SharedProducts(everything, [documents.place(letter) for letter in documents.letters])
    for letters in groups:
        together = [setting for setting in settings if setting.letters == letters]
        part = gram if letters == documents.letters else documents.cut(gram, letters)
        group, rows = Documents(letters, documents.codes[documents.rows(letters)]), documents.rows(letters)
        plain = GramFeatures.from_gram(part, adapt=False, n_threads=n_threads)
        adapted = GramFeatures.from_gram(part, adapt=True, n_threads=n_threads)
        products: Products | None = None
        if shared is not None:
            products = shared.choose(rows, [documents.letters.index(letter) for letter in letters])
        elif adapting and len(together) > 1:
            products = SharedProducts(adapted, [slice(0, len(rows))]).choose(np.arange(len(rows)), [0])
        for setting in together:
            yield _run_setting(plain, adapted, group, setting, methods, products, paper, runtime)


def _run_setting(
    plain: GramFeatures,
    adapted: GramFeatures,
    documents: Documents,
    setting: Setting,
    methods: list[str],
    shared: Products | None,
    paper: Settings,
    runtime: Runtime,
) -> list[Outcome]:
    source = documents.rows(setting.source)
    is_source = np.isin(np.arange(len(documents.codes)), source)
    labelling = Labelling.of_source(is_source, documents.codes[is_source], 2)  # all that is known of labels from here on

    def rounds(described: GramFeatures, n_rounds: int, products: Products | None) -> tuple[list[Round], list[float]]:
        schedule = replace(paper.make_schedule(len(labelling.target), [0, 1]), n_rounds=n_rounds)
        describer = GramDescriber(
            lambda *_: (described, {}), lambda features, source: RidgeSolver(features, source, paper.alpha, products=products)
        )
        done = fit_rounds(describer, labelling, schedule, runtime, calibrate=False).rounds
        return done, list(np.cumsum([one.seconds for one in done]))

    outcomes = []
    if "plain" in methods:
        done, seconds = rounds(plain, 1, None)
        outcomes.append(Outcome(setting, "plain", done[0].scores[:, 1], done[0].added, seconds[0]))
    wanted = [name for name in ("adapted", "tkc") if name in methods]
    if wanted:  # the first round of tkc is what "adapted" means
        done, seconds = rounds(adapted, 1 + ("tkc" in methods), shared)
        for name in wanted:
            one, took = (done[0], seconds[0]) if name == "adapted" else (done[-1], seconds[-1])
            outcomes.append(Outcome(setting, name, one.scores[:, 1], one.added, took))
    return outcomes


Task = tuple[str, Setting]


def run_on_texts(
    texts: list[str], documents: Documents, tasks: list[Task], *, source_only: bool = False, n_jobs: int | None = -1
) -> Iterator[Outcome]:
    """The outcomes of these methods on these settings, as they come.

    Ours use all threads by themselves, one after the other. Rivals run side by side, each in a process of its own.
    """

    def arguments(name: str, setting: Setting) -> tuple[Any, ...]:
        source, target = documents.rows(setting.source), documents.rows(setting.target)
        return name, setting, [texts[i] for i in source], documents.codes[source], [texts[i] for i in target]

    own = [task for task in tasks if METHODS[task[0]].is_own]
    for name, setting in own:
        yield run_method(*arguments(name, setting), source_only=source_only, n_jobs=n_jobs)
    rivals = [task for task in tasks if task not in own]
    n_workers = max(min(count_threads(n_jobs), len(rivals)), 1)
    parallel = Parallel(n_jobs=n_workers, return_as="generator_unordered", pre_dispatch="all" if n_workers == 1 else "n_jobs")
    with warnings.catch_warnings():  # a worker that remembers many tagged texts is replaced by a new one
        warnings.filterwarnings("ignore", message="A worker stopped", category=UserWarning)
        yield from parallel(delayed(run_method)(*arguments(name, setting), source_only=source_only) for name, setting in rivals)


def run_method(
    name: str,
    setting: Setting,
    source: list[str],
    codes: NDArray[np.intp],
    target: list[str],
    **options: Any,
) -> Outcome:
    """One method on one setting; its scores of the positive class."""
    begun = time.perf_counter()
    clf = fit_method(name, source, codes, target, calibrate=False, **options)
    added = np.flatnonzero(clf.labeled_iter_[len(source) :] > 0)
    return Outcome(setting, name, clf.transduction_score_[:, 1], added, time.perf_counter() - begun)
