"""Spectral feature alignment: words of either domain meet through the words that both use alike."""

from typing import Any

import numpy as np
from scipy import sparse

from gramshift.baselines.base import Codes, Floats
from gramshift.baselines.checks import check_count
from gramshift.baselines.projecting import Projected, leading
from gramshift.baselines.word_features import document_frequency, largest, mutual_information
from gramshift.errors import InputError


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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("n_bridge", "n_clusters", "least_in_both"):
            check_count(name, getattr(self, name))

    def _project(self, present: Any, codes: Codes) -> Floats:
        return align(present, choose_bridge(present, len(codes), self.n_bridge, self.least_in_both), self.n_clusters)


def choose_bridge(present: Any, n_source: int, n_bridge: int, least: int) -> Codes:
    """The words that tell least of the domain, among those that stand in enough documents of both."""
    both = np.minimum(document_frequency(present[:n_source]), document_frequency(present[n_source:]))
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
        raise InputError("SFA needs words that both domains have, and others; give it more documents, or longer ones")
    together = (present[:, specific].T @ present[:, bridge]).tocsr()
    degrees = [np.asarray(together.sum(axis=axis)).ravel() for axis in (1, 0)]
    scales = [np.divide(1, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0) for degree in degrees]
    divided = sparse.diags(scales[0]) @ together @ sparse.diags(scales[1])
    result = np.zeros((present.shape[1], min(n_clusters, *divided.shape)))
    result[specific, :] = leading(divided, result.shape[1])
    return result
