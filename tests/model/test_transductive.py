import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, NuSVC

import gramshift as gs
from naive_algorithm import transductive_kernel_algorithm
from small_demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
X, Y, TARGET = SOURCE.texts, SOURCE.labels, FILMS.texts
NO_TARGET = pytest.mark.filterwarnings("ignore:fit got no target")


def make(**options):
    return gs.TransductiveClassifier(
        **{"preset": "paper", "ngram_range": (3, 5), "n_added": 40} | options
    )


@pytest.fixture(scope="module")
def fitted():
    return make().fit(X, Y, target=TARGET)


def test_it_is_algorithm_1(fitted):
    gram = gs.StringKernel(ngram_range=(3, 5)).gram(X[:30] + TARGET[:20]).tolist()
    codes = [int(label == "positive") for label in Y[:30]]
    labels, scores = transductive_kernel_algorithm(gram, codes, 2, 8, 1e-5)
    clf = make(n_added=8).fit(X[:30], Y[:30], target=TARGET[:20])
    assert clf.transduction_.tolist() == [["negative", "positive"][label] for label in labels]
    np.testing.assert_allclose(clf.transduction_score_, scores, atol=1e-6 * np.abs(scores).max())


def test_after_another_fit_its_target_documents_are_known_and_the_former_are_not():
    clf = make().fit(X, Y, target=TARGET[:60])
    assert clf.decision_function(TARGET[:60]).tolist() == clf.transduction_score_[:, 1].tolist()
    clf.fit(X, Y, target=TARGET[60:])
    assert clf.decision_function(TARGET[60:]).tolist() == clf.transduction_score_[:, 1].tolist()
    found, fresh = clf.decision_function(TARGET[:60]), make().fit(X, Y, target=TARGET[60:])
    assert found.tolist() == fresh.decision_function(TARGET[:60]).tolist()


@pytest.mark.parametrize("options", [{"adapt": False, "n_rounds": 1}, {"n_rounds": 1}, {}])
def test_it_is_better_than_chance_on_the_demo_corpus(options):
    """71 of 120 right would come about by chance once in forty times."""
    labels = make(**options).fit(X, Y, target=TARGET).transduction_
    assert np.sum(labels == np.array(FILMS.labels)) > 71


def test_the_story_is_told(fitted):
    assert fitted.classes_.tolist() == ["negative", "positive"]
    assert fitted.labeled_iter_.shape == (240,)
    assert (fitted.labeled_iter_[:120] == 0).all()
    assert sorted(set(fitted.labeled_iter_[120:].tolist())) == [-1, 1]
    assert (fitted.labeled_iter_[120:] == 1).sum() == 40
    first, second = fitted.history_
    assert sum(first["added"].values()) == 0
    assert sum(second["added"].values()) == 40
    assert second["labels"] == {
        label: int((fitted.transduction_ == label).sum()) for label in fitted.classes_
    }
    assert sum(first["labels"].values()) == 120
    assert set(second) == {"added", "labels", "changed", "seconds", "class_prior"}
    assert (
        first["class_prior"] is second["class_prior"] is None
    )  # the surest join, of whatever class


def test_predict_needs_no_refit_and_knows_the_target(fitted):
    assert (fitted.predict(TARGET) == fitted.transduction_).all()
    assert (fitted.decision_function(TARGET) == fitted.transduction_score_[:, 1]).all()
    assert (
        fitted.decision_function(text for text in TARGET) == fitted.transduction_score_[:, 1]
    ).all()
    new = ["a great blender, i love it", "broke after a day, waste of money"]
    assert fitted.predict(new).tolist() == ["positive", "negative"]
    alone = fitted.decision_function(new[:1])
    np.testing.assert_allclose(alone, fitted.decision_function(new)[:1], rtol=1e-9)


def test_new_documents_go_through_the_same_steps_as_target_documents(fitted):
    changed = [text + " " for text in TARGET]  # another str, the same document
    np.testing.assert_allclose(
        fitted.decision_function(changed), fitted.decision_function(TARGET), atol=1e-6
    )


