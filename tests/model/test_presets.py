"""The preset "best", and how presets and parameters go together."""

import numpy as np
import pytest
from sklearn.base import clone

import gramshift as gs
from gramshift.learn.calibrate import fit_offsets
from gramshift.model.settings import PRESETS
from gramshift.runtime import Runtime
from naive_best import best
from small_demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
X, Y, TARGET = SOURCE.texts, SOURCE.labels, FILMS.texts
NEW = ["a great blender, i love it", "Broke after a day; waste of money!", ""]


@pytest.fixture(scope="module")
def fitted():
    return gs.TransductiveClassifier(preset="best").fit(X, Y, target=TARGET)


def cut(texts, n, length=90):
    return [text[:length] for text in texts[:n]]


def write_with_class_words(codes, seed):
    """Eight words of forty that both domains have, and two that belong to the class."""
    chance, texts = np.random.default_rng(seed), []
    for code in codes:
        neutral = [f"n{number}x" for number in chance.choice(40, 8, replace=False)]
        telling = [
            "abc"[code] + str(number) + "xyz"[code] for number in chance.choice(3, 2, replace=False)
        ]
        texts.append(" ".join(chance.permutation(neutral + telling)))
    return texts


def repeat_codes(*counts):
    return [code for code, count in enumerate(counts) for _ in range(count)]


