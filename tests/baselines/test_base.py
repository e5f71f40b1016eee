"""What holds for every baseline: inputs, labels, saving, scikit-learn's habits."""

import json
import random
import zipfile
from functools import cache
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import gramshift as gs
from gramshift.baselines.table import CLASSES, METHODS
from gramshift.datasets.demo import load_demo
from gramshift.estimators.archive import HEAD, ModelFileError

NAMES = [name for name, method in METHODS.items() if not method.is_own]
KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def accuracy(clf, target):
    return float(np.mean(clf.transduction_ == np.array(target.labels)))


@cache
def fitted(name):
    """A method of the table, trained on kitchen reviews to label films."""
    return METHODS[name].make().fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)


@pytest.mark.parametrize("name", NAMES)
def test_interface(name):
    clf = fitted(name)
    assert clf.classes_.tolist() == ["negative", "positive"]
    assert clf.transduction_.shape == (len(FILMS.texts),)
    assert set(clf.transduction_) <= {"negative", "positive"}
    np.testing.assert_allclose(clf.decision_function(FILMS.texts), clf.transduction_score_[:, 1], rtol=1e-9, atol=1e-9)
    assert (clf.predict(FILMS.texts) == clf.transduction_).all()
    assert clf.predict([]).tolist() == []
    assert set(clf.predict(["", "nothing that was seen: zzzz"])) <= {"negative", "positive"}
    assert str(clone(clf)) == str(clf)


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_and_saving(name, tmp_path):
    clf = fitted(name)
    probabilities = clf.transduction_proba_
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (clf.classes_[probabilities.argmax(axis=1)] == clf.transduction_).mean() > 0.99  # ties aside
    clf.save(tmp_path / "model")
    loaded = gs.load(tmp_path / "model")
    assert type(loaded) is type(clf)
    assert loaded.get_params() == clf.get_params()
    assert (loaded.transduction_score_ == clf.transduction_score_).all()
    new = ["a great film", "boring and bad", ""]
    assert (loaded.decision_function(new) == clf.decision_function(new)).all()
    assert (loaded.predict_proba(new) == clf.predict_proba(new)).all()
    assert loaded.predict(new).tolist() == clf.predict(new).tolist()


def rewrite(path, change):
    """The model file with another head, its checksum put right."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    head = json.loads(members[HEAD])
    change(head)
    members[HEAD] = json.dumps(head).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = sha256(members[HEAD]).hexdigest().encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head.update({"class": "os.system"}),
        lambda head: head["state"]["words"].pop(),
        lambda head: head.update(steepness=-1),
        lambda head: head.update(arrays={}),
        lambda head: head.update(format_version=99),
        lambda head: head["parameters"].update(C="1"),
        lambda head: head["parameters"].update(shell=True),
    ],
)
def test_altered_files_are_refused(change, tmp_path):
    path = tmp_path / "model"
    fitted("tfidf").save(path)
    rewrite(path, lambda head: None)
    gs.load(path)
    rewrite(path, change)
    with pytest.raises(ModelFileError):
        gs.load(path)


@pytest.mark.parametrize("name", NAMES)
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
    """So many texts per theme, of words of the theme among common ones; and their themes."""
    texts = [
        " ".join(chance.sample([*chance.sample(words.split(), 3), *chance.sample(common.split(), 4)], 7))
        for words in THEMES.values()
        for _ in range(n)
    ]
    return texts, [theme for theme in THEMES for _ in range(n)]


@pytest.mark.parametrize("name", NAMES)
def test_three_classes_or_a_clear_error(name):
    chance = random.Random(0)
    texts, labels = sentences(chance, 40, "the a was very long day we saw and then")
    target, truth = sentences(chance, 20, "the a is so short night they had but when")
    clf = METHODS[name].make()
    if type(clf).two_classes:
        with pytest.raises(ValueError, match="two classes; y has 3"):
            clf.fit(texts, labels, target=target)
    else:
        clf.fit(texts, labels, target=target)
        assert clf.decision_function(target).shape == (60, 3)
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
    with pytest.raises(ValueError, match="y has 1 labels for 2 documents"):
        clf.fit(["a b", "b c"], [1], target=["a"])
    if clf.needs_target:
        with pytest.raises(ValueError, match=f"{name} learns from target documents too"):
            clf.fit(["a b", "b c"], [1, 0])


def test_grid_search_leaves_the_target_whole():
    search = GridSearchCV(gs.baselines.SelfTraining(), {"C": [0.1, 10]}, cv=2)
    search.fit(np.array(KITCHEN.texts), KITCHEN.labels, target=gs.Target(FILMS.texts))
    assert search.best_estimator_.transduction_.shape == (len(FILMS.texts),)
