"""Marginalised stacked denoising autoencoders, each layer solved in closed form."""

from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.preprocessing import normalize

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.word_features import (
    binary,
    count_words,
    document_frequency,
    find_words,
    fit_machine,
    largest,
)

MIN_DOCUMENTS = 2  # that contain a word
RIDGE = 1e-5  # added to the diagonal, as published; words may always occur together


class MSDA(Baseline):
    """Marginalised stacked denoising autoencoders of Chen, Xu, Weinberger and Sha (ICML 2012).

    Each layer is the linear map that best restores source and target documents after random
    deletion of words, in expectation over all deletions. The hyperbolic tangent of its output is
    the input of the next layer. A linear support vector machine learns from the words and all
    layers together.

    Parameters
    ----------
    n_words : int
        Number of words: the most frequent of both domains, each in at least two documents.
    n_layers : int
        Number of layers.
    noise : float
        Probability that a word is deleted.
    C : float
        Inverse regularisation of the machine, for rows of length 1.
    adapt : bool
        False to train on the words alone.
    """

    largest: ClassVar = {"noise": 0.99}

    def __init__(
        self,
        *,
        n_words: int = 2000,
        n_layers: int = 5,
        noise: float = 0.5,
        C: float = 0.3,
        adapt: bool = True,
    ) -> None:
        self.n_words = n_words
        self.n_layers = n_layers
        self.noise = noise
        self.C = C
        self.adapt = adapt

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        least = min(MIN_DOCUMENTS, len(source))
        words, counts = find_words(source + target, longest=1, least=least)
        chosen = largest(document_frequency(counts).astype(float), self.n_words)
        present = binary(counts[:, chosen])
        hidden = present
        parts = [present[: len(source)]]
        layers = []
        for _ in range(self.n_layers if self.adapt else 0):
            layers.append(denoise(hidden, self.noise))
            hidden = restore(hidden, layers[-1])
            parts.append(hidden[: len(source)])
        linear = fit_machine(side_by_side(parts), codes, C=self.C)
        return {"words": [words[i] for i in chosen], "layers": layers, "linear": linear}

    def _describe(self, state: State, texts: list[str]) -> Any:
        parts: list[Any] = [binary(count_words(texts, state["words"]))]
        for weights in state["layers"]:
            parts.append(restore(parts[-1], weights))
        return side_by_side(parts)


def denoise(rows: Any, noise: float) -> Floats:
    """Return the linear map from rows with deleted values to whole rows with the least mean error.

    A constant 1 is added to the rows and never deleted. The expectations are in closed form: two
    different values are both kept with probability (1 - noise) squared.
    """
    products = rows.T @ rows
    sums = np.asarray(rows.sum(axis=0)).ravel()
    products = products.toarray() if sparse.issparse(products) else products
    products = np.block([[products, sums[:, None]], [sums, np.array([rows.shape[0]])]])
    kept = np.append(np.full(rows.shape[1], 1 - noise), 1.0)
    noisy = products * np.outer(kept, kept)
    np.fill_diagonal(noisy, np.diagonal(products) * kept + RIDGE)
    weights: Floats = linalg.solve(noisy, (products[:-1] * kept).T, assume_a="pos")
    return weights


def restore(rows: Any, weights: Floats) -> Floats:
    """Return the output of a layer."""
    result: Floats = np.tanh(rows @ weights[:-1] + weights[-1])
    return result


def side_by_side(parts: list[Any]) -> Any:
    """Return words and all layers in one matrix with rows of length 1."""
    rows = parts[0] if len(parts) == 1 else np.hstack([parts[0].toarray(), *parts[1:]])
    return normalize(rows)
