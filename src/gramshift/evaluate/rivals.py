"""Running the other systems on the paper's settings, each in a process of its own."""

import time
from collections.abc import Iterator

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from gramshift.baselines.table import METHODS
from gramshift.engine.threads import count_threads
from gramshift.evaluate.experiment import Documents, Outcome
from gramshift.evaluate.settings import Setting

Task = tuple[str, Setting]


def run_rivals(texts: list[str], documents: Documents, tasks: list[Task], *, n_jobs: int | None = -1) -> Iterator[Outcome]:
    """The outcomes of these methods on these settings, as they come; true labels of the target are never handed over."""
    n_workers = max(min(count_threads(n_jobs), len(tasks)), 1)
    parallel = Parallel(n_jobs=n_workers, return_as="generator_unordered", pre_dispatch="all" if n_workers == 1 else "n_jobs")

    def job(name: str, setting: Setting) -> object:
        source, target = documents.rows(setting.source), documents.rows(setting.target)
        return delayed(run_rival)(
            name, setting, [texts[i] for i in source], documents.codes[source], [texts[i] for i in target]
        )

    yield from parallel(job(name, setting) for name, setting in tasks)


def run_rival(name: str, setting: Setting, source: list[str], codes: NDArray[np.intp], target: list[str]) -> Outcome:
    """One method on one setting; its scores of the positive class."""
    begun = time.perf_counter()
    clf = METHODS[name].make().fit(source, codes, target=target)
    none = np.zeros(0, np.intp)
    return Outcome(setting, name, clf.transduction_score_[:, 1], none, time.perf_counter() - begun)
