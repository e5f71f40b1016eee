"""Sentences, lemmas and parts of speech, against HanTa's own sentence tagger."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramshift as gs
from gramshift import baselines as extras
from gramshift.baselines import english
from gramshift.baselines.english import split_sentences, tag_sentence, tag_text
from gramshift.methods import METHODS
from small_demo import load_demo


def test_sentences_and_words():
    text = "It isn’t good... Don't buy! (I've said 'so'.) A well-made\npan\n\nthe end"
    assert [" ".join(words) for words in split_sentences(text)] == [
        "It is n't good ...",
        "Do n't buy !",
        "( I 've said ' so ' .",
        "A well-made pan",
        "the end",
    ]
    assert split_sentences(" \n\n ") == []


@given(st.text())
@pytest.mark.slow
def test_no_character_is_lost_but_blanks_and_what_closes_a_sentence(text):
    closing = ["'", '"', ")", "]", "’", "‘", "`", "´"]
    kept = "".join(word for words in split_sentences(text) for word in words)
    assert all(
        word and not any(map(str.isspace, word))
        for words in split_sentences(text)
        for word in words
    )

    def rest(string):
        return [c for c in string if not c.isspace() and c not in closing]

    assert rest(kept) == rest(text)


def test_lemmas_and_parts_of_speech():
    words = [
        word
        for sentence in tag_text("The knives weren't cutting well. I left the best pans in Boston!")
        for word in sentence
    ]
    found = {word.form: (word.lemma, word.part) for word in words}
    assert found["knives"] == ("knife", "n")
    assert found["were"] == ("be", "v")
    assert found["n't"] == ("not", "")
    assert found["cutting"] == ("cut", "v")
    assert found["well"] == ("well", "r")
    assert found["left"] == ("leave", "v")
    assert found["best"] == ("good", "a")
    assert found["boston"] == ("boston", "p")
    assert found["."] == (".", "")


def test_tags_are_those_of_hanta():
    tagger = english._tagger()
    texts = [
        *load_demo("kitchen").texts[::3],
        *load_demo("films").texts[::3],
        "Xyzzyq blorp 3.5 😀 NASA's 'n' --- ok?? He did so so",
    ]
    sentences = [words for text in texts for words in split_sentences(text)]
    assert len(sentences) > 100
    for words in sentences:
        assert [tagger.int2tag[tag] for tag in tag_sentence(words)] == tagger.tag_sent(
            words, taglevel=0
        )


@given(
    st.lists(st.text(min_size=1, max_size=6).filter(lambda word: not word.isspace()), max_size=6)
)
@pytest.mark.slow
def test_any_words_get_a_tag_each(words):
    assert len(tag_sentence(words)) == len(words)


def test_a_word_without_end_takes_no_time():
    (word,) = tag_text("b" * 20_000)[0]
    assert word.lemma == "b" * 20_000


def test_what_to_install_is_said(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    for name, missing in (("sst", "HanTa"), ("ke-meta", "HanTa, pattern")):
        with pytest.raises(
            ModuleNotFoundError, match=rf"needs {missing}: pip install 'gramshift\[baselines\]'"
        ):
            METHODS[name].make()
    for method in ("SST", "KEMeta"):
        clf = getattr(gs.baselines, method)()
        with pytest.raises(
            ModuleNotFoundError, match=r"needs HanTa.*: pip install 'gramshift\[baselines\]'"
        ):
            clf.fit(["a", "b"], [0, 1], target=["c"])


def test_another_package_of_the_same_name_is_noticed():
    with pytest.raises(
        FileNotFoundError, match=r"needs no/such/file.*pip install 'gramshift\[baselines\]'"
    ):
        extras.package_file("KE-Meta", "numpy", "no/such/file")
