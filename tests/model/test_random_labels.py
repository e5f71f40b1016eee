"""Labels of target documents drawn at random: they set class proportions, measure the accuracy, and
are learnt from.
"""

from functools import cache
from math import exp, log

import numpy as np
import pandas as pd
import pytest

import gramshift as gs
from gramshift.errors import InputError
from gramshift.learn.calibrate import EDGE, N_GRID, NINE_OF_TEN, Expected, measure_accuracy
from gramshift.model.inputs import MIN_RANDOM_LABELS
from small_demo import load_demo

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
X, Y = KITCHEN.texts[:80], KITCHEN.labels[:80]
KEPT = [
    row for row, label in enumerate(FILMS.labels) if label == "positive" or row % 4 == 1
]  # most are positive
TARGET, TRUTH = [FILMS.texts[row] for row in KEPT], np.array([FILMS.labels[row] for row in KEPT])
N = len(TARGET)
ROWS = np.sort(np.random.default_rng(1).choice(N, 40, replace=False))
OTHER = {"negative": "positive", "positive": "negative"}
PRIOR = {"negative": 0.25, "positive": 0.75}


def give(rows=ROWS, labels=TRUTH, n=N):
    """One for each of n target documents: those of these rows, None for all others."""
    chosen = set(np.asarray(rows).tolist())
    return [labels[row] if row in chosen else None for row in range(n)]


@cache
def fit(preset="best", labels=None, **options):
    """``labels`` are random labels, as a tuple."""
    clf = gs.TransductiveClassifier(preset=preset, ngram_range=(3, 5), **dict(options))
    return clf.fit(X, Y, target=TARGET, random_labels=None if labels is None else list(labels))


GIVEN = tuple(give())
FLIPPED = tuple(label and OTHER[label] for label in GIVEN)


@pytest.mark.parametrize("preset", ["best", "paper"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            give()[1:],
            f"random_labels has {N - 1} labels for {N} target documents; give one for each",
        ),
        ([*give(), "positive"], f"random_labels has {N + 1} labels for {N} target documents"),
        (
            give(ROWS[: MIN_RANDOM_LABELS - 1]),
            f"random_labels has {MIN_RANDOM_LABELS - 1} labels, fewer than {MIN_RANDOM_LABELS}:"
            " label more of them, or give these as corrections=",
        ),
        ([None] * N, "random_labels has 0 labels, fewer than"),
        (
            ["mixed", *give()[1:]],
            "the label 'mixed', which is not a class of the source: negative, positive",
        ),
    ],
)
def test_random_labels_that_cannot_be(preset, labels, message):
    with pytest.raises(InputError, match=message):
        fit(preset, tuple(labels))


def test_as_few_random_labels_as_allowed_are_enough():
    clf = fit("best", tuple(give(ROWS[:MIN_RANDOM_LABELS])))
    assert (
        clf.transduction_[ROWS[:MIN_RANDOM_LABELS]].tolist()
        == TRUTH[ROWS[:MIN_RANDOM_LABELS]].tolist()
    )


@pytest.mark.parametrize("preset", ["best", "paper"])
@pytest.mark.parametrize("labels", [GIVEN, FLIPPED], ids=["right", "wrong"])
def test_documents_keep_the_labels_that_a_person_gave(preset, labels):
    clf = fit(preset, labels)
    codes = [clf.classes_.tolist().index(labels[row]) for row in ROWS]
    assert clf.transduction_[ROWS].tolist() == [labels[row] for row in ROWS]
    assert (clf.transduction_proba_[ROWS, codes] > 1 - 1e-6).all()
    np.testing.assert_allclose(clf.transduction_proba_.sum(axis=1), 1)
    assert (clf.labeled_iter_[len(X) + ROWS] == 1).all()
    assert clf.predict([TARGET[row] for row in ROWS]).tolist() == [labels[row] for row in ROWS]
    added = [sum(step["added"].values()) for step in clf.history_]
    assert max(added) <= N - len(ROWS)  # which never join as pseudo-labels too


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_random_labels_are_learnt_from(preset):
    """Labels that are all wrong make more other labels wrong than right ones do."""
    others = np.setdiff1d(np.arange(N), ROWS)
    right, wrong = (
        np.mean(fit(preset, one).transduction_[others] == TRUTH[others]) for one in (GIVEN, FLIPPED)
    )
    assert right > wrong + 0.1


