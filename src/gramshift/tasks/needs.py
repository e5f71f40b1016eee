"""What a run will take, in memory and time, before it starts."""

from dataclasses import dataclass

from gramshift.engine.memory import free_memory, human, parse_bytes
from gramshift.engine.plan import require
from gramshift.engine.threads import count_threads

BASE = 250 << 20  # Python and its libraries
PER_CELL = 12  # bytes: the gram as it is computed and as it is kept
PER_NGRAM = 20  # bytes: the index while it is built
MORE_PER_CELL, MORE_PER_NGRAM = 16, 16  # bytes: where grams are made anew, their sum and a part of it, and the index kept
PER_PAIR, PAIRS = 48, 1 << 24  # bytes: documents that are explained and those of the fit, as many as are held at a time
PER_EXPLAINED_NGRAM = 30  # bytes
START = 2.0  # seconds: loading compiled code
NGRAM_SECONDS = 1e-7  # of one core: sorting and placing an n-gram
CELL_SECONDS = 1.5e-7  # filling a cell of the gram, and all passes over it
FLOP_SECONDS = 2e-11  # in single precision
REPORT_SECONDS = 1.3e-6  # for each pair of a document that is explained and one of the fit


@dataclass(frozen=True)
class Needs:
    """Estimates."""

    n_bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"about {human(self.n_bytes)} of memory and {in_words(self.seconds)}"


def estimate(
    *,
    n_source: int,
    n_target: int,
    n_added: int,
    n_characters: int,
    n_lengths: int,
    adapts: bool,
    n_explained: int,
    jobs: int,
    n_grams: int = 1,
) -> Needs:
    """For a fit of the chosen method, of plain beside it, the calibration of probabilities and a page.

    ``n_grams`` are as many as are made: one, or for weights that change one in every round.

    The figures were read off a run with 8000 reviews on a machine of 2 cores.
    """
    n, n_ngrams = n_source + n_target, n_characters * n_lengths
    n_training = n_source + (min(n_added, n_target) if adapts else 0)
    flops = n_training**3 + (2 * n_training**2 * n if adapts else 0)
    of_one_core = (
        NGRAM_SECONDS * n_ngrams + n_grams * CELL_SECONDS * n * n + FLOP_SECONDS * flops + REPORT_SECONDS * n_explained * n
    )
    training, page = PER_CELL * n * n + PER_NGRAM * n_ngrams, 0
    if n_grams > 1:
        training += MORE_PER_CELL * n * n + MORE_PER_NGRAM * n_ngrams
    if n_explained:
        page = PER_PAIR * min(n_explained * n, PAIRS) + PER_EXPLAINED_NGRAM * n_ngrams
    return Needs(BASE + max(training, page), START + of_one_core / count_threads(jobs))


def check_needs(needs: Needs, memory: str | None) -> None:
    """Refuse what does not fit."""
    limit = free_memory() if memory is None else parse_bytes(memory)
    require("this run", needs.n_bytes, limit, "take fewer documents, or raise --memory if there is more")


def in_words(seconds: float) -> str:
    """Rounded as one would say it."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"
