"""Labels as numbers, and the choice of the documents that join a training set."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
N_FOLDS = 5


def one_versus_all(codes: NDArray[np.intp], n_classes: int) -> Floats:
    """Return a column per class: +1 for its documents, -1 for all others."""
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def choose_classes(scores: Floats) -> NDArray[np.intp]:
    """Return the class with the largest score; the first of equal ones."""
    chosen: NDArray[np.intp] = np.argmax(scores, axis=1)
    return chosen


def choose_surest(scores: Floats, n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the n surest rows and their classes: the paper's choice."""
    rows = surest(scores, n)
    return rows, choose_classes(scores)[rows]


def choose_by_shares(
    scores: Floats, n: int, shares: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return n rows and classes by class proportions: the surest pairs first, up to each quota.

    Of equal scores the earlier row comes first, then the earlier class.
    """
    left = quotas(min(n, len(scores)), shares)
    taken, rows, codes = np.zeros(len(scores), bool), [], []
    for pair in np.argsort(-scores, axis=None, kind="stable").tolist():
        row, code = divmod(pair, scores.shape[1])
        if left[code] and not taken[row]:
            taken[row] = True
            left[code] -= 1
            rows.append(row)
            codes.append(code)
    return np.array(rows, np.intp), np.array(codes, np.intp)


def quotas(n: int, shares: Floats) -> list[int]:
    """Split n by proportions: rounded down, with the rest for the largest remainders."""
    exact = n * shares
    whole = np.floor(exact + 1e-9)
    order = np.argsort(-(exact - whole), kind="stable")
    whole[order[: n - int(whole.sum())]] += 1
    return [int(quota) for quota in whole]


def surest(scores: Floats, n: int) -> NDArray[np.intp]:
    """Return the n rows with the largest maximal score, surest first; of equal ones the earlier."""
    return np.argsort(-scores.max(axis=1), kind="stable")[:n]


def assign_folds(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of a fold for each document; each class is spread over all of them."""
    fold = np.empty(len(codes), np.intp)
    for code in np.unique(codes):
        of_class = codes == code
        fold[of_class] = (np.arange(of_class.sum()) + code) % N_FOLDS
    return fold
