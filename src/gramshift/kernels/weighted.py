"""The presence kernel with a weight for every n-gram: still a sum over shared n-grams, tile by tile."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.kernel import CountingKernel, Job, complete_square
from gramshift.kernels.leaves.counting import normalize_tile
from gramshift.kernels.leaves.weighted import add_own, add_similarities, add_weighted
from gramshift.kernels.weighting import Weighting, make_weights
from gramshift.ngrams.incidence import Incidence, build_incidence

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WeightedNGrams(CountingKernel):
    """Fills tiles: columns are the first ``n_cols`` documents, rows those from ``first_row`` on, or the same if that is 0.

    Feature f adds sums[f] to the kernel of two documents that have it; ``self_values`` is each document with itself.
    """

    incidence: Incidence
    sums: Floats
    self_values: Floats
    n_cols: int
    first_row: int

    dtype = np.float64

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_cols if self.symmetric else self.incidence.n_docs - self.first_row, self.n_cols

    @cached_property
    def scale(self) -> Floats:
        """What makes values similarities: 1 / sqrt(self_values), 0 for documents without n-grams."""
        own = self.self_values
        return np.divide(1.0, np.sqrt(own), out=np.zeros(len(own)), where=own > 0)

    @property
    def symmetric(self) -> bool:
        return self.first_row == 0

    @property
    def nbytes(self) -> int:
        return self.incidence.nbytes + self.sums.nbytes + self.self_values.nbytes

    def fill(self, rows: slice, cols: slice, gram: Floats, top: int = 0) -> None:
        found, area = self.incidence, (rows.start - top, rows.stop - top, cols.start, cols.stop)
        gram[area[0] : area[1], cols] = 0.0
        cut = cols.start > 0 or not self.symmetric or cols.stop < rows.stop
        add_weighted(
            found.bounds, found.features, found.places, found.n_before, found.docs, self.sums,
            self.first_row + top, *area, cut, gram,
        )  # fmt: skip
        if self.symmetric and cols.stop > rows.start:
            complete_square(gram, rows, self.self_values, top)

    def normalize(self, rows: slice, cols: slice, gram: Floats, top: int = 0) -> None:
        values, area = self.self_values, (rows.start - top, rows.stop - top, cols.start, cols.stop)
        normalize_tile(values[self.first_row + top :], values, *area, gram)


@dataclass(frozen=True)
class SummedNGrams(CountingKernel):
    """Fills tiles with the sum of the similarities that several such kernels find among the first ``n`` documents.

    ``anew``: the gram that is filled holds nothing yet; else they are added to what it holds below its diagonal, and on it.
    """

    parts: Sequence[WeightedNGrams]
    n: int
    anew: bool

    dtype = np.float64
    symmetric = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def fill(self, rows: slice, cols: slice, gram: Floats, top: int = 0) -> None:
        for number, part in enumerate(self.parts):
            found, cut = part.incidence, cols.start > 0 or cols.stop < rows.stop
            add_similarities(
                found.bounds, found.features, found.places, found.n_before, found.docs, part.sums, part.scale,
                top, rows.start, rows.stop, cols.start, cols.stop, cut, self.anew and number == 0, gram,
            )  # fmt: skip
        if cols.stop > rows.start:
            own = np.zeros(self.n)
            if not self.anew:
                own[rows] = np.diagonal(gram[rows.start - top : rows.stop - top, rows])
            for part in self.parts:
                own[rows] += part.self_values[rows] > 0
            complete_square(gram, rows, own, top)

    def normalize(self, rows: slice, cols: slice, gram: Floats, top: int = 0) -> None:
        """Nothing is left to do."""


def prepare_weighted(job: Job) -> WeightedNGrams:
    """Find all shared n-grams and weigh them."""
    assert job.weighting is not None
    incidence = build_incidence(job.ngrams, run=job.run, check_size=job.check_size)
    return weigh_ngrams(incidence, job.weighting, n_cols=job.n_cols)


def weigh_ngrams(incidence: Incidence, weighting: Weighting, *, n_cols: int | None = None) -> WeightedNGrams:
    """The kernel of all documents, or, with ``n_cols``, of those after the first n_cols with these, which give the weights."""
    n_fit = incidence.n_docs if n_cols is None else n_cols
    beyond = np.full(incidence.n_docs - n_fit, -1, np.int64)

    def count(groups: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
        return incidence.count(np.concatenate([groups, beyond]), n_groups)

    weights = make_weights(weighting, n_fit, count)
    alone = make_weights(weighting, n_fit, lambda groups, n_groups: np.zeros((n_groups, 1), np.int64))
    sums = np.ascontiguousarray(weights * incidence.times)
    self_values = np.empty(incidence.n_docs)
    add_own(incidence.bounds, incidence.features, sums, incidence.unshared, float(alone[0]), self_values)
    return WeightedNGrams(incidence, sums, self_values, n_fit, n_cols or 0)
