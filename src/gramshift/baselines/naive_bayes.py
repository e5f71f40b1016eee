"""NB-SVM: log-count ratios of naive Bayes as features of a linear classifier."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.checks import check_number
from gramshift.baselines.word_features import binary, count_words, find_words, fit_machine, score


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
