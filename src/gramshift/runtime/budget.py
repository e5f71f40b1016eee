"""What a fit takes in memory and time, and whether that fits; if not, in words what would.

The figures were read off runs on a machine of 2 cores, with reviews as texts.
"""

from dataclasses import dataclass, replace

from gramshift.errors import MemoryLimitError
from gramshift.runtime.memory import free_memory, human, parse_bytes
from gramshift.runtime.threads import count_threads

BASE = 250 << 20  # bytes: Python and its libraries
LABEL_CHARACTER, USUAL_LABEL = 8, 32  # bytes in two arrays, of labels and of those without adapting; characters
COMPUTED_CELL, KEPT_CELL = 8, 4  # the gram as it is computed and as it is kept
PER_NGRAM, INDEXED_NGRAM = 20, 10  # the index while it is built, and while the gram is filled
PER_TRAINING_CELL = 4  # descriptions of the source, and a factor, in single precision
PER_PAIR, PAIRS = 48, 1 << 24  # documents that are explained and those of the fit, as many as are held at a time
PER_EXPLAINED_NGRAM = 22
EXPLAINED_TOGETHER, LINEAR_TOGETHER = 1 << 21, 1 << 18  # characters that are explained at a time; a longer text by itself
EXPLAINED_CHARACTER, LONG_CHARACTER = 75, 320  # of texts as they mostly are, and at worst, which one long text can be
LONG_CLASS = 33  # the same for every class after the second
LINEAR_PAGE = 80 << 20  # bytes of a page of a linear fit, beside its texts
PER_DOCUMENT = 400  # label, id, scores, where it comes from

BEST_TRAININGS = 10  # five rounds, one for shares of classes, and four by halves for held-out scores
LINEAR_LOADED = 100 << 20  # compiled code that a linear fit has beside the base
SORTED_POSITION, SORTED_TOGETHER = 26, 112 << 20  # a character while n-grams are sorted, and as many as are sorted together
LINEAR_CHARACTER, LINEAR_LENGTH = 4.5, 1.41  # a character of the texts and of lists, for every length of n-grams
LINEAR_CLASS = 3  # a character of the texts, for every class after the second: coefficients
LISTED_SECONDS, TRAINED_SECONDS, REFERENCE_SECONDS = 8.5e-7, 7e-8, 3e-7  # a character that is listed, or trained on
FEW_STEPS, MORE_STEPS = 10_000, 0.35  # documents from which on training takes more steps, and by which power of their number
LINEAR_EXPLAINED_SECONDS, EXPLAINED_CHARACTER_SECONDS = 3e-4, 3e-6  # a document that is explained, and each character of it
LINEAR_PAGE_SECONDS = 1.2  # the page itself
PROBLEM_SECONDS = 6e-7  # a character that is looked through for problems in the data

START, COMMAND_START = 0.4, 2.4  # seconds: loading compiled code
COMMAND_SECONDS = 2e-4  # a document that is read, checked and written
NGRAM_SECONDS = 5e-8  # of one core, as all that follow: sorting and placing an n-gram
CELL_SECONDS = 8e-8  # filling a cell of the gram, and all passes over it
FLOP_SECONDS, DOUBLE_SECONDS = 5e-12, 2.1e-11  # in single and double precision
EXPLAINED_SECONDS, PAIR_SECONDS = 5e-3, 1.5e-6  # a document that is explained, and each that it is compared with


@dataclass(frozen=True)
class Needs:
    """What something takes, as estimated: bytes of memory, and seconds."""

    n_bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"about {human(self.n_bytes)} of memory and {in_words(self.seconds)}"


