"""Words in the place of characters: each distinct word becomes one, so that whatever compares characters compares words."""

import re
from collections import defaultdict
from collections.abc import Sequence

from gramshift.text.align import Aligned

WORD = re.compile(r'[^\s.,;:!?()"]+|[!?]')
MOST_WORDS = 0x110000  # characters that Unicode has room for


def write_as_words(texts: Sequence[str]) -> list[str]:
    """Each text with a character per word, numbered as they come; equal words are equal characters in all of these texts."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    found = [[numbers[word] for word in WORD.findall(text)] for text in texts]
    if len(numbers) > MOST_WORDS:
        raise ValueError(f"the documents have {len(numbers)} different words; {MOST_WORDS} can be told apart: compare fewer")
    return ["".join(map(chr, words)) for words in found]


def align_words(aligned: Aligned, others: Sequence[str]) -> tuple[Aligned, list[str]]:
    """A prepared text and others, written as words; each word of the first with its origin."""
    first, *rest = write_as_words([aligned.text, *others])
    spans = [match.span() for match in WORD.finditer(aligned.text)]
    starts, stops = [aligned.starts[start] for start, _ in spans], [aligned.stops[stop - 1] for _, stop in spans]
    return Aligned(first, starts, stops), rest
