"""Cutting a gram into tiles, and how large they may be, decided before any of them is computed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from gramshift.kernels.kernel import Kernel, Plan
from gramshift.runtime.resources import Runtime

Tile = tuple[slice, slice]


def plan_gram(kernel: Kernel, runtime: Runtime, budget: int, *, n_threads: int) -> Plan:
    """The tiles that the runtime asks for, or else those that suit the kernel."""
    plan = kernel.plan(budget, n_threads)
    return plan if runtime.tile is None else replace(plan, height=runtime.tile[0], width=runtime.tile[1])


def cut(kernel: Kernel, plan: Plan) -> Iterator[Tile]:
    """The tiles of the kernel's gram."""
    return tiles(*kernel.shape, plan.height, plan.width, symmetric=kernel.symmetric)


def tiles(n_rows: int, n_cols: int, height: int, width: int, *, symmetric: bool = False) -> Iterator[Tile]:
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
