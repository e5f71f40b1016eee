"""Ridge regression on similarities to landmarks: how these are drawn, sums over documents, one factor, refined passes."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from math import e

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from gramshift.learn.features import ALMOST_ONE
from gramshift.learn.labelling import Rows
from gramshift.learn.piecewise import LandmarkFeatures
from gramshift.learn.ridge import Fitted, SingularKernelError, is_mirrored
from gramshift.runtime.threads import ONE_BLAS_THREAD

Floats = NDArray[np.float64]
CHOICES = ("uniform", "spread")
CANDIDATES = 3  # for each landmark that is chosen to be far from the others
MOST_CANDIDATES = 8000  # all are compared with each other


def draw(is_source: NDArray[np.bool_], n: int, generator: np.random.Generator) -> Rows:
    """n documents, source and target in proportion, each with the same chance; in order."""
    source, target = np.flatnonzero(is_source), np.flatnonzero(~is_source)
    if n >= len(is_source):
        return np.arange(len(is_source))
    n_source = min(len(source), max(round(n * len(source) / len(is_source)), n - len(target)))
    if n > 1 and len(target):  # one of each at least
        n_source = min(max(n_source, 1), n - 1)
    chosen = [generator.choice(rows, size, replace=False) for rows, size in ((source, n_source), (target, n - n_source))]
    return np.sort(np.concatenate(chosen))


def spread(similarity_to: Callable[[int], Floats], n: int, own: Floats, generator: np.random.Generator) -> Rows:
    """n of the candidates by the rule of k-means++: each drawn in proportion to its squared distance from those before.

    ``similarity_to(i)`` are the kernel values of all candidates with candidate i, ``own`` those with themselves.
    """
    chosen = [int(generator.integers(len(own)))]
    distance = np.full(len(own), np.inf)
    while len(chosen) < n:
        last = chosen[-1]
        distance = np.minimum(distance, np.maximum(own + own[last] - 2 * similarity_to(last), 0))
        distance[chosen] = 0
        total = np.cumsum(distance)
        if total[-1] <= 0:  # all that is left are copies
            left = np.setdiff1d(np.arange(len(own)), chosen)
            return np.sort(np.concatenate([chosen, left[: n - len(chosen)]])).astype(np.intp)
        chosen.append(int(np.searchsorted(total, generator.random() * total[-1], side="right").clip(0, len(own) - 1)))
    return np.sort(np.array(chosen, np.intp))


SMALLEST = 1e-12  # added to the landmarks' own similarities of 1, where some of them are copies of others
SETTLED = 1e-11  # a pass that moves no score by more is the last one
PASSES = 8
BEYOND = 1e200  # a feature divided by its root is nothing
QUICK = 4000  # landmarks
SAMPLE = 512  # documents that tell what landmarks cannot say


@dataclass(frozen=True)
class System:
    """The triangular factor of Z'Z + penalty, where the rows of Z are features, with a 1 behind each if there is a bias."""

    factor: Floats
    penalty: float


@dataclass(frozen=True)
class Solved:
    """Weights of the features (and the bias, if there is one, below them), and what is left of the targets."""

    weights: Floats
    residual: Floats

    def with_mirror(self) -> "Solved":
        """For targets of two classes, which are each other's negative: both from the second."""
        return Solved(*(np.concatenate([-part, part], axis=1) for part in (self.weights, self.residual)))


@dataclass(frozen=True)
class Trained:
    """The last training, which held-out scores need again."""

    training: Rows
    targets: Floats
    system: System
    solved: Solved

    def is_of(self, training: Rows, targets: Floats) -> bool:
        return np.array_equal(self.training, training) and np.array_equal(self.targets, targets)


