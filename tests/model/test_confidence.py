"""How sure the answers are for documents that joined the training: as sure as if they had not."""

import numpy as np
import pytest

import gramshift as gs
from gramshift.learn.calibrate import agree
from gramshift.learn.features import KernelFeatures
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")


def test_documents_that_joined_are_scored_by_what_the_others_teach():
    """Against a ridge regression trained anew for each of them, without it."""
    texts, n = KITCHEN.texts[:30] + FILMS.texts[:20], 30
    gram = gs.StringKernel("presence", ngram_range=(3, 5)).gram(texts)
    labels = [int(label == "positive") for label in KITCHEN.labels[:30]]
    clf = gs.TransductiveClassifier("precomputed", preset="paper", n_added=8).fit(
        gram, labels + [None] * 20
    )
    kernel = KernelFeatures.from_gram(gram, adapt=True).kernel(np.arange(len(texts)))
    training_set = clf.result_.training_set
    added, added_codes = (
        training_set.pseudo_labelled,
        training_set.known[training_set.pseudo_labelled],
    )
    assert len(added) == 8
    answers = dict(zip(range(n), labels, strict=True)) | dict(
        zip(added.tolist(), added_codes.tolist(), strict=True)
    )
    for row in added.tolist():
        others = [other for other in answers if other != row]
        signs = np.array([1.0 if answers[other] == 1 else -1.0 for other in others])
        weights = np.linalg.solve(
            kernel[np.ix_(others, others)] + 1e-5 * np.eye(len(others)), signs
        )
        found = clf.result_.calibration.scores[row - n]
        np.testing.assert_allclose(
            found, [-kernel[row, others] @ weights, kernel[row, others] @ weights], atol=1e-5
        )
    never = np.flatnonzero(clf.labeled_iter_[n:] < 0)
    assert (clf.result_.calibration.scores[never] == clf.transduction_score_[never]).all()


@pytest.mark.parametrize(("preset", "n_added"), [("paper", 1000), ("best", (0.25, 0.5, 0.75, 1.0))])
def test_probabilities_agree_with_labels_and_are_those_of_predict(preset, n_added, tmp_path):
    clf = gs.TransductiveClassifier(preset=preset, ngram_range=(3, 5), n_added=n_added)
    clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts)
    sure = clf.transduction_proba_
    assert (clf.classes_[sure.argmax(axis=1)] == clf.transduction_).all()
    np.testing.assert_allclose(sure.sum(axis=1), 1)
    assert (
        clf.predict_proba(FILMS.texts) == sure[[FILMS.texts.index(text) for text in FILMS.texts]]
    ).all()
    assert (
        clf.classes_[clf.predict_proba(FILMS.texts).argmax(axis=1)] == clf.predict(FILMS.texts)
    ).all()
    joined = clf.labeled_iter_[len(KITCHEN.texts) :] > 0
    assert joined.all()  # 120 are fewer than 1000
    assert (
        np.mean(sure.max(axis=1)) < 0.8
    )  # six of ten are right; scored by what they were taught it would be 0.9 and more
    clf.save(tmp_path / "model")
    assert (gs.load(tmp_path / "model").transduction_proba_ == sure).all()


def test_a_label_that_nothing_speaks_for_is_only_just_ahead():
    given = np.array([[0.3, 0.7], [0.8, 0.2], [0.5, 0.5]])
    found = agree(given, np.array([0, 0, 1]))
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.8, 0.2], [0.5, 0.5]], atol=1e-8)
    assert found.argmax(axis=1).tolist() == [0, 0, 1]
    three = agree(np.array([[0.1, 0.5, 0.4], [0.2, 0.3, 0.5]]), np.array([0, 2]))
    assert three.argmax(axis=1).tolist() == [0, 2]
    np.testing.assert_allclose(three.sum(axis=1), 1)
    np.testing.assert_allclose(three[1], [0.2, 0.3, 0.5])
