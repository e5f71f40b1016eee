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


def encode(texts: Sequence[str]) -> Encoded:
    """Code points, not UTF-16 units; a lone surrogate is a character like any other."""
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=bounds[1:])
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    if points.size == 0:
        return Encoded(np.empty(0, np.uint32), bounds, 0)
    ids = np.zeros(int(points.max()) + 1, np.uint32)
    ids[points] = 1
    used = np.flatnonzero(ids)
    ids[used] = np.arange(1, used.size + 1)
    return Encoded(ids[points], bounds, used.size)
