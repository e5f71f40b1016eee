import numpy as np
import pytest

from gramshift import StringKernel
from gramshift.learn.features import GramFeatures
from gramshift.learn.landmark_ridge import LandmarkRidge
from gramshift.learn.piecewise import LandmarkFeatures
from gramshift.learn.ridge import RidgeSolver
from gramshift.learn.selection import one_versus_all
from gramshift.runtime.pieces import MemoryStore, StoredPieces
from gramshift.runtime.resources import Runtime
from small_demo import load_demo

RNG = np.random.default_rng(0)
TEXTS = [*(load_demo("kitchen").texts + load_demo("films").texts)[:86], "", "a", "great pan " * 3, "great pan " * 3]
SOURCE, TRAINING = np.arange(40), np.r_[0:40, 80:90, 41:48]  # copies among them
TARGETS = one_versus_all(RNG.integers(0, 3, len(TRAINING)), 3)
SIMILARITY = StringKernel(ngram_range=(2, 4)).gram(TEXTS, normalize=True)
FEW, MANY = np.r_[3, 11:60:4, 84, 86], np.r_[0:30, 33:90]


def describe(landmarks, *, adapt, size=32, n_threads=2):
    """In pieces of counts, as they are kept."""
    gram = StringKernel(ngram_range=(2, 4)).gram(TEXTS)
    own = np.diagonal(gram).astype(float)
    scale = np.divide(1, np.sqrt(own), out=np.zeros(len(own)), where=own > 0)
    pieces = StoredPieces(MemoryStore(), "piece", Runtime(n_threads))
    items = [slice(start, start + size) for start in range(0, len(TEXTS), size)]

    def make(part):
        return {"gram": np.ascontiguousarray(gram[part][:, landmarks]), "row_scale": scale[part]}

    pieces.fill(make, items, len(items))
    return LandmarkFeatures(pieces, n=len(TEXTS), size=size, scale=scale[landmarks], adapt=adapt)


def naive_features(landmarks, adapt):
    """Descriptions, or for a plain kernel what has the inner products C W^+ C'."""
    rows = SIMILARITY[:, landmarks]
    if adapt:
        return np.exp(rows - 1)
    values, vectors = np.linalg.eigh(rows[landmarks])
    kept = values > 1e-10
    return rows @ (vectors[:, kept] / np.sqrt(values[kept]))


def naive_penalty(landmarks, adapt, alpha):
    """alpha and what landmarks do not say of the other documents; adapted, squared and by the landmarks' share."""
    kernel = np.exp(SIMILARITY - 1) if adapt else SIMILARITY
    said = np.diag(kernel[:, landmarks] @ np.linalg.pinv(kernel[np.ix_(landmarks, landmarks)], 1e-10) @ kernel[landmarks])
    unsaid = [kernel[i, i] - said[i] for i in range(len(TEXTS)) if i not in landmarks]
    mean = np.mean(unsaid) if unsaid else 0
    return (alpha + mean**2) * len(landmarks) / len(TEXTS) if adapt else alpha + mean


def naive_fit(features, training, targets, alpha, bias):
    """Scores of all documents: least squares with a row per weight that pulls it to 0."""
    n_features = features.shape[1]
    design = np.hstack([features[training], np.ones((len(training), 1))]) if bias else features[training]
    pull = np.sqrt(alpha) * np.eye(n_features, design.shape[1])
    weights = np.linalg.lstsq(np.vstack([design, pull]), np.vstack([targets, np.zeros((n_features, targets.shape[1]))]))[0]
    return features @ weights[:n_features] + (weights[n_features] if bias else 0)


@pytest.fixture(params=[True, False], ids=["adapted", "plain"])
def adapt(request):
    return request.param


