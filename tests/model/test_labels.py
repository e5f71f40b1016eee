import tracemalloc

import numpy as np
import pandas as pd
import pytest

from gramshift.model.labels import as_labels, encode_labels, is_missing, weigh_documents


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
        (["a"], ValueError, "y has 1 label for 2 documents"),
    ],
)
def test_wrong_labels(y, error, message):
    with pytest.raises(error, match=message):
        as_labels(y, n_documents=2)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([np.str_("b"), "a", "b"], ["a", "b"]),
        ([np.bytes_(b"b"), b"a"], [b"a", b"b"]),
        ([np.bool_(True), False], [False, True]),
        ([2**53 + 1, 2**53, 2**53 + 1], [2**53, 2**53 + 1]),
        ([np.uint64(5), -3, np.uint64(2**53 + 1)], [-3, 5, 2**53 + 1]),
        ([np.int8(3), np.uint64(2**63 - 1)], [3, 2**63 - 1]),
        ([1, 2.0, np.float32(3)], [1.0, 2.0, 3.0]),
        (["", "\ud800", "😀", "é", "e"], ["", "e", "é", "\ud800", "😀"]),
    ],
)
def test_classes_are_what_labels_were(labels, classes):
    found, codes = encode_labels(labels)
    assert found.tolist() == classes
    assert [type(label) for label in found.tolist()] == [type(label) for label in classes]
    assert [classes[code] for code in codes] == labels


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (
            [2**53 + 1, 2.0],
            ValueError,
            f"y has the label {2**53 + 1} among floats, which cannot hold it",
        ),
        (
            [np.uint64(2**63 + 1), 5],
            ValueError,
            f"y has the label {2**63 + 1}, which has more than 64 bits",
        ),
        ([True, 1, 2], TypeError, r"y mixes labels of different types \(True, 1\)"),
        ([1, True, 2], TypeError, r"y mixes labels of different types \(True, 1\)"),
        (
            [np.longdouble(1), np.longdouble(2)],
            TypeError,
            r"\(longdouble\); labels are str, numbers of up to 64 bits or bool",
        ),
        ([1j, 2], TypeError, r"y has the label 1j \(complex\)"),
        ([np.complex64(1), 2], TypeError, r"\(complex64\)"),
        ([np.timedelta64(1, "s"), np.timedelta64(2, "s")], TypeError, r"\(timedelta64\)"),
        ([["a"], "b"], TypeError, r"y has the label \['a'\] \(list\)"),
        ([0.5, 1.0], ValueError, "y is continuous, it has 0.5"),
    ],
)
def test_what_cannot_be_classes(labels, error, message):
    with pytest.raises(error, match=message):
        encode_labels(labels)


def test_one_long_label_takes_no_room_in_every_row():
    """An array of all labels would have 8 GB."""
    labels = ["x" * 1000, *["p", "n"] * 1_000_000]
    tracemalloc.start()
    classes, codes = encode_labels(labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(classes), len(codes)) == (3, 2_000_001)
    assert peak < 50_000_000


def test_a_text_in_place_of_a_label_is_refused_with_its_row():
    labels = ["p", None, "x" * 1000, "n"]
    assert as_labels(labels, n_documents=4) == labels
    with pytest.raises(
        ValueError,
        match=r"y\[2\] has 1001 characters, 'x{40}' ...; a label has 1000 at most: is this the",
    ):
        as_labels(["p", None, "x" * 1001, "n"], n_documents=4)


def test_weights_of_classes_are_counted_once():
    """Of 20,000 labels, which took minutes when they were counted for each of them."""
    labels = ["p", "n", "n", "n"] * 5000
    weights = weigh_documents(labels, np.ones(20_000, bool), None, "balanced")
    assert weights[:2].tolist() == pytest.approx([2.0, 2 / 3])
