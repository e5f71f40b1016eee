"""Texts as one array, in which every distinct character has a small id."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BATCH_TEXTS = 4096  # texts that are encoded at a time, which bounds memory


@dataclass(frozen=True)
class Encoded:
    """Documents as character ids, from 1 on; document i is ``codes[bounds[i]:bounds[i + 1]]``."""

    codes: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    alphabet: NDArray[np.uint32]
    """The code points of the ids 1, 2, ..."""

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self.codes.nbytes + self.bounds.nbytes + self.alphabet.nbytes

    @property
    def n_chars(self) -> int:
        """The number of different characters."""
        return self.alphabet.size

    @property
    def n_docs(self) -> int:
        """The number of documents."""
        return self.bounds.size - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of characters of each document."""
        return np.diff(self.bounds)

    @property
    def doc_of(self) -> NDArray[np.uint32]:
        """The document of every character, computed at each access."""
        return np.repeat(np.arange(self.n_docs, dtype=np.uint32), self.lengths)


def code_points(texts: Sequence[str]) -> NDArray[np.uint32]:
    """Return the code points of all texts, one after another, lone surrogates included."""
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)


def encode(
    texts: Sequence[str], known: NDArray[np.uint32] | None = None, *, batch_texts: int = BATCH_TEXTS
) -> Encoded:
    """Return texts as character ids, in the order of the code points.

    Characters of the alphabet ``known`` keep their ids, and others follow. ``batch_texts`` affects
    memory only.
    """
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=bounds[1:])
    codes = np.empty(bounds[-1], np.uint32)
    parts = range(0, len(texts), batch_texts)
    slices = [slice(bounds[first], bounds[min(first + batch_texts, len(texts))]) for first in parts]
    for first, part in zip(parts, slices, strict=True):
        codes[part] = code_points(texts[first : first + batch_texts])
    known = np.empty(0, np.uint32) if known is None else known
    ids = np.zeros(max(int(codes.max(initial=0)), int(known.max(initial=0))) + 1, np.uint32)
    for part in slices:
        ids[codes[part]] = 1
    ids[known] = 0
    others = np.flatnonzero(ids)
    ids[known] = np.arange(1, known.size + 1)
    ids[others] = np.arange(known.size + 1, known.size + others.size + 1)
    for part in slices:
        codes[part] = ids[codes[part]]
    return Encoded(codes, bounds, np.concatenate([known, others.astype(np.uint32)]))
