"""The paper's experiments, from a folder of data to a folder of results; what settings have in common is computed once."""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from gramshift.data.reviews import N_REVIEWS, digest, load_sentiment
from gramshift.evaluate.cases import fit_method
from gramshift.evaluate.kept import Kept
from gramshift.evaluate.protocol import LETTERS, Setting
from gramshift.evaluate.results import (
    Cell,
    Documents,
    Outcome,
    make_means,
    make_rows,
    write_results,
)
from gramshift.learn.features import GramFeatures, compact
from gramshift.learn.labelling import Labelling
from gramshift.learn.products import Products, SharedProducts
from gramshift.learn.ridge import RidgeSolver
from gramshift.learn.rounds import Round, fit_rounds
from gramshift.methods import BEST, METHODS
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.describers import GramDescriber
from gramshift.model.saving import library_versions
from gramshift.model.settings import PLAIN, PRESETS, Settings
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.resources import Runtime
from gramshift.runtime.schema import Array, Listed, Number, Record
from gramshift.runtime.threads import Progress, count_threads

PAPER = Settings.from_parameters(TransductiveClassifier(preset="paper").get_params())
WORTH_SHARING = 4  # groups of settings over the same domains
KEPT = Record({"scores": Listed(Number(), "documents", 10**8), "seconds": Number(0)})


def reproduce(
    data: Path,
    output: Path,
    *,
    settings: list[Setting],
    methods: list[str],
    kernels: list[str],
    fields: str = "title+text",
    source_only: bool = False,
    resume: bool = False,
    n_jobs: int | None = -1,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda words: None,
    paper: Settings = PAPER,
    n_reviews: int = N_REVIEWS,
) -> dict[str, Any]:
    """Run, write results.json, results.csv, tables.md and predictions.csv.gz into ``output``, and return the results."""
    for name in methods:
        METHODS[name].check()
    stages = [name for name in METHODS if name in methods and METHODS[name].is_stage]
    others = [name for name in METHODS if name in methods and name not in stages]
    if source_only and stages:
        stages = [PLAIN]  # that is what the stages of the paper are without adaptation
    begun = time.perf_counter()
    letters = "".join(
        letter for letter in LETTERS if any(letter in setting.letters for setting in settings)
    )
    sentiment = load_sentiment(data, letters=letters, n_reviews=n_reviews)
    for note in sentiment.notes:
        if "differs" in note:
            say(note)
    odd = sum("differs" not in note for note in sentiment.notes)
    if odd:
        say(f"{odd} notes on encodings of the reviews will be in {output / 'results.json'}")
    digests = {letter: digest(domain.reviews) for letter, domain in sentiment.domains.items()}
    parameters = {
        "ngram_range": list(paper.ngram_range),
        "alpha": paper.alpha,
        "n_added": paper.n_added,
        "seed": None,
    }
    documents = Documents(
        letters,
        np.concatenate([sentiment.domains[letter].codes for letter in letters]).astype(np.intp),
    )
    texts = [text for letter in letters for text in sentiment.domains[letter].texts(fields)]
    key = {
        "fields": fields,
        "parameters": parameters | {BEST: PRESETS[BEST]},
        "versions": library_versions(),
    }
    parts = Parts(output / "parts", key | {"source_only": source_only}, digests, documents.size)
    columns = [(kernel, name) for kernel in kernels for name in stages] + [
        (None, name) for name in others
    ]
    cells: list[Cell] = [
        (setting, kernel, name) for setting in settings for kernel, name in columns
    ]
    found = {cell: kept for cell in cells if (kept := parts.load(cell))} if resume else {}

    def keep(kernel: str | None, outcome: Outcome) -> None:
        cell = outcome.setting, kernel, outcome.method
        if cell not in found:  # a stage may be computed again with others of its setting
            found[cell] = outcome
            parts.save(cell, outcome)
        if progress is not None:
            progress("methods", len(found), len(cells))

    for kernel in kernels if stages else []:
        missing = [
            setting
            for setting in settings
            if any((setting, kernel, name) not in found for name in stages)
        ]
        if missing:
            gram = compact(
                StringKernel(kernel, ngram_range=paper.ngram_range, n_jobs=n_jobs).gram(
                    texts, progress=progress
                )
            )
            for several in run_settings(
                gram, documents, missing, stages, n_jobs=n_jobs, paper=paper
            ):
                for outcome in several:
                    keep(kernel, outcome)
            del gram
    left = [
        (name, setting)
        for name in others
        for setting in settings
        if (setting, None, name) not in found
    ]
    for outcome in run_on_texts(texts, documents, left, source_only=source_only, n_jobs=n_jobs):
        keep(None, outcome)
    outcomes = {cell: found[cell] for cell in cells}
    result = {
        "rows": make_rows(outcomes, documents, fields=fields, source_only=source_only),
        "means": make_means(outcomes, documents),
        "data": digests,
        "parameters": parameters
        | ({BEST: PRESETS[BEST]} if any(METHODS[name].is_best for name in others) else {}),
        "versions": library_versions(),
        "notes": sentiment.notes,
        "seconds": round(time.perf_counter() - begun, 2),
    }
    write_results(output, result, outcomes, documents, fields)
    return result | {"outcomes": outcomes, "documents": documents, "texts": texts}


