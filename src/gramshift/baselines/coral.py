"""Correlation alignment: source features get the covariance of the target features."""

from typing import Any

import numpy as np

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.word_features import (
    binary,
    count_words,
    find_words,
    fit_machine,
    inverse_frequency,
    largest,
    mutual_information,
    weigh,
)


class CORAL(Baseline):
    """Correlation alignment of Sun, Feng and Saenko (AAAI 2016).

    Features are the words with the largest mutual information with the source's labels, weighted by
    inverse document frequency in the source; rows have length 1.

    Parameters
    ----------
    n_words : int
        Number of words.
    regularization : float
        Added to the variances of both domains, which are of the order of 0.001.
    C : float
        Inverse regularisation of the linear support vector machine.
    adapt : bool
        False to train on the source features without alignment.
    """

    def __init__(
        self,
        *,
        n_words: int = 400,
        regularization: float = 0.01,
        C: float = 0.1,
        adapt: bool = True,
    ) -> None:
        self.n_words = n_words
        self.regularization = regularization
        self.C = C
        self.adapt = adapt

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source, longest=1)
        chosen = largest(mutual_information(binary(counts), codes), self.n_words)
        words = [words[i] for i in chosen]
        inverse = inverse_frequency(counts[:, chosen])
        features = weigh(counts[:, chosen], inverse).toarray()
        state: State = {"words": words, "inverse": inverse}
        if self.adapt:
            theirs = self._describe(state, target).toarray()
            features = recolour(features, theirs, self.regularization)
        return state | {"linear": fit_machine(features, codes, C=self.C)}

    def _describe(self, state: State, texts: list[str]) -> Any:
        return weigh(count_words(texts, state["words"]), state["inverse"])


def recolour(source: Floats, target: Floats, regularization: float) -> Floats:
    """Whiten source rows with their own covariance and recolour them with the target's."""
    whiten = _power(_covariance(source) + regularization * np.eye(source.shape[1]), -0.5)
    colour = _power(_covariance(target) + regularization * np.eye(source.shape[1]), 0.5)
    return source @ whiten @ colour


def _covariance(rows: Floats) -> Floats:
    centred = rows - rows.mean(axis=0)
    result: Floats = centred.T @ centred / max(len(rows) - 1, 1)
    return result


def _power(matrix: Floats, exponent: float) -> Floats:
    """Return a power of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    result: Floats = (vectors * np.maximum(values, 1e-12) ** exponent) @ vectors.T
    return result
