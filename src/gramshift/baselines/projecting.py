"""Features beside the words: the words' documents projected into a few dimensions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import svds

Floats = NDArray[np.float64]


def leading(matrix: Any, n: int) -> Floats:
    """The left singular vectors of the n largest singular values, largest first; the largest entry of each is positive."""
    if n >= min(matrix.shape):
        left, values, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        left, values, _ = svds(matrix, k=n, v0=np.ones(min(matrix.shape)), return_singular_vectors="u")
    left = left[:, np.argsort(-values, kind="stable")[:n]]
    return left * upright(left)


def upright(vectors: Floats) -> Floats:
    """1 or -1 for each column, so that its largest entry becomes positive."""
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.where(signs == 0, 1.0, signs)


def rescale(features: Any, projection: Floats, gamma: float) -> Floats:
    """The projection, such that projected documents are gamma times as long as they are themselves, in the mean."""
    return projection * (gamma * mean_length(features) / max(mean_length(features @ projection), 1e-12))


def mean_length(features: Any) -> float:
    """Of the rows."""
    squares = features.multiply(features) if sparse.issparse(features) else features**2
    return float(np.sqrt(np.asarray(squares.sum(axis=1))).mean())


def join(features: Any, projection: Floats) -> Any:
    """The features, and beside them what the projection makes of them."""
    return sparse.hstack([features, sparse.csr_matrix(features @ projection)], format="csr")