class LandmarkRidge:
    """Minimises |X W + b - Y|^2 + penalty |W|^2, where the rows of X are documents described by landmarks.

    Descriptions of an adapted kernel are used as they are. Of a plain kernel the similarities of the landmarks with each
    other, ``own``, decide what a description means: features are own^(-1/2) times it, so that their inner products are the
    kernel again.

    In the exact kernel every document is most similar to itself, which keeps a fit from following single documents. Others
    than landmarks lack that here. So the penalty is alpha and, on average over these, what landmarks cannot say of them:
    s - c' own^-1 c, for similarities c to the landmarks and s to itself; in an adapted kernel, which multiplies similarities,
    its square. That kernel is a sum over all documents; over landmarks it is smaller by their share, and so is the penalty.
    With all documents as landmarks nothing is unsaid, and all of this is the exact classifier.
    """

    def __init__(self, documents: LandmarkFeatures, landmarks: Rows, source: Rows, alpha: float, *, bias: bool = False) -> None:
        self.documents, self.landmarks, self.source, self.alpha, self.bias = documents, landmarks, source, alpha, bias
        self._last: Trained | None = None

    def solve(self, training: Rows, targets: Floats, near: Fitted | None = None) -> Fitted:
        """Train on some documents; ``source`` begins them."""
        weights, n = self._train(training, targets).solved.weights, self.documents.n_landmarks
        return Fitted(self._as_coefficients(weights[:n]), weights[n:].sum(axis=0))

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """What each training document would score by a fit without it, in closed form.

        That is y - residual / (1 - leverage). Where documents are fewer than landmarks all residuals are small, and so is what
        leverage lacks to 1: then that comes from the kernel's inverse.
        """
        trained = self._train(training, targets)
        system, residual = trained.system, trained.solved.residual
        if len(training) > self.documents.n_landmarks:
            below = 1 - self.documents.leverage(training, self._for_descriptions(system.factor))
        else:
            below = system.penalty * self._inverse_diagonal(training, system.penalty)
        scores: Floats = targets - residual / np.maximum(below, np.finfo(float).tiny)[:, None]
        return scores

    @cached_property
    def _source_sums(self) -> Floats:
        return self.documents.products(self.source)

    @cached_property
    def _root(self) -> Floats:
        """The triangular root of the landmarks' own similarities; copies of landmarks say nothing more, and get no weight."""
        system = self.documents.cells(self.landmarks).T  # in the order that the factor needs
        own = np.diagonal(system).copy()
        is_copy = np.tril(system >= ALMOST_ONE * np.maximum.outer(own, own), -1).any(axis=1)
        unneeded = np.flatnonzero(is_copy | (own <= 0))
        system[unneeded] = system[:, unneeded] = 0
        system[np.diag_indices_from(system)] += SMALLEST
        system[unneeded, unneeded] = BEYOND
        return _factor_of(system)

    def _train(self, training: Rows, targets: Floats) -> Trained:
        if self._last is None or not self._last.is_of(training, targets):
            self._last = None  # free it before the next is made
            system, mirrored = self._factor(training), is_mirrored(targets)
            solved = self._solve(training, targets[:, mirrored:], system)
            self._last = Trained(training, targets, system, solved.with_mirror() if mirrored else solved)
        return self._last

    def _factor(self, training: Rows) -> System:
        n = self.documents.n_landmarks
        sums = self._source_sums
        if len(training) > len(self.source):
            sums = sums + self.documents.products(training[len(self.source) :])
        penalty = self.alpha + self._unsaid
        if self.documents.adapt:
            penalty *= n / len(self.documents)
        system = np.zeros((n + self.bias, n + self.bias), order="F")
        system[:n, :n] = sums if self.documents.adapt else self._to_features(self._to_features(_mirror(sums)).T)
        if self.bias:
            system[n, :n] = self._to_features(self.documents.gather(np.ones((len(training), 1)), training))[:, 0]
            system[n, n] = len(training)
        system[np.arange(n), np.arange(n)] += penalty
        return System(_factor_of(system), penalty)

    @cached_property
    def _unsaid(self) -> float:
        """What landmarks cannot say of a document that is none, on average; they say all of themselves."""
        others = np.setdiff1d(np.arange(len(self.documents)), self.landmarks)
        if not len(others):
            return 0.0
        some = others[np.linspace(0, len(others) - 1, min(SAMPLE, len(others))).astype(np.intp)]
        adapt = self.documents.adapt
        own = len(some) - self.documents.count_empty(some) * (1 - 1 / e if adapt else 1)
        unsaid = max(0.0, float(own - self.documents.leverage(some, self._root).sum()) / len(some))
        return unsaid**2 if adapt else unsaid

    def _solve(self, training: Rows, targets: Floats, system: System) -> Solved:
        """Sums over documents are right to rounding beside their size, which is far above the penalty: what that did to the
        weights is seen in the residuals and taken out by the same factor."""
        n = self.documents.n_landmarks
        weights, residual = np.zeros((n + self.bias, targets.shape[1])), targets
        gathered = self.documents.gather(residual, training)
        for _ in range(PASSES):
            right = np.zeros_like(weights)
            right[:n] = self._to_features(gathered) - system.penalty * weights[:n]
            right[n:] = residual.sum(axis=0)
            weights += linalg.cho_solve((system.factor, True), right, check_finite=False)
            before, expected = residual, targets - weights[n:].sum(axis=0)
            residual, gathered = self.documents.subtract(self._as_coefficients(weights[:n]), expected, training)
            if np.abs(residual - before).max(initial=0.0) <= SETTLED:
                break
        return Solved(weights, residual)

    def _inverse_diagonal(self, training: Rows, penalty: float) -> Floats:
        """The diagonal of (K + penalty I)^-1, or of its bordered form if there is a bias."""
        features = self._to_features(self.documents.cells(training).T)
        kernel = features.T @ features
        kernel[np.diag_indices_from(kernel)] += penalty
        inverse = linalg.inv(kernel, overwrite_a=True, check_finite=False)
        diagonal: Floats = np.diagonal(inverse).copy()
        if self.bias:
            ones = inverse.sum(axis=1)
            diagonal -= ones**2 / ones.sum()
        return diagonal

    def _to_features(self, columns: Floats) -> Floats:
        if self.documents.adapt:
            return columns
        result: Floats = linalg.solve_triangular(self._root, columns, lower=True, check_finite=False)
        return result

    def _as_coefficients(self, weights: Floats) -> Floats:
        """What each similarity is worth."""
        if self.documents.adapt:
            return weights
        result: Floats = linalg.solve_triangular(self._root, weights, lower=True, trans="T", check_finite=False)
        return result

    def _for_descriptions(self, factor: Floats) -> Floats:
        """The factor for descriptions instead of features."""
        if self.documents.adapt:
            return factor
        n = len(self._root)
        result = factor.copy()
        result[:n, :n] = self._root @ factor[:n, :n]
        return result


def _mirror(lower: Floats) -> Floats:
    """The whole of a symmetric array."""
    result: Floats = lower + np.tril(lower, -1).T
    return result


def _factor_of(system: Floats) -> Floats:
    """Its triangular factor, which takes its place.

    On one thread where that is quick: if another program has one of the cores, those of BLAS wait for each other for seconds.
    """
    try:
        with ONE_BLAS_THREAD if len(system) <= QUICK else nullcontext():
            factor: Floats = linalg.cholesky(system, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        raise SingularKernelError(
            "similarities to the landmarks cannot be told apart in double precision, or the kernel is not positive definite; "
            "try a larger alpha, or other landmarks with random_state"
        ) from None
    return factor
