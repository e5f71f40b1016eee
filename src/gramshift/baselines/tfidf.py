"""Linear classifiers on weighted words or characters, and NB-SVM."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.word_features import (
    Linear,
    binary,
    columns,
    count_characters,
    count_words,
    document_frequency,
    find_characters,
    find_words,
    fit_logistic,
    fit_machine,
    inverse_frequency,
    score,
    weigh,
)
from gramshift.kernels.registry import check_ngram_range
from gramshift.learn.calibrate import softmax
from gramshift.learn.pseudo_labels import choose_by_shares

MIN_DOCUMENTS = 2  # that contain a word, for self-training


class TfidfLogistic(Baseline):
    """Logistic regression on weighted words and pairs of words, trained on the source alone.

    Parameters
    ----------
    C : float
        Inverse regularisation.

    Examples
    --------
    >>> from gramshift.baselines import TfidfLogistic
    >>> source = ["a great pan", "it broke at once", "great knife", "broke, sadly"]
    >>> target = ["a great film", "the disc broke"]
    >>> clf = TfidfLogistic().fit(source, ["good", "bad", "good", "bad"], target=target)
    >>> clf.transduction_.tolist()
    ['good', 'bad']
    """

    needs_target = False

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source)
        inverse = inverse_frequency(counts)
        linear = fit_logistic(weigh(counts, inverse), codes, C=self.C)
        return {"words": words, "inverse": inverse, "linear": linear}

    def _describe(self, state: State, texts: list[str]) -> Any:
        return weigh(count_words(texts, state["words"]), state["inverse"])


class TfidfCharacters(Baseline):
    """Linear support vector machine on weighted character n-grams, trained on the source alone.

    N-grams do not extend beyond a word and the blanks around it.

    Parameters
    ----------
    ngram_range : (lo, hi)
        Lengths of n-grams, including the blank before and after each word.
    C : float
        Inverse regularisation.
    """

    needs_target = False

    def __init__(self, *, ngram_range: tuple[int, int] = (3, 6), C: float = 1.0) -> None:
        self.ngram_range = ngram_range
        self.C = C

    def _check_parameters(self) -> None:
        check_ngram_range(self.ngram_range)
        super()._check_parameters()

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        ngrams, counts = find_characters(source, self.ngram_range)
        shared = document_frequency(counts) > 1
        if shared.any():  # most n-grams are in one document only
            ngrams = [ngrams[i] for i in np.flatnonzero(shared)]
            counts = counts[:, shared]
        inverse = inverse_frequency(counts)
        linear = fit_machine(weigh(counts, inverse), codes, C=self.C)
        return {"ngrams": ngrams, "inverse": inverse, "linear": linear}

    def _describe(self, state: State, texts: list[str]) -> Any:
        counts = count_characters(texts, state["ngrams"], self.ngram_range)
        return weigh(counts, state["inverse"])


class SelfTraining(TfidfLogistic):
    """Self-training by scikit-learn's SelfTrainingClassifier over tf-idf and logistic regression.

    Words of a single document are left out: they would learn any label given to this document.

    Parameters
    ----------
    C : float
        Inverse regularisation.
    threshold : float
        Minimum probability of a document that joins the training set.
    adapt : bool
        False to train on the source alone, with the same words.
    """

    needs_target = True
    largest: ClassVar = {"threshold": 1.0}

    def __init__(self, *, C: float = 10.0, threshold: float = 0.95, adapt: bool = True) -> None:
        super().__init__(C=C)
        self.threshold = threshold
        self.adapt = adapt

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source + target, least=min(MIN_DOCUMENTS, len(source)))
        inverse = inverse_frequency(counts)
        features = weigh(counts, inverse)
        learn = self._train_itself if self.adapt else self._train_once
        return {"words": words, "inverse": inverse, "linear": learn(features, codes)}

    def _train_once(self, features: Any, codes: Codes) -> Linear:
        return fit_logistic(features[: len(codes)], codes, C=self.C)

    def _train_itself(self, features: Any, codes: Codes) -> Linear:
        """Learn from all documents; source documents, with ``codes``, come first."""
        model = SelfTrainingClassifier(
            LogisticRegression(C=self.C, max_iter=5000), threshold=self.threshold
        )
        unknown = np.full(features.shape[0] - len(codes), -1)
        return columns(model.fit(features, np.concatenate([codes, unknown])).estimator_)


class BalancedSelfTraining(SelfTraining):
    """Self-training in equal steps, with the class proportions of the source.

    In each step the previous model labels all target documents, and the most confident ones of each
    class join the training set: first a quarter of the target, at last all of it, with the class
    proportions of the source. Zou, Yu, Kumar and Wang (ECCV 2018) balance classes in this way.

    Parameters
    ----------
    n_steps : int
        Number of steps until all target documents have joined.
    C : float
        Inverse regularisation.
    adapt : bool
        False to train on the source alone, with the same words.
    """

    def __init__(self, *, n_steps: int = 4, C: float = 100.0, adapt: bool = True) -> None:
        super().__init__(C=C, adapt=adapt)
        self.n_steps = n_steps

    def _train_itself(self, features: Any, codes: Codes) -> Linear:
        n, shares = len(codes), np.bincount(codes) / len(codes)
        linear = self._train_once(features, codes)
        for step in range(1, self.n_steps + 1):
            n_joining = round(step / self.n_steps * (features.shape[0] - n))
            probabilities = softmax(score(features[n:], linear), 1.0)
            rows, found = choose_by_shares(probabilities, n_joining, shares)
            learnt = np.concatenate([np.arange(n), n + rows])
            linear = fit_logistic(features[learnt], np.concatenate([codes, found]), C=self.C)
        return linear


class NBSVM(Baseline):
    """NB-SVM of Wang and Manning (ACL 2012), trained on the source alone.

    The value of a word or pair of words in a document is the logarithm of its frequency ratio in
    and outside of the class. A linear support vector machine learns from these values; its weights
    are then interpolated with their mean magnitude, which alone gives naive Bayes, and its
    intercept with that of naive Bayes. Several classes are each separated from all others.

    Parameters
    ----------
    smoothing : float
        Added to the number of documents with each word, in and outside of the class.
    C : float
        Inverse regularisation of the machine.
    interpolation : float
        Share of the machine's own weights: 1 for the machine, near 0 for naive Bayes.
    """

    needs_target = False
    largest: ClassVar = {"interpolation": 1.0}

    def __init__(
        self, *, smoothing: float = 1.0, C: float = 1.0, interpolation: float = 0.25
    ) -> None:
        self.smoothing = smoothing
        self.C = C
        self.interpolation = interpolation

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source)
        present = binary(counts)
        if n_classes == 2:
            own, threshold = self._fit_one(present, codes == 1)
            linear = np.column_stack([-own, own]), np.array([-threshold, threshold])
        else:
            each = [self._fit_one(present, codes == code) for code in range(n_classes)]
            linear = np.column_stack([own for own, _ in each]), np.array([at for _, at in each])
        return {"words": words, "linear": linear}

    def _describe(self, state: State, texts: list[str]) -> Any:
        return binary(count_words(texts, state["words"]))

    def _fit_one(self, present: Any, is_class: NDArray[np.bool_]) -> tuple[Floats, float]:
        """Return word weights and intercept for one class against all others."""
        ratios = log_count_ratios(present, is_class, self.smoothing)
        coefficients, intercepts = fit_machine(
            present.multiply(ratios).tocsr(), is_class.astype(np.intp), C=self.C
        )
        own, kept = coefficients[:, 1], self.interpolation
        mean = np.abs(own).mean()
        prior = np.log(is_class.sum() / (~is_class).sum())
        threshold = (1 - kept) * mean * prior + kept * intercepts[1]
        return ratios * ((1 - kept) * mean + kept * own), float(threshold)


def log_count_ratios(counts: Any, is_class: NDArray[np.bool_], smoothing: float) -> Floats:
    """Return the log ratio of each word's share of counts in and outside of the class."""
    inside, outside = (
        smoothing + np.asarray(counts[rows].sum(axis=0)).ravel() for rows in (is_class, ~is_class)
    )
    ratios: Floats = np.log((inside / inside.sum()) / (outside / outside.sum()))
    return ratios
