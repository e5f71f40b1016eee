"""Class proportions of a target: estimated by loops, shrunk towards the source, with an error."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_best
from gramshift.kernels.weighting import frequency_ratios
from gramshift.learn.calibrate import Logits, meet_shares, softmax
from gramshift.learn.class_proportions import (
    GUARDED_ERROR,
    MAX_DRIFT,
    MIN_ERROR,
    PRIOR_DOCUMENTS,
    SHRINKAGE,
    ClassProportions,
    count_labels,
    estimate_shares,
    maximize,
    measure_drift,
    revise_shares,
    shrink,
)

RNG = np.random.default_rng(0)
HALF = np.array([0.5, 0.5])
ALL = np.ones(2)  # no limits


def with_shares(probabilities, before, shares):
    """Return probabilities for other class proportions than those of the calibration."""
    weighted = probabilities * (shares / before)
    return weighted / weighted.sum(axis=1, keepdims=True)


def log_likelihood(shares, probabilities, before, imagined):
    """Of documents, and of imagined ones whose classes are known."""
    seen = sum(
        log(sum(p / b * s for p, b, s in zip(row, before, shares, strict=True)))
        for row in probabilities
    )
    return seen + imagined * sum(b * log(s) for b, s in zip(before, shares, strict=True))


def draw_probabilities(shares, before, n, clear):
    """Return probabilities of n documents with ``shares``, by a model calibrated on ``before``.

    A document of class c is a point: a random one, moved by ``clear`` along axis c.
    """
    codes = RNG.choice(len(shares), n, p=shares)
    points = RNG.normal(size=(n, len(shares)))
    points[np.arange(n), codes] += clear
    weighted = np.exp(clear * points) * before
    return codes, weighted / weighted.sum(axis=1, keepdims=True)


def codes_of(counts):
    return np.repeat(np.arange(len(counts)), counts)


@pytest.mark.parametrize(
    ("before", "imagined"),
    [([0.5, 0.5], 0.0), ([0.9, 0.1], 7.5), ([0.2, 0.3, 0.5], 1000.0), ([0.1] * 10, 7.5)],
)
def test_shares_are_those_of_loops(before, imagined):
    before = np.array(before)
    true = before[::-1] * np.arange(1, 1 + len(before))
    _, probabilities = draw_probabilities(true / true.sum(), before, 60, 1.5)
    found = maximize(probabilities, before, imagined)
    np.testing.assert_allclose(
        found, naive_best.em(probabilities.tolist(), before.tolist(), imagined), rtol=0, atol=1e-9
    )
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()


@pytest.mark.parametrize("imagined", [0.0, 5.0])
def test_no_other_shares_make_documents_likelier(imagined):
    _, probabilities = draw_probabilities([0.7, 0.3], HALF, 50, 1.5)
    found = maximize(probabilities, HALF, imagined)
    best = log_likelihood(found, probabilities, HALF, imagined)
    for share in np.linspace(0.001, 0.999, 999):
        assert log_likelihood([share, 1 - share], probabilities, HALF, imagined) <= best + 1e-9


def test_two_kinds_of_documents_on_paper():
    """0.8 and 0.2: with share s of class 0 there are 0.8 s + 0.2 (1 - s) of the first kind."""
    mixed = np.array([[0.8, 0.2]] * 65 + [[0.2, 0.8]] * 35)
    np.testing.assert_allclose(maximize(mixed, HALF, 0.0), [0.75, 0.25], atol=1e-6)
    # calibration with 0.9 of class 0 gives 36 / 37 and 0.6923 where one with halves gives 0.8, 0.2
    odds = np.array([[0.8 * 0.9, 0.2 * 0.1]] * 65 + [[0.2 * 0.9, 0.8 * 0.1]] * 35)
    skewed = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(maximize(skewed, np.array([0.9, 0.1]), 0.0), [0.75, 0.25], atol=1e-6)
    certain = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 9)
    np.testing.assert_allclose(
        maximize(certain, HALF, 5.0), [(3 + 2.5) / 17, (9 + 2.5) / 17], atol=1e-9
    )


@pytest.mark.parametrize(
    ("counts", "drift"), [([50, 50], 0.0), ([180, 20], 0.6), ([10, 30, 60], 50.0), ([7] * 11, 0.6)]
)
def test_shares_stay_the_sources_where_probabilities_say_nothing(counts, drift):
    before = np.array(counts) / sum(counts)
    found = estimate_shares(np.tile(before, (500, 1)), codes_of(counts), drift)
    for shares in (found.source, found.estimated, found.used):
        np.testing.assert_allclose(shares, before, rtol=0, atol=1e-12)
    assert (found.errors > 0.2 * np.sqrt(before * (1 - before))).all()
    low, high = (
        estimate_shares(np.tile(before, (500, 1)), codes_of(counts), MAX_DRIFT).intervals().T
    )
    assert (high - low > 0.9).all()


def test_what_hardly_says_anything_hardly_moves_shares():
    alike = np.column_stack([0.5 + 1e-4 * np.ones(200), 0.5 - 1e-4 * np.ones(200)])
    found = estimate_shares(alike, codes_of([100, 100]), 0.0)
    np.testing.assert_allclose(found.estimated, HALF, atol=0.01)
    np.testing.assert_allclose(found.used, HALF, atol=1e-3)


@pytest.mark.parametrize(
    ("counts", "drift"),
    [
        ([300, 300], 0.0),
        ([450, 50], 0.3),
        ([450, 50], 5.0),
        ([100, 200, 300], 0.8),
        ([90] * 11, 0.3),
    ],
)
def test_estimates_are_those_of_loops(counts, drift):
    before = [count / sum(counts) for count in counts]
    true = np.array(before)[::-1] * np.arange(1, 1 + len(before)) ** 2
    _, probabilities = draw_probabilities(true / true.sum(), np.array(before), 80, 2.5)
    unadapted = np.bincount(probabilities.argmax(axis=1), minlength=len(counts)) / 80
    found = estimate_shares(probabilities, codes_of(counts), drift, unadapted)
    tempered = naive_best.temper(probabilities.tolist(), before)
    estimated, errors = (
        naive_best.em(tempered, before),
        naive_best.errors_of(tempered, counts, drift),
    )
    np.testing.assert_allclose(found.source, before)
    np.testing.assert_allclose(found.estimated, estimated, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.errors, errors, rtol=0, atol=1e-9)
    limits = naive_best.limits_of(before, unadapted, errors)
    np.testing.assert_allclose(found.limits, limits)
    np.testing.assert_allclose(
        found.used, naive_best.shrink(estimated, before, errors, limits), rtol=0, atol=1e-8
    )
    assert found.used.sum() == pytest.approx(1)


def test_confident_probabilities_are_believed_where_domains_are_alike():
    certain, true = np.array([[1.0, 0.0]] * 1600 + [[0.0, 1.0]] * 400), np.array([0.8, 0.2])
    found = estimate_shares(certain, codes_of([1000, 1000]), 0.0)
    n = 2000 + PRIOR_DOCUMENTS
    np.testing.assert_allclose(
        found.estimated,
        [(1600 + PRIOR_DOCUMENTS / 2) / n, (400 + PRIOR_DOCUMENTS / 2) / n],
        atol=1e-9,
    )
    np.testing.assert_allclose(found.errors, MIN_ERROR)
    assert np.abs(found.used - true).max() < SHRINKAGE * MIN_ERROR + 0.005
    low, high = found.intervals().T
    assert ((low < true) & (high > true)).all()
    _, likely = draw_probabilities(true, HALF, 2000, 2.5)
    assert np.abs(estimate_shares(likely, codes_of([1000, 1000]), 0.1).used - true).max() < 0.06


def test_of_a_difference_counts_what_exceeds_its_error():
    source, errors = [0.2, 0.3, 0.5], [0.1, 0.04, 0.05]
    for limits in ([1.0, 1.0, 1.0], [0.3, 0.3, 0.6]):
        for estimated in (
            [0.25, 0.28, 0.47],
            [0.35, 0.3, 0.35],
            [0.1, 0.1, 0.8],
            [0.9, 0.05, 0.05],
        ):
            found = shrink(*map(np.array, (estimated, source, errors, limits)))
            np.testing.assert_allclose(
                found, naive_best.shrink(estimated, source, errors, limits), atol=1e-12
            )
    assert shrink(
        np.array(source), np.array(source), np.zeros(3), np.ones(3)
    ).tolist() == pytest.approx(source)
    assert shrink(np.array([0.9, 0.1]), HALF, np.zeros(2), ALL).tolist() == pytest.approx(
        [0.9, 0.1]
    )
    moved = np.array([0.7, 0.3])
    assert shrink(moved, HALF, np.full(2, 0.21 / SHRINKAGE), ALL).tolist() == [0.5, 0.5]
    assert shrink(moved, HALF, np.full(2, 0.15 / SHRINKAGE), ALL).tolist() == pytest.approx(
        [0.55, 0.45]
    )
    unsure = [
        shrink(np.array([0.9, 0.1]), HALF, np.full(2, error), ALL)[0]
        for error in (0.0, 0.2, 1.0, 9.0)
    ]
    assert unsure == sorted(unsure, reverse=True)
    assert unsure[-1] == 0.5


def test_an_uncertain_class_of_three_is_capped_by_its_share_of_the_unadapted_labels():
    _, probabilities = draw_probabilities([0.8, 0.1, 0.1], np.full(3, 1 / 3), 600, 3.0)
    codes, unadapted, far = codes_of([500] * 3), np.array([0.34, 0.33, 0.33]), 1.4
    free, limited = (estimate_shares(probabilities, codes, far, one) for one in (None, unadapted))
    assert (free.errors > GUARDED_ERROR).all()
    assert free.limits.tolist() == [1, 1, 1]
    assert limited.estimated.tolist() == free.estimated.tolist()
    np.testing.assert_allclose(limited.limits, [0.34, 1 / 3, 1 / 3])  # none is below the source's
    assert limited.used[0] < free.used[0] - 0.05
    again = revise_shares(probabilities, limited)
    assert again.limits.tolist() == limited.limits.tolist()
    known = estimate_shares(probabilities, codes, 0.0, unadapted)
    assert known.limits.tolist() == [1, 1, 1]  # clear evidence may move a class as far as it will
    assert known.used[0] > 0.7
    both = estimate_shares(
        probabilities[:, :2] / probabilities[:, :2].sum(axis=1, keepdims=True),
        codes[:1000],
        far,
        HALF,
    )
    assert both.limits.tolist() == [1, 1]  # of two classes neither gathers what the other has lost


@pytest.mark.parametrize(
    ("one", "other"), [([0.9, 0.1], [0.6, 0.4]), ([0.6, 0.4], [0.9, 0.1]), ([0.1, 0.9], [0.9, 0.1])]
)
def test_a_second_estimate_can_draw_shares_back_half_of_the_way(one, other):
    codes, before = codes_of([300, 500]), np.array([0.375, 0.625])
    probabilities = [draw_probabilities(shares, before, 400, 2.0)[1] for shares in (one, other)]
    first, alone = (estimate_shares(drawn, codes, 0.3) for drawn in probabilities)
    both = revise_shares(probabilities[1], first)
    expected = naive_best.estimate_again(
        alone.estimated.tolist(), first.estimated.tolist(), before.tolist()
    )
    np.testing.assert_allclose(both.estimated, expected, atol=1e-12)
    np.testing.assert_allclose(both.errors, first.errors)
    np.testing.assert_allclose(both.used, shrink(both.estimated, before, first.errors, ALL))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_class_that_the_target_lacks_gets_nearly_nothing(n_classes):
    true = np.append(np.full(n_classes - 1, 1 / (n_classes - 1)), 0.0)
    before = np.full(n_classes, 1 / n_classes)
    _, probabilities = draw_probabilities(true, before, 2000, 3.0)
    found = estimate_shares(probabilities, codes_of([1000] * n_classes), 0.0)
    assert found.estimated[-1] < 0.01
    assert found.used[-1] < 0.02 + SHRINKAGE * found.errors[-1]
    assert found.used[-1] < 0.2 * before[-1]
    assert found.intervals()[-1, 0] == 0
    assert found.intervals()[-1, 1] < 0.2


def test_eleven_classes():
    """For shares that differ by 0.21 or 0.92 in all, labels are no worse than by the source's."""
    before = np.full(11, 1 / 11)
    little = before + np.array([0.045, 0.03, 0.03, 0, 0, 0, 0, 0, -0.035, -0.035, -0.035])
    much = np.array([0.55, *[0.045] * 10])
    assert [np.abs(true - before).sum() for true in (little, much)] == pytest.approx(
        [0.21, 2 * (0.55 - 1 / 11)]
    )
    for true, most in ((little, 1.0), (much, 0.6)):
        codes, probabilities = draw_probabilities(true, before, 3000, 2.8)
        found = estimate_shares(probabilities, codes_of([300] * 11), 0.2)
        np.testing.assert_allclose(found.estimated, true, atol=0.08)
        assert np.abs(found.used - true).sum() <= most * np.abs(before - true).sum() + 1e-9
        right = np.mean(probabilities.argmax(axis=1) == codes)
        assert (
            np.mean(with_shares(probabilities, before, found.used).argmax(axis=1) == codes)
            > right - 0.005
        )


