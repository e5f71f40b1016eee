"""Filling a tile of a gram: in its place, or apart from it and on another machine."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.grams.plan import Tile
from gramshift.kernels.kernel import Kernel
from gramshift.runtime.resources import Runtime

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


def make_tile(kernel: Kernel, dtype: Any, normalize: bool, tile: Tile) -> NDArray[Any]:
    """The values of one tile, apart from any gram. Columns before it are not touched and so take no memory."""
    rows, cols = tile
    part = np.empty((rows.stop - rows.start, cols.stop), dtype)
    fill_values(kernel, part, normalize, tile, top=rows.start)
    return np.ascontiguousarray(part[:, cols])


def name_tile(tile: Tile) -> str:
    """The name of a tile's task in Dask's dashboard."""
    rows, cols = tile
    return f"tile-rows-{rows.start}-{rows.stop}-cols-{cols.start}-{cols.stop}"


def fill_on_workers(runtime: Runtime, kernel: Kernel, gram: NDArray[Any], normalize: bool, work: list[Tile]) -> None:
    """Have these tiles filled by the workers, and put each into its place when it comes."""

    def receive(tile: Tile, values: NDArray[Any]) -> None:
        gram[tile] = values
        mirror(kernel, gram, tile)

    assert runtime.cluster is not None
    shared: Any = runtime.cluster.share(kernel, "kernel")
    make = partial(make_tile, shared, gram.dtype, normalize)
    report = runtime.telling("gram")
    runtime.cluster.run(make, work, name=name_tile, receive=receive, report=report)
