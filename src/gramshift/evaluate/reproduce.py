"""The paper's experiments, from a folder of data to a folder of results."""

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from gramshift.datasets.reviews import N_REVIEWS, digest, load_sentiment
from gramshift.evaluate.cases import fit_method
from gramshift.evaluate.paper_stages import run_stages
from gramshift.evaluate.protocol import LETTERS, Setting
from gramshift.evaluate.result_store import ResultStore, check_numbers
from gramshift.evaluate.result_tables import write_results
from gramshift.evaluate.results import Cell, Column, Outcome, StackedReviews, make_means, make_rows
from gramshift.kernels.string_kernel import StringKernel
from gramshift.learn.features import compact
from gramshift.methods import BEST, METHODS
from gramshift.model.saving import library_versions
from gramshift.model.settings import PLAIN, PRESETS
from gramshift.parallel import Progress, count_threads

PAPER = PRESETS["paper"]


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
    n_reviews: int = N_REVIEWS,
) -> dict[str, Any]:
    """Run methods on settings, write all results into a folder, and return them."""
    for name in methods:
        METHODS[name].check()
    stages = [name for name in METHODS if name in methods and METHODS[name].is_stage]
    others = [name for name in METHODS if name in methods and name not in stages]
    if source_only and stages:
        stages = [PLAIN]  # the stages of the paper without adaptation
    begun = time.perf_counter()
    used = {letter for setting in settings for letter in setting.letters}
    letters = "".join(letter for letter in LETTERS if letter in used)
    sentiment = load_sentiment(data, letters=letters, n_reviews=n_reviews)
    _report_notes(sentiment.notes, output, say)
    domains = [sentiment.domains[letter] for letter in letters]
    texts = [text for domain in domains for text in domain.texts(fields)]
    codes = np.concatenate([domain.codes for domain in domains]).astype(np.intp)
    reviews = StackedReviews(letters, codes)

    digests = {letter: digest(domain.reviews) for letter, domain in sentiment.domains.items()}
    columns: list[Column] = [(kernel, name) for kernel in kernels for name in stages]
    columns += [(None, name) for name in others]
    cells: list[Cell] = [(setting, *column) for setting in settings for column in columns]
    key = {"fields": fields, "presets": PRESETS, "source_only": source_only}
    kept = OutcomeStore(output / "parts", key, digests, reviews.size)
    found = {cell: one for cell in cells if (one := kept.load(cell))} if resume else {}
    missing = [cell for cell in cells if cell not in found]
    options: dict[str, Any] = {"source_only": source_only, "n_jobs": n_jobs, "progress": progress}
    for cell, outcome in run_cells(missing, stages, texts, reviews, **options):
        if cell not in found:  # all stages of a setting run together, kept ones too
            found[cell] = outcome
            kept.save(cell, outcome)
        if progress is not None:
            progress("methods", len(found), len(cells))
    outcomes = {cell: found[cell] for cell in cells}

    parameters = {name: PAPER[name] for name in ("ngram_range", "alpha", "n_added")}
    if any(METHODS[name].is_best for name in others):
        parameters[BEST] = PRESETS[BEST]
    result = {
        "rows": make_rows(outcomes, reviews, fields=fields, source_only=source_only),
        "means": make_means(outcomes, reviews),
        "data": digests,
        "parameters": parameters,
        "versions": library_versions(),
        "notes": sentiment.notes,
        "seconds": round(time.perf_counter() - begun, 2),
    }
    write_results(output, result, outcomes, reviews, fields)
    return result | {"outcomes": outcomes, "documents": reviews, "texts": texts}


def _report_notes(notes: list[str], output: Path, say: Callable[[str], None]) -> None:
    """Say how the data differs from the published data set; only count other notes."""
    differences = [note for note in notes if "differs" in note]
    for note in differences:
        say(note)
    n_others = len(notes) - len(differences)
    if n_others:
        say(f"{n_others} notes on encodings of the reviews will be in {output / 'results.json'}")


