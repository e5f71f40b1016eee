"""Filling a tile of a gram: in its place, or apart from it and on another machine."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.grams.plan import Tile
from gramshift.kernels.kernel import Kernel
from gramshift.runtime.resources import Runtime

Item = Tile | tuple[int, Tile]
"""A tile; with the number of the piece that it is kept in, if it is to be kept."""
MIRROR = 128  # a piece that is transposed within the cache


def fill_values(kernel: Kernel, gram: NDArray[Any], normalize: bool, tile: Tile, top: int = 0) -> None:
    """Fill one tile of the gram, or of its part that begins with the row ``top``."""
    raw = gram.view(kernel.dtype)
    kernel.fill(*tile, raw, top)
    if normalize:
        kernel.normalize(*tile, raw, top)


def mirror(kernel: Kernel, gram: NDArray[Any], tile: Tile) -> None:
    """Copy what a tile of a symmetric gram says of the cells above the diagonal."""
    rows, cols = tile
    if kernel.symmetric:
        for left in range(cols.start, min(cols.stop, rows.start), MIRROR):
            right = min(left + MIRROR, cols.stop, rows.start)
            gram[left:right, rows] = gram[rows, left:right].T


def make_tile(kernel: Kernel, dtype: Any, normalize: bool, item: Item) -> NDArray[Any]:
    """The values of one tile, apart from any gram. Columns before it are not touched and so take no memory."""
    rows, cols = tile = _tile_of(item)
    part = np.empty((rows.stop - rows.start, cols.stop), dtype)
    fill_values(kernel, part, normalize, tile, top=rows.start)
    return np.ascontiguousarray(part[:, cols])


def _tile_of(item: Item) -> Tile:
    return item[1] if isinstance(item[1], tuple) else item


def name_tile(item: Item) -> str:
    """The name of a tile's task in Dask's dashboard."""
    rows, cols = _tile_of(item)
    return f"tile-rows-{rows.start}-{rows.stop}-cols-{cols.start}-{cols.stop}"


def fill_on_workers(
    runtime: Runtime,
    kernel: Kernel,
    gram: NDArray[Any],
    normalize: bool,
    work: list[Item],
    keep: Callable[[Callable[[Tile], None], Any], None] | None = None,
    *,
    n_before: int = 0,
) -> None:
    """Have these tiles filled by the workers, and put each into its place when it comes; ``keep`` puts and keeps it."""

    def put(values: NDArray[Any], tile: Tile) -> None:
        gram[tile] = values
        mirror(kernel, gram, tile)

    def receive(item: Any, values: NDArray[Any]) -> None:
        if keep is None:
            put(values, item)
        else:
            keep(partial(put, values), item)

    assert runtime.cluster is not None
    shared: Any = runtime.cluster.share(kernel, "kernel")
    make = partial(make_tile, shared, gram.dtype, normalize)
    report = runtime.telling("gram")
    runtime.cluster.run(make, work, name=name_tile, receive=receive, report=report, n_before=n_before)
