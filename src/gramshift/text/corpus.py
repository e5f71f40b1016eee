"""Documents in memory with their prepared forms, and random samples of a stream of documents."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.text.documents import DIGEST
from gramshift.text.steps import TextSteps
from gramshift.text.words import number_words

UNITS = ("character", "word")


@dataclass(frozen=True)
class Corpus:
    """Documents in memory with their prepared forms, each made once and kept."""

    texts: list[str]
    _forms: dict[tuple[TextSteps, str], list[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _words: dict[TextSteps, list[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_characters(self) -> int:
        return sum(map(len, self.texts))

    def form(self, steps: TextSteps, unit: str = "character") -> list[str]:
        """Return the documents after the text steps, as characters or with a character per word.

        Words are numbered in the order of the texts, so words of two corpora cannot be compared.
        Do not change the list.
        """
        if unit not in UNITS:
            raise InputError(f"unit={unit!r}: must be one of {', '.join(map(repr, UNITS))}")
        if (steps, unit) not in self._forms:
            if unit == "character":
                self._forms[steps, unit] = steps.apply(self.texts)
            else:
                self._forms[steps, unit], self._words[steps] = number_words(self.form(steps))
        return self._forms[steps, unit]

    def words(self, steps: TextSteps) -> list[str]:
        """Return the word of each code point in the form by words. Do not change the list."""
        self.form(steps, "word")
        return self._words[steps]

    @cached_property
    def digests(self) -> list[bytes]:
        """The digest of each document as it was given."""
        return [digest_of(text) for text in self.texts]


def digest_of(text: str) -> bytes:
    """Return the 128-bit digest of a text, by which a document is recognised."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()


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
