"""How much memory there is, in words and in bytes."""

import ctypes
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from gramshift.errors import InputError, MemoryLimitError

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

M_MMAP_THRESHOLD, LARGE = -3, 1 << 20  # a parameter of glibc, and bytes
LEAST_SPACE = 10**9  # bytes of addresses, not of memory: below it compiled code cannot be loaded
UNITS = {"": 1, "b": 1, "k": 10**3, "kb": 10**3, "m": 10**6, "mb": 10**6, "g": 10**9, "gb": 10**9, "t": 10**12, "tb": 10**12}
UNITS |= {f"{prefix}i{b}": 1024 ** (power + 1) for power, prefix in enumerate("kmgt") for b in ("", "b")}
CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)


def parse_bytes(value: int | float | str, *, name: str = "memory_limit") -> int:
    """2000000, "500 MB", "2 GiB", "2g" -> bytes."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 2**63:
        return int(value)
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", value) if isinstance(value, str) else None
    number = float(match[1]) * UNITS.get(match[2].lower(), 0) if match is not None else 0.0
    if not 0 < number < 2**63:  # also units that there are not, and numbers too large for a float
        shown = value[:60] if isinstance(value, str) else value
        given = f"{name} {shown}" if name.startswith("-") else f"{name}={shown!r}"
        raise InputError(f"{given}: give a number of bytes or a size such as '500 MB' or '2 GiB'")
    return int(number)


def memory_of(limit: int | float | str | None) -> int:
    """Return how many bytes may be used: those that a user allows, or all that are free."""
    return free_memory() if limit is None else parse_bytes(limit)


def human(n_bytes: float) -> str:
    """1536 -> "1.5 KiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} {unit}" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.1f} TiB"


def require(what: str, needed: int, limit: int, advice: str) -> None:
    """Raise a MemoryError with both numbers and what to do if ``needed`` is more than ``limit``."""
    if needed > limit:
        raise MemoryLimitError(f"{what} needs {human(needed)}, but the memory limit is {human(limit)}: {advice}")


def check_address_space() -> None:
    """Raise a MemoryError if this process may not even map the libraries that it needs, which would fail in their own words."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] if resource is not None else -1
    if 0 <= limit < LEAST_SPACE:
        needed = f"Gramshift needs {human(LEAST_SPACE)} of address space for its libraries alone"
        raise MemoryLimitError(f"{needed}, but this process may have {human(limit)}: raise the limit with ulimit -v")


def give_back() -> None:
    """Return what has been freed to the system, where the C library would keep it (glibc): a large array comes next."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def return_large_arrays() -> None:
    """Have arrays of a megabyte or more go back to the system as soon as they are freed, for the rest of this process.

    The C library (glibc) would keep most of them, for arrays that do not fit where they were: a quarter of a fit's memory.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE)


def free_memory(cgroups: Sequence[tuple[str, str, str]] = CGROUPS) -> int:
    """What this process may still use: free memory of the machine, of its container and of its own limit."""
    free: list[int] = [psutil.virtual_memory().available]
    free += [_cgroup_free(*(Path(part) for part in paths)) for paths in cgroups if Path(paths[0]).exists()]
    if resource is not None:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            free.append(limit - psutil.Process().memory_info().vms)
    return max(0, int(min(free)))


def _cgroup_free(limit_file: Path, usage_file: Path, stat_file: Path) -> int:
    """A container's limit less what it uses; files that it merely caches can be given back."""
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
