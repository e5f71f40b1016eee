"""Sentences, lemmas and parts of speech of English texts, by the model of HanTa."""

import re
from functools import cache, lru_cache
from typing import Any, NamedTuple

from gramshift.baselines.checks import require

SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|\n\s*\n")
TOKEN = re.compile(r"n't\b|'(?:s|m|d|re|ve|ll)\b|\w+?(?=n't\b)|\w+(?:-\w+)*|\.{2,}|[^\w\s]", re.IGNORECASE)
APOSTROPHES = str.maketrans("’‘`´", "''''")
LONGEST = 40  # characters: the time of an analysis grows with the square, and no word is longer
N_TEXTS = 1 << 15  # remembered texts: all settings of a table share their documents
N_STATES = 5  # that go on from word to word, as in HanTa
NOTHING_KNOWN = (0, 1)  # HanTa's states before the first word and its mark after the last one
END = 2
PARTS = {"NN": "n", "AJ": "a", "AV": "r", "VV": "v", "VB": "v", "VD": "v", "VH": "v", "NP": "p"}
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
    ends = {state: value + follow[state][END] for state, value in row.items() if END in follow[state]}
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
    return Word(form, lemma, PARTS.get(name[:2], ""))
