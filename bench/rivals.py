"""The same by scikit-learn, NumPy and SciPy: kernel matrices of counted n-grams, and Algorithm 1 of the paper."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from bench.corpus import NGRAM_RANGE, Texts

Gram = NDArray[np.int64]
Floats = NDArray[np.float64]
N_ADDED = 1000
ALPHA = 1e-5


class MismatchError(Exception):
    """Two contestants disagree, so that their times mean nothing."""


def count(texts: Texts, *, binary: bool = False) -> Any:
    """Documents by n-grams, int64; the texts are normalised already."""
    return CountVectorizer(analyzer="char", ngram_range=NGRAM_RANGE, lowercase=False, binary=binary).fit_transform(texts)


def multiply(features: Any) -> Gram:
    """All inner products of rows, as a full matrix."""
    gram: Gram = (features @ features.T).toarray()
    return gram


def presence(texts: Texts) -> Gram:
    """Distinct n-grams that two texts share."""
    return multiply(count(texts, binary=True))


def spectrum(texts: Texts) -> Gram:
    """Products of counts."""
    return multiply(count(texts))


def intersection(texts: Texts) -> Gram:
    """Smaller counts, summed: presence over numbered occurrences."""
    return multiply(number_occurrences(count(texts)))


def number_occurrences(counts: Any) -> Any:
    """A column for the first, second, ... occurrence of every n-gram: a count of c sets the first c of its columns."""
    most = np.zeros(counts.shape[1], np.int64)
    np.maximum.at(most, counts.indices, counts.data)
    ends = np.cumsum(counts.data)
    first_column = np.cumsum(most) - most
    number = np.arange(ends[-1]) - np.repeat(ends - counts.data, counts.data)
    columns = np.repeat(first_column[counts.indices], counts.data) + number
    bounds = np.concatenate(([0], ends))[counts.indptr]
    return csr_matrix((np.ones(columns.size, np.int64), columns, bounds), shape=(counts.shape[0], int(most.sum())))


GRAMS: dict[str, Callable[[Texts], Gram]] = {"presence": presence, "intersection": intersection, "spectrum": spectrum}


def require_equal(ours: Gram, theirs: Gram, what: str) -> None:
    """Every cell must be the same."""
    if ours.dtype != theirs.dtype or not np.array_equal(ours, theirs):
        differ = f"{np.count_nonzero(ours != theirs)} of {ours.size} cells" if ours.shape == theirs.shape else "shapes"
        raise MismatchError(f"{what}: gramshift and scikit-learn differ ({differ}, {ours.dtype} and {theirs.dtype})")


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
