"""Sorted n-grams against a sorted list of (n-gram, position)."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ngram_ranges, texts
from gramshift.kernels.counting import build_incidence
from gramshift.kernels.local_rank import find_occurrences
from gramshift.ngrams.index import build_index
from gramshift.ngrams.sorted_ngrams import SortedNGrams
from gramshift.text.encode import encode


def naive_sort(texts, ngram_range):
    """Return (characters of the longest n-gram, position in all texts, document) of every place.

    Equal ones stand in the order of their documents, within a document the last first.
    """
    low, high = ngram_range
    places, start = [], 0
    for doc, text in enumerate(texts):
        places += [
            (list(map(ord, text[i : i + high])), start + i, doc) for i in range(len(text) - low + 1)
        ]
        start += len(text)
    return sorted(places, key=lambda place: (place[0], place[2], -place[1]))


def naive_common(one, other):
    return next(
        (k for k, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def naive_runs(ngrams, shortest):
    """Count the n-grams of each run: of each range of two or more sorted places."""
    found = {}
    for length in range(shortest, max(map(len, ngrams), default=0) + 1):
        places = {}
        for place, ngram in enumerate(ngrams):
            if len(ngram) >= length:
                places.setdefault(tuple(ngram[:length]), []).append(place)
        for stretch in places.values():
            if len(stretch) > 1:
                key = stretch[0], stretch[-1] + 1
                found[key] = found.get(key, 0) + 1
    return found


@given(texts=texts, ngram_range=ngram_ranges, shard_size=st.sampled_from([1, 5, 1 << 18]))
@settings(max_examples=200)
def test_shards_are_the_naive_order(texts, ngram_range, shard_size):
    expected = naive_sort(texts, ngram_range)
    at = {position: (ngram, doc) for ngram, position, doc in expected}
    ngrams = SortedNGrams(encode(texts), ngram_range, shard_size=shard_size)
    n_before, shards_of = 0, {}
    for number, shard in enumerate(ngrams.map(lambda shard: shard)):
        positions = shard.positions.tolist()
        mine = [at[position][0] for position in positions]
        assert positions == [position for _, position, _ in expected if position in set(positions)]
        assert shard.docs().tolist() == [at[position][1] for position in positions]
        assert (
            shard.common.tolist()
            == [0, *(naive_common(*pair) for pair in pairwise(mine))][: len(mine)]
        )
        assert {
            (begin, end): times for begin, end, times in shard.runs(ngram_range[0]).tolist()
        } == naive_runs(mine, ngram_range[0])
        assert shard.n_before == n_before
        n_before += len(positions)
        for ngram in mine:
            shards_of.setdefault(tuple(ngram[: ngram_range[0]]), set()).add(number)
    assert n_before == len(expected)
    assert all(len(numbers) == 1 for numbers in shards_of.values())


def test_several_readings_find_the_same():
    documents = ["some words and some more", "more words than some", "", "and none"]
    ngrams = SortedNGrams(encode(documents), (2, 5), shard_size=8)
    for read in (
        lambda: build_index(ngrams, kind="spectrum"),
        lambda: build_incidence(ngrams),
        lambda: find_occurrences(ngrams),
    ):
        first, again = read(), read()
        assert all(
            np.array_equal(value, getattr(again, name)) for name, value in vars(first).items()
        )


def test_no_ngram_at_all():
    for documents in ([], [""], ["ab", "c"]):
        ngrams = SortedNGrams(encode(documents), (3, 10**9))
        assert ngrams.map(lambda shard: shard) == []
        assert build_index(ngrams, kind="presence").self_values.tolist() == [0] * len(documents)
