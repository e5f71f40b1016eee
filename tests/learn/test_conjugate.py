import numpy as np
import pytest

from gramshift.learn.conjugate import conjugate_gradients

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(30, 30))
MATRIX = FEATURES @ FEATURES.T + np.eye(30)
RIGHT = np.column_stack([RNG.normal(size=(30, 2)), np.zeros(30)])


@pytest.mark.parametrize("apart", [np.zeros((30, 0)), np.ones((30, 1)), RNG.normal(size=(30, 3))])
def test_it_solves(apart):
    x = conjugate_gradients(
        lambda v: MATRIX @ v, np.copy, RIGHT, apart=apart, tolerance=1e-10, limit=100
    )
    np.testing.assert_allclose(x, np.linalg.solve(MATRIX, RIGHT), atol=1e-9)


def test_a_good_inverse_needs_one_step():
    inverse, calls = np.linalg.inv(MATRIX), []

    def multiply(vectors):
        calls.append(1)
        return MATRIX @ vectors

    assert (
        conjugate_gradients(
            multiply, lambda v: inverse @ v, RIGHT, apart=RIGHT[:, :0], tolerance=1e-9, limit=5
        )
        is not None
    )
    assert len(calls) == 1


def test_it_gives_up():
    assert (
        conjugate_gradients(
            lambda v: MATRIX @ v, np.copy, RIGHT, apart=RIGHT[:, :0], tolerance=1e-12, limit=2
        )
        is None
    )
