"""Exact on the real data: no cell of a gram of reviews differs from CountVectorizer with an integer product.

Presence on all 8000, which has more documents than a block of bits and than a tile; the kinds that differ from it in how they
count on an evenly spread quarter of them.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import naive
from bench.corpus import read_reviews, spread
from gramshift import StringKernel


@pytest.fixture(scope="module")
def reviews(data_folder):
    texts = read_reviews(data_folder / "sorted_data_acl")
    assert len(texts) == 8000
    return texts


def count(texts):
    vectorizer = CountVectorizer(analyzer="char", ngram_range=(5, 8), lowercase=False)
    return vectorizer.fit_transform([naive.prepare(text) for text in texts]).astype(np.int64)


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


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_reviews"), [("presence", 8000), ("intersection", 2000), ("spectrum", 2000)])
def test_no_cell_differs_from_scikit_learn(kind, n_reviews, reviews):
    texts = spread(reviews, n_reviews)
    gram = StringKernel(kind, ngram_range=(5, 8)).gram(texts)
    matrix = features(kind, count(texts))
    assert np.array_equal(gram, gram.T)
    for start in range(0, n_reviews, 1000):  # so that half of the blocks will do
        block = matrix[start : start + 1000] @ matrix[start:].T.tocsr()
        assert np.array_equal(gram[start : start + 1000, start:], block.toarray())
