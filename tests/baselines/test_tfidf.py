"""Rivals on weighted words and characters, against versions by loops."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import gramshift as gs
from conftest import examples, texts
from gramshift.baselines import word_features as words
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def characters_of(text, low, high):
    """Return character n-grams of each padded word; shorter words are n-grams themselves."""
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
    theirs = make_pipeline(features, LinearSVC(max_iter=20000, random_state=0)).fit(
        KITCHEN.texts, KITCHEN.labels
    )
    ours = gs.baselines.TfidfCharacters().fit(KITCHEN.texts, KITCHEN.labels)
    np.testing.assert_allclose(
        ours.decision_function(FILMS.texts), theirs.decision_function(FILMS.texts), atol=1e-3
    )
    with pytest.raises(ValueError, match="ngram_range"):
        gs.baselines.TfidfCharacters(ngram_range=(4, 3)).fit(KITCHEN.texts, KITCHEN.labels)


def test_characters_where_documents_share_none():
    assert gs.baselines.TfidfCharacters().fit(["aa", "bb"], [0, 1]).predict(
        ["aa", "bb"]
    ).tolist() == [0, 1]


def naive_steps(rows, codes, n_steps, C):
    """Fit logistic regression on more and more of its own labels, one document after another."""
    n, n_target, classes = len(codes), len(rows) - len(codes), sorted(set(codes))
    learnt, labels = list(range(n)), list(codes)
    for step in range(n_steps + 1):
        model = LogisticRegression(C=C, max_iter=5000).fit(rows[learnt], labels)
        if step == n_steps:
            return model
        wanted = round((step + 1) / n_steps * n_target)
        exact = [wanted * codes.count(code) / n for code in classes]
        left = [int(one + 1e-9) for one in exact]
        for code in sorted(classes, key=lambda code: left[code] - exact[code])[
            : wanted - sum(left)
        ]:
            left[code] += 1
        learnt, labels = list(range(n)), list(codes)
        sure = model.predict_proba(rows[n:])
        for _, row, code in sorted(
            (-sure[row, code], row, code) for row in range(n_target) for code in classes
        ):
            if left[code] and n + row not in learnt:
                left[code] -= 1
                learnt.append(n + row)
                labels.append(code)


@pytest.mark.parametrize(("n_steps", "n_classes"), [(4, 2), (1, 2), (3, 3)])
def test_balanced_self_training_step_by_step(n_steps, n_classes):
    chance = np.random.default_rng(1)
    common = list("abcdefgh")
    documents = [
        " ".join(
            [*chance.choice(common, 3), *["uvw"[row % n_classes]] * int(chance.integers(0, 3))]
        )
        for row in range(60)
    ]
    codes = [row % n_classes for row in range(33)]
    clf = gs.baselines.BalancedSelfTraining(n_steps=n_steps, C=10.0).fit(
        documents[:33], codes, target=documents[33:]
    )
    features = TfidfVectorizer(
        token_pattern=words.TOKEN, ngram_range=(1, 2), sublinear_tf=True, min_df=2
    )
    rows = features.fit_transform(documents).toarray()
    model = naive_steps(rows, codes, n_steps, 10.0)
    np.testing.assert_allclose(
        clf.transduction_proba_.argmax(axis=1), model.predict_proba(rows[33:]).argmax(axis=1)
    )
    np.testing.assert_allclose(
        clf.decision_function(documents), model.decision_function(rows), atol=1e-2
    )


def test_balanced_self_training_keeps_the_shares_of_the_source():
    """A class that the model gives to few documents gets its share of those that join."""
    source = ["good fine", "good fun", "bad sad", "bad poor"] * 5
    target = ["good fine thing"] * 12 + ["good poor thing"] * 12
    clf = gs.baselines.BalancedSelfTraining().fit(source, [1, 1, 0, 0] * 5, target=target)
    assert clf.transduction_.tolist() == [1] * 12 + [0] * 12
    with pytest.raises(ValueError, match="n_steps=0: give a whole number from 1 on"):
        gs.baselines.BalancedSelfTraining(n_steps=0).fit(source, [1, 1, 0, 0] * 5, target=target)
