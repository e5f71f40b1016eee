"""Features beside the words: documents projected into a few dimensions, by SFA and SCL."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import svds

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.word_features import (
    binary,
    count_words,
    document_frequency,
    find_words,
    fit_logistic,
    largest,
    mutual_information,
    score,
)
from gramshift.errors import InputError


class Projected(Baseline):
    """Logistic regression on the words that occur and on what a projection makes of them, if it adapts."""

    least: ClassVar[int]
    """Documents that a word must stand in."""
    gamma: float
    C: float
    adapt: bool

    @abstractmethod
    def _project(self, present: Any, codes: Codes) -> Floats:
        """Return a row per word; source documents, whose classes are known, stand first."""

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source + target, least=min(self.least, len(source)))
        present = binary(counts)
        projection = np.zeros((len(words), 0))
        if self.adapt:
            projection = rescale(present, self._project(present, codes), self.gamma)
        linear = fit_logistic(join(present[: len(source)], projection), codes, C=self.C)
        return {"words": words, "projection": projection, "linear": linear}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        features = join(binary(count_words(texts, state["words"])), state["projection"])
        return score(features, state["linear"])


def leading(matrix: Any, n: int) -> Floats:
    """The left singular vectors of the n largest singular values, largest first; the largest entry of each is positive."""
    if n >= min(matrix.shape):
        left, values, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        left, values, _ = svds(
            matrix, k=n, v0=np.ones(min(matrix.shape)), return_singular_vectors="u"
        )
    left = left[:, np.argsort(-values, kind="stable")[:n]]
    return left * upright(left)


def upright(vectors: Floats) -> Floats:
    """Return 1 or -1 for each column, so that its largest entry becomes positive."""
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.where(signs == 0, 1.0, signs)


def rescale(features: Any, projection: Floats, gamma: float) -> Floats:
    """The projection, such that projected documents are gamma times as long as they are themselves, in the mean."""
    return projection * (
        gamma * mean_length(features) / max(mean_length(features @ projection), 1e-12)
    )


def mean_length(features: Any) -> float:
    """Return the mean length of the rows."""
    squares = features.multiply(features) if sparse.issparse(features) else features**2
    return float(np.sqrt(np.asarray(squares.sum(axis=1))).mean())


def join(features: Any, projection: Floats) -> Any:
    """The features, and beside them what the projection makes of them."""
    return sparse.hstack([features, sparse.csr_matrix(features @ projection)], format="csr")


class SFA(Projected):
    """Spectral feature alignment of Pan, Ni, Sun, Yang and Chen (WWW 2010).

    Words and pairs of words that both domains use alike are the bridge. All others are clustered by the words of the bridge
    that they occur with, and the clusters become features beside the words.

    Parameters
    ----------
    n_bridge : int
        Words that both domains use alike: those that tell least of the domain.
    n_clusters : int
        Singular vectors that become features.
    gamma : float
        Weight of these features; before it they get the mean length of the documents' own.
    least_in_both : int
        Documents of either domain that a word of the bridge must stand in.
    C : float
        Inverse of the logistic regression's penalty.
    adapt : bool
        False for the logistic regression on words alone, trained on the source.
    """

    least = 3

    def __init__(
        self,
        *,
        n_bridge: int = 500,
        n_clusters: int = 100,
        gamma: float = 0.6,
        least_in_both: int = 10,
        C: float = 1.0,
        adapt: bool = True,
    ) -> None:
        self.n_bridge = n_bridge
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.least_in_both = least_in_both
        self.C = C
        self.adapt = adapt

    def _project(self, present: Any, codes: Codes) -> Floats:
        return align(
            present,
            choose_bridge(present, len(codes), self.n_bridge, self.least_in_both),
            self.n_clusters,
        )


def choose_bridge(present: Any, n_source: int, n_bridge: int, least: int) -> Codes:
    """The words that tell least of the domain, among those that stand in enough documents of both."""
    both = np.minimum(
        document_frequency(present[:n_source]), document_frequency(present[n_source:])
    )
    domain = np.arange(present.shape[0]) >= n_source
    told = mutual_information(present, domain.astype(np.intp), absence=False)
    frequent = both >= min(least, both.max())
    return largest(np.where(frequent, -told, -np.inf), min(n_bridge, int(frequent.sum())))


def align(present: Any, bridge: Codes, n_clusters: int) -> Floats:
    """Return for every word its part in each cluster; words of the bridge have none.

    Words and bridge are the two sides of a graph whose edges say how many documents have both. Its largest eigenvectors,
    after dividing each edge by the root of its ends' degrees, are the left singular vectors of one matrix.
    """
    specific = np.setdiff1d(np.arange(present.shape[1]), bridge)
    if not len(specific) or not len(bridge):
        raise InputError(
            "SFA needs words that both domains have, and others; give it more documents, or longer ones"
        )
    together = (present[:, specific].T @ present[:, bridge]).tocsr()
    degrees = [np.asarray(together.sum(axis=axis)).ravel() for axis in (1, 0)]
    scales = [
        np.divide(1, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0)
        for degree in degrees
    ]
    divided = sparse.diags(scales[0]) @ together @ sparse.diags(scales[1])
    result = np.zeros((present.shape[1], min(n_clusters, *divided.shape)))
    result[specific, :] = leading(divided, result.shape[1])
    return result


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
        if self.pivots not in PIVOTS:
            raise InputError(
                f"pivots={self.pivots!r}: must be one of {', '.join(map(repr, PIVOTS))}"
            )

    def _project(self, present: Any, codes: Codes) -> Floats:
        by_label = codes if self.pivots == "mutual_information" else None
        pivots = choose_pivots(present, len(codes), by_label, self.n_pivots, self.least_in_both)
        return correspond(present, pivots, self.n_directions)


def choose_pivots(
    present: Any, n_source: int, codes: Codes | None, n_pivots: int, least: int
) -> Codes:
    """Choose words of enough documents in both domains: the most frequent, or those that tell most of the source's codes."""
    both = np.minimum(
        document_frequency(present[:n_source]), document_frequency(present[n_source:])
    )
    worth = both.astype(float) if codes is None else mutual_information(present[:n_source], codes)
    frequent = both >= min(least, both.max())
    return largest(
        np.where(frequent, worth, -np.inf), min(n_pivots, int(frequent.sum()), present.shape[1] - 1)
    )


