"""Polarity of words by hand."""

import pytest

from gramshift.baselines.english import (
    NEGATION_SPAN,
    Lexicon,
    Word,
    describe_polarity,
    load_lexicon,
    polarities,
    read_lexicon,
    tag_text,
)

LEXICON = Lexicon({"good": 0.5, "bad": -0.75, "soon": 0.25}, {"a-1": 1.0})


def words(text):
    parts = {"good": "a", "bad": "a", "soon": "r"}
    return [Word(form, form, parts.get(form, "")) for form in text.split()]


def read(text):
    sentence = words(text)
    return polarities(sentence, [""] * len(sentence), LEXICON)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a good pan", [0, 0.5, 0]),
        ("not good", [0, -0.5]),
        ("not a very good pan", [0, 0, 0, -0.5, 0]),
        ("not at all so good", [0, 0, 0, 0, 0.5]),  # too far
        ("good not bad", [0.5, 0, 0.75]),  # what stands before it stays
        ("never good bad good bad", [0, -0.5, 0.75, -0.5, -0.75]),
    ],
)
def test_negation_turns_the_next_words_round(text, expected):
    assert NEGATION_SPAN == 3
    assert read(text) == expected


def test_contractions_negate_and_sentences_end_it():
    found = [
        polarities(sentence, [""] * len(sentence), LEXICON)
        for sentence in tag_text("It isn't good. Good!")
    ]
    assert found == [[0, 0, 0, -0.5, 0], [0.5, 0]]


def test_the_sense_goes_before_the_word_and_the_form_before_the_lemma():
    good, better = Word("good", "good", "a"), Word("better", "good", "a")
    assert LEXICON.polarity(good, "a-1") == 1
    assert LEXICON.polarity(good, "a-2") == LEXICON.polarity(better, "") == 0.5
    assert Lexicon({"good": 0.5, "better": 0.6}).polarity(better, "") == 0.6


def test_summary_over_all_words_and_each_part_of_speech():
    sentences = [words("good bad pan"), words("not good soon")]
    found = describe_polarity(sentences, [[""] * 3, [""] * 3], LEXICON)
    adjectives = [
        0.5 - 0.75 - 0.5,
        1,
        2,
        1 / 3,
        0.5,
        -0.75,
        -0.5,
    ]  # sum, good, bad, share, best, worst, last
    adverbs = [-0.25, 0, 1, 0, -0.25, -0.25, -0.25]
    everything = [-1, 1, 3, 1 / 4, 0.5, -0.75, -0.25]
    assert found == [*everything, *[0.0] * 7, *adjectives, *adverbs, *[0.0] * 7]  # all, n, a, r, v


def test_file_with_several_senses_of_a_word(tmp_path):
    path = tmp_path / "lexicon.xml"
    path.write_text(
        '<?xml version="1.0"?><sentiment><word form="Odd" wordnet_id="a-123" polarity="-0.5"/>'
        '<word form="odd" wordnet_id="" polarity="0.25"/>'
        '<word form="odd" wordnet_id="a-00000123" polarity="0.0"/></sentiment>'
    )
    lexicon = read_lexicon(path)
    assert lexicon.words == {"odd": pytest.approx(-0.25 / 3)}
    assert lexicon.senses == {"a-00000123": -0.25}


def test_the_installed_lexicon():
    lexicon = load_lexicon()
    assert len(lexicon.words) > 1500
    assert lexicon.words["wonderful"] > 0.5
    assert lexicon.words["awful"] < -0.5
    assert lexicon.senses["a-01625063"] == -0.7  # abhorrent: the file leaves the first 0 out
