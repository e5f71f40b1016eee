"""Documents as a linear model of n-grams sees them: similarities that are multiplied without ever being written down.

Ridge regression on them is by conjugate gradients, in double precision.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.conjugate import combine, inner, orthonormalize
from gramshift.learn.features import GramFeatures
from gramshift.learn.labelling import Rows
from gramshift.learn.ridge import Fitted, RidgeSolver, SingularKernelError, is_mirrored
from gramshift.runtime.memory import give_back
from gramshift.runtime.threads import Progress

Floats = NDArray[np.float64]
BLOCK = 128  # documents whose similarities to all are made in one pass
TOGETHER = 8  # blocks that may be held at a time
TOLERANCE = 1e-6  # that no score is further off than, beside the largest target
ROUNDING = 1e-13  # of the right-hand side: what double precision leaves
STEPS = 1000
PATIENCE = 200  # steps, where a gram can be made instead
FOLDS = 5
FEW = 2000  # documents whose gram is made without a thought


class Lists(Protocol):
    """Which documents have which feature; X has a row per document and a column per feature."""

    def multiply(self, weights: Floats, vectors: Floats, *, run: Any) -> Floats:
        """X diag(weights) X' vectors."""

    def gather(self, vectors: Floats, *, run: Any) -> Floats:
        """X' vectors."""

    def rows(self, weights: Floats, documents: Rows) -> Floats:
        """X diag(weights) X' in full, for some documents."""

    def narrow(self, weights: Floats, documents: Rows, *, run: Any) -> "tuple[Lists, Floats, Floats]":
        """The same for some documents, which ascend; the weights that are left, and what a single document's features add."""


