"""How much a word tells of a class, or of a domain."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mutual_information(present: Any, codes: NDArray[np.intp], *, absence: bool = True) -> Floats:
    """Of each column, 1 where a word occurs, with the classes of the rows; in bits.

    Without ``absence`` only the terms of documents that have the word are added up.
    """
    n_rows = present.shape[0]
    of_class = np.bincount(codes)
    joint = np.vstack([np.asarray(present[codes == code].sum(axis=0)).ravel() for code in range(len(of_class))])
    result = _terms(joint, of_class, n_rows)
    return result + _terms(of_class[:, None] - joint, of_class, n_rows) if absence else result


def _terms(joint: Floats, of_class: NDArray[np.intp], n_rows: int) -> Floats:
    """The sum over classes of p(x, c) log2 p(x, c) / (p(x) p(c)), for one value of x."""
    expected = joint.sum(axis=0) * of_class[:, None] / n_rows
    ratio = np.divide(joint, expected, out=np.ones_like(joint, dtype=float), where=joint > 0)
    result: Floats = (joint / n_rows * np.log2(ratio)).sum(axis=0)
    return result


def largest(values: Floats, n: int) -> NDArray[np.intp]:
    """The places of the n largest, in their order; of equal ones the earlier."""
    return np.sort(np.argsort(-values, kind="stable")[:n])
