"""The words of a text that indicate a class most, by what its characters add to scores."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gramshift.text.words import SEPARATORS, UNSPACED, WORD_MARKS, find_words

Floats = NDArray[np.float64]
N_SHOWN = 5  # words of a document that are shown
MAX_PHRASE = 3  # words that are shown as one
MAX_RUN = 4  # characters of a script without blanks that are shown as one
MIN_RATIO = 0.4  # of the strength by character of two neighbours in a phrase
MIN_STRENGTH = 0.08  # of a word that is shown, relative to the strongest word
_ASCII_WORD = re.compile(rf"[{re.escape(WORD_MARKS)}]|[^\s{re.escape(SEPARATORS + WORD_MARKS)}]+")


class WordSpan(NamedTuple):
    """A word, a phrase, or a few characters of a script without blanks, that indicates a class."""

    start: int
    stop: int
    code: int
    """The number of the class."""
    strength: float
    """The amount it adds to the score of that class, minus its mean over classes."""


def rank_words(text: str, by_character: Floats) -> list[WordSpan]:
    """Find the words that speak for a class, strongest first; each character has a share per class.

    Words are those of ``split_words``. Neighbours that speak for the same class are one if neither
    is much weaker and the blank between them, on which nothing but n-grams of both count, adds as
    much by character as the weaker does: "my money". Characters of scripts without blanks are taken
    in runs of four at most that speak for the same class.
    """
    if not by_character.size:
        return []
    ahead = by_character - by_character.mean(axis=1, keepdims=True)
    totals = np.vstack([np.zeros((1, ahead.shape[1])), np.cumsum(ahead, axis=0)])

    bounds = np.array(list(_find_units(text, ahead)), np.intp).reshape(-1, 2)
    added = totals[bounds[:, 1]] - totals[bounds[:, 0]]
    codes = added.argmax(axis=1)
    strengths = np.take_along_axis(added, codes[:, None], axis=1)[:, 0]

    found: list[WordSpan] = []
    n_joined = 0
    for (start, stop), code, strength in zip(
        bounds.tolist(), codes.tolist(), strengths.tolist(), strict=True
    ):
        one = WordSpan(start, stop, code, strength)
        if found and n_joined < MAX_PHRASE and _belong_together(text, totals, found[-1], one):
            one = _weigh(totals, found.pop().start, stop)
            n_joined += 1
        else:
            n_joined = 1
        found.append(one)
    return sorted((one for one in found if one.strength > 0), key=lambda one: -one.strength)


def _weigh(totals: Floats, start: int, stop: int) -> WordSpan:
    """Return the class for which these characters speak most; ``totals`` are cumulative sums."""
    added = totals[stop] - totals[start]
    code = int(np.argmax(added))
    return WordSpan(start, stop, code, float(added[code]))


def choose_words(ranked: list[WordSpan], n: int = N_SHOWN) -> list[WordSpan]:
    """Return the strongest words that are worth showing, in the order of the text."""
    least = MIN_STRENGTH * ranked[0].strength if ranked else 0.0
    return sorted((one for one in ranked[:n] if one.strength > least), key=lambda one: one.start)


def _belong_together(text: str, totals: Floats, one: WordSpan, other: WordSpan) -> bool:
    """Return True if two neighbouring words are a phrase."""
    if one.code != other.code or not text[one.stop : other.start].isspace():
        return False
    if not (text[one.start].isalnum() and text[other.start].isalnum()):
        return False
    weaker, stronger = sorted(each.strength / (each.stop - each.start) for each in (one, other))
    if weaker <= 0 or weaker < MIN_RATIO * stronger:
        return False
    added = float(totals[other.start, one.code] - totals[one.stop, one.code])
    return added / (other.start - one.stop) >= weaker


def _find_units(text: str, ahead: Floats) -> Iterator[tuple[int, int]]:
    """Yield words, and short runs of characters of scripts without blanks."""
    if text.isascii():
        yield from (match.span() for match in _ASCII_WORD.finditer(text))
        return
    run: list[tuple[int, int]] = []
    for start, stop in find_words(text):
        is_unspaced = stop == start + 1 and UNSPACED.match(text[start]) is not None
        if run and (not is_unspaced or run[-1][1] != start):
            yield from _cut_run(run, ahead)
            run = []
        if not is_unspaced:
            yield start, stop
        elif run and unicodedata.category(text[start])[0] == "M":  # a mark on the last character
            run[-1] = (run[-1][0], stop)
        else:
            run.append((start, stop))
    yield from _cut_run(run, ahead)


def _cut_run(characters: list[tuple[int, int]], ahead: Floats) -> Iterator[tuple[int, int]]:
    """Yield runs of at most four characters that indicate the same class.

    A longer run is cut around its strongest four characters.
    """
    leading = [int(np.argmax(ahead[start:stop].sum(axis=0))) for start, stop in characters]
    first = 0
    for place in range(1, len(characters) + 1):
        if place == len(characters) or leading[place] != leading[first]:
            yield from _take_strongest(characters[first:place], ahead[:, leading[first]])
            first = place


def _take_strongest(characters: list[tuple[int, int]], share: Floats) -> Iterator[tuple[int, int]]:
    waiting = [characters]
    while waiting:  # without recursion: a run can be as long as a document
        here = waiting.pop()
        if len(here) <= MAX_RUN:
            yield here[0][0], here[-1][1]
            continue
        sums = np.convolve(
            [share[start:stop].sum() for start, stop in here], np.ones(MAX_RUN), mode="valid"
        )
        best = int(np.argmax(sums))
        parts = (here[:best], here[best : best + MAX_RUN], here[best + MAX_RUN :])
        waiting += [part for part in reversed(parts) if part]
