"""Distributional correspondence indexing: words described by their association with pivots."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.word_features import (
    Linear,
    binary,
    columns,
    count_words,
    document_frequency,
    find_words,
    fit_machine,
    inverse_frequency,
    most_worth,
    mutual_information,
    weigh,
)

MIN_DOCUMENTS = 3  # of its domain that contain a word
PENALTIES = {True: [1e-5, 1e-4, 1e-3, 1e-2], False: [1e-2, 1e-1, 1e0]}
"""The values of C that are tried, for standardised profiles (adapted) and for words.

The authors go up to 10^4, which takes minutes.
"""
N_FOLDS = 5


class DCI(Baseline):
    """Distributional correspondence indexing, cosine variant (Moreo Fernández and others, 2016).

    The profile of a word is its association with each pivot beyond chance: the cosine of their
    tf-idf weights in the documents of the word's own domain. Documents are weighted sums of the
    profiles of their words. A linear support vector machine learns from them, with a penalty chosen
    by cross-validation on the source.

    Parameters
    ----------
    n_pivots : int
        Number of words that are informative of the source's labels and equally frequent in both
        domains.
    least_in_both : int
        Minimum number of documents of each domain that contain a pivot.
    adapt : bool
        False to train on the weighted words of the source alone.
    """

    def __init__(self, *, n_pivots: int = 1000, least_in_both: int = 2, adapt: bool = True) -> None:
        self.n_pivots = n_pivots
        self.least_in_both = least_in_both
        self.adapt = adapt

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source + target, longest=1)
        n = len(source)
        ours, theirs = (without_rare(part) for part in (counts[:n], counts[n:]))
        inverse = inverse_frequency(ours)
        features: Any = weigh(ours, inverse)
        if not self.adapt:
            known = document_frequency(ours) > 0
            return _keep(words, inverse, known) | {
                "linear": fit_chosen(features[:, known], codes, PENALTIES[False])
            }
        present = (binary(ours), binary(theirs))
        pivots = choose_pivots(*present, codes, self.n_pivots, self.least_in_both)
        inverse = inverse_frequency(theirs)
        seen = weigh(theirs, inverse)
        profiles, new = (describe_words(part, pivots) for part in (features, seen))
        profiles[pivots] = new[pivots] = (profiles[pivots] + new[pivots]) / 2
        features = normalize(features @ profiles)
        seen = normalize(seen @ new)
        known = document_frequency(theirs) > 0
        state = _keep(words, inverse, known) | {
            "profiles": new[known],
            "means": seen.mean(axis=0),
            "deviations": seen.std(axis=0),
        }
        return state | {"linear": fit_chosen(standardize(features), codes, PENALTIES[True])}

    def _describe(self, state: State, texts: list[str]) -> Any:
        features = weigh(count_words(texts, state["words"]), state["inverse"])
        if "profiles" not in state:
            return features
        rows = normalize(features @ state["profiles"])
        return standardize(rows, state["means"], state["deviations"])


def _keep(words: list[str], inverse: Floats, known: NDArray[np.bool_]) -> State:
    """Return the words that describe new documents, with their weights."""
    return {"words": [words[i] for i in np.flatnonzero(known)], "inverse": inverse[known]}


def without_rare(counts: Any) -> Any:
    """Set the counts of words in few documents of a domain to 0; the most common words stay."""
    frequency = document_frequency(counts)
    kept = frequency >= min(MIN_DOCUMENTS, int(frequency.max()))
    result = (counts @ sparse.diags(kept.astype(float))).tocsr()
    result.eliminate_zeros()
    return result


def choose_pivots(source: Any, target: Any, codes: Codes, n_pivots: int, least: int) -> Codes:
    """Return the words with the largest mutual information times similarity of frequencies."""
    ours, theirs = document_frequency(source), document_frequency(target)
    shares = (ours / source.shape[0], theirs / target.shape[0])
    alike = np.minimum(*shares) / np.maximum(np.maximum(*shares), 1e-300)
    worth = mutual_information(source, codes) * alike
    return most_worth(worth, np.minimum(ours, theirs), least, n_pivots)


def describe_words(weighted: Any, pivots: Codes) -> Floats:
    """Return the profile of each word: its cosine with each pivot, minus the expected cosine.

    Columns are standardised, rows have length 1. Words missing in the domain have zeros.
    """
    frequency = document_frequency(weighted).astype(float)
    unit = normalize(weighted, axis=0)
    chance = np.sqrt(np.outer(frequency, frequency[pivots])) / weighted.shape[0]
    profile = (unit.T @ unit[:, pivots]).toarray() - chance
    known = frequency > 0
    profile[known] = standardize(profile[known])
    profile[~known] = 0
    result: Floats = normalize(profile)
    return result


def standardize(
    rows: Floats, means: Floats | None = None, deviations: Floats | None = None
) -> Floats:
    """Subtract means and divide by deviations; columns without deviation become 0."""
    means = rows.mean(axis=0) if means is None else means
    deviations = rows.std(axis=0) if deviations is None else deviations
    centred = rows - means
    return np.divide(centred, deviations, out=np.zeros_like(centred), where=deviations > 1e-12)


def fit_chosen(features: Any, codes: NDArray[np.intp], penalties: list[float]) -> Linear:
    """Fit a machine with the C that is best in cross-validation; of equals the smallest."""
    n_folds = min(N_FOLDS, int(np.bincount(codes).min()))
    if n_folds < 2:
        return fit_machine(features, codes, C=penalties[-1])
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    search = GridSearchCV(LinearSVC(max_iter=20000, random_state=0), {"C": penalties}, cv=folds)
    return columns(search.fit(features, codes).best_estimator_)