def test_proportions_lie_between_the_counts_and_the_estimate():
    without, clf = fit(), fit("best", GIVEN)
    for label, one in clf.class_prior_.items():
        counted, before = float(np.mean(TRUTH[ROWS] == label)), without.class_prior_[label]
        assert abs(counted - before["used"]) > 0.05  # else nothing is tested
        assert min(counted, before["used"]) < one["used"] < max(counted, before["used"])
        assert one["high"] - one["low"] < before["high"] - before["low"]
        assert one["low"] < one["used"] < one["high"]
        assert one["source"] == before["source"]
    assert sum(one["used"] for one in clf.class_prior_.values()) == pytest.approx(1)
    few = fit("best", tuple(give(ROWS[::4])))
    assert all(
        clf.class_prior_[one]["high"] - clf.class_prior_[one]["low"]
        < few.class_prior_[one]["high"] - few.class_prior_[one]["low"]
        for one in OTHER
    )


def test_proportions_that_are_given_are_not_counted_again():
    clf = gs.TransductiveClassifier(ngram_range=(3, 5), class_prior=PRIOR).fit(
        X, Y, target=TARGET, random_labels=list(GIVEN)
    )
    assert {label: one["used"] for label, one in clf.class_prior_.items()} == PRIOR


def test_labels_by_hand_do_not_count_as_agreement():
    """A person has given them: they say nothing of adapting."""
    clf = fit(labels=GIVEN)
    others = np.setdiff1d(np.arange(N), ROWS)
    same = np.mean(clf.transduction_[others] == clf.reference_transduction_[others])
    found = clf.diagnostics_["agreement with unadapted"]
    assert found["value"] == pytest.approx(same, abs=1e-4)
    assert f" of {N - 40}) match" in found["sentence"]


def naive_accuracy(expected, n_right, n_wrong):
    """The mean and the 5th and 95th of 100 of the posterior, over a grid of accuracies."""

    def logit(share):
        share = min(max(share, EDGE), 1 - EDGE)
        return log(share / (1 - share))

    grid = [(place + 0.5) / N_GRID for place in range(N_GRID)]
    weights = []
    for share in grid:
        weight = n_right * log(share) + n_wrong * log(1 - share)
        if expected is not None:
            spread = max((logit(expected.high) - logit(expected.low)) / (2 * NINE_OF_TEN), EDGE)
            away = (log(share / (1 - share)) - logit(expected.value)) / spread
            weight += (
                -(away**2) / 2 - log(share) - log(1 - share)
            )  # the density of a share, not of its logit
        weights.append(weight)
    weights = [exp(weight - max(weights)) for weight in weights]
    total, so_far, found = sum(weights), 0.0, []
    for share, weight in zip(grid, weights, strict=True):
        so_far += weight / total
        found += [share] * (so_far >= (0.05, 0.95, 2)[len(found)])
    return [
        sum(share * weight for share, weight in zip(grid, weights, strict=True)) / total,
        *found,
    ]


@pytest.mark.parametrize(
    "expected", [None, Expected(0.8, 0.6, 0.9), Expected(0.97, 0.9, 0.999), Expected(0.5, 0.5, 0.5)]
)
@pytest.mark.parametrize(("n_right", "n_wrong"), [(10, 0), (0, 10), (31, 9), (800, 200)])
def test_measured_accuracies_are_those_of_a_grid(expected, n_right, n_wrong):
    found = measure_accuracy(expected, np.arange(n_right + n_wrong) < n_right)
    mean, low, high = naive_accuracy(expected, n_right, n_wrong)
    assert found.value == pytest.approx(mean, abs=1e-9)
    assert (found.low, found.high) == (
        pytest.approx(low, abs=1.1 / N_GRID),
        pytest.approx(high, abs=1.1 / N_GRID),
    )
    assert found.low < found.value < found.high


def test_an_accuracy_without_a_prior_is_that_of_a_beta_distribution():
    assert measure_accuracy(None, np.arange(40) < 31).value == pytest.approx(32 / 42, abs=1e-5)


