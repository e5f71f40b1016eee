"""Where n-grams stand: for whoever needs the places and not only the documents."""

from dataclasses import dataclass

import numpy as np

from gramshift.ngrams.index import Array, Run, run_serially, shard_positions, sort_positions
from gramshift.ngrams.leaves import runs
from gramshift.text.encode import Encoded


@dataclass(frozen=True)
class Places:
    """Positions in the order of the n-grams that start there, their documents, and how many characters neighbours share.

    ``runs`` are stretches (begin, end, times) of that order with an n-gram in common, as in :func:`runs.find_runs`.
    """

    docs: Array
    positions: Array
    common: Array
    runs: Array


def find_places(texts: Encoded, ngram_range: tuple[int, int], *, run: Run = run_serially) -> list[Places]:
    """All n-grams that stand at two places or more, in parts."""
    doc_of = np.repeat(np.arange(texts.n_docs, dtype=np.uint32), texts.lengths)

    def sort(shard: tuple[Array, Array]) -> Places:
        positions, common = sort_positions(texts, doc_of, *shard, ngram_range[1])
        found = np.empty((positions.size, 3), np.int64)
        found = found[: runs.find_runs(common, ngram_range[0], found)].copy()
        return Places(doc_of[positions], positions, common, found)

    return run(sort, shard_positions(texts, ngram_range, run))
