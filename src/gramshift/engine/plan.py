"""How large tiles may be, decided before any of them is computed."""

from dataclasses import dataclass

from gramshift.engine.memory import human

TILE_CELLS = 1 << 23  # enough work to be worth a start, little enough to show progress
STRIPS_PER_THREAD = 3  # so that threads finish together
BYTES_PER_ROW = 16384  # what a kernel needs beside the gram for each row of a tile


@dataclass(frozen=True)
class Plan:
    height: int
    width: int
    n_threads: int

    @property
    def nbytes(self) -> int:
        return self.height * self.n_threads * BYTES_PER_ROW


def require(what: str, needed: int, limit: int, advice: str) -> None:
    """Raise a MemoryError with both numbers and what to do if ``needed`` is more than ``limit``."""
    if needed > limit:
        raise MemoryError(f"{what} needs {human(needed)}, but the memory limit is {human(limit)}: {advice}")


def plan_tiles(n_rows: int, n_cols: int, *, n_threads: int, budget: int) -> Plan:
    """Strips of whole rows, as tall as the budget allows for all threads together; wide grams are cut into columns too."""
    width = max(1, min(n_cols, TILE_CELLS // 64))
    affordable = budget // (n_threads * BYTES_PER_ROW)
    fair = max(32, n_rows // (STRIPS_PER_THREAD * n_threads))
    height = max(1, min(n_rows, fair, TILE_CELLS // width, affordable))
    return Plan(1 << (height.bit_length() - 1), width, n_threads)  # a power of two, so that tiles do not straddle blocks
