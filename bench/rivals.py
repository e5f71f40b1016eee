"""Kernel matrices, Algorithm 1 and tf-idf, written with scikit-learn, NumPy and SciPy."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from bench.corpus import NGRAM_RANGE, Texts

Gram = NDArray[np.int64]
Floats = NDArray[np.float64]
KINDS = ("presence", "intersection", "spectrum")
N_ADDED = 1000
ALPHA = 1e-5
VIEWS: tuple[dict[str, Any], ...] = (
    {"analyzer": "word", "ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
)
N_STEPS = 4
N_FOLDS = 5


class MismatchError(Exception):
    """Two contestants disagree, so that their times mean nothing."""


def kernel_matrix(kind: str, texts: Texts) -> Gram:
    """Multiply the counts of CountVectorizer with themselves; the texts are normalised already."""
    counter = CountVectorizer(
        analyzer="char", ngram_range=NGRAM_RANGE, lowercase=False, binary=kind == "presence"
    )
    counts = counter.fit_transform(texts)
    if kind == "intersection":
        counts = number_occurrences(counts)
    gram: Gram = (counts @ counts.T).toarray()
    return gram


def number_occurrences(counts: Any) -> Any:
    """Return a column for each numbered occurrence; a count of c sets the first c of them."""
    most = np.zeros(counts.shape[1], np.int64)
    np.maximum.at(most, counts.indices, counts.data)
    ends = np.cumsum(counts.data)
    first_column = np.cumsum(most) - most
    number = np.arange(ends[-1]) - np.repeat(ends - counts.data, counts.data)
    columns = np.repeat(first_column[counts.indices], counts.data) + number
    bounds = np.concatenate(([0], ends))[counts.indptr]
    return sparse.csr_matrix(
        (np.ones(columns.size, np.int64), columns, bounds), shape=(counts.shape[0], int(most.sum()))
    )


def require_equal(ours: Gram, theirs: Gram, what: str) -> None:
    """Raise an error unless every cell is the same."""
    if ours.dtype != theirs.dtype or not np.array_equal(ours, theirs):
        differ = (
            f"{np.count_nonzero(ours != theirs)} of {ours.size} cells"
            if ours.shape == theirs.shape
            else "shapes"
        )
        raise MismatchError(
            f"{what}: gramshift and scikit-learn differ ({differ}, {ours.dtype} and {theirs.dtype})"
        )


def algorithm_1(gram: Gram, codes: NDArray[Any], n_source: int, *, stage: str = "tkc") -> Floats:
    """Score the target documents, which follow the source, by two rounds or an earlier stage."""
    # a document without n-grams gets 0 / 1
    diagonal = np.sqrt(np.maximum(np.diagonal(gram), 1))
    kernel = gram / np.outer(diagonal, diagonal)
    if stage != "plain":
        kernel = np.exp(-1 + kernel)
        kernel = kernel @ kernel.T
    train, labels = np.arange(n_source), codes[:n_source]
    scores = fit_predict(kernel, train, labels, n_source)
    if stage == "tkc":
        n_added = min(N_ADDED, len(scores) // 2)
        surest = np.argsort(-np.abs(scores), kind="stable")[:n_added]
        train = np.concatenate([train, n_source + surest])
        labels = np.concatenate([labels, (scores[surest] > 0).astype(int)])
        scores = fit_predict(kernel, train, labels, n_source)
    return scores


def fit_predict(kernel: Floats, train: NDArray[Any], labels: NDArray[Any], n_source: int) -> Floats:
    """Train kernel ridge regression on +1 and -1."""
    system = kernel[np.ix_(train, train)] + ALPHA * np.eye(len(train))
    weights = linalg.solve(system, np.where(labels == 1, 1.0, -1.0), assume_a="pos")
    scores: Floats = kernel[n_source:][:, train] @ weights
    return scores


def label_reviews(n: int) -> tuple[NDArray[np.intp], int]:
    """Return classes of n reviews and the number of source reviews; the last domain is target."""
    places = np.arange(n)
    return (places * 8 // n + 1) % 2, n - n // 4


class Tfidf:
    """Logistic regression on tf-idf, trained on the source alone."""

    def fit(self, X: Texts, y: Any, *, target: Texts) -> Self:
        """Learn and label, as our own classifiers do."""
        source, found = vectorise(tuple(X), tuple(target))
        return self._keep(learn(source, y), found)

    def _keep(self, model: Any, found: Any) -> Self:
        self.classes_ = model.classes_
        self.transduction_proba_ = model.predict_proba(found)
        self.transduction_ = self.classes_[self.transduction_proba_.argmax(axis=1)]
        return self


class BalancedTfidf(Tfidf):
    """Tf-idf with self-training in four steps, with the class proportions of the source."""

    def fit(self, X: Texts, y: Any, *, target: Texts) -> Self:
        """Learn; in each step add pseudo-labels of the previous model and learn again."""
        source, found = vectorise(tuple(X), tuple(target))
        model = learn(source, y)
        shares = np.array([np.mean(y == label) for label in model.classes_])
        for step in range(1, N_STEPS + 1):
            rows, codes = most_confident(
                model.predict_proba(found),
                np.round(step / (N_STEPS + 1) * len(target) * shares).astype(int),
            )
            model = learn(
                sparse.vstack([source, found[rows]]).tocsr(),
                np.concatenate([y, model.classes_[codes]]),
            )
        return self._keep(model, found)


def most_confident(probabilities: Any, quotas: Any) -> tuple[Any, Any]:
    """Return rows and classes of the most confident documents of each class, up to its quota."""
    codes = probabilities.argmax(axis=1)
    chosen = []
    for code, quota in enumerate(quotas):
        given = np.flatnonzero(codes == code)
        chosen.append(given[np.argsort(-probabilities[given, code], kind="stable")][:quota])
    rows = np.concatenate(chosen)
    return rows, codes[rows]


def learn(source: Any, y: Any) -> Any:
    """Fit logistic regression on one core; its vectors are too short for several threads."""
    with threadpool_limits(1):
        return LogisticRegression(C=10, max_iter=1000).fit(source, y)


@lru_cache(maxsize=8)  # both rivals of a cell take the same draws
def vectorise(X: tuple[str, ...], target: tuple[str, ...]) -> tuple[Any, Any]:
    """Return the tf-idf of words and characters side by side; the source decides on features."""
    both = [one_view(X, target, view) for view in VIEWS]
    source, found = (sparse.hstack(parts).tocsr() for parts in zip(*both, strict=True))
    return source, found


def one_view(X: Sequence[str], target: Sequence[str], view: dict[str, Any]) -> tuple[Any, Any]:
    """Weigh features of at least two documents, or of one if there are no others."""
    vectoriser = TfidfVectorizer(sublinear_tf=True, min_df=2, **view)
    try:
        source = vectoriser.fit_transform(X)
    except ValueError:
        vectoriser.set_params(min_df=1)
        source = vectoriser.fit_transform(X)
    return source, vectoriser.transform(target)


def learn_own_labels(texts: Texts, labels: Any) -> Any:
    """Return the mask of correct labels in cross-validation on the true labels of one domain.

    None where a class has fewer documents than there are folds, or all documents have one class.
    """
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) == 1 or counts.min() < N_FOLDS:
        return None
    right = np.zeros(len(texts), bool)
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(labels, labels):
        model = Tfidf().fit(
            [texts[i] for i in train], labels[train], target=[texts[i] for i in test]
        )
        right[test] = model.transduction_ == labels[test]
    return right


RIVALS: dict[str, type[Tfidf]] = {"tfidf": Tfidf, "tfidf balanced": BalancedTfidf}
