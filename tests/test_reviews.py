"""Exact on the real data: no cell of the grams of 8000 reviews differs from CountVectorizer with an integer product."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import naive
from bench.corpus import read_reviews
from conftest import KINDS
from gramshift import StringKernel


@pytest.fixture(scope="module")
def reviews(data_folder):
    texts = read_reviews(data_folder / "sorted_data_acl")
    assert len(texts) == 8000
    return texts


@pytest.fixture(scope="module")
def counts(reviews):
    vectorizer = CountVectorizer(analyzer="char", ngram_range=(5, 8), lowercase=False)
    return vectorizer.fit_transform([naive.prepare(text) for text in reviews]).astype(np.int64)


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


@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_differs_from_scikit_learn(kind, reviews, counts):
    gram = StringKernel(kind, ngram_range=(5, 8)).gram(reviews)
    matrix = features(kind, counts)
    assert np.array_equal(gram, gram.T)
    for start in range(0, 8000, 1000):  # so that half of the blocks will do
        block = matrix[start : start + 1000] @ matrix[start:].T.tocsr()
        assert np.array_equal(gram[start : start + 1000, start:], block.toarray())
