"""The base class of all baselines, with the interface of our own classifier."""

import math
import time
from abc import ABC, abstractmethod
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

from gramshift.baselines.word_features import score
from gramshift.errors import InputError
from gramshift.learn.calibrate import fit_steepness, log_of, softmax
from gramshift.learn.pseudo_labels import choose_classes
from gramshift.model.inputs import gather
from gramshift.model.labels import encode_labels, is_missing
from gramshift.text.documents import as_documents

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
State = dict[str, Any]
N_FOLDS = 3  # of the calibration


class Baseline(ClassifierMixin, BaseEstimator, ABC):
    """A classifier to compare with, used like our own: ``fit(X, y, target=...)``.

    A subclass trains in ``_learn``. Unless it has a ``_score_texts`` of its own, the state has the
    model "linear", which scores the features of texts that ``_describe`` returns. Baselines cannot
    be saved.

    As for our own classifier, ``labeled_iter_`` is 0 for source and -1 for target documents, and
    ``history_`` has one round.
    """

    two_classes: ClassVar[bool] = False
    """True if the method is defined for two classes only."""
    needs_target: ClassVar[bool] = True
    largest: ClassVar[dict[str, float]] = {}
    """The largest allowed value of some numbers, by name."""

    @abstractmethod
    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        """Train, and return the state that scoring needs; ``codes`` are the source's classes."""

    def _describe(self, state: State, texts: list[str]) -> Any:
        """Return the features of texts, with a row for each text."""
        raise NotImplementedError

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        """Return the scores of texts, with a column for each class."""
        return score(self._describe(state, texts), state["linear"])

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, judged by the type of its default."""
        for name, parameter in signature(type(self)).parameters.items():
            check_value(
                name, getattr(self, name), parameter.default, self.largest.get(name, math.inf)
            )

    def fit(self, X: Any, y: Any, *, target: Any = None) -> Self:
        """Learn from X with labels y, adapt to the target documents and label them.

        Documents of X with a missing label (None, NaN, NA) are target documents too, before those
        of ``target``.
        """
        self._check_parameters()
        begun = time.perf_counter()
        given = gather(X, y, target, read=as_documents)
        source, unlabelled = (
            [given.documents[row] for row in np.flatnonzero(is_chosen)]
            for is_chosen in (given.is_source, ~given.is_source)
        )
        classes, codes = encode_labels([label for label in given.labels if not is_missing(label)])
        self._check_task(len(classes), len(unlabelled))
        self._train(classes, source, codes, unlabelled)
        self.labeled_iter_ = np.where(given.is_source, 0, -1)
        found = self.transduction_.tolist()
        counts = {label: found.count(label) for label in classes.tolist()}
        none = dict.fromkeys(counts, 0)
        self.history_: list[dict[str, Any]] = [
            {"added": none, "changed": 0, "labels": counts, "seconds": time.perf_counter() - begun}
        ]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels of documents, without fitting again."""
        scores = self._score(X)  # raises the error of an unfitted classifier
        labels: NDArray[Any] = self.classes_[choose_classes(scores)]
        return labels

    def decision_function(self, X: Any) -> Floats:
        """Return the score of the second of two classes, or a column for each class."""
        scores = self._score(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, calibrated on held-out source documents."""
        return softmax(self._score(X), self._calibrate())

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of each class probability; that of 0 is minus infinity."""
        return log_of(self.predict_proba(X))

    @property
    def transduction_proba_(self) -> Floats:
        """Class probabilities of the target documents."""
        self._check_fitted()
        return softmax(self.transduction_score_, self._calibrate())

    def _check_task(self, n_classes: int, n_target: int) -> None:
        name = type(self).__name__
        if self.two_classes and n_classes != 2:
            raise InputError(f"{name} is defined for two classes; y has {n_classes}")
        if self.needs_target and not n_target and getattr(self, "adapt", True):
            raise InputError(
                f"{name} learns from target documents too: give them as target=, or leave gaps in y"
            )

    def _train(
        self, classes: NDArray[Any], source: list[str], codes: Codes, target: list[str]
    ) -> None:
        self._state = self._learn(source, codes, target, len(classes))
        self._training = source, codes, target
        self._steepness: float | None = None
        self.classes_ = classes
        self.transduction_score_ = self._score(target)
        self.transduction_: NDArray[Any] = classes[choose_classes(self.transduction_score_)]

    def _score(self, X: Any) -> Floats:
        self._check_fitted()
        texts = as_documents(X, name="X")
        return self._score_texts(self._state, texts) if texts else np.zeros((0, len(self.classes_)))

    def _calibrate(self) -> float:
        """Return the slope of temperature scaling; the first call trains on each fold."""
        self._check_fitted()
        if self._steepness is None:
            source, codes, target = self._training
            n_folds = min(N_FOLDS, int(np.bincount(codes).min()))
            scores = np.zeros((len(source), len(self.classes_)))
            if n_folds > 1:
                folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
                for kept, held in folds.split(source, codes):
                    texts = [source[i] for i in kept]
                    state = self._learn(texts, codes[kept], target, len(self.classes_))
                    scores[held] = self._score_texts(state, [source[i] for i in held])
            self._steepness = fit_steepness(scores, codes)
        return self._steepness

    def _check_fitted(self) -> None:
        if not hasattr(self, "_state"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.classifier_tags.multi_class = not self.two_classes
        return tags


def check_value(name: str, value: Any, default: Any, largest: float) -> None:
    """Raise an error unless a value is of the kind of its default: flag, count or number."""
    is_flag = isinstance(value, (bool, np.bool_))
    is_allowed, advice = True, ""
    if isinstance(default, bool):
        is_allowed, advice = is_flag, "True or False"
    elif isinstance(default, int):
        least = min(default, 1)
        is_allowed = isinstance(value, Integral) and not is_flag and int(value) >= least
        advice = f"a whole number from {least} on"
    elif isinstance(default, float):
        is_number = isinstance(value, Real) and not is_flag
        is_allowed = is_number and 0 < float(value) <= largest and not math.isinf(value)
        advice = "a number above 0" + ("" if math.isinf(largest) else f", up to {largest:g}")
    if not is_allowed:
        raise InputError(f"{name}={value!r}: give {advice}")