def test_what_makes_shares_timid():
    """Drift, few documents of a class and uninformative probabilities all shrink the estimate."""
    codes, probabilities = draw_probabilities([0.9, 0.1], HALF, 1000, 2.0)
    enough = codes_of([500, 500])
    clear = np.where(codes[:, None] == np.arange(2), 0.99, 0.01)
    by_drift = [
        estimate_shares(probabilities, enough, drift) for drift in (0.0, 0.5, 1.0, MAX_DRIFT)
    ]
    by_source = [estimate_shares(probabilities, codes_of([n, n]), 0.0) for n in (1000, 100, 10, 1)]
    by_doubt = [
        estimate_shares(one, enough, 0.0)
        for one in (clear, probabilities, 0.5 + (probabilities - 0.5) / 3)
    ]
    for found in (by_drift, by_source, by_doubt):
        moved, errors = [one.used[0] - 0.5 for one in found], [one.errors[0] for one in found]
        assert moved == sorted(moved, reverse=True)
        assert moved[0] > moved[-1] + 0.05
        assert errors == sorted(errors)
        assert errors[0] < errors[-1]
    assert (
        by_drift[-1].used.tolist() == estimate_shares(probabilities, enough, 99.0).used.tolist()
    )  # more is all the same


@given(st.integers(2, 5), st.integers(0, 10**6))
def test_counts_of_random_labels_and_an_estimate_are_weighed_by_their_variances(n_classes, seed):
    rng = np.random.default_rng(seed)
    source, used = rng.dirichlet(np.ones(n_classes), 2)
    counts, errors = (
        rng.integers(0, 30, n_classes) + 1.0 * (np.arange(n_classes) == 0),
        rng.uniform(0.03, 0.6, n_classes),
    )
    found = count_labels(ClassProportions(source, used, used, errors, np.ones(n_classes)), counts)
    n, expected = counts.sum(), []
    for count, share, before, error, now in zip(
        counts, used, source, errors, found.errors, strict=True
    ):
        drawn = (count + before) / (n + 1)
        by_counts, by_estimate = 1 / (drawn * (1 - drawn) / n), 1 / error**2
        expected.append((by_counts * count / n + by_estimate * share) / (by_counts + by_estimate))
        assert now == pytest.approx(1 / sqrt(by_counts + by_estimate))
    np.testing.assert_allclose(
        found.used, np.array(expected) / sum(expected), rtol=1e-9, atol=1e-12
    )
    assert found.estimated.tolist() == used.tolist()


