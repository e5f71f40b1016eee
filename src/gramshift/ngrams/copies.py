"""Exact and near copies of texts, found in time proportional to the number of texts.

Each text gets a sketch: for each of several hash functions, the least value among its 5-grams. Two
texts share such a value with a probability equal to the Jaccard similarity of their 5-grams
(MinHash, Broder 1997). Texts that agree in all values of a band are candidates, whose 5-grams are
then compared, so the similarity in the result is exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gramshift.ngrams.compiled.sketches import sketch
from gramshift.text.encode import code_points

Hashes = NDArray[np.uint32]
NGRAM_LENGTH = 5  # characters
MIN_SIMILARITY = 0.8  # of a near copy; one in 5000 of these is missed
N_BANDS, BAND_SIZE = 16, 4  # candidates agree in all values of a band
BATCH_TEXTS = 4096  # texts that are sketched at a time
CACHED_TEXTS = 256  # texts whose n-grams are in memory, where they take a hundred times the text
SEED = 20


@dataclass(frozen=True)
class Copy:
    """A text like an earlier one: their numbers, and the Jaccard similarity of their n-grams."""

    number: int
    earlier: int
    similarity: float

    @property
    def is_exact(self) -> bool:
        """True if nothing but case and white space differs."""
        return self.similarity == 1.0


def find_copies(
    texts: Sequence[str], *, min_similarity: float = MIN_SIMILARITY, batch_texts: int = BATCH_TEXTS
) -> list[Copy]:
    """Return every text that has an earlier one like it, with the most similar one found.

    Empty texts are never copies.
    """
    plain = [" ".join(text.lower().split()) for text in texts]
    first: dict[str, int] = {}
    found: dict[int, Copy] = {}
    for number, text in enumerate(plain):
        if text and first.setdefault(text, number) != number:
            found[number] = Copy(number, first[text], 1.0)
    numbers = [number for text, number in first.items() if len(text) > NGRAM_LENGTH]
    ngrams_of = lru_cache(CACHED_TEXTS)(lambda number: _ngrams_of(plain[number]))
    for one, other in _candidates(
        make_sketches([plain[number] for number in numbers], batch_texts=batch_texts)
    ):
        earlier, number = numbers[one], numbers[other]
        one_ngrams, other_ngrams = ngrams_of(earlier), ngrams_of(number)
        similarity = len(one_ngrams & other_ngrams) / len(one_ngrams | other_ngrams)
        if similarity >= min_similarity and (
            number not in found or similarity > found[number].similarity
        ):
            similarity = min(similarity, 1 - 1e-9)  # equal n-grams in another order are no copy
            found[number] = Copy(number, earlier, similarity)
    return [found[number] for number in sorted(found)]


def _ngrams_of(text: str) -> set[str]:
    return {text[start : start + NGRAM_LENGTH] for start in range(len(text) - NGRAM_LENGTH + 1)}


def make_sketches(texts: Sequence[str], *, batch_texts: int = BATCH_TEXTS) -> Hashes:
    """Return a row of least hash values per text; ``batch_texts`` affects memory only."""
    factors = np.random.default_rng(SEED).integers(0, 2**31, N_BANDS * BAND_SIZE).astype(
        np.uint32
    ) * np.uint32(2) + np.uint32(1)
    result = np.empty((len(texts), factors.size), np.uint32)
    for start in range(0, len(texts), batch_texts):
        part = texts[start : start + batch_texts]
        sketch(
            code_points(part),
            np.cumsum([0, *map(len, part)]),
            NGRAM_LENGTH,
            factors,
            result[start : start + batch_texts],
        )
    return result


def _candidates(sketches: Hashes) -> Iterator[tuple[int, int]]:
    """Yield pairs of texts that agree in a band.

    Each text is paired only with the first and the previous of them, so that pairs stay few.
    """
    seen: set[tuple[int, int]] = set()
    for band in range(N_BANDS):
        values = np.ascontiguousarray(sketches[:, band * BAND_SIZE : (band + 1) * BAND_SIZE])
        buckets: dict[bytes, tuple[int, int]] = {}
        for number, row in enumerate(values):
            key = row.tobytes()
            if key in buckets:
                first, before = buckets[key]
                for pair in {(first, number), (before, number)} - seen:
                    seen.add(pair)
                    yield pair
                buckets[key] = (first, number)
            else:
                buckets[key] = (number, number)
