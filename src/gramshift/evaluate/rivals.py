"""Running methods from the texts on: rivals, and ours that compare in ways of their own."""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from gramshift.evaluate.experiment import Documents, Outcome
from gramshift.evaluate.protocol import Setting
from gramshift.methods import METHODS
from gramshift.runtime.threads import count_threads

Task = tuple[str, Setting]


def run_on_texts(texts: list[str], documents: Documents, tasks: list[Task], *, n_jobs: int | None = -1) -> Iterator[Outcome]:
    """The outcomes of these methods on these settings, as they come; true labels of the target are never handed over.

    Ours use all threads by themselves, one after the other. Rivals run side by side, each in a process of its own.
    """

    def arguments(name: str, setting: Setting) -> tuple[Any, ...]:
        source, target = documents.rows(setting.source), documents.rows(setting.target)
        return name, setting, [texts[i] for i in source], documents.codes[source], [texts[i] for i in target]

    own = [task for task in tasks if METHODS[task[0]].is_own]
    for name, setting in own:
        yield run_method(*arguments(name, setting), n_jobs=n_jobs)
    rivals = [task for task in tasks if task not in own]
    n_workers = max(min(count_threads(n_jobs), len(rivals)), 1)
    parallel = Parallel(n_jobs=n_workers, return_as="generator_unordered", pre_dispatch="all" if n_workers == 1 else "n_jobs")
    with warnings.catch_warnings():  # a worker that remembers many tagged texts is replaced by a new one
        warnings.filterwarnings("ignore", message="A worker stopped", category=UserWarning)
        yield from parallel(delayed(run_method)(*arguments(name, setting)) for name, setting in rivals)


def run_method(
    name: str, setting: Setting, source: list[str], codes: NDArray[np.intp], target: list[str], **options: Any
) -> Outcome:
    """One method on one setting; its scores of the positive class."""
    begun = time.perf_counter()
    clf = METHODS[name].make(**options).fit(source, codes, target=target)
    added = np.flatnonzero(clf.labeled_iter_[len(source) :] > 0)
    return Outcome(setting, name, clf.transduction_score_[:, 1], added, time.perf_counter() - begun)
