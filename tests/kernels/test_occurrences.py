import numpy as np
from hypothesis import given

from conftest import examples, ngram_ranges, texts
from gramshift.kernels.local_rank import count_occurrences, find_occurrences
from gramshift.ngrams.sorted_ngrams import SortedNGrams
from gramshift.text.encode import encode


@given(texts=texts, ngram_range=ngram_ranges)
@examples(60)
def test_equal_numbers_are_equal_ngrams(texts, ngram_range):
    lo, hi = ngram_range
    encoded = encode(texts)
    found = find_occurrences(SortedNGrams(encoded, ngram_range))
    assert np.diff(found.bounds).tolist() == count_occurrences(encoded, ngram_range).tolist()
    names = {}
    for doc, text in enumerate(texts):
        keys = found.keys[found.bounds[doc] : found.bounds[doc + 1]].tolist()
        assert keys == sorted(keys)
        expected = [(n, i) for n in range(lo, hi + 1) for i in range(len(text) - n + 1)]
        assert sorted(key & 0xFFFFFFFF for key in keys) == sorted(i for _, i in expected)
        by_place = {(names.setdefault(key >> 32, len(names)), key & 0xFFFFFFFF) for key in keys}
        assert len(by_place) == len(expected)
    ngrams = {
        text[i : i + n]
        for text in texts
        for n in range(lo, hi + 1)
        for i in range(len(text) - n + 1)
    }
    assert len(names) == len(ngrams)
