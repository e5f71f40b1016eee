"""Vectors of whole texts as a part of the features, against cosines computed one by one."""

from concurrent.futures import ThreadPoolExecutor
from math import sqrt

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gramshift.learn.linear import LinearRidge, NGramFeatures
from gramshift.learn.vectors import BLOCK, WEIGHTS, VectorFeatures, encoder_weight
from gramshift.ngrams.sorted_ngrams import run_serially

N, N_SOURCE = 40, 25
IS_SOURCE = np.arange(N) < N_SOURCE
PRECISION = {np.float32: 1e-6, np.float64: 1e-12}


def draw(n, width, dtype=np.float64, seed=0):
    """Return vectors around a mean that is not 0, some of them rows of zeros."""
    vectors = np.random.default_rng(seed).normal(1, 2, size=(n, width)).astype(dtype)
    vectors[::11] = 0
    return vectors


def naive_cosines(vectors, is_source):
    """Return the cosine of each pair of vectors, minus the mean of their domain."""
    rows = [[float(value) for value in row] for row in vectors]
    centred = []
    for row, domain in zip(rows, is_source, strict=True):
        others = [one for one, same in zip(rows, is_source == domain, strict=True) if same]
        known = [one for one in others if any(one)]
        mean = [sum(column) / len(known) for column in zip(*known, strict=True)]
        centred.append([v - m for v, m in zip(row, mean, strict=True)] if any(row) else row)
    lengths = [sqrt(sum(value**2 for value in row)) for row in centred]
    result = np.zeros((len(rows), len(rows)))
    for i, a in enumerate(centred):
        for j, b in enumerate(centred):
            if lengths[i] and lengths[j]:
                product = sum(x * y for x, y in zip(a, b, strict=True))
                result[i, j] = product / (lengths[i] * lengths[j])
    return result


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("width", [1, 2, 7])
def test_vectors_are_compared_by_cosine_around_the_mean_of_their_domain(width, dtype):
    vectors, atol = draw(N, width, dtype), PRECISION[dtype]
    part, expected = (
        VectorFeatures.of_domains(vectors, IS_SOURCE),
        naive_cosines(vectors, IS_SOURCE),
    )
    chance = np.random.default_rng(1)
    columns, rows, others = chance.normal(size=(N, 3)), chance.permutation(N)[:9], np.arange(5, 30)
    assert part.units.dtype == dtype
    np.testing.assert_allclose(part.multiply(columns, run_serially), expected @ columns, atol=atol)
    np.testing.assert_allclose(part.rows(rows, others), expected[np.ix_(rows, others)], atol=atol)
    few = np.sort(rows)
    np.testing.assert_allclose(
        part.narrow(few, run_serially).multiply(np.eye(9), run_serially),
        expected[np.ix_(few, few)],
        atol=atol,
    )


def test_tiny_and_huge_vectors_have_cosines():
    vectors = draw(N, 3) * np.where(IS_SOURCE, 1e-250, 1e59)[:, None]
    part = VectorFeatures.of_domains(vectors, IS_SOURCE)
    lengths = np.linalg.norm(part.units, axis=1)
    np.testing.assert_allclose(lengths, vectors.any(axis=1))
    equal = np.tile([0.1, 0.7, -0.3], (999, 1))  # its mean is another number, by rounding
    assert not VectorFeatures.of_domains(equal, np.ones(999, bool)).units.any()


def test_features_are_the_weighted_mean_of_their_parts():
    """Whatever is asked of them; ridge regression sees one kernel."""
    first, second = (VectorFeatures.of_domains(draw(N, 4, seed=one), IS_SOURCE) for one in (1, 2))
    both = NGramFeatures([first], run_serially).with_vectors(second, 0.25)
    everything = np.arange(N)
    kernel = (
        first.rows(everything, everything) + 0.25 * second.rows(everything, everything)
    ) / 1.25
    np.testing.assert_allclose(both.multiply(np.eye(N)), kernel, atol=1e-12)
    np.testing.assert_allclose(np.vstack(list(both.rows(everything))), kernel, atol=1e-12)
    few, factors = np.arange(0, N, 3), np.linspace(0.5, 2, N)
    narrowed = both.times(factors).narrow(few)
    expected = (factors[:, None] * kernel * factors)[np.ix_(few, few)]
    np.testing.assert_allclose(narrowed.multiply(np.eye(len(few))), expected, atol=1e-12)
    targets = np.where(everything[:, None] % 2 == np.arange(2), 1.0, -1.0)
    scores = LinearRidge(both, 1.0).solve(everything, targets).score(both, everything)
    exact = kernel @ np.linalg.solve(kernel + np.eye(N), targets)
    np.testing.assert_allclose(scores, exact, atol=1e-6)


def test_the_bits_do_not_depend_on_threads():
    n = 2 * BLOCK + 3
    part = VectorFeatures.of_domains(draw(n, 50, np.float32), np.arange(n) % 2 == 0)
    columns = np.random.default_rng(3).normal(size=(n, 2))
    with ThreadPoolExecutor(3) as pool:
        threaded = part.multiply(columns, lambda work, items: list(pool.map(work, items)))
    assert (threaded == part.multiply(columns, run_serially)).all()


def draw_scores(sharpness, codes, seed):
    """Return scores of two classes: the larger ``sharpness``, the more they know."""
    noise = np.random.default_rng(seed).normal(size=len(codes))
    margins = np.where(codes == 1, sharpness, -sharpness) + noise
    return 0.1 * np.stack([-margins, margins], axis=1)


def naive_losses(scores, codes):
    """Return log-losses after Platt's calibration."""
    platt = LogisticRegression(C=np.inf).fit(100 * scores[:, 1:], codes)
    return -platt.predict_log_proba(100 * scores[:, 1:])[np.arange(len(codes)), codes]


@pytest.mark.parametrize(
    ("sharpness", "best"),
    [([1.0, 1.3, 1.5, 1.2, 0.5], 2), ([0.2, 0.3, 0.5, 0.7, 1.0], 4)],
)
def test_the_weight_is_half_of_the_share_of_the_loss_that_vectors_remove(sharpness, best):
    codes = np.arange(300) % 2
    scores = {
        weight: draw_scores(one, codes, seed=8)
        for weight, one in zip((0.0, *WEIGHTS), sharpness, strict=True)
    }
    without, least = (naive_losses(scores[weight], codes) for weight in (0.0, WEIGHTS[best - 1]))
    expected = (1 - least.mean() / without.mean()) / 2
    assert encoder_weight(scores.__getitem__, codes) == pytest.approx(expected, rel=1e-3)


def test_a_gain_within_chance_or_a_loss_has_no_weight():
    codes = np.arange(100) % 2

    def better_by_chance(weight):
        scores = draw_scores(1.0, codes, seed=8)
        scores[:50] += weight / WEIGHTS[0] * 0.002 * draw_scores(0.0, codes, seed=9)[:50]
        return scores

    assert encoder_weight(better_by_chance, codes) == 0
    assert encoder_weight(lambda weight: draw_scores(1 - weight, codes, seed=8), codes) == 0
    assert encoder_weight(lambda _: np.zeros((100, 2)), codes) == 0
