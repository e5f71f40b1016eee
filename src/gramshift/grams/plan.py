"""Cutting a gram into tiles, and how large they may be, decided before any of them is computed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

TILE_CELLS = 1 << 23  # enough work to be worth a start, little enough to show progress
STRIPS_PER_THREAD = 3  # so that threads finish together
BYTES_PER_ROW = 16384  # what a kernel that counts needs beside the gram for each row of a tile
TILE_NANOSECONDS = 2e8  # of a kernel that takes long for a pair: short enough to be interrupted, and for a bar to move
STRIPS = 512  # tiles along one side of the gram, at most: each of them takes memory too
PIECE_THREADS = 6  # tiles that are kept must be the same for any number of threads; so many finish together
PIECE_NANOSECONDS = 1e10  # of work in one file: what may be lost
PIECE_BYTES = 1 << 26  # in one file
PIECES = 1000  # files, where that makes none of them larger than that


@dataclass(frozen=True)
class Plan:
    height: int
    width: int
    n_threads: int
    tile_bytes: int | None = None
    """What a tile under way takes beside the gram, if it does not grow with its height."""
    together: int = 0
    """How many tiles are kept in one file; 0 if none are kept."""

    @property
    def nbytes(self) -> int:
        return self.n_threads * self.thread_bytes

    @property
    def thread_bytes(self) -> int:
        under_way = self.height * BYTES_PER_ROW if self.tile_bytes is None else self.tile_bytes
        return under_way + 8 * self.height * self.width * self.together


def plan_tiles(n_rows: int, n_cols: int, *, n_threads: int, budget: int) -> Plan:
    """Strips of whole rows, as tall as the budget allows for all threads together; wide grams are cut into columns too."""
    width = max(1, min(n_cols, TILE_CELLS // 64))
    affordable = budget // (n_threads * BYTES_PER_ROW)
    fair = max(32, n_rows // (STRIPS_PER_THREAD * n_threads))
    height = max(1, min(n_rows, fair, TILE_CELLS // width, affordable))
    return Plan(1 << (height.bit_length() - 1), width, n_threads)  # a power of two, so that tiles do not straddle blocks


def plan_pairs(
    row_lengths: NDArray[np.int64],
    col_lengths: NDArray[np.int64],
    *,
    n_threads: int,
    tile_bytes: int,
    nanoseconds: Callable[[int, float, int, float], float],
) -> Plan:
    """Squares that take a thread a fraction of a second, for kernels whose cost depends on the lengths of both documents.

    ``nanoseconds`` tells the cost of so many rows and columns with these lengths in all. No tile is made smaller on account
    of one pair of documents that takes longer by itself.
    """
    longest = float(row_lengths.max()), float(col_lengths.max())
    most = max(TILE_NANOSECONDS, 2 * nanoseconds(1, longest[0], 1, longest[1]))
    least = -(-max(row_lengths.size, col_lengths.size) // STRIPS)
    side = max(1024, least)
    while side > least and nanoseconds(side, _longest_strip(row_lengths, side), side, _longest_strip(col_lengths, side)) > most:
        side = max(side // 2, least)
    return Plan(min(side, row_lengths.size), min(side, col_lengths.size), n_threads, tile_bytes)


def plan_kept(plan: Plan, n_rows: int, n_cols: int, *, nanoseconds: float, budget: int) -> Plan:
    """The same tiles, so many to a file that there are few of them and little is lost with one; fewer threads if need be.

    Nothing but the number of threads may depend on this machine and moment: ``nanoseconds`` is the work in all, as estimated.
    """
    n_tiles = -(-n_rows // plan.height) * -(-n_cols // plan.width)
    together = max(PIECE_NANOSECONDS * n_tiles / nanoseconds, n_tiles / PIECES) if nanoseconds else 1
    together = max(1, min(round(together), PIECE_BYTES // (8 * plan.height * plan.width)))
    plan = replace(plan, together=together)
    return replace(plan, n_threads=max(1, min(plan.n_threads, budget // plan.thread_bytes)))


def _longest_strip(lengths: NDArray[np.int64], side: int) -> float:
    return float(np.add.reduceat(lengths, np.arange(0, lengths.size, side)).max())


def tiles(n_rows: int, n_cols: int, height: int, width: int, *, symmetric: bool = False) -> Iterator[tuple[slice, slice]]:
    """Rectangles that cover every cell once; in a symmetric gram the lower triangle, with the diagonal in whole squares.

    The costliest come first (the lowest strips of a triangle), so that threads finish together.
    """
    for start in reversed(range(0, n_rows, height)):
        stop = min(start + height, n_rows)
        end = stop if symmetric else n_cols
        last = start if symmetric else n_cols - 1  # the last tile of a strip may not begin inside its diagonal square
        edges = [*range(0, last + 1, width), end]
        for left, right in pairwise(edges):
            yield slice(start, stop), slice(left, right)
