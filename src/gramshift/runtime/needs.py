"""Whether a fit fits into memory, exactly, with its gram on disk, or with landmarks; if not, in words what would."""

from collections.abc import Mapping
from dataclasses import replace

from gramshift.runtime.estimates import IN_MEMORY, Needs, Work, estimate_exact, estimate_landmarks
from gramshift.runtime.memory import free_memory, human, parse_bytes

SUGGESTED = 2000  # landmarks


def most_landmarks(work: Work, limit: int, most: int, *, cell_bytes: int = 4, kept: bool = False) -> int:
    """As many landmarks as the memory allows, up to ``most``."""
    largest, in_memory = min(most, work.n), limit // IN_MEMORY // (cell_bytes * max(1, work.n))

    def find(low: int, high: int) -> int:
        """The most from ``low`` to ``high`` that fit; one less than ``low`` if none do."""
        while low <= high:
            middle = (low + high) // 2
            needs = estimate_landmarks(work, middle, cell_bytes=cell_bytes, memory=limit, kept=kept)
            low, high = (middle + 1, high) if needs.n_bytes <= limit else (low, middle - 1)
        return high

    beyond = max(1, in_memory + 1)  # from there on pieces are on disk, and fewer bytes are needed again
    found = find(beyond, largest)
    return max(1, found if found >= beyond else find(1, min(in_memory, largest)))


def check_exact(
    work: Work, allowed: int, *, may_use_disk: bool, options: Mapping[str, str], cell_bytes: int = 4
) -> tuple[Needs, bool]:
    """What it needs, and whether its gram must be on disk; refused if that does not fit either, with what each way takes.

    ``options`` tell what to type for "disk" and "landmarks", if there are these ways; in the latter {} is their number, and
    similarities to them have ``cell_bytes``.
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
        for n in (most_landmarks(bare, allowed, SUGGESTED, cell_bytes=cell_bytes), SUGGESTED):
            needs = estimate_landmarks(bare, n, cell_bytes=cell_bytes, memory=allowed)
            if needs.n_bytes <= allowed:
                break
        ways[f"with landmarks ({options['landmarks'].format(n)}) "] = needs
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
