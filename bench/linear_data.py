"""Documents for the benchmark of the sparse linear model: real ones by turns, grown ones of many classes, files of them."""

import json
import random
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bench.corpus import CorpusError, Texts
from bench.grown import CODES, Deck, Grown, Reviews, cut

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
