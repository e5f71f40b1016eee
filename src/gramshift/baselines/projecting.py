"""Features beside the words: the words' documents projected into a few dimensions."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.checks import check_flag, check_number
from gramshift.baselines.word_features import binary, count_words, find_words, fit_logistic, score


class Projected(Baseline):
    """Logistic regression on the words that occur and on what a projection makes of them, if it adapts."""

    least: ClassVar[int]
    """Documents that a word must stand in."""
    gamma: float
    C: float
    adapt: bool

    @abstractmethod
    def _project(self, present: Any, codes: Codes) -> Floats:
        """Return a row per word; source documents, whose classes are known, stand first."""

    def _check_parameters(self) -> None:
        check_number("gamma", self.gamma)
        check_number("C", self.C)
        check_flag("adapt", self.adapt)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source + target, least=min(self.least, len(source)))
        present = binary(counts)
        projection = np.zeros((len(words), 0))
        if self.adapt:
            projection = rescale(present, self._project(present, codes), self.gamma)
        coefficients, intercepts = fit_logistic(join(present[: len(source)], projection), codes, C=self.C)
        return {"words": words, "projection": projection, "coefficients": coefficients, "intercepts": intercepts}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        features = join(binary(count_words(texts, state["words"])), state["projection"])
        return score(features, (state["coefficients"], state["intercepts"]))


def leading(matrix: Any, n: int) -> Floats:
    """The left singular vectors of the n largest singular values, largest first; the largest entry of each is positive."""
    if n >= min(matrix.shape):
        left, values, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        left, values, _ = svds(matrix, k=n, v0=np.ones(min(matrix.shape)), return_singular_vectors="u")
    left = left[:, np.argsort(-values, kind="stable")[:n]]
    return left * upright(left)


def upright(vectors: Floats) -> Floats:
    """Return 1 or -1 for each column, so that its largest entry becomes positive."""
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.where(signs == 0, 1.0, signs)


def rescale(features: Any, projection: Floats, gamma: float) -> Floats:
    """The projection, such that projected documents are gamma times as long as they are themselves, in the mean."""
    return projection * (gamma * mean_length(features) / max(mean_length(features @ projection), 1e-12))


def mean_length(features: Any) -> float:
    """Return the mean length of the rows."""
    squares = features.multiply(features) if sparse.issparse(features) else features**2
    return float(np.sqrt(np.asarray(squares.sum(axis=1))).mean())


def join(features: Any, projection: Floats) -> Any:
    """The features, and beside them what the projection makes of them."""
    return sparse.hstack([features, sparse.csr_matrix(features @ projection)], format="csr")
