"""Correlation alignment: the source's features get the covariances of the target's."""

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
    score,
    weigh,
)


class CORAL(Baseline):
    """Correlation alignment of Sun, Feng and Saenko (AAAI 2016) on the words that tell most of the source's labels.

    Words are weighted by their inverse document frequency in the source; rows have length 1.

    Parameters
    ----------
    n_words : int
        Words that tell most of the labels.
    regularization : float
        Added to the variances of both domains, which are a few thousandths here.
    C : float
        Inverse of the linear support vector machine's penalty.
    adapt : bool
        False for the machine on the source's features as they are.
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
        if self.adapt:
            features = recolour(
                features, weigh(count_words(target, words), inverse).toarray(), self.regularization
            )
        return {
            "words": words,
            "inverse": inverse,
            "linear": fit_machine(features, codes, C=self.C),
        }

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        features = weigh(count_words(texts, state["words"]), state["inverse"])
        return score(features, state["linear"])


def recolour(source: Floats, target: Floats, regularization: float) -> Floats:
    """The source's rows times the inverse root of their own covariance and the root of the target's."""
    whiten = _power(_covariance(source) + regularization * np.eye(source.shape[1]), -0.5)
    colour = _power(_covariance(target) + regularization * np.eye(source.shape[1]), 0.5)
    return source @ whiten @ colour


def _covariance(rows: Floats) -> Floats:
    centred = rows - rows.mean(axis=0)
    result: Floats = centred.T @ centred / max(len(rows) - 1, 1)
    return result


def _power(matrix: Floats, exponent: float) -> Floats:
    """Return a power of a symmetric matrix without eigenvalues below 0."""
    values, vectors = np.linalg.eigh(matrix)
    result: Floats = (vectors * np.maximum(values, 1e-12) ** exponent) @ vectors.T
    return result