def test_no_documents_have_the_shares_of_the_source():
    assert estimate_shares(np.empty((0, 2)), codes_of([40, 60]), 0.5).used.tolist() == [0.4, 0.6]


def test_intervals_are_of_shares():
    shares = ClassProportions(HALF, HALF, np.array([0.99, 0.01]), np.array([0.1, 0.1]), ALL)
    np.testing.assert_allclose(shares.intervals(), [[0.99 - 0.196, 1], [0, 0.01 + 0.196]])
    told = ClassProportions.given(HALF, np.array([0.3, 0.7]))
    assert told.intervals().tolist() == [[0.3, 0.3], [0.7, 0.7]]
    assert told.source.tolist() == [0.5, 0.5]


def test_logits_by_hand():
    logits = Logits(2.0, np.array([0.5, -0.5, 0.0]))
    scores = np.array([[0.1, 0.2, -0.3], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    shares = ClassProportions.given(np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.4, 0.0]))
    for score, plain, moved in zip(
        scores, logits.probabilities(scores), logits.log_probabilities(scores, shares), strict=True
    ):
        parts = [exp(2 * s + offset) for s, offset in zip(score, (0.5, -0.5, 0.0), strict=True)]
        np.testing.assert_allclose(plain, [part / sum(parts) for part in parts])
        np.testing.assert_allclose(
            with_shares(plain[None], shares.source, shares.used)[0], np.exp(moved), atol=1e-12
        )
    assert np.isfinite(
        logits.log_probabilities(scores, shares)
    ).all()  # though a class has no share


