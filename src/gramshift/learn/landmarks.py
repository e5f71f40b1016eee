"""Ridge regression on similarities to landmarks: sums over documents, one factor, and passes that take rounding out again."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from gramshift.learn.described import Rows
from gramshift.learn.parts import DescribedParts
from gramshift.learn.ridge import Fitted, is_mirrored

Floats = NDArray[np.float64]
SMALLEST = 1e-12  # added to the landmarks' own similarities of 1, where some of them are copies of others
SETTLED = 1e-11  # a pass that moves no score by more is the last one
PASSES = 8


@dataclass(frozen=True)
class Solved:
    """Weights of the features (and the bias, if there is one, below them), and what is left of the targets."""

    weights: Floats
    residual: Floats


class LandmarkRidge:
    """Minimises |X W + b - Y|^2 + alpha |W|^2, where the rows of X are documents described by landmarks.

    Descriptions of an adapted kernel are used as they are. Of a plain kernel ``own``, the similarities of the landmarks with
    each other, decides what a description means: features are own^(-1/2) times it, so that their inner products are the
    kernel again. With all documents as landmarks both are the exact kernel.
    """

    def __init__(
        self, documents: DescribedParts, source: Rows, alpha: float, *, bias: bool = False, own: Floats | None = None
    ) -> None:
        self.documents, self.source, self.alpha, self.bias = documents, source, alpha, bias
        self._root = None if own is None else _root_of(own)

    def solve(self, training: Rows, targets: Floats) -> Fitted:
        """Train on some documents; ``source`` begins them."""
        mirrored = is_mirrored(targets)
        weights = self._solve(training, targets[:, mirrored:], self._factor(training)).weights
        n = self.documents.n_landmarks
        coefficients, intercepts = self._as_coefficients(weights[:n]), weights[n:].sum(axis=0)
        if mirrored:
            coefficients, intercepts = (np.concatenate([-part, part], axis=-1) for part in (coefficients, intercepts))
        return Fitted(coefficients, intercepts)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """What each training document would score by a fit without it, in closed form.

        That is y - residual / (1 - leverage). Where documents are fewer than landmarks all residuals are small, and so is what
        leverage lacks to 1: then that comes from the kernel's inverse.
        """
        factor = self._factor(training)
        residual = self._solve(training, targets, factor).residual
        if len(training) > self.documents.n_landmarks:
            below = 1 - self.documents.leverage(training, self._border(factor))
        else:
            below = self.alpha * self._inverse_diagonal(training)
        scores: Floats = targets - residual / np.maximum(below, np.finfo(float).tiny)[:, None]
        return scores

    @cached_property
    def _source_sums(self) -> Floats:
        return self.documents.products(self.source)

    def _factor(self, training: Rows) -> Floats:
        """The triangular factor of Z'Z + alpha, where the rows of Z are features, with a 1 behind each if there is a bias."""
        n = self.documents.n_landmarks
        sums = self._source_sums.copy()
        if len(training) > len(self.source):
            sums += self.documents.products(training[len(self.source) :])
        system = np.zeros((n + self.bias, n + self.bias))
        system[:n, :n] = self._to_features(self._to_features(sums).T)
        if self.bias:
            system[n, :n] = self._to_features(self.documents.gather(np.ones((len(training), 1)), training))[:, 0]
            system[n, n] = len(training)
        system[np.arange(n), np.arange(n)] += self.alpha
        factor: Floats = linalg.cholesky(system, lower=True, overwrite_a=True, check_finite=False)
        return factor

    def _solve(self, training: Rows, targets: Floats, factor: Floats) -> Solved:
        """Sums over documents are right to rounding beside their size, which is far above alpha: what that did to the
        weights is seen in the residuals and taken out by the same factor."""
        n = self.documents.n_landmarks
        weights, residual = np.zeros((n + self.bias, targets.shape[1])), targets.copy()
        for _ in range(PASSES):
            right = np.zeros_like(weights)
            right[:n] = self._to_features(self.documents.gather(residual, training)) - self.alpha * weights[:n]
            right[n:] = residual.sum(axis=0)
            weights += linalg.cho_solve((factor, True), right, check_finite=False)
            scores = self.documents.multiply(self._as_coefficients(weights[:n]), training) + weights[n:].sum(axis=0)
            moved = np.abs(targets - scores - residual).max(initial=0.0)
            residual = targets - scores
            if moved <= SETTLED:
                break
        return Solved(weights, residual)

    def _inverse_diagonal(self, training: Rows) -> Floats:
        """Of (K + alpha I)^-1, or of its bordered form if there is a bias."""
        features = self._to_features(self.documents.cells(training).T)
        kernel = features.T @ features
        kernel[np.diag_indices_from(kernel)] += self.alpha
        inverse = linalg.inv(kernel, overwrite_a=True, check_finite=False)
        diagonal: Floats = np.diagonal(inverse).copy()
        if self.bias:
            ones = inverse.sum(axis=1)
            diagonal -= ones**2 / ones.sum()
        return diagonal

    def _to_features(self, columns: Floats) -> Floats:
        if self._root is None:
            return columns
        result: Floats = linalg.solve_triangular(self._root, columns, lower=True, check_finite=False)
        return result

    def _as_coefficients(self, weights: Floats) -> Floats:
        """What each similarity is worth."""
        if self._root is None:
            return weights
        result: Floats = linalg.solve_triangular(self._root, weights, lower=True, trans="T", check_finite=False)
        return result

    def _border(self, factor: Floats) -> Floats:
        """The factor for descriptions instead of features."""
        if self._root is None:
            return factor
        n = len(self._root)
        result = factor.copy()
        result[:n, :n] = self._root @ factor[:n, :n]
        return result


def _root_of(own: Floats) -> Floats:
    system = own.copy()
    system[np.diag_indices_from(system)] += SMALLEST
    root: Floats = linalg.cholesky(system, lower=True, overwrite_a=True, check_finite=False)
    return root
