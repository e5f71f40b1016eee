from fractions import Fraction
from math import comb, isclose, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import ALPHABET, examples
from gramshift import StringKernel
from gramshift.kernels.subsequence import largest_sum
from small_demo import load_demo

CLOSE = 1e-13  # relative
AS_THEY_ARE = {"strip": False, "lowercase": False, "collapse_whitespace": False}
short_texts = st.lists(st.text(alphabet=ALPHABET, max_size=11), min_size=1, max_size=4)
ranges = st.tuples(st.integers(1, 11), st.integers(0, 10)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)


def compute(texts, others=None, *, ngram_range, decay, **options):
    return StringKernel("subsequence", ngram_range=ngram_range, decay=decay, **AS_THEY_ARE).gram(
        texts, others, **options
    )


@pytest.mark.parametrize("decay", [0.3, 0.5, 1])
def test_cat_and_car(decay):
    """The example of Lodhi and others: only "ca" is in both, and spans two characters in each."""
    assert compute(["cat", "car"], ngram_range=(2, 2), decay=decay)[0, 1] == pytest.approx(
        decay**4, rel=1e-15
    )
    expected = [[2 * decay**4 + decay**6, decay**4], [decay**4, 2 * decay**4 + decay**6]]
    assert compute(["cat", "car"], ngram_range=(2, 2), decay=decay) == pytest.approx(
        np.array(expected), rel=1e-15
    )
    normalized = compute(["cat", "car"], ngram_range=(2, 2), decay=decay, normalize=True)
    assert normalized[0, 1] == pytest.approx(1 / (2 + decay**2), rel=1e-15)


def test_gaps_on_both_sides_count():
    assert compute(["axxb"], ["ayb"], ngram_range=(2, 2), decay=0.5).tolist() == [[0.5**7]]
    assert compute(["aab"], ["ab"], ngram_range=(2, 2), decay=0.5).tolist() == [[0.5**4 + 0.5**5]]


def test_lengths_are_added_up_before_normalising():
    both, one, two = (
        compute(["abca", "bca"], ngram_range=r, decay=0.5) for r in [(1, 2), (1, 1), (2, 2)]
    )
    assert both.tolist() == (one + two).tolist()
    normalized = compute(["abca", "bca"], ngram_range=(1, 2), decay=0.5, normalize=True)
    assert normalized[0, 1] == pytest.approx(both[0, 1] / sqrt(both[0, 0] * both[1, 1]), rel=1e-15)


@pytest.mark.filterwarnings("ignore:ngram_range")
@given(
    texts=short_texts,
    others=short_texts,
    ngram_range=ranges,
    decay=st.sampled_from([2**-19, 0.25, 0.5, 0.875, 1.0]),
)
@examples(60)
@pytest.mark.slow
def test_the_gram_is_the_naive_one_in_rational_numbers(texts, others, ngram_range, decay):
    exact = [[naive.subsequence(a, b, ngram_range, Fraction(decay)) for b in others] for a in texts]
    found = compute(texts, others, ngram_range=ngram_range, decay=decay)
    assert all(
        _agree(*pair) for rows in zip(found, exact, strict=True) for pair in zip(*rows, strict=True)
    )
    own, other = (
        [naive.subsequence(a, a, ngram_range, Fraction(decay)) for a in side]
        for side in (texts, others)
    )
    normalized = compute(texts, others, ngram_range=ngram_range, decay=decay, normalize=True)
    for i, j in np.ndindex(normalized.shape):
        square = exact[i][j] ** 2 / (own[i] * other[j]) if own[i] and other[j] else 0
        assert normalized[i, j] ** 2 == pytest.approx(float(square), rel=CLOSE)
        assert 0 <= normalized[i, j] <= 1