@pytest.mark.parametrize("classifier", ["ridge", "discriminant", SVC(kernel="precomputed")])
@pytest.mark.parametrize("adapt", [True, False])
def test_probabilities_agree_with_labels(classifier, adapt):
    clf = make(classifier=classifier, adapt=adapt).fit(X, Y, target=TARGET)
    probabilities = clf.predict_proba(TARGET)
    assert (clf.classes_[probabilities.argmax(axis=1)] == clf.predict(TARGET)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (clf.transduction_proba_ == probabilities).all()


def test_log_probabilities_are_those_of_scikit_learn(fitted, monkeypatch):
    assert np.array_equal(fitted.predict_log_proba(TARGET), np.log(fitted.predict_proba(TARGET)))
    baseline = gs.baselines.TfidfLogistic().fit(X, Y, target=TARGET)
    for clf in (fitted, baseline):
        certain = np.array([[0.0, 1.0]])
        monkeypatch.setattr(type(clf), "predict_proba", lambda self, X, certain=certain: certain)
        assert clf.predict_log_proba(["sure"]).tolist() == [[-np.inf, 0]]


@pytest.mark.parametrize(
    "made", [SVC(kernel="precomputed", C=10), NuSVC(kernel="precomputed", nu=0.3)]
)
def test_a_classifier_of_scikit_learn_learns_on_the_kernel_matrix(made):
    clf = gs.TransductiveClassifier(
        preset="paper", adapt=False, n_rounds=1, classifier=made, ngram_range=(3, 5)
    )
    clf.fit(X, Y, target=TARGET)
    kernel = gs.StringKernel(ngram_range=(3, 5), normalize=True)
    alone = clone(made).fit(kernel.gram(X), Y)
    expected = alone.decision_function(kernel.gram(TARGET, X))
    np.testing.assert_allclose(
        clf.transduction_score_[:, 1], expected, atol=1e-6 * np.abs(expected).max()
    )
    np.testing.assert_allclose(
        clf.decision_function(TARGET), expected, atol=1e-6 * np.abs(expected).max()
    )
    assert not hasattr(made, "classes_")  # a clone was fitted
    assert clf.get_params()["classifier__kernel"] == "precomputed"
    three = [place % 3 for place in range(len(X))]
    assert clf.fit(X, three, target=TARGET).decision_function(TARGET).shape == (len(TARGET), 3)
    for code in range(3):
        expected = (
            clone(made)
            .fit(kernel.gram(X), [one == code for one in three])
            .decision_function(kernel.gram(TARGET, X))
        )
        np.testing.assert_allclose(
            clf.transduction_score_[:, code], expected, atol=1e-6 * np.abs(expected).max()
        )


class Squared(SVC):
    """Scores that are no weighted sum of similarities."""

    def decision_function(self, X):
        return super().decision_function(X) ** 2


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        ("svm", r"classifier='svm': must be 'ridge' or 'discriminant', or .* SVC\(kernel="),
        (7, "classifier=7: must be"),
        (SVC, "must be 'ridge' or"),
        (
            KNeighborsClassifier(metric="precomputed"),
            "must be 'ridge' or",
        ),  # it has no decision_function
        (SVC(), r"classifier=SVC\(\) does not take a kernel matrix: must be"),
        (
            Squared(kernel="precomputed"),
            r"Squared\(kernel='precomputed'\) does not score by a weighted sum of similarities",
        ),
    ],
)
def test_what_is_no_classifier_for_kernel_matrices_is_refused(classifier, message):
    with pytest.raises(ValueError, match=message):
        make(classifier=classifier).fit(X, Y, target=TARGET)


def test_gaps_in_y_are_the_target(fitted):
    for missing in (None, np.nan, pd.NA):
        clf = make().fit(X + TARGET, Y + [missing] * 120)
        assert (clf.transduction_ == fitted.transduction_).all()
    mixed = make().fit([*TARGET, *X], [None] * 120 + Y)
    assert (mixed.transduction_ == fitted.transduction_).all()
    assert (mixed.labeled_iter_ == np.roll(fitted.labeled_iter_, 120)).all()


def test_minus_one_is_a_label_like_any_other():
    clf = make().fit(X, [-1 if label == "negative" else 1 for label in Y], target=TARGET)
    assert clf.classes_.tolist() == [-1, 1]


@NO_TARGET
def test_more_than_two_classes_and_other_label_types():
    labels = [i % 3 for i in range(120)]
    clf = make().fit(X, labels, target=TARGET)
    assert clf.decision_function(TARGET[:4]).shape == (4, 3)
    assert set(clf.transduction_.tolist()) <= {0, 1, 2}
    assert make().fit(X, [label == "positive" for label in Y]).classes_.tolist() == [False, True]


@NO_TARGET
def test_without_a_target_it_is_an_ordinary_classifier():
    clf = make().fit(X, Y)
    assert clf.transduction_.shape == (0,)
    assert len(clf.history_) == 1
    assert clf.score(X, Y) == 1.0


def test_every_sort_of_kernel():
    gram = gs.StringKernel(ngram_range=(3, 5)).gram(X + TARGET)
    expected = make().fit(X, Y, target=TARGET)
    kernel = gs.StringKernel(ngram_range=(3, 5))
    for clf in (
        make(kernel=kernel).fit(X, Y, target=TARGET),
        make(kernel=[kernel, "presence"]).fit(X, Y, target=TARGET),
        make(kernel="precomputed").fit(gram, Y + [None] * 120),
        make(kernel=kernel.gram).fit(X, Y, target=TARGET),
    ):
        np.testing.assert_allclose(clf.transduction_score_, expected.transduction_score_, atol=1e-6)


