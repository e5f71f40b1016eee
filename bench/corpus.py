"""Texts of benchmarks: real reviews, the demo corpus, or documents grown from their sentences."""

import json
import os
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gramshift.datasets.demo import DOMAINS, load_demo
from gramshift.datasets.reviews import load_sentiment

ROOT = Path(__file__).resolve().parent.parent
SMOKE_DOCS = 300
NGRAM_RANGE = (5, 8)
CODES = (1, 0)
N_SENTENCES = 8  # of a text about one theme

Texts = list[str]
Codes = NDArray[np.intp]
Reviews = dict[str, dict[int, Texts]]
"""By letter of the domain and class, 1 positive."""


class CorpusError(Exception):
    """The requested texts are missing."""


def load_corpus(data: str | None, *, docs: int | None = None, smoke: bool = False) -> Texts:
    """Load all texts, domain by domain, positive ones first, or an evenly spread sample of them."""
    texts = make_texts() if smoke else read_reviews(data)
    if docs is not None and docs > len(texts):
        raise CorpusError(
            f"--docs {docs}: there are {len(texts)} documents; ask for at most that many"
        )
    return texts if docs is None else spread(texts, docs)


def read_reviews(data: str | None) -> Texts:
    """Read the text of every review."""
    return [
        text
        for domain in load_sentiment(find_data(data)).domains.values()
        for text in domain.texts("text")
    ]


