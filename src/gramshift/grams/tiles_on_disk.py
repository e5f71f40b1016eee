"""Tiles of a gram that are kept in a checkpoint, so many together that there are neither many small files nor much to lose."""

import errno
import os
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from typing import Any

from numpy.typing import NDArray

from gramshift.grams.plan import Tile
from gramshift.kernels.weighting import Weighting
from gramshift.runtime.checkpoint import Checkpoint, digest
from gramshift.runtime.memory import human
from gramshift.runtime.resources import Runtime
from gramshift.runtime.schema import Array


def describe_gram(
    texts: Sequence[str],
    others: Sequence[str] | None,
    *,
    kind: str,
    ngram_range: tuple[int, int],
    parameters: Mapping[str, Any],
    weighting: Weighting | None,
    normalize: bool,
) -> dict[str, Any]:
    """Everything that the bits of a gram depend on, as the key of a checkpoint."""
    key = {"what": "gram", "kind": kind, "ngram_range": ngram_range, **parameters, "normalize": normalize}
    if weighting is not None:
        groups = {"domains": weighting.domains, "classes": weighting.classes}
        key["weighting"] = asdict(weighting.powers)
        key |= {f"{name}_sha256": sha256(one.tobytes()).hexdigest() for name, one in groups.items() if one is not None}
    for name, documents in {"documents": texts, "others": others}.items():
        if documents is not None:
            key |= {name: len(documents), f"{name}_sha256": digest(documents)}
    return key


class KeptTiles:
    """The tiles of a gram that a checkpoint has or will have; ``together`` of them are one piece.

    No value of the gram is below 0, or above ``largest``.
    """

    def __init__(
        self, checkpoint: Checkpoint, gram: NDArray[Any], tiles: Sequence[Tile], together: int, *, largest: float
    ) -> None:
        self._checkpoint, self._gram, self._largest = checkpoint, gram, largest
        self._pieces = [list(tiles[start : start + together]) for start in range(0, len(tiles), together)]
        self._left = [len(piece) for piece in self._pieces]
        self._guard = threading.Lock()

    def read(self, use: Callable[[Tile], None], runtime: Runtime, *, n_threads: int) -> list[tuple[int, Tile]]:
        """Put what is there into the gram, and call ``use`` for each such tile; return the others, with their pieces."""
        there = [number for number in range(len(self._pieces)) if _name(number) in self._checkpoint]
        if there:
            found = runtime.run(partial(self._read, use), there, stage="resume", n_threads=n_threads)
            there = [number for number, whole in zip(there, found, strict=True) if whole]
        missing = sorted(set(range(len(self._pieces))) - set(there))
        todo = [(number, tile) for number in missing for tile in self._pieces[number]]
        self._require_space(sum(self._gram[tile].nbytes for _, tile in todo))
        return todo

    def fill(self, fill: Callable[[Tile], None], item: tuple[int, Tile]) -> None:
        """Fill a tile; if it is the last of its piece, keep that."""
        number, tile = item
        fill(tile)
        with self._guard:
            self._left[number] -= 1
            last = self._left[number] == 0
        if last:
            self._checkpoint.save(_name(number), **{_area(one): self._gram[one] for one in self._pieces[number]})

    def _read(self, use: Callable[[Tile], None], number: int) -> bool:
        piece = self._pieces[number]
        expected = {_area(tile): self._declare(tile) for tile in piece}
        arrays = self._checkpoint.load(_name(number), expected)
        if arrays is None:
            return False
        for tile in piece:
            self._gram[tile] = arrays[_area(tile)]
            use(tile)
        return True

    def _declare(self, tile: Tile) -> Array:
        return Array(self._gram.dtype.str, self._gram[tile].shape, low=0, most=self._largest)

    def _require_space(self, needed: int) -> None:
        free = shutil.disk_usage(self._checkpoint.folder).free
        if needed > free:
            words = (
                f"{human(needed)} are needed for the tiles to come, but {human(free)} are free; give a folder on another disk"
            )
            raise OSError(errno.ENOSPC, words, os.fspath(self._checkpoint.folder))


def _name(number: int) -> str:
    return f"tiles-{number:05d}"


def _area(tile: Tile) -> str:
    rows, cols = tile
    return f"{rows.start}:{rows.stop},{cols.start}:{cols.stop}"
