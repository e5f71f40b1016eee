"""Documents in memory with their prepared forms, and a sample of documents that do not fit into it."""

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
    """Documents in memory, with what they become before n-grams are taken from them: each form is made once and kept."""

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
        """The documents after the text steps, as characters or with one character for every word; not to be changed.

        Words are numbered as they come, so those of two corpora cannot be compared.
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
        """The word of every code point in the form as words; not to be changed."""
        self.form(steps, "word")
        return self._words[steps]

    @cached_property
    def digests(self) -> list[bytes]:
        """What each document, as it was given, is known again by."""
        return [digest_of(text) for text in self.texts]


def digest_of(text: str) -> bytes:
    """What a document is known again by: the same for the same characters, and for no other text that anyone will ever find."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()


DRAWN = 1 << 16  # documents that are decided on at a time


class Reservoir:
    """A sample of documents that come one after another: each is in it with the same chance, whatever their number.

    Which ones they are is decided by their numbers and the seed alone, in whole numbers, on any machine the same.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._held: list[tuple[int, str]] = []
        self._places = chain.from_iterable(places.tolist() for places in _draw_places(size, seed))
        self.n_seen = 0

    def add(self, texts: list[str]) -> None:
        """Let the next documents come; of those that are in the sample, later ones may take the places of earlier ones."""
        for text, place in zip(texts, self._places, strict=False):
            if place == len(self._held):
                self._held.append((self.n_seen, text))
            elif place >= 0:
                self._held[place] = (self.n_seen, text)
            self.n_seen += 1

    def take(self) -> tuple[list[int], list[str]]:
        """Return the numbers of those that are in it now, ascending, and their texts."""
        held = sorted(self._held)
        return [number for number, _ in held], [text for _, text in held]


def _draw_places(size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """For one document after another the place that it takes, -1 for none; number i has i + 1 places to fall on."""
    generator, start = np.random.default_rng([seed, size]), 0
    while True:
        numbers = np.arange(start, start + DRAWN)
        drawn = np.where(numbers < size, numbers, generator.integers(0, numbers, endpoint=True))
        yield np.where(drawn < size, drawn, -1)
        start += DRAWN
