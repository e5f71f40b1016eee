"""Algorithm 1: rounds of training, each on the source and the surest answers of the round before."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.targets import choose_classes, one_versus_all, surest

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Solve = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""(kernel of the training documents, their one-versus-all targets) -> (dual weights, intercepts)."""


@dataclass(frozen=True)
class Round:
    """What happened in one round; ``added`` are the target documents that joined before it, surest first."""

    added: Codes
    added_codes: Codes
    changed: int
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """The last round's classifier and what it says of the target."""

    training: Codes
    weights: Floats
    intercepts: Floats
    scores: Floats
    rounds: list[Round]


def transduce(kernel: Floats, codes: Codes, n_classes: int, *, solve: Solve, n_rounds: int, n_added: int) -> Outcome:
    """Train on the source, label the target, add its n_added surest documents, train again, label all of the target.

    ``kernel`` holds source documents first, then target documents; ``codes`` are the classes of the source. Every further
    round chooses anew from the whole target.
    """
    n_source = len(codes)
    target = np.arange(n_source, len(kernel))
    added = np.empty(0, np.intp)
    added_codes = np.empty(0, np.intp)
    labels = np.full(len(target), -1)
    rounds: list[Round] = []
    for number in range(n_rounds):
        begun = time.perf_counter()
        training = np.concatenate([np.arange(n_source), target[added]])
        targets = one_versus_all(np.concatenate([codes, added_codes]), n_classes)
        weights, intercepts = solve(kernel[np.ix_(training, training)], targets)
        scores = kernel[np.ix_(target, training)] @ weights + intercepts
        chosen = choose_classes(scores) if len(target) else labels
        changed = int(np.count_nonzero(chosen != labels)) if number else 0
        rounds.append(Round(added, added_codes, changed, time.perf_counter() - begun))
        labels = chosen
        if number + 1 < n_rounds:
            added = surest(scores, n_added)
            added_codes = labels[added]
    return Outcome(training, weights, intercepts, scores, rounds)
