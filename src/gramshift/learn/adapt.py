"""From a raw gram to the adapted kernel, step by step as in the paper."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def normalize_gram(
    gram: NDArray[Any], row_values: NDArray[Any] | None = None, col_values: NDArray[Any] | None = None
) -> Floats:
    """K-hat: every value divided by the root of both self-kernels, by default the diagonal; 0 where one of them is 0."""
    row_values = np.diagonal(gram) if row_values is None else row_values
    col_values = row_values if col_values is None else col_values
    scale = np.sqrt(np.multiply.outer(row_values.astype(float), col_values.astype(float)))
    similarity: Floats = np.divide(gram, scale, out=np.zeros(gram.shape), where=scale > 0)
    return similarity


def exponential(similarity: Floats) -> Floats:
    """K-tilde: exp(-1 + K-hat), a radial basis function of normalised documents."""
    result: Floats = np.subtract(similarity, 1.0)
    return np.exp(result, out=result)


def adapted_kernel(rows: Floats, reference: Floats | None = None) -> Floats:
    """K with two dots: inner products of documents described by their K-tilde to ALL source and target documents."""
    return rows @ (rows if reference is None else reference).T
