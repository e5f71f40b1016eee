"""Words in the place of characters: each distinct word becomes one, so that whatever compares characters compares words."""

import re
from collections import defaultdict
from collections.abc import Sequence

from gramshift.errors import InputError
from gramshift.text.steps import Aligned

WORD = re.compile(r'[^\s.,;:!?()"]+|[!?]')
MOST_WORDS = 0x110000  # characters that Unicode has room for


def write_as_words(texts: Sequence[str]) -> list[str]:
    """Each text with a character per word, numbered as they come; equal words are equal characters in all of these texts."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    found = [[numbers[word] for word in WORD.findall(text)] for text in texts]
    if len(numbers) > MOST_WORDS:
        raise InputError(f"the documents have {len(numbers)} different words; {MOST_WORDS} can be told apart: compare fewer")
    return ["".join(map(chr, words)) for words in found]


def align_words(texts: Sequence[Aligned], others: Sequence[str]) -> tuple[list[Aligned], list[str]]:
    """Prepared texts and others, written as words; each word of the texts with its origin."""
    written = write_as_words([*(one.text for one in texts), *others])
    aligned = []
    for one, words in zip(texts, written, strict=False):
        spans = [match.span() for match in WORD.finditer(one.text)]
        starts, stops = [one.starts[start] for start, _ in spans], [one.stops[stop - 1] for _, stop in spans]
        aligned.append(Aligned(words, starts, stops))
    return aligned, written[len(texts) :]
