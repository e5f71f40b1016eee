"""Algorithm 1: rounds of training, each on the source and the surest answers of the round before."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.described import Described, Rows
from gramshift.learn.ridge import Fitted
from gramshift.learn.targets import choose_classes, one_versus_all, surest

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Solve = Callable[[Rows, Floats], Fitted]
"""(training documents, their one-versus-all targets) -> classifier."""


@dataclass(frozen=True)
class Round:
    """One round: the target documents that joined before it, surest first, and what it says of all target documents."""

    added: Rows
    added_codes: Codes
    fitted: Fitted
    scores: Floats
    changed: int
    seconds: float

    @property
    def codes(self) -> Codes:
        """The class of each target document."""
        return choose_classes(self.scores)


def transduce(
    documents: Described, source: Rows, codes: Codes, n_classes: int, *, solve: Solve, n_rounds: int, n_added: int
) -> list[Round]:
    """Train on the source, label all others, add the n_added surest of them, train again, label all of them again.

    ``codes`` are the classes of the source documents. Every further round chooses anew from the whole target.
    """
    target = np.setdiff1d(np.arange(len(documents)), source)
    added, added_codes = np.empty(0, np.intp), np.empty(0, np.intp)
    rounds: list[Round] = []
    for _ in range(n_rounds if len(target) else 1):
        begun = time.perf_counter()
        if rounds:
            added = surest(rounds[-1].scores, n_added)
            added_codes = rounds[-1].codes[added]
        training = np.concatenate([source, target[added]])
        fitted = solve(training, one_versus_all(np.concatenate([codes, added_codes]), n_classes))
        scores = fitted.score(documents, target)
        changed = int(np.count_nonzero(choose_classes(scores) != rounds[-1].codes)) if rounds else 0
        rounds.append(Round(added, added_codes, fitted, scores, changed, time.perf_counter() - begun))
    return rounds
