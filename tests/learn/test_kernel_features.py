from math import e, exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import texts
from gramshift import StringKernel
from gramshift.learn.features import (
    KernelFeatures,
    adapted_kernel,
    compact,
    exponential,
    normalize_gram,
)


@given(texts, st.booleans(), st.integers(1, 2))
@pytest.mark.slow
def test_products_equal_those_of_whole_arrays(documents, adapt, n_threads):
    gram = StringKernel("intersection", ngram_range=(1, 2)).gram(["ab", *documents])
    documents = ["ab", *documents]
    whole = normalize_gram(gram)
    whole = exponential(whole) if adapt else whole
    features = KernelFeatures.from_gram(gram, adapt=adapt, n_threads=n_threads)
    vectors = np.random.default_rng(0).normal(size=(len(documents), 3))
    rows = np.arange(len(documents))[::2]
    np.testing.assert_allclose(features.multiply(vectors), whole @ vectors, rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        features.multiply(vectors, rows), whole[rows] @ vectors, rtol=0, atol=1e-13
    )
    np.testing.assert_allclose(
        features.gather(vectors[rows], rows), whole[rows].T @ vectors[rows], rtol=0, atol=1e-13
    )
    centred, means = features.centred(rows)
    expected = whole[rows].mean(axis=1) if adapt else np.zeros(len(rows))
    np.testing.assert_allclose(means, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(centred, whole[rows] - expected[:, None], rtol=0, atol=1e-6)
    kernel = adapted_kernel(whole) if adapt else whole
    np.testing.assert_allclose(
        features.kernel(rows), kernel[np.ix_(rows, rows)], rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("n", [1, 511, 512, 513, 1300])
def test_pieces_end_where_rows_end(n):
    values = np.random.default_rng(n).uniform(-1, 1, size=(3, n))
    features = KernelFeatures(values, np.ones(3), np.ones(n), adapt=True)
    vectors = np.random.default_rng(1).normal(size=(n, 2))
    np.testing.assert_allclose(
        features.multiply(vectors), np.exp(values - 1) @ vectors, rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("largest", [1, 0.25])
def test_the_power_series_is_right_to_rounding(largest):
    values = np.linspace(-largest, largest, 4001)[None, :].copy()
    features = KernelFeatures(values, np.ones(1), np.ones(4001), adapt=True)
    found = features.multiply(np.eye(4001)[:, ::200])[0]
    np.testing.assert_allclose(found, np.exp(values[0, ::200] - 1), rtol=5e-16)


def test_counts_that_fit_are_kept_in_half_the_memory():
    gram = StringKernel(ngram_range=(2, 3)).gram(["abcab", "abc", ""])
    assert compact(gram).dtype == np.int32
    assert (compact(gram) == gram).all()
    vectors = np.ones((3, 1))
    expected = KernelFeatures.from_gram(gram, adapt=True).multiply(vectors)
    assert (KernelFeatures.from_gram(compact(gram), adapt=True).multiply(vectors) == expected).all()
    large = gram * 2**31
    assert compact(large) is large


def test_copies_are_found_and_only_copies():
    documents = ["abc abd", "other words", "abc abd", "", "abc abe", "", "OTHER  words", "abc abd"]
    for kind in ("presence", "intersection", "spectrum"):
        gram = StringKernel(kind, ngram_range=(2, 3)).gram(documents)
        assert KernelFeatures.from_gram(gram, adapt=True).originals.tolist() == [
            0,
            1,
            0,
            3,
            4,
            3,
            1,
            0,
        ]
    nearly = np.array([[1.0, 1 - 1e-10], [1 - 1e-10, 1.0]])
    assert KernelFeatures.from_gram(nearly, adapt=True).originals.tolist() == [0, 1]


def test_normalizing_and_adapting_by_hand():
    similarity = normalize_gram(np.array([[4, 2, 0], [2, 9, 0], [0, 0, 0]]))
    assert similarity.tolist() == [[1, 2 / 6, 0], [2 / 6, 1, 0], [0, 0, 0]]
    assert exponential(np.array([[1.0, 0.0]])).tolist() == [[1.0, exp(-1)]]
    assert adapted_kernel(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[5, 11], [11, 25]]
    assert normalize_gram(np.array([[6]]), np.array([4]), np.array([9])).tolist() == [[1.0]]
    assert np.isclose(exponential(np.array([[2.0]]))[0, 0], e)