def run_cells(
    cells: list[Cell],
    stages: list[str],
    texts: list[str],
    reviews: StackedReviews,
    *,
    source_only: bool,
    n_jobs: int | None,
    progress: Progress | None,
) -> Iterator[tuple[Cell, Outcome]]:
    """Yield the outcomes of cells as they are finished: first of the stages, kernel by kernel.

    All ``stages`` of a setting run together, also if only some of them are among the cells.
    """
    for kernel in dict.fromkeys(kernel for _, kernel, _ in cells if kernel is not None):
        settings = list(dict.fromkeys(cell[0] for cell in cells if cell[1] == kernel))
        string_kernel = StringKernel(kernel, ngram_range=PAPER["ngram_range"], n_jobs=n_jobs)
        gram = compact(string_kernel.gram(texts, progress=progress))
        for several in run_stages(gram, reviews, settings, stages, n_jobs=n_jobs):
            yield from (((one.setting, kernel, one.method), one) for one in several)
        del gram  # before the next one is made
    tasks = [(method, setting) for setting, kernel, method in cells if kernel is None]
    for one in run_on_texts(texts, reviews, tasks, source_only=source_only, n_jobs=n_jobs):
        yield (one.setting, None, one.method), one


class OutcomeStore:
    """Outcomes of an earlier run. They depend on ``key`` and on the data of their domains."""

    def __init__(
        self, folder: Path, key: dict[str, Any], digests: dict[str, str], n_documents: int
    ) -> None:
        self._kept = ResultStore(folder)
        self._key = key
        self._digests = digests
        self._n_documents = n_documents

    def load(self, cell: Cell) -> Outcome | None:
        """Return a kept outcome, or None if there is none that could have been saved."""
        result = self._kept.load(*self._place(cell))
        try:
            scores = check_numbers(result["scores"], (self._n_documents,))
            seconds = check_numbers(result["seconds"], ()).item()
        except (KeyError, TypeError, ValueError):
            return None
        return Outcome(cell[0], cell[2], scores, seconds)

    def save(self, cell: Cell, outcome: Outcome) -> None:
        """Keep an outcome."""
        result = {"scores": outcome.scores.tolist(), "seconds": outcome.seconds}
        self._kept.save(*self._place(cell), result)

    def _place(self, cell: Cell) -> tuple[str, dict[str, Any]]:
        """Return the name of the file, and the key of its result."""
        setting, kernel, method = cell
        words = [self._key["fields"].replace("+", "-"), kernel or "rivals", setting.name, method]
        name = "-".join([*words, "source-only"] if self._key["source_only"] else words)
        digests = {letter: self._digests[letter] for letter in setting.letters}
        return name, self._key | {"data": digests}


def run_on_texts(
    texts: list[str],
    reviews: StackedReviews,
    tasks: list[tuple[str, Setting]],
    *,
    source_only: bool = False,
    n_jobs: int | None = -1,
) -> Iterator[Outcome]:
    """Yield the outcomes of methods on settings as they are finished.

    Our own methods use all threads and run one after the other. Baselines run side by side, each
    in a process of its own.
    """

    def arguments(name: str, setting: Setting) -> tuple[Any, ...]:
        source, target = reviews.rows(setting.source), reviews.rows(setting.target)
        source_texts = [texts[i] for i in source]
        return name, setting, source_texts, reviews.codes[source], [texts[i] for i in target]

    own = [task for task in tasks if METHODS[task[0]].is_own]
    for task in own:
        yield run_method(*arguments(*task), source_only=source_only, n_jobs=n_jobs)
    baselines = [task for task in tasks if task not in own]
    n_workers = max(min(count_threads(n_jobs), len(baselines)), 1)
    parallel = Parallel(
        n_jobs=n_workers,
        return_as="generator_unordered",
        pre_dispatch="all" if n_workers == 1 else "n_jobs",
    )
    run = delayed(run_method)
    with warnings.catch_warnings():  # joblib replaces a worker whose cache of tagged texts is large
        warnings.filterwarnings("ignore", message="A worker stopped", category=UserWarning)
        yield from parallel(run(*arguments(*task), source_only=source_only) for task in baselines)


def run_method(
    name: str,
    setting: Setting,
    source: list[str],
    codes: NDArray[np.intp],
    target: list[str],
    **options: Any,
) -> Outcome:
    """Return the outcome of a method on a setting."""
    begun = time.perf_counter()
    classifier = fit_method(name, source, codes, target, **options)
    scores = classifier.transduction_score_[:, 1]
    return Outcome(setting, name, scores, time.perf_counter() - begun)