def test_a_normalised_precomputed_gram_can_predict():
    kernel = gs.StringKernel(ngram_range=(3, 5), normalize=True)
    order = np.random.default_rng(0).permutation(240)
    texts, labels = np.array(X + TARGET)[order], np.array(Y + [None] * 120, dtype=object)[order]
    clf = make(kernel="precomputed").fit(kernel.gram(texts), labels)
    same = make().fit(texts, labels)
    new = ["a great blender, i love it", "broke after a day, waste of money"]
    np.testing.assert_allclose(
        clf.decision_function(kernel.gram(new, texts)), same.decision_function(new), atol=1e-6
    )


def test_frames():
    expected = make().fit(X, Y, target=TARGET).transduction_
    frame = pd.DataFrame({"text": X + TARGET, "label": Y + [None] * 120})
    assert (make().fit(frame["text"], frame["label"]).transduction_ == expected).all()
    frame = pl.DataFrame({"text": X + TARGET, "label": Y + [None] * 120})
    assert (make().fit(frame["text"], frame["label"]).transduction_ == expected).all()


def test_copies_and_empty_documents_work():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = make().fit(
            [*X, *X, "", ""], [*Y, *Y, "positive", "negative"], target=[*TARGET, "", TARGET[0]]
        )
    assert len(clf.transduction_) == 122
    assert np.isfinite(clf.transduction_score_).all()
    assert clf.transduction_[0] == clf.transduction_[-1]


def test_more_to_add_than_there_is_adds_all():
    clf = make(n_added=1000).fit(X, Y, target=TARGET[:5])
    assert (clf.labeled_iter_[120:] == 1).all()


@NO_TARGET
@pytest.mark.parametrize(
    ("options", "arguments", "error", "message"),
    [
        ({}, (X, Y[:-1]), ValueError, "y has 119 labels for 120 documents"),
        ({}, (X, ["a"] * 120), ValueError, "y has one class only, .*a.*at least 2 classes"),
        ({}, (X, [None] * 120), ValueError, "no label at all"),
        ({}, (X, None), ValueError, "y is None"),
        ({}, (X, ["a", 1] * 60), TypeError, "mixes labels of different types"),
        ({}, ([1, 2], ["a", "b"]), TypeError, r"X\[0\] is 1 \(int\)"),
        ({"n_added": 0}, (X, Y), ValueError, "n_added=0.*n_rounds=1"),
        ({"n_added": 1.5}, (X, Y), ValueError, "share of the target"),
        ({"n_rounds": 0}, (X, Y), ValueError, "n_rounds=0"),
        ({"alpha": 0}, (X, Y), ValueError, "alpha=0: give a number above 0"),
        ({"alpha": -1.0}, (X, Y), ValueError, "alpha=-1.0"),
        (
            {"alpha": 1e-300, "adapt": False, "ngram_range": (1, 1)},
            (X, Y),
            ValueError,
            "alpha=1e-300 is too small",
        ),
        ({}, (Y, X), ValueError, "are X and y swapped"),
        (
            {},
            (X, [(label,) for label in Y]),
            TypeError,
            "labels are str, numbers of up to 64 bits or bool",
        ),
        (
            {},
            (X, np.array(["2020-01-01", "2021-01-01"] * 60, "datetime64[D]")),
            TypeError,
            "make it a str",
        ),
        ({}, (X, [2**63, 1] * 60), ValueError, "more than 64 bits"),
        ({}, (X, ["a", "a\0"] * 60), ValueError, "NUL"),
        ({}, (X, 3), TypeError, "y is a single int"),
        ({}, (X, dict.fromkeys(X, 1)), TypeError, "y is a single dict"),
        ({"adapt": "no"}, (X, Y), ValueError, "adapt='no': give True or False"),
        ({"classifier": ["ridge"]}, (X, Y), ValueError, "classifier="),
        ({"alpha": 1e40}, (X, Y), ValueError, "up to 1e"),
        ({"kernel": gs.StringKernel}, (X, Y), ValueError, "must be one of"),
        ({"kernel": ["presence", "precomputed"]}, (X, Y), ValueError, "cannot stand in a list"),
        (
            {"kernel": lambda a, b: -np.ones((len(a), len(b)))},
            (X, Y),
            ValueError,
            r"kernel\[0, 0\] is negative",
        ),
        (
            {"kernel": lambda a, b: 50 - 49 * np.eye(len(a))},
            (X, Y),
            ValueError,
            "no kernel gives that",
        ),
        ({"kernel": lambda a, b: np.ones((1, 1))}, (X, Y), ValueError, "array of shape"),
        ({}, (X, [i / 7 for i in range(120)]), ValueError, "y is continuous"),
        ({"classifier": "forest"}, (X, Y), ValueError, "classifier='forest'"),
        ({"kernel": "word"}, (X, Y), ValueError, "kernel='word': must be one of"),
        ({"kernel": []}, (X, Y), ValueError, "at least one kernel"),
        ({"ngram_range": (8, 5)}, (X, Y), ValueError, "did you mean"),
        ({"kernel": "precomputed"}, (X, Y), TypeError, "not a matrix of numbers"),
        ({"kernel": "precomputed"}, (np.ones((2, 3)), ["a", "b"]), ValueError, "square"),
        (
            {"kernel": "precomputed"},
            (np.array([[1, 2], [3, 1]]), ["a", "b"]),
            ValueError,
            "symmetric",
        ),
        (
            {"kernel": "precomputed"},
            (np.array([[1, np.nan], [np.nan, 1]]), ["a", "b"]),
            ValueError,
            r"X\[1, 0\] is nan",
        ),
    ],
)
def test_bad_input_is_one_clear_error(options, arguments, error, message):
    with pytest.raises(error, match=message):
        make(**options).fit(*arguments)


