"""Kernel ridge regression for several targets: factored in single, solved in double precision."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from gramshift.errors import InputError
from gramshift.learn.conjugate import Map, conjugate_gradients
from gramshift.learn.features import Features, KernelFeatures
from gramshift.learn.precondition import Preconditioner
from gramshift.learn.products import Products
from gramshift.learn.training_set import Rows
from gramshift.parallel import Progress

Floats = NDArray[np.float64]
TOLERANCE = 1e-9  # of residuals, relative to targets of 1
ROUNDED_TOLERANCE = 1e-6  # of residuals, where double precision gives no more
N_REFINEMENTS = 4
MAX_INVERTED = 2000  # training documents whose inverse in double precision takes a second or less
N_PROBES = 8
PROBE_TOLERANCE = 1e-3
MAX_STEPS = 40  # a good factor needs two or three


class SingularKernelError(InputError):
    """The system cannot be solved in double precision."""


@dataclass(frozen=True)
class Coefficients:
    """Coefficients and intercepts: scores are features @ coefficients + intercepts."""

    coefficients: Floats
    intercepts: Floats

    @classmethod
    def of_columns(
        cls, coefficients: Floats, intercepts: Floats, *, mirrored: bool
    ) -> "Coefficients":
        """Return coefficients of all classes; ``mirrored`` if the column is the second of two."""
        if mirrored:
            coefficients, intercepts = (
                np.concatenate([-part, part], axis=-1) for part in (coefficients, intercepts)
            )
        return cls(coefficients, intercepts)

    def score(self, documents: Features, rows: Rows) -> Floats:
        """Return the scores of some documents."""
        if not len(rows):
            return np.zeros((0, len(self.intercepts)))
        mirrored = is_mirrored(self.coefficients)  # half the work for two classes
        scores = documents.multiply(self.coefficients[:, mirrored:], rows)
        return (np.hstack([-scores, scores]) if mirrored else scores) + self.intercepts


@dataclass(frozen=True)
class Merged:
    """Training documents without copies: one of each, their number, each document's group."""

    rows: Rows
    counts: Floats
    group: Rows

    def mean(self, targets: Floats) -> Floats:
        """Return the mean target of each group of copies."""
        total = np.zeros((len(self.rows), targets.shape[1]))
        np.add.at(total, self.group, targets)
        return total / self.counts[:, None]


