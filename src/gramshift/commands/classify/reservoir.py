"""Random samples of a stream of documents."""

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

BATCH_DOCUMENTS = 1 << 16  # documents that are decided on at a time


class Reservoir:
    """A random sample of documents that arrive one after another (reservoir sampling).

    Each document has the same probability, whatever their number. The sample depends only on the
    size, the seed and the number of documents, and is the same on any machine.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._held: list[tuple[int, str]] = []
        self._places = chain.from_iterable(places.tolist() for places in _draw_places(size, seed))
        self.n_seen = 0

    def add(self, texts: list[str]) -> None:
        """Add the next documents, some of which replace earlier ones in the sample."""
        for text, place in zip(texts, self._places, strict=False):
            if place == len(self._held):
                self._held.append((self.n_seen, text))
            elif place >= 0:
                self._held[place] = (self.n_seen, text)
            self.n_seen += 1

    def take(self) -> tuple[list[int], list[str]]:
        """Return the numbers of the sampled documents, ascending, and their texts."""
        held = sorted(self._held)
        return [number for number, _ in held], [text for _, text in held]


def _draw_places(size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the place of each document in the sample, -1 for none, in arrays.

    After the first ``size`` documents, document i draws one of the places 0 to i; it is in the
    sample if its place is below ``size``.
    """
    generator, start = np.random.default_rng([seed, size]), 0
    while True:
        numbers = np.arange(start, start + BATCH_DOCUMENTS)
        drawn = np.where(numbers < size, numbers, generator.integers(0, numbers, endpoint=True))
        yield np.where(drawn < size, drawn, -1)
        start += BATCH_DOCUMENTS
