"""Vectors of whole texts, by an encoder of the user, as one more part of the features."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.training_set import Rows, TrainingSet
from gramshift.parallel import ONE_BLAS_THREAD

if TYPE_CHECKING:
    from gramshift.learn.linear import NGramFeatures

Floats = NDArray[np.float64]
BLOCK = 1024  # documents of a product, which do not depend on the number of threads


@dataclass(frozen=True)
class VectorFeatures:
    """Rows of unit length, compared by cosine; a document without a vector has a row of zeros.

    ``units`` are in single or double precision, sums in double. ``scale`` multiplies each document.
    """

    units: NDArray[Any]
    scale: Floats

    @classmethod
    def of_domains(cls, vectors: NDArray[Any], is_source: NDArray[np.bool_]) -> "VectorFeatures":
        """Return vectors of documents, centred by the mean of their domain."""
        is_single = vectors.dtype.itemsize <= np.dtype(np.float32).itemsize
        units = np.empty(vectors.shape, np.float32 if is_single else np.float64)
        for of_domain in (is_source, ~is_source):
            rows = np.flatnonzero(of_domain)
            mean = mean_vector(vectors, rows)
            for start in range(0, len(rows), BLOCK):
                block = rows[start : start + BLOCK]
                units[block] = to_units(vectors[block], mean)
        return cls(units, np.where(np.any(units, axis=1), 1.0, 0.0))

    def __len__(self) -> int:
        return len(self.units)

    def multiply(self, vectors: Floats, run: Any) -> Floats:
        """Return the cosines times vectors, in two products with the rows."""
        along = self.gather(vectors, run)

        def spread(start: int) -> Floats:
            part: Floats = self.units[start : start + BLOCK].astype(np.float64) @ along
            return part

        with ONE_BLAS_THREAD:
            result = np.concatenate([np.empty((0, vectors.shape[1])), *run(spread, self._starts())])
        result *= self.scale[:, None]
        return result

    def gather(self, vectors: Floats, run: Any) -> Floats:
        """Return the sum of all rows, times vectors: a row for each number of a document's."""

        def add(start: int) -> Floats:
            part = slice(start, start + BLOCK)
            scaled = self.scale[part, None] * vectors[part]
            total: Floats = self.units[part].astype(np.float64).T @ scaled
            return total

        total = np.zeros((self.units.shape[1], vectors.shape[1]))
        with ONE_BLAS_THREAD:
            for part in run(add, self._starts()):
                total += part
        return total

    def rows(self, documents: Rows, others: Rows) -> Floats:
        """Return the cosines of some documents with others."""
        left = self.units[documents].astype(np.float64)
        result = np.empty((len(documents), len(others)))
        with ONE_BLAS_THREAD:
            for start in range(0, len(others), BLOCK):
                right = self.units[others[start : start + BLOCK]].astype(np.float64)
                result[:, start : start + BLOCK] = left @ right.T
        result *= self.scale[others]
        result *= self.scale[documents, None]
        return result

    def narrow(self, documents: Rows, run: Any) -> "VectorFeatures":
        """Return the vectors of some documents, in ascending order."""
        return VectorFeatures(self.units[documents], self.scale[documents])

    def _starts(self) -> range:
        return range(0, len(self), BLOCK)


def mean_vector(vectors: NDArray[Any], rows: Rows) -> Floats:
    """Return the mean of these vectors, without rows of zeros, which are no vectors."""
    total, n = np.zeros(vectors.shape[1]), 0
    for start in range(0, len(rows), BLOCK):
        block = vectors[rows[start : start + BLOCK]].astype(np.float64)
        total += block.sum(axis=0)
        n += int(block.any(axis=1).sum())
    mean: Floats = total / max(1, n)
    return mean


def to_units(vectors: NDArray[Any], mean: Floats) -> Floats:
    """Return vectors minus a mean, each of length 1; a row of zeros stays one."""
    centred = vectors.astype(np.float64)
    centred -= np.where(np.any(centred, axis=1, keepdims=True), mean, 0.0)
    largest = np.abs(centred).max(axis=1, keepdims=True, initial=0)
    centred /= np.where(largest > 0, largest, 1)  # else squares of tiny numbers are lost
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    units: Floats = centred / np.where(lengths > 0, lengths, 1)
    return units


def encoder_weight(
    vectors: VectorFeatures, ngrams: "NGramFeatures", training_set: TrainingSet
) -> float:
    """Return the weight of the vectors relative to the mean of the n-gram parts; 0 for none."""
    return 0.1
