"""Distributional correspondence indexing: words described by how they go with pivots in their own domain."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.checks import check_count, check_flag
from gramshift.baselines.word_features import (
    Linear,
    binary,
    columns,
    count_words,
    document_frequency,
    find_words,
    fit_machine,
    inverse_frequency,
    largest,
    mutual_information,
    score,
    weigh,
)

LEAST = 3  # documents that a word must stand in
PENALTIES = {True: [1e-5, 1e-4, 1e-3, 1e-2], False: [1e-2, 1e-1, 1e0]}
"""The penalties that are tried, for standardised profiles and for words. The authors go on to 10^4, which takes minutes."""
N_FOLDS = 5


class DCI(Baseline):
    """Distributional correspondence indexing of Moreo Fernández, Esuli and Sebastiani (JAIR 2016), cosine variant.

    A word's profile says with which pivots it occurs more often than by chance, counted in its own domain. Documents of both
    domains become sums of their words' profiles. A linear support vector machine learns from them; its penalty is chosen by
    cross-validation on the source.

    Parameters
    ----------
    n_pivots : int
        Words that tell most of the source's labels and are as frequent in one domain as in the other.
    least_in_both : int
        Documents of either domain that a pivot must stand in.
    adapt : bool
        False for the machine on weighted words alone, trained on the source.
    """

    def __init__(self, *, n_pivots: int = 1000, least_in_both: int = 2, adapt: bool = True) -> None:
        self.n_pivots = n_pivots
        self.least_in_both = least_in_both
        self.adapt = adapt

    def _check_parameters(self) -> None:
        check_count("n_pivots", self.n_pivots)
        check_count("least_in_both", self.least_in_both)
        check_flag("adapt", self.adapt)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source + target, longest=1, least=min(LEAST, len(source)))
        n = len(source)
        inverse = inverse_frequency(counts)
        weighted, present = weigh(counts, inverse), binary(counts)
        state: State = {"words": words, "inverse": inverse}
        features: Any = weighted[:n]
        if self.adapt:
            pivots = choose_pivots(present[:n], present[n:], codes, self.n_pivots, self.least_in_both)
            ours, theirs = (describe_words(part, pivots) for part in (present[:n], present[n:]))
            ours[pivots] = theirs[pivots] = (ours[pivots] + theirs[pivots]) / 2
            features = standardize(normalize(weighted[:n] @ ours))
            seen = normalize(weighted[n:] @ theirs)
            state |= {"profiles": theirs, "means": seen.mean(axis=0), "deviations": seen.std(axis=0)}
        coefficients, intercepts = _fit_chosen(features, codes, PENALTIES[bool(self.adapt)])
        return state | {"coefficients": coefficients, "intercepts": intercepts}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        features: Any = weigh(count_words(texts, state["words"]), state["inverse"])
        if "profiles" in state:
            features = standardize(normalize(features @ state["profiles"]), state["means"], state["deviations"])
        return score(features, (state["coefficients"], state["intercepts"]))


def choose_pivots(source: Any, target: Any, codes: Codes, n_pivots: int, least: int) -> Codes:
    """Choose the words that tell most of the labels, times how alike their document shares are in both domains."""
    frequencies = [document_frequency(part) for part in (source, target)]
    shares = [frequency / part.shape[0] for frequency, part in zip(frequencies, (source, target), strict=True)]
    alike = np.minimum(*shares) / np.maximum(np.maximum(*shares), 1e-300)
    frequent = np.minimum(*frequencies) >= min(least, np.minimum(*frequencies).max())
    worth = np.where(frequent, mutual_information(source, codes) * alike, -np.inf)
    return largest(worth, min(n_pivots, int(frequent.sum())))


def describe_words(present: Any, pivots: Codes) -> Floats:
    """Return a row per word: the cosine of its documents with each pivot's, less what chance gives.

    Columns are standardised, rows have length 1. Words that the domain does not have get zeros.
    """
    frequency = document_frequency(present).astype(float)
    together = np.asarray((present.T @ present[:, pivots]).todense())
    roots = np.sqrt(frequency[:, None] * frequency[pivots])
    profile = np.divide(together, roots, out=np.zeros_like(together), where=roots > 0) - roots / present.shape[0]
    known = frequency > 0
    profile[known] = standardize(profile[known])
    profile[~known] = 0
    result: Floats = normalize(profile)
    return result


def standardize(rows: Floats, means: Floats | None = None, deviations: Floats | None = None) -> Floats:
    """Subtract the means and divide by the deviations, their own if none are given; columns without deviation become 0."""
    means = rows.mean(axis=0) if means is None else means
    deviations = rows.std(axis=0) if deviations is None else deviations
    centred = rows - means
    return np.divide(centred, deviations, out=np.zeros_like(centred), where=deviations > 1e-12)


def _fit_chosen(features: Any, codes: NDArray[np.intp], penalties: list[float]) -> Linear:
    """Fit a machine with the penalty that is best on held-out folds; of equally good ones the strongest."""
    n_folds = min(N_FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2:
        return fit_machine(features, codes, C=penalties[-1])
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    search = GridSearchCV(LinearSVC(max_iter=20000, random_state=0), {"C": penalties}, cv=folds)
    return columns(search.fit(features, codes).best_estimator_)
