import numpy as np
import pytest

from gramshift.kernels.registry import check_ngram_range


@pytest.mark.parametrize("value", [(5, 8), [1, 1], (np.int64(2), np.int32(30)), np.array([3, 4])])
def test_whole_numbers_in_order_pass(value):
    lo, hi = check_ngram_range(value)
    assert (lo, hi) == tuple(value)
    assert type(lo) is type(hi) is int


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ((8, 5), ValueError, r"\(8, 5\).*did you mean \(5, 8\)\?"),
        ((0, 3), ValueError, r"\(0, 3\): give two whole numbers .* 1 <= lo <= hi"),
        ((-2, 3), ValueError, "1 <= lo <= hi"),
        ((5.0, 8), TypeError, r"did you mean \(5, 8\)\?"),
        ((1.5, 8), TypeError, r"two whole numbers .* for example \(5, 8\)$"),
        (("5", "8"), TypeError, "two whole numbers"),
        ((True, 3), TypeError, "two whole numbers"),
        (5, ValueError, r"for one length only: \(5, 5\)"),
        ((1, 2, 3), ValueError, "two whole numbers"),
        (None, ValueError, "ngram_range=None"),
        ("58", TypeError, "ngram_range='58'"),
    ],
)
def test_anything_else_is_refused_with_what_to_type(value, error, message):
    with pytest.raises(error, match=message):
        check_ngram_range(value)
