"""Texts with a character per word: of a corpus, and new ones with a known vocabulary."""

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import texts
from gramshift.kernels.corpus import Corpus
from gramshift.text.steps import TextSteps, align
from gramshift.text.words import (
    OPENING_MARK,
    Vocabulary,
    find_words,
    number_words,
    split_with_opening,
    split_words,
)

ASCII = 'ab .,;:!?()"\n\x1c'
SCRIPTS = "é_'’‘“”«¿¡-‐…·،؟؛شﷺ।हिं中文。！？、ー々かタไม่ກမြខ្មែ한😀👍🏽"
SCRIPTS += "\u200d\ufe0f\u200b\u200f€×²٣Ⅷ\x85\u2028\u0301\ud83d\udbff"
any_text = (
    st.text(alphabet=ASCII + SCRIPTS, max_size=30)
    | st.text(alphabet=ASCII, max_size=30)
    | st.text(max_size=30)
)
some_texts = texts | st.lists(any_text, max_size=5)


def test_every_character_separates_words_or_does_not():
    """All characters that Unicode has given a meaning, and some of the others."""
    points = range(sys.maxunicode + 1)
    without_meaning = {"Cn", "Co", "Cs"}  # unassigned, private, halves of others
    text = "a".join(
        char
        for point, char in zip(points, map(chr, points), strict=True)
        if point % 64 == 0 or unicodedata.category(char) not in without_meaning
    )
    assert split_words(text) == naive.words(text)


def test_every_ascii_character_is_the_same_beside_others():
    """ASCII has a faster way of its own."""
    for text in map(chr, range(128)):
        assert (
            split_words(f"a{text}b {text}")
            == naive.words(f"a{text}b {text}")
            == split_words(f"a{text}b {text} é")[:-1]
        )


WORDS = {
    "Don't stop, 3.5 stars (really)!?": ["Don't", "stop", "3", "5", "stars", "really", "!", "?"],
    "“Don’t” – said ‘he’… rock ’n’ roll": ["Don't", "said", "he", "rock", "n", "roll"],
    "l’été, c’est top ! «oui»": ["l'été", "c'est", "top", "!", "oui"],
    "¿Qué? ¡No!": ["?", "Qué", "?", "!", "No", "!"],
    "well\u2010made, non\u2011stick, wire—less": ["well-made", "non-stick", "wire", "less"],
    "كتاب جيد، أليس كذلك؟ نعم؛ جدا": ["كتاب", "جيد", "أليس", "كذلك", "?", "نعم", "جدا"],
    "अच्छी फ़िल्म है। बहुत अच्छी॥": ["अच्छी", "फ़िल्म", "है", "बहुत", "अच्छी"],
    "电影很好！“真的”？是，iPhone 5。": [
        "电",
        "影",
        "很",
        "好",
        "!",
        "真",
        "的",
        "?",
        "是",
        "iPhone",
        "5",
    ],
    "とても、コーヒー々": list("とてもコーヒー々"),
    "ดีมาก จริง": list("ดีมากจริง"),
    "아주 좋은 영화.": ["아주", "좋은", "영화"],
    "col·lecció צה״ל": ["col·lecció", "צה״ל"],
    "great👍🏽👍 ❤️❤ 5€": ["great", "👍", "👍", "❤", "❤", "5€"],
    "zero\u200bwidth": ["zero", "width"],
    "e\u0301te\u0301": ["e\u0301te\u0301"],
    "…、。«»": [],
    "": [],
}


@pytest.mark.parametrize("text", WORDS)
def test_words_of_many_scripts(text):
    assert split_words(text) == naive.words(text) == WORDS[text]


@given(any_text)
def test_words_of_long_texts_are_followed_by_their_opening(text):
    for length in (199, 200, 201, 260):
        long = (text + " more")[-length:].rjust(length, "x")
        assert split_with_opening(long) == naive.words_with_opening(long)


def test_no_word_looks_like_one_of_an_opening():
    assert not any(OPENING_MARK in word for word in split_words(f"a{OPENING_MARK}b {OPENING_MARK}"))


def test_words_of_an_opening_come_from_the_beginning():
    text = "a " + "bc" * 120
    (one,) = (align(text, TextSteps()),)
    vocabulary = Vocabulary.from_words(["a", "«a"], np.array([0, 1], np.uint32), "word+opening")
    (found,) = vocabulary.align([one])
    assert (found.text, found.starts, found.stops) == (
        "\0\2\1\2", [0, 2, 0, 2], [1, 242, 1, 242]
    )  # fmt: skip


@given(any_text)
def test_words_stand_where_they_are_found(text):
    expected, spans = naive.words_at(text), list(find_words(text))
    assert split_words(text) == [word for _, _, word in expected]
    assert spans == [(start, stop) for start, stop, _ in expected]
    for (start, stop), word in zip(spans, split_words(text), strict=True):
        assert len(word) == stop - start
        if "’" not in text:  # what stands beside it tells whether it is an apostrophe
            assert split_words(text[start:stop]) == [word]


@pytest.mark.parametrize("unit", ["word", "word+opening"])
@given(texts=some_texts)
def test_words_are_numbered_as_they_come(unit, texts):
    split = {"word": naive.words, "word+opening": naive.words_with_opening}[unit]
    texts, numbers = [*texts, *(text * 200 for text in texts)], {}
    expected = [
        "".join(chr(numbers.setdefault(word, len(numbers))) for word in split(text))
        for text in texts
    ]
    assert number_words(texts, unit) == (expected, list(numbers))


@given(some_texts, st.data())
def test_new_texts_are_written_with_the_words_that_are_known(texts, data):
    corpus, steps = Corpus(texts), TextSteps()
    written, words = corpus.form(steps, "word"), corpus.words(steps)
    kept = data.draw(st.lists(st.sampled_from(range(len(words))), unique=True)) if words else []
    vocabulary = Vocabulary.from_words([words[point] for point in kept], np.array(kept, np.uint32))
    assert vocabulary.words == [words[point] for point in kept]
    assert ord(vocabulary.unknown) not in kept
    expected = [
        "".join(char if ord(char) in kept else vocabulary.unknown for char in text)
        for text in written
    ]
    assert vocabulary.write(corpus.form(steps)) == expected


def test_words_have_the_origins_that_they_have_in_the_text():
    aligned = [align(text, TextSteps()) for text in ("  One TWO  (three)!", "", "four")]
    vocabulary = Vocabulary.from_words(["one", "three"], np.array([7, 0], np.uint32))
    found = vocabulary.align(aligned)
    assert [(one.starts, one.stops) for one in found] == [
        ([2, 6, 12, 18], [5, 9, 17, 19]),
        ([], []),
        ([0], [4]),
    ]
    assert [one.text for one in found] == ["\7\1\0\1", "", "\1"]


@pytest.mark.parametrize(
    ("words", "points", "message"),
    [
        (["a", "a"], [0, 1], "a word or a character occurs twice"),
        (["a", "b"], [1, 1], "a word or a character occurs twice"),
        (["a"], [0, 1], "it has 1 words and 2 characters"),
        ([3], [0], "it has 1 words"),
        (["a"], [0x110000], "one does not exist"),
    ],
)
def test_a_damaged_vocabulary_is_refused(words, points, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary.from_words(words, np.array(points, np.uint32))
