"""The preset "best" written with scikit-learn and SciPy: sparse features, conjugate gradients.

Only small arrays are left to gramshift, whose rounds run on these features and solvers: the choice
of pseudo-labels, class proportions and probabilities.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from bench.corpus import Texts, normalise
from gramshift.kernels.weighting import frequency_ratios
from gramshift.learn.calibrate import softmax
from gramshift.learn.class_proportions import measure_drift
from gramshift.learn.pseudo_labels import choose_classes
from gramshift.learn.ridge import Coefficients
from gramshift.learn.rounds import ESTIMATED, Schedule, fit_rounds
from gramshift.learn.training_set import TrainingSet
from gramshift.model.settings import MIN_TARGET, PRESETS
from gramshift.runtime import Runtime
from gramshift.text.documents import digest_of

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
WORD_PATTERN = re.compile(r'[^\s.,;:!?()"]+|[!?]')
WORD_RANGE = (1, 2)
N_OPENING, MIN_OPENED_CHARACTERS = 8, 200
LENGTHS, JOINING = PRESETS["best"]["ngram_range"], PRESETS["best"]["n_added"]
ALPHA = 1.0
MIN_ASSOCIATION = 0.2
SMOOTHING = 1.0
TOLERANCE = 1e-8  # of the residual, relative to the right-hand side


@dataclass(frozen=True)
class LinearModel:
    """Vectorizers with the weights of n-grams, and their coefficients by class."""

    parts: list[tuple[Any, Floats, Floats]]
    intercepts: Floats

    def score(self, texts: Texts) -> Floats:
        """Return the scores of new documents."""
        normalised, total = normalise(texts), self.intercepts
        for vectorizer, weights, coefficients in self.parts:
            present = vectorizer.transform(normalised)
            total = total + (present @ coefficients) * _one_over_root(present @ weights)[:, None]
        return np.asarray(total)

    def pruned(self) -> "LinearModel":
        """Return the model without n-grams of weight 0, as one would keep it."""
        parts = []
        for vectorizer, weights, coefficients in self.parts:
            kept = weights > 0
            words = vectorizer.get_feature_names_out()[kept].tolist()
            smaller = clone(vectorizer).set_params(vocabulary=words, min_df=1)
            parts.append((smaller, weights[kept], coefficients[kept]))
        return LinearModel(parts, self.intercepts)


@dataclass(frozen=True)
class Found:
    """Labels, scores and probabilities of the target, and a model for new documents."""

    codes: Codes
    scores: Floats
    probabilities: Floats
    model: LinearModel


def make_vectorizers() -> list[CountVectorizer]:
    """Of characters and of words; n-grams of one document weigh nothing, and are left out."""
    common: dict[str, Any] = {"lowercase": False, "binary": True, "min_df": 2, "dtype": np.float64}
    return [
        CountVectorizer(analyzer="char", ngram_range=LENGTHS, **common),
        CountVectorizer(
            tokenizer=split_words, token_pattern=None, ngram_range=WORD_RANGE, **common
        ),
    ]


def split_words(text: str) -> list[str]:
    """Return the words of a text, followed by the first ones of a long text, marked."""
    words = WORD_PATTERN.findall(text)
    opening = words[:N_OPENING] if len(text) >= MIN_OPENED_CHARACTERS else []
    return words + [f"«{word}" for word in opening]


def fit_best(source: Texts, codes: Codes, target: Texts) -> Found:
    """Return labels and probabilities of the target texts."""
    texts, vectorizers = normalise([*source, *target]), make_vectorizers()
    features = SparseDescriber([vectorizer.fit_transform(texts) for vectorizer in vectorizers])
    digests = [digest_of(text).hex() for text in [*source, *target]]
    ranks = np.argsort(np.argsort(digests, kind="stable"))
    is_source = np.arange(len(texts)) < len(source)
    training_set = TrainingSet.of_source(is_source, codes, int(codes.max()) + 1, ranks)
    n_added = tuple(max(1, round(share * len(target))) for share in JOINING)
    n_rounds = 1 + len(JOINING) if len(target) >= MIN_TARGET else 1
    outcome = fit_rounds(
        features, training_set, Schedule(n_rounds, n_added, ESTIMATED, True), Runtime(1)
    )
    last, calibration = outcome.rounds[-1], outcome.calibration
    assert calibration is not None, "best always has it"
    probabilities = softmax(calibration.scores, calibration.steepness)
    weighted = features.coefficients(outcome.training_set, last.fitted)
    model = LinearModel(list(zip(vectorizers, *weighted, strict=True)), last.fitted.intercepts)
    return Found(choose_classes(last.scores), last.scores, probabilities, model)


@dataclass(frozen=True)
class SparseFeatures:
    """Weighted n-grams of all documents: each part of length 1, both parts averaged."""

    matrix: Any

    def multiply(self, vectors: Floats, rows: Codes) -> Floats:
        """Return the similarities of some documents to all, times vectors."""
        return np.asarray(self.matrix[rows] @ (self.matrix.T @ vectors))

    def solve(self, training: Codes, targets: Floats, near: Any = None) -> Coefficients:
        """Train ridge regression on some documents by conjugate gradients on the dual system."""
        chosen = self.matrix[training]
        turned, n = chosen.T.tocsr(), len(training)
        system = LinearOperator(
            (n, n),
            matvec=lambda vector: chosen @ (turned @ vector) + ALPHA * vector,
            dtype=np.float64,
        )
        columns = targets[:, 1:] if targets.shape[1] == 2 else targets
        found = np.zeros((self.matrix.shape[0], columns.shape[1]))
        found[training] = np.column_stack(
            [cg(system, column, rtol=TOLERANCE, atol=0.0)[0] for column in columns.T]
        )
        found = np.hstack([-found, found]) if targets.shape[1] == 2 else found
        return Coefficients(found, np.zeros(targets.shape[1]))


class SparseDescriber:
    """The documents of a fit by their n-grams, with weights by class."""

    by_labels = True

    def __init__(self, present: Sequence[Any]) -> None:
        self.present, self.n = present, present[0].shape[0]
        self.having = [_count(one, np.ones((self.n, 1)))[:, 0] for one in present]

    def features_for(self, training_set: TrainingSet, *, across: bool = False) -> Any:
        """Return the features of all documents for a training set."""
        parts, weights = [], self.weigh(training_set, across=across)
        for present, one in zip(self.present, weights, strict=True):
            kept = present[:, one > 0]
            scale = _one_over_root(len(weights) * (present @ one))
            data = np.sqrt(one[one > 0])[kept.indices] * np.repeat(scale, np.diff(kept.indptr))
            parts.append(csr_matrix((data, kept.indices, kept.indptr), shape=kept.shape))
        return SparseFeatures(hstack(parts, format="csr"))

    def make_solver(self, features: Any, source: Codes) -> Any:
        """Return the features, which train themselves."""
        return features

    def measure_drift(self, training_set: TrainingSet) -> float:
        """Return the drift of words and pairs of words."""
        counts = _count(self.present[-1], _by_domain(training_set)).T.astype(np.int64)
        return measure_drift(
            *frequency_ratios(counts, np.bincount(~training_set.is_source, minlength=2))
        )

    def weigh(self, training_set: TrainingSet, *, across: bool = False) -> list[Floats]:
        """Return log(N / df)^2 times the association with classes.

        With ``across``, it is multiplied by the ratio of the smaller and the larger domain share.
        """
        of_class, of_domain = np.zeros((self.n, training_set.n_classes)), _by_domain(training_set)
        of_class[training_set.training, training_set.codes] = 1.0
        result = []
        for present, having in zip(self.present, self.having, strict=True):
            weights = np.log(self.n / having) ** 2 * associate(
                _count(present, of_class), of_class.sum(axis=0)
            )
            if across:
                shares = _count(present, of_domain) / of_domain.sum(axis=0)
                weights *= shares.min(axis=1) / shares.max(axis=1)
            result.append(weights)
        return result

    def coefficients(
        self, training_set: TrainingSet, fitted: Coefficients
    ) -> tuple[list[Floats], list[Floats]]:
        """Return the weight of each n-gram and its coefficient for every class."""
        weights, worth = self.weigh(training_set), []
        for present, one in zip(self.present, weights, strict=True):
            scaled = fitted.coefficients * _one_over_root(present @ one)[:, None]
            worth.append(one[:, None] * np.asarray(present.T @ scaled) / len(weights))
        return weights, worth


def _by_domain(training_set: TrainingSet) -> Floats:
    return np.column_stack([training_set.is_source, ~training_set.is_source]).astype(float)


def associate(having: Floats, totals: Floats) -> Floats:
    """Return the largest |log(a / b)| over classes, 0 below MIN_ASSOCIATION."""
    n, everywhere, best = totals.sum(), having.sum(axis=1), np.zeros(len(having))
    for code in range(1 if len(totals) == 2 else len(totals)):
        size = totals[code]
        if 0 < size < n:
            inside, expected = having[:, code], everywhere * (size / n)
            ratio = (inside + SMOOTHING) / (expected + SMOOTHING)
            ratio *= (everywhere - expected + SMOOTHING) / (everywhere - inside + SMOOTHING)
            np.maximum(best, np.abs(np.log(ratio)), out=best)
    best[best < MIN_ASSOCIATION] = 0.0
    return best


def _count(present: Any, groups: Floats) -> Floats:
    """Return the number of documents of each group that have each n-gram."""
    return np.asarray(present.T @ groups)


def _one_over_root(values: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(values), out=np.zeros(len(values)), where=values > 0)
