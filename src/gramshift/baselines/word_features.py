"""Words of texts, their weights and information, and linear classifiers, for the baselines."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from gramshift.errors import InputError
from gramshift.parallel import ONE_BLAS_THREAD

Floats = NDArray[np.float64]
TOKEN = r"(?u)\b\w+\b"  # one letter is a word too


def find_words(texts: list[str], *, longest: int = 2, least: int = 1) -> tuple[list[str], Any]:
    """Return the sorted words of at least ``least`` documents, and their counts.

    With ``longest=2`` pairs of words are included.
    """
    return _find(_word_counter(longest), texts, least)


def find_characters(
    texts: list[str], ngram_range: tuple[int, int], *, least: int = 1
) -> tuple[list[str], Any]:
    """Return character n-grams within words, with a blank before and after, and their counts."""
    return _find(_character_counter(ngram_range), texts, least)


def count_words(texts: list[str], words: list[str]) -> Any:
    """Return the counts of these words in each text, as a sparse matrix."""
    longest = max((word.count(" ") + 1 for word in words), default=1)
    return _word_counter(longest, words).transform(texts)


def count_characters(texts: list[str], ngrams: list[str], ngram_range: tuple[int, int]) -> Any:
    """Return the counts of these character n-grams in each text, as a sparse matrix."""
    return _character_counter(ngram_range, ngrams).transform(texts)


def _word_counter(longest: int, words: list[str] | None = None) -> CountVectorizer:
    return CountVectorizer(
        token_pattern=TOKEN, ngram_range=(1, longest), vocabulary=words, dtype=np.float64
    )


def _character_counter(
    ngram_range: tuple[int, int], ngrams: list[str] | None = None
) -> CountVectorizer:
    return CountVectorizer(
        analyzer="char_wb", ngram_range=ngram_range, vocabulary=ngrams, dtype=np.float64
    )


def _find(vectorizer: CountVectorizer, texts: list[str], least: int) -> tuple[list[str], Any]:
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # the message of scikit-learn is about stop words
        raise InputError(
            f"the {len(texts)} documents have no word at all; this method compares words"
        ) from None
    words = vectorizer.get_feature_names_out()
    kept = np.flatnonzero(document_frequency(counts) >= least)
    if not len(kept):
        raise InputError(
            f"no word is in {least} of the {len(texts)} documents; this method needs more documents"
        )
    return words[kept].tolist(), counts[:, kept]


def tabulate(bags: Iterable[Mapping[str, float]], keys: Iterable[str]) -> Any:
    """Return a sparse matrix with a row for each bag, and its value of each key in a column."""
    places = {key: place for place, key in enumerate(keys)}
    indices: list[int] = []
    values: list[float] = []
    ends = [0]
    for bag in bags:
        cells = sorted((places[key], value) for key, value in bag.items() if key in places)
        indices += [place for place, _ in cells]
        values += [value for _, value in cells]
        ends.append(len(indices))
    arrays = (np.array(values), np.array(indices, np.intp), np.array(ends, np.intp))
    return sparse.csr_matrix(arrays, shape=(len(ends) - 1, len(places)), dtype=np.float64)


def binary(counts: Any) -> Any:
    """Return counts with 1 for each word that occurs."""
    result = counts.copy()
    result.data[:] = 1
    return result


def document_frequency(counts: Any) -> NDArray[np.intp]:
    """Return the number of documents that contain each word."""
    return np.bincount(counts.tocsr().indices, minlength=counts.shape[1])


def inverse_frequency(counts: Any) -> Floats:
    """Return log((1 + documents) / (1 + documents with the word)) + 1, as scikit-learn does."""
    result: Floats = np.log((1 + counts.shape[0]) / (1 + document_frequency(counts))) + 1
    return result


def weigh(counts: Any, inverse: Floats) -> Any:
    """Return (1 + log count) times the inverse frequency, in rows of length 1."""
    result = counts.copy()
    result.data = 1 + np.log(result.data)
    return normalize(result @ sparse.diags(inverse), copy=False).tocsr()


def mutual_information(present: Any, codes: NDArray[np.intp], *, absence: bool = True) -> Floats:
    """Return the mutual information, in bits, of each word's presence with the classes.

    With absence=False, only the terms of documents that contain the word are summed.
    """
    n_rows = present.shape[0]
    of_class = np.bincount(codes)
    joint = np.vstack(
        [np.asarray(present[codes == code].sum(axis=0)).ravel() for code in range(len(of_class))]
    )
    result = _terms(joint, of_class, n_rows)
    return result + _terms(of_class[:, None] - joint, of_class, n_rows) if absence else result


def _terms(joint: Floats, of_class: NDArray[np.intp], n_rows: int) -> Floats:
    """Return the sum over classes c of p(x, c) log2 p(x, c) / (p(x) p(c)) for one value of x."""
    expected = joint.sum(axis=0) * of_class[:, None] / n_rows
    ratio = np.divide(joint, expected, out=np.ones_like(joint, dtype=float), where=joint > 0)
    result: Floats = (joint / n_rows * np.log2(ratio)).sum(axis=0)
    return result


def largest(values: Floats, n: int) -> NDArray[np.intp]:
    """Return the sorted indices of the n largest values; of equal values the earlier."""
    return np.sort(np.argsort(-values, kind="stable")[:n])


def count_in_both(present: Any, n_source: int) -> NDArray[np.intp]:
    """Return the smaller of each word's numbers of source and target documents."""
    return np.minimum(
        document_frequency(present[:n_source]), document_frequency(present[n_source:])
    )


def most_worth(worth: Floats, in_both: NDArray[np.intp], least: int, n: int) -> NDArray[np.intp]:
    """Return up to n words of the largest worth that ``least`` documents of each domain contain.

    If no word is in as many documents, those that are in most are taken.
    """
    is_frequent = in_both >= min(least, in_both.max())
    return largest(np.where(is_frequent, worth, -np.inf), min(n, int(is_frequent.sum())))


Codes = NDArray[np.intp]
Linear = tuple[Floats, Floats]
"""Coefficients (columns x classes) and intercepts; for two classes one is minus the other."""


def fit_logistic(X: Any, codes: Codes, *, C: float, weights: Floats | None = None) -> Linear:
    """Fit logistic regression with a quadratic penalty and ``weights`` of rows.

    It runs on one thread, because its vector operations are too short for several BLAS threads.
    """
    with ONE_BLAS_THREAD:
        return columns(LogisticRegression(C=C, max_iter=5000).fit(X, codes, sample_weight=weights))


def fit_machine(X: Any, codes: Codes, *, C: float) -> Linear:
    """Fit a linear support vector machine with squared hinge loss, one class against the rest."""
    return columns(LinearSVC(C=C, max_iter=20000, random_state=0).fit(X, codes))


def score(X: Any, linear: Linear) -> Floats:
    """Return scores, with a column for each class."""
    coefficients, intercepts = linear
    return np.asarray(X @ coefficients + intercepts)


def columns(model: Any) -> Linear:
    """Return coefficients and intercepts of a scikit-learn model, with a column for each class."""
    coefficients, intercepts = model.coef_.T, model.intercept_
    if coefficients.shape[1] == 1:
        coefficients = np.hstack([-coefficients, coefficients])
        intercepts = np.array([-intercepts[0], intercepts[0]])
    return np.ascontiguousarray(coefficients), intercepts
