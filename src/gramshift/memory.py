"""Memory: how much is free, sizes in words, and estimates of what a run takes.

The constants of the estimates were fitted to runs of the command on a machine with two cores, with
reviews as texts. Memory is estimated on the safe side, time roughly.
"""

import ctypes
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from gramshift.errors import InputError, MemoryLimitError
from gramshift.parallel import count_threads

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

M_MMAP_THRESHOLD = -3  # the number of a parameter of glibc
MMAP_BYTES = 1 << 20  # of an array that is returned to the system when it is freed
MIN_ADDRESS_BYTES = 10**9  # compiled code cannot be loaded with fewer addresses
UNITS = {"": 1, "b": 1} | {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("kmgt", start=1)
    for suffix, base in (("", 1000), ("b", 1000), ("i", 1024), ("ib", 1024))
}
CGROUPS = (  # of version 2 and 1: files with the limit, the use and statistics of a container
    [f"/sys/fs/cgroup/memory.{name}" for name in ("max", "current", "stat")],
    [
        f"/sys/fs/cgroup/memory/memory.{name}"
        for name in ("limit_in_bytes", "usage_in_bytes", "stat")
    ],
)

BASE_BYTES = 250 << 20  # bytes of Python and its libraries
WORKING_BYTES = 212 << 20  # compiled code, and the n-grams that are sorted at a time
DOCUMENT_BYTES = 400
LABEL_CHARACTER_BYTES = 8  # of the longest label, for which every document has room
LISTED_BYTES = 1.6  # of a character in the lists of one length of n-grams
CELL_BYTES = 12  # of the kernel matrix, in double and in single precision
NGRAM_BYTES = 22  # in the index of a kernel
EXPLAINED_BYTES = 160  # of a character of the longest text that is explained, for each class
PAGE_BYTES = 100 << 20  # of a report, without its longest text

START_SECONDS = 3.0
SERIAL_SECONDS = 8.5e-7  # for a character that is read, checked and written, on one core
LINEAR_SECONDS = 1.6e-6  # for a character in training
CLASS_SECONDS = 5e-5  # for a document and each class after the second
BASE_STEPS_DOCUMENTS = 10_000  # more of them take more steps of training
NGRAM_SECONDS = 5e-8
CELL_SECONDS = 8e-8
CUBE_SECONDS = 2e-11  # for solving: documents cubed


def parse_bytes(value: int | float | str, *, name: str = "memory_limit") -> int:
    """Return the bytes of a size such as 2000000, "500 MB", "2 GiB" or "2g"."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    number = float(value) if is_number and 0 < value < 2**63 else 0.0  # type: ignore[operator]
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", value)
        number = float(match[1]) * UNITS.get(match[2].lower(), 0) if match is not None else 0.0
    if not 0 < number < 2**63:  # also unknown units, and numbers too large for a float
        shown = value[:60] if isinstance(value, str) else value
        given = f"{name} {shown}" if name.startswith("-") else f"{name}={shown!r}"
        advice = "give a number of bytes or a size such as '500 MB' or '2 GiB'"
        raise InputError(f"{given}: {advice}")
    return int(number)


def size_in_words(n_bytes: float) -> str:
    """Return a size in words: 1536 -> "1.5 KiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} {unit}" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.1f} TiB"


def in_words(seconds: float) -> str:
    """Return a rounded time in words: 75 -> "75 s", 600 -> "10 minutes"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"


def require(what: str, needed: int, limit: int, advice: str) -> None:
    """Raise a MemoryError with both numbers and the advice if ``needed`` exceeds ``limit``."""
    if needed > limit:
        raise MemoryLimitError(
            f"{what} needs {size_in_words(needed)}, but the memory limit is"
            f" {size_in_words(limit)}: {advice}"
        )


def check_address_space() -> None:
    """Raise a MemoryError if this process has too few addresses to load its libraries.

    Loading them would fail with errors that users do not understand.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource is not None else -1
    if 0 <= limit < MIN_ADDRESS_BYTES:
        needed = f"Gramshift needs {size_in_words(MIN_ADDRESS_BYTES)} of address space"
        given = f"but this process may have {size_in_words(limit)}"
        advice = "raise the limit with ulimit -v"
        raise MemoryLimitError(f"{needed} for its libraries alone, {given}: {advice}")


def release_freed_memory() -> None:
    """Return freed memory to the system, where the C library would keep it (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def return_large_arrays() -> None:
    """Have every large array return to the system when it is freed, from now on.

    The C library (glibc) would keep most of them: a quarter of the memory of a fit.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MMAP_BYTES)


