"""Texts that are copies of earlier ones, or nearly so, found in time that grows in line with the texts.

Each text gets a sketch: for a number of hash functions the least value among its runs of five characters, which two texts
share with a probability that is the Jaccard similarity of their runs (MinHash, Broder 1997). Texts that agree in a few values
in a row are candidates; of these the runs themselves are compared, so that the similarity that is told is exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gramshift.ngrams.leaves.sketches import sketch
from gramshift.text.encode import code_points

Hashes = NDArray[np.uint32]
LENGTH = 5  # characters in a run
NEAR = 0.8  # the similarity from which on a text is a near copy: then one in 5000 is missed
BANDS, IN_BAND = 16, 4  # candidates agree in all values of a band
TOGETHER = 4096  # texts that are sketched at a time
KEPT = 256  # texts whose runs are held at a time: they take a hundred times the text
SEED = 20


@dataclass(frozen=True)
class Copy:
    """A text that is like an earlier one: the numbers of both, and the share of their runs that they have in common."""

    number: int
    earlier: int
    similarity: float

    @property
    def is_exact(self) -> bool:
        """Whether nothing but case and blanks differs."""
        return self.similarity == 1.0


def find_copies(
    texts: Sequence[str], *, near: float = NEAR, together: int = TOGETHER
) -> list[Copy]:
    """Every text that has an earlier one like it, with the most similar of those that were found; empty texts have none."""
    plain = [" ".join(text.lower().split()) for text in texts]
    first: dict[str, int] = {}
    found: dict[int, Copy] = {}
    for number, text in enumerate(plain):
        if text and first.setdefault(text, number) != number:
            found[number] = Copy(number, first[text], 1.0)
    numbers = [number for text, number in first.items() if len(text) > LENGTH]
    runs_of = lru_cache(KEPT)(lambda number: _runs_of(plain[number]))
    for one, other in _candidates(
        make_sketches([plain[number] for number in numbers], together=together)
    ):
        earlier, number = numbers[one], numbers[other]
        one_runs, other_runs = runs_of(earlier), runs_of(number)
        similarity = len(one_runs & other_runs) / len(one_runs | other_runs)
        if similarity >= near and (number not in found or similarity > found[number].similarity):
            found[number] = Copy(
                number, earlier, min(similarity, 1 - 1e-9)
            )  # equal runs in another order are no copy
    return [found[number] for number in sorted(found)]


def _runs_of(text: str) -> set[str]:
    return {text[start : start + LENGTH] for start in range(len(text) - LENGTH + 1)}


def make_sketches(texts: Sequence[str], *, together: int = TOGETHER) -> Hashes:
    """A row of least hash values per text; so many texts are sketched ``together``."""
    factors = np.random.default_rng(SEED).integers(0, 2**31, BANDS * IN_BAND).astype(
        np.uint32
    ) * np.uint32(2) + np.uint32(1)
    result = np.empty((len(texts), factors.size), np.uint32)
    for start in range(0, len(texts), together):
        part = texts[start : start + together]
        sketch(
            code_points(part),
            np.cumsum([0, *map(len, part)]),
            LENGTH,
            factors,
            result[start : start + together],
        )
    return result


def _candidates(sketches: Hashes) -> Iterator[tuple[int, int]]:
    """Pairs of texts that agree in a band: each with the first of these, and with the one before it, so that they stay few."""
    seen: set[tuple[int, int]] = set()
    for band in range(BANDS):
        values = np.ascontiguousarray(sketches[:, band * IN_BAND : (band + 1) * IN_BAND])
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
