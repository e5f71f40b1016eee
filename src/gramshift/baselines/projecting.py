"""SFA and SCL: words plus a projection of the documents into a few dimensions."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import svds

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.word_features import (
    binary,
    count_in_both,
    count_words,
    find_words,
    fit_logistic,
    most_worth,
    mutual_information,
)
from gramshift.errors import InputError


class Projected(Baseline):
    """Logistic regression on the presence of words and, if it adapts, their projection."""

    least: ClassVar[int]
    """Minimum number of documents that contain a word."""
    gamma: float
    C: float
    adapt: bool

    @abstractmethod
    def _project(self, present: Any, codes: Codes) -> Floats:
        """Return a row for each word; source documents, with ``codes``, come first."""

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        words, counts = find_words(source + target, least=min(self.least, len(source)))
        present = binary(counts)
        projection = np.zeros((len(words), 0))
        if self.adapt:
            projection = rescale(present, self._project(present, codes), self.gamma)
        linear = fit_logistic(join(present[: len(source)], projection), codes, C=self.C)
        return {"words": words, "projection": projection, "linear": linear}

    def _describe(self, state: State, texts: list[str]) -> Any:
        return join(binary(count_words(texts, state["words"])), state["projection"])


def leading(matrix: Any, n: int) -> Floats:
    """Return the leading n left singular vectors, with positive largest entries."""
    if n >= min(matrix.shape):
        left, values, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        start = np.ones(min(matrix.shape))
        left, values, _ = svds(matrix, k=n, v0=start, return_singular_vectors="u")
    left = left[:, np.argsort(-values, kind="stable")[:n]]
    return left * upright(left)


def upright(vectors: Floats) -> Floats:
    """Return for each column the sign that makes its largest entry positive."""
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.where(signs == 0, 1.0, signs)


def rescale(features: Any, projection: Floats, gamma: float) -> Floats:
    """Scale a projection so that documents have gamma times their mean length after it."""
    projected = max(mean_length(features @ projection), 1e-12)
    return projection * (gamma * mean_length(features) / projected)


def mean_length(features: Any) -> float:
    """Return the mean length of the rows."""
    squares = features.multiply(features) if sparse.issparse(features) else features**2
    return float(np.sqrt(np.asarray(squares.sum(axis=1))).mean())


def join(features: Any, projection: Floats) -> Any:
    """Return features and their projection in one sparse matrix."""
    return sparse.hstack([features, sparse.csr_matrix(features @ projection)], format="csr")


class SFA(Projected):
    """Spectral feature alignment of Pan, Ni, Sun, Yang and Chen (WWW 2010).

    Words and pairs of words that both domains use alike are the bridge. All other words are
    clustered by the bridge words they occur with, and the clusters become additional features.

    Parameters
    ----------
    n_bridge : int
        Number of bridge words: those with the least mutual information with the domain.
    n_clusters : int
        Number of singular vectors that become features.
    gamma : float
        Mean length of the additional features relative to the words.
    least_in_both : int
        Minimum number of documents of each domain that contain a bridge word.
    C : float
        Inverse regularisation of the logistic regression.
    adapt : bool
        False to train on the words of the source alone.
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
        bridge = choose_bridge(present, len(codes), self.n_bridge, self.least_in_both)
        return align(present, bridge, self.n_clusters)


def choose_bridge(present: Any, n_source: int, n_bridge: int, least: int) -> Codes:
    """Return the words with the least information on the domain among those frequent in both."""
    is_target = np.arange(present.shape[0]) >= n_source
    information = mutual_information(present, is_target.astype(np.intp), absence=False)
    return most_worth(-information, count_in_both(present, n_source), least, n_bridge)


