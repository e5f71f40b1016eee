from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import examples, ngram_ranges, texts
from gramshift import StringKernel
from gramshift.kernels.local_rank import LocalRank, find_occurrences
from gramshift.ngrams.sorted_ngrams import SortedNGrams
from gramshift.text.encode import encode


def compute(texts, others=None, *, ngram_range, max_offset=1000, sigma=1.0, **options):
    kernel = StringKernel("local_rank", ngram_range=ngram_range, max_offset=max_offset, sigma=sigma)
    return kernel.gram(texts, others, **options)


def test_worked_out_by_hand():
    """In abca and bcab, ab is 2 away, bc 1 and ca 1. In abca and axca, ca is 0 away, four miss."""
    assert compute(["abca"], ["bcab"], ngram_range=(2, 2), max_offset=10)[0, 0] == exp(-8 / 60 / 2)
    assert compute(["abca"], ["axca"], ngram_range=(2, 2), max_offset=10)[0, 0] == exp(-40 / 60 / 2)
    assert compute(["abca"], ["bcab"], ngram_range=(2, 2), max_offset=1, sigma=0.5)[0, 0] == exp(
        -1 / 0.5
    )


def test_the_nearest_of_several_counts():
    """a at 0 and 9 against a at 1, 7 and 20: 1 + 2 there, 1 + 2 + 11 back."""
    one, other = "a" + "x" * 8 + "a", "yayyyyya" + "y" * 12 + "a"
    near = compute([one], [other], ngram_range=(1, 1), max_offset=100)[0, 0]
    assert near == exp(-(1 + 2 + 1 + 2 + 11 + 100 * (8 + 18)) / (100 * 31) / 2)


def test_nothing_in_common_is_as_far_as_can_be_and_the_same_text_as_near():
    assert compute(["aaa", "bbb"], ngram_range=(1, 2), sigma=0.5).tolist() == [
        [1, exp(-2)],
        [exp(-2), 1],
    ]
    assert compute(["aaa", "bbb", "aaa"], ngram_range=(1, 2), sigma=1e-200).tolist() == [
        [1, 0, 1],
        [0, 1, 0],
        [1, 0, 1],
    ]
    assert compute(["aaa", "bbb"], ngram_range=(1, 2), sigma=1e200).tolist() == [[1, 1], [1, 1]]


@pytest.mark.filterwarnings("ignore:ngram_range")
@given(
    texts=texts,
    others=texts,
    ngram_range=ngram_ranges,
    max_offset=st.sampled_from([1, 2, 7, 1000, 2**31 - 1]),
)
@examples(80)
def test_the_gram_is_the_naive_one(texts, others, ngram_range, max_offset):
    rows, columns = (
        [naive.prepare(text) for text in texts],
        [naive.prepare(text) for text in others],
    )
    expected = [
        [naive.local_rank(a, b, ngram_range, max_offset, 0.6) for b in columns] for a in rows
    ]
    found = compute(texts, others, ngram_range=ngram_range, max_offset=max_offset, sigma=0.6)
    assert found == pytest.approx(np.array(expected), rel=1e-15)
    assert (
        compute(
            texts, others, ngram_range=ngram_range, max_offset=max_offset, sigma=0.6, normalize=True
        ).tolist()
        == found.tolist()
    )


def test_too_many_places_are_refused():
    ngrams = SortedNGrams(encode(["a" * 40]), (1, 3))
    with pytest.raises(
        ValueError,
        match=r"ngram_range=\(1, 3\): the documents have 120 places .* 100: use fewer lengths",
    ):
        find_occurrences(ngrams, most=100)


def test_many_shards_and_pieces_give_the_same():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abc"), size)) for size in rng.integers(0, 200, 30)]
    expected = compute(texts, ngram_range=(3, 12))
    found = find_occurrences(SortedNGrams(encode(texts), (3, 12), shard_size=100), chunk=50)
    sizes = np.diff(found.bounds)
    kernel = LocalRank(
        len(texts), 0, (sizes > 0).astype(float), sizes, found, max_offset=1000, sigma=1.0
    )
    gram = np.empty(kernel.shape)
    kernel.fill(slice(0, len(texts)), slice(0, len(texts)), gram)
    assert gram.tobytes() == expected.tobytes()
