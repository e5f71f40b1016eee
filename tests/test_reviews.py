"""Exactness on reviews: every cell of a kernel matrix equals a product of scikit-learn's counts.

1500 reviews are more documents than a block of bits, and tiles are smaller than they are.
(`python -m bench kernel` compares all reviews.)
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import naive
from conftest import KINDS
from gramshift import StringKernel
from gramshift.datasets.reviews import load_sentiment
from gramshift.runtime import Runtime

LO, HI = 5, 8


N_REVIEWS = 1500
TILE = (700, 900)


@pytest.fixture(scope="module")
def reviews(data_folder):
    domains = load_sentiment(data_folder).domains.values()
    texts = [text for domain in domains for text in domain.texts("title+text")]
    assert len(texts) == 8000
    return [texts[i * len(texts) // N_REVIEWS] for i in range(N_REVIEWS)]


@pytest.fixture(scope="module")
def counts(reviews):
    vectorizer = CountVectorizer(analyzer="char", ngram_range=(LO, HI), lowercase=False)
    return vectorizer.fit_transform([naive.prepare(text) for text in reviews]).astype(np.int64)


def features(kind, counts):
    """Return columns whose integer product is the kernel; a count c of an intersection has c."""
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
    return sparse.csr_array(
        (np.ones(rows.size, np.int64), (rows, columns)), shape=(counts.shape[0], int(most.sum()))
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_differs_from_scikit_learn(kind, reviews, counts):
    gram = (
        StringKernel(kind, ngram_range=(LO, HI))
        .parse()
        .compute(reviews, runtime=Runtime(2, tile=TILE))
    )
    matrix = features(kind, counts)
    assert np.array_equal(gram, (matrix @ matrix.T.tocsr()).toarray())
