"""Training on lists of documents by n-gram against (K + alpha I)^-1 Y, with K from loops."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conftest import examples, texts
from gramshift.learn.conjugate import Sketch, orthonormalize
from gramshift.learn.linear import (
    MAX_CELLS,
    MAX_PASSES,
    MAX_ROWS,
    MIN_ROWS,
    LinearRidge,
    NGramFeatures,
    NGramFeaturesPart,
)
from gramshift.learn.pseudo_labels import one_versus_all
from gramshift.learn.ridge import Coefficients, SingularKernelError
from gramshift.ngrams.feature_lists import build_lists
from gramshift.ngrams.sorted_ngrams import SortedNGrams, run_serially
from gramshift.text.encode import encode
from naive_algorithm import ridge_scores
from small_demo import load_demo

PROMISED = 1e-6  # of the largest target, which is 1
RANGES = ((2, 4), (1, 2), (3, 3))
DEMO = [text[:80] for text in load_demo("kitchen").texts + load_demo("films").texts]
TEXTS = [
    *DEMO[:28],
    DEMO[3],
    DEMO[3],
    "",
    *DEMO[40:52],
    DEMO[5],
    "",
    *DEMO[100:108],
]  # copies, empty ones
N, TRAINED = len(TEXTS), len(TEXTS) - 10


def describe(documents, ranges=RANGES, run=run_serially):
    """Documents by lists, and their kernel as an array."""
    parts = []
    for ngram_range in ranges:
        lists = build_lists(SortedNGrams(encode(documents), ngram_range))
        weights, own = lists.times.astype(float), lists.unshared.astype(float)
        values = own + lists.own_values(weights)
        scale = np.array([1 / np.sqrt(value) if value else 0.0 for value in values])
        parts.append(NGramFeaturesPart(lists, weights, own, scale))
    grams = [
        naive.normalized_gram("presence", documents, documents, ngram_range)
        for ngram_range in ranges
    ]
    return NGramFeatures(parts, run), np.mean(grams, axis=0)


@pytest.fixture(scope="module")
def demo():
    return describe(TEXTS)


def draw_targets(n_classes, n=TRAINED, seed=0):
    return one_versus_all(
        np.random.default_rng(seed + n_classes).integers(0, n_classes, n), n_classes
    )


def largest_error(solver, kernel, training, targets, near=None):
    scores = solver.solve(training, targets, near).score(solver.documents, np.arange(len(kernel)))
    return np.abs(scores - ridge_scores(kernel, training, targets, solver.alpha, solver.bias)).max()


def test_the_documents_are_what_their_kernel_says(demo):
    documents, kernel = demo
    chance = np.random.default_rng(0)
    vectors, rows = chance.normal(size=(N, 3)), chance.permutation(N)[:20]
    assert len(documents) == N
    np.testing.assert_allclose(documents.multiply(vectors), kernel @ vectors, atol=1e-12)
    np.testing.assert_allclose(
        documents.multiply(vectors, rows), kernel[rows] @ vectors, atol=1e-12
    )
    np.testing.assert_allclose(np.vstack(list(documents.rows(rows))), kernel[rows], atol=1e-12)
    others = chance.permutation(N)[:30]
    np.testing.assert_allclose(
        np.vstack(list(documents.rows(rows, others))), kernel[np.ix_(rows, others)], atol=1e-12
    )
    few = np.sort(rows)
    np.testing.assert_allclose(
        documents.narrow(few).multiply(np.eye(20)), kernel[np.ix_(few, few)], atol=1e-12
    )
    fewer = documents.narrow(few).narrow(np.arange(0, 20, 3))
    np.testing.assert_allclose(
        fewer.multiply(np.eye(7)), kernel[np.ix_(few[::3], few[::3])], atol=1e-12
    )


def test_rows_come_in_the_order_that_was_asked_for_however_many_there_are():
    """In blocks, of which some are made at a time, on threads."""
    size, n = MAX_ROWS, MAX_ROWS * MAX_PASSES + 5
    lists = build_lists(SortedNGrams(encode([f"{i % 40} {i % 7}" for i in range(n)]), (1, 2)))
    part = NGramFeaturesPart(
        lists, lists.times.astype(float), lists.unshared.astype(float), np.ones(n)
    )
    chance, vectors = np.random.default_rng(0), np.random.default_rng(1).normal(size=(n, 2))
    rows, others = chance.permutation(n), chance.permutation(n)[:30]
    vectors[np.setdiff1d(rows, others)] = 0.0
    with ThreadPoolExecutor(2) as pool:
        documents = NGramFeatures([part], lambda function, items: list(pool.map(function, items)))
        blocks = list(documents.rows(rows, others))
    assert [len(block) for block in blocks] == [size] * MAX_PASSES + [5]
    expected = NGramFeatures([part], run_serially).multiply(vectors, rows)
    np.testing.assert_allclose(np.vstack(blocks) @ vectors[others], expected, rtol=1e-9)


def test_similarities_to_many_documents_come_in_small_blocks(demo):
    documents = demo[0]
    wide = NGramFeatures(
        [NGramFeaturesPart(FakeLists(), np.ones(0), np.zeros(MAX_CELLS), np.ones(MAX_CELLS))],
        run_serially,
    )
    assert [len(block) for block in wide.rows(np.arange(2 * MIN_ROWS + 1))] == [
        MIN_ROWS,
        MIN_ROWS,
        1,
    ]
    assert len(next(documents.rows(np.arange(N)))) == N


class FakeLists:
    """Lists of very many documents that have nothing in common."""

    def rows(self, weights, documents, others):
        return np.zeros((len(documents), len(others)), np.float32)


@pytest.mark.parametrize("n_classes", [2, 7])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("alpha", [1e-9, 1e-3, 1.0, 1e3])
def test_scores_are_those_of_the_textbook(demo, alpha, bias, n_classes):
    """Copies of documents with different targets have coefficients of 1 / alpha; any order."""
    documents, kernel = demo
    training = np.random.default_rng(n_classes).permutation(TRAINED)
    solver = LinearRidge(documents, alpha, bias=bias, few=0)
    assert largest_error(solver, kernel, training, draw_targets(n_classes)) < PROMISED
    for near in (1.0, 1e3):
        wrong = Coefficients(
            near * np.random.default_rng(1).normal(size=(N, n_classes)), np.ones(n_classes)
        )
        if n_classes == 2:
            wrong.coefficients[:, 0] = -wrong.coefficients[:, 1]
        assert largest_error(solver, kernel, training, draw_targets(n_classes), wrong) < PROMISED


@given(
    texts,
    st.sampled_from([1e-6, 1e-2, 1.0, 1e3]),
    st.booleans(),
    st.integers(2, 4),
    st.integers(0, 99),
)
@examples(60)
def test_scores_of_any_texts_are_those_of_the_textbook(words, alpha, bias, n_classes, seed):
    written = [naive.prepare(text) for text in [*words, "abé", "ab", "", words[0]]]
    documents, kernel = describe(written, ((1, 3), (1, 2)))
    training = np.random.default_rng(seed).permutation(len(written))[: 2 + seed % len(written)]
    targets = draw_targets(n_classes, len(training), seed)
    assert (
        largest_error(LinearRidge(documents, alpha, bias=bias), kernel, training, targets)
        < PROMISED
    )


def test_two_classes_are_solved_once_and_mirrored(demo):
    fitted = LinearRidge(demo[0], 0.1, bias=True).solve(np.arange(TRAINED), draw_targets(2))
    assert (fitted.coefficients[:, 0] == -fitted.coefficients[:, 1]).all()
    assert fitted.intercepts[0] == -fitted.intercepts[1] != 0
    assert not fitted.coefficients[TRAINED:].any()


def test_coefficients_do_not_depend_on_the_order_of_training_rows(demo):
    mixed, targets = np.random.default_rng(2).permutation(TRAINED), draw_targets(7)
    solver = LinearRidge(demo[0], 0.1, bias=True)
    in_order, in_disorder = (
        solver.solve(np.arange(TRAINED), targets),
        solver.solve(mixed, targets[mixed]),
    )
    assert (in_order.coefficients == in_disorder.coefficients).all()
    assert (in_order.intercepts == in_disorder.intercepts).all()


def test_what_is_solved_already_takes_no_step(demo):
    documents, training, targets = demo[0], np.arange(TRAINED), draw_targets(7)
    solved = LinearRidge(documents, 0.1).solve(training, targets)
    again = LinearRidge(documents, 0.1, steps=1, few=0).solve(training, targets, solved)
    assert (again.coefficients == solved.coefficients).all()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_classes", [2, 7])
def test_few_documents_are_left_out_one_by_one(demo, bias, n_classes):
    documents, kernel = demo
    training, targets = np.random.default_rng(3).permutation(TRAINED), draw_targets(n_classes)
    found = LinearRidge(documents, 0.1, bias=bias).held_out(training, targets)
    for place, row in enumerate(training.tolist()):
        rest = np.arange(TRAINED) != place
        alone = ridge_scores(kernel, training[rest], targets[rest], 0.1, bias)[row]
        np.testing.assert_allclose(found[place], alone, rtol=0, atol=PROMISED)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_classes", [2, 7])
def test_many_documents_are_left_out_by_fifths(demo, bias, n_classes):
    """A fold has every fifth document of each class, with another start for each class."""
    documents, kernel = demo
    training, targets, told = (
        np.random.default_rng(3).permutation(TRAINED),
        draw_targets(n_classes),
        [],
    )
    solver = LinearRidge(
        documents, 0.1, bias=bias, few=TRAINED - 1, progress=lambda *step: told.append(step)
    )
    found = solver.held_out(training, targets)
    codes = targets.argmax(axis=1).tolist()
    fold = np.array([(codes[:place].count(code) + code) % 5 for place, code in enumerate(codes)])
    for number in range(5):
        kept, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        expected = ridge_scores(kernel, training[kept], targets[kept], 0.1, bias)[training[held]]
        np.testing.assert_allclose(found[held], expected, rtol=0, atol=PROMISED)
    assert [step for step in told if step[0] == "sureness"] == [
        ("sureness", number, 5) for number in range(6)
    ]
    trained = [step for step in told if step[0] == "training"]
    assert all(0 <= done <= total == 100 for _, done, total in trained)
    assert trained[0][1] == 0
    assert trained[-1][1] == 100


def test_fewer_documents_than_folds_can_be_left_out(demo):
    found = LinearRidge(demo[0], 0.1, few=0).held_out(np.arange(3), draw_targets(2, 3))
    assert np.isfinite(found).all()


def test_few_documents_are_trained_on_by_their_gram_where_steps_do_not_lead_to_an_end(demo):
    documents, kernel = demo
    solver = LinearRidge(documents, 1e-6, bias=True, steps=2)
    assert (
        largest_error(
            solver, kernel, np.random.default_rng(4).permutation(TRAINED), draw_targets(7)
        )
        < PROMISED
    )
    assert solver.held_out(np.arange(TRAINED), draw_targets(7)).shape == (TRAINED, 7)


@pytest.mark.parametrize("bias", [False, True])
def test_as_many_as_memory_allows_are_trained_on_by_their_gram_if_steps_are_many(demo, bias):
    documents, kernel = demo
    training, targets = np.random.default_rng(5).permutation(TRAINED), draw_targets(7)
    solver = LinearRidge(documents, 1e-6, bias=bias, steps=2, few=0, most=TRAINED)
    assert largest_error(solver, kernel, training, targets) < PROMISED
    without = [
        ridge_scores(kernel, np.delete(training, k), np.delete(targets, k, axis=0), 1e-6, bias)[
            training[k]
        ]
        for k in range(TRAINED)
    ]
    single = np.array(
        [k for k in range(TRAINED) if TEXTS.count(TEXTS[training[k]]) == 1]
    )  # copies are taken together
    np.testing.assert_allclose(
        solver.held_out(training, targets)[single], np.array(without)[single], atol=1e-4
    )
    told = []
    again = LinearRidge(
        documents, 1e-6, steps=2, few=0, most=TRAINED, progress=lambda *about: told.append(about)
    )
    again.solve(training, targets)
    n_tried = len(told)
    again.solve(training[:-3], targets[:-3])
    assert len(told) == n_tried > 0, "steps are not tried a second time"


def test_for_many_documents_alpha_that_is_too_small_is_an_error(demo):
    solver = LinearRidge(demo[0], 1e-6, steps=2, few=TRAINED - 1, sketched=3)
    with pytest.raises(SingularKernelError) as caught:
        solver.solve(np.arange(TRAINED), draw_targets(7))
    expected = (
        f"alpha=1e-06 is too small for these {TRAINED} documents: "
        "2 steps of conjugate gradients do not get to the solution"
    )
    assert str(caught.value) == f"{expected}; try alpha=1e-05 or larger"


@pytest.mark.parametrize("bias", [False, True])
def test_alpha_that_double_precision_cannot_do_with_is_noticed(demo, bias):
    """Copies with different targets have coefficients of 1 / alpha, which cancel in scores."""
    documents, kernel = demo
    training, targets = np.arange(TRAINED), draw_targets(7)
    with pytest.raises(SingularKernelError, match=r"too small .* try alpha=1e-09 or larger"):
        LinearRidge(documents, 1e-12, bias=bias, few=0).solve(training, targets)
    single = np.array([row for row in training if TEXTS.index(TEXTS[row]) == row])
    assert (
        largest_error(LinearRidge(documents, 1e-12, bias=bias), kernel, single, targets[single])
        < PROMISED
    )


@pytest.mark.parametrize("sketched", [0, 1, 12, TRAINED])
@pytest.mark.parametrize("bias", [False, True])
def test_more_documents_than_memory_has_room_for_get_a_preconditioner(demo, bias, sketched):
    """Also where it is made of no document: once plain steps have failed, they are not tried."""
    documents, kernel = demo
    training, targets = np.random.default_rng(6).permutation(TRAINED), draw_targets(7)
    solver = LinearRidge(documents, 1e-4, bias=bias, few=0, steps=6, sketched=sketched)
    if sketched == TRAINED:
        assert largest_error(solver, kernel, training, targets) < PROMISED
    else:
        with pytest.raises(SingularKernelError):
            solver.solve(training, targets)
    assert largest_error(solver, kernel, training[:10], targets[:10]) < PROMISED


@pytest.mark.parametrize("alpha", [1e-9, 1e-3, 1.0])
def test_a_sketch_of_all_columns_is_the_inverse(demo, alpha):
    """Without copies, whose inverse would be as large as 1 / alpha."""
    single = np.array([row for row in range(N) if TEXTS.index(TEXTS[row]) == row and TEXTS[row]])
    kernel, chance = demo[1][np.ix_(single, single)], np.random.default_rng(7)
    vectors, n = chance.normal(size=(len(single), 3)), len(single)
    expected = np.linalg.solve(kernel + alpha * np.eye(n), vectors)
    np.testing.assert_allclose(Sketch(kernel, np.arange(n), alpha)(vectors), expected, rtol=1e-9)
    some = np.sort(chance.choice(n, 9, replace=False))
    sketch = Sketch(kernel[:, some], some, alpha)(np.eye(n))
    np.testing.assert_allclose(sketch, sketch.T, atol=1e-9 * np.abs(sketch).max())
    assert np.linalg.eigvalsh(sketch).min() > 0
    seen = kernel[:, some] @ np.linalg.solve(kernel[np.ix_(some, some)], kernel[some])
    values, columns = np.linalg.eigh(seen)
    told = columns[:, -9:]
    expected = told / (values[-9:] + alpha) @ told.T + (np.eye(n) - told @ told.T) / (
        values[-9] + alpha
    )
    np.testing.assert_allclose(sketch, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("columns", [1, 2, 5, 9])
def test_columns_are_a_combination_of_orthonormal_ones(columns):
    given_ = np.random.default_rng(columns).normal(size=(40, columns)) * 10.0 ** np.arange(
        -3, columns - 3
    )
    basis, factors = orthonormalize(given_)
    np.testing.assert_allclose(basis @ factors, given_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(basis.T @ basis, np.eye(columns), atol=1e-12)
    assert (np.tril(factors, -1) == 0).all()


def test_columns_that_are_sums_of_others_are_none_of_their_own():
    a, b = np.random.default_rng(0).normal(size=(2, 30))
    given_ = np.array([a, a, np.zeros(30), b, a - 2 * b]).T
    basis, factors = orthonormalize(given_)
    np.testing.assert_allclose(basis @ factors, given_, atol=1e-12)
    assert [bool(column.any()) for column in basis.T] == [True, False, False, True, False]


def test_targets_may_depend_on_each_other(demo):
    documents, kernel = demo
    targets = draw_targets(5)
    targets[:, 2], targets[:, 3] = targets[:, 0], 0.0
    assert (
        largest_error(LinearRidge(documents, 1.0), kernel, np.arange(TRAINED), targets) < PROMISED
    )


def test_many_columns_share_directions(demo):
    documents, _ = demo

    def count_steps(targets):
        told = []
        LinearRidge(documents, 0.1, progress=lambda *about: told.append(about)).solve(
            np.arange(TRAINED), targets
        )
        return len(told)

    targets = draw_targets(7)
    assert count_steps(targets) < max(count_steps(targets[:, [k]]) for k in range(7))


@pytest.mark.parametrize("few", [0, 2000])  # by conjugate gradients, and held out by the gram
@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_count_by_weight(demo, few, n_classes):
    """The sum of w (y - f)^2 + alpha |f|^2 is least for coefficients (K + alpha / w)^-1 y."""
    documents, kernel = demo
    chance, alpha = np.random.default_rng(n_classes), 0.5
    weights, training = chance.uniform(0.2, 3, N), chance.permutation(TRAINED)[:30]
    targets, each = draw_targets(n_classes, 30), alpha / weights[training]
    solver = LinearRidge(documents, alpha, few=few, weights=weights)
    expected = ridge_scores(kernel, training, targets, each)
    fitted = solver.solve(training, targets)
    for near in (None, fitted):
        found = solver.solve(training, targets, near=near).score(documents, np.arange(N))
        np.testing.assert_allclose(found, expected, atol=3e-6)
    if few:
        held = solver.held_out(training, targets)
        for place, row in enumerate(training.tolist()):
            rest = np.arange(30) != place
            without = ridge_scores(kernel, training[rest], targets[rest], each[rest])[row]
            np.testing.assert_allclose(held[place], without, atol=1e-6)


def test_equal_weights_change_nothing_but_alpha(demo):
    training, targets = np.arange(TRAINED), draw_targets(2)
    half = LinearRidge(demo[0], 1.0, weights=np.full(N, 2.0)).solve(training, targets)
    other = LinearRidge(demo[0], 0.5).solve(training, targets)
    np.testing.assert_allclose(half.coefficients, other.coefficients, atol=5e-6)
