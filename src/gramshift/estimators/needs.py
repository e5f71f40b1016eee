"""What a fit will take, in memory, disk and time, before it starts: exactly, with its gram on disk, or with landmarks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gramshift.engine.memory import free_memory, human, parse_bytes
from gramshift.engine.threads import count_threads

MOST_IN_PIECE = 8192  # documents
PIECE_CELLS = 1 << 21  # enough to be worth a start, little enough to be held by every thread
IN_MEMORY = 4  # pieces are kept on disk if they would take more than this part of the memory

BASE = 250 << 20  # Python and its libraries
COMPUTED_CELL, KEPT_CELL = 8, 4  # bytes: the gram as it is computed and as it is kept
PER_NGRAM, INDEXED_NGRAM = 20, 10  # bytes: the index while it is built, and while the gram is filled
MORE_PER_CELL, MORE_PER_NGRAM = 16, 16  # bytes: where grams are made anew, their sum and a part of it, and the index kept
PER_TRAINING_CELL = 4  # bytes: descriptions of the source, and a factor, in single precision
PER_PAIR, PAIRS = 48, 1 << 24  # bytes: documents that are explained and those of the fit, as many as are held at a time
PER_EXPLAINED_NGRAM = 30  # bytes
START = 2.0  # seconds: loading compiled code
NGRAM_SECONDS = 1e-7  # of one core: sorting and placing an n-gram
CELL_SECONDS = 1.5e-7  # filling a cell of the gram, and all passes over it
DISK_SECONDS = 4e-8  # the same passes, where they come from a disk
FLOP_SECONDS = 2e-11  # in single precision
REPORT_SECONDS = 1.3e-6  # for each pair of a document that is explained and one of the fit
LOADED = 65 << 20  # compiled code and tables that a fit with landmarks has beside the base
BUILT_NGRAM, KEPT_NGRAM = 19, 8  # bytes: an n-gram of a landmark while these are found, and afterwards
PIECE_BYTES = 40 << 20  # a piece while a thread works on it
SQUARES, SQUARES_OF_THREAD = 4, 2  # arrays of landmarks times landmarks, in double precision
PER_DOCUMENT = 400  # bytes: label, id, scores, where it comes from
LANDMARK_START = 0.5  # seconds before the first document
LOOK_UP_SECONDS = 8e-8  # of one core: an n-gram of a document among those of the landmarks
LANDMARK_CELL_SECONDS = 2.5e-8  # a similarity to a landmark, and all passes over it
DOUBLE_SECONDS = 1.7e-11  # a flop in double precision
SUGGESTED = 2000  # landmarks


@dataclass(frozen=True)
class Needs:
    """Estimates."""

    n_bytes: int
    seconds: float
    disk: int = 0

    def __str__(self) -> str:
        disk = f", {human(self.disk)} of disk" if self.disk else ""
        return f"about {human(self.n_bytes)} of memory{disk} and {in_words(self.seconds)}"


@dataclass(frozen=True)
class Work:
    """The size of a fit. ``n_grams`` are as many as are made: one, or for weights that change one in every round."""

    n_source: int
    n_target: int
    n_added: int
    n_characters: int
    n_lengths: int
    adapts: bool
    n_explained: int = 0
    jobs: int | None = -1
    n_grams: int = 1

    @property
    def n(self) -> int:
        return self.n_source + self.n_target

    @property
    def n_ngrams(self) -> int:
        return self.n_characters * self.n_lengths

    @property
    def n_training(self) -> int:
        return self.n_source + (min(self.n_added, self.n_target) if self.adapts else 0)

    @property
    def page(self) -> int:
        """Bytes that a page takes while it is made."""
        pairs = PER_PAIR * min(self.n_explained * self.n, PAIRS)
        return pairs + PER_EXPLAINED_NGRAM * self.n_ngrams if self.n_explained else 0


def estimate_exact(work: Work, *, on_disk: bool = False) -> Needs:
    """A fit of the chosen method, of plain beside it, the calibration of probabilities and a page.

    The figures were read off a run with 8000 reviews on a machine of 2 cores.
    """
    n, n_training = work.n, work.n_training
    flops = n_training**3 + (2 * n_training**2 * n if work.adapts else 0)
    of_one_core = (
        NGRAM_SECONDS * work.n_ngrams
        + work.n_grams * CELL_SECONDS * n * n
        + FLOP_SECONDS * flops
        + REPORT_SECONDS * work.n_explained * n
    )
    trained = PER_TRAINING_CELL * (n * work.n_source + n_training**2)
    training = max(PER_NGRAM * work.n_ngrams, trained)
    if not on_disk:
        filling = COMPUTED_CELL * n * n + INDEXED_NGRAM * work.n_ngrams
        training = max(training, filling, (COMPUTED_CELL + KEPT_CELL) * n * n, KEPT_CELL * n * n + trained)
    if work.n_grams > 1:
        training += MORE_PER_CELL * n * n + MORE_PER_NGRAM * work.n_ngrams
    seconds = START + of_one_core / count_threads(work.jobs) + (DISK_SECONDS * n * n if on_disk else 0)
    return Needs(BASE + max(training, work.page), seconds, 16 * n * n if on_disk else 0)


def estimate_landmarks(
    work: Work, n_landmarks: int, *, cell_bytes: int = 4, memory: int | None = None, kept: bool = False
) -> Needs:
    """The same with landmarks; pieces that are ``kept``, or take more than a quarter of ``memory``, are on disk."""
    n, m, n_threads = work.n, min(n_landmarks, work.n), count_threads(work.jobs)
    pieces = cell_bytes * n * m
    in_memory = not kept and (memory is None or pieces <= memory // IN_MEMORY)
    of_landmarks = work.n_ngrams * m / max(1, n)
    n_at_once = min(n_threads, -(-n // min(MOST_IN_PIECE, max(1, PIECE_CELLS // m))))
    encoding = max(BUILT_NGRAM * of_landmarks, KEPT_NGRAM * of_landmarks + PIECE_BYTES * n_at_once)
    if cell_bytes > 4:  # not counts: landmarks are sorted again with every piece
        in_piece = min(n, MOST_IN_PIECE, PIECE_CELLS // max(1, m)) + m
        encoding = PER_NGRAM * work.n_ngrams / max(1, n) * in_piece + 3 * cell_bytes * min(n * m, PIECE_CELLS)
    held = LOADED + max(encoding, 8 * m * m * (SQUARES + SQUARES_OF_THREAD * n_at_once)) + PER_DOCUMENT * n
    flops = (2 * work.n_source + 2 * work.n_training) * m * m + 4 * m**3
    of_one_core = (
        work.n_grams * (LOOK_UP_SECONDS * (work.n_ngrams + of_landmarks) + LANDMARK_CELL_SECONDS * n * m)
        + DOUBLE_SECONDS * flops
        + REPORT_SECONDS * work.n_explained * m
    )
    total = BASE + max(int(held) + (pieces if in_memory else 0), work.page)
    n_kept = 2 * work.n_grams if kept and work.n_grams > 1 else 1  # of each round, and of halves for held-out scores
    return Needs(total, LANDMARK_START + of_one_core / n_threads, 0 if in_memory else pieces * n_kept)


def most_landmarks(work: Work, limit: int, most: int, *, cell_bytes: int = 4, kept: bool = False) -> int:
    """As many landmarks as the memory allows, up to ``most``."""
    low, high = 1, min(most, work.n)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_landmarks(work, middle, cell_bytes=cell_bytes, memory=limit, kept=kept).n_bytes <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def check_exact(work: Work, allowed: int, *, may_use_disk: bool, options: Mapping[str, str]) -> tuple[Needs, bool]:
    """What it needs, and whether its gram must be on disk; refused if that does not fit either, with what each way takes.

    ``options`` tell what to type for "disk" and "landmarks", if there are these ways.
    """
    in_memory, on_disk = estimate_exact(work), estimate_exact(work, on_disk=True)
    if in_memory.n_bytes <= allowed:
        return in_memory, False
    if may_use_disk and on_disk.n_bytes <= allowed:
        return on_disk, True
    ways = {"exactly ": in_memory}
    if "disk" in options:
        ways[f"exactly with the gram on disk ({options['disk']}) "] = on_disk
    if "landmarks" in options:
        bare = replace(work, n_explained=min(work.n_explained, 1))
        ways[f"with landmarks ({options['landmarks']}) "] = estimate_landmarks(bare, SUGGESTED, memory=allowed)
    sizes = "; ".join(f"{name}{one}" for name, one in ways.items())
    what = f"{work.n_source} source and {work.n_target} target documents"
    raise MemoryError(f"{what} do not fit into {human(allowed)}, the memory limit: {sizes}")


def check_landmarks_fit(work: Work, n_landmarks: int, allowed: int, *, cell_bytes: int, kept: bool) -> Needs:
    """Refuse landmarks that are too many for the memory, with the number that fits."""
    needs = estimate_landmarks(work, n_landmarks, cell_bytes=cell_bytes, memory=allowed, kept=kept)
    if needs.n_bytes > allowed:
        fitting = most_landmarks(work, allowed, n_landmarks, cell_bytes=cell_bytes, kept=kept)
        least = estimate_landmarks(work, fitting, cell_bytes=cell_bytes, memory=allowed, kept=kept).n_bytes <= allowed
        advice = f"{fitting} would fit" if least else "allow more memory"
        raise MemoryError(f"{n_landmarks} landmarks need {needs}, but the memory limit is {human(allowed)}: {advice}")
    return needs


def memory_of(limit: int | float | str | None) -> int:
    """Bytes: those that a user allows, or all that are free."""
    return free_memory() if limit is None else parse_bytes(limit)


def in_words(seconds: float) -> str:
    """Rounded as one would say it."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"
