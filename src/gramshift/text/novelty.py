"""Target documents unlike every source document, by their words: garbage, of another language, of a class that is missing."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramshift.text.words import split_words

Floats = NDArray[np.float64]
LEAST_KNOWN = 0.2  # of a document's words, that source documents have too
LEAST_WORDS = 6  # different ones, of a document of which anything can be told
ENOUGH = 100  # documents of each domain, for frequencies that tell something
FAR = 3.5  # standard deviations from the usual target document
RARER = 1.5  # times as rare as the words of the usual target document
STEADY = 0.25  # of the usual document: words that are added to each, so that short ones do not stand out by chance
TO_DEVIATION = 1.4826  # the median distance from the median, of a normal distribution, as its standard deviation


@dataclass(frozen=True)
class Unlike:
    """A target document unlike the source: its number, the share of its words that the source has, and how far off it is."""

    number: int
    known: float
    rarer: float
    """How many times as frequent its words are in the target as in the source, beside those of the usual target document."""


@dataclass(frozen=True)
class WordsOfTexts:
    """The words of texts by number, and the number of the text that each stands in; a word stands once in a text."""

    words: NDArray[np.int32]
    texts: NDArray[np.intp]


@dataclass(frozen=True)
class Counts:
    """In how many documents of each domain each word stands, and how many documents there are."""

    in_source: NDArray[np.intp]
    in_target: NDArray[np.intp]
    n_source: int
    n_target: int


def find_unlike(source: Sequence[str], target: Sequence[str]) -> list[Unlike]:
    """Find target documents that stand out from the others by words that the source has not, or has less often.

    Words that one document alone has say nothing of frequencies, but they are unknown to the source. All domains differ in
    their words, so that a document is compared with what is usual in the target. One pass over all words.
    """
    numbers: dict[str, int] = {}
    of_source, of_target = (_number_words(texts, numbers) for texts in (source, target))
    in_source, in_target = (np.bincount(one.words, minlength=len(numbers)) for one in (of_source, of_target))
    counts = Counts(in_source, in_target, len(source), len(target))
    n_words = np.bincount(of_target.texts, minlength=len(target))
    n_known = np.bincount(of_target.texts, in_source[of_target.words] > 0, minlength=len(target))
    tells = n_words >= LEAST_WORDS
    known = np.divide(n_known, n_words, out=np.ones(len(target)), where=tells)
    off = np.zeros(len(target))
    is_off = np.zeros(len(target), bool)
    if min(len(source), len(target)) >= ENOUGH:
        off, is_off = _stand_out(of_target, counts)
    chosen = np.flatnonzero((known < LEAST_KNOWN) | (is_off & tells))
    return [Unlike(i, float(known[i]), float(np.exp(-off[i]))) for i in chosen.tolist()]


def _number_words(texts: Sequence[str], numbers: dict[str, int]) -> WordsOfTexts:
    """Number words as they come, and list those of each text, each once."""
    words, sizes = array("i"), []
    for text in texts:
        found = dict.fromkeys(split_words(text.lower()))  # in the same order on every run, as sets are not
        words.extend(numbers.setdefault(word, len(numbers)) for word in found)
        sizes.append(len(found))
    return WordsOfTexts(np.array(words, np.int32), np.repeat(np.arange(len(sizes)), sizes))


def _stand_out(of_target: WordsOfTexts, counts: Counts) -> tuple[Floats, NDArray[np.bool_]]:
    """The log of how much more frequent in the source the words of each are than those of the usual one; and who is far off."""
    n_source, n_target, in_source, in_target = counts.n_source, counts.n_target, counts.in_source, counts.in_target
    both = in_source + in_target
    ratio = np.log((in_source + 0.5) / (in_target + 0.5) * n_target / n_source)
    weights = np.where(both > 1, np.log((n_source + n_target + 1) / (both + 0.5)), 0)
    total, ratios = (
        np.bincount(of_target.texts, values[of_target.words], minlength=n_target) for values in (weights, weights * ratio)
    )
    means = np.divide(ratios, total, out=np.zeros(n_target), where=total > 0)
    usual = float(np.median(means))
    off = (ratios - usual * total) / np.maximum(total + STEADY * float(np.median(total)), np.finfo(float).tiny)
    middle = float(np.median(off))
    spread = TO_DEVIATION * float(np.median(np.abs(off - middle)))
    return off, (off < middle - FAR * spread) & (off < -np.log(RARER))
