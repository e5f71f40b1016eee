"""The weight of an encoder's vectors, chosen by held-out source documents."""

from hashlib import sha256

import numpy as np
import pytest

import gramshift as gs
from gramshift.datasets.demo import load_demo


def random_vectors(texts):
    """Return a random vector for each text, always the same."""
    seeds = (int.from_bytes(sha256(text.encode()).digest()[:8], "big") for text in texts)
    return np.array([np.random.default_rng(seed).normal(size=20) for seed in seeds])


@pytest.fixture(scope="module")
def sets():
    return [load_demo(name) for name in ("kitchen", "films")]


def fit(sets, encoder=None):
    source, target = sets
    return gs.TransductiveClassifier(encoder=encoder, n_jobs=1).fit(
        source.texts, source.labels, target=target.texts
    )


def test_random_vectors_change_nothing(sets):
    clf = fit(sets, random_vectors)
    assert clf.result_.model.ngrams.vectors is None
    assert (clf.transduction_score_ == fit(sets).transduction_score_).all()


def test_vectors_that_know_the_classes_help(sets):
    known = {text: label for one in sets for text, label in zip(one.texts, one.labels, strict=True)}
    first = min(known.values())

    def encode(texts):
        vectors = random_vectors(texts)
        vectors[:, 0] += [3.0 if known[text] == first else -3.0 for text in texts]
        return vectors

    clf, without = fit(sets, encode), fit(sets)
    assert 0.1 < clf.result_.model.ngrams.vectors.share < 0.4
    truth = np.array(sets[1].labels)
    assert np.mean(clf.transduction_ == truth) > np.mean(without.transduction_ == truth)
