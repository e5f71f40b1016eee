"""Weighted n-grams against a definition that can be read off, cell by cell."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramshift as gs
import naive
from conftest import ngram_ranges, texts
from gramshift.kernels.weighting import association, consistency, inverse_frequency
from gramshift.runtime import Runtime
from naive import words

AS_THEY_ARE = {"strip": False, "lowercase": False, "collapse_whitespace": False}
WEIGHTINGS = [
    {"idf": 1},
    {"idf": 2.5},
    {"consistency": 0.5},
    {"classes": 1},
    {"idf": 2, "consistency": 0.25, "classes": 0.5},
]
RNG = np.random.default_rng(0)
TEXTS = ["".join(RNG.choice(list("abcd é"), size)) for size in RNG.integers(0, 120, 45)]
DOMAINS, CLASSES = [0] * 20 + [1] * 25, [[0, 1, 2, None][i % 4] for i in range(45)]


def require_close(ours, expected):
    np.testing.assert_allclose(ours, np.array(expected).reshape(ours.shape), rtol=1e-12, atol=1e-12)


def normalized(values, own, others):
    return [
        [v / np.sqrt(r * c) if r and c else 0.0 for v, c in zip(row, others, strict=True)]
        for row, r in zip(values, own, strict=True)
    ]


@given(texts, texts, ngram_ranges, st.sampled_from(WEIGHTINGS), st.data())
def test_grams_are_weighted_sums_over_shared_ngrams(documents, others, ngram_range, powers, data):
    kernel = gs.StringKernel(ngram_range=ngram_range, weighting=powers, **AS_THEY_ARE)
    domains = [i % 2 for i in range(len(others))]
    classes = data.draw(
        st.lists(st.sampled_from([0, 1, 2, None]), min_size=len(others), max_size=len(others))
    )
    groups = {"domains": domains, "classes": classes}
    expected = naive.weighted_gram(others, others, ngram_range, powers, **groups)
    rows = naive.weighted_gram(documents, others, ngram_range, powers, **groups)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ngram_range=.*: no document has", UserWarning)
        require_close(kernel.gram(others, **groups), expected)
        require_close(kernel.gram(documents, others, **groups), rows)
        own = np.diagonal(expected)
        require_close(kernel.gram(others, normalize=True, **groups), normalized(expected, own, own))
        new = [
            naive.weighted_self(text, others, ngram_range, powers, **groups) for text in documents
        ]
        require_close(
            kernel.gram(documents, others, normalize=True, **groups), normalized(rows, new, own)
        )


@pytest.mark.parametrize("powers", [WEIGHTINGS[0], WEIGHTINGS[-1]])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("rectangular", [False, True])
def test_the_bits_do_not_depend_on_threads_or_tiles(powers, normalize, rectangular):
    given = (TEXTS[30:], TEXTS) if rectangular else (TEXTS,)
    options = {"normalize": normalize, "domains": DOMAINS, "classes": CLASSES}
    kernel = gs.StringKernel(ngram_range=(2, 4), weighting=powers, n_jobs=1)
    expected = kernel.gram(*given, **options)
    for n_threads in (1, 3):
        for tile in [(1, 1), (3, 7), (64, 1), (45, 45)]:
            runtime = Runtime(n_threads, tile=tile)
            found = kernel.parse().compute(*given, runtime=runtime, **options)
            assert found.tobytes() == expected.tobytes()


def test_copies_are_exactly_alike_and_weightless_documents_like_nothing():
    kernel = gs.StringKernel(ngram_range=(1, 2), weighting="idf", normalize=True)
    gram = kernel.gram(["abab", "abab", "cd", "cd", ""])
    assert gram.tolist() == [
        [1, 1, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 1, 1, 0],
        [0] * 5,
    ]
    assert kernel.gram(["ab", "ab"]).tolist() == [
        [0, 0],
        [0, 0],
    ]  # what all documents have weighs nothing


def test_factors_by_hand():
    assert inverse_frequency(np.array([0, 1, 2, 4]), 4).tolist() == [
        np.log(4),
        np.log(4),
        np.log(2),
        0,
    ]
    having, totals = np.array([[2, 0, 0], [1, 3, 0]]), np.array([4, 10])
    assert consistency(having, totals).tolist() == pytest.approx([0.1 / 0.5, 0, 0])
    assert association(
        np.array([[3, 0, 1], [0, 0, 1]]), np.array([5, 5])
    ).tolist() == pytest.approx([np.log(4), 0, 0])
    few = association(
        np.array([[1], [4]]), np.array([2, 8])
    )  # as common in both, though one is four times as large
    assert few.tolist() == pytest.approx([0])


def test_one_document_of_a_small_class_says_little():
    """Once in a class of 20 of 2000: (1 + 1) / (0.01 + 1) inside, (0 + 1) / (0.99 + 1) outside."""
    (rare,) = association(np.array([[1], [0]]), np.array([20, 1980]))
    assert rare == pytest.approx(np.log(2 / 1.01 * 1.99))
    assert rare < 1.5
    (even,) = association(
        np.array([[1], [0]]), np.array([1000, 1000])
    )  # (1 + 1) / (0.5 + 1) over (0 + 1) / (0.5 + 1)
    assert even == pytest.approx(np.log(2))
    assert round(even, 2) == 0.69
    (common,) = association(
        np.array([[20], [0]]), np.array([20, 1980])
    )  # all of the class and no other: that says a lot
    assert common == pytest.approx(np.log(21 / 1.2 * 20.8))
    both = association(np.array([[1, 15], [0, 10]]), np.array([20, 1980]))
    assert both[1] > both[0]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=6))
def test_associations_are_those_of_loops(pairs):
    """Of each class its documents, and how many of them have the n-gram."""
    totals = [max(pair) for pair in pairs]
    having = [min(pair) for pair in pairs]
    expected, n = 0.0, sum(totals)
    for inside, size in zip(having, totals, strict=True):
        if 0 < size < n:
            expected = max(expected, naive.surprise(inside, size, sum(having) - inside, n - size))
    (found,) = association(np.array([having]).T, np.array(totals))
    assert found == pytest.approx(expected if expected >= 0.2 else 0.0, abs=1e-12)


def test_words_are_units_too():
    kernel = gs.StringKernel(ngram_range=(1, 2), unit="word")
    documents = ["Not bad, not bad at all!", "bad (very bad)", "not at all... why?", ""]
    sets = [
        {tuple(words(d.lower())[i : i + n]) for n in (1, 2) for i in range(len(words(d)) - n + 1)}
        for d in documents
    ]
    assert kernel.gram(documents).tolist() == [[len(a & b) for b in sets] for a in sets]
    assert kernel.gram(documents[:2], documents).tolist() == [
        [len(a & b) for b in sets] for a in sets[:2]
    ]


@pytest.mark.parametrize(
    ("options", "groups", "message"),
    [
        ({"weighting": "tfidf"}, {}, "weighting='tfidf': give 'none', 'idf', or a dict"),
        ({"weighting": {"idf": -1}}, {}, "weighting={'idf': -1}: give"),
        ({"weighting": {"idf": True}}, {}, "weighting={'idf': True}: give"),
        ({"weighting": {"power": 1}}, {}, "idf, consistency, classes"),
        (
            {"kind": "spectrum", "weighting": "idf"},
            {},
            "for kind='presence', not .*'spectrum'",
        ),
        ({"weighting": {"consistency": 1}}, {}, "domains, .* the 2 documents .* nothing was given"),
        (
            {"weighting": {"classes": 1}},
            {"classes": [1]},
            "classes, .* 2 documents .* 1 were",
        ),
        ({"unit": "syllable"}, {}, "unit='syllable': must be one of 'character', 'word'"),
    ],
)
def test_errors_say_what_to_type(options, groups, message):
    with pytest.raises(ValueError, match=message):
        gs.StringKernel(**options).gram(["abcdefg", "abcdefg"], **groups)
