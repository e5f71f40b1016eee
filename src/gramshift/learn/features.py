"""How a classifier sees documents: similarities to all documents, worked out from the gram whenever they are needed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.labelling import Rows
from gramshift.learn.leaves.cells import fill_cells, find_copies, gather_cells, multiply_cells
from gramshift.runtime.threads import run_threads

Floats = NDArray[np.float64]


def normalize_gram(
    gram: NDArray[Any],
    row_values: NDArray[Any] | None = None,
    col_values: NDArray[Any] | None = None,
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


def adapted_kernel(rows: Floats) -> Floats:
    """K with two dots: inner products of documents described by their K-tilde to ALL source and target documents."""
    return rows @ rows.T


def one_over_root(own: NDArray[Any]) -> Floats:
    """Return 1 / sqrt(own), 0 for a document without n-grams that count."""
    result: Floats = np.divide(
        1.0, np.sqrt(own.astype(float)), out=np.zeros(own.shape), where=own > 0
    )
    return result


BLOCK = 128  # rows that a thread works on at a time
ALMOST_ONE = 1 - 1e-9
EQUAL = 1e-14  # beside values of 1


class Features(Protocol):
    """Documents as a classifier sees them: each by its similarities, K-tilde or K-hat, to certain documents."""

    def multiply(self, vectors: Floats, rows: Rows | None = None) -> Floats:
        """The descriptions of ``rows``, by default of all documents, times vectors."""


def compact(gram: NDArray[Any]) -> NDArray[Any]:
    """Counts in half the memory, which is what limits the speed of all that follows; as they are if they do not fit."""
    if gram.dtype.kind == "f":
        return gram
    largest = np.diagonal(gram).max(initial=0)  # no value is larger than all self-kernels
    return gram.astype(np.int32) if largest <= np.iinfo(np.int32).max else gram


@dataclass(frozen=True)
class GramFeatures:
    """The gram of documents with all source and target documents as K-tilde (``adapt``) or K-hat, without another such array.

    K-hat is gram[i, j] * row_scale[i] * scale[j].
    """

    gram: NDArray[Any]
    row_scale: Floats
    scale: Floats
    adapt: bool
    n_threads: int = 1

    @classmethod
    def from_gram(cls, gram: NDArray[Any], *, adapt: bool, n_threads: int = 1) -> "GramFeatures":
        """All documents, from their square gram: a document with self-kernel 0 has K-hat 0 to all."""
        scale = one_over_root(np.diagonal(gram))
        return cls(gram, scale, scale, adapt, n_threads)

    def __len__(self) -> int:
        return len(self.gram)

    def multiply(self, vectors: Floats, rows: Rows | None = None) -> Floats:
        """The descriptions of ``rows``, by default of all documents, times vectors of shape (documents, k)."""
        if len(vectors) != self.gram.shape[1]:  # the leaf would read beyond them
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
        """The weighted sums of the descriptions of ``rows``, shape (columns, k); the same bits for any number of threads."""
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
        """The descriptions of ``rows`` in single precision; those of an adapted kernel less their means, which come along."""
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
        """For each document the first that is described just like it, often itself: copies of texts."""
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
        """The kernel of some documents as an array in double precision: inner products of descriptions, or K-hat itself."""
        similarity = self.gram[rows] * np.multiply.outer(self.row_scale[rows], self.scale)
        return adapted_kernel(exponential(similarity)) if self.adapt else similarity[:, rows]

    def _run(self, work: Callable[[int], Any], n_rows: int) -> list[Any]:
        return run_threads(work, range(0, n_rows, BLOCK), n_threads=self.n_threads)
