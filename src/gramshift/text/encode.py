"""Texts as arrays: every distinct character gets a small id, all documents stand one after another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Encoded:
    """Documents as character ids from 1 on; document i is ``codes[bounds[i]:bounds[i + 1]]``."""

    codes: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    n_chars: int

    @property
    def n_docs(self) -> int:
        return self.bounds.size - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.bounds)


def code_points(texts: Sequence[str]) -> NDArray[np.uint32]:
    """Of all texts, one after another: code points, not UTF-16 units; a lone surrogate is a character like any other."""
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)


def find_alphabet(texts: Sequence[str]) -> NDArray[np.uint32]:
    """The distinct code points, ascending."""
    points = code_points(texts)
    used = np.zeros(int(points.max(initial=0)) + 1, bool)
    used[points] = True
    return np.flatnonzero(used).astype(np.uint32) if points.size else points


def encode(texts: Sequence[str], known: NDArray[np.uint32] | None = None) -> Encoded:
    """Ids in the order of the code points; with ``known``, a code point has its place there as id, and others come after."""
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=bounds[1:])
    points = code_points(texts)
    known = np.empty(0, np.uint32) if known is None else known
    ids = np.zeros(max(int(points.max(initial=0)), int(known.max(initial=0))) + 1, np.uint32)
    ids[points] = 1
    ids[known] = 0
    others = np.flatnonzero(ids)
    ids[known] = np.arange(1, known.size + 1)
    ids[others] = np.arange(known.size + 1, known.size + others.size + 1)
    return Encoded(ids[points], bounds, known.size + others.size)
