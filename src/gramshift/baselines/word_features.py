"""Words and pairs of neighbouring words as columns of a sparse matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

Floats = NDArray[np.float64]
TOKEN = r"(?u)\b\w+\b"  # one letter is a word too


def find_words(texts: list[str], *, longest: int = 2, least: int = 1) -> tuple[list[str], Any]:
    """Words, and pairs if ``longest`` is 2, of at least so many documents, in order; and how often each document has each."""
    vectorizer = CountVectorizer(token_pattern=TOKEN, ngram_range=(1, longest), dtype=np.float64)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # scikit-learn speaks of stop words here
        raise ValueError(f"the {len(texts)} documents have no word at all; this method compares words") from None
    words = vectorizer.get_feature_names_out()
    kept = np.flatnonzero(document_frequency(counts) >= least)
    if not len(kept):
        raise ValueError(f"no word stands in {least} of the {len(texts)} documents; this method needs more documents")
    return words[kept].tolist(), counts[:, kept]


def count_words(texts: list[str], words: list[str]) -> Any:
    """How often each text has each of these words, sparse."""
    longest = max((word.count(" ") + 1 for word in words), default=1)
    vectorizer = CountVectorizer(token_pattern=TOKEN, ngram_range=(1, longest), vocabulary=words, dtype=np.float64)
    return vectorizer.transform(texts)


def binary(counts: Any) -> Any:
    """1 where a word occurs."""
    result = counts.copy()
    result.data[:] = 1
    return result


def document_frequency(counts: Any) -> NDArray[np.intp]:
    """Documents per word."""
    return np.bincount(counts.tocsr().indices, minlength=counts.shape[1])


def inverse_frequency(counts: Any) -> Floats:
    """As scikit-learn has it: log((1 + documents) / (1 + documents of the word)) + 1."""
    result: Floats = np.log((1 + counts.shape[0]) / (1 + document_frequency(counts))) + 1
    return result


def weigh(counts: Any, inverse: Floats) -> Any:
    """(1 + log count) times the inverse frequency; rows of length 1."""
    result = counts.copy()
    result.data = 1 + np.log(result.data)
    return normalize(result @ sparse.diags(inverse), copy=False).tocsr()
