"""Estimates of the memory and time that a run takes, and the refusal of one that does not fit.

The constants were fitted to runs of the command on a machine of two cores, with reviews as texts. Memory is estimated on the
safe side, time roughly.
"""

from dataclasses import dataclass, replace

from gramshift.errors import MemoryLimitError
from gramshift.runtime.memory import human
from gramshift.runtime.threads import count_threads

BASE, COMPILED = 250 << 20, 100 << 20  # bytes: Python and its libraries, and compiled code that a fit loads
DOCUMENT_BYTES, LABEL_BYTES = 400, 8  # of a document; of a character of the longest label, for which every document has room
SORTED_BYTES = 112 << 20  # of the n-grams that are sorted at a time
LISTED_BYTES = 1.6  # of a character, for each length of n-grams and as much again for the text and for coefficients of classes
CELL_BYTES, NGRAM_BYTES = 12, 22  # of a cell of the kernel matrix, in double and in single precision; of an n-gram in its index
PAGE_BYTES = 80 << 20
EXPLAINED_BYTES = 40  # of a character that is explained, for each class; of a single long text, four times as much
EXPLAINED_TOGETHER, LINEAR_TOGETHER = 1 << 21, 1 << 18  # characters that are explained at a time; a longer text by itself
PAIR_BYTES, MAX_PAIRS = 48, 1 << 24  # of a document that is explained and one that it is compared with; pairs at a time

START_SECONDS, PAGE_SECONDS = 2.8, 1.2  # for loading compiled code, and for a page
SERIAL_SECONDS = 8.5e-7  # for a character that is read, checked and written, on one core however many there are
LINEAR_SECONDS, STEADY_DOCUMENTS = 1.6e-6, 10_000  # for a character; documents from which on training takes more steps
NGRAM_SECONDS, CELL_SECONDS, CUBE_SECONDS = (
    5e-8,
    8e-8,
    2e-11,
)  # for an n-gram, a cell, and solving: documents cubed
EXPLAINED_SECONDS, PAIR_SECONDS = 3e-6, 2.5e-6  # for a character that is explained, and a document that it is compared with


@dataclass(frozen=True)
class Needs:
    """Memory and time that a run takes, as estimated."""

    n_bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"about {human(self.n_bytes)} of memory and {in_words(self.seconds)}"


@dataclass(frozen=True)
class Work:
    """The size of a run: a fit of documents, the labels of all of them, and a page that explains some."""

    n_source: int
    n_target: int
    n_characters: int
    n_lengths: int
    """Lengths of n-grams, of all kernels."""
    n_classes: int = 2
    label_characters: int = 0
    """Characters of the longest label."""
    n_explained: int = 0
    longest: int = 0
    """Characters of the longest document that is explained."""
    n_fits: int = 1
    """Two if labels are compared with those without corrections."""
    jobs: int | None = -1

    @property
    def n(self) -> int:
        return self.n_source + self.n_target

    @property
    def n_explained_characters(self) -> int:
        return self.n_characters * self.n_explained // max(1, self.n)

    def with_target(self, n_target: int) -> "Work":
        """Return the same with this many target documents, all documents as long as before on average."""
        n_characters = self.n_characters * (self.n_source + n_target) // max(1, self.n)
        n_explained = min(self.n_explained, n_target)
        return replace(self, n_target=n_target, n_characters=n_characters, n_explained=n_explained)


def estimate(work: Work, *, linear: bool) -> Needs:
    """Estimate a run; a fit that is not linear computes a kernel matrix."""
    n_bytes, seconds = _estimate_linear(work) if linear else _estimate_kernel(work)
    of_documents = (DOCUMENT_BYTES + LABEL_BYTES * work.label_characters) * work.n
    page = PAGE_SECONDS if work.n_explained else 0
    serial = START_SECONDS + page + SERIAL_SECONDS * work.n_characters
    seconds += EXPLAINED_SECONDS * work.n_explained_characters
    return Needs(BASE + COMPILED + of_documents + int(n_bytes), serial + seconds / count_threads(work.jobs))


def _estimate_linear(work: Work) -> tuple[float, float]:
    """Return bytes, and seconds of one core: in line with the characters, but training takes more steps of many documents."""
    lists = LISTED_BYTES * (work.n_lengths + 2 * work.n_classes - 1) * work.n_characters
    page = PAGE_BYTES + _explained_bytes(work, LINEAR_TOGETHER) if work.n_explained else 0
    steps = max(1.0, work.n / STEADY_DOCUMENTS) ** 0.25
    return SORTED_BYTES + lists + page, LINEAR_SECONDS * steps * work.n_characters * work.n_fits


def _estimate_kernel(work: Work) -> tuple[float, float]:
    """Return bytes, and seconds of one core: the index of n-grams, a cell for each two documents, and the solution."""
    n, n_ngrams, n_pairs = work.n, work.n_characters * work.n_lengths, work.n_explained * work.n
    fit = max(NGRAM_BYTES * n_ngrams, CELL_BYTES * n * n + NGRAM_BYTES // 2 * n_ngrams)
    page = PAIR_BYTES * min(n_pairs, MAX_PAIRS) + NGRAM_BYTES * n_ngrams + _explained_bytes(work, EXPLAINED_TOGETHER)
    seconds = NGRAM_SECONDS * n_ngrams + CELL_SECONDS * n * n + CUBE_SECONDS * n**3 * work.n_fits + PAIR_SECONDS * n_pairs
    return max(fit, page if work.n_explained else 0), seconds


def _explained_bytes(work: Work, together: int) -> int:
    return EXPLAINED_BYTES * work.n_classes * max(min(together, work.n_explained_characters), 4 * work.longest)


def check_memory(work: Work, allowed: int, *, linear: bool, way: str) -> Needs:
    """Refuse a fit that does not fit into memory, with the ``way`` to take a sample of the target that does."""
    needs = estimate(work, linear=linear)
    if needs.n_bytes <= allowed:
        return needs
    low, high = 0, work.n_target  # of which the first fits, and the second does not
    while high - low > 1:
        middle = (low + high) // 2
        fits = estimate(work.with_target(middle), linear=linear).n_bytes <= allowed
        low, high = (middle, high) if fits else (low, middle)
    advice = f"take a sample of the target: {way.format(low)}" if low else "allow more memory"
    documents = f"{work.n_source} source and {work.n_target} target documents"
    raise MemoryLimitError(f"{documents} take {needs}, but the memory limit is {human(allowed)}: {advice}")


def in_words(seconds: float) -> str:
    """Round a time as one would say it: 75 -> "75 s", 600 -> "10 minutes"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"
