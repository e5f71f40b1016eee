"""The index is tested through the kernel that sums it: every layout must give the naive counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import KINDS, examples, ngram_ranges, texts
from gramshift.kernels.counting import SharedNGrams
from gramshift.kernels.gram import tiles
from gramshift.ngrams.index import build_index
from gramshift.ngrams.sorted_ngrams import SortedNGrams
from gramshift.text.encode import encode


def gram_of(
    documents, others=None, *, kind, ngram_range, dense_at=None, height=3, width=5, **options
):
    columns = None if others is None else len(others)
    ngrams = SortedNGrams(encode([*(others or []), *documents]), ngram_range, **options)
    index = build_index(ngrams, kind=kind, n_cols=columns, dense_at=dense_at)
    kernel = SharedNGrams.of_index(index)
    gram = np.full(kernel.shape, -1, np.int64)
    for rows, cols in tiles(*kernel.shape, height, width, symmetric=kernel.symmetric):
        kernel.fill(rows, cols, gram)
        if kernel.symmetric:
            gram[cols, rows] = gram[rows, cols].T
    return gram


@pytest.mark.parametrize("kind", KINDS)
@given(
    texts=texts,
    others=st.none() | texts,
    ngram_range=ngram_ranges,
    dense_at=st.sampled_from([1, 2, 3, 100]),
)
@examples(200)
def test_the_gram_is_the_naive_one(kind, texts, others, ngram_range, dense_at):
    gram = gram_of(texts, others, kind=kind, ngram_range=ngram_range, dense_at=dense_at)
    columns = texts if others is None else others
    assert gram.tolist() == naive.gram(kind, texts, columns, ngram_range)


@pytest.mark.parametrize("kind", KINDS)
def test_long_ngrams_over_a_large_alphabet(kind):
    """Five characters of 11 bits fill a block of 64 bits: the order must hold across blocks."""
    rng = np.random.default_rng(0)
    base = "".join(map(chr, rng.permutation(np.arange(0x4E00, 0x4E00 + 1500))))
    documents = [
        base[:90],
        base[30:90] * 2,
        base[60:200],
        base[::-1][:100],
        base,
        base[40:95] + base[:50],
    ]
    for ngram_range in [(1, 3), (4, 6), (9, 40), (55, 200)]:
        gram = gram_of(documents, kind=kind, ngram_range=ngram_range)
        assert gram.tolist() == naive.gram(kind, documents, documents, ngram_range)


@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_of_bits_than_the_planes_can_count(kind):
    """A document with more than 4080 dense n-grams, in three blocks of columns."""
    rng = np.random.default_rng(1)
    long = "".join(rng.choice(list("abcdefgh"), 9000))
    documents = [
        long,
        long[:5000],
        *("".join(rng.choice(list("abcdefgh"), 6)) for _ in range(2100)),
        long[3000:],
    ]
    gram = gram_of(documents, kind=kind, ngram_range=(3, 5), dense_at=2, height=1000, width=1500)
    rows = [0, 1, 2, 1023, 1024, 1025, 2047, 2048, 2102]
    expected = naive.gram(kind, [documents[row] for row in rows], documents, (3, 5))
    assert gram[rows].tolist() == expected
    assert (gram == gram.T).all()


@pytest.mark.parametrize("first", [3, 100, 1000, 150_000])
@pytest.mark.parametrize("kind", KINDS)
def test_counts_beyond_what_bits_repeat(kind, first):
    """Products of the counts in forty documents of one repeated letter exceed all references."""
    documents = ["a" * length for length in range(first, first + 40)]
    gram = gram_of(documents, kind=kind, ngram_range=(1, 3), dense_at=2, height=8, width=16)
    lengths = np.arange(first, first + 40)
    smaller = np.minimum.outer(lengths, lengths)
    formula = {
        "presence": np.full((40, 40), 3),
        "intersection": 3 * smaller - 3,
        "spectrum": sum(np.multiply.outer(lengths - n, lengths - n) for n in range(3)),
    }
    assert (gram == formula[kind]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_shards_do_not_change_the_result(kind):
    rng = np.random.default_rng(2)
    documents = ["".join(rng.choice(list("abcde "), size)) for size in rng.integers(0, 200, 30)]
    whole = gram_of(documents, kind=kind, ngram_range=(2, 6))
    assert (gram_of(documents, kind=kind, ngram_range=(2, 6), shard_size=64) == whole).all()
    assert whole.tolist() == naive.gram(kind, documents, documents, (2, 6))
