"""Algorithm 1: rounds of training, each on the source and the surest answers of the round before."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Described, Rows
from gramshift.learn.ridge import Fitted
from gramshift.learn.selection import choose_classes, choose_surest, one_versus_all

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Solve = Callable[[Rows, Floats], Fitted]
"""(training documents, their one-versus-all targets) -> classifier."""
Select = Callable[[Floats, int], tuple[Rows, Codes]]
"""(scores, how many) -> rows and the classes that they join with."""
Prepare = Callable[[Rows, Codes], tuple[Described, Solve]]
"""(training documents, their classes) -> all documents as they are to be described, and how to train on them."""


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
    documents: Described,
    source: Rows,
    codes: Codes,
    n_classes: int,
    *,
    solve: Solve,
    n_rounds: int,
    n_added: int | Sequence[int],
    select: Select = choose_surest,
) -> list[Round]:
    """Train on the source, label all others, add n_added of them, by default the surest, train again, label all again.

    ``codes`` are the classes of the source documents. Every further round chooses anew from the whole target; each adds as
    many as ``n_added`` says, of several numbers its own, and the last one if there are more rounds.
    """
    return transduce_prepared(
        len(documents),
        source,
        codes,
        n_classes,
        prepare=lambda *_: (documents, solve),
        n_rounds=n_rounds,
        n_added=n_added,
        select=select,
    )


def transduce_prepared(
    n: int,
    source: Rows,
    codes: Codes,
    n_classes: int,
    *,
    prepare: Prepare,
    n_rounds: int,
    n_added: int | Sequence[int],
    select: Select = choose_surest,
) -> list[Round]:
    """The same where ``prepare`` describes the n documents anew for every round."""
    growing = [n_added] if isinstance(n_added, int) else list(n_added)
    target = np.setdiff1d(np.arange(n), source)
    added, added_codes = np.empty(0, np.intp), np.empty(0, np.intp)
    rounds: list[Round] = []
    for _ in range(n_rounds if len(target) else 1):
        begun = time.perf_counter()
        if rounds:
            added, added_codes = select(rounds[-1].scores, growing[min(len(rounds), len(growing)) - 1])
        training, known = np.concatenate([source, target[added]]), np.concatenate([codes, added_codes])
        documents, solve = prepare(training, known)
        fitted = solve(training, one_versus_all(known, n_classes))
        scores = fitted.score(documents, target)
        changed = int(np.count_nonzero(choose_classes(scores) != rounds[-1].codes)) if rounds else 0
        rounds.append(Round(added, added_codes, fitted, scores, changed, time.perf_counter() - begun))
    return rounds
