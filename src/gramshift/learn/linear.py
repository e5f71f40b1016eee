"""Documents as a linear model of n-grams sees them: similarities that are multiplied without ever being written down.

Ridge regression on them is by conjugate gradients, in double precision.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.conjugate import Sketch, combine, conjugate_gradients, inner, orthonormalize
from gramshift.learn.features import GramFeatures
from gramshift.learn.labelling import Rows
from gramshift.learn.ridge import (
    Fitted,
    RidgeSolver,
    SingularKernelError,
    is_mirrored,
    split_intercepts,
)
from gramshift.learn.selection import N_FOLDS, assign_folds
from gramshift.ngrams.feature_lists import FeatureLists
from gramshift.runtime.memory import give_back
from gramshift.runtime.threads import Progress

Floats = NDArray[np.float64]
CELLS = 1 << 22  # similarities that are made in one pass
BLOCK = 16, 1024  # documents, as few and as many as these are of
TOGETHER = 8  # passes whose similarities may be held at a time
TOLERANCE = 1e-6  # that no score is further off than, beside the largest target
ROUNDING = 1e-13  # of the right-hand side: what double precision leaves
STEPS = 1000
PATIENCE = 200  # steps before the gram of the documents, or of some of them, is made
SKETCHED = 1000  # documents whose similarities tell enough of all for a preconditioner
FEW = 2000  # documents whose gram is made without a thought


@dataclass(frozen=True)
class LinearPart:
    """One kernel: features with weights, what documents' own features add to their self-values, and 1 / sqrt(self-values)."""

    lists: FeatureLists
    weights: Floats
    own: Floats
    scale: Floats

    def multiply(self, vectors: Floats, run: Any) -> Floats:
        """K-hat times vectors."""
        scaled = self.scale[:, None] * vectors
        result = self.lists.multiply(self.weights, scaled, run=run)
        result += self.own[:, None] * scaled
        result *= self.scale[:, None]
        return result

    def rows(self, documents: Rows, others: Rows) -> Floats:
        """The cells of K-hat for some documents and others."""
        result = self.lists.rows(self.weights, documents, others)
        result += np.where(documents[:, None] == others, self.own[others], 0.0)
        result *= self.scale[others]
        result *= self.scale[documents, None]
        return result

    def narrow(self, documents: Rows, run: Any) -> "LinearPart":
        """The same for some documents, which ascend."""
        lists, weights, own = self.lists.narrow(self.weights, documents, run=run)
        return LinearPart(lists, weights, own + self.own[documents], self.scale[documents])