@pytest.mark.parametrize(
    ("shares", "size"),
    [
        ([0.5, 0.5], 0.0),
        ([0.95, 0.05], 2.0),
        ([0.2, 0.3, 0.5], 0.1),
        ([0.6, 0.4, 0.0], 2.0),
        ([1 / 11] * 11, 10.0),
    ],
)
def test_classes_get_shares_on_average(shares, size):
    """Which documents is left to them: only what is added to all documents of a class is found."""
    logits = size * RNG.normal(size=(200, len(shares))) + np.arange(len(shares))
    offsets = meet_shares(logits, np.array(shares))
    assert offsets.sum() == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(softmax(logits, 1.0, offsets).mean(axis=0), shares, atol=2e-6)
    np.testing.assert_allclose(offsets, naive_best.meet(logits.tolist(), shares), atol=1e-9)


def naive_drift(having, totals):
    """Of n-grams that both domains have in five documents at least, and in one of 200."""
    ratios, variances = [], []
    for first, second in zip(*having, strict=True):
        if all(
            n >= 5 and n >= 0.005 * total for n, total in zip((first, second), totals, strict=True)
        ):
            ratios.append(
                log((second + 0.5) / (totals[1] + 1)) - log((first + 0.5) / (totals[0] + 1))
            )
            variances.append(1 / (first + 0.5) + 1 / (second + 0.5))
    if not ratios:
        return MAX_DRIFT
    away = [abs(ratio - naive_best.middle(ratios)) for ratio in ratios]
    return sqrt(max(0.0, (1.4826 * naive_best.middle(away)) ** 2 - naive_best.middle(variances)))