def free_memory(cgroups: Sequence[Sequence[str]] = CGROUPS) -> int:
    """Return the bytes that the machine, the container and the limit of the process leave free."""
    free: list[int] = [psutil.virtual_memory().available]
    free += [_free_in_container(*map(Path, paths)) for paths in cgroups if Path(paths[0]).exists()]
    if resource is not None:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            free.append(limit - psutil.Process().memory_info().vms)
    return max(0, int(min(free)))


def _free_in_container(limit_file: Path, usage_file: Path, stat_file: Path) -> int:
    """Return the limit of a container less its use; cached files can be given back."""
    unlimited = 2**62
    try:
        limit = limit_file.read_text().strip()
        if limit == "max":
            return unlimited
        stat = dict(line.split() for line in stat_file.read_text().splitlines())
        cached = int(stat.get("inactive_file", stat.get("total_inactive_file", 0)))
        return int(limit) - int(usage_file.read_text()) + cached
    except (OSError, ValueError):
        return unlimited


@dataclass(frozen=True)
class Needs:
    """The memory and the time that a run takes, as estimated."""

    n_bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"about {size_in_words(self.n_bytes)} of memory and {in_words(self.seconds)}"


@dataclass(frozen=True)
class Work:
    """The size of a run: a fit of documents, and perhaps a report that explains some of them."""

    n_source: int
    n_target: int
    n_characters: int
    n_lengths: int
    """The number of lengths of n-grams, of all kernels."""
    n_classes: int = 2
    label_characters: int = 0
    """The length of the longest label."""
    n_explained: int = 0
    longest: int = 0
    """The length of the longest document that is explained."""
    n_fits: int = 1
    """Two if the result is compared with one without corrections."""
    jobs: int | None = -1

    @property
    def n(self) -> int:
        """The number of all documents."""
        return self.n_source + self.n_target

    def with_target(self, n_target: int) -> "Work":
        """Return this run with fewer target documents of the same average length."""
        n_characters = self.n_characters * (self.n_source + n_target) // max(1, self.n)
        n_explained = min(self.n_explained, n_target)
        return replace(self, n_target=n_target, n_characters=n_characters, n_explained=n_explained)


def estimate(work: Work, *, linear: bool) -> Needs:
    """Estimate a run; a fit that is not linear computes a kernel matrix."""
    n, n_characters = work.n, work.n_characters
    n_ngrams = n_characters * work.n_lengths
    if linear:
        per_length = LISTED_BYTES * n_characters
        fit = per_length * (work.n_lengths + 2 * work.n_classes - 1)
        steps = max(1.0, n / BASE_STEPS_DOCUMENTS) ** 0.25
        by_class = CLASS_SECONDS * n * max(0, work.n_classes - 2)
        seconds = (LINEAR_SECONDS * n_characters + by_class) * steps * work.n_fits
    else:
        index = NGRAM_BYTES * n_ngrams
        fit = max(index, CELL_BYTES * n * n + index / 2)
        seconds = NGRAM_SECONDS * n_ngrams + CELL_SECONDS * n * n
        seconds += CUBE_SECONDS * n**3 * work.n_fits
    n_bytes = BASE_BYTES + WORKING_BYTES + fit
    n_bytes += (DOCUMENT_BYTES + LABEL_CHARACTER_BYTES * work.label_characters) * n
    if work.n_explained:
        n_bytes += PAGE_BYTES + EXPLAINED_BYTES * work.n_classes * work.longest
        seconds += 2 * LINEAR_SECONDS * n_characters * work.n_explained / max(1, n)
    serial = START_SECONDS + SERIAL_SECONDS * n_characters
    return Needs(int(n_bytes), serial + seconds / count_threads(work.jobs))


def check_memory(work: Work, allowed: int, *, linear: bool, way: str) -> Needs:
    """Estimate a run, and raise a MemoryError if it takes more bytes than ``allowed``.

    The error names the largest sample of the target that fits; ``way`` says how to take it.
    """
    needs = estimate(work, linear=linear)
    if needs.n_bytes <= allowed:
        return needs
    low, high = 0, work.n_target  # low fits, or is 0; high does not fit
    while high - low > 1:
        middle = (low + high) // 2
        if estimate(work.with_target(middle), linear=linear).n_bytes <= allowed:
            low = middle
        else:
            high = middle
    advice = f"take a sample of the target: {way.format(low)}" if low else "allow more memory"
    run = f"{work.n_source} source and {work.n_target} target documents take {needs}"
    raise MemoryLimitError(f"{run}, but the memory limit is {size_in_words(allowed)}: {advice}")
