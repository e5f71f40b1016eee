"""What one would try first: tf-idf of words and characters with logistic regression, alone and with self-training."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from bench.corpus import Texts

VIEWS: tuple[dict[str, Any], ...] = (
    {"analyzer": "word", "ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 5)},
)
STEPS = 4
FOLDS = 5


class Tfidf:
    """The source alone is learnt from; the target is only labelled."""

    def fit(self, X: Texts, y: Any, *, target: Texts) -> Self:
        """Learn and label, as our own classifiers do."""
        source, found = vectorise(X, target)
        return self._keep(learn(source, y), found)

    def _keep(self, model: Any, found: Any) -> Self:
        self.classes_ = model.classes_
        self.transduction_proba_ = model.predict_proba(found)
        self.transduction_ = self.classes_[self.transduction_proba_.argmax(axis=1)]
        return self


class BalancedTfidf(Tfidf):
    """The same with self-training in four steps: of each class, by its share of the source, the surest documents join."""

    def fit(self, X: Texts, y: Any, *, target: Texts) -> Self:
        """Learn, let documents join that are labelled by the model before, learn again."""
        source, found = vectorise(X, target)
        model = learn(source, y)
        shares = np.array([np.mean(y == label) for label in model.classes_])
        for step in range(1, STEPS + 1):
            rows, codes = surest(model.predict_proba(found), np.round(step / (STEPS + 1) * len(target) * shares).astype(int))
            model = learn(sparse.vstack([source, found[rows]]).tocsr(), np.concatenate([y, model.classes_[codes]]))
        return self._keep(model, found)


def surest(probabilities: Any, quotas: Any) -> tuple[Any, Any]:
    """Choose rows and classes of the documents that join: of those given to a class the surest, no more than its quota."""
    codes = probabilities.argmax(axis=1)
    chosen = []
    for code, quota in enumerate(quotas):
        given = np.flatnonzero(codes == code)
        chosen.append(given[np.argsort(-probabilities[given, code], kind="stable")][:quota])
    rows = np.concatenate(chosen)
    return rows, codes[rows]


def learn(source: Any, y: Any) -> Any:
    """Fit logistic regression on one core: vectors are short, and threads that wait for each other take ten times as long."""
    with threadpool_limits(1):
        return LogisticRegression(C=10, max_iter=1000).fit(source, y)


def vectorise(X: Texts, target: Texts) -> tuple[Any, Any]:
    """Put the tf-idf of words and of characters side by side, with what the source alone has."""
    return _vectorise(tuple(X), tuple(target))


@lru_cache(maxsize=8)  # both rivals of a cell take the same draws
def _vectorise(X: tuple[str, ...], target: tuple[str, ...]) -> tuple[Any, Any]:
    both = [one_view(X, target, view) for view in VIEWS]
    source, found = (sparse.hstack(parts).tocsr() for parts in zip(*both, strict=True))
    return source, found


def one_view(X: Sequence[str], target: Sequence[str], view: dict[str, Any]) -> tuple[Any, Any]:
    """Count what two documents have at least, or one where nothing else is left."""
    vectoriser = TfidfVectorizer(sublinear_tf=True, min_df=2, **view)
    try:
        source = vectoriser.fit_transform(X)
    except ValueError:
        vectoriser.set_params(min_df=1)
        source = vectoriser.fit_transform(X)
    return source, vectoriser.transform(target)


def learn_own_labels(texts: Texts, labels: Any) -> Any:
    """Find which documents are labelled rightly by what others of the same domain teach with their true labels.

    None where a class has fewer documents than there are folds, or all documents have one class.
    """
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) == 1 or counts.min() < FOLDS:
        return None
    right = np.zeros(len(texts), bool)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(labels, labels):
        model = Tfidf().fit([texts[i] for i in train], labels[train], target=[texts[i] for i in test])
        right[test] = model.transduction_ == labels[test]
    return right


RIVALS: dict[str, Any] = {"tfidf": Tfidf, "tfidf balanced": BalancedTfidf}