@dataclass(frozen=True)
class LinearFeatures:
    """The mean of several kernels of documents, each a weighted sum over n-grams, normalised."""

    parts: Sequence[LinearPart]
    run: Any
    """Applies a function to every item, on threads."""

    def __len__(self) -> int:
        return len(self.parts[0].scale)

    def multiply(self, vectors: Floats, rows: Rows | None = None) -> Floats:
        """The similarities of ``rows``, by default of all documents, to all documents, times vectors."""
        total = self.parts[0].multiply(vectors, self.run)
        for part in self.parts[1:]:
            total += part.multiply(vectors, self.run)
        total /= len(self.parts)
        return total if rows is None else total[rows]

    def rows(self, documents: Rows, others: Rows | None = None) -> Iterator[Floats]:
        """The similarities of some documents to all, or to some others, block after block."""
        columns = np.arange(len(self)) if others is None else others
        size = int(np.clip(CELLS // max(1, len(columns)), *BLOCK))

        def work(block: Rows) -> Floats:
            total = self.parts[0].rows(block, columns)
            for part in self.parts[1:]:
                total += part.rows(block, columns)
            total /= len(self.parts)
            return total

        blocks = [documents[start : start + size] for start in range(0, len(documents), size)]
        for start in range(0, len(blocks), TOGETHER):
            yield from self.run(work, blocks[start : start + TOGETHER])

    def narrow(self, documents: Rows) -> "LinearFeatures":
        """Some documents by each other alone; they ascend."""
        return LinearFeatures([part.narrow(documents, self.run) for part in self.parts], self.run)

    def times(self, factors: Floats) -> "LinearFeatures":
        """The same with every document multiplied by its factor."""
        return LinearFeatures(
            [replace(part, scale=part.scale * factors) for part in self.parts], self.run
        )


class LinearRidge:
    """Minimises |K W + b - Y|^2 + alpha tr(W' K W) by products with K alone.

    A score of any document is off by no more than |residual| / (2 sqrt(alpha)), because its similarities to the training
    documents are a row of a kernel with at most 1 on its diagonal. Steps end where that is below 1e-6 of the largest target.
    With ``bias`` b comes of two solutions that are off by as much, and of their sums, so that less may be left of each.
    """

    def __init__(
        self,
        documents: LinearFeatures,
        alpha: float,
        *,
        bias: bool = False,
        progress: Progress | None = None,
        tolerance: float = TOLERANCE,
        steps: int = STEPS,
        few: int = FEW,
        most: int | None = None,
        sketched: int = SKETCHED,
        weights: Floats | None = None,
    ) -> None:
        """Documents that are ``few`` have a gram that is made without a thought, and the ``most`` one that memory allows.

        Where 200 steps do not lead to the solution they are trained on by that gram. More documents take ``steps`` with a
        preconditioner, made from the similarities to ``sketched`` of them, and are refused if that does not lead there either.
        The squared error of each document counts by its weight, if there are ``weights``: that is the same as training on
        documents and targets that are multiplied by the root of it.
        """
        assert weights is None or not bias, (
            "documents with weights have no intercept that is not penalised"
        )
        self._roots = None if weights is None else np.sqrt(weights)
        self.documents, self.alpha, self.bias = documents, alpha, bias
        self._progress = progress or (lambda *_: None)
        self._tolerance, self._steps, self._few, self._most = (
            tolerance,
            steps,
            few,
            max(few, most or 0),
        )
        self._sketched = sketched
        self._is_hard = False
        """Whether steps alone did not get to a solution, so that they need not be tried again."""

    def solve(self, training: Rows, targets: Floats, near: Fitted | None = None) -> Fitted:
        """Train on some documents, from coefficients that are ``near``."""
        order = np.argsort(training)
        rows, mirrored = training[order], is_mirrored(targets)
        roots = np.ones((len(rows), 1)) if self._roots is None else self._roots[rows, None]
        right = targets[order][:, mirrored:] * roots
        start = (
            np.zeros(right.shape) if near is None else near.coefficients[rows][:, mirrored:] / roots
        )
        weights, intercepts = self._solve(rows, right, start)
        weights *= roots
        give_back()  # what the narrowed lists took
        coefficients = np.zeros((len(self.documents), right.shape[1]))
        coefficients[rows] = weights
        return Fitted.of_columns(coefficients, intercepts, mirrored=mirrored)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """What each document scores by a fit without it; of more than ``few`` documents, without a fifth of them at a time.

        Where they are trained on by their gram, its factor tells of any number of them.
        """
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

    def _exact(self, training: Rows) -> RidgeSolver:
        """What trains on few documents by their gram."""
        order, ones, rows = np.argsort(training), np.ones(len(training)), np.arange(len(training))
        place = np.empty_like(order)
        place[order] = rows
        gram = np.vstack(list(self._narrow(training[order]).rows(rows)))
        if (place != rows).any():
            gram = gram[np.ix_(place, place)]
        return RidgeSolver(
            GramFeatures(gram, ones, ones, adapt=False), rows, self.alpha, bias=self.bias
        )

    def _narrow(self, rows: Rows) -> LinearFeatures:
        """Training documents, which ascend, by each other alone."""
        narrowed = self.documents.narrow(rows)
        return narrowed if self._roots is None else narrowed.times(self._roots[rows])

    def _solve(self, rows: Rows, right: Floats, start: Floats) -> tuple[Floats, Floats]:
        """Weights of training documents, which ascend, and intercepts."""
        if self._is_hard and len(rows) <= self._most:
            exact = self._exact(rows).solve(np.arange(len(rows)), right)
            return exact.coefficients.copy(), exact.intercepts
        tolerance, documents = self._tolerance, self._narrow(rows)
        bordered, near = right, start
        if self.bias:
            n = len(right)
            bordered, near = (
                np.hstack([right, np.ones((n, 1))]),
                np.hstack([start, np.zeros((n, 1))]),
            )
            tolerance /= 2 + 4 * np.sqrt(1 + self.alpha / n)
        largest = float(np.abs(bordered).max(initial=0.0))
        if largest == 0:  # targets that do not differ
            return np.zeros(right.shape), np.zeros(right.shape[1])
        allowed = max(
            2 * np.sqrt(self.alpha) * tolerance * largest,
            ROUNDING * float(np.linalg.norm(bordered)),
        )
        weights = None if self._is_hard else self._descend(documents, bordered, near, allowed)
        if weights is None or not self._holds(documents, bordered, weights):
            self._is_hard = True
            if len(rows) <= self._most:
                del documents
                return self._solve(rows, right, start)
            weights = self._descend_sketched(documents, bordered, near, allowed)
            if weights is None or not self._holds(documents, bordered, weights):
                raise SingularKernelError(self._tell_small(len(rows), lasting=weights is None))
        return split_intercepts(weights) if self.bias else (weights, np.zeros(right.shape[1]))

    def _tell_small(self, n: int, *, lasting: bool) -> str:
        reason = "double precision is not enough for coefficients as large as these"
        if lasting:
            reason = f"{self._steps} steps of conjugate gradients do not get to the solution"
        advice = f"try alpha={max(10 * self.alpha, 1e-9):.1g} or larger"
        return f"alpha={self.alpha:g} is too small for these {n} documents: {reason}; {advice}"

    def _descend_sketched(
        self, documents: LinearFeatures, right: Floats, x: Floats, allowed: float
    ) -> Floats | None:
        """Solve (K + alpha) x = right by conjugate gradients with a preconditioner; None if ``steps`` do not get there."""
        n, done = len(right), 0
        chosen = np.unique(np.linspace(0, n - 1, min(n, self._sketched)).astype(np.intp))
        columns = np.empty((len(chosen), n))
        for block in documents.rows(chosen):
            columns[done : done + len(block)] = block
            done += len(block)
        sketch, done = Sketch(columns.T, chosen, self.alpha), 0
        del columns

        def multiply(vectors: Floats) -> Floats:
            nonlocal done
            self._progress("training", min(done, self._steps), self._steps)
            done += 1
            return documents.multiply(vectors) + self.alpha * vectors

        tolerance = allowed / np.sqrt(
            n
        )  # of each number, so that no column is longer than what is allowed
        return conjugate_gradients(
            multiply, sketch, right, apart=x, tolerance=tolerance, limit=self._steps
        )

    def _descend(
        self, documents: LinearFeatures, right: Floats, x: Floats, allowed: float
    ) -> Floats | None:
        """Solve (K + alpha) x = right by conjugate gradients; None if 200 steps do not get there.

        All columns share their directions, so that many need fewer steps than one (Dubrulle 2001, BCGrQ): the residual is
        ``basis`` @ ``left``.
        """
        x = x.copy()
        basis, left = orthonormalize(self._residual(documents, right, x) if x.any() else right)
        direction, now = basis, _longest(left)
        first = max(now, allowed)
        for _ in range(min(self._steps, PATIENCE)):
            self._progress("training", _percent(first, max(now, allowed), allowed), 100)
            if now <= allowed:
                return x
            moved = documents.multiply(direction)
            moved += self.alpha * direction
            products = inner(direction, moved)
            if not np.isfinite(products).all():
                return None
            step = np.linalg.pinv((products + products.T) / 2, hermitian=True).astype(np.float64)
            x += combine(direction, step @ left)
            basis, turn = orthonormalize(basis - combine(moved, step))
            direction, left = basis + combine(direction, turn.T), turn @ left
            now = _longest(left)
        return None

    def _residual(self, documents: LinearFeatures, right: Floats, x: Floats) -> Floats:
        """What is left to explain, in double precision."""
        return right - documents.multiply(x) - self.alpha * x

    def _holds(self, documents: LinearFeatures, right: Floats, x: Floats) -> bool:
        """Whether double precision has scores to the tolerance: coefficients can be so large that little is left of their sums.

        That is looked at only where they are; the residual that is carried on from step to step knows nothing of it.
        """
        most = self._tolerance * float(np.abs(right).max(initial=0.0))
        if np.finfo(float).eps * float(np.linalg.norm(x)) <= most / 10:
            return True
        return bool(np.abs(self._residual(documents, right, x)).max() <= most)


def _longest(columns: Floats) -> float:
    return float(np.sqrt(np.square(columns).sum(axis=0).max(initial=0.0)))


def _percent(first: float, left: float, last: float) -> int:
    """How far a residual has come from the first to the last one, which is reached in about equal factors."""
    if not last < first < np.inf or not left > 0:
        return 100
    return max(0, int(100 * np.log(first / left) / np.log(first / last)))
