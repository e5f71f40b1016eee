"""Structural correspondence learning: what words of either domain say about words that both share."""

from typing import Any

import numpy as np
from scipy import linalg

from gramshift.baselines.base import Codes, Floats
from gramshift.baselines.checks import check_choice, check_count
from gramshift.baselines.projecting import Projected, upright
from gramshift.baselines.word_features import document_frequency, largest, mutual_information
from gramshift.errors import InputError

PENALTY = 0.1  # of the pivot predictors, beside their mean loss: the best of 0.01, 0.1 and 1 on the development data
MOST_STEPS = 200
PIVOTS = ("frequency", "mutual_information")


class SCL(Projected):
    """Structural correspondence learning of Blitzer, McDonald and Pereira (EMNLP 2006; with Dredze, ACL 2007: SCL-MI).

    From all other words a linear predictor guesses whether a pivot occurs. The main directions of the predictors' weights
    are what words of both domains have in common, and become features beside the words.

    Parameters
    ----------
    pivots : {"mutual_information", "frequency"}
        Those that tell most of the source's labels (SCL-MI), or the most frequent (SCL), of the words frequent in both domains.
    n_pivots : int
    n_directions : int
        Singular vectors that become features.
    gamma : float
        Weight of these features; before it they get the mean length of the documents' own.
    least_in_both : int
        Documents of either domain that a pivot must stand in.
    C : float
        Inverse of the logistic regression's penalty.
    adapt : bool
        False for the logistic regression on words alone, trained on the source.
    """

    least = 5

    def __init__(
        self,
        *,
        pivots: str = "mutual_information",
        n_pivots: int = 500,
        n_directions: int = 50,
        gamma: float = 1.0,
        least_in_both: int = 10,
        C: float = 0.1,
        adapt: bool = True,
    ) -> None:
        self.pivots = pivots
        self.n_pivots = n_pivots
        self.n_directions = n_directions
        self.gamma = gamma
        self.least_in_both = least_in_both
        self.C = C
        self.adapt = adapt

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("pivots", self.pivots, PIVOTS)
        for name in ("n_pivots", "n_directions", "least_in_both"):
            check_count(name, getattr(self, name))

    def _project(self, present: Any, codes: Codes) -> Floats:
        by_label = codes if self.pivots == "mutual_information" else None
        pivots = choose_pivots(present, len(codes), by_label, self.n_pivots, self.least_in_both)
        return correspond(present, pivots, self.n_directions)


def choose_pivots(present: Any, n_source: int, codes: Codes | None, n_pivots: int, least: int) -> Codes:
    """Choose words of enough documents in both domains: the most frequent, or those that tell most of the source's codes."""
    both = np.minimum(document_frequency(present[:n_source]), document_frequency(present[n_source:]))
    worth = both.astype(float) if codes is None else mutual_information(present[:n_source], codes)
    frequent = both >= min(least, both.max())
    return largest(np.where(frequent, worth, -np.inf), min(n_pivots, int(frequent.sum()), present.shape[1] - 1))


def correspond(present: Any, pivots: Codes, n_directions: int) -> Floats:
    """Return for every word its part in each main direction of the pivot predictors' weights; pivots have none."""
    others = np.setdiff1d(np.arange(present.shape[1]), pivots)
    if not len(others) or not len(pivots):
        raise InputError("SCL needs words that both domains have often, and others; give it more documents, or longer ones")
    signs = np.where(present[:, pivots].toarray() > 0, 1.0, -1.0)
    features = present[:, others]
    gram = (features @ features.T).toarray()
    by_document = predict_pivots(gram, signs)  # the weights of words are the features, added up with these
    values, vectors = np.linalg.eigh(by_document.T @ gram @ by_document)
    main = np.argsort(-values, kind="stable")[: min(n_directions, int(np.sum(values > 1e-9 * max(values.max(), 1e-300))))]
    directions = features.T @ (by_document @ vectors[:, main] / np.sqrt(values[main]))
    result = np.zeros((present.shape[1], len(main)))
    result[others] = directions * upright(directions)
    return result


def predict_pivots(gram: Floats, signs: Floats, *, penalty: float = PENALTY, tolerance: float = 1e-4) -> Floats:
    """Linear predictors of every column of signs at once, as weights of documents.

    Each minimises the mean of the modified Huber loss of sign * (f + constant) plus penalty / 2 times its squared length. The
    loss lies below a parabola that bends as much as the square does; stepping from one such bound's minimum to the next, with
    momentum, needs a single factor for all columns and steps. It ends when a step changes the mean of all that is minimised
    by less than the tolerance times it.
    """
    n = len(gram)
    gram = gram + 1.0  # a constant word
    bound = linalg.cho_factor(2 * gram / n + penalty * np.eye(n), lower=True)
    weights = ahead = np.zeros_like(signs)
    before = np.inf
    for step in range(MOST_STEPS):
        predicted = gram @ ahead
        behind = np.maximum(1 - signs * predicted, 0)
        short = np.minimum(behind, 2)  # beyond 2 the loss is a straight line
        now = float(np.mean(short * (2 * behind - short))) + penalty / 2 * float(np.sum(ahead * predicted)) / signs.shape[1]
        if abs(before - now) <= tolerance * now:
            break
        new = ahead - linalg.cho_solve(bound, penalty * ahead - 2 * short * signs / n)
        ahead = new + step / (step + 3) * (new - weights)
        weights, before = new, now
    return weights
