"""Exact on the real data: no cell of a gram of reviews differs from an integer product of counts.

Presence on all 8000 reviews, which are more documents than a block of bits and than a tile, with n-grams numbered by a plain
dictionary, three times as fast as CountVectorizer; all kinds on an evenly spread quarter of them, counted by CountVectorizer.
(`python -m bench kernel` compares all kinds with it on all reviews.)
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import naive
from bench.corpus import read_reviews, spread
from conftest import KINDS
from gramshift import StringKernel

LO, HI = 5, 8


@pytest.fixture(scope="module")
def reviews(data_folder):
    texts = read_reviews(data_folder / "sorted_data_acl")
    assert len(texts) == 8000
    return texts


@pytest.fixture(scope="module")
def counts(reviews):
    vectorizer = CountVectorizer(analyzer="char", ngram_range=(LO, HI), lowercase=False)
    return vectorizer.fit_transform([naive.prepare(text) for text in spread(reviews, 2000)]).astype(np.int64)


def number_ngrams(texts):
    """A row for each text with a 1 for each n-gram that it has."""
    numbers, rows = {}, []
    for text in map(naive.prepare, texts):
        ngrams = {text[i : i + n] for n in range(LO, HI + 1) for i in range(len(text) - n + 1)}
        rows.append(np.array([numbers.setdefault(ngram, len(numbers)) for ngram in ngrams], np.int64))
    ends = np.cumsum([0, *map(len, rows)])
    return sparse.csr_array((np.ones(ends[-1], np.int64), np.concatenate(rows), ends), shape=(len(rows), len(numbers)))


def features(kind, counts):
    """Columns whose integer product is the kernel; for the intersection, count c sets c columns of its own n-gram."""
    if kind == "spectrum":
        return counts
    if kind == "presence":
        return counts.sign()
    most = counts.max(axis=0).toarray().ravel()
    first = np.cumsum(most) - most
    rows = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), counts.data)
    ends = np.cumsum(counts.data)
    number = np.arange(ends[-1]) - np.repeat(ends - counts.data, counts.data)
    columns = np.repeat(first[counts.indices], counts.data) + number
    return sparse.csr_array((np.ones(rows.size, np.int64), (rows, columns)), shape=(counts.shape[0], int(most.sum())))


def assert_equal(gram, matrix):
    """No cell of the gram differs from the product of the matrix with itself."""
    assert gram.shape == (matrix.shape[0], matrix.shape[0])
    assert np.array_equal(gram, gram.T)
    for start in range(0, len(gram), 1000):  # so that half of the blocks will do
        block = matrix[start : start + 1000] @ matrix[start:].T.tocsr()
        assert np.array_equal(gram[start : start + 1000, start:], block.toarray())


@pytest.mark.slow
def test_no_cell_of_8000_reviews_differs(reviews):
    assert_equal(StringKernel("presence", ngram_range=(LO, HI)).gram(reviews), number_ngrams(reviews))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_differs_from_scikit_learn(kind, reviews, counts):
    assert_equal(StringKernel(kind, ngram_range=(LO, HI)).gram(spread(reviews, 2000)), features(kind, counts))
