"""Mean confidence equals the expected accuracy, which a regression gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramshift.learn.calibrate import (
    INTERCEPT,
    WEIGHTS,
    expect_accuracy,
    find_temper,
    softmax,
)


def draw(n, n_classes, seed, size=2.0):
    return np.random.default_rng(seed).normal(size=(n, n_classes)) * size


@given(st.floats(0.55, 0.95), st.integers(0, 100))
def test_documents_are_as_sure_as_they_are_right(accuracy, seed):
    logits = draw(80, 2, seed)
    temper = find_temper(logits, accuracy)
    assert abs(softmax(logits, temper).max(axis=1).mean() - accuracy) < 1e-4


def test_what_no_temper_reaches_gets_the_nearest():
    same = np.zeros((10, 2))
    assert softmax(same, find_temper(same, 0.9)).max() == 0.5
    assert find_temper(draw(10, 2, 0), 0.1) < 0.1


def test_the_expected_accuracy_is_the_regression_by_hand():
    likely, plain = softmax(draw(40, 2, 1), 1.0), softmax(draw(40, 2, 2), 1.0)
    shares = {
        "confidence": np.mean([max(row) for row in likely]),
        "agreement": np.mean(
            [np.argmax(a) == np.argmax(b) for a, b in zip(likely, plain, strict=True)]
        ),
        "first": np.mean([max(row) for row in plain]),
        "source": 0.8,
    }
    logit = INTERCEPT + sum(
        WEIGHTS[name] * np.log(share / (1 - share)) for name, share in shares.items()
    )
    found = expect_accuracy(likely, plain, 0.8)
    assert found.value == pytest.approx(max(0.5, 1 / (1 + np.exp(-logit))))
    assert found.low <= found.value <= found.high <= 1


def test_more_documents_narrow_the_interval_and_nothing_is_below_chance():
    unsure = np.full((400, 4), 0.25)
    found = expect_accuracy(unsure, unsure, 0.7)
    assert found.value == 0.25
    few = expect_accuracy(softmax(draw(20, 2, 3), 1.0), softmax(draw(20, 2, 3), 1.0), 0.9)
    many = expect_accuracy(
        np.tile(softmax(draw(20, 2, 3), 1.0), (50, 1)),
        np.tile(softmax(draw(20, 2, 3), 1.0), (50, 1)),
        0.9,
    )
    assert many.value == pytest.approx(few.value)
    assert many.high - many.low < few.high - few.low