SIGNS = [int(label == "positive") for label in Y]
UNEVEN = {
    n: [i % n if i < 16 else 0 for i in range(20)] for n in (2, 3)
}  # not the same number of each class
ALL_ROUNDS = PRESETS["best"]["n_added"]
RECIPES = {  # source, classes, target, and how much of the target joins
    "two classes": (cut(X, 20), UNEVEN[2], cut(TARGET, 12), ALL_ROUNDS),
    "three classes": (cut(X, 20), UNEVEN[3], cut(TARGET, 12), ALL_ROUNDS),
    "more documents": (cut(X, 30), SIGNS[:30], cut(TARGET, 40), ALL_ROUNDS),
    "no more than twice the source": (cut(X, 10), SIGNS[:10], cut(TARGET, 40), (0.9, 0.9)),
    "many that never join": (cut(X, 24), SIGNS[:24], cut(TARGET, 40), (0.2, 0.4)),
    "one round": (cut(X, 24), SIGNS[:24], cut(TARGET, 20), ()),
    **{
        f"other shares: {here} to {there}": (
            write_with_class_words(repeat_codes(*here), 1), repeat_codes(*here),
            write_with_class_words(repeat_codes(*there), 2), ALL_ROUNDS,
        )
        for here, there in {(40, 40): (36, 4), (60, 20): (10, 30), (30, 30, 30): (4, 30, 6)}.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.slow
def test_it_is_the_recipe_line_by_line(name):
    source, codes, target, added = RECIPES[name]
    names = ["bad", "good", "so-so"]
    rounds = (
        {"n_added": added} if added else {"n_rounds": 1}
    )  # by itself it would not adapt to so few
    clf = gs.TransductiveClassifier(ngram_range=(3, 4), **rounds).fit(
        source, [names[c] for c in codes], target=target
    )
    held = PRESETS["best"]
    scores, found = best(
        source, codes, target, ngram_range=(3, 4), alpha=held["alpha"], added=added,
        idf=held["weighting"]["idf"],
        by_class=held["weighting"]["classes"],
        fit_offsets=fit_offsets,
    )  # fmt: skip
    assert not np.isnan(scores).any()  # every document shares something with the source
    assert clf.transduction_.tolist() == [names[label] for label in scores.argmax(axis=1)]
    close = 1e-6 * (
        1 + np.abs(scores).max()
    )  # scores are large where their steepness is next to nothing
    np.testing.assert_allclose(clf.transduction_score_, scores, rtol=0, atol=close)
    assert len(clf.history_) == 1 + len(added)
    used = [clf.class_prior_[label]["used"] for label in clf.classes_]
    np.testing.assert_allclose(used, found, atol=1e-6)
    here = np.bincount(codes) / len(codes)
    assert (np.abs(here - found).max() > 0.05) == name.startswith("other shares")
    if added:
        joined = np.array(list(clf.history_[-1]["added"].values()))
        assert joined.sum() == min(
            round(added[-1] * len(target)),
            2 * (len(source) + sum(clf.history_[-2]["added"].values())),
        )
        by = np.array(list(clf.history_[-1]["class_prior"].values()))
        assert np.abs(joined - joined.sum() * by).max() <= 1
        np.testing.assert_allclose(by, used)


def test_shares_are_told(fitted):
    """In the source, as estimated, as used, and an interval; the first round has none."""
    assert list(fitted.class_prior_) == fitted.classes_.tolist()
    for one in fitted.class_prior_.values():
        assert set(one) == {"source", "estimated", "used", "low", "high", "limit"}
        assert one["source"] == 0.5
        assert 0 <= one["low"] <= one["used"] <= one["high"] <= 1
    for kind in ("source", "estimated", "used"):
        assert sum(one[kind] for one in fitted.class_prior_.values()) == pytest.approx(1)
    assert fitted.history_[0]["class_prior"] is None
    assert fitted.history_[-1]["class_prior"] == {
        label: one["used"] for label, one in fitted.class_prior_.items()
    }


def test_shares_that_a_person_gives_are_used_as_they_are():
    clf = gs.TransductiveClassifier(
        ngram_range=(3, 5), class_prior={"positive": 3, "negative": 1}
    ).fit(X, Y, target=TARGET)
    assert {label: one["used"] for label, one in clf.class_prior_.items()} == {
        "positive": 0.75,
        "negative": 0.25,
    }
    assert all(one["low"] == one["used"] == one["high"] for one in clf.class_prior_.values())
    added = [step["added"] for step in clf.history_[1:]]
    assert [sum(one.values()) for one in added] == [30, 60, 90, 108]
    assert all(abs(one["positive"] - 0.75 * sum(one.values())) <= 1 for one in added)
    source = gs.TransductiveClassifier(ngram_range=(3, 5), class_prior="source").fit(
        X[:90], Y[:90], target=TARGET
    )
    assert source.class_prior_["positive"]["used"] == Y[:90].count("positive") / 90


def test_shares_that_a_person_gives_count_where_nothing_is_adapted_too():
    """Most documents are positive if a person says so, and most are negative if that is said."""
    for options in ({}, {"n_rounds": 1}):
        found = []
        for share in (0.95, 0.05):
            clf = gs.TransductiveClassifier(
                class_prior={"positive": share, "negative": 1 - share}, **options
            )
            found.append(np.mean(clf.fit(X, Y, target=TARGET[:40]).transduction_ == "positive"))
            assert len(clf.history_) == 1
            assert clf.class_prior_["positive"]["used"] == share
        assert found[0] > 0.5 > found[1]


@pytest.mark.parametrize("n", [49, 50])
def test_a_small_target_is_not_adapted_to_unless_rounds_are_given(n):
    clf = gs.TransductiveClassifier(ngram_range=(3, 5)).fit(X, Y, target=TARGET[:n])
    assert len(clf.history_) == (5 if n >= 50 else 1)
    assert (
        len(
            gs.TransductiveClassifier(ngram_range=(3, 5), n_rounds=2)
            .fit(X, Y, target=TARGET[:n])
            .history_
        )
        == 2
    )


def test_the_sign_of_a_score_is_the_label(fitted):
    """Of target documents and of others, as scikit-learn has it for two classes."""
    for documents in (TARGET, [text.upper() + "!" for text in TARGET]):
        assert (
            (fitted.decision_function(documents) > 0) == (fitted.predict(documents) == "positive")
        ).all()


def test_parameters_win_over_the_preset(fitted):
    given = {
        "preset": "best",
        "n_rounds": 1,
        "alpha": 0.5,
        "adapt": True,
        "weighting": "none",
        "kernel": "spectrum",
    }
    given |= {"ngram_range": (5, 8), "bias": False}
    clf = gs.TransductiveClassifier(**given)
    assert {name: clf.get_params()[name] for name in given} == given
    plain = gs.TransductiveClassifier("spectrum", preset="paper", n_rounds=1, alpha=0.5).fit(
        X, Y, target=TARGET
    )
    assert (
        clone(clf).fit(X, Y, target=TARGET).transduction_score_ == plain.transduction_score_
    ).all()
    assert repr(fitted) == "TransductiveClassifier()"
    assert (
        repr(gs.TransductiveClassifier(preset="paper")) == "TransductiveClassifier(preset='paper')"
    )


def test_best_is_the_default(fitted):
    assert gs.TransductiveClassifier().get_params()["preset"] == "best"
    again = gs.TransductiveClassifier().fit(X, Y, target=TARGET)
    assert again.transduction_score_.tobytes() == fitted.transduction_score_.tobytes()


@pytest.mark.parametrize(
    ("preset", "ngram_range", "bias"), [("paper", (5, 8), False), ("best", (3, 8), "prior")]
)
def test_lengths_and_intercept_are_those_of_the_preset_unless_they_are_given(
    preset, ngram_range, bias
):
    settings, kernel_list = gs.TransductiveClassifier(preset=preset)._check_parameters(Runtime(1))
    assert (settings.ngram_range, settings.bias) == (ngram_range, bias)
    assert kernel_list.kernels[0].ngram_range == ngram_range
    settings, kernel_list = gs.TransductiveClassifier(
        preset=preset, ngram_range=(2, 4), bias=True
    )._check_parameters(Runtime(1))
    assert (settings.ngram_range, settings.bias) == ((2, 4), True)
    assert kernel_list.kernels[0].ngram_range == (2, 4)


def test_the_paper_lets_1000_documents_join_or_half_of_a_smaller_target():
    settings, _ = gs.TransductiveClassifier(preset="paper")._check_parameters(Runtime(1))
    counted = {n: settings.count_added(n) for n in (1, 2, 3, 120, 1999, 2000, 20_000)}
    assert counted == {
        1: (1,),
        2: (1,),
        3: (1,),
        120: (60,),
        1999: (999,),
        2000: (1000,),
        20_000: (1000,),
    }
    clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5)).fit(X, Y, target=TARGET)
    assert [sum(step["added"].values()) for step in clf.history_] == [0, 60]


