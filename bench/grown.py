"""Any number of documents grown from real reviews: their sentences put together anew, the same each time, never all held."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from bench.corpus import Texts, find_data
from gramshift.data.demo import DOMAINS as DEMO
from gramshift.data.demo import load_demo
from gramshift.data.reviews import load_sentiment

CODES = (1, 0)
PART = 1000  # documents that are made at a time
Reviews = dict[str, dict[int, Texts]]
"""By letter of the domain and class, 1 positive."""


@cache
def cut(reviews: tuple[str, ...]) -> Texts:
    """All sentences of these reviews."""
    return [one for text in reviews for one in re.split(r"(?<=[.!?])\s+", text.strip()) if one]


class Deck:
    """Sentences of the reviews of one domain and class, dealt in an order of chance; all of them before any comes again.

    So a few documents have few sentences in common, as real ones have.
    """

    def __init__(self, reviews: Texts, chance: random.Random) -> None:
        self._sentences, self._lengths = cut(tuple(reviews)), [len(text) for text in reviews]
        self._chance, self._left = chance, list[str]()

    def deal(self) -> str:
        """A document about as long as some real one: sentences until the next would lead further from its length."""
        wanted, length, dealt = self._chance.choice(self._lengths), 0, list[str]()
        while True:
            if not self._left:
                self._left = self._chance.sample(self._sentences, len(self._sentences))
            missing = wanted - length
            if dealt and len(self._left[-1]) + 1 > 2 * missing:
                return " ".join(dealt)
            dealt.append(self._left.pop())
            length += len(dealt[-1]) + 1


@dataclass(frozen=True)
class Grown:
    """n documents, of each domain and class in turn, made while they are read."""

    reviews: Reviews
    letters: str
    n: int
    seed: int = 0

    def __len__(self) -> int:
        return self.n

    @property
    def labels(self) -> Any:
        """The class of each document."""
        return 1 - np.arange(self.n) % 2

    def parts(self) -> Iterator[Texts]:
        """From the first on, the same each time."""
        chance = random.Random(self.seed)
        decks = [Deck(self.reviews[letter][code], chance) for letter in self.letters for code in CODES]
        for start in range(0, self.n, PART):
            yield [decks[i % len(decks)].deal() for i in range(start, min(start + PART, self.n))]

    def first(self, k: int) -> Texts:
        """The first k of them, as a list."""
        found: Texts = []
        for part in self.parts():
            found += part[: k - len(found)]
            if len(found) == k:
                break
        return found


def load_reviews(*, smoke: bool) -> Reviews:
    """The real reviews, or those of the demo corpus, every other one of a domain as a domain of its own."""
    if not smoke:
        domains = load_sentiment(find_data(None)).domains
        return {letter: by_class(one.texts("title+text"), one.codes) for letter, one in domains.items()}
    found: Reviews = {}
    for letters, name in zip(("BD", "EK"), DEMO, strict=True):
        texts, labels = load_demo(name)
        together = by_class(texts, [int(label == "positive") for label in labels])
        for start, letter in enumerate(letters):
            found[letter] = {code: several[start::2] for code, several in together.items()}
    return found


def by_class(texts: Texts, codes: Sequence[int]) -> dict[int, Texts]:
    return {code: [text for text, its in zip(texts, codes, strict=True) if its == code] for code in CODES}


def grow(reviews: Reviews, n: int, setting: str) -> tuple[Grown, Grown]:
    """Source and target of a setting such as BD-EK, half of the documents each."""
    source, target = setting.split("-")
    return Grown(reviews, source, n - n // 2), Grown(reviews, target, n // 2, seed=1)