@pytest.mark.parametrize(("decay", "length"), [(1 / 128, 100), (0.5, 350), (0.75, 90), (1, 350)])
def test_long_texts_whose_weights_would_underflow(decay, length):
    rng = np.random.default_rng(0)
    a, b = "".join(rng.choice(list("abcd"), length)), "".join(rng.choice(list("abde"), 20))
    exact = naive.subsequence_by_recursion(a, b, (2, 3), Fraction(decay))
    assert _agree(compute([a], [b], ngram_range=(2, 3), decay=decay)[0, 0], exact)
    assert _agree(compute([b], [a], ngram_range=(2, 3), decay=decay)[0, 0], exact)


def test_the_two_naive_ways_agree():
    for ngram_range in [(1, 1), (1, 4), (3, 5)]:
        values = [
            f("gatta ca", "at a cat", ngram_range, Fraction(1, 3))
            for f in (naive.subsequence, naive.subsequence_by_recursion)
        ]
        assert values[0] == values[1] > 0


def test_without_decay_it_counts_exactly():
    assert compute(["a" * 30], ["a" * 20], ngram_range=(10, 10), decay=1).tolist() == [
        [comb(30, 10) * comb(20, 10)]
    ]


def test_it_is_positive_semidefinite():
    texts = [text[:150] for text in load_demo("films").texts[:40]]
    gram = StringKernel("subsequence", ngram_range=(3, 5), normalize=True).gram(texts)
    assert np.linalg.eigvalsh(gram).min() > -1e-12
    assert gram[np.triu_indices(40, 1)].max() < 0.99


def test_rounding_never_leads_beyond_1():
    """Texts of one character have but one feature: they are all alike, up to rounding."""
    gram = compute(
        ["a" * size for size in range(2, 40)], ngram_range=(2, 2), decay=0.7, normalize=True
    )
    assert gram.max() == 1
    assert gram.min() > 1 - 1e-15


def test_a_value_does_not_depend_on_the_other_documents():
    texts = [text[:80] for text in load_demo("films").texts[:6]]
    together = compute(texts, ngram_range=(2, 9), decay=0.7)
    for i, j in [(0, 1), (3, 2), (5, 5)]:
        assert (
            compute([texts[i]], [texts[j]], ngram_range=(2, 9), decay=0.7)[0, 0] == together[i, j]
        )


def test_small_decays_and_long_ranges_normalise_all_the_same():
    texts = ["abcdefghij" * 3, "abcdefghij" * 2 + "k"]
    gram = compute(texts, ngram_range=(20, 21), decay=1e-6, normalize=True)
    assert gram[0, 0] == gram[1, 1] == 1
    assert gram[0, 1] == pytest.approx(
        compute(texts, ngram_range=(20, 20), decay=1e-6, normalize=True)[0, 1], rel=1e-5
    )
    assert 0.3 < gram[0, 1] < 1


def test_what_a_double_cannot_hold_is_refused():
    with pytest.raises(
        ValueError,
        match=r"ngram_range=\(60, 60\) with decay=1e-06: values of decay \*\* 120 .*normalize=True",
    ):
        compute(["ab" * 40], ngram_range=(60, 60), decay=1e-6)
    with pytest.raises(
        ValueError,
        match=r"ngram_range=\(5, 400\) with decay=1: a document of 1000 characters .*shorter range",
    ):
        compute(["a" * 1000], ngram_range=(5, 400), decay=1)


@pytest.mark.parametrize("decay", [0.2, 0.5, 0.95, 1.0])
def test_the_bound_on_sums_is_one(decay):
    for length, ngram_range in [(1, (1, 1)), (9, (2, 4)), (12, (1, 12))]:
        scale = decay ** (-2 * ngram_range[0])
        assert scale * naive.subsequence("a" * length, "a" * length, ngram_range, decay) <= np.exp(
            largest_sum(length, ngram_range, decay)
        ) * (1 + 1e-9)


def _agree(found, exact):
    return isclose(found, exact, rel_tol=CLOSE, abs_tol=1e-290)
