"""What baselines on words have in common: words of texts, what they say of classes, linear classifiers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from gramshift.errors import InputError
from gramshift.runtime.threads import ONE_BLAS_THREAD

Floats = NDArray[np.float64]
TOKEN = r"(?u)\b\w+\b"  # one letter is a word too


def find_words(texts: list[str], *, longest: int = 2, least: int = 1) -> tuple[list[str], Any]:
    """Find words, and pairs if ``longest`` is 2, of at least so many documents, in order, and count them in each document."""
    return _find(
        CountVectorizer(token_pattern=TOKEN, ngram_range=(1, longest), dtype=np.float64),
        texts,
        least,
    )


def find_characters(
    texts: list[str], ngram_range: tuple[int, int], *, least: int = 1
) -> tuple[list[str], Any]:
    """Find character n-grams within words, a blank before and after each word, as find_words finds words."""
    return _find(
        CountVectorizer(analyzer="char_wb", ngram_range=ngram_range, dtype=np.float64), texts, least
    )


def _find(vectorizer: CountVectorizer, texts: list[str], least: int) -> tuple[list[str], Any]:
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # scikit-learn speaks of stop words here
        raise InputError(
            f"the {len(texts)} documents have no word at all; this method compares words"
        ) from None
    words = vectorizer.get_feature_names_out()
    kept = np.flatnonzero(document_frequency(counts) >= least)
    if not len(kept):
        raise InputError(
            f"no word stands in {least} of the {len(texts)} documents; this method needs more documents"
        )
    return words[kept].tolist(), counts[:, kept]


def count_words(texts: list[str], words: list[str]) -> Any:
    """How often each text has each of these words, sparse."""
    longest = max((word.count(" ") + 1 for word in words), default=1)
    vectorizer = CountVectorizer(
        token_pattern=TOKEN, ngram_range=(1, longest), vocabulary=words, dtype=np.float64
    )
    return vectorizer.transform(texts)


def count_characters(texts: list[str], ngrams: list[str], ngram_range: tuple[int, int]) -> Any:
    """How often each text has each of these character n-grams within words, sparse."""
    vectorizer = CountVectorizer(
        analyzer="char_wb", ngram_range=ngram_range, vocabulary=ngrams, dtype=np.float64
    )
    return vectorizer.transform(texts)


def binary(counts: Any) -> Any:
    """Return 1 where a word occurs."""
    result = counts.copy()
    result.data[:] = 1
    return result


def document_frequency(counts: Any) -> NDArray[np.intp]:
    """Documents per word."""
    return np.bincount(counts.tocsr().indices, minlength=counts.shape[1])


def inverse_frequency(counts: Any) -> Floats:
    """Return, as scikit-learn does, log((1 + documents) / (1 + documents of the word)) + 1."""
    result: Floats = np.log((1 + counts.shape[0]) / (1 + document_frequency(counts))) + 1
    return result


def weigh(counts: Any, inverse: Floats) -> Any:
    """Weigh by (1 + log count) times the inverse frequency; rows of length 1."""
    result = counts.copy()
    result.data = 1 + np.log(result.data)
    return normalize(result @ sparse.diags(inverse), copy=False).tocsr()


def mutual_information(present: Any, codes: NDArray[np.intp], *, absence: bool = True) -> Floats:
    """Return the information that each column, 1 where a word occurs, has of the classes of the rows; in bits.

    Without ``absence`` only the terms of documents that have the word are added up.
    """
    n_rows = present.shape[0]
    of_class = np.bincount(codes)
    joint = np.vstack(
        [np.asarray(present[codes == code].sum(axis=0)).ravel() for code in range(len(of_class))]
    )
    result = _terms(joint, of_class, n_rows)
    return result + _terms(of_class[:, None] - joint, of_class, n_rows) if absence else result


def _terms(joint: Floats, of_class: NDArray[np.intp], n_rows: int) -> Floats:
    """The sum over classes of p(x, c) log2 p(x, c) / (p(x) p(c)), for one value of x."""
    expected = joint.sum(axis=0) * of_class[:, None] / n_rows
    ratio = np.divide(joint, expected, out=np.ones_like(joint, dtype=float), where=joint > 0)
    result: Floats = (joint / n_rows * np.log2(ratio)).sum(axis=0)
    return result


def largest(values: Floats, n: int) -> NDArray[np.intp]:
    """The places of the n largest, in their order; of equal ones the earlier."""
    return np.sort(np.argsort(-values, kind="stable")[:n])


Codes = NDArray[np.intp]
Linear = tuple[Floats, Floats]
"""Coefficients (columns x classes) and intercepts; with two classes one is the other's mirror image."""


def fit_logistic(X: Any, codes: Codes, *, C: float, weights: Floats | None = None) -> Linear:
    """Logistic regression with a quadratic penalty; ``weights`` of the rows.

    On one thread: its steps on vectors are so short that waiting threads of BLAS take several times the time of the work.
    """
    with ONE_BLAS_THREAD:
        return columns(LogisticRegression(C=C, max_iter=5000).fit(X, codes, sample_weight=weights))


def fit_machine(X: Any, codes: Codes, *, C: float) -> Linear:
    """Support vectors with squared hinge loss, one class against the rest."""
    return columns(LinearSVC(C=C, max_iter=20000, random_state=0).fit(X, codes))


def score(X: Any, linear: Linear) -> Floats:
    """Return scores, a column per class."""
    coefficients, intercepts = linear
    return np.asarray(X @ coefficients + intercepts)


def columns(model: Any) -> Linear:
    """Return the coefficients and intercepts of a fitted model of scikit-learn, a column per class."""
    coefficients, intercepts = model.coef_.T, model.intercept_
    if coefficients.shape[1] == 1:
        coefficients, intercepts = (
            np.hstack([-coefficients, coefficients]),
            np.array([-intercepts[0], intercepts[0]]),
        )
    return np.ascontiguousarray(coefficients), intercepts