@NO_TARGET
def test_a_failed_fit_leaves_the_classifier_as_it_was(fitted):
    clf = make().fit(X, Y, target=TARGET)
    with pytest.raises(MemoryError):
        clf.set_params(memory_limit=1000).fit(X, ["cat", "dog"] * 60)
    assert clf.predict(X[:3]).tolist() == fitted.predict(X[:3]).tolist()
    assert (clf.predict_proba(X[:3]) == fitted.predict_proba(X[:3])).all()


@NO_TARGET
@pytest.mark.parametrize("factor", [np.nan, np.inf, 100])
def test_rows_of_a_precomputed_gram_are_checked(factor):
    gram = gs.StringKernel(ngram_range=(3, 5), normalize=True).gram(X)
    clf = make(kernel="precomputed").fit(gram, Y)
    with pytest.raises(ValueError, match=r"similarities of new documents are finite, from -1 to 1"):
        clf.predict(gram[:2] * factor)


@NO_TARGET
def test_a_kernel_function_is_asked_for_the_documents_of_the_fit_once():
    calls = []

    def kernel(a, b):
        calls.append((len(a), len(b)))
        return gs.StringKernel(ngram_range=(3, 5)).gram(a, b)

    clf = make(kernel=kernel).fit(X, Y)
    calls.clear()
    clf.predict(TARGET[:2])
    assert sorted(calls) == [(1, 1), (1, 1), (2, 120)]


def test_a_target_may_be_a_generator_in_a_search():
    search = GridSearchCV(make(), {"adapt": [True, False]}, cv=2).fit(
        X, Y, target=gs.Target(text for text in TARGET)
    )
    assert search.best_estimator_.transduction_.shape == (120,)


def test_bad_targets():
    with pytest.raises(ValueError, match="target is an empty list"):
        make().fit(X, Y, target=[])
    with pytest.raises(TypeError, match="target is a single str"):
        make().fit(X, Y, target="a text")
    with pytest.raises(ValueError, match="mark its rows by missing labels"):
        make(kernel="precomputed").fit(np.eye(2), ["a", "b"], target=["c"])


def test_predict_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        make().predict(X)


def test_progress_is_told_and_changes_nothing(fitted):
    told = []
    clf = make().fit(X, Y, target=TARGET, progress=lambda *step: told.append(step))
    assert (clf.transduction_score_ == fitted.transduction_score_).all()
    assert {stage for stage, _, _ in told} == {"index", "gram", "training"}
    assert [(done, total) for stage, done, total in told if stage == "training"] == [
        (120, 120),
        (160, 160),
    ]


@pytest.mark.parametrize("classifier", ["ridge", "discriminant", SVC(kernel="precomputed")])
def test_one_document_of_each_class_is_enough_where_classes_weigh(classifier):
    """No other document has evidence for such a one, so its class has no known confidence."""
    clf = gs.TransductiveClassifier(
        preset="paper",
        weighting={"classes": 1},
        classifier=classifier,
        ngram_range=(1, 2),
        n_added=1,
    )
    sure = clf.fit(
        ["good pan", "bad knife"], ["p", "n"], target=["good film", "bad book"]
    ).transduction_proba_
    np.testing.assert_allclose(sure.sum(axis=1), 1)


def test_a_kernel_keeps_its_own_limits_in_a_fit():
    with pytest.raises(MemoryError, match=r"the memory limit is 2\.0 KiB"):
        gs.TransductiveClassifier(gs.StringKernel(memory_limit=2000), preset="paper").fit(
            X, Y, target=TARGET
        )
