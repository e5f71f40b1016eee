"""What a user of scikit-learn would reach for: weighted words or characters, a linear classifier, self-training on top."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.checks import check_flag, check_number
from gramshift.baselines.word_features import (
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


class TfidfLogistic(Baseline):
    """Logistic regression on weighted words and pairs of words. It looks at no target document.

    Parameters
    ----------
    C : float
        Inverse of the penalty.

    Examples
    --------
    >>> from gramshift.baselines import TfidfLogistic
    >>> source = ["a great pan", "it broke at once", "great knife", "broke, sadly"]
    >>> clf = TfidfLogistic().fit(source, ["good", "bad", "good", "bad"], target=["a great film", "the disc broke"])
    >>> clf.transduction_.tolist()
    ['good', 'bad']
    """

    needs_target = False

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def _check_parameters(self) -> None:
        check_number("C", self.C)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source)
        inverse = inverse_frequency(counts)
        coefficients, intercepts = fit_logistic(weigh(counts, inverse), codes, C=self.C)
        return {"words": words, "inverse": inverse, "coefficients": coefficients, "intercepts": intercepts}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        features = weigh(count_words(texts, state["words"]), state["inverse"])
        return score(features, (state["coefficients"], state["intercepts"]))


class TfidfCharacters(Baseline):
    """Linear support vector machine on weighted character n-grams within words. It looks at no target document.

    Parameters
    ----------
    ngram_range : (lo, hi)
        Lengths of n-grams, with the blanks that stand before and after each word.
    C : float
        Inverse of the penalty.
    """

    needs_target = False

    def __init__(self, *, ngram_range: tuple[int, int] = (3, 6), C: float = 1.0) -> None:
        self.ngram_range = ngram_range
        self.C = C

    def _check_parameters(self) -> None:
        check_ngram_range(self.ngram_range)
        check_number("C", self.C)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        ngrams, counts = find_characters(source, self.ngram_range)
        shared = document_frequency(counts) > 1
        if shared.any():  # what one document alone has is most of all n-grams, and tells nothing of others
            ngrams, counts = [ngrams[i] for i in np.flatnonzero(shared)], counts[:, shared]
        inverse = inverse_frequency(counts)
        coefficients, intercepts = fit_machine(weigh(counts, inverse), codes, C=self.C)
        return {"ngrams": ngrams, "inverse": inverse, "coefficients": coefficients, "intercepts": intercepts}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        features = weigh(count_characters(texts, state["ngrams"], self.ngram_range), state["inverse"])
        return score(features, (state["coefficients"], state["intercepts"]))


class SelfTraining(TfidfLogistic):
    """scikit-learn's SelfTrainingClassifier over the above: target documents that it is sure of join the training set.

    Parameters
    ----------
    C : float
        Inverse of the penalty.
    threshold : float
        From which probability on a document joins.
    adapt : bool
        False for the logistic regression alone, on the same words.
    """

    needs_target = True

    def __init__(self, *, C: float = 1.0, threshold: float = 0.75, adapt: bool = True) -> None:
        super().__init__(C=C)
        self.threshold = threshold
        self.adapt = adapt

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("threshold", self.threshold, most=1.0)
        check_flag("adapt", self.adapt)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source + target)
        inverse = inverse_frequency(counts)
        features = weigh(counts, inverse)
        if self.adapt:
            coefficients, intercepts = self._train_itself(features, np.concatenate([codes, np.full(len(target), -1)]))
        else:
            coefficients, intercepts = fit_logistic(features[: len(source)], codes, C=self.C)
        return {"words": words, "inverse": inverse, "coefficients": coefficients, "intercepts": intercepts}

    def _train_itself(self, features: Any, codes: Codes) -> tuple[Floats, Floats]:
        model = SelfTrainingClassifier(LogisticRegression(C=self.C, max_iter=5000), threshold=self.threshold)
        return columns(model.fit(features, codes).estimator_)
