import threading

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC
from threadpoolctl import ThreadpoolController, threadpool_info

from gramshift import StringKernel
from gramshift.learn import ridge
from gramshift.learn.features import KernelFeatures
from gramshift.learn.precondition import Preconditioner
from gramshift.learn.products import ProductsByNeed, SharedProducts
from gramshift.learn.pseudo_labels import one_versus_all
from gramshift.learn.ridge import KernelRidgeSolver, SingularKernelError
from gramshift.learn.solvers import DiscriminantSolver, EstimatorSolver
from gramshift.parallel import ONE_BLAS_THREAD
from naive_algorithm import ridge_scores
from small_demo import load_demo

RNG = np.random.default_rng(0)
DEMO = load_demo("kitchen").texts + load_demo("films").texts
SOURCE, TRAINING = np.arange(40), np.arange(55)
TARGETS = one_versus_all(RNG.integers(0, 3, 55), 3)


def describe(documents=DEMO[:70], *, adapt=True):
    return KernelFeatures.from_gram(StringKernel(ngram_range=(2, 4)).gram(documents), adapt=adapt)


def textbook(documents, training, targets, alpha, bias=False):
    kernel = documents.kernel(np.arange(len(documents)))
    return ridge_scores(kernel, training, targets, alpha, bias)


@pytest.mark.parametrize("size", [3, 700, 1300])
def test_shared_products_are_those_by_need(size):
    values = np.random.default_rng(size).uniform(0, 1, size=(size, size))
    documents = KernelFeatures(
        np.maximum(values, values.T), np.ones(size), np.ones(size), adapt=True
    )
    rows = np.random.default_rng(0).permutation(size)
    source = rows[: size // 2 + 1]
    by_need = ProductsByNeed(documents, source)
    shared = SharedProducts(documents, [slice(0, size)]).choose(np.arange(size), [0])
    in_parts = SharedProducts(documents, [slice(0, 2), slice(2, size)]).choose(
        np.arange(size), [0, 1]
    )
    centred, means = documents.centred(rows)
    for products in (by_need, shared, in_parts):
        done = []
        found = np.tril(products.multiply(rows, done.append))
        np.testing.assert_allclose(products.directions(rows)[:, 0], means, rtol=1e-12)
        np.testing.assert_allclose(
            found, np.tril(centred.astype(float) @ centred.T.astype(float)), atol=1e-3
        )
        assert done == sorted(done)
        assert not done or done[-1] == size


@pytest.mark.parametrize("parts", [[0, 1, 2], [0, 2], [1]])
def test_scores_with_shared_products_are_the_same(parts):
    """Documents and columns of some parts only, as if the others were not there."""
    gram = StringKernel(ngram_range=(2, 4)).gram(DEMO[:90])
    places = [slice(0, 30), slice(30, 60), slice(60, 90)]
    shared = SharedProducts(KernelFeatures.from_gram(gram, adapt=True), places)
    rows = np.concatenate([np.arange(90)[places[part]] for part in parts])
    documents = KernelFeatures.from_gram(np.ascontiguousarray(gram[np.ix_(rows, rows)]), adapt=True)
    for source in (np.arange(12), np.arange(10, 25)):
        training, targets = np.concatenate([source, [26, 29]]), TARGETS[: len(source) + 2]
        solver = KernelRidgeSolver(documents, source, 1e-5, products=shared.choose(rows, parts))
        scores = solver.solve(training, targets).score(documents, np.arange(len(rows)))
        expected = textbook(documents, training, targets, 1e-5)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=2e-8 * np.abs(expected).max())


@pytest.mark.parametrize("adapt", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("alpha", [1e-5, 0.5])
def test_scores_are_those_of_the_textbook(adapt, bias, alpha):
    documents = describe(adapt=adapt)
    solver = KernelRidgeSolver(documents, SOURCE, alpha, bias=bias)
    everyone = np.arange(70)
    for training in (
        SOURCE,
        TRAINING,
        np.concatenate([SOURCE, [60, 50]]),
        SOURCE,
    ):  # the factor grows and shrinks
        expected = textbook(documents, training, TARGETS[: len(training)], alpha, bias)
        scores = solver.solve(training, TARGETS[: len(training)]).score(documents, everyone)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=2e-8 * np.abs(expected).max())


def test_it_is_the_ridge_regression_of_scikit_learn():
    documents = describe()
    kernel = documents.kernel(np.arange(70))
    rival = KernelRidge(alpha=0.5, kernel="precomputed").fit(kernel[:55, :55], TARGETS)
    scores = (
        KernelRidgeSolver(documents, SOURCE, 0.5)
        .solve(TRAINING, TARGETS)
        .score(documents, np.arange(70))
    )
    np.testing.assert_allclose(scores, rival.predict(kernel[:, :55]), atol=1e-8)