def correspond(present: Any, pivots: Codes, n_directions: int) -> Floats:
    """Return for every word its part in each main direction of the pivot predictors' weights; pivots have none."""
    others = np.setdiff1d(np.arange(present.shape[1]), pivots)
    if not len(others) or not len(pivots):
        raise InputError(
            "SCL needs words that both domains have often, and others; give it more documents, or longer ones"
        )
    signs = np.where(present[:, pivots].toarray() > 0, 1.0, -1.0)
    features = present[:, others]
    gram = (features @ features.T).toarray()
    by_document = predict_pivots(
        gram, signs
    )  # the weights of words are the features, added up with these
    values, vectors = np.linalg.eigh(by_document.T @ gram @ by_document)
    main = np.argsort(-values, kind="stable")[
        : min(n_directions, int(np.sum(values > 1e-9 * max(values.max(), 1e-300))))
    ]
    directions = features.T @ (by_document @ vectors[:, main] / np.sqrt(values[main]))
    result = np.zeros((present.shape[1], len(main)))
    result[others] = directions * upright(directions)
    return result


def predict_pivots(
    gram: Floats, signs: Floats, *, penalty: float = PENALTY, tolerance: float = 1e-4
) -> Floats:
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
        now = (
            float(np.mean(short * (2 * behind - short)))
            + penalty / 2 * float(np.sum(ahead * predicted)) / signs.shape[1]
        )
        if abs(before - now) <= tolerance * now:
            break
        new = ahead - linalg.cho_solve(bound, penalty * ahead - 2 * short * signs / n)
        ahead = new + step / (step + 3) * (new - weights)
        weights, before = new, now
    return weights
