"""The declarations of arrays in model files: each accepts what it should and nothing else."""

import numpy as np
import pytest

from gramshift.model.model_schema import Array, check_names


@pytest.mark.parametrize(
    ("array", "good", "bad", "message"),
    [
        (Array("<f8", ("n", 2)), np.zeros((3, 2)), np.zeros((4, 2)), r"\(4, 2\) where \(3, 2\)"),
        (Array("<f8", ("n",)), np.zeros(3), np.zeros((3, 1)), r"\(3, 1\) where \(3,\)"),
        (Array("<i8", ("n",)), np.zeros(3, int), np.zeros(3), "type float64 instead of <i8"),
        (Array("<f8", ("n",)), np.zeros(3), np.array([0, np.nan, 0]), "from nan to nan"),
        (Array("<f8", ("n",)), np.full(3, 1e60), np.full(3, 1.1e60), "from -1e.60 to 1e.60"),
        (Array("<i8", ("n",), low=0, below="n"), np.arange(3), np.arange(3) + 1, "from 0 to 2"),
        (
            Array("<i8", ("n",), low=0, high="n", is_ends=True),
            np.array([1, 1, 3]),
            np.array([1, 1, 2]),
            "does not end where",
        ),
        (
            Array("<i8", ("n",), low=0, high="n", is_ends=True),
            np.array([0, 3, 3]),
            np.array([2, 1, 3]),
            "not in order",
        ),
    ],
)
def test_each_declaration_accepts_what_it_should_and_nothing_else(array, good, bad, message):
    array.check("x", good, {"n": 3})
    with pytest.raises(ValueError, match=message):
        array.check("x", bad, {"n": 3})


def test_the_first_array_defines_a_size():
    array = Array("<f8", ("some",))
    array.check("x", np.zeros(2), sizes := {})
    assert sizes == {"some": 2}
    with pytest.raises(ValueError, match=r"y has shape \(3,\) where \(2,\) fits"):
        array.check("y", np.zeros(3), sizes)


def test_missing_and_unknown_names_are_errors():
    with pytest.raises(ValueError, match="it lacks 'b'"):
        check_names("it", ["a", "b"], ["a"])
    with pytest.raises(ValueError, match="it holds 'c', which is unknown"):
        check_names("it", ["a"], ["a", "c"])
