import numpy as np
import pandas as pd
import pytest

from gramshift.model.inputs import as_labels, encode_labels, is_missing


@pytest.mark.parametrize("label", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_gaps(label):
    assert is_missing(label)


@pytest.mark.parametrize("label", [-1, 0, "", "nan", False, 0.0])
def test_labels_like_any_other(label):
    assert not is_missing(label)


def test_classes_are_sorted_and_keep_their_type():
    classes, codes = encode_labels(["b", "a", "b"])
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    assert encode_labels([2, -1, 2])[0].tolist() == [-1, 2]


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "y is None"),
        ("ab", TypeError, "y is a single str"),
        (np.zeros((2, 2)), ValueError, r"y has shape \(2, 2\)"),
        (["a"], ValueError, "y has 1 labels for 2 documents"),
    ],
)
def test_wrong_labels(y, error, message):
    with pytest.raises(error, match=message):
        as_labels(y, n_documents=2)
