"""Label spreading: labels run along similarities, from documents of the source through those of the target."""

from typing import Any

import numpy as np
from scipy import linalg

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.checks import check_count, check_flag, check_number
from gramshift.errors import InputError
from gramshift.kernels.registry import KERNELS, check_ngram_range
from gramshift.model.similarities import make_similarities
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.schema import EPSILON, Array, Members, Strings


class StringSpreading(Baseline):
    """Label spreading of Zhou, Bousquet, Lal, Weston and Schölkopf (NIPS 2003) on a string kernel.

    Two documents are linked if one is among the most similar to the other. Each document has an amount of every class: what
    its neighbours have, by how similar they are, and for source documents the class that they are known to have. The amounts
    that agree with this are the solution of one linear system. A new text takes from its neighbours what a target document
    would.

    Parameters
    ----------
    kernel : the name of a string kernel, or StringKernel
    ngram_range : (lo, hi)
        For kernels given by name.
    n_neighbours : int
        Most similar documents that each one is linked with.
    spread : float
        How much of its amounts a document takes from its neighbours, below 1; the authors' alpha.
    adapt : bool
        False for the source's documents alone: new texts take from these.
    """

    def __init__(
        self,
        kernel: Any = "presence",
        *,
        ngram_range: tuple[int, int] = (5, 8),
        n_neighbours: int = 100,
        spread: float = 0.5,
        adapt: bool = True,
    ) -> None:
        self.kernel = kernel
        self.ngram_range = ngram_range
        self.n_neighbours = n_neighbours
        self.spread = spread
        self.adapt = adapt

    def _check_parameters(self) -> None:
        if not isinstance(self.kernel, StringKernel) and self.kernel not in tuple(KERNELS):
            raise InputError(f"kernel={self.kernel!r}: must be one of {', '.join(map(repr, KERNELS))}, or a StringKernel")
        check_ngram_range(self.ngram_range)
        check_count("n_neighbours", self.n_neighbours)
        check_number("spread", self.spread, most=0.999)
        check_flag("adapt", self.adapt)

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        texts = source + target if self.adapt else source
        similarity = self._compare(texts, None)
        np.fill_diagonal(similarity, 0)
        least = nth_largest(similarity, self.n_neighbours)
        links = link(similarity, least, least)
        degrees = links.sum(axis=1)
        known = np.zeros((len(texts), n_classes))
        known[np.arange(len(codes)), codes] = 1
        amounts = spread_labels(links, degrees, known, self.spread)
        return {"texts": texts, "least": least, "degrees": degrees, "amounts": amounts}

    def _members(self) -> Members:
        return {
            "texts": Strings("texts", unique=False),
            "least": Array("<f8", ("texts",), low=np.finfo(float).tiny),
            "degrees": Array("<f8", ("texts",), low=0),
            "amounts": Array("<f8", ("texts", "classes"), low=-EPSILON),
        }

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        similarity = self._compare(texts, state["texts"])
        place = {text: row for row, text in enumerate(state["texts"])}  # of equal ones the last: that of the target
        for row, text in enumerate(texts):
            if text in place:
                similarity[row, place[text]] = 0  # a document is no neighbour of itself
        links = link(similarity, nth_largest(similarity, self.n_neighbours), state["least"])
        amounts = share_out(links, links.sum(axis=1), state["degrees"]) @ state["amounts"]
        total = amounts.sum(axis=1, keepdims=True)
        shares = np.divide(amounts, total, out=np.zeros_like(amounts), where=total > 0)
        result: Floats = shares - shares.mean(axis=1, keepdims=True)
        return result

    def _compare(self, texts: list[str], others: list[str] | None) -> Floats:
        kernel: StringKernel = make_similarities(self.kernel, self.ngram_range).kernels[0]
        gram: Floats = kernel.gram(texts, others, normalize=True)
        return gram


def nth_largest(similarity: Floats, n: int) -> Floats:
    """The n-th largest value of each row, above 0 in any case: what is not similar at all is no neighbour."""
    n = min(n, similarity.shape[1])
    found: Floats = np.partition(similarity, similarity.shape[1] - n, axis=1)[:, similarity.shape[1] - n]
    return np.maximum(found, np.finfo(float).tiny)


def link(similarity: Floats, own: Floats, others: Floats) -> Floats:
    """The similarities of documents of which one is a neighbour of the other: not below what is its least; 0 for all others."""
    return np.where((similarity >= own[:, None]) | (similarity >= others), similarity, 0)


def share_out(links: Floats, own: Floats, others: Floats) -> Floats:
    """Links divided by the roots of both documents' sums of links."""
    roots = np.sqrt(np.outer(own, others))
    return np.divide(links, roots, out=np.zeros_like(links), where=roots > 0)


def spread_labels(links: Floats, degrees: Floats, known: Floats, spread: float) -> Floats:
    """The amounts F with F = spread * S F + (1 - spread) * known, S the links as :func:`share_out` has them."""
    system = np.eye(len(links)) - spread * share_out(links, degrees, degrees)
    amounts: Floats = linalg.solve(system, (1 - spread) * known, assume_a="pos")
    return amounts
