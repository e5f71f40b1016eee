"""Words as characters: of documents that are compared, and of new ones with words that are known."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import texts
from gramshift.text.corpus import Corpus
from gramshift.text.steps import TextSteps, align
from gramshift.text.words import WORD, Vocabulary, align_words, number_words, split_words, write_as_words

some_texts = texts | st.lists(st.text(alphabet='ab .,;:!?()"\n\x1c\x85\u2028é', max_size=30), max_size=5)


def test_every_character_separates_words_or_does_not():
    text = "a".join(map(chr, range(sys.maxunicode + 1)))
    assert split_words(text) == WORD.findall(text)


@given(some_texts)
def test_words_are_numbered_as_they_come(texts):
    numbers = {}
    expected = ["".join(chr(numbers.setdefault(word, len(numbers))) for word in WORD.findall(text)) for text in texts]
    assert number_words(texts) == (expected, list(numbers))
    assert write_as_words(texts) == expected


@given(some_texts, st.data())
def test_new_texts_are_written_with_the_words_that_are_known(texts, data):
    corpus, steps = Corpus(texts), TextSteps()
    written, words = corpus.form(steps, "word"), corpus.words(steps)
    kept = data.draw(st.lists(st.sampled_from(range(len(words))), unique=True)) if words else []
    vocabulary = Vocabulary.from_words([words[point] for point in kept], np.array(kept, np.uint32))
    assert vocabulary.words == [words[point] for point in kept]
    assert ord(vocabulary.unknown) not in kept
    expected = ["".join(char if ord(char) in kept else vocabulary.unknown for char in text) for text in written]
    assert vocabulary.write(corpus.form(steps)) == expected


def test_words_have_the_origins_that_they_have_among_others():
    aligned = [align(text, TextSteps()) for text in ("  One TWO  (three)!", "", "four")]
    expected, _ = align_words(aligned, [])
    vocabulary = Vocabulary.from_words(["one", "three"], np.array([7, 0], np.uint32))
    found = vocabulary.align(aligned)
    assert [(one.starts, one.stops) for one in found] == [(one.starts, one.stops) for one in expected]
    assert [one.text for one in found] == ["\7\1\0\1", "", "\1"]


@pytest.mark.parametrize(
    ("words", "points", "message"),
    [
        (["a", "a"], [0, 1], "a word or a character stands in it twice"),
        (["a", "b"], [1, 1], "a word or a character stands in it twice"),
        (["a"], [0, 1], "it has 1 words and 2 characters"),
        ([3], [0], "it has 1 words"),
        (["a"], [0x110000], "one does not exist"),
    ],
)
def test_a_damaged_vocabulary_is_refused(words, points, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary.from_words(words, np.array(points, np.uint32))