def test_growing_rounds_can_be_had_without_best():
    clf = gs.TransductiveClassifier(preset="paper", n_added=[10, 0.5], ngram_range=(3, 5)).fit(
        X, Y, target=TARGET
    )
    assert [sum(step["added"].values()) for step in clf.history_] == [0, 10, 60]
    more = gs.TransductiveClassifier(
        preset="paper", n_added=[10, 0.5], n_rounds=4, ngram_range=(3, 5)
    ).fit(X, Y, target=TARGET)
    assert [sum(step["added"].values()) for step in more.history_] == [0, 10, 60, 60]


def test_shares_can_be_given():
    options = {"preset": "paper", "n_added": 40, "ngram_range": (3, 5)}
    for class_prior, positive in (
        (({"positive": 3, "negative": 1}), 30),
        ({"positive": 0.0, "negative": 1.0}, 0),
    ):
        clf = gs.TransductiveClassifier(class_prior=class_prior, **options).fit(X, Y, target=TARGET)
        assert clf.history_[1]["added"] == {"negative": 40 - positive, "positive": positive}
    few = gs.TransductiveClassifier(class_prior="source", **options).fit(
        X[:90], Y[:90], target=TARGET
    )
    share = Y[:90].count("positive") / 90
    assert abs(few.history_[1]["added"]["positive"] - 40 * share) < 1


def test_new_documents_are_weighed_as_in_the_fit(fitted):
    """A new document that is a copy of a target document, but for what the text steps take away,
    gets its score.

    After several rounds that is the score by what was learnt from it too; its label was found for
    the most part without that.
    """
    assert (fitted.predict(TARGET) == fitted.transduction_).all()
    copies = [text.upper() + " " for text in TARGET]
    np.testing.assert_allclose(
        fitted.decision_function(copies), fitted.result_.model.score(TARGET)[:, 1], atol=1e-9
    )
    first = gs.TransductiveClassifier(n_rounds=1).fit(X, Y, target=TARGET)
    np.testing.assert_allclose(
        first.decision_function(copies), first.transduction_score_[:, 1], atol=1e-9
    )
    together, alone = (
        fitted.decision_function(NEW),
        [fitted.decision_function([text])[0] for text in NEW],
    )
    np.testing.assert_allclose(together, alone, atol=1e-12)
    assert alone[2] == fitted.result_.model.intercepts[1]  # it has no evidence, and so the prior
    assert fitted.predict(NEW[:2]).tolist() == ["positive", "negative"]