def test_two_classes_are_solved_once_and_mirrored():
    documents, targets = describe(), one_versus_all(RNG.integers(0, 2, 55), 2)
    fitted = KernelRidgeSolver(documents, SOURCE, 1e-5, bias=True).solve(TRAINING, targets)
    assert (fitted.coefficients[:, 0] == -fitted.coefficients[:, 1]).all()
    assert fitted.intercepts[0] == -fitted.intercepts[1]
    expected = textbook(documents, TRAINING, targets, 1e-5, bias=True)
    np.testing.assert_allclose(fitted.score(documents, np.arange(70)), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("adapt", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_copies_are_merged_without_changing_scores(adapt, bias):
    """Copies in the source, in the added documents, in both, and empty ones; different targets."""
    texts = [
        *DEMO[:30],
        DEMO[3],
        DEMO[3],
        "",
        *DEMO[40:47],
        DEMO[5],
        DEMO[60],
        DEMO[60],
        "",
        *DEMO[70:80],
    ]
    documents = describe(texts, adapt=adapt)
    training = np.arange(44)
    targets = one_versus_all(np.arange(44) % 2, 2)
    expected = textbook(documents, training, targets, 1e-2, bias)
    scores = (
        KernelRidgeSolver(documents, np.arange(40), 1e-2, bias=bias)
        .solve(training, targets)
        .score(documents, np.arange(54))
    )
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("adapt", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_leaving_one_out_in_closed_form_is_leaving_one_out(adapt, bias):
    documents = describe([*DEMO[:50], DEMO[3], DEMO[4], DEMO[4], DEMO[51], ""], adapt=adapt)
    fast = KernelRidgeSolver(documents, SOURCE, 1e-2, bias=bias).held_out(TRAINING, TARGETS)
    for left_out in (0, 3, 4, 17, 39, 52, 54):
        rest = np.delete(TRAINING, left_out)
        slow = textbook(documents, rest, TARGETS[rest], 1e-2, bias)[left_out]
        np.testing.assert_allclose(fast[left_out], slow, rtol=0, atol=2e-4 * np.abs(TARGETS).max())


def test_a_kernel_that_single_precision_cannot_do_with_is_solved_in_double(monkeypatch):
    """Single letters: 70 documents in some 40 dimensions, a tiny alpha, and three steps."""
    documents = KernelFeatures.from_gram(
        StringKernel(ngram_range=(1, 1)).gram(DEMO[:70]), adapt=False
    )
    used = []
    in_double = ridge.solve_in_double
    monkeypatch.setattr(
        ridge, "solve_in_double", lambda *given: used.append(1) or in_double(*given)
    )
    scores = (
        KernelRidgeSolver(documents, SOURCE, 1e-7, steps=3)
        .solve(TRAINING, TARGETS)
        .score(documents, np.arange(70))
    )
    expected = textbook(documents, TRAINING, TARGETS, 1e-7)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert used
    with pytest.raises(
        SingularKernelError, match=r"alpha=1e-300 is too small for this kernel .* try alpha="
    ):
        KernelRidgeSolver(documents, SOURCE, 1e-300, steps=3).solve(TRAINING, TARGETS)


@pytest.mark.parametrize("kind", ["presence", "spectrum"])
def test_leaving_one_out_of_an_ill_conditioned_kernel_is_right_too(kind):
    documents = KernelFeatures.from_gram(
        StringKernel(kind, ngram_range=(1, 1)).gram(DEMO[:70]), adapt=False
    )
    fast = KernelRidgeSolver(documents, SOURCE, 1e-5).held_out(TRAINING, TARGETS)
    for left_out in (0, 20, 54):
        rest = np.delete(TRAINING, left_out)
        np.testing.assert_allclose(
            fast[left_out],
            textbook(documents, rest, TARGETS[rest], 1e-5)[left_out],
            rtol=1e-5,
            atol=1e-5,
        )


@pytest.mark.parametrize("adapt", [True, False])
def test_many_documents_are_left_out_in_single_precision(monkeypatch, adapt):
    documents = describe(adapt=adapt)
    exact = KernelRidgeSolver(documents, SOURCE, 1e-2).held_out(TRAINING, TARGETS)
    monkeypatch.setattr(ridge.linalg, "inv", None)  # not needed then
    np.testing.assert_allclose(
        KernelRidgeSolver(documents, SOURCE, 1e-2, few=10).held_out(TRAINING, TARGETS),
        exact,
        atol=2e-4,
    )


def test_a_large_alpha_with_bias_still_orders_documents():
    documents, targets = describe(adapt=False), one_versus_all(np.arange(55) % 2, 2)
    scores = (
        KernelRidgeSolver(documents, SOURCE, 1e10, bias=True)
        .solve(TRAINING, targets)
        .score(documents, np.arange(70))
    )
    expected = textbook(documents, TRAINING, targets, 1e10, bias=True)
    spread = np.ptp(expected[:, 1])
    np.testing.assert_allclose(
        scores - scores.mean(axis=0), expected - expected.mean(axis=0), rtol=0, atol=1e-3 * spread
    )


def test_discriminant_of_balanced_classes_is_ridge_with_bias_up_to_scale():
    documents, codes = describe(), np.arange(55) % 2
    targets = one_versus_all(np.append(codes[:54], 1), 2)[:54]
    scores = (
        DiscriminantSolver(documents, SOURCE, 0.5)
        .solve(TRAINING[:54], targets)
        .score(documents, np.arange(70))
    )
    regression = textbook(documents, TRAINING[:54], targets, 0.5, bias=True)
    slope, _ = np.polyfit(regression[:, 1], scores[:, 1], 1)
    np.testing.assert_allclose(
        scores[:, 1] - scores[:, 1].mean(),
        slope * (regression[:, 1] - regression[:, 1].mean()),
        atol=1e-7,
    )
    assert np.isclose(scores[:54][codes[:54] == 1, 1].mean(), 1)
    assert np.isclose(scores[:54][codes[:54] == 0, 1].mean(), -1)


def test_a_classifier_of_scikit_learn_is_held_out_by_fifths():
    documents, targets = describe(), one_versus_all(np.arange(55) % 2, 2)
    kernel = documents.kernel(np.arange(70))
    solver = EstimatorSolver(SVC(kernel="precomputed"), documents)
    expected = (
        SVC(kernel="precomputed")
        .fit(kernel[:55, :55], targets[:, 1])
        .decision_function(kernel[:, :55])
    )
    scores = solver.solve(TRAINING, targets).score(documents, np.arange(70))
    np.testing.assert_allclose(scores[:, 1], expected, atol=1e-6 * np.abs(expected).max())
    codes = np.arange(55) % 2
    fold = (np.arange(55) // 2 + codes) % 5  # by turns within each class
    kept = np.flatnonzero(fold != fold[2])
    held = (
        SVC(kernel="precomputed")
        .fit(kernel[np.ix_(kept, kept)], targets[kept, 1])
        .decision_function(kernel[[2]][:, kept])
    )
    np.testing.assert_allclose(solver.held_out(TRAINING, targets)[2, 1], held[0], rtol=1e-9)


def test_weights_of_many_documents_are_read_off_part_by_part():
    vectors, rows = np.random.default_rng(0).normal(size=(1100, 6)), np.arange(1100)
    documents = KernelFeatures.from_gram(vectors @ vectors.T, adapt=False)
    targets = one_versus_all((vectors[:, 0] > 0).astype(int), 2)
    fitted = EstimatorSolver(SVC(kernel="precomputed"), documents).solve(rows, targets)
    expected = SVC(kernel="precomputed").fit(documents.kernel(rows), targets[:, 1])
    dual = np.zeros(1100)
    dual[expected.support_] = expected.dual_coef_[0]
    np.testing.assert_allclose(fitted.coefficients[:, 1], dual, atol=1e-12)
    assert fitted.intercepts[1] == pytest.approx(expected.intercept_[0])


@pytest.mark.parametrize("adapt", [True, False])
@pytest.mark.parametrize("size", [1, 300])
def test_a_preconditioner_is_the_inverse_to_single_precision(adapt, size):
    values = np.random.default_rng(size).normal(size=(size, 2 * size))
    documents = KernelFeatures.from_gram(
        np.abs(values @ values.T) + 20 * size * np.eye(size), adapt=adapt
    )
    rows, penalty = np.random.default_rng(0).permutation(size), np.linspace(0.5, 1, size)
    inverse = np.linalg.inv(documents.kernel(rows) + np.diag(penalty[rows]))
    made = Preconditioner(documents, rows[: size // 2 + 1], penalty)
    for chosen in (rows[: size // 2 + 1], rows):  # first the source, then what joined it
        assert made.prepare(chosen)
    if not adapt:
        right = np.random.default_rng(1).normal(size=(size, 2))
        np.testing.assert_allclose(made(right), inverse @ right, atol=1e-5)
    np.testing.assert_allclose(made.inverse_diagonal(), np.diagonal(inverse), rtol=1e-3)


def test_a_kernel_without_a_factor_has_no_preconditioner():
    documents = KernelFeatures(-np.eye(3), np.ones(3), np.ones(3), adapt=False)
    assert not Preconditioner(documents, np.arange(3), np.zeros(3)).prepare(np.arange(3))


def set_blas(number):
    """Set it, whichever thread did so last; return what there is now."""
    for one in ThreadpoolController().select(user_api="blas").lib_controllers:
        for step in (release, lambda library: library.set_num_threads(number), release):
            step(one)
    return count_blas()


def release(library):
    """New versions of threadpoolctl let one thread set the number until it lets go of it."""
    getattr(library, "clear_controlling_thread", lambda force: None)(force=True)


def count_blas():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_solving_side_by_side_leaves_blas_as_many_threads_as_it_had():
    """The second to enter must not take the limit that the first has set for the original one."""
    inside = [threading.Event(), threading.Event()]
    leave = [threading.Event(), threading.Event()]

    def solve(number):
        with ONE_BLAS_THREAD:
            inside[number].set()
            assert leave[number].wait(60)

    before = count_blas()
    try:
        assert set_blas(2) == {2}
        threads = [threading.Thread(target=solve, args=(number,)) for number in (0, 1)]
        for number in (0, 1):
            threads[number].start()
            assert inside[number].wait(60)
        for number, expected in ((0, {1}), (1, {2})):  # the first leaves while the second is inside
            leave[number].set()
            threads[number].join(60)
            assert count_blas() == expected
    finally:
        set_blas(max(before))
