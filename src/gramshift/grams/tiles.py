"""Cutting a gram into tiles."""

from collections.abc import Iterator
from itertools import pairwise


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
