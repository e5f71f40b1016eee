"""Words in texts of any script, and texts in which each distinct word is one character.

N-grams of such characters are n-grams of words, so all code for characters serves words too.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.text.steps import Aligned

SEPARATORS = '.,;:()"'  # ASCII between words
WORD_MARKS = "!?"  # ASCII that is a word by itself; all other ASCII but blanks is part of words
UNSPACED = re.compile(  # scripts without blanks: Thai, Lao, Myanmar, Khmer, kana, ideographs
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
ASCII_EQUIVALENTS = {  # of marks of other scripts
    **dict.fromkeys("\u00a1\uff01\u203c", "!"),
    **dict.fromkeys("\u00bf\u061f\uff1f\u2047\u037e", "?"),
    **dict.fromkeys("\u2010\u2011", "-"),
}
INNER_PUNCTUATION = "\u00b7\u05f3\u05f4"  # of words: Catalan, Hebrew
APOSTROPHE = "\u2019"  # "'" between letters or digits, a quotation mark elsewhere
# blanks without width, variants of emoji
INVISIBLE = "\u200b\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
MAX_WORDS = 0x110000  # characters of Unicode
OPENING_MARK = "\u00ab"  # separates words, so that no word contains it
N_OPENING = 8  # words that are the opening of a long text
MIN_OPENED_CHARACTERS = 200  # characters of a long text


class _WordNumbers(dict[str, str]):
    """Characters of words, numbered in the order in which the words are looked up."""

    def __missing__(self, word: str) -> str:
        character = chr(min(len(self), MAX_WORDS - 1))  # number_words raises if there are more
        self[word] = character
        return character


@dataclass(frozen=True)
class Vocabulary:
    """The characters of known words, for new texts; all other words are ``unknown``."""

    characters: dict[str, str]
    unknown: str
    unit: str = "word"

    @classmethod
    def from_words(
        cls, words: Sequence[str], points: NDArray[np.uint32], unit: str = "word"
    ) -> "Vocabulary":
        """Return the vocabulary in which word i is the code point points[i].

        Raise a ValueError if the words, which may come from a damaged file, are not valid.
        """
        taken: list[Any] = points.tolist()
        if len(words) != len(taken) or not all(isinstance(word, str) for word in words):
            raise ValueError(
                f"a vocabulary is damaged: it has {len(words)} words and {len(taken)} characters "
                "for them"
            )
        free = min({*range(min(len(taken) + 1, MAX_WORDS))}.difference(taken), default=None)
        if free is None or max(taken, default=0) >= MAX_WORDS:
            raise ValueError(
                "a vocabulary is damaged: no character is left for other words, or one does not "
                "exist"
            )
        characters = dict(zip(words, map(chr, taken), strict=True))
        if not len(characters) == len(set(taken)) == len(taken):
            raise ValueError("a vocabulary is damaged: a word or a character occurs twice")
        return cls(characters, chr(free), unit)

    @property
    def words(self) -> list[str]:
        """All known words, in the order in which they were given."""
        return list(self.characters)

    def write(self, texts: Sequence[str]) -> list[str]:
        """Return the texts with a character per word."""
        find, other, split = self.characters.get, repeat(self.unknown), SPLITTERS[self.unit]
        return ["".join(map(find, split(text), other)) for text in texts]

    def align(self, texts: Sequence[Aligned]) -> list[Aligned]:
        """Return prepared texts with a character per word, and the origin of each word."""
        written = self.write([one.text for one in texts])
        return [_at_words(one, words) for one, words in zip(texts, written, strict=True)]


class _Replacements(dict[int, str]):
    """Replacements of characters, by code point, after which blanks separate words.

    A character of a word stays, a separator becomes a blank, and a word by itself gets blanks.
    """

    def __missing__(self, point: int) -> str:
        written = self[point] = self._find(chr(point))
        return written

    @staticmethod
    def _find(char: str) -> str:
        category = unicodedata.category(char)
        char = ASCII_EQUIVALENTS.get(char, char)
        if char in SEPARATORS or char in INVISIBLE or char.isspace():
            return " "
        is_unspaced = category[0] in "LMN" and UNSPACED.match(char)
        if char in WORD_MARKS or category == "So" or is_unspaced:
            return f" {char} "
        is_punctuation = category[0] == "P" and not char.isascii()
        return " " if is_punctuation and char not in INNER_PUNCTUATION else char


_REPLACEMENTS = _Replacements()
_APOSTROPHES = re.compile(rf"(?<=\w){APOSTROPHE}(?=\w)")


def split_words(text: str) -> list[str]:
    """Return the words of a text in any script: letters, marks and digits between separators.

    "!" and "?" are words, and so are every symbol, such as an emoji, and every character of a
    script without blanks.
    """
    if text.isascii():  # takes half the time
        for mark in SEPARATORS:
            text = text.replace(mark, " ")
        return text.replace("!", " ! ").replace("?", " ? ").split()
    return _APOSTROPHES.sub("'", text).translate(_REPLACEMENTS).split()


def split_with_opening(text: str) -> list[str]:
    """Return the words of a text; those of a long one are followed by its opening, marked.

    The opening is the first 8 words of a text of 200 characters or more. It often has the title or
    the verdict, so that words count there in their own way. Pairs of words include that of the last
    word and the opening.
    """
    words = split_words(text)
    opening = words[:N_OPENING] if len(text) >= MIN_OPENED_CHARACTERS else []
    return words + [OPENING_MARK + word for word in opening]


SPLITTERS = {"word": split_words, "word+opening": split_with_opening}


def find_words(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each of the words of ``split_words`` begins and ends in the text."""
    begun = None
    for at, char in enumerate(_APOSTROPHES.sub("'", text)):
        written = _REPLACEMENTS[ord(char)]
        if written[0] != " ":
            begun = at if begun is None else begun
            continue
        if begun is not None:
            yield begun, at
            begun = None
        if written != " ":
            yield at, at + 1
    if begun is not None:
        yield begun, len(text)


def number_words(texts: Sequence[str], unit: str = "word") -> tuple[list[str], list[str]]:
    """Return the texts with a character per word, and the word of each character.

    Words are numbered in the order of the texts.
    """
    numbers = _WordNumbers()
    find, split = numbers.__getitem__, SPLITTERS[unit]
    written = ["".join(map(find, split(text))) for text in texts]
    if len(numbers) > MAX_WORDS:
        raise InputError(
            f"the documents have {len(numbers)} different words; {MAX_WORDS} can be distinguished: "
            "compare fewer"
        )
    return written, list(numbers)


def _at_words(one: Aligned, words: str) -> Aligned:
    """Return a text with a character per word, with the origin of each word."""
    spans = list(find_words(one.text))
    spans += spans[: len(words) - len(spans)]  # an opening repeats the first words
    return Aligned(
        words, [one.starts[start] for start, _ in spans], [one.stops[stop - 1] for _, stop in spans]
    )
