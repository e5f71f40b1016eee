"""Cutting a gram into tiles, and how large they may be, decided before any of them is computed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from gramshift.errors import MemoryLimitError
from gramshift.kernels.kernel import Kernel, Plan
from gramshift.runtime.cluster import ROOM, Cluster
from gramshift.runtime.memory import human
from gramshift.runtime.resources import Runtime

Tile = tuple[slice, slice]


def plan_gram(kernel: Kernel, runtime: Runtime, budget: int, *, n_threads: int) -> Plan:
    """The tiles that the runtime asks for, or else those that suit the kernel."""
    plan = kernel.plan(budget, n_threads)
    return plan if runtime.tile is None else replace(plan, height=runtime.tile[0], width=runtime.tile[1])


def fit_workers(cluster: Cluster, kernel: Kernel, plan: Plan, what: str) -> Plan:
    """The plan with tiles that have room on every worker beside the kernel; a MemoryError with the numbers if none has."""
    room = cluster.room(kernel.nbytes)
    while _task_bytes(plan) > room and plan.height > 1:
        plan = replace(plan, height=plan.height // 2)
    if _task_bytes(plan) > room:
        needed, limit = (kernel.nbytes + _task_bytes(plan)) / ROOM, cluster.memory_limit
        raise MemoryLimitError(
            f"{what} needs workers with {human(needed)}, for the index and a tile, but the smallest may use {human(limit)}: "
            "give each worker more memory, or compare fewer documents at a time"
        )
    return plan


def _task_bytes(plan: Plan) -> int:
    """What filling takes, the tile, and the tile once more on its way."""
    return replace(plan, n_threads=1).nbytes + 16 * plan.height * plan.width


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
