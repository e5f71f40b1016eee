"""Properties of all baselines: inputs, labels and the conventions of scikit-learn."""

import random
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import gramshift as gs
from gramshift.baselines import CLASSES
from gramshift.datasets.reviews import load_sentiment
from gramshift.methods import METHODS, methods_table
from small_demo import load_demo

NAMES = list(
    {one.class_name: name for name, one in METHODS.items() if not one.is_own}.values()
)  # one method of each class
KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


@cache
def fitted(name):
    """Return a method trained on kitchen reviews to label films."""
    return METHODS[name].make().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_interface(name):
    clf = fitted(name)
    assert clf.classes_.tolist() == ["negative", "positive"]
    assert clf.transduction_.shape == (len(FILMS.texts),)
    assert set(clf.transduction_) <= {"negative", "positive"}
    np.testing.assert_allclose(
        clf.decision_function(FILMS.texts), clf.transduction_score_[:, 1], rtol=1e-9, atol=1e-9
    )
    assert (clf.predict(FILMS.texts) == clf.transduction_).all()
    assert clf.predict([]).tolist() == []
    assert set(clf.predict(["", "nothing that was seen: zzzz"])) <= {"negative", "positive"}
    assert str(clone(clf)) == str(clf)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_probabilities(name):
    clf = fitted(name)
    probabilities = clf.transduction_proba_
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (
        clf.classes_[probabilities.argmax(axis=1)] == clf.transduction_
    ).mean() > 0.99  # ties aside


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_labels_of_any_kind_gaps_and_frames(name):
    chosen = list(range(0, 120, 3))
    texts, labels = [KITCHEN.texts[i] for i in chosen], [KITCHEN.labels[i] for i in chosen]
    numbers = [7 if label == "positive" else -1 for label in labels]
    target = FILMS.texts[::4]
    apart = METHODS[name].make().fit(texts, numbers, target=gs.Target(target))
    assert apart.classes_.tolist() == [-1, 7]
    gaps = pd.DataFrame({"text": texts + target, "label": numbers + [None] * len(target)})
    together = METHODS[name].make().fit(gaps["text"], gaps["label"])
    assert together.transduction_.tolist() == apart.transduction_.tolist()


THEMES = {
    "sea": "boat wave salt sail fish tide",
    "hill": "path rock climb snow peak goat",
    "town": "street bus shop noise tram lamp",
}


def sentences(chance, n, common):
    """Return n texts for each theme, of its words and common ones, and their themes."""
    texts = [
        " ".join(
            chance.sample([*chance.sample(words.split(), 3), *chance.sample(common.split(), 4)], 7)
        )
        for words in THEMES.values()
        for _ in range(n)
    ]
    return texts, [theme for theme in THEMES for _ in range(n)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_themes_are_found_of_three_classes_or_of_two(name):
    chance = random.Random(0)
    texts, labels = sentences(chance, 40, "the a was very long day we saw and then")
    target, truth = sentences(chance, 20, "the a is so short night they had but when")
    clf = METHODS[name].make()
    if type(clf).two_classes:
        with pytest.raises(ValueError, match="two classes; y has 3"):
            clf.fit(texts, labels, target=target)
        texts, labels, target, truth = texts[:80], labels[:80], target[:40], truth[:40]
    clf.fit(texts, labels, target=target)
    assert clf.decision_function(target).shape == ((60, 3) if len(target) == 60 else (40,))
    assert np.mean(clf.transduction_ == np.array(truth)) > 0.8


@pytest.mark.parametrize("name", list(CLASSES))
def test_bad_input_is_one_clear_error(name):
    clf = getattr(gs.baselines, name)()
    with pytest.raises(NotFittedError, match=f"{name} is not fitted"):
        clf.predict(["a"])
    with pytest.raises(TypeError, match="X is a single str"):
        clf.fit("a", ["b"])
    with pytest.raises(ValueError, match="one class only"):
        clf.fit(["a b", "b c"], [1, 1], target=["c d"])
    with pytest.raises(ValueError, match="target is an empty list"):
        clf.fit(["a b", "b c"], [1, 0], target=[])
    with pytest.raises(ValueError, match="y has 1 label for 2 documents"):
        clf.fit(["a b", "b c"], [1], target=["a"])
    if clf.needs_target:
        with pytest.raises(ValueError, match=f"{name} learns from target documents too"):
            clf.fit(["a b", "b c"], [1, 0])


def test_grid_search_leaves_the_target_whole():
    search = GridSearchCV(gs.baselines.SelfTraining(), {"C": [0.1, 10]}, cv=2)
    search.fit(np.array(KITCHEN.texts), KITCHEN.labels, target=gs.Target(FILMS.texts))
    assert search.best_estimator_.transduction_.shape == (len(FILMS.texts),)


@pytest.fixture(scope="module")
def reviews(data_folder):
    """500 reviews of kitchenware and of electronics, half of them positive."""
    domains = load_sentiment(data_folder, letters="EK").domains
    chosen = np.r_[0:250, 1000:1250]
    return tuple([domains[letter].texts("title+text")[i] for i in chosen] for letter in "KE")


@pytest.mark.parametrize(
    "name", ["kda", "sst", "ke-meta", "sfa", "coral", "tr-tradaboost"]
)  # of the paper's tables
def test_far_better_than_chance_on_real_reviews(name, reviews):
    """15 points above it."""
    codes = np.repeat([1, 0], 250)
    clf = METHODS[name].make().fit(reviews[0], codes, target=reviews[1])
    assert np.mean(clf.transduction_ == codes) > 0.65


def test_the_documentation_has_the_table_and_every_published_difference():
    page = (Path(__file__).parents[2] / "docs" / "baselines.md").read_text()
    assert methods_table() in page
    flowing = " ".join(page.split())
    for method in METHODS.values():
        assert method.difference in flowing, f"why {method.name} is published otherwise"


def test_every_class_is_in_the_table_and_every_parameter_in_its_docstring():
    assert {method.class_name for method in METHODS.values()} == {
        "TransductiveClassifier",
        *CLASSES,
    }
    for name in CLASSES:
        cls = getattr(gs.baselines, name)
        for parameter in cls().get_params():
            assert re.search(rf"\b{parameter}\b", cls.__doc__), (
                f"{name} does not document {parameter}"
            )