@dataclass(frozen=True)
class LinearPart:
    """One kernel: features with weights, what documents' own features add to their self-values, and 1 / sqrt(self-values)."""

    lists: Lists
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

    def rows(self, documents: Rows) -> Floats:
        """The rows of K-hat for some documents."""
        result = self.lists.rows(self.weights, documents)
        result[np.arange(len(documents)), documents] += self.own[documents]
        result *= self.scale
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

    adapt = False

    def __len__(self) -> int:
        return len(self.parts[0].scale)

    def multiply(self, vectors: Floats, rows: Rows | None = None) -> Floats:
        """The similarities of ``rows``, by default of all documents, to all documents, times vectors."""
        total = self.parts[0].multiply(vectors, self.run)
        for part in self.parts[1:]:
            total += part.multiply(vectors, self.run)
        total /= len(self.parts)
        return total if rows is None else total[rows]

    def gather(self, weights: Floats, rows: Rows) -> Floats:
        """The weighted sums of the similarities of ``rows`` to all documents."""
        everywhere = np.zeros((len(self), weights.shape[1]))
        np.add.at(everywhere, rows, weights)
        return self.multiply(everywhere)

    def rows(self, documents: Rows) -> Iterator[Floats]:
        """The similarities of some documents to all, block after block."""

        def work(block: Rows) -> Floats:
            total = self.parts[0].rows(block)
            for part in self.parts[1:]:
                total += part.rows(block)
            total /= len(self.parts)
            return total

        blocks = [documents[start : start + BLOCK] for start in range(0, len(documents), BLOCK)]
        for start in range(0, len(blocks), TOGETHER):
            yield from self.run(work, blocks[start : start + TOGETHER])

    def narrow(self, documents: Rows) -> "LinearFeatures":
        """Some documents by each other alone; they ascend."""
        return LinearFeatures([part.narrow(documents, self.run) for part in self.parts], self.run)


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
    ) -> None:
        """Documents that are ``few`` have a gram that is made without a thought, and the ``most`` one that memory allows.

        Where ``steps`` do not lead to the solution they are trained on by that gram, and more documents are refused.
        """
        self.documents, self.alpha, self.bias = documents, alpha, bias
        self._progress = progress or (lambda *_: None)
        self._tolerance, self._steps, self._few, self._most = tolerance, steps, few, max(few, most or 0)
        self._by_gram = False
        """Whether steps did not get to a solution, so that further ones need not try."""

    def solve(self, training: Rows, targets: Floats, near: Fitted | None = None) -> Fitted:
        """Train on some documents, from coefficients that are ``near``."""
        order = np.argsort(training)
        rows, mirrored = training[order], is_mirrored(targets)
        right = targets[order][:, mirrored:]
        start = np.zeros(right.shape) if near is None else near.coefficients[rows][:, mirrored:]
        may_use_gram = len(rows) <= self._most
        found = None
        if not self._by_gram or not may_use_gram:
            found = self._solve(self.documents.narrow(rows), right, start, PATIENCE if may_use_gram else self._steps)
        if found is None:
            self._refuse_many(len(rows))
            exact = self._exact(rows).solve(np.arange(len(rows)), right)
            found, self._by_gram = (exact.coefficients, exact.intercepts), True
        give_back()  # what the narrowed lists took
        weights, intercepts = found
        coefficients = np.zeros((len(self.documents), right.shape[1]))
        coefficients[rows] = weights
        if mirrored:
            coefficients, intercepts = (np.concatenate([-part, part], axis=-1) for part in (coefficients, intercepts))
        return Fitted(coefficients, intercepts)

    def held_out(self, training: Rows, targets: Floats) -> Floats:
        """What each document scores by a fit without it; of more than ``few`` documents, without a fifth of them at a time.

        Where they are trained on by their gram, its factor tells of any number of them.
        """
        if len(training) <= (self._most if self._by_gram else self._few):
            return self._exact(training).held_out(np.arange(len(training)), targets)
        scores, codes = np.empty(targets.shape), targets.argmax(axis=1)
        fold = np.empty(len(training), np.intp)
        for code in np.unique(codes):  # each class is spread over all folds
            fold[codes == code] = (np.arange(np.sum(codes == code)) + code) % FOLDS
        fitted = None
        for number in range(FOLDS):
            self._progress("sureness", number, FOLDS)
            held, kept = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            fitted = self.solve(training[kept], targets[kept], fitted)
            scores[held] = fitted.score(self.documents, training[held])
        self._progress("sureness", FOLDS, FOLDS)
        return scores

    def _exact(self, training: Rows) -> RidgeSolver:
        """What trains on few documents by their gram."""
        order, ones, rows = np.argsort(training), np.ones(len(training)), np.arange(len(training))
        place = np.empty_like(order)
        place[order] = rows
        gram = np.vstack(list(self.documents.narrow(training[order]).rows(rows)))
        if (place != rows).any():
            gram = gram[np.ix_(place, place)]
        return RidgeSolver(GramFeatures(gram, ones, ones, adapt=False), rows, self.alpha, bias=self.bias)

    def _refuse_many(self, n: int) -> None:
        """Raise an error if steps do not lead to an end and there are too many documents for their gram."""
        if n > self._most:
            raise SingularKernelError(
                f"alpha={self.alpha:g} is too small for these {n} documents: {self._steps} steps of conjugate gradients do not "
                f"get to the solution; try alpha={max(10 * self.alpha, 1e-9):.1g} or larger"
            )

    def _solve(self, documents: LinearFeatures, right: Floats, start: Floats, steps: int) -> tuple[Floats, Floats] | None:
        """Weights and intercepts of documents that are all in the training set; None if steps do not lead there."""
        tolerance = self._tolerance
        if self.bias:
            right, start = (np.hstack([part, filled(part)]) for part, filled in ((right, _ones), (start, _zeros)))
            tolerance /= 2 + 4 * np.sqrt(1 + self.alpha / len(right))
        weights = self._descend(documents, right, start, tolerance, min(steps, self._steps))
        if weights is None or not self.bias:
            return None if weights is None else (weights, np.zeros(right.shape[1]))
        ones = weights[:, -1:]
        intercepts: Floats = weights[:, :-1].sum(axis=0) / ones.sum()
        return weights[:, :-1] - ones * intercepts, intercepts

    def _descend(self, documents: LinearFeatures, right: Floats, x: Floats, tolerance: float, steps: int) -> Floats | None:
        """Solve (K + alpha) x = right by conjugate gradients; None if ``steps`` do not get there.

        All columns share their directions, so that many need fewer steps than one (Dubrulle 2001, BCGrQ): the residual is
        ``basis`` @ ``left``.
        """
        largest = float(np.abs(right).max(initial=0.0))
        allowed = max(2 * np.sqrt(self.alpha) * tolerance * largest, ROUNDING * float(np.linalg.norm(right)))
        x = x.copy()
        basis, left = orthonormalize(self._residual(documents, right, x) if x.any() else right)
        direction, now = basis, _longest(left)
        first = max(now, allowed)
        for _ in range(steps):
            self._progress("training", _percent(first, max(now, allowed), allowed), 100)
            if now <= allowed:
                return x if self._holds(documents, right, x) else None
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


def _ones(like: Floats) -> Floats:
    return np.ones((len(like), 1))


def _zeros(like: Floats) -> Floats:
    return np.zeros((len(like), 1))
