"""Naive Bayes at work: its log-count ratios as features of a linear classifier, and its model of words fitted to the target."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from gramshift.baselines.base import Baseline, Codes, Floats, State, linear_members
from gramshift.baselines.checks import check_count, check_flag, check_number
from gramshift.baselines.word_features import Linear, binary, count_words, find_words, fit_machine, score
from gramshift.runtime.schema import Members, Strings

LEAST = 2  # documents that a word must stand in, for the EM algorithm
ENOUGH = 1e-7  # of the logarithm of the likelihood: a step that gains less is the last


class NBSVM(Baseline):
    """The support vector machine on log-count ratios of Wang and Manning (ACL 2012). It looks at no target document.

    A word, or pair of words, that a document has is worth the logarithm of how much more common it is in the class than out
    of it. A linear support vector machine learns from these values; its weights are then drawn towards their mean magnitude,
    which alone would be naive Bayes, and its intercept likewise towards that of naive Bayes. With more than two classes there
    is one such machine for each, against all others.

    Parameters
    ----------
    smoothing : float
        Added to the number of documents of each word, in the class and out of it.
    C : float
        Inverse of the machine's penalty.
    interpolation : float
        How much of the machine's own weights is kept: 1 for all, near 0 for naive Bayes.
    """

    needs_target = False

    def __init__(self, *, smoothing: float = 1.0, C: float = 1.0, interpolation: float = 0.25) -> None:
        self.smoothing = smoothing
        self.C = C
        self.interpolation = interpolation

    def _check_parameters(self) -> None:
        check_number("smoothing", self.smoothing)
        check_number("C", self.C)
        check_number("interpolation", self.interpolation, most=1.0)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source)
        present = binary(counts)
        if n_classes == 2:
            own, threshold = self._fit_one(present, codes == 1)
            coefficients, intercepts = np.column_stack([-own, own]), np.array([-threshold, threshold])
        else:
            each = [self._fit_one(present, codes == code) for code in range(n_classes)]
            coefficients, intercepts = np.column_stack([own for own, _ in each]), np.array([at for _, at in each])
        return {"words": words, "coefficients": coefficients, "intercepts": intercepts}

    def _members(self) -> Members:
        return {"words": Strings("words", most_words=2)} | linear_members("words")

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        return score(binary(count_words(texts, state["words"])), (state["coefficients"], state["intercepts"]))

    def _fit_one(self, present: Any, is_class: NDArray[np.bool_]) -> tuple[Floats, float]:
        """The weight of each word and the intercept, for one class against all others."""
        ratios = log_count_ratios(present, is_class, self.smoothing)
        coefficients, intercepts = fit_machine(present.multiply(ratios).tocsr(), is_class.astype(np.intp), C=self.C)
        own, kept = coefficients[:, 1], self.interpolation
        mean = np.abs(own).mean()
        prior = np.log(is_class.sum() / (~is_class).sum())
        threshold = (1 - kept) * mean * prior + kept * intercepts[1]  # the machine's own belongs to weights that are not used
        return ratios * ((1 - kept) * mean + kept * own), float(threshold)


def log_count_ratios(counts: Any, is_class: NDArray[np.bool_], smoothing: float) -> Floats:
    """The logarithm of each word's share of all counts in the class, divided by its share out of the class."""
    inside, outside = (smoothing + np.asarray(counts[rows].sum(axis=0)).ravel() for rows in (is_class, ~is_class))
    ratios: Floats = np.log((inside / inside.sum()) / (outside / outside.sum()))
    return ratios


class NaiveBayesEM(Baseline):
    """Naive Bayes that also learns from target documents, by the EM algorithm of Nigam, McCallum, Thrun and Mitchell (2000).

    Words and pairs of words, of at least two documents, are present in a document or not. Each class draws them by its own
    probabilities, and a document is as likely as what it has. From the source come first probabilities; then, by turns,
    target documents get probabilities of classes, and classes get the words of all documents, those of the target in so far
    as they belong to the class. It ends when the likelihood hardly grows any more.

    Parameters
    ----------
    weight : float
        What a target document counts, where a source document counts 1; the authors' lambda.
    smoothing : float
        Added to the count of each word in each class.
    n_steps : int
        Most turns.
    adapt : bool
        False for naive Bayes on the source alone, with the same words.
    """

    def __init__(self, *, weight: float = 1.0, smoothing: float = 1.0, n_steps: int = 50, adapt: bool = True) -> None:
        self.weight = weight
        self.smoothing = smoothing
        self.n_steps = n_steps
        self.adapt = adapt

    def _check_parameters(self) -> None:
        check_number("weight", self.weight, most=1.0)
        check_number("smoothing", self.smoothing)
        check_count("n_steps", self.n_steps)
        check_flag("adapt", self.adapt)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source + target, least=min(LEAST, len(source)))
        present = binary(counts)
        n_steps = self.n_steps if self.adapt else 0
        linear = expect(present, codes, n_classes, weight=self.weight, smoothing=self.smoothing, n_steps=n_steps)
        coefficients, intercepts = (part - part.mean(axis=-1, keepdims=True) for part in linear)  # 0 lies between two classes
        return {"words": words, "coefficients": coefficients, "intercepts": intercepts}

    def _members(self) -> Members:
        return {"words": Strings("words", most_words=2)} | linear_members("words")

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        return score(binary(count_words(texts, state["words"])), (state["coefficients"], state["intercepts"]))


def expect(
    present: Any, codes: Codes, n_classes: int, *, weight: float, smoothing: float, n_steps: int, enough: float = ENOUGH
) -> Linear:
    """The model of :func:`fit_classes` after the turns of EM; source documents, whose classes are known, stand first."""
    known, unknown, belongs = present[: len(codes)], present[len(codes) :], np.eye(n_classes)[codes]
    linear, before = fit_classes(known, belongs, smoothing), -np.inf
    for _ in range(n_steps):
        joint = score(unknown, linear)
        smooth = smoothing * linear[0].sum() + linear[1].sum()  # smoothing is a prior: with it the sum never falls
        evidence = (score(known, linear) * belongs).sum() + weight * special.logsumexp(joint, axis=1).sum() + smooth
        if evidence - before <= enough * abs(evidence):
            break
        before = evidence
        linear = fit_classes(present, np.vstack([belongs, weight * special.softmax(joint, axis=1)]), smoothing)
    return linear


def fit_classes(counts: Any, belongs: Floats, smoothing: float) -> Linear:
    """The logarithms of each word's probability in each class, and of the classes' own; ``belongs`` has a column per class."""
    of_words = np.asarray(counts.T @ belongs) + smoothing
    of_classes = belongs.sum(axis=0) + 1
    return np.log(of_words / of_words.sum(axis=0)), np.log(of_classes / of_classes.sum())
