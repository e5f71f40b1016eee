"""Which documents are landmarks, and a first pass over all of them: they are read part by part and never all held."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.learn.labelling import Rows
from gramshift.learn.landmark_ridge import CANDIDATES, MOST_CANDIDATES, draw, spread
from gramshift.model.similarities import Similarities
from gramshift.runtime.threads import Progress
from gramshift.text.corpus import DIGEST, InParts, digest_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FirstPass:
    """What the first pass over all documents keeps."""

    landmarks: list[str]
    digest: str
    digests: NDArray[np.uint8]
    """What the target documents are known again by."""


def look_through(documents: InParts, rows: Rows, is_source: NDArray[np.bool_], progress: Progress | None) -> FirstPass:
    """All documents once: the texts of ``rows``, and by what to know the others again."""
    wanted, found = set(rows.tolist()), []
    whole, digests, row = sha256(), bytearray(), 0
    for part in documents.parts():
        if row + len(part) > len(documents):
            raise InputError(f"there were {len(documents)} documents at first, and more now; they must not change")
        for text in part:
            if row in wanted:
                found.append(text)
            one = digest_of(text)
            whole.update(one)
            if not is_source[row]:
                digests += one
            row += 1
        if progress is not None:
            progress("reading", row, len(documents))
    return FirstPass(found, whole.hexdigest(), np.frombuffer(bytes(digests), np.uint8).reshape(-1, DIGEST))


def unchanged(parts: Iterator[list[str]], digest: str) -> Iterator[list[str]]:
    """The same parts; an error in the end if they are not those that were looked through."""
    whole = sha256()
    for part in parts:
        for text in part:
            whole.update(digest_of(text))
        yield part
    if whole.hexdigest() != digest:
        raise InputError("the documents are not the same as when they were first read; they must not change during a fit")


def choose_landmarks(
    documents: InParts, is_source: NDArray[np.bool_], n: int, *, choice: str, seed: int, similarities: Similarities
) -> Rows:
    """The numbers of n documents, in order."""
    generator = np.random.default_rng(seed)
    if choice == "uniform" or n >= len(is_source):
        return draw(is_source, n, generator)
    candidates = draw(is_source, max(n, min(CANDIDATES * n, MOST_CANDIDATES)), generator)
    texts = look_through(documents, candidates, is_source, None).landmarks
    unweighted = similarities.without_weights()  # those of classes are not known yet
    similarity = unweighted.describe(texts, unweighted.refer_to(texts, {}), adapt=False).gram
    return candidates[spread(similarity.__getitem__, n, np.diagonal(similarity), generator)]
