"""The classifiers that a round can train, by name."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.discriminant import DiscriminantSolver
from gramshift.learn.features import Described, Rows
from gramshift.learn.ridge import Fitted, RidgeSolver
from gramshift.learn.svm import MachineSolver
from gramshift.runtime.threads import Progress

Floats = NDArray[np.float64]


class Solver(Protocol):
    """Trains one-versus-all classifiers on parts of the documents."""

    def solve(self, training: Rows, targets: Floats) -> Fitted:
        """Train on some documents."""

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """What each training document scores when it does not take part."""


SOLVERS: dict[str, Callable[[Described, Rows, float, bool, Progress | None], Solver]] = {
    "ridge": lambda documents, source, alpha, bias, progress: RidgeSolver(
        documents, source, alpha, bias=bias, progress=progress
    ),
    "discriminant": lambda documents, source, alpha, bias, progress: DiscriminantSolver(
        documents, source, alpha, progress=progress
    ),
    "svm": lambda documents, source, alpha, bias, progress: MachineSolver(documents),
}
"""From (documents, source, alpha, bias, progress)."""
