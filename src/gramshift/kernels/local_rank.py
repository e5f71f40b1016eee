"""Local Rank Distance as a kernel: do the same n-grams stand at about the same places?"""

from dataclasses import dataclass

import numpy as np

from gramshift.kernels.kernel import Job
from gramshift.kernels.leaves.local_rank import compare_document
from gramshift.kernels.pairs import Floats, PairKernel
from gramshift.ngrams.occurrences import Occurrences, find_occurrences


@dataclass(frozen=True)
class LocalRank(PairKernel):
    """exp(-distance / (2 sigma ** 2)) of Local Rank Distance, which is scaled to at most 1."""

    occurrences: Occurrences
    max_offset: int
    sigma: float

    @property
    def nbytes(self) -> int:
        return self.occurrences.keys.nbytes + self.occurrences.bounds.nbytes + self.self_values.nbytes

    @property
    def tile_bytes(self) -> int:
        return 0

    def compare(self, doc: int, col0: int, col1: int, out: Floats) -> None:
        found = self.occurrences
        compare_document(found.keys, found.bounds, doc, col0, col1, self.max_offset, 2 * self.sigma * self.sigma, out)

    def nanoseconds(self, n_rows: int, row_length: float, n_cols: int, col_length: float) -> float:
        return 100.0 * n_rows * n_cols + 5.0 * (n_rows * col_length + n_cols * row_length)


def prepare_local_rank(job: Job) -> LocalRank:
    """Find where all n-grams stand."""
    found = find_occurrences(job.ngrams, run=job.run)
    sizes = np.diff(found.bounds)
    max_offset, sigma = int(job.parameters["max_offset"]), float(job.parameters["sigma"])
    return LocalRank(sizes, job.columns, job.first_row, (sizes > 0).astype(float), found, max_offset, sigma)
