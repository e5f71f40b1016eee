"""An approximate inverse of the ridge system, from a Cholesky factor in single precision."""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg.lapack import spotri

from gramshift.learn.features import KernelFeatures
from gramshift.learn.products import Products, ProductsByNeed, Report
from gramshift.learn.training_set import Rows
from gramshift.parallel import ONE_BLAS_THREAD

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
SHIFTS = (
    0.0,
    1e-5,
    1e-3,
)  # times the mean diagonal, added to it where rounding would leave no factor


class Preconditioner:
    """(K + D)^-1 in single precision, for training sets that start with the same source documents.

    D is diagonal, with ``penalty`` for each document. An adapted kernel is the product of features
    R + m 1' with their own transpose, m the row means and R the rest, whose rows add up to 0: R R'
    + n m m'. Single precision is enough for R R' only, so the other direction is treated
    separately.
    """

    def __init__(
        self,
        documents: KernelFeatures,
        source: Rows,
        penalty: Floats,
        products: Products | None = None,
    ) -> None:
        self.documents, self.source, self.penalty = documents, source, penalty
        self.rows = source
        self.products = (products or ProductsByNeed(documents, source)) if documents.adapt else None
        self._factor: Singles | None = None  # upper triangle, in Fortran order

    def prepare(self, rows: Rows, report: Report = lambda done: None) -> bool:
        """Factor the system of these training documents, the source first.

        Return False if single precision gives no factor.
        """
        if self._factor is not None and np.array_equal(rows, self.rows):
            return True
        self.forget()
        self.rows = rows
        for shift in SHIFTS:
            matrix = self._multiply(report)
            diagonal = np.einsum("ii->i", matrix)
            diagonal += self.penalty[rows] + shift * diagonal.mean()
            try:
                self._factor, _ = linalg.cho_factor(
                    matrix.T, lower=False, overwrite_a=True, check_finite=False
                )
                return True
            except linalg.LinAlgError:
                continue
        return False

    def forget(self) -> None:
        """Free the factor, which is computed again when needed."""
        self._factor = None

    def __call__(self, vectors: Floats) -> Floats:
        """Return (R R' + D)^-1 times vectors, or that of K-hat.

        It runs on one thread: those of BLAS would go on spinning and slow down ours, which follow
        at once.
        """
        assert self._factor is not None
        with ONE_BLAS_THREAD:
            solved: Singles = linalg.cho_solve(
                (self._factor, False),
                vectors.astype(np.float32),
                overwrite_b=True,
                check_finite=False,
            )
        return solved.astype(np.float64)

    def apart(self) -> Floats:
        """Return directions of the rest of the kernel, as columns: (R R' + D)^-1 m for n m m'."""
        if self.products is None:
            return np.zeros((len(self.rows), 0))
        return self(self.products.directions(self.rows))

    def inverse_diagonal(self) -> Floats:
        """Return the diagonal of the whole inverse, n m m' included (Sherman and Morrison).

        The factor is overwritten.
        """
        solved = self.apart()
        inverse, _ = spotri(self._factor, lower=0, overwrite_c=1)
        self.forget()
        diagonal = np.diagonal(inverse).astype(np.float64)
        if self.products is not None:
            means = self.products.directions(self.rows)[:, 0]
            diagonal -= solved[:, 0] ** 2 / (1 / len(self.documents) + means @ solved[:, 0])
        return diagonal

    def _multiply(self, report: Report) -> Singles:
        """Return the lower triangle of R R', or of K-hat."""
        if self.products is not None:
            return self.products.multiply(self.rows, report)
        kernel_list: Singles = np.take(self.documents.centred(self.rows)[0], self.rows, axis=1)
        report(len(self.rows))
        return kernel_list
