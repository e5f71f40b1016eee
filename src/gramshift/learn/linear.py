"""Features of n-grams, whose kernel is multiplied without being computed, and ridge regression.

Ridge regression is solved by conjugate gradients, in double precision.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.conjugate import Sketch, combine, conjugate_gradients, inner, orthonormalize
from gramshift.learn.features import KernelFeatures
from gramshift.learn.pseudo_labels import N_FOLDS, assign_folds
from gramshift.learn.ridge import (
    Coefficients,
    KernelRidgeSolver,
    SingularKernelError,
    is_mirrored,
    split_intercepts,
)
from gramshift.learn.training_set import Rows
from gramshift.learn.vectors import VectorFeatures
from gramshift.memory import release_freed_memory
from gramshift.ngrams.feature_lists import FeatureLists
from gramshift.parallel import Progress

Floats = NDArray[np.float64]
MAX_CELLS = 1 << 22  # similarities computed in one pass
MIN_ROWS, MAX_ROWS = 16, 1024  # documents of a pass
MAX_PASSES = 8  # whose similarities are held at a time
TOLERANCE = 1e-6  # of scores, relative to the largest target
ROUNDING = 1e-13  # of the right-hand side: what double precision leaves
MAX_STEPS = 1000
MAX_PLAIN_STEPS = 200  # without a preconditioner
N_SKETCHED = 1000  # documents whose similarities make a preconditioner
MAX_DENSE = 2000  # documents whose kernel matrix is always small enough


@dataclass(frozen=True)
class NGramFeaturesPart:
    """N-gram lists of one kernel, with weights.

    ``own`` is the part of k(x, x) by n-grams of one document, ``scale`` is 1 / sqrt(k(x, x)).
    """

    lists: FeatureLists
    weights: Floats
    own: Floats
    scale: Floats

    def multiply(self, vectors: Floats, run: Any) -> Floats:
        """Return the normalised kernel times vectors."""
        scaled = self.scale[:, None] * vectors
        result = self.lists.multiply(self.weights, scaled, run=run)
        result += self.own[:, None] * scaled
        result *= self.scale[:, None]
        return result

    def rows(self, documents: Rows, others: Rows) -> Floats:
        """Return the normalised kernel of some documents with others."""
        result = self.lists.rows(self.weights, documents, others)
        result += np.where(documents[:, None] == others, self.own[others], 0.0)
        result *= self.scale[others]
        result *= self.scale[documents, None]
        return result

    def narrow(self, documents: Rows, run: Any) -> "NGramFeaturesPart":
        """Return the part for some documents, in ascending order."""
        lists, weights, own = self.lists.narrow(self.weights, documents, run=run)
        return NGramFeaturesPart(lists, weights, own + self.own[documents], self.scale[documents])


@dataclass(frozen=True)
class NGramFeatures:
    """The mean of several normalised kernels: sums over shared n-grams, and cosines of vectors.

    ``weights`` has the weight of each part; None if all have weight 1.
    """

    parts: Sequence[NGramFeaturesPart | VectorFeatures]
    run: Any
    """Applies a function to every item, on threads."""
    weights: Sequence[float] | None = None

    def __len__(self) -> int:
        return len(self.parts[0].scale)

    def with_vectors(self, vectors: VectorFeatures, weight: float) -> "NGramFeatures":
        """Return features with vectors too; ``weight`` is relative to the mean of the others."""
        n = len(self.parts)
        return NGramFeatures([*self.parts, vectors], self.run, [*[1.0] * n, n * weight])

    def multiply(self, vectors: Floats, rows: Rows | None = None) -> Floats:
        """Return the kernel times vectors, for some ``rows`` or all."""
        total = self._average(part.multiply(vectors, self.run) for part in self.parts)
        return total if rows is None else total[rows]

    def _average(self, found: Iterable[Floats]) -> Floats:
        """Return the weighted mean of new arrays, one of each part."""
        weights = self.weights or [1.0] * len(self.parts)
        total = None
        for values, weight in zip(found, weights, strict=True):
            values *= weight  # noqa: PLW2901 - a new array, changed in place
            total = values if total is None else np.add(total, values, out=total)
        assert total is not None, "there is a part"
        total /= sum(weights)
        return total

    def rows(self, documents: Rows, others: Rows | None = None) -> Iterator[Floats]:
        """Yield similarities of some documents to all, or to some others, block after block."""
        columns = np.arange(len(self)) if others is None else others
        size = int(np.clip(MAX_CELLS // max(1, len(columns)), MIN_ROWS, MAX_ROWS))

        def work(block: Rows) -> Floats:
            return self._average(part.rows(block, columns) for part in self.parts)

        blocks = [documents[start : start + size] for start in range(0, len(documents), size)]
        for start in range(0, len(blocks), MAX_PASSES):
            yield from self.run(work, blocks[start : start + MAX_PASSES])

    def narrow(self, documents: Rows) -> "NGramFeatures":
        """Return the features of some documents, in ascending order, among each other."""
        narrowed = [part.narrow(documents, self.run) for part in self.parts]
        return replace(self, parts=narrowed)

    def times(self, factors: Floats) -> "NGramFeatures":
        """Return features in which every document is multiplied by its factor."""
        scaled = [replace(part, scale=part.scale * factors) for part in self.parts]
        return replace(self, parts=scaled)


class LinearRidge:
    """Minimises |K W + b - Y|^2 + alpha tr(W' K W) by products with K alone.

    The error of any score is at most |residual| / (2 sqrt(alpha)), because its similarities to the
    training documents are a row of a kernel with at most 1 on its diagonal. Steps end when that is
    below 1e-6 of the largest target. With ``bias``, b is computed from two solutions with such
    errors and from their sums, so that their residuals must be smaller.
    """

    def __init__(
        self,
        documents: NGramFeatures,
        alpha: float,
        *,
        bias: bool = False,
        progress: Progress | None = None,
        tolerance: float = TOLERANCE,
        steps: int = MAX_STEPS,
        few: int = MAX_DENSE,
        most: int | None = None,
        sketched: int = N_SKETCHED,
        weights: Floats | None = None,
    ) -> None:
        """``few``: up to this many documents, held-out scores use the dense kernel matrix.

        ``most``: the largest number of documents for which memory allows one. If 200 steps do not
        solve a system, these are trained on by it. More documents take ``steps`` with a
        preconditioner, made from the similarities to ``sketched`` of them, and are refused if that
        fails. With ``weights``, each squared error is multiplied by the document's weight, as if
        documents and targets were multiplied by its root.
        """
        assert weights is None or not bias, (
            "documents with weights have no intercept that is not penalised"
        )
        self._roots = None if weights is None else np.sqrt(weights)
        self.documents = documents
        self.alpha = alpha
        self.bias = bias
        self._progress = progress or (lambda *_: None)
        self._tolerance = tolerance
        self._steps = steps
        self._few = few
        self._most = max(few, most or 0)
        self._sketched = sketched
        self._is_hard = False  # whether plain conjugate gradients have failed once

    def solve(
        self, training: Rows, targets: Floats, near: Coefficients | None = None
    ) -> Coefficients:
        """Train on some documents, starting with the coefficients ``near``."""
        order = np.argsort(training)
        rows, mirrored = training[order], is_mirrored(targets)
        roots = np.ones((len(rows), 1)) if self._roots is None else self._roots[rows, None]
        right = targets[order][:, mirrored:] * roots
        start = (
            np.zeros(right.shape) if near is None else near.coefficients[rows][:, mirrored:] / roots
        )
        weights, intercepts = self._solve(rows, right, start)
        weights *= roots
        release_freed_memory()  # the memory of the narrowed lists
        coefficients = np.zeros((len(self.documents), right.shape[1]))
        coefficients[rows] = weights
        return Coefficients.of_columns(coefficients, intercepts, mirrored=mirrored)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """Return held-out scores: exact ones of few documents, else by 5-fold cross-validation."""
        if len(training) <= (self._most if self._is_hard else self._few):
            roots = 1.0 if self._roots is None else self._roots[training, None]
            return self._exact(training).held_out(np.arange(len(training)), targets * roots) / roots
        scores, fold = np.empty(targets.shape), assign_folds(targets.argmax(axis=1))
        fitted = None
        for number in range(N_FOLDS):
            self._progress("sureness", number, N_FOLDS)
            held, kept = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            fitted = self.solve(training[kept], targets[kept], fitted)
            scores[held] = fitted.score(self.documents, training[held])
        self._progress("sureness", N_FOLDS, N_FOLDS)
        return scores

    def _exact(self, training: Rows) -> KernelRidgeSolver:
        """Return the solver that uses the kernel matrix of these documents."""
        order, ones, rows = np.argsort(training), np.ones(len(training)), np.arange(len(training))
        place = np.empty_like(order)
        place[order] = rows
        gram = np.vstack(list(self._narrow(training[order]).rows(rows)))
        if (place != rows).any():
            gram = gram[np.ix_(place, place)]
        return KernelRidgeSolver(
            KernelFeatures(gram, ones, ones, adapt=False), rows, self.alpha, bias=self.bias
        )

    def _narrow(self, rows: Rows) -> NGramFeatures:
        """Return training documents, in ascending order, among each other."""
        narrowed = self.documents.narrow(rows)
        return narrowed if self._roots is None else narrowed.times(self._roots[rows])

    def _solve(self, rows: Rows, right: Floats, start: Floats) -> tuple[Floats, Floats]:
        """Return weights of training documents, in ascending order, and intercepts.

        Conjugate gradients come first. If they fail once, all systems from then on are solved by a
        kernel matrix, if memory allows one, else by preconditioned conjugate gradients.
        """
        if not np.abs(right).max(initial=0.0) and not self.bias:  # targets that do not differ
            return np.zeros(right.shape), np.zeros(right.shape[1])
        if not self._is_hard:
            system = self._make_system(rows, right, start)
            weights = self._descend(system)
            if weights is not None and self._is_accurate(system, weights):
                return self._split(weights)
            self._is_hard = True
            del system  # frees the narrowed lists
        if len(rows) <= self._most:
            exact = self._exact(rows).solve(np.arange(len(rows)), right)
            return exact.coefficients.copy(), exact.intercepts
        system = self._make_system(rows, right, start)
        weights = self._descend_sketched(system)
        if weights is None:
            reason = f"{self._steps} steps of conjugate gradients do not get to the solution"
            raise self._too_small(len(rows), reason)
        if not self._is_accurate(system, weights):
            reason = "double precision is not enough for coefficients as large as these"
            raise self._too_small(len(rows), reason)
        return self._split(weights)

    def _make_system(self, rows: Rows, right: Floats, start: Floats) -> "LinearSystem":
        """Return (K + alpha) x = right; with ``bias`` a last column of ones is solved too."""
        tolerance = self._tolerance
        if self.bias:
            n = len(right)
            right = np.hstack([right, np.ones((n, 1))])
            start = np.hstack([start, np.zeros((n, 1))])
            tolerance /= 2 + 4 * np.sqrt(1 + self.alpha / n)
        largest = float(np.abs(right).max(initial=0.0))
        by_tolerance = 2 * np.sqrt(self.alpha) * tolerance * largest
        by_rounding = ROUNDING * float(np.linalg.norm(right))
        allowed = max(by_tolerance, by_rounding)
        return LinearSystem(self._narrow(rows), self.alpha, right, start, allowed)

    def _split(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return weights and intercepts of the targets."""
        return split_intercepts(weights) if self.bias else (weights, np.zeros(weights.shape[1]))

    def _too_small(self, n: int, reason: str) -> SingularKernelError:
        advice = f"try alpha={max(10 * self.alpha, 1e-9):.1g} or larger"
        return SingularKernelError(
            f"alpha={self.alpha:g} is too small for these {n} documents: {reason}; {advice}"
        )

    def _descend_sketched(self, system: "LinearSystem") -> Floats | None:
        """Solve by preconditioned conjugate gradients; None if ``steps`` are not enough."""
        n = len(system.right)
        chosen = np.unique(np.linspace(0, n - 1, min(n, self._sketched)).astype(np.intp))
        columns = np.empty((len(chosen), n))
        n_filled = 0
        for block in system.documents.rows(chosen):
            columns[n_filled : n_filled + len(block)] = block
            n_filled += len(block)
        sketch = Sketch(columns.T, chosen, self.alpha)
        del columns
        n_steps = 0

        def multiply(vectors: Floats) -> Floats:
            nonlocal n_steps
            self._progress("training", min(n_steps, self._steps), self._steps)
            n_steps += 1
            return system.documents.multiply(vectors) + self.alpha * vectors

        return conjugate_gradients(
            multiply,
            sketch,
            system.right,
            apart=system.start,
            tolerance=system.allowed / np.sqrt(n),  # of each number, so that no column is too long
            limit=self._steps,
        )

    def _descend(self, system: "LinearSystem") -> Floats | None:
        """Solve by conjugate gradients; None if 200 steps are not enough.

        All columns share their directions, so that several need fewer steps than one (Dubrulle
        2001, BCGrQ). The residual is ``basis`` @ ``factors``, with orthonormal columns in
        ``basis``.
        """
        x, allowed = system.start.copy(), system.allowed
        basis, factors = orthonormalize(system.residual(x) if x.any() else system.right)
        direction, length = basis, _max_length(factors)
        first = max(length, allowed)
        for _ in range(min(self._steps, MAX_PLAIN_STEPS)):
            self._progress("training", _percent(first, max(length, allowed), allowed), 100)
            if length <= allowed:
                return x
            image = system.documents.multiply(direction)
            image += self.alpha * direction
            products = inner(direction, image)
            if not np.isfinite(products).all():
                return None
            symmetric = (products + products.T) / 2
            step = np.linalg.pinv(symmetric, hermitian=True).astype(np.float64)
            x += combine(direction, step @ factors)
            basis, turn = orthonormalize(basis - combine(image, step))
            direction, factors = basis + combine(direction, turn.T), turn @ factors
            length = _max_length(factors)
        return None

    def _is_accurate(self, system: "LinearSystem", x: Floats) -> bool:
        """Return True if scores have the tolerance in double precision.

        Coefficients can be so large that their sums lose all digits, which the residual updated
        from step to step does not show. Only for large ones is the true residual computed.
        """
        most = self._tolerance * float(np.abs(system.right).max(initial=0.0))
        if np.finfo(float).eps * float(np.linalg.norm(x)) <= most / 10:
            return True
        return bool(np.abs(system.residual(x)).max() <= most)


@dataclass(frozen=True)
class LinearSystem:
    """The system (K + alpha) x = right for training documents, and where its solution starts."""

    documents: NGramFeatures
    alpha: float
    right: Floats
    start: Floats
    allowed: float
    """Length of the residual of a column at which it is solved."""

    def residual(self, x: Floats) -> Floats:
        """Return right - (K + alpha) x."""
        return self.right - self.documents.multiply(x) - self.alpha * x


def _max_length(columns: Floats) -> float:
    """Return the largest Euclidean norm of a column."""
    return float(np.sqrt(np.square(columns).sum(axis=0).max(initial=0.0)))


def _percent(first: float, now: float, last: float) -> int:
    """Return the progress of a residual from first to last, on a logarithmic scale."""
    if not last < first < np.inf or not now > 0:
        return 100
    return max(0, int(100 * np.log(first / now) / np.log(first / last)))
