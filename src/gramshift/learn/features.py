"""Kernel features (equations 3-5 of the paper), computed from the kernel matrix on the fly."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.compiled.cells import fill_cells, find_copies, gather_cells, multiply_cells
from gramshift.learn.training_set import Rows
from gramshift.parallel import run_threads

Floats = NDArray[np.float64]


def normalize_gram(
    gram: NDArray[Any],
    row_values: NDArray[Any] | None = None,
    col_values: NDArray[Any] | None = None,
) -> Floats:
    """Return K-hat: each value divided by the root of both self-kernels; 0 where one is 0.

    Self-kernels are by default on the diagonal.
    """
    row_values = np.diagonal(gram) if row_values is None else row_values
    col_values = row_values if col_values is None else col_values
    scale = np.sqrt(np.multiply.outer(row_values.astype(float), col_values.astype(float)))
    similarity: Floats = np.divide(gram, scale, out=np.zeros(gram.shape), where=scale > 0)
    return similarity


def exponential(similarity: Floats) -> Floats:
    """Return K-tilde: exp(-1 + K-hat), a radial basis function of normalised documents."""
    result: Floats = np.subtract(similarity, 1.0)
    return np.exp(result, out=result)


def adapted_kernel(rows: Floats) -> Floats:
    """Return K with two dots: inner products of rows of K-tilde with ALL documents."""
    return rows @ rows.T


def one_over_root(own: NDArray[Any]) -> Floats:
    """Return 1 / sqrt(own), 0 for a document without n-grams that count."""
    result: Floats = np.divide(
        1.0, np.sqrt(own.astype(float)), out=np.zeros(own.shape), where=own > 0
    )
    return result


BLOCK = 128  # rows of a piece of work
ALMOST_ONE = 1 - 1e-9
EQUAL = 1e-14  # relative to values of 1


class Features(Protocol):
    """Documents as rows of similarities, K-tilde or K-hat, to certain documents."""

    def multiply(self, vectors: Floats, rows: Rows | None = None) -> Floats:
        """Return the features of ``rows``, by default of all documents, times vectors."""


def compact(gram: NDArray[Any]) -> NDArray[Any]:
    """Return counts as 32-bit integers if they fit: memory limits the speed of all that follows."""
    if gram.dtype.kind == "f":
        return gram
    largest = np.diagonal(gram).max(initial=0)  # no value is larger than all self-kernels
    return gram.astype(np.int32) if largest <= np.iinfo(np.int32).max else gram


@dataclass(frozen=True)
class KernelFeatures:
    """The kernel matrix of documents with all source and target documents as features.

    Features are K-tilde (``adapt``) or K-hat, gram[i, j] * row_scale[i] * scale[j]; neither is ever
    stored.
    """

    gram: NDArray[Any]
    row_scale: Floats
    scale: Floats
    adapt: bool
    n_threads: int = 1

    @classmethod
    def from_gram(cls, gram: NDArray[Any], *, adapt: bool, n_threads: int = 1) -> "KernelFeatures":
        """Return the features of all documents; one with self-kernel 0 has K-hat 0 to all."""
        scale = one_over_root(np.diagonal(gram))
        return cls(gram, scale, scale, adapt, n_threads)

    def __len__(self) -> int:
        return len(self.gram)

    def multiply(self, vectors: Floats, rows: Rows | None = None) -> Floats:
        """Return the features of ``rows``, by default of all, times vectors (documents, k)."""
        if len(vectors) != self.gram.shape[1]:  # compiled code would read beyond them
            raise ValueError(
                f"vectors of {len(vectors)} numbers for descriptions of {self.gram.shape[1]}"
            )
        rows = np.arange(len(self)) if rows is None else rows
        turned = np.ascontiguousarray(vectors.T)
        out = np.empty((len(rows), vectors.shape[1]))

        def work(start: int) -> None:
            part = slice(start, start + BLOCK)
            multiply_cells(
                self.gram, self.row_scale, self.scale, self.adapt, rows[part], turned, out[part]
            )

        self._run(work, len(rows))
        return out

    def gather(self, weights: Floats, rows: Rows) -> Floats:
        """Return weighted sums of the features of ``rows``, shape (columns, k).

        The bits do not depend on the number of threads.
        """
        weights = np.ascontiguousarray(weights)

        def work(start: int) -> Floats:
            part, out = (
                slice(start, start + BLOCK),
                np.empty((weights.shape[1], self.gram.shape[1])),
            )
            gather_cells(
                self.gram, self.row_scale, self.scale, self.adapt, rows[part], weights[part], out
            )
            return out

        total = np.zeros((weights.shape[1], self.gram.shape[1]))
        for part in self._run(work, len(rows)):
            total += part
        return total.T

    def centred(self, rows: Rows) -> tuple[NDArray[np.float32], Floats]:
        """Return the features of ``rows`` in single precision, and their means.

        Those of an adapted kernel are centred by row.
        """
        out, means = np.empty((len(rows), len(self)), np.float32), np.empty(len(rows))

        def work(start: int) -> None:
            part = slice(start, start + BLOCK)
            fill_cells(
                self.gram,
                self.row_scale,
                self.scale,
                self.adapt,
                rows[part],
                out[part],
                means[part],
            )

        self._run(work, len(rows))
        return out, means

    @cached_property
    def originals(self) -> Rows:
        """The first document with the same features, often itself, for each document."""
        first = np.arange(len(self))
        own = np.diagonal(self.gram) * self.scale**2

        def work(start: int) -> None:
            rows = np.arange(start, min(start + BLOCK, len(self)))
            find_copies(self.gram, self.scale, own, rows, ALMOST_ONE, first)

        self._run(work, len(self))
        for i in np.flatnonzero(first != np.arange(len(self))):
            mine, other = (self.gram[k] * (self.scale[k] * self.scale) for k in (i, first[i]))
            first[i] = first[first[i]] if np.abs(mine - other).max() <= EQUAL else i
        return first

    def kernel(self, rows: Rows) -> Floats:
        """Return the kernel in double precision: inner products of features, or K-hat itself."""
        similarity = self.gram[rows] * np.multiply.outer(self.row_scale[rows], self.scale)
        return adapted_kernel(exponential(similarity)) if self.adapt else similarity[:, rows]

    def _run(self, work: Callable[[int], Any], n_rows: int) -> list[Any]:
        return run_threads(work, range(0, n_rows, BLOCK), n_threads=self.n_threads)
