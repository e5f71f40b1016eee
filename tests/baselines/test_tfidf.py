"""Rivals on weighted words and characters, against versions by loops."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import gramshift as gs
from conftest import examples, texts
from gramshift.baselines import word_features as words
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def characters_of(text, low, high):
    """Character n-grams of each word with a blank before and after it; a word that is shorter than an n-gram is one itself."""
    found = Counter()
    for word in text.lower().split():
        padded = f" {word} "
        for n in range(low, high + 1):
            found.update(padded[start : start + n] for start in range(max(1, len(padded) - n + 1)))
            if len(padded) <= n:
                break
    return found


@given(texts)
@examples(60)
def test_characters_within_words(some):
    expected = [characters_of(text, 3, 4) for text in some]
    if not any(expected):
        with pytest.raises(ValueError, match="no word at all"):
            words.find_characters(some, (3, 4))
        return
    ngrams, counts = words.find_characters(some, (3, 4))
    assert ngrams == sorted(set().union(*expected))
    assert counts.toarray().tolist() == [[one[ngram] for ngram in ngrams] for one in expected]
    assert (words.count_characters(some, ngrams, (3, 4)) != counts).nnz == 0


def test_characters_by_hand():
    assert characters_of("Ab a", 3, 4) == {" ab": 1, "ab ": 1, " ab ": 1, " a ": 1}
    assert words.find_characters(["Ab a", "ab"], (3, 4), least=2)[0] == [" ab", " ab ", "ab "]


def test_tfidf_of_characters_is_what_scikit_learn_gives():
    features = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 6), sublinear_tf=True, min_df=2)
    theirs = make_pipeline(features, LinearSVC(max_iter=20000, random_state=0)).fit(KITCHEN.texts, KITCHEN.labels)
    ours = gs.baselines.TfidfCharacters().fit(KITCHEN.texts, KITCHEN.labels)
    np.testing.assert_allclose(ours.decision_function(FILMS.texts), theirs.decision_function(FILMS.texts), atol=1e-3)
    with pytest.raises(ValueError, match="ngram_range"):
        gs.baselines.TfidfCharacters(ngram_range=(4, 3)).fit(KITCHEN.texts, KITCHEN.labels)


def test_characters_where_documents_share_none():
    assert gs.baselines.TfidfCharacters().fit(["aa", "bb"], [0, 1]).predict(["aa", "bb"]).tolist() == [0, 1]
