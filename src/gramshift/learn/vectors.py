"""Vectors of whole texts, by an encoder of the user, as one more part of the features."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.calibrate import log_losses
from gramshift.learn.training_set import Codes, Rows
from gramshift.parallel import ONE_BLAS_THREAD

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # of a number, relative to the largest of its vector
BLOCK = 1024  # documents of a product, which do not depend on the number of threads
WEIGHTS = (0.03, 0.1, 0.3, 1.0)  # of vectors relative to n-grams, tried on held-out documents
WEIGHT_OF_GAIN = 0.5  # chosen on the development data


@dataclass(frozen=True)
class VectorFeatures:
    """Rows of unit length, compared by cosine; a document without a vector has a row of zeros.

    ``units`` are in single or double precision, sums in double. ``scale`` multiplies each document.
    """

    units: NDArray[Any]
    scale: Floats

    @classmethod
    def of_domains(cls, vectors: NDArray[Any], domains: NDArray[Any]) -> "VectorFeatures":
        """Return vectors of documents, centred by the mean of their domain."""
        is_single = vectors.dtype.itemsize <= np.dtype(np.float32).itemsize
        units = np.empty(vectors.shape, np.float32 if is_single else np.float64)
        for domain in np.unique(domains):
            rows = np.flatnonzero(domains == domain)
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
        if len(documents) == len(self):
            return self
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
    """Return vectors minus a mean, each of length 1; zeros for a vector that equals the mean.

    A row of zeros stays one.
    """
    centred = vectors.astype(np.float64)
    size = np.abs(centred).max(axis=1, keepdims=True, initial=0)
    centred -= np.where(size > 0, mean, 0.0)
    largest = np.abs(centred).max(axis=1, keepdims=True, initial=0)
    centred[largest[:, 0] <= ROUNDING * size[:, 0]] = 0.0
    centred /= np.where(largest > 0, largest, 1)  # else squares of tiny numbers are lost
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    units: Floats = centred / np.where(lengths > 0, lengths, 1)
    return units


def encoder_weight(held_out: Callable[[float], Floats], codes: Codes) -> float:
    """Return the weight of the vectors relative to the mean of the n-gram parts; 0 for none.

    ``held_out`` takes a weight of the vectors, and returns the held-out scores of source documents
    of the classes ``codes``. With L(w) for the log-loss of these scores after calibration, the
    weight is half of the share of the loss without vectors that they remove:

        weight = (1 - min L(w) / L(0)) / 2

    The weight w of the smallest loss would itself be too large for the target: there, rounds of
    training amplify whatever else documents with near vectors have in common, such as their topic.
    The weight is 0 if the loss is not smaller by more than the standard error of its mean.
    """
    without = best = log_losses(held_out(0.0), codes)
    for weight in WEIGHTS:
        losses = log_losses(held_out(weight), codes)
        if losses.mean() >= best.mean():
            break  # larger weights are worse still
        best = losses
    removed = without - best
    if removed.mean() <= removed.std() / np.sqrt(len(removed)):
        return 0.0
    return float(removed.mean() / without.mean() * WEIGHT_OF_GAIN)
