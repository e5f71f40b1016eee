"""Documents for benchmarks: real reviews by turns, and any number grown from their sentences, the same each time."""

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bench.corpus import CorpusError, Texts, find_data
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


Codes = NDArray[np.intp]
LETTERS = "BDEK"
SENTENCES = 8  # of a text about one theme


def take(reviews: Reviews, letters: str, n: int) -> tuple[Texts, Codes]:
    """The first n real reviews of these domains, of each domain and class in turn."""
    pools = [reviews[letter][code] for letter in letters for code in CODES]
    texts = [text for turn in zip(*pools, strict=True) for text in turn]
    if n > len(texts):
        raise CorpusError(f"{n} reviews of {letters}: there are {len(texts)}; ask for at most that many")
    return texts[:n], np.resize(np.array(CODES, np.intp), n)


def split_setting(reviews: Reviews, setting: str, n: int) -> tuple[Texts, Codes, Texts]:
    """Source, its classes and target of a setting such as BDE-K: of n real reviews each domain has as many."""
    source, target = setting.split("-")
    n_target = n * len(target) // len(source + target)
    return *take(reviews, source, n - n_target), take(reviews, target, n_target)[0]


def themed(reviews: Reviews, letters: str, n: int, n_classes: int, *, seed: int) -> tuple[Texts, Codes]:
    """n documents in so many classes: the longest word of a sentence decides its class, in every domain alike."""
    chance, pools = random.Random(seed), [list[str]() for _ in range(n_classes)]
    for letter in letters:
        for code in CODES:
            for sentence in cut(tuple(reviews[letter][code])):
                longest = max(re.findall(r"\w+", sentence.lower()), key=len, default="")
                pools[crc32(longest.encode()) % n_classes].append(sentence)
    decks = []
    for sentences in pools:
        several = [" ".join(sentences[start : start + SENTENCES]) for start in range(0, len(sentences), SENTENCES)]
        decks.append(Deck(several, chance))
    return [decks[i % n_classes].deal() for i in range(n)], np.arange(n) % n_classes


def write_documents(path: Path, texts: Iterable[str], labels: Iterable[int] | None = None) -> None:
    """A file with a JSON object per line."""
    names = None if labels is None else ("positive" if code else "negative" for code in labels)
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            row = {"id": f"{path.stem}-{number}", "text": text} | ({} if names is None else {"label": next(names)})
            file.write(json.dumps(row) + "\n")


def write_parts(folder: Path, grown: Grown, n_files: int) -> None:
    """Grown documents without labels in so many files."""
    folder.mkdir()
    texts, size = one_by_one(grown), -(-len(grown) // n_files)
    for number in range(n_files):
        write_documents(folder / f"part-{number:03}.jsonl", islice(texts, size))


def one_by_one(grown: Grown) -> Iterator[str]:
    """Grown documents, never all held."""
    return (text for part in grown.parts() for text in part)
