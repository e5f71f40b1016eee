"""Inputs at the edges of size."""

import numpy as np
import pytest

import naive
from conftest import KINDS
from gramshift.kernels.gram import compute_gram
from gramshift.runtime import Runtime


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_a_document_of_ten_megabytes(kind):
    rng = np.random.default_rng(0)
    word = "".join(rng.choice(list("abcdefghij "), 5000))
    long = word * 2000
    result = compute_gram(
        [long, word, "abcde fghij"], kind=kind, ngram_range=(5, 8), runtime=Runtime()
    )
    counts = naive.ngrams(word, (5, 8))
    assert result[1, 1] == naive.kernel(kind, counts, counts)
    # the long document is the word 2000 times: it has the n-grams of the word closed to a ring,
    # each 2000 times, except those that would cross the end
    ring = naive.ngrams(word + word[:7], (8, 8))
    assert len(ring) == 5000
    for n in (5, 6, 7):
        ring += naive.ngrams(word + word[: n - 1], (n, n))
    many = {gram: count * 2000 for gram, count in ring.items()}
    for n in range(5, 9):
        for i in range(n - 1):
            many[(word * 2)[5000 - i - 1 : 5000 - i - 1 + n]] -= 1
    expected = {
        "presence": sum(1 for count in many.values() if count),
        "intersection": sum(many.values()),
        "spectrum": sum(count * count for count in many.values()),
    }
    assert sum(many.values()) == sum(len(long) - n + 1 for n in range(5, 9))
    assert result[0, 0] == expected[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_thousand_documents_of_one_character(kind):
    letters = "abcdefghij"
    documents = list(letters) * 10_000
    result = compute_gram(
        documents, list(letters[:3]), kind=kind, ngram_range=(1, 2), runtime=Runtime()
    )
    assert result.shape == (100_000, 3)
    assert (result == np.tile(np.eye(10, 3, dtype=int), (10_000, 1))).all()
    turned = compute_gram(
        list(letters[:3]), documents, kind=kind, ngram_range=(1, 2), runtime=Runtime()
    )
    assert (turned == result.T).all()
