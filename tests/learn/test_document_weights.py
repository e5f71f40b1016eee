"""Documents with weights: ridge regression with weighted squared errors, against the textbook."""

import numpy as np
import pytest

import naive
from gramshift.learn.linear import LinearRidge, NGramFeatures, NGramFeaturesPart
from gramshift.learn.pseudo_labels import one_versus_all
from gramshift.ngrams.feature_lists import build_lists
from gramshift.ngrams.sorted_ngrams import SortedNGrams, run_serially
from gramshift.text.encode import encode
from small_demo import load_demo

TEXTS = [text[:60] for text in load_demo("kitchen").texts[:40]]
KERNEL = np.array(naive.normalized_gram("presence", TEXTS, TEXTS, (2, 4)))


@pytest.fixture(scope="module")
def documents():
    lists = build_lists(SortedNGrams(encode(TEXTS), (2, 4)))
    weights, own = lists.times.astype(float), lists.unshared.astype(float)
    return NGramFeatures(
        [NGramFeaturesPart(lists, weights, own, 1 / np.sqrt(own + lists.own_values(weights)))],
        run_serially,
    )


@pytest.mark.parametrize("few", [0, 2000])  # by conjugate gradients, and held out by the gram
@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_count_by_weight(documents, few, n_classes):
    chance = np.random.default_rng(n_classes)
    weights, training, alpha = (
        chance.uniform(0.2, 3, len(TEXTS)),
        chance.permutation(len(TEXTS))[:30],
        0.5,
    )
    targets = one_versus_all(chance.integers(0, n_classes, 30), n_classes)

    def textbook(kept):
        """Minimise the sum of w (y - f)^2 + alpha |f|^2: coefficients (K + alpha / w)^-1 y."""
        rows = training[kept]
        system = KERNEL[np.ix_(rows, rows)] + alpha * np.diag(1 / weights[rows])
        return KERNEL[:, rows] @ np.linalg.solve(system, targets[kept])

    solver = LinearRidge(documents, alpha, few=few, weights=weights)
    found = solver.solve(training, targets).score(documents, np.arange(len(TEXTS)))
    np.testing.assert_allclose(found, textbook(np.arange(30)), atol=3e-6)
    again = solver.solve(training, targets, near=solver.solve(training, targets)).score(
        documents, np.arange(len(TEXTS))
    )
    np.testing.assert_allclose(again, found, atol=3e-6)
    if few:
        held = solver.held_out(training, targets)
        for place in range(30):
            without = textbook(np.delete(np.arange(30), place))[training[place]]
            np.testing.assert_allclose(held[place], without, atol=1e-6)


def test_equal_weights_change_nothing_but_alpha(documents):
    training, targets = np.arange(30), one_versus_all(np.arange(30) % 2, 2)
    half = LinearRidge(documents, 1.0, weights=np.full(len(TEXTS), 2.0)).solve(training, targets)
    other = LinearRidge(documents, 0.5).solve(training, targets)
    np.testing.assert_allclose(half.coefficients, other.coefficients, atol=5e-6)
