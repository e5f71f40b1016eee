"""Copies and near copies, beside all pairs compared one by one."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ALPHABET, examples
from gramshift.ngrams.copies import MIN_SIMILARITY, NGRAM_LENGTH, Copy, find_copies, make_sketches
from small_demo import load_demo

TEXTS = load_demo("kitchen").texts[:80]


def runs(text):
    prepared = " ".join(text.lower().split())
    return {prepared[i : i + NGRAM_LENGTH] for i in range(len(prepared) - NGRAM_LENGTH + 1)}


def alike(one, other):
    a, b = runs(one), runs(other)
    return len(a & b) / len(a | b)


def test_copies_differ_by_case_and_blanks_alone():
    found = find_copies(["A great pan", "", "no", "a  GREAT pan\n", "", "No", "a great pot"])
    assert found == [Copy(3, 0, 1.0), Copy(5, 2, 1.0)]
    assert found[0].is_exact


def test_a_near_copy_has_the_similarity_of_its_runs():
    text = TEXTS[0]
    changed = text.replace("the", "teh", 1) + " !"
    (found,) = find_copies([*TEXTS[:40], changed])
    assert (found.number, found.earlier) == (40, 0)
    assert found.similarity == pytest.approx(alike(text, changed))
    assert MIN_SIMILARITY <= found.similarity < 1
    assert not found.is_exact


def test_near_copies_are_those_that_all_pairs_give():
    chance = random.Random(0)
    texts = list(TEXTS)
    for text in TEXTS[:40]:
        words = text.split()
        for _ in range(chance.randrange(1, 6)):
            words[chance.randrange(len(words))] = chance.choice(["so", "then", "well"])
        texts.append(" ".join(words))
    best = {
        number: max(
            ((alike(texts[number], texts[other]), -other) for other in range(number)),
            default=(0.0, 0),
        )
        for number in range(len(texts))
    }
    expected = {
        number: similarity
        for number, (similarity, _) in best.items()
        if similarity >= MIN_SIMILARITY
    }
    assert 5 < len(expected) < 40
    assert {one.number: one.similarity for one in find_copies(texts)} == pytest.approx(expected)


def test_the_same_runs_in_another_order_are_no_copy():
    (found,) = find_copies(["ha" * 20, "ha" * 30])
    assert not found.is_exact
    assert found.similarity == pytest.approx(1)


def test_many_copies_of_one_text_are_compared_with_the_first():
    found = find_copies([f"{TEXTS[0]} number {number}" for number in range(60)])
    assert [one.number for one in found] == list(range(1, 60))
    assert all(one.earlier < one.number for one in found)


@given(
    st.lists(st.text(alphabet=ALPHABET, min_size=NGRAM_LENGTH, max_size=30), min_size=1, max_size=8)
)
@examples(20)
def test_a_sketch_does_not_depend_on_the_texts_beside_it(texts):
    whole = make_sketches(texts)
    assert np.array_equal(whole, make_sketches(texts, batch_texts=1))
    assert np.array_equal(whole[::-1], make_sketches(texts[::-1]))
