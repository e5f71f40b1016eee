"""Documents against landmarks: counts and self-kernels must be the naive ones, and those of the gram."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import KINDS, examples, ngram_ranges, texts
from gramshift.grams.gram import compute_gram
from gramshift.kernels.to_landmarks import count_shared
from gramshift.ngrams.lookup import build_lookup
from gramshift.ngrams.sorted_ngrams import sort_ngrams
from gramshift.runtime.resources import Runtime
from gramshift.text.encode import encode


def look_up(landmarks, *, kind, ngram_range, **options):
    return build_lookup(sort_ngrams(encode(landmarks), ngram_range, keep=False), kind=kind, **options)


def check(landmarks, documents, *, kind, ngram_range, dense_at=None):
    lookup = look_up(landmarks, kind=kind, ngram_range=ngram_range, dense_at=dense_at)
    counts, self_values = count_shared(lookup, documents)
    assert counts.shape == (len(documents), len(landmarks))
    assert counts.tolist() == naive.gram(kind, documents, landmarks, ngram_range)
    assert self_values.tolist() == [naive.gram(kind, [one], [one], ngram_range)[0][0] for one in documents]


@pytest.mark.parametrize("kind", KINDS)
@given(landmarks=texts, documents=texts, ngram_range=ngram_ranges, dense_at=st.sampled_from([1, 2, 3, 100]))
@examples(200)
def test_counts_are_the_naive_ones(kind, landmarks, documents, ngram_range, dense_at):
    check(landmarks, documents, kind=kind, ngram_range=ngram_range, dense_at=dense_at)


@pytest.mark.parametrize("kind", KINDS)
@given(landmarks=st.lists(st.text("ab", max_size=60), max_size=5), documents=st.lists(st.text("abc", max_size=60), max_size=5))
@examples(150)
@pytest.mark.slow
def test_texts_that_repeat_themselves(kind, landmarks, documents):
    for ngram_range in [(1, 1), (1, 4), (3, 20)]:
        check(landmarks, documents, kind=kind, ngram_range=ngram_range, dense_at=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ngram_range", [(1, 1), (2, 2), (5, 8), (3, 20), (30, 1000)])
def test_plain_cases(kind, ngram_range):
    landmarks = ["the cat sat on the mat", "", "a", "the mat " * 9, "the cat sat on the mat", "\ud800\udc00\U00010000" * 12]
    documents = [
        "the cat sat on the mat",
        "",
        "t",
        "qqqxxxqqq the cat",
        "xyzxyzxyz",
        "\U00010000\ud800\udc00" * 12,
        "the mat " * 20,
    ]
    check(landmarks, documents, kind=kind, ngram_range=ngram_range)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_characters_match_nothing_but_are_different_from_each_other(kind):
    check(["abab"], ["xyxy", "axay", "xxxx", "abxab"], kind=kind, ngram_range=(1, 3))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_more_characters_than_the_landmarks_have_bits_for(kind):
    """Landmarks of two characters pack 32 to a block, documents of thousands only four: both lead to the same n-grams."""
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 3000)))
    documents = ["ab" * 40 + many + "abba" * 9, many + "a" * 50 + many, many * 2, "ab" * 30]
    landmarks = ["ab" * 35, "abba" * 20, "a" * 60]
    for ngram_range in [(5, 8), (20, 40), (40, 60)]:
        check(landmarks, documents, kind=kind, ngram_range=ngram_range)
    for ngram_range in [(2, 9), (7, 30)]:
        check(documents, landmarks + documents[:2], kind=kind, ngram_range=ngram_range)


@pytest.mark.parametrize("kind", KINDS)
def test_very_long_documents(kind):
    """One letter over and over: every n-gram counts as often as there is room for it."""
    lengths = np.array([3, 1000, 150_000])
    lookup = look_up(["a" * int(size) for size in lengths], kind=kind, ngram_range=(1, 3), dense_at=1)
    counts, self_values = count_shared(lookup, ["a" * 100_000, "b" * 100_000])
    formula = {
        "presence": [3, 3, 3],
        "intersection": [6, 2997, 299_997],
        "spectrum": sum((100_000 - n) * (lengths - n) for n in range(3)),
    }
    assert counts.tolist() == [list(formula[kind]), [0, 0, 0]]
    alone = {"presence": 3, "intersection": 299_997, "spectrum": sum((100_000 - n) ** 2 for n in range(3))}[kind]
    assert self_values.tolist() == [alone, alone]


def make_texts(n_texts, seed):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list("abcdefgh"), size)) for size in rng.integers(1, 7, 60)]
    return [" ".join(rng.choice(words, size)) for size in rng.integers(0, 60, n_texts)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ngram_range", [(1, 2), (5, 8), (3, 20)])
@pytest.mark.slow
def test_agrees_with_the_gram(kind, ngram_range):
    """More landmarks than a block of bits, more documents than a batch, and every sort of list."""
    landmarks, documents = make_texts(1100, 0), make_texts(600, 1)
    lookup = pickle.loads(pickle.dumps(look_up(landmarks, kind=kind, ngram_range=ngram_range)))
    counts, self_values = count_shared(lookup, documents)
    assert (counts == compute_gram(documents, landmarks, kind=kind, ngram_range=ngram_range, runtime=Runtime(1))).all()
    assert (self_values == compute_gram(documents, kind=kind, ngram_range=ngram_range, runtime=Runtime(1)).diagonal()).all()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_and_room_for_references_do_not_matter(kind):
    landmarks, documents = make_texts(200, 2), make_texts(90, 3)
    lookup = look_up(landmarks, kind=kind, ngram_range=(3, 6), dense_at=4)
    counts, self_values = count_shared(lookup, documents)
    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(lambda first: count_shared(lookup, documents[first : first + 7]), range(0, 90, 7)))
    assert (np.concatenate([part[0] for part in parts]) == counts).all()
    assert (np.concatenate([part[1] for part in parts]) == self_values).all()
    assert (count_shared(lookup, documents, batch=8, max_refs=50)[0] == counts).all()


def test_nothing_to_compare():
    lookup = look_up([], kind="presence", ngram_range=(5, 8))
    counts, self_values = count_shared(lookup, ["abcdef", ""])
    assert counts.shape == (2, 0)
    assert self_values.tolist() == [3, 0]
    lookup = look_up(["abcdef", ""], kind="presence", ngram_range=(5, 8))
    assert count_shared(lookup, [])[0].shape == (0, 2)