class KernelRidgeSolver:
    """Minimises |K W + b - Y|^2 + alpha tr(W' K W) for growing training sets.

    ``source`` starts every training set, so its part of the factor is computed once. Copies of a
    document enter once, with the mean of their targets and alpha divided by their number, which
    leaves all scores unchanged. Without ``bias``, b is 0, as in the reference that the paper names;
    with it, b is not penalised.
    """

    def __init__(
        self,
        documents: KernelFeatures,
        source: Rows,
        alpha: float,
        *,
        bias: bool = False,
        products: Products | None = None,
        progress: Progress | None = None,
        steps: int = MAX_STEPS,
        few: int = MAX_INVERTED,
    ) -> None:
        """Prepare the solver.

        After ``steps`` conjugate-gradient steps, double precision takes over. Up to ``few``
        documents, held-out scores are computed in double precision.
        """
        self._steps = steps
        self._few = few
        self.documents = documents
        self.alpha = alpha
        self.bias = bias
        self._progress = progress or (lambda *_: None)
        self._originals = documents.originals
        distinct = _distinct(self._originals[source])
        self._inverse = Preconditioner(
            documents, distinct, np.full(len(documents), alpha), products
        )

    def solve(
        self, training: Rows, targets: Floats, near: Coefficients | None = None
    ) -> Coefficients:
        """Train on some documents."""
        merged = self._merge(training)
        mirrored = is_mirrored(targets)
        weights, intercepts = self._solve(
            merged, merged.mean(targets)[:, mirrored:], bias=self.bias
        )
        coefficients = spread_weights(self.documents, merged.rows, weights)
        return Coefficients.of_columns(coefficients, intercepts, mirrored=mirrored)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """Return held-out scores in closed form: y - w / diag((K + alpha I)^-1)."""
        merged = self._merge(training)
        group, counts = merged.group, merged.counts[merged.group]
        mean = merged.mean(targets)
        weights, _ = self._solve(merged, mean, bias=self.bias)
        diagonal = (1 - 1 / counts) / self.alpha + self._inverse_diagonal(merged)[group] / counts**2
        if self.bias:  # the same closed form holds for the bordered system
            ones, _ = self._solve(merged, np.ones((len(merged.rows), 1)), bias=False)
            diagonal -= (ones[group, 0] / counts) ** 2 / ones.sum()
        dual = (targets - mean[group]) / self.alpha + weights[group] / counts[:, None]
        scores: Floats = targets - dual / diagonal[:, None]
        return scores

    def _inverse_diagonal(self, merged: Merged) -> Floats:
        """Return the diagonal of (K + D)^-1.

        It comes from a factor in single precision if the exact values of some documents confirm it,
        else from one in double precision.
        """
        penalty = np.zeros(len(self.documents))
        penalty[merged.rows] = self.alpha / merged.counts
        if len(merged.rows) > self._few:
            n = len(merged.rows)
            probes, units = np.linspace(0, n - 1, N_PROBES).astype(np.intp), np.zeros((n, N_PROBES))
            units[probes, np.arange(N_PROBES)] = 1
            exact = self._solve(merged, units, bias=False)[0][probes, np.arange(N_PROBES)]
            approximate = self._inverse
            if merged.counts.max() > 1:  # copies have another penalty
                self._inverse.forget()  # two factors at a time would take twice the memory
                approximate = Preconditioner(
                    self.documents, self._inverse.source, penalty, self._inverse.products
                )
            if approximate.prepare(merged.rows, lambda done: self._progress("sureness", done, n)):
                diagonal = approximate.inverse_diagonal()
                if np.abs(diagonal[probes] / exact - 1).max() <= PROBE_TOLERANCE:
                    return diagonal
        system = self.documents.kernel(merged.rows)
        np.einsum("ii->i", system)[:] += penalty[merged.rows]
        inverse: Floats = np.diagonal(linalg.inv(system, overwrite_a=True, check_finite=False))
        return inverse

    def _merge(self, training: Rows) -> Merged:
        originals = self._originals[training]
        rows = _distinct(np.concatenate([self._inverse.source, originals]))
        place = np.empty(len(self.documents), np.intp)
        place[rows] = np.arange(len(rows))
        group = place[originals]
        return Merged(rows, np.bincount(group, minlength=len(rows)).astype(float), group)

    def _solve(self, merged: Merged, mean: Floats, *, bias: bool) -> tuple[Floats, Floats]:
        """Return the weights of the merged documents, and intercepts."""
        right = np.hstack([mean, np.ones((len(mean), 1))]) if bias else mean
        penalty = (self.alpha / merged.counts)[:, None]
        weights = None

        def multiply(vectors: Floats) -> Floats:
            return self._kernel_times(merged.rows, vectors) + penalty * vectors

        if self._inverse.prepare(
            merged.rows, lambda done: self._progress("training", done, len(merged.rows))
        ):
            reach = (
                len(merged.rows) * (len(self.documents) if self.documents.adapt else 1) / self.alpha
            )
            tolerance = (
                TOLERANCE * float(np.abs(right).max(initial=1.0)) * max(1e-6, min(1.0, reach))
            )  # for tiny scores too
            apart = self._inverse.apart()
            weights = conjugate_gradients(
                multiply, self._inverse, right, apart=apart, tolerance=tolerance, limit=self._steps
            )
        if weights is None:
            weights = solve_in_double(
                self.documents.kernel(merged.rows), right, penalty[:, 0], multiply
            )
        return split_intercepts(weights) if bias else (weights, np.zeros(mean.shape[1]))

    def _kernel_times(self, rows: Rows, vectors: Floats) -> Floats:
        return self.documents.multiply(spread_weights(self.documents, rows, vectors), rows)


def split_intercepts(weights: Floats) -> tuple[Floats, Floats]:
    """Return weights and intercepts, from solutions of targets and of a last column of ones."""
    ones = weights[:, -1:]
    intercepts: Floats = weights[:, :-1].sum(axis=0) / ones.sum()
    return weights[:, :-1] - ones * intercepts, intercepts


def spread_weights(documents: KernelFeatures, rows: Rows, weights: Floats) -> Floats:
    """Return coefficients of features, for weights[i] of the kernel with document rows[i]."""
    if documents.adapt:
        return documents.gather(weights, rows)
    everywhere = np.zeros((len(documents), weights.shape[1]))
    everywhere[rows] = weights
    return everywhere


def solve_in_double(kernel: Floats, right: Floats, penalty: Floats, multiply: Map) -> Floats:
    """Return (kernel + diag(penalty))^-1 right in double precision.

    It is used when single precision fails; ``multiply`` checks the result.
    """
    diagonal = np.einsum("ii->i", kernel)
    scale = float(diagonal.mean())
    diagonal += penalty
    try:
        factor = linalg.cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
        weights: Floats = linalg.cho_solve(factor, right, check_finite=False)
        for _ in range(N_REFINEMENTS):
            residual = right - multiply(weights)
            if np.abs(residual).max(initial=0.0) <= ROUNDED_TOLERANCE * np.abs(right).max(
                initial=1.0
            ):
                return weights
            weights += linalg.cho_solve(factor, residual, check_finite=False)
    except linalg.LinAlgError:
        pass
    raise SingularKernelError(
        f"alpha={penalty.max():g} is too small for this kernel (its mean diagonal is {scale:.3g}): "
        "the system is singular in "
        "double precision, or the kernel is not positive definite; "
        f"try alpha={max(10 * float(penalty.max()), 1e-10 * len(kernel) * scale):.1g} or larger"
    )


def is_mirrored(columns: Floats) -> bool:
    """Return True for two columns of which one is the negative of the other."""
    return columns.shape[1] == 2 and bool((columns[:, 0] == -columns[:, 1]).all())


def _distinct(rows: Rows) -> Rows:
    """Return each row once, in the order of first occurrence."""
    _, first = np.unique(rows, return_index=True)
    return rows[np.sort(first)]