def align(present: Any, bridge: Codes, n_clusters: int) -> Floats:
    """Return the weight of each word in each cluster; bridge words have zeros.

    Spectral clustering of a bipartite graph of bridge and other words, whose edges count the
    documents that contain both. The leading eigenvectors of its normalised Laplacian are the left
    singular vectors of one matrix.
    """
    specific = np.setdiff1d(np.arange(present.shape[1]), bridge)
    if not len(specific) or not len(bridge):
        raise InputError(
            "SFA needs words that both domains have, and others; "
            "give it more documents, or longer ones"
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


PENALTY = 0.1  # of the pivot predictors; the best of 0.01, 0.1 and 1 on development data
MAX_STEPS = 200
PIVOTS = ("frequency", "mutual_information")


class SCL(Projected):
    """Structural correspondence learning of Blitzer and others: SCL (2006) and SCL-MI (2007).

    For each pivot a linear predictor estimates from all other words whether the pivot occurs. The
    leading directions of the predictors' weights become additional features.

    Parameters
    ----------
    pivots : {"mutual_information", "frequency"}
        The pivots: of the words frequent in both domains those with the largest mutual information
        with the source's labels (SCL-MI), or the most frequent ones (SCL).
    n_pivots : int
    n_directions : int
        Number of singular vectors that become features.
    gamma : float
        Mean length of the additional features relative to the words.
    least_in_both : int
        Minimum number of documents of each domain that contain a pivot.
    C : float
        Inverse regularisation of the logistic regression.
    adapt : bool
        False to train on the words of the source alone.
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
    """Return words frequent in both domains: the most frequent or most informative ones."""
    both = count_in_both(present, n_source)
    worth = both.astype(float) if codes is None else mutual_information(present[:n_source], codes)
    return most_worth(worth, both, least, min(n_pivots, present.shape[1] - 1))


def correspond(present: Any, pivots: Codes, n_directions: int) -> Floats:
    """Return the weight of each word in each leading direction; pivots have zeros."""
    others = np.setdiff1d(np.arange(present.shape[1]), pivots)
    if not len(others) or not len(pivots):
        raise InputError(
            "SCL needs words that both domains have often, and others; "
            "give it more documents, or longer ones"
        )
    signs = np.where(present[:, pivots].toarray() > 0, 1.0, -1.0)
    features = present[:, others]
    gram = (features @ features.T).toarray()
    by_document = predict_pivots(gram, signs)  # word weights are features.T @ these
    values, vectors = np.linalg.eigh(by_document.T @ gram @ by_document)
    n_positive = int(np.sum(values > 1e-9 * max(values.max(), 1e-300)))
    main = np.argsort(-values, kind="stable")[: min(n_directions, n_positive)]
    directions = features.T @ (by_document @ vectors[:, main] / np.sqrt(values[main]))
    result = np.zeros((present.shape[1], len(main)))
    result[others] = directions * upright(directions)
    return result


def predict_pivots(
    gram: Floats, signs: Floats, *, penalty: float = PENALTY, tolerance: float = 1e-4
) -> Floats:
    """Fit a linear predictor of each column of signs, and return its weights of documents.

    Each minimises the mean modified Huber loss of sign * (f + constant) plus penalty / 2 times its
    squared norm. The loss is bounded from above by a parabola of fixed curvature; stepping to the
    minimum of this bound, with momentum, needs one Cholesky factor for all columns and steps. The
    iteration ends when the mean objective changes by less than the tolerance, relatively.
    """
    n = len(gram)
    gram = gram + 1.0  # a constant word
    bound = linalg.cho_factor(2 * gram / n + penalty * np.eye(n), lower=True)
    weights = ahead = np.zeros_like(signs)
    before = np.inf
    for step in range(MAX_STEPS):
        predicted = gram @ ahead
        behind = np.maximum(1 - signs * predicted, 0)
        short = np.minimum(behind, 2)  # beyond 2 the loss is a straight line
        squares = float(np.sum(ahead * predicted)) / signs.shape[1]
        now = float(np.mean(short * (2 * behind - short))) + penalty / 2 * squares
        if abs(before - now) <= tolerance * now:
            break
        new = ahead - linalg.cho_solve(bound, penalty * ahead - 2 * short * signs / n)
        ahead = new + step / (step + 3) * (new - weights)
        weights, before = new, now
    return weights
