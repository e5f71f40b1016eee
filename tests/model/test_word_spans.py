"""Which words of a text are shown, from what its characters add."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from gramshift.model.word_spans import choose_words, rank_words


def share(text, **words):
    """Shares for two classes: of each of these words, spread over its characters, as much for the
    second.
    """
    result = np.zeros((len(text), 2))
    for word, value in words.items():
        start = text.index(word)
        result[start : start + len(word)] += np.array([-value, value]) / len(word)
    return result


def names(text, found):
    return [text[one.start : one.stop] for one in found]


def test_words_are_ranked_by_what_they_add():
    text = "It broke after two weeks: useless!"
    found = rank_words(text, share(text, useless=3.0, broke=-2.0, weeks=1.0))
    assert names(text, found) == ["useless", "broke", "weeks"]
    assert [one.code for one in found] == [1, 0, 1]
    assert [one.strength for one in found] == pytest.approx([3, 2, 1])


def test_half_a_word_is_the_whole_word():
    text = "a tattered cover"
    by_character = np.zeros((len(text), 2))
    by_character[text.index("tered") :][:4] = [-1, 1]
    assert names(text, rank_words(text, by_character)) == ["tattered"]


def test_neighbours_that_count_together_are_a_phrase():
    text = "I want my money back"
    by_character = share(text, my=1.0, money=2.0)
    assert names(text, rank_words(text, by_character)) == [
        "money",
        "my",
    ]  # nothing that stands on the blank: two words
    by_character[text.index(" money")] = [-0.5, 0.5]
    assert names(text, rank_words(text, by_character)) == ["my money"]
    by_character[text.index("my")] *= -1  # now the first of them hardly counts
    assert names(text, rank_words(text, by_character))[0] == "money"


def test_a_phrase_has_three_words_at_most_and_ends_at_a_mark():
    text = "one two ten six. ten"
    assert names(text, rank_words(text, np.tile([-1.0, 1.0], (len(text), 1)))) == [
        "one two ten",
        "six",
        "ten",
    ]


@pytest.mark.parametrize(
    ("text", "strong", "expected"),
    [
        ("房间很干净但是服务非常差", "非常差", "非常差"),
        ("この映画はとても面白かったです", "面白", "面白"),
        ("อาหารอร่อยมากแต่ที่นั่งแคบ", "อร่อย", "อร่อย"),
        ("房间 very 干净", "干净", "干净"),
    ],
)
def test_scripts_without_blanks_give_short_runs(text, strong, expected):
    by_character = share(text, **{strong: 5.0}) + np.array([0.05, -0.05])
    first, *rest = names(text, rank_words(text, by_character))
    assert first == expected
    assert all(len(one) <= 12 for one in rest if not one.isascii())


def test_a_long_run_is_cut_where_it_is_strongest():
    text = "一二三四五六七八九十"
    by_character = np.tile([-0.1, 0.1], (10, 1))
    by_character[3:7] = [-1, 1]
    assert names(text, rank_words(text, by_character)) == ["四五六七", "一二三", "八九十"]


def test_few_words_are_shown_and_no_weak_ones():
    text = "aa bb cc dd ee ff gg"
    found = rank_words(text, share(text, aa=9.0, bb=8.0, cc=-7.0, dd=6.0, ee=0.5, ff=0.4))
    assert names(text, choose_words(found)) == ["aa", "bb", "cc", "dd"]
    assert names(text, choose_words(found, 2)) == ["aa", "bb"]
    assert choose_words([]) == []


@given(st.text(max_size=60), st.integers(0, 2**32 - 1), st.integers(2, 4))
@examples(50)
def test_words_of_any_text_do_not_overlap_and_add_what_their_characters_do(text, seed, n_classes):
    by_character = np.random.default_rng(seed).normal(size=(len(text), n_classes))
    found = rank_words(text, by_character)
    covered = np.zeros(len(text), int)
    for one in found:
        covered[one.start : one.stop] += 1
        added = by_character[one.start : one.stop].sum(axis=0)
        assert one.strength == pytest.approx(added[one.code] - added.mean())
        assert not text[one.start].isspace()
    assert covered.max(initial=0) <= 1
    assert [one.strength for one in found] == sorted((one.strength for one in found), reverse=True)