class Parts:
    """Results of a run that may be stopped, in a file each; they depend on ``key`` and on the data of their domains."""

    def __init__(self, folder: Path, key: dict[str, Any], data: dict[str, str], size: int) -> None:
        """Take results of ``size`` documents only."""
        self._kept, self._key, self._data, self._size = Kept(folder), key, data, size

    def load(self, cell: Cell) -> Outcome | None:
        """Return the outcome that an earlier run has found, if it is whole and depends on the same."""
        kept = self._kept.load(*self._place(cell))
        try:
            KEPT.check("results", kept, {"documents": self._size})
            scores = np.array(kept["scores"], np.float64)
            Array("<f8", ("documents",)).check("scores", scores, {"documents": self._size})
        except (ValueError, TypeError, OverflowError):
            return None
        return Outcome(cell[0], cell[2], scores, float(kept["seconds"]))

    def save(self, cell: Cell, outcome: Outcome) -> None:
        """Keep an outcome."""
        self._kept.save(
            *self._place(cell), {"scores": outcome.scores.tolist(), "seconds": outcome.seconds}
        )

    def _place(self, cell: Cell) -> tuple[str, dict[str, Any]]:
        """Return the name of the file, and all that its result depends on."""
        setting, kernel, method = cell
        words = [self._key["fields"].replace("+", "-"), kernel or "rivals", setting.name, method]
        name = "-".join([*words, "source-only"] if self._key["source_only"] else words)
        return name, self._key | {
            "data": {letter: self._data[letter] for letter in setting.letters}
        }


def run_settings(
    gram: NDArray[Any],
    documents: Documents,
    settings: list[Setting],
    methods: list[str],
    *,
    n_jobs: int | None = -1,
    paper: Settings = PAPER,
) -> Iterator[list[Outcome]]:
    """Yield the outcomes of all methods, setting by setting; true labels of the target are never looked at."""
    runtime = Runtime(n_jobs)
    n_threads = runtime.n_threads
    groups = list(dict.fromkeys(setting.letters for setting in settings))
    adapting, shared = bool(set(methods) - {"plain"}), None
    if adapting and len(groups) >= WORTH_SHARING:
        everything = GramFeatures.from_gram(gram, adapt=True, n_threads=n_threads)
        shared = SharedProducts(
            everything, [documents.place(letter) for letter in documents.letters]
        )
    for letters in groups:
        together = [setting for setting in settings if setting.letters == letters]
        part = gram if letters == documents.letters else documents.cut(gram, letters)
        group, rows = (
            Documents(letters, documents.codes[documents.rows(letters)]),
            documents.rows(letters),
        )
        plain = GramFeatures.from_gram(part, adapt=False, n_threads=n_threads)
        adapted = GramFeatures.from_gram(part, adapt=True, n_threads=n_threads)
        products: Products | None = None
        if shared is not None:
            products = shared.choose(rows, [documents.letters.index(letter) for letter in letters])
        elif adapting and len(together) > 1:
            products = SharedProducts(adapted, [slice(0, len(rows))]).choose(
                np.arange(len(rows)), [0]
            )
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
    labelling = Labelling.of_source(
        is_source, documents.codes[is_source], 2
    )  # all that is known of labels from here on

    def rounds(
        described: GramFeatures, n_rounds: int, products: Products | None
    ) -> tuple[list[Round], list[float]]:
        schedule = replace(paper.make_schedule(len(labelling.target), [0, 1]), n_rounds=n_rounds)
        describer = GramDescriber(
            lambda *_: (described, {}),
            lambda features, source: RidgeSolver(features, source, paper.alpha, products=products),
        )
        done = fit_rounds(describer, labelling, schedule, runtime, calibrate=False).rounds
        return done, list(np.cumsum([one.seconds for one in done]))

    outcomes = []
    if "plain" in methods:
        done, seconds = rounds(plain, 1, None)
        outcomes.append(Outcome(setting, "plain", done[0].scores[:, 1], seconds[0]))
    wanted = [name for name in ("adapted", "tkc") if name in methods]
    if wanted:  # the first round of tkc is what "adapted" means
        done, seconds = rounds(adapted, 1 + ("tkc" in methods), shared)
        for name in wanted:
            one, took = (done[0], seconds[0]) if name == "adapted" else (done[-1], seconds[-1])
            outcomes.append(Outcome(setting, name, one.scores[:, 1], took))
    return outcomes


def run_on_texts(
    texts: list[str],
    documents: Documents,
    tasks: list[tuple[str, Setting]],
    *,
    source_only: bool = False,
    n_jobs: int | None = -1,
) -> Iterator[Outcome]:
    """Yield the outcomes of these methods on these settings, as they come.

    Ours use all threads by themselves, one after the other. Rivals run side by side, each in a process of its own.
    """

    def arguments(name: str, setting: Setting) -> tuple[Any, ...]:
        source, target = documents.rows(setting.source), documents.rows(setting.target)
        return (
            name,
            setting,
            [texts[i] for i in source],
            documents.codes[source],
            [texts[i] for i in target],
        )

    own = [task for task in tasks if METHODS[task[0]].is_own]
    for name, setting in own:
        yield run_method(*arguments(name, setting), source_only=source_only, n_jobs=n_jobs)
    rivals = [task for task in tasks if task not in own]
    n_workers = max(min(count_threads(n_jobs), len(rivals)), 1)
    parallel = Parallel(
        n_jobs=n_workers,
        return_as="generator_unordered",
        pre_dispatch="all" if n_workers == 1 else "n_jobs",
    )
    with (
        warnings.catch_warnings()
    ):  # a worker that remembers many tagged texts is replaced by a new one
        warnings.filterwarnings("ignore", message="A worker stopped", category=UserWarning)
        yield from parallel(
            delayed(run_method)(*arguments(name, setting), source_only=source_only)
            for name, setting in rivals
        )


def run_method(
    name: str,
    setting: Setting,
    source: list[str],
    codes: NDArray[np.intp],
    target: list[str],
    **options: Any,
) -> Outcome:
    """Run one method on one setting."""
    begun = time.perf_counter()
    clf = fit_method(name, source, codes, target, calibrate=False, **options)
    return Outcome(setting, name, clf.transduction_score_[:, 1], time.perf_counter() - begun)