@dataclass(frozen=True)
class Work:
    """The size of a fit. ``n_trainings`` are as many as a linear model has.

    ``command``: documents are read and written too, a second fit is there to compare with, and all documents get probabilities.
    """

    n_source: int
    n_target: int
    n_added: int
    n_characters: int
    n_lengths: int
    adapts: bool
    n_explained: int = 0
    jobs: int | None = -1
    n_trainings: int = 1
    n_classes: int = 2
    command: bool = False
    label_characters: int = 0
    """Of the longest label, for which arrays of labels have room in every row."""
    longest: int = 0
    """Characters of the longest document that is explained."""
    n_fits: int = 1
    """Two where labels are compared with those without corrections."""

    @property
    def n(self) -> int:
        return self.n_source + self.n_target

    def with_target(self, n_target: int) -> "Work":
        """The same with so many target documents, all documents as long as before on average."""
        n_characters = self.n_characters * (self.n_source + n_target) // max(1, self.n)
        n_explained = min(self.n_explained, n_target)
        return replace(self, n_target=n_target, n_characters=n_characters, n_explained=n_explained)

    @property
    def labels(self) -> int:
        """Bytes that the labels found take beyond those of usual ones, which a document has anyway."""
        return LABEL_CHARACTER * self.n_target * max(0, self.label_characters - USUAL_LABEL)

    @property
    def n_ngrams(self) -> int:
        return self.n_characters * self.n_lengths

    @property
    def n_training(self) -> int:
        return self.n_source + (min(self.n_added, self.n_target) if self.adapts else 0)

    def page(self, n_compared: int) -> int:
        """Bytes that a page takes while it is made, whose documents are compared with so many."""
        if not self.n_explained:
            return 0
        n_ngrams = self.n_ngrams * min(1.0, (n_compared + self.n_explained) / max(1, self.n))
        pairs = PER_PAIR * min(self.n_explained * n_compared, PAIRS)
        return int(pairs + PER_EXPLAINED_NGRAM * n_ngrams) + self.explained(EXPLAINED_TOGETHER)

    def explained(self, together: int) -> int:
        """Bytes that texts take while they are explained, so many characters ``together`` or one long text at a time."""
        if not self.n_explained:
            return 0
        usual = min(together, self.n_characters * self.n_explained // max(1, self.n))
        more = LONG_CLASS * max(0, self.n_classes - 2)
        return max((EXPLAINED_CHARACTER + more) * usual, (LONG_CHARACTER + more) * self.longest)

    def page_seconds(self, n_compared: int) -> float:
        return self.n_explained * (EXPLAINED_SECONDS + PAIR_SECONDS * n_compared) / count_threads(self.jobs)

    @property
    def command_seconds(self) -> float:
        return COMMAND_START + COMMAND_SECONDS * self.n if self.command else 0.0


def estimate_exact(work: Work) -> Needs:
    """Estimate what a fit with a gram takes, and what a command does beside it."""
    n, n_training, n_ngrams = work.n, work.n_training, work.n_ngrams
    flops = n_training**3 + (2 * n_training**2 * n if work.adapts else 0)
    of_one_core = NGRAM_SECONDS * n_ngrams + CELL_SECONDS * n * n + FLOP_SECONDS * flops
    of_one_core += FLOP_SECONDS * n_training**3  # probabilities
    of_one_core += FLOP_SECONDS * flops * (work.n_fits - 1)  # with the same gram
    if work.command:
        of_one_core += DOUBLE_SECONDS * n_training**3  # those of the command, and of the fit to compare with
    trained = PER_TRAINING_CELL * (n * work.n_source + n_training**2)
    filling = COMPUTED_CELL * n * n + INDEXED_NGRAM * n_ngrams
    held = max(PER_NGRAM * n_ngrams, filling, (COMPUTED_CELL + KEPT_CELL) * n * n, KEPT_CELL * n * n + trained)
    seconds = START + of_one_core / count_threads(work.jobs) + work.page_seconds(n) + work.command_seconds
    return Needs(BASE + work.labels + max(held, work.page(n)), seconds)


def estimate_linear(work: Work) -> Needs:
    """Estimate a fit of a linear model: memory in line with the characters; of many documents training takes more steps."""
    steps = max(1.0, work.n / FEW_STEPS) ** MORE_STEPS
    of_one_core = (LISTED_SECONDS + TRAINED_SECONDS * work.n_trainings * steps) * work.n_characters * work.n_fits
    if work.command:
        of_one_core += REFERENCE_SECONDS * work.n_characters
    of_document = LINEAR_EXPLAINED_SECONDS + EXPLAINED_CHARACTER_SECONDS * work.n_characters / max(1, work.n)
    of_one_core += of_document * work.n_explained
    sorting = min(SORTED_POSITION * work.n_characters, SORTED_TOGETHER)
    page = LINEAR_PAGE + work.explained(LINEAR_TOGETHER) if work.n_explained else 0
    each = LINEAR_CHARACTER + LINEAR_LENGTH * work.n_lengths + LINEAR_CLASS * max(0, work.n_classes - 2)
    held = LINEAR_LOADED + sorting + page + int(each * work.n_characters)
    seconds = START + of_one_core / count_threads(work.jobs) + work.command_seconds
    seconds += (LINEAR_PAGE_SECONDS if work.n_explained else 0) + (PROBLEM_SECONDS * work.n_characters if work.command else 0)
    return Needs(BASE + held + PER_DOCUMENT * work.n + work.labels, seconds)


def check_memory(work: Work, allowed: int, *, linear: bool, way: str) -> Needs:
    """Refuse a fit that does not fit into memory, with the ``way`` to take a sample of the target that does."""
    estimate = estimate_linear if linear else estimate_exact
    needs = estimate(work)
    if needs.n_bytes <= allowed:
        return needs
    low, high = 0, work.n_target  # of which the first fits, and the second does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if estimate(work.with_target(middle)).n_bytes <= allowed else (low, middle)
    advice = f"take a sample of the target: {way.format(low)}" if low else "allow more memory"
    what = f"{work.n_source} source and {work.n_target} target documents"
    raise MemoryLimitError(f"{what} take {needs}, but the memory limit is {human(allowed)}: {advice}")


def in_words(seconds: float) -> str:
    """Round a time as one would say it: 75 -> "75 s", 600 -> "10 minutes"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"


def roughly(seconds: float) -> str:
    """Tell a time in whole units: 100 -> "100 seconds", 5000 -> "83 minutes", 50000 -> "14 hours"."""
    size, unit = (1, "seconds") if seconds < 120 else (60, "minutes") if seconds < 7200 else (3600, "hours")
    return f"{seconds / size:.0f} {unit}"


def memory_of(limit: int | float | str | None) -> int:
    """How many bytes may be used: those that a user allows, or all that are free."""
    return free_memory() if limit is None else parse_bytes(limit)