def test_probabilities_agree_with_labels(fitted):
    probabilities = fitted.predict_proba(NEW)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (
        fitted.classes_[fitted.transduction_proba_.argmax(axis=1)] == fitted.transduction_
    ).all()


def test_an_explanation_adds_up(fitted):
    for text in NEW:
        explanation = fitted.explain(text)
        for code, label in enumerate(fitted.classes_.tolist()):
            total = explanation.empty[label] + sum(span.shares[label] for span in explanation.spans)
            assert total == pytest.approx(explanation.score[label])
            by_document = sum(one.shares[label] for one in explanation.documents)
            assert explanation.empty[label] + by_document == pytest.approx(explanation.score[label])
            assert (-1) ** (1 - code) * fitted.decision_function([text])[0] == pytest.approx(
                explanation.score[label]
            )


def test_it_is_saved_and_loaded(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = gs.load(tmp_path / "model")
    assert again.get_params() == fitted.get_params()
    assert again.decision_function(NEW).tobytes() == fitted.decision_function(NEW).tobytes()
    assert again.predict_proba(NEW).tobytes() == fitted.predict_proba(NEW).tobytes()
    assert again.transduction_.tolist() == fitted.transduction_.tolist()


def test_shares_by_label_are_saved_whatever_the_labels_are(tmp_path):
    codes = [int(label == "positive") for label in Y]
    clf = gs.TransductiveClassifier(
        preset="paper", class_prior={0: 0.3, 1: 0.7}, n_added=10, ngram_range=(3, 5)
    ).fit(X, codes, target=TARGET)
    clf.save(tmp_path / "model")
    assert gs.load(tmp_path / "model").get_params() == clf.get_params()


def test_gaps_in_y_are_the_target(fitted):
    clf = gs.TransductiveClassifier(preset="best").fit(TARGET + X, [None] * len(TARGET) + Y)
    np.testing.assert_allclose(clf.transduction_score_, fitted.transduction_score_, atol=1e-6)


@pytest.mark.filterwarnings("ignore:fit got no target")
def test_without_a_target_there_is_one_round():
    clf = gs.TransductiveClassifier(preset="best").fit(X, Y)
    assert len(clf.history_) == 1
    assert clf.predict(NEW[:2]).tolist() == ["positive", "negative"]


def test_other_kernels_are_left_without_weights():
    gram = gs.StringKernel(ngram_range=(3, 5)).gram(X + TARGET)
    options = {
        "preset": "best",
        "class_prior": "source",
    }  # from a gram nobody could tell how far words have drifted
    given = gs.TransductiveClassifier("precomputed", **options).fit(gram, Y + [None] * len(TARGET))
    named = gs.TransductiveClassifier(
        "presence", **options, weighting="none", ngram_range=(3, 5)
    ).fit(X, Y, target=TARGET)
    np.testing.assert_allclose(
        given.transduction_score_, named.transduction_score_, atol=1e-6
    )  # one by steps, without a gram
    np.testing.assert_allclose(given.transduction_proba_, named.transduction_proba_, atol=1e-6)
    assert (given.labeled_iter_ == named.labeled_iter_).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "better"}, "preset='better': must be one of 'paper', 'best'"),
        (
            {"class_prior": "shares"},
            "class_prior='shares': must be one of 'estimated', 'source', 'ignored', or a dict",
        ),
        (
            {"class_prior": {"positive": 1}},
            r"give a proportion from 0 on for each of the classes \['negative', 'positive'\]",
        ),
        ({"class_prior": {"positive": 0, "negative": 0}}, "give a proportion from 0 on"),
        ({"n_added": []}, "n_added is empty"),
        ({"n_added": [10, 1.5]}, "n_added=1.5: give a count"),
        ({"weighting": "tf"}, "weighting='tf': give"),
        ({"preset": "paper", "kernel": "spectrum", "weighting": "idf"}, "only for kind='presence'"),
    ],
)
def test_errors_come_before_any_work(options, message):
    with pytest.raises(ValueError, match=message):
        gs.TransductiveClassifier(**options).fit(X, Y, target=TARGET)