def make_solver(landmarks, adapt, alpha, bias, **options):
    documents = describe(landmarks, adapt=adapt, **options)
    return documents, LandmarkRidge(documents, landmarks, SOURCE, alpha, bias=bias)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("landmarks", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("alpha", [1e-5, 0.3])
def test_scores_are_those_of_least_squares(landmarks, adapt, alpha, bias):
    documents, solver = make_solver(landmarks, adapt, alpha, bias)
    for training in (SOURCE, TRAINING):
        fitted = solver.solve(training, TARGETS[: len(training)])
        penalty = naive_penalty(landmarks, adapt, alpha)
        expected = naive_fit(naive_features(landmarks, adapt), training, TARGETS[: len(training)], penalty, bias)
        np.testing.assert_allclose(fitted.score(documents, np.arange(90)), expected, atol=1e-8)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("landmarks", [FEW, MANY], ids=["few", "many"])
def test_held_out_scores_are_those_of_fits_without_the_document(landmarks, adapt, bias):
    _, solver = make_solver(landmarks, adapt, 1e-2, bias)
    features, found = naive_features(landmarks, adapt), solver.held_out(TRAINING, TARGETS)
    penalty = naive_penalty(landmarks, adapt, 1e-2)
    for place, row in enumerate(TRAINING):
        others = np.delete(np.arange(len(TRAINING)), place)
        expected = naive_fit(features, TRAINING[others], TARGETS[others], penalty, bias)[row]
        np.testing.assert_allclose(found[place], expected, atol=1e-8)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("alpha", [1e-5, 1e-2])
def test_with_all_documents_it_is_the_exact_solver(adapt, alpha, bias):
    everything = np.arange(len(TEXTS))
    documents, solver = make_solver(everything, adapt, alpha, bias)
    gram = StringKernel(ngram_range=(2, 4)).gram(TEXTS)
    exactly = GramFeatures.from_gram(gram, adapt=adapt)
    exact = RidgeSolver(exactly, SOURCE, alpha, bias=bias)
    for targets in (TARGETS, one_versus_all(TARGETS[:, 0] > 0, 2)):
        found, expected = solver.solve(TRAINING, targets), exact.solve(TRAINING, targets)
        np.testing.assert_allclose(found.score(documents, everything), expected.score(exactly, everything), atol=1e-8)
        np.testing.assert_allclose(solver.held_out(TRAINING, targets), exact.held_out(TRAINING, targets), atol=1e-8)


def test_a_training_is_taken_up_again_only_if_it_is_the_same(adapt, monkeypatch):
    documents, solver = make_solver(FEW, adapt, 1e-2, False)
    others = np.r_[SOURCE, 50:57, 70:80]  # as many, with the same targets
    fits = {}
    for name, training, targets in (("first", TRAINING, TARGETS), ("others", others, TARGETS), ("turned", others, -TARGETS)):
        fits[name] = solver.solve(training, targets).score(documents, np.arange(90))
        fresh = make_solver(FEW, adapt, 1e-2, False)[1].solve(training, targets).score(documents, np.arange(90))
        np.testing.assert_allclose(fits[name], fresh, atol=1e-12)
    monkeypatch.setattr(solver, "_factor", None)  # not called again
    np.testing.assert_allclose(solver.solve(others, -TARGETS).score(documents, np.arange(90)), fits["turned"], atol=1e-12)


@pytest.mark.parametrize(("size", "n_threads"), [(1, 1), (7, 3), (90, 2), (1000, 1)])
def test_pieces_of_any_size_give_the_same(adapt, size, n_threads):
    documents, solver = make_solver(FEW, adapt, 1e-3, False, size=size, n_threads=n_threads)
    rows = RNG.permutation(90)[:60]
    np.testing.assert_allclose(
        documents.cells(rows), np.exp(SIMILARITY - 1)[rows][:, FEW] if adapt else SIMILARITY[rows][:, FEW]
    )
    penalty = naive_penalty(FEW, adapt, 1e-3)
    expected = naive_fit(naive_features(FEW, adapt), TRAINING, TARGETS, penalty, False)
    np.testing.assert_allclose(solver.solve(TRAINING, TARGETS).score(documents, rows), expected[rows], atol=1e-9)


def test_nothing_to_score():
    documents, solver = make_solver(FEW, True, 1e-3, False)
    assert solver.solve(SOURCE, TARGETS[:40]).score(documents, np.arange(0)).shape == (0, 3)
