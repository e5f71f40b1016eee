"""What a fit takes beside texts and labels: unlabelled texts, weights, names of sources; and what
it warns of or refuses.
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import gramshift as gs
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def fit(target=FILMS.texts[:60], labels=KITCHEN.labels, texts=KITCHEN.texts, n_rounds=3, **given):
    parameters = {
        "n_rounds": n_rounds,
        "class_weight": given.pop("class_weight", None),
        "class_prior": given.pop("class_prior", None),
    }
    return gs.TransductiveClassifier(**parameters, n_jobs=1).fit(
        texts, labels, target=target, **given
    )


@pytest.fixture(scope="module")
def alone():
    return fit()


def test_unlabelled_texts_are_learnt_from_and_get_no_label(alone):
    found = fit(unlabelled=FILMS.texts[60:])
    assert found.transduction_.shape == alone.transduction_.shape == (60,)
    assert found.transduction_proba_.shape == found.transduction_score_.shape == (60, 2)
    assert found.labeled_iter_.shape == (120 + 60,)
    assert found.unadapted_transduction_.shape == (60,)
    assert [sum(step["labels"].values()) for step in found.history_] == [60, 60, 60]
    assert not np.allclose(found.transduction_score_, alone.transduction_score_)
    together = fit(target=FILMS.texts)
    np.testing.assert_array_equal(found.transduction_score_, together.transduction_score_[:60])


def test_unlabelled_texts_are_still_known_in_a_file(tmp_path):
    found = fit(unlabelled=FILMS.texts[60:])
    found.save(tmp_path / "m.gramshift")
    loaded = gs.load(tmp_path / "m.gramshift")
    np.testing.assert_array_equal(loaded.transduction_, found.transduction_)
    assert loaded.class_prior_ == found.class_prior_
    assert loaded.history_ == found.history_
    assert loaded.expected_accuracy_ == found.expected_accuracy_
    np.testing.assert_array_equal(loaded.unadapted_transduction_, found.unadapted_transduction_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"unlabelled": []}, "unlabelled is an empty list"),
        ({"unlabelled": [" ", ""]}, "all of them are empty"),
        ({"unlabelled": ["one"], "target": None}, "unlabelled goes with a target"),
        ({"sample_weight": [1.0] * 119 + [-1.0]}, r"sample_weight\[119\] is -1"),
        ({"sample_weight": [0.0] * 120}, r"sample_weight\[0\] is 0"),
        ({"sample_weight": [1.0] * 7}, "sample_weight has 7 numbers"),
        ({"class_weight": {"good": 2}}, "class_weight="),
        ({"class_weight": {"positive": 0}}, r"class_weight\['positive'\] is 0"),
        ({"domains": ["a"] * 3}, "domains has 3 names"),
        ({"class_prior": {"positive": 0.5}}, "give a proportion from 0 on for each of the classes"),
        (
            {"class_prior": {"positive": -0.5, "negative": 1}},
            "give a proportion from 0 on for each of the classes",
        ),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(gs.GramshiftError, match=message):
        fit(**given)


def test_weights_are_for_linear_models():
    clf = gs.TransductiveClassifier(preset="paper")
    with pytest.raises(gs.GramshiftError, match="for linear models"):
        clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts, sample_weight=np.ones(120))


def test_weights_move_scores_towards_what_counts_more(alone):
    towards = fit(class_weight={"positive": 20.0}, class_prior="source")
    usual = fit(class_prior="source")
    assert towards.result_.model.intercepts.shape == (2,)
    assert not np.allclose(towards.transduction_score_, usual.transduction_score_)
    balanced = fit(class_weight="balanced")  # classes are balanced already
    np.testing.assert_array_equal(balanced.transduction_score_, alone.transduction_score_)
    np.testing.assert_array_equal(
        fit(sample_weight=np.full(120, 3.0)).transduction_score_, alone.transduction_score_
    )


def make_domain(rng, often, n):
    """Texts of more or less common words, half of them with a word of their class."""
    words = [
        " ".join(word for word, share in often.items() if rng.random() < share) for _ in range(n)
    ]
    return [f"{text} {'great' if i % 2 else 'awful'}" for i, text in enumerate(words)], [
        "good" if i % 2 else "bad" for i in range(n)
    ]


def test_sources_tell_how_near_they_are():
    rng = np.random.default_rng(0)
    one, other = (
        {f"word{i}": share for i, share in enumerate(rng.uniform(0.05, 0.6, 60))} for _ in range(2)
    )
    (far, of_far), (near, of_near), (target, _) = (
        make_domain(rng, often, 200) for often in (other, one, one)
    )
    found = fit(
        target=target,
        texts=far + near,
        labels=of_far + of_near,
        domains=["far"] * 200 + ["near"] * 200,
    )
    first, second = found.sources_
    assert (first["domain"], first["documents"], second["domain"]) == ("far", 200, "near")
    assert second["drift"] < 0.2 < first["drift"]
    assert second["weight"] > 1 > first["weight"]
    assert (first["weight"] + second["weight"]) / 2 == pytest.approx(1)
    assert first["accuracy"] == second["accuracy"] == 1
    assert fit().sources_ is None


def test_the_users_shares_win():
    found = fit(class_prior={"positive": 0.9, "negative": 0.1})
    assert found.class_prior_["positive"]["used"] == pytest.approx(0.9)
    assert (
        found.class_prior_["positive"]["low"]
        == found.class_prior_["positive"]["high"]
        == pytest.approx(0.9)
    )
    assert found.transduction_proba_.shape == (60, 2)
    assert (found.transduction_ == "positive").mean() > 0.75
    assert fit(class_prior="source").class_prior_["positive"]["used"] == 0.5


def test_fewer_than_fifty_target_documents_get_the_labels_of_plain():
    few = gs.TransductiveClassifier().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts[:49])
    assert len(few.history_) == 1
    np.testing.assert_array_equal(few.transduction_, few.unadapted_transduction_)
    assert (
        len(
            gs.TransductiveClassifier()
            .fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts[:50])
            .history_
        )
        == 5
    )


def test_a_target_of_one_document_and_a_class_of_one():
    found = fit(target=["a great film"], n_rounds=None)
    assert found.transduction_.shape == (1,)
    lonely = fit(labels=["odd", *KITCHEN.labels[1:]])
    assert np.isfinite(lonely.transduction_proba_).all()
    assert set(lonely.classes_) == {"odd", "positive", "negative"}


def test_documents_without_evidence_get_the_shares():
    found = fit(target=[*FILMS.texts[:60], "", "%%%% &&&&"])
    assert found.result_.n_blank == 2
    prior = [one["used"] for one in found.class_prior_.values()]
    np.testing.assert_allclose(
        found.transduction_proba_[-2], found.transduction_proba_[-1], atol=1e-9
    )
    np.testing.assert_allclose(found.transduction_proba_[-1], prior, atol=0.25)
    assert found.transduction_proba_[-1].max() <= np.quantile(
        found.transduction_proba_.max(axis=1), 0.2
    )


def test_a_target_without_any_known_ngram_gets_the_shares():
    found = fit(target=["", "\u4e2d\u6587"] * 30)
    assert found.result_.n_blank == 60
    np.testing.assert_allclose(found.transduction_proba_, 0.5, atol=0.05)


def test_a_fit_without_target_warns():
    with pytest.warns(UserWarning, match="no target"):
        gs.TransductiveClassifier().fit(KITCHEN.texts[:20], KITCHEN.labels[:20])
    with pytest.warns(UserWarning, match="^-1 among the labels is a class like any other"):
        gs.TransductiveClassifier().fit(
            ["a b", "b c", "c d", "d e"] * 3, [0, 1, 2, -1] * 3, target=["a c", "b d"]
        )
    with pytest.warns(UserWarning, match="-1 among the labels is a class like any other"):
        gs.TransductiveClassifier().fit(KITCHEN.texts[:20], [-1, 0, 1, 0] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.TransductiveClassifier().fit(KITCHEN.texts[:20], [*KITCHEN.labels[:19], None])


def test_labels_that_differ_by_case_or_blanks_warn():
    labels = [
        " Positive" if label == "positive" and i % 2 else label
        for i, label in enumerate(KITCHEN.labels)
    ]
    with pytest.warns(
        UserWarning, match="' Positive' and 'positive' differ only by case or blanks"
    ):
        fit(labels=labels)


def test_a_target_that_a_search_has_cut_is_refused():
    search = GridSearchCV(
        gs.TransductiveClassifier(n_rounds=1), {"alpha": [1.0]}, cv=2, error_score="raise"
    )
    with pytest.raises(gs.GramshiftError, match=r"gs\.Target"):
        search.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    search.fit(KITCHEN.texts, KITCHEN.labels, target=gs.Target(FILMS.texts))
    assert len(search.best_estimator_.transduction_) == len(FILMS.texts)


@pytest.mark.parametrize(
    "make",
    [
        lambda texts: pd.DataFrame({"text": texts}),
        lambda texts: pl.DataFrame({"text": texts}),
        lambda texts: np.array(texts)[:, None],
    ],
    ids=["pandas", "polars", "numpy"],
)
def test_a_table_of_one_column_is_a_column_of_texts(make):
    source, target, more = KITCHEN.texts[:40], FILMS.texts[:30], FILMS.texts[30:40]
    y = KITCHEN.labels[:40]

    def kernel(a, b):
        return np.array([[1.0 if one == other else 0.1 for other in b] for one in a])

    for clf in (
        gs.TransductiveClassifier(ngram_range=(3, 4)),
        gs.TransductiveClassifier(kernel, preset="paper", n_added=5),
        gs.baselines.TfidfLogistic(),
    ):
        is_best = getattr(clf, "preset", None) == "best"
        expected = clone(clf).fit(
            source, y, target=target, **({"unlabelled": more} if is_best else {})
        )
        found = clone(clf).fit(
            make(source), y, target=make(target), **({"unlabelled": make(more)} if is_best else {})
        )
        assert np.array_equal(found.transduction_score_, expected.transduction_score_)
        assert np.array_equal(found.predict(make(more)), expected.predict(more))
    grams = [gs.StringKernel(ngram_range=(3, 4)).gram(one) for one in (make(target), target)]
    assert np.array_equal(*grams)
