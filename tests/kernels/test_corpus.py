import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import texts
from gramshift.kernels.corpus import Corpus
from gramshift.text.documents import digest_of
from gramshift.text.steps import TextSteps
from gramshift.text.words import number_words


@given(texts, st.builds(TextSteps, st.booleans(), st.booleans(), st.booleans()))
def test_forms_are_what_steps_and_words_make(texts, steps):
    corpus = Corpus(texts)
    assert corpus.form(steps) == steps.apply(texts)
    assert corpus.form(steps, "word") == number_words(steps.apply(texts))[0]
    assert corpus.texts == texts


def test_each_form_is_made_once():
    made = []

    class Counted(TextSteps):
        def apply(self, texts):
            made.append(self)
            return super().apply(texts)

    corpus = Corpus(["One  two", "TWO"])
    for steps in (Counted(), Counted(lowercase=False), Counted()):
        for unit in ("character", "word", "character"):
            corpus.form(steps, unit)
    assert made == [Counted(), Counted(lowercase=False)]
    assert corpus.form(Counted()) is corpus.form(Counted())


def test_an_unknown_unit_is_refused():
    with pytest.raises(ValueError, match=r"unit='line': must be one of 'character', 'word'"):
        Corpus(["a"]).form(TextSteps(), "line")


def test_documents_are_known_again_as_they_were_given():
    corpus = Corpus(["one", "One", "one", "\ud800"])
    assert corpus.digests == [digest_of(text) for text in corpus.texts]
    assert corpus.digests[0] == corpus.digests[2] != corpus.digests[1]
    assert corpus.digests is corpus.digests
