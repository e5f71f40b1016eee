"""Stacking is out of fold, and the five views are what they are said to be."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import gramshift as gs
from gramshift.baselines import kemeta
from gramshift.baselines.english import NEIGHBOUR_WEIGHT, load_wordnet
from gramshift.baselines.kemeta import fit_stack, out_of_fold, probabilities, score_stack
from gramshift.baselines.word_features import fit_logistic
from gramshift.methods import METHODS

CHANCE = np.random.default_rng(0)
CODES = CHANCE.permutation(np.arange(60) % 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn_out_of_fold(n_classes):
    codes = CODES % n_classes
    features = CHANCE.normal(size=(60, 4)) + codes[:, None]
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    expected = cross_val_predict(
        LogisticRegression(C=0.5), features, codes, cv=folds, method="predict_proba"
    )
    np.testing.assert_allclose(out_of_fold(features, codes, n_classes, C=0.5), expected, atol=1e-9)


def test_nothing_of_a_document_itself_is_in_its_probabilities():
    codes = np.arange(40) % 2
    every_document_its_own_feature = sparse.csr_matrix(np.eye(40))
    learnt_by_heart = probabilities(
        every_document_its_own_feature, fit_logistic(every_document_its_own_feature, codes, C=100.0)
    )
    assert (learnt_by_heart[np.arange(40), codes] > 0.9).all()
    np.testing.assert_allclose(
        out_of_fold(every_document_its_own_feature, codes, 2, C=100.0), 0.5, atol=1e-3
    )


def test_a_view_that_learns_by_heart_gets_no_weight():
    codes = np.arange(40) % 2
    by_heart, fair = sparse.csr_matrix(np.eye(40)), CHANCE.normal(size=(40, 1)) + codes[:, None]
    linears, (coefficients, _) = fit_stack([by_heart, fair], codes, 2, C=100.0)
    assert abs(coefficients[1, 1]) < abs(coefficients[3, 1]) / 20
    scores = score_stack([by_heart, fair], linears, (coefficients, np.zeros(2)))
    assert np.corrcoef(scores[:, 1], fair[:, 0])[0, 1] > 0.9


def test_few_documents_of_a_class_mean_fewer_folds_and_one_means_equal_weights():
    features = CHANCE.normal(size=(8, 2))
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    assert out_of_fold(features, codes, 2, C=1.0).shape == (8, 2)
    codes[-1] = 0
    assert out_of_fold(features, codes, 2, C=1.0) is None
    linears, upper = fit_stack([features, -features], codes, 2, C=1.0)
    mean = (probabilities(features, linears[0]) + probabilities(-features, linears[1])) / 2
    np.testing.assert_allclose(score_stack([features, -features], linears, upper), mean)


TEXTS = [
    "An excellent knife. Not bad at all.",
    "An awful pan, it broke.",
    "",
    "Excellent lids and pans.",
]


def test_views():
    clf = gs.baselines.KEMeta().fit(TEXTS, ["good", "bad", "bad", "good"])
    state = clf._state
    words, phrases, polarity, senses, expanded = kemeta._views(state, TEXTS)
    assert set(state["words"]) == {
        w for text in TEXTS for w in text.lower().replace(".", "").replace(",", "").split()
    }
    assert {"an excellent knife", "not bad", "pan"} <= set(state["phrases"])
    excellent = "a-02343110"  # of the highest quality
    assert excellent in state["senses"]
    assert set(state["senses"]) < set(state["expanded"])
    for view in (words, phrases, senses, expanded):
        np.testing.assert_allclose(np.sqrt(view.multiply(view).sum(axis=1)).ravel(), [[1, 1, 0, 1]])
    np.testing.assert_allclose(polarity.mean(axis=0), 0, atol=1e-12)
    assert polarity[0, 0] > polarity[2, 0] > polarity[1, 0]
    column = state["expanded"].index(excellent)
    near = state["expanded"].index(load_wordnet().synset(excellent).neighbours[0])
    ratio = (
        expanded[3, near]
        / expanded[3, column]
        * state["expanded_inverse"][column]
        / state["expanded_inverse"][near]
    )
    assert ratio == pytest.approx(NEIGHBOUR_WEIGHT)


def test_it_looks_at_no_target_document():
    source, labels = TEXTS, ["good", "bad", "bad", "good"]
    alone = gs.baselines.KEMeta().fit(source, labels)
    beside = gs.baselines.KEMeta().fit(source, labels, target=["A film that is excellent."])
    assert (
        alone.decision_function(["excellent film"]) == beside.decision_function(["excellent film"])
    ).all()


def test_it_says_that_it_is_a_substitute():
    assert "substitute" in METHODS["ke-meta"].title
    assert "substitute" in gs.baselines.KEMeta.__doc__