@pytest.mark.parametrize("totals", [(100, 100), (30, 2000), (5000, 400)])
def test_drift_is_that_of_loops(totals):
    often = RNG.uniform(0, 0.2, 400)
    having = np.stack(
        [
            RNG.binomial(totals[0], often),
            RNG.binomial(totals[1], np.minimum(1, often * RNG.lognormal(0, 0.7, 400))),
        ]
    )
    found = measure_drift(*frequency_ratios(having, np.array(totals)))
    assert found == pytest.approx(naive_drift(having.tolist(), totals), abs=1e-12)


def test_drift_of_frequencies():
    counts = np.arange(5, 105)
    equal = frequency_ratios(np.stack([counts, counts]), np.array([200, 200]))
    assert equal[0].tolist() == [0.0] * 100
    assert measure_drift(*equal) == 0
    often = RNG.uniform(0.01, 0.3, 4000)
    drawn = np.stack(
        [RNG.binomial(2000, often), RNG.binomial(2000, often)]
    )  # the same frequencies, and chance
    assert measure_drift(*frequency_ratios(drawn, np.array([2000, 2000]))) < 0.1
    apart = RNG.binomial(2000, np.minimum(1, often * RNG.lognormal(0.0, 0.5, 4000)))
    assert measure_drift(
        *frequency_ratios(np.stack([drawn[0], apart]), np.array([2000, 2000]))
    ) == pytest.approx(0.5, abs=0.05)
    assert measure_drift(np.zeros(0), np.zeros(0)) == MAX_DRIFT  # nothing is known


def test_topics_do_not_decide_on_the_drift():
    often = RNG.uniform(0.05, 0.3, 1000)
    having = np.stack([RNG.binomial(2000, often), RNG.binomial(2000, often)])
    having[1, :200] = 30  # these words are of the other topic
    assert measure_drift(*frequency_ratios(having, np.array([2000, 2000]))) < 0.2


def test_rare_ngrams_tell_nothing_of_a_domain():
    having = np.array([[4, 5, 50, 9, 10], [50, 5, 4, 50, 50]])
    ratios, variances = frequency_ratios(having, np.array([2000, 800]))  # at least 10 and 5
    assert ratios.tolist() == pytest.approx([log(50.5 / 801) - log(10.5 / 2001)])
    assert variances.tolist() == pytest.approx([1 / 10.5 + 1 / 50.5])
