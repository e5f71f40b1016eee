"""The subsequence kernel: sequences of characters that both documents contain, with gaps."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf, lgamma, log

import numpy as np

from gramshift.errors import InputError
from gramshift.kernels.compiled import subsequence as sequences
from gramshift.kernels.kernel import Floats, Job, PairKernel
from gramshift.ngrams.sorted_ngrams import Run
from gramshift.text.encode import Encoded

MAX_VALUE = 1e150  # products of two values still fit into a double
MIN_FACTOR = 1e-290
MIN_SCALE = 1e-90  # columns are rescaled before they would be divided by less
TASK_NANOSECONDS = 2e8  # of work that a thread takes at a time


@dataclass(frozen=True)
class Subsequence(PairKernel):
    """The kernel that sums over all sequences of characters that both documents contain.

    A sequence has the weight decay to the power of its spans in both documents, gaps included.
    """

    texts: Encoded
    ngram_range: tuple[int, int]
    decay: float
    factor: float
    """Multiplies all values: decay ** (2 lo), or 1 if they are normalised (it would cancel out)."""
    normalized: bool

    @property
    def tile_bytes(self) -> int:
        """The scratch memory for comparing a document with others."""
        return estimate_subsequence(self.texts, self.ngram_range)

    @cached_property
    def powers(self) -> Floats:
        """The powers decay ** 0, 1, ... down to the smallest that columns may be divided by."""
        n = int(self.lengths.max(initial=0)) + 1
        if self.decay < 1:
            n = min(n, int(log(MIN_SCALE) / log(self.decay)))
        return np.array([self.decay**k for k in range(max(n, 1) + 1)])

    def compare(self, doc: int, col0: int, col1: int, out: Floats) -> None:
        """Set ``out`` to the kernel of a document and some columns."""
        texts, (lo, hi) = self.texts, self.ngram_range
        sequences.compare_document(
            texts.codes,
            texts.bounds,
            texts.n_chars,
            doc,
            col0,
            col1,
            lo,
            hi,
            self.decay,
            self.powers,
            self.factor,
            out,
        )

    def begin(self, run: Run) -> None:
        """Compare each document with itself, if these values are needed."""
        if not (self.symmetric or self.normalized):
            return
        work = np.cumsum(
            [self.nanoseconds(1, length, 1, length) for length in self.lengths.tolist()]
        )
        cuts = [0, *(np.flatnonzero(np.diff(work // TASK_NANOSECONDS)) + 1).tolist(), len(work)]

        def compare_with_itself(docs: tuple[int, int]) -> None:
            for doc in range(*docs):
                self.compare(doc, doc, doc + 1, self.self_values[doc : doc + 1])

        run(compare_with_itself, pairwise(cuts))

    def nanoseconds(self, n_rows: int, row_length: float, n_cols: int, col_length: float) -> float:
        """Estimate the time of rows and columns, which grows with the product of lengths."""
        groups = -(-self.ngram_range[1] // sequences.LANES)
        return 500.0 * n_rows * n_cols + 2.2 * groups * row_length * col_length


def estimate_subsequence(texts: Encoded, ngram_range: tuple[int, int]) -> int:
    """Estimate the bytes that comparing a document with others takes."""
    groups = -(-ngram_range[1] // sequences.LANES)
    return (
        int(texts.lengths.max(initial=0)) * (8 * groups * sequences.LANES + 12) + 4 * texts.n_chars
    )


def largest_sum(length: int, ngram_range: tuple[int, int], decay: float) -> float:
    """Return the logarithm of an upper bound of all values of documents of ``length`` characters.

    The worst case is a document of one repeated character. It has (length choose n) sequences, and
    their weights sum to less than length * (1 - decay) ** (1 - n).
    """
    lo, hi = ngram_range
    least = -inf
    for n in range(1, min(hi, length) + 1):
        ways = lgamma(length + 1) - lgamma(n + 1) - lgamma(length - n + 1)
        weight = log(length) + (1 - n) * log(1 - decay) if decay < 1 else inf
        least = max(least, 2 * min(ways, weight))
    return least + log(hi - lo + 1)


def prepare_subsequence(job: Job) -> Subsequence:
    """Prepare the kernel, or raise an error if its values do not fit into a double."""
    texts, (lo, hi), decay = job.texts, job.ngram_range, float(job.parameters["decay"])
    longest = int(texts.lengths.max(initial=0))
    factor = 1.0 if job.normalize else decay ** (2 * lo)
    if longest >= lo and largest_sum(longest, (lo, hi), decay) > log(MAX_VALUE):
        raise InputError(
            f"ngram_range={lo, hi} with decay={decay:g}: a document of {longest} characters can "
            "have more sequences than a "
            "double can count; use a shorter range or a smaller decay"
        )
    if factor < MIN_FACTOR:
        raise InputError(
            f"ngram_range={lo, hi} with decay={decay:g}: values of decay ** {2 * lo} cannot be "
            "distinguished from 0 in a double; "
            "use normalize=True, a shorter range or a larger decay"
        )
    selves = np.zeros(texts.n_docs)
    return Subsequence(
        job.columns,
        job.first_row,
        selves,
        texts.lengths,
        texts,
        job.ngram_range,
        decay,
        factor,
        job.normalize,
    )
