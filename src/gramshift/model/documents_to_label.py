"""Documents to label next: random ones to score with, doubtful ones to learn from."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.kernels.string_kernel import StringKernel

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]
DOUBTFUL = "doubtful"
RANDOM = "random"
N_CANDIDATES = 5  # least sure documents that are considered, for each that is chosen
NGRAM_RANGE = (3, 5)  # of n-grams by which documents are alike: short texts have some of them, too


def check_number(n: Any, n_all: int, name: str = "n=") -> int:
    """Return the number of documents to draw; raise an error if there are fewer."""
    if not n_all:
        raise InputError("there are no target documents to draw from; fit with target=...")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= n_all:
        raise InputError(
            f"{name}{n!r}: give a number from 1 to {n_all},"
            " which are all documents that can be drawn"
        )
    return int(n)


def choose_random(n_all: int, n: int, seed: int) -> Rows:
    """Draw documents without replacement, each with the same chance.

    The first of them are a smaller random sample.
    """
    return np.random.default_rng(seed).permutation(n_all)[:n]


def choose_doubtful(confidence: Floats, n: int, compare: Callable[[Rows], Floats]) -> Rows:
    """Choose doubtful documents that are unlike each other, one after another.

    Each of them has the largest product of doubt (1 - confidence) and distance (1 - similarity to
    the nearest one chosen before) among the least confident. ``compare`` returns the similarities,
    0 to 1, of some documents to each other.
    """
    rows = np.argsort(confidence, kind="stable")[: N_CANDIDATES * n]
    similar = compare(rows)
    doubt = 1 - confidence[rows] + 1e-9  # if all confidences are 1, distance alone decides
    distance = np.ones(len(rows))
    is_left = np.ones(len(rows), bool)
    chosen = []
    for _ in range(min(n, len(rows))):
        best = int(np.argmax(np.where(is_left, doubt * distance, -1.0)))
        is_left[best] = False
        chosen.append(best)
        distance = np.minimum(distance, np.maximum(0.0, 1 - similar[best]))
    return rows[chosen]


def compare_texts(texts: list[str], n_jobs: int | None = -1) -> Callable[[Rows], Floats]:
    """Return a function that compares texts by the n-grams that they share."""
    kernel = StringKernel("presence", ngram_range=NGRAM_RANGE, normalize=True, n_jobs=n_jobs)
    return lambda rows: kernel.gram([texts[row] for row in rows.tolist()])


def compare_rows(rows_of_numbers: NDArray[Any]) -> Callable[[Rows], Floats]:
    """Return a function that compares rows of numbers by their cosine."""

    def compare(rows: Rows) -> Floats:
        some = np.asarray(rows_of_numbers[rows], float)
        some = some / np.maximum(np.linalg.norm(some, axis=1, keepdims=True), np.finfo(float).tiny)
        cosines: Floats = some @ some.T
        return cosines

    return compare
