"""All that it takes to score a document, and nothing else: what a classifier keeps, saves and explains."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.features import Described
from gramshift.model.inputs import as_gram, check_rows
from gramshift.model.similarities import Comparison

Floats = NDArray[np.float64]
BLOCK = 4096  # documents that are compared at a time


@dataclass(frozen=True)
class Model:
    """The documents of the fit, how new ones are compared with them, and what each similarity is worth per class.

    Without ``comparison`` the similarities are given; ``normalized`` says whether they were in the fit.
    """

    comparison: Comparison | None
    documents: Sequence[Any]
    adapt: bool
    coefficients: Floats
    intercepts: Floats
    normalized: bool = True

    def score(self, X: Any) -> Floats:
        """A column of scores per class. A document's score does not depend on the others."""
        parts = [self._score(X[start : start + BLOCK]) for start in range(0, len(X), BLOCK)]
        return np.vstack(parts) if parts else np.zeros((0, len(self.intercepts)))

    def describe(self, X: Any) -> Described:
        """New documents by their similarities to those of the fit."""
        if self.comparison is not None:
            return self.comparison.describe(X, self.documents, adapt=self.adapt)
        gram, n = as_gram(X), len(self.coefficients)
        if gram.ndim != 2 or gram.shape[1] != n:
            raise ValueError(f"X has shape {gram.shape}; give the kernel of new documents with all {n} fitted ones")
        if not self.normalized:
            advice = "divide it so that every document has 1 with itself, and fit again"
            raise ValueError(f"new documents need a normalised gram: {advice}")
        check_rows(gram)
        return Described(gram, np.ones(len(gram)), np.ones(n), self.adapt)

    def compare(self, X: Sequence[str], others: Sequence[str]) -> Floats:
        """The similarities of texts to some documents of the fit, before anything is adapted."""
        assert self.comparison is not None
        if not self.comparison.by_weights:
            return self.comparison.describe(X, others, adapt=False).gram
        place = {text: number for number, text in enumerate(self.documents)}  # weights come from all of them
        columns = [place[text] for text in others]
        return self.comparison.describe(X, self.documents, adapt=False).gram[:, columns]

    def _score(self, X: Any) -> Floats:
        return self.describe(X).multiply(self.coefficients) + self.intercepts


@dataclass(eq=False)
class Calibration:
    """Of the probabilities; filled when first asked for."""

    steepness: float = 0.0
    scores: Floats | None = None
    """Of the target documents; those that joined the training are scored by classifiers that did not learn from them."""