def spread(texts: Texts, k: int) -> Texts:
    """Choose k texts, evenly spread; the same as ``texts[:: n // k][:k]`` where k divides n."""
    return [texts[i * len(texts) // k] for i in range(k)]


def find_data(data: str | None) -> Path:
    """Return the folder sorted_data_acl, from the option, the environment or ../shared/data."""
    folder = (
        Path(data or os.environ.get("GRAMSHIFT_DATA") or ROOT.parent / "shared" / "data")
        / "sorted_data_acl"
    )
    if not folder.is_dir():
        raise CorpusError(
            f"{folder} is not there; name the folder that holds sorted_data_acl with --data DIR, "
            "or use --smoke"
        )
    return folder


def make_texts(n_texts: int = SMOKE_DOCS, seed: int = 5) -> Texts:
    """Make texts of sentences of the demo corpus, with untidy white space; some texts are empty."""
    reviews = [text for domain in DOMAINS for text in load_demo(domain).texts]
    sentences = [sentence for text in reviews for sentence in re.split(r"(?<=[.!?])\s+", text)]
    chance = random.Random(seed)
    texts = []
    for _ in range(n_texts):
        chosen = chance.choices(sentences, k=chance.randint(0, 14))
        texts.append(
            "".join(sentence + chance.choice((" ", "  ", "\n", " \t ")) for sentence in chosen)
        )
    return texts


def normalise(texts: Texts) -> Texts:
    """Normalise texts as gramshift does by default: strip, lower-case, single blanks."""
    return [re.sub(r"\s+", " ", text.strip().lower()) for text in texts]


def count_ngrams(texts: Texts, ngram_range: tuple[int, int] = NGRAM_RANGE) -> int:
    """Count the n-grams of normalised texts, repeated ones again."""
    lo, hi = ngram_range
    return sum(max(0, len(text) - n + 1) for text in texts for n in range(lo, hi + 1))


@cache
def cut(reviews: tuple[str, ...]) -> Texts:
    """Return all sentences of these reviews."""
    return [one for text in reviews for one in re.split(r"(?<=[.!?])\s+", text.strip()) if one]


class Deck:
    """The shuffled sentences of one domain and class; all are dealt before any is dealt again.

    So a few documents have few sentences in common, as real ones have.
    """

    def __init__(self, reviews: Texts, chance: random.Random) -> None:
        self._sentences, self._lengths = cut(tuple(reviews)), [len(text) for text in reviews]
        self._chance, self._left = chance, list[str]()

    def deal(self) -> str:
        """Return a document about as long as a randomly chosen real one."""
        wanted, length, dealt = self._chance.choice(self._lengths), 0, list[str]()
        while True:
            if not self._left:
                self._left = self._chance.sample(self._sentences, len(self._sentences))
            missing = wanted - length
            if dealt and len(self._left[-1]) + 1 > 2 * missing:
                return " ".join(dealt)
            dealt.append(self._left.pop())
            length += len(dealt[-1]) + 1


def grow(reviews: Reviews, letters: str, n: int, seed: int = 0) -> Iterator[str]:
    """Yield n documents, of each domain and class in turn; identical for the same seed."""
    chance = random.Random(seed)
    decks = [Deck(reviews[letter][code], chance) for letter in letters for code in CODES]
    return (decks[i % len(decks)].deal() for i in range(n))


def alternate(n: int) -> Codes:
    """Return the classes of n documents that are grown or taken."""
    return np.resize(np.array(CODES, np.intp), n)


def load_reviews(*, smoke: bool) -> Reviews:
    """Load the real reviews, or the demo corpus with each domain split in two."""
    if not smoke:
        domains = load_sentiment(find_data(None)).domains
        return {
            letter: by_class(one.texts("title+text"), one.codes) for letter, one in domains.items()
        }
    found: Reviews = {}
    for letters, name in zip(("BD", "EK"), DOMAINS, strict=True):
        texts, labels = load_demo(name)
        together = by_class(texts, [int(label == "positive") for label in labels])
        for start, letter in enumerate(letters):
            found[letter] = {code: several[start::2] for code, several in together.items()}
    return found


def by_class(texts: Texts, codes: Sequence[int]) -> dict[int, Texts]:
    return {
        code: [text for text, its in zip(texts, codes, strict=True) if its == code]
        for code in CODES
    }


def grow_setting(reviews: Reviews, setting: str, n: int) -> tuple[Texts, Codes, Texts]:
    """Return grown source texts, their classes and target texts of a setting, such as BD-EK."""
    source, target = setting.split("-")
    n_target = n // 2
    n_source = n - n_target
    return (
        list(grow(reviews, source, n_source)),
        alternate(n_source),
        list(grow(reviews, target, n_target, seed=1)),
    )


def take(reviews: Reviews, letters: str, n: int) -> tuple[Texts, Codes]:
    """Take the first n real reviews of these domains, of each domain and class in turn."""
    pools = [reviews[letter][code] for letter in letters for code in CODES]
    texts = [text for turn in zip(*pools, strict=True) for text in turn]
    if n > len(texts):
        raise CorpusError(
            f"{n} reviews of {letters}: there are {len(texts)}; ask for at most that many"
        )
    return texts[:n], alternate(n)


def split_setting(reviews: Reviews, setting: str, n: int) -> tuple[Texts, Codes, Texts]:
    """Return source, its classes and target of a setting: equally many reviews of each domain."""
    source, target = setting.split("-")
    n_target = n * len(target) // len(source + target)
    return *take(reviews, source, n - n_target), take(reviews, target, n_target)[0]


def themed(
    reviews: Reviews, letters: str, n: int, n_classes: int, *, seed: int
) -> tuple[Texts, Codes]:
    """Return n documents; the longest word of a sentence decides its class in every domain."""
    chance, pools = random.Random(seed), [list[str]() for _ in range(n_classes)]
    for letter in letters:
        for code in CODES:
            for sentence in cut(tuple(reviews[letter][code])):
                longest = max(re.findall(r"\w+", sentence.lower()), key=len, default="")
                pools[crc32(longest.encode()) % n_classes].append(sentence)
    decks = []
    for sentences in pools:
        several = [
            " ".join(sentences[start : start + N_SENTENCES])
            for start in range(0, len(sentences), N_SENTENCES)
        ]
        decks.append(Deck(several, chance))
    return [decks[i % n_classes].deal() for i in range(n)], np.arange(n) % n_classes


def write_documents(path: Path, texts: Iterable[str], labels: Iterable[int] | None = None) -> None:
    """Write a file with a JSON object per line."""
    names = None if labels is None else ("positive" if code else "negative" for code in labels)
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            row = {"id": f"{path.stem}-{number}", "text": text} | (
                {} if names is None else {"label": next(names)}
            )
            file.write(json.dumps(row) + "\n")


def write_parts(folder: Path, texts: Iterator[str], n_texts: int, n_files: int) -> None:
    """Write documents without labels to some files."""
    folder.mkdir()
    for number in range(n_files):
        part = islice(texts, -(-n_texts // n_files))
        write_documents(folder / f"part-{number:03}.jsonl", part)
