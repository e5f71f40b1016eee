"""What the preset "best" does, written down with scikit-learn and SciPy: sparse features, conjugate gradients, five rounds.

Only small arrays are left to gramshift: which documents join, the shares of classes, and what scores are as probabilities.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from bench.corpus import NGRAM_RANGE, Texts, normalise
from gramshift.learn.calibrate import agree, fit_offsets, fit_steepness, softmax
from gramshift.learn.selection import choose_by_shares, choose_classes, estimate_shares, one_versus_all, settle_shares

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
WORD_PATTERN = r'[^\s.,;:!?()"]+|[!?]'
WORD_RANGE = (1, 2)
JOINING = (0.25, 0.5, 0.75, 1.0)
ALPHA, WEAK, SMOOTHING = 1.0, 0.2, 1.0
TOLERANCE = 1e-8  # of the residual, beside the right-hand side


@dataclass(frozen=True)
class LinearModel:
    """A coefficient per n-gram and class, and what n-grams weigh in the norm of a document; for characters and for words."""

    vectorizers: list[Any]
    weights: list[Floats]
    coefficients: list[Floats]

    def score(self, texts: Texts) -> Floats:
        """Scores of new documents."""
        normalised, total = normalise(texts), 0.0
        for vectorizer, weights, coefficients in zip(self.vectorizers, self.weights, self.coefficients, strict=True):
            present = vectorizer.transform(normalised)
            total = total + (present @ coefficients) * _one_over_root(present @ weights)[:, None]
        return np.asarray(total)

    def pruned(self) -> "LinearModel":
        """The same with none but the n-grams that weigh something, which is what one would keep."""
        vectorizers = []
        for vectorizer, weights in zip(self.vectorizers, self.weights, strict=True):
            words = vectorizer.get_feature_names_out()[weights > 0].tolist()
            vectorizers.append(clone(vectorizer).set_params(vocabulary=words, min_df=1))
        kept = [weights > 0 for weights in self.weights]
        parts = [[one[some] for one, some in zip(several, kept, strict=True)] for several in (self.weights, self.coefficients)]
        return LinearModel(vectorizers, *parts)


@dataclass(frozen=True)
class Found:
    """Labels, scores and probabilities of the target, and a model for documents never seen."""

    codes: Codes
    scores: Floats
    probabilities: Floats
    model: LinearModel


def make_vectorizers(ngram_range: tuple[int, int] = NGRAM_RANGE) -> list[CountVectorizer]:
    """Of characters and of words; n-grams of one document weigh nothing, and are left out."""
    common: dict[str, Any] = {"lowercase": False, "binary": True, "min_df": 2, "dtype": np.float64}
    return [
        CountVectorizer(analyzer="char", ngram_range=ngram_range, **common),
        CountVectorizer(analyzer="word", token_pattern=WORD_PATTERN, ngram_range=WORD_RANGE, **common),
    ]


def fit_best(source: Texts, codes: Codes, target: Texts, *, ngram_range: tuple[int, int] = NGRAM_RANGE) -> Found:
    """From texts to labels and probabilities."""
    texts, vectorizers = normalise([*source, *target]), make_vectorizers(ngram_range)
    present = [vectorizer.fit_transform(texts) for vectorizer in vectorizers]
    fit = Rounds(present, len(source), int(codes.max()) + 1)
    rows = np.arange(len(source))
    scores, shares = fit.solve(rows, codes, fit.target), fit.find_shares(codes)
    training, known = rows, codes
    for share in JOINING:
        added, their_codes = choose_by_shares(scores, max(1, round(share * len(target))), shares)
        training, known = np.concatenate([rows, len(source) + added]), np.concatenate([codes, their_codes])
        scores = fit.solve(training, known, fit.target)
    last = fit.coefficients()
    held_out = fit.held_out(training, known)
    calibrated = scores.copy()
    calibrated[training[len(source) :] - len(source)] = held_out[len(source) :]
    steepness = fit_steepness(held_out[: len(source)], codes)
    chosen = choose_classes(scores)
    return Found(chosen, scores, agree(softmax(calibrated, steepness), chosen), LinearModel(vectorizers, *last))


class Rounds:
    """The documents of a fit by their n-grams, source first, and ridge regression on them with weights by class."""

    def __init__(self, present: Sequence[Any], n_source: int, n_classes: int) -> None:
        self.present, self.n_source, self.n_classes = present, n_source, n_classes
        self.n = present[0].shape[0]
        self.target = np.arange(n_source, self.n)
        self.having = [_count(one, np.ones((self.n, 1)))[:, 0] for one in present]
        self._last: Any = None

    def solve(self, training: Codes, codes: Codes, scored: Codes, *, across: bool = False) -> Floats:
        """Train on some documents, and score some."""
        weights = self._weigh(training, codes, across=across)
        features = self._features(weights)
        found = ridge(features[training], one_versus_all(codes, self.n_classes))
        self._last = weights, found
        return np.asarray(features[scored] @ found)

    def coefficients(self) -> tuple[list[Floats], list[Floats]]:
        """What the last training has found, for every n-gram."""
        weights, found = self._last
        result, start = [], 0
        for one in weights:
            kept = one > 0
            stop = start + int(np.count_nonzero(kept))
            part = np.zeros((len(one), self.n_classes))
            part[kept] = found[start:stop] * np.sqrt(one[kept] / len(weights))[:, None]
            result.append(part)
            start = stop
        return weights, result

    def held_out(self, training: Codes, codes: Codes, *, across: bool = False) -> Floats:
        """The score of each training document by what the other half teaches."""
        scores, fold = np.zeros((len(training), self.n_classes)), np.empty(len(training), np.intp)
        is_source = training < self.n_source
        for code in range(self.n_classes):
            for rows in (np.flatnonzero(is_source & (codes == code)), np.flatnonzero(~is_source & (codes == code))):
                fold[rows] = np.arange(len(rows)) % 2
        for held in (fold == 0, fold == 1):
            scores[held] = self.solve(training[~held], codes[~held], training[held], across=across)
        return scores

    def find_shares(self, codes: Codes) -> Floats:
        """The estimated share of each class in the target."""
        source = np.arange(self.n_source)
        shares: Floats = np.bincount(codes, minlength=self.n_classes) / len(codes)
        scores = self.solve(source, codes, self.target, across=True)
        offsets = fit_offsets(self.held_out(source, codes, across=True), codes)
        return settle_shares(estimate_shares(softmax(scores, *offsets), shares), shares)

    def _weigh(self, training: Codes, codes: Codes, *, across: bool) -> list[Floats]:
        """log(N / df)^2 times the association with classes, and across domains times the smaller over the larger share."""
        of_class = np.zeros((self.n, self.n_classes))
        of_class[training, codes] = 1.0
        of_domain = np.column_stack([np.arange(self.n) < self.n_source, np.arange(self.n) >= self.n_source]).astype(float)
        result = []
        for present, having in zip(self.present, self.having, strict=True):
            weights = np.log(self.n / having) ** 2 * associate(_count(present, of_class), of_class.sum(axis=0))
            if across:
                shares = _count(present, of_domain) / of_domain.sum(axis=0)
                weights *= shares.min(axis=1) / shares.max(axis=1)
            result.append(weights)
        return result

    def _features(self, weights: Sequence[Floats]) -> Any:
        """All documents by the n-grams that weigh something: each part of length 1, both parts averaged."""
        parts = []
        for present, one in zip(self.present, weights, strict=True):
            kept = present[:, one > 0]
            scale = _one_over_root(len(weights) * (present @ one))
            data = np.sqrt(one[one > 0])[kept.indices] * np.repeat(scale, np.diff(kept.indptr))
            parts.append(csr_matrix((data, kept.indices, kept.indptr), shape=kept.shape))
        return hstack(parts, format="csr")


def associate(having: Floats, totals: Floats) -> Floats:
    """The largest |log(a / b)| over classes, 0 below WEAK."""
    n, everywhere, best = totals.sum(), having.sum(axis=1), np.zeros(len(having))
    for code in range(1 if len(totals) == 2 else len(totals)):
        size = totals[code]
        if 0 < size < n:
            inside, outside = having[:, code] * (n / 2 / size), (everywhere - having[:, code]) * (n / 2 / (n - size))
            np.maximum(best, np.abs(np.log((inside + SMOOTHING) / (outside + SMOOTHING))), out=best)
    best[best < WEAK] = 0.0
    return best


def ridge(features: Any, targets: Floats) -> Floats:
    """Coefficients by conjugate gradients on the smaller, dual system; of two classes one is the other's negative."""
    turned, n = features.T.tocsr(), features.shape[0]
    system = LinearOperator((n, n), matvec=lambda vector: features @ (turned @ vector) + ALPHA * vector, dtype=np.float64)
    columns = targets[:, 1:] if targets.shape[1] == 2 else targets
    found = np.column_stack([turned @ cg(system, column, rtol=TOLERANCE, atol=0.0)[0] for column in columns.T])
    return np.hstack([-found, found]) if targets.shape[1] == 2 else found


def _count(present: Any, groups: Floats) -> Floats:
    """Documents of each group that have each n-gram."""
    return np.asarray(present.T @ groups)


def _one_over_root(values: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(values), out=np.zeros(len(values)), where=values > 0)
