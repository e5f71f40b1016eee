"""Algorithm 1 of the paper as one would write it down with NumPy and SciPy, in double precision."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]
N_ADDED = 1000
ALPHA = 1e-5


def algorithm_1(gram: NDArray[np.int64], codes: NDArray[Any], n_source: int) -> Floats:
    """Scores of the target documents, which stand after the source, after two rounds; two classes, 0 and 1."""
    diagonal = np.sqrt(np.maximum(np.diagonal(gram), 1))  # a document without n-grams shares none: 0 / 1
    kernel = gram / np.outer(diagonal, diagonal)
    kernel = np.exp(-1 + kernel)
    kernel = kernel @ kernel.T
    train, labels = np.arange(n_source), codes[:n_source]
    scores = fit_predict(kernel, train, labels, n_source)
    surest = np.argsort(-np.abs(scores), kind="stable")[: min(N_ADDED, len(scores) // 2)]
    train = np.concatenate([train, n_source + surest])
    labels = np.concatenate([labels, (scores[surest] > 0).astype(int)])
    return fit_predict(kernel, train, labels, n_source)


def fit_predict(kernel: Floats, train: NDArray[Any], labels: NDArray[Any], n_source: int) -> Floats:
    """Kernel ridge regression on +1 and -1."""
    system = kernel[np.ix_(train, train)] + ALPHA * np.eye(len(train))
    weights = linalg.solve(system, np.where(labels == 1, 1.0, -1.0), assume_a="pos")
    scores: Floats = kernel[n_source:][:, train] @ weights
    return scores


def label_reviews(n: int) -> tuple[NDArray[np.intp], int]:
    """Classes of n evenly spread reviews, and how many of them are source: of four domains, each half positive, the last is
    the target."""
    places = np.arange(n)
    return (places * 8 // n + 1) % 2, n - n // 4
