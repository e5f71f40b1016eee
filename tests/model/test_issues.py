"""Problems in the data of a fit."""

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import pytest

import gramshift as gs
from gramshift.datasets.demo import load_demo
from gramshift.model.data_problems import (
    CONFLICT,
    COPY,
    DOUBTFUL,
    EMPTY,
    KINDS,
    NEAR_COPY,
    SPELLING,
    UNLIKE,
)

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
N = 200
FLIPPED = list(range(7, N, 12))
GARBAGE = "zxq wvk qqq pfw zzt vvk"


def swap(label):
    return "negative" if label == "positive" else "positive"


def make_data():
    labels = list(KITCHEN.labels[:N])
    for row in FLIPPED:
        labels[row] = swap(labels[row])
    source = [
        *KITCHEN.texts[:N],
        KITCHEN.texts[2],
        KITCHEN.texts[3] + " ",
        "  ",
        KITCHEN.texts[300],
    ]
    labels += [labels[2], swap(labels[3]), "positive", " Positive"]
    target = [
        *FILMS.texts[:N],
        "",
        KITCHEN.texts[5].upper(),
        KITCHEN.texts[6] + "!!",
        FILMS.texts[1],
        GARBAGE,
    ]
    return source, labels, target


@pytest.fixture(scope="module")
def clf():
    source, labels, target = make_data()
    with pytest.warns(UserWarning, match="differ only by case or blanks"):
        return gs.TransductiveClassifier().fit(source, labels, target=target)


def of_kind(issues, kind):
    return [(one.role, one.number) for one in issues if one.issue == kind]


def test_every_kind_is_found_where_it_is(clf):
    issues = clf.issues_
    assert of_kind(issues, COPY) == [("source", N), ("target", N + 1), ("target", N + 3)]
    assert of_kind(issues, CONFLICT) == [("source", N + 1)]
    assert of_kind(issues, NEAR_COPY) == [("target", N + 2)]
    assert of_kind(issues, EMPTY) == [("source", N + 2), ("target", N)]
    assert of_kind(issues, SPELLING) == [("source", N + 3)]
    assert ("target", N + 4) in of_kind(issues, UNLIKE)
    assert {one.issue for one in issues} <= set(KINDS)
    assert issues.counts[COPY] == 3


def test_each_is_told_in_words(clf):
    source, labels, target = make_data()
    told = {(one.role, one.number, one.issue): one for one in clf.issues_}
    assert told["target", N + 1, COPY].about == "copy of source 5"
    assert told["target", N + 3, COPY].about == "copy of target 1"
    assert (
        told["source", N + 1, CONFLICT].about == f"copy of source 3, which is labelled {labels[3]}"
    )
    assert told["target", N + 2, NEAR_COPY].about.startswith("near copy of source 6 (")
    assert told["source", N + 3, SPELLING].suggested == "positive"
    assert told["target", N, EMPTY].label is None
    for one in clf.issues_:
        assert one.text == {"source": source, "target": target}[one.role][one.number]
        assert one.name == f"{one.role} {one.number}"
        assert one.label == (labels[one.number] if one.role == "source" else None)
    words = clf.issues_.by_row()
    assert words[len(source) + N] == "empty text"


def test_doubtful_labels_come_most_doubtful_first_and_flipped_ones_are_among_them(clf):
    doubtful = [one for one in clf.issues_ if one.issue == DOUBTFUL]
    assert [one.value for one in doubtful] == sorted(one.value for one in doubtful)
    rows = {one.number for one in doubtful}
    assert len(rows & set(FLIPPED)) / len(FLIPPED) > 1.2 * len(rows) / (
        N + 4
    )  # more often than others
    assert all(one.suggested != one.label for one in doubtful)
    quality = clf.issues_.label_quality
    assert quality.shape == (N + 4,)
    assert [one.value for one in doubtful] == quality[[one.number for one in doubtful]].tolist()
    assert np.mean(quality[FLIPPED]) < np.mean(quality)


def test_they_are_looked_for_once_and_cannot_be_changed(clf):
    issues = clf.issues_
    assert clf.issues_ is issues
    assert isinstance(issues[:2], tuple)
    with pytest.raises(ValueError, match="read-only"):
        issues.label_quality[0] = 1
    with pytest.raises(TypeError):
        issues[0] = None
    assert repr(issues).startswith("<Issues: 53 source labels look doubtful, 1 source document ")


def test_threads_that_ask_at_once_get_the_same():
    source, labels, target = make_data()
    fresh = gs.TransductiveClassifier(n_rounds=1, ngram_range=(3, 3)).fit(
        source[:60], labels[:60], target=target[:40]
    )
    found = []
    threads = [threading.Thread(target=lambda: found.append(list(fresh.issues_))) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 4
    assert all(one == found[0] for one in found)
    assert (
        list(pickle.loads(pickle.dumps(fresh)).issues_)
        == list(copy.deepcopy(fresh).issues_)
        == found[0]
    )


def test_a_fit_labels_alike_whether_or_not_it_is_asked(clf):
    source, labels, target = make_data()
    with pytest.warns(UserWarning, match="differ only by case or blanks"):
        other = gs.TransductiveClassifier().fit(source, labels, target=target)
    assert (other.transduction_proba_ == clf.transduction_proba_).all()


def test_they_make_a_frame(clf):
    frame = clf.issues_.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == [
        "issue",
        "role",
        "number",
        "about",
        "value",
        "label",
        "suggested",
        "text",
    ]
    assert len(frame) == len(clf.issues_)
    assert (frame.issue == EMPTY).sum() == 2


@pytest.mark.parametrize(
    "options", [{"preset": "paper", "ngram_range": (3, 4)}, {"kernel": "words"}]
)
def test_other_kernels_have_them_too(options):
    clf = gs.TransductiveClassifier(**options).fit(
        KITCHEN.texts[:80], KITCHEN.labels[:80], target=[*FILMS.texts[:40], ""]
    )
    assert of_kind(clf.issues_, EMPTY) == [("target", 40)]


def test_rows_of_x_without_a_label_are_target_documents():
    labels = [None if row == 1 else label for row, label in enumerate(KITCHEN.labels[:40])]
    clf = gs.TransductiveClassifier(n_rounds=1).fit(
        [*KITCHEN.texts[:39], ""], labels, target=["", KITCHEN.texts[1]]
    )
    assert of_kind(clf.issues_, EMPTY) == [("source", 39), ("target", 1)]
    assert of_kind(clf.issues_, COPY) == [("target", 2)]
    assert next(one.about for one in clf.issues_ if one.issue == COPY) == "copy of target 0"


def test_unlabelled_documents_are_not_looked_at():
    clf = gs.TransductiveClassifier(n_rounds=1).fit(
        KITCHEN.texts[:40],
        KITCHEN.labels[:40],
        target=FILMS.texts[:20],
        unlabelled=[FILMS.texts[1], "", "more"],
    )
    assert not of_kind(clf.issues_, EMPTY)
    assert not of_kind(clf.issues_, COPY)


def test_what_is_not_known_is_said(clf, tmp_path):
    clf.save(tmp_path / "m", texts=True)
    with pytest.raises(
        gs.GramshiftError, match="a saved model does not include what it needs: fit again"
    ):
        _ = gs.load(tmp_path / "m").issues_
    with pytest.raises(gs.GramshiftError, match="texts of all documents"):
        _ = (
            gs.TransductiveClassifier(kernel="rows", preset="paper")
            .fit(np.eye(4), [0, 1, None, None])
            .issues_
        )
    with pytest.raises(ValueError, match="not fitted yet"):
        _ = gs.TransductiveClassifier().issues_