@pytest.mark.parametrize("labels", [GIVEN, FLIPPED], ids=["right", "wrong"])
def test_the_measured_accuracy_is_that_of_a_fit_without_random_labels(labels):
    """With proportions that are given the fit that measures is the fit without these labels."""
    alone = gs.TransductiveClassifier(ngram_range=(3, 5), class_prior=PRIOR).fit(
        X, Y, target=TARGET
    )
    right = np.array([alone.transduction_[row] == labels[row] for row in ROWS])
    clf = gs.TransductiveClassifier(ngram_range=(3, 5), class_prior=PRIOR).fit(
        X, Y, target=TARGET, random_labels=list(labels)
    )
    assert clf.expected_accuracy_ == vars(
        measure_accuracy(Expected(**alone.expected_accuracy_), right)
    )
    assert clf.unadapted_transduction_.tolist() == alone.unadapted_transduction_.tolist()
    plain = fit("paper")
    right = np.array([plain.transduction_[row] == labels[row] for row in ROWS])
    assert fit("paper", labels).expected_accuracy_ == vars(measure_accuracy(None, right))
    assert plain.expected_accuracy_ is None


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_labels_that_are_wrong_at_random_lower_the_measured_accuracy(preset):
    chance, labels = np.random.default_rng(2), list(GIVEN)
    for row in chance.choice(ROWS, 20, replace=False):
        labels[row] = OTHER[labels[row]]
    right, half = (fit(preset, tuple(one)).expected_accuracy_ for one in (GIVEN, labels))
    assert right["value"] > half["value"] + 0.1
    assert (
        half["low"] < 0.5 < half["high"]
    )  # half of the labels are wrong: nothing agrees with them but by chance


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_rows_of_numbers_have_random_labels_too(preset):
    chance = np.random.default_rng(3)
    centres, codes = chance.normal(size=(2, 8)), np.arange(140) % 2
    points = centres[codes] + chance.normal(scale=0.7, size=(140, 8))
    labels = np.where(np.arange(60) < 20, codes[80:], np.nan)  # NaN for those that are not known
    clf = gs.TransductiveClassifier(preset=preset, kernel="rows").fit(
        points[:80], codes[:80], target=points[80:], random_labels=labels
    )
    assert clf.transduction_[:20].tolist() == codes[80:100].tolist()
    assert (clf.transduction_proba_[:20].max(axis=1) > 1 - 1e-6).all()
    assert np.mean(clf.transduction_ == codes[80:]) > 0.8
    assert clf.expected_accuracy_["value"] > 0.7
    assert (clf.class_prior_ is None) == (preset == "paper")


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_saved_models_keep_labels_that_a_person_gave(preset, tmp_path):
    clf = fit(preset, GIVEN)
    clf.save(tmp_path / "m")
    again = gs.load(tmp_path / "m")
    assert again.transduction_.tolist() == clf.transduction_.tolist()
    np.testing.assert_array_equal(again.transduction_proba_, clf.transduction_proba_)
    assert again.labeled_iter_.tolist() == clf.labeled_iter_.tolist()
    assert again.expected_accuracy_ == clf.expected_accuracy_
    assert again.class_prior_ == clf.class_prior_
    assert again.predict(TARGET).tolist() == clf.transduction_.tolist()


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_another_order_of_the_target_gives_the_same_result(preset):
    order = np.random.default_rng(4).permutation(N)
    clf = gs.TransductiveClassifier(preset=preset, ngram_range=(3, 5))
    clf.fit(
        X, Y, target=[TARGET[row] for row in order], random_labels=[GIVEN[row] for row in order]
    )
    back, expected = np.argsort(order), fit(preset, GIVEN)
    assert clf.transduction_[back].tolist() == expected.transduction_.tolist()
    np.testing.assert_allclose(
        clf.transduction_proba_[back], expected.transduction_proba_, rtol=0, atol=1e-6
    )
    assert clf.expected_accuracy_ == pytest.approx(expected.expected_accuracy_, abs=1e-6)


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_random_labels_belong_to_all_target_documents_that_are_wanted(preset):
    """Those of X that have no label come first; more unlabelled documents have none; those without
    evidence may have one.
    """
    target, labels = [" ", "", *TARGET[40:]], [None, "negative", *GIVEN[40:]]
    clf = gs.TransductiveClassifier(preset=preset, ngram_range=(3, 5))
    given = pd.Series([*GIVEN[:40], *labels])
    clf.fit(
        [*TARGET[:40], *X],
        [*[None] * 40, *Y],
        target=target,
        unlabelled=FILMS.texts[:9],
        random_labels=given,
    )
    whole = [*GIVEN[:40], *labels]
    assert [one for one, label in zip(clf.transduction_, whole, strict=True) if label] == [
        label for label in whole if label
    ]
    assert clf.transduction_[41] == "negative"


def test_the_next_sample_has_the_least_certain_of_all_other_documents():
    clf = fit("best", GIVEN)
    left = np.flatnonzero([label is None for label in GIVEN])
    confidence = clf.transduction_proba_.max(axis=1)
    chosen = clf.sample(1)
    assert chosen.tolist() == [left[confidence[left].argmin()]]
    for n in range(2, 7):
        assert not set(clf.sample(n).tolist()) - set(left.tolist())
