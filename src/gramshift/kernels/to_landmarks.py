"""Documents against landmarks: n-grams that they share, with the landmarks' n-grams looked up and not sorted again."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.leaves.bits import add_bits
from gramshift.kernels.leaves.to_landmarks import match_documents
from gramshift.ngrams.index import KINDS
from gramshift.ngrams.lookup import Lookup
from gramshift.ngrams.sorted_ngrams import block_width
from gramshift.text.encode import encode

BATCH = 512  # documents whose rows of bits are added up together
MAX_REFS = 1 << 22  # references to rows of bits in a batch; what goes beyond is added from lists


def count_shared(
    lookup: Lookup, texts: Sequence[str], *, batch: int = BATCH, max_refs: int = MAX_REFS
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The kernel of prepared texts with every landmark, shape (texts, landmarks), and of each text with itself.

    On one thread: whoever has many texts gives them by parts, to as many threads as there are. ``batch`` and ``max_refs``
    decide time and memory alone.
    """
    encoded, (lo, hi) = encode(texts, lookup.alphabet), lookup.ngram_range
    gram, self_values = np.zeros((len(texts), lookup.n_landmarks), np.int64), np.zeros(len(texts), np.int64)
    width, bits = min(lo, block_width(encoded)), max(1, encoded.n_chars.bit_length())
    refs = np.empty(max_refs, np.uint32)
    for first in range(0, len(texts), batch):
        last = min(first + batch, len(texts))
        ref_ptr = np.zeros(last - first + 1, np.int64)
        match_documents(
            encoded.codes, encoded.bounds, first, last, width, bits, KINDS[lookup.kind], lo, hi,
            lookup.root, lookup.n_bits, lookup.alphabet.size, lookup.top_keys, lookup.top_targets, lookup.nodes, lookup.edges,
            lookup.codes, lookup.docs, lookup.items, lookup.members, lookup.counts,
            self_values, gram, ref_ptr, refs,
        )  # fmt: skip
        add_bits(ref_ptr, refs, lookup.bits, 0, last - first, 0, lookup.n_landmarks, -first, 0, gram)
    return gram, self_values
