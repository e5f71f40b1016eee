"""Many documents described by landmarks: pieces that are looked at one after another, and never all at once."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas

from gramshift.learn.features import Described, exponential
from gramshift.learn.labelling import Rows
from gramshift.runtime.pieces import Arrays, Pieces, Store
from gramshift.runtime.threads import Progress

Floats = NDArray[np.float64]
Shared = tuple[Floats, bool, Any]
Argument = tuple[Any, ...]
BLOCK = 512  # documents whose cells are written out in double precision at a time


def as_piece(described: Described) -> Arrays:
    """What is kept of some documents: their gram with the landmarks, and how it is scaled."""
    return {"gram": described.gram, "row_scale": described.row_scale}


class DescribedParts:
    """Documents by their similarities to landmarks, K-tilde (``adapt``) or K-hat, in pieces of ``size`` documents.

    What is asked for is a sum over documents or a number for each: neither needs two pieces at once. Threads add sums up in
    the order of the pieces, so that these do not depend on who works out which.
    """

    def __init__(
        self,
        pieces: Pieces,
        *,
        n: int,
        size: int,
        scale: Floats,
        adapt: bool,
        store: Store | None = None,
        progress: Progress | None = None,
    ) -> None:
        """With a ``store`` sums of products are kept there, and those that it has are not worked out again."""
        self._pieces, self._n, self._size, self.scale, self.adapt = pieces, n, size, scale, adapt
        self._store, self._progress = store, progress

    def __len__(self) -> int:
        return self._n

    @property
    def n_landmarks(self) -> int:
        return len(self.scale)

    def multiply(self, vectors: Floats, rows: Rows | None = None) -> Floats:
        """The descriptions of ``rows``, by default of all documents, times vectors of shape (landmarks, k)."""
        rows = np.arange(len(self)) if rows is None else rows
        return self._each(multiply_piece, vectors, rows, shape=(vectors.shape[1],))

    def leverage(self, rows: Rows, factor: Floats) -> Floats:
        """|factor^-1 x|^2 of the descriptions x; of these with a 1 below each, if the factor has one row more."""
        if len(rows) <= BLOCK:  # less to hand over than the factor
            return leverage_of_cells(self.cells(rows), factor)
        return self._each(leverage_of_piece, factor, rows, stage="sureness")

    def cells(self, rows: Rows) -> Floats:
        """The descriptions themselves, of a few documents."""
        return self._each(cells_of_piece, None, rows, shape=(self.n_landmarks,))

    def gather(self, weights: Floats, rows: Rows) -> Floats:
        """The weighted sums of the descriptions of ``rows``, shape (landmarks, k)."""
        total = np.zeros((self.n_landmarks, weights.shape[1]))
        arguments = {number: (rows[at], weights[at]) for number, at in self._split(rows).items()}
        self._add_up(gather_piece, arguments, total)
        return total

    def subtract(self, vectors: Floats, targets: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """``targets`` less multiply(vectors, rows), and gather() with what is left as weights: both in one pass."""
        left, total, places = np.empty_like(targets), np.zeros((self.n_landmarks, targets.shape[1])), self._split(rows)

        def put(number: int, result: tuple[Floats, Floats]) -> None:
            left[places[number]] = result[0]
            np.add(total, result[1], out=total)

        self._map(subtract_piece, vectors, {number: (rows[at], targets[at]) for number, at in places.items()}, put)
        return left, total

    def products(self, rows: Rows) -> Floats:
        """The sum over ``rows`` of each description times itself, shape (landmarks, landmarks), with 0 above the diagonal.

        What is there would be the mirror image.
        """
        if len(rows) <= self.n_landmarks:  # so few are less to hand over than a sum from every piece
            few: Floats = blas.dsyrk(1.0, self.cells(rows).T, lower=True)
            return few
        name = f"half_sums-{sha256(rows.tobytes()).hexdigest()[:16]}-{self.adapt:d}"
        kept = None if self._store is None else self._store.load(name)
        if kept is not None:
            return np.array(kept["sums"], order="F")
        total = np.zeros((self.n_landmarks, self.n_landmarks), order="F")  # as results are: others take longer to be added
        arguments = {number: (rows[at],) for number, at in self._split(rows).items()}
        self._add_up(multiply_by_itself, arguments, total, stage="sums")
        if self._store is not None:
            self._store.save(name, sums=total)
        return total

    def count_empty(self, rows: Rows) -> int:
        """How many of ``rows`` have no n-gram at all."""
        return int(self._each(find_empty_rows, None, rows).sum())

    def _each(self, function: Any, value: Any, rows: Rows, *, shape: tuple[int, ...] = (), stage: str = "") -> Floats:
        """A number or several for each of ``rows``; ``value`` is what all pieces need."""
        out, places = np.empty((len(rows), *shape)), self._split(rows)

        def put(number: int, result: Floats) -> None:
            out[places[number]] = result

        self._map(function, value, {number: (rows[at],) for number, at in places.items()}, put, stage=stage)
        return out

    def _map(self, function: Any, value: Any, arguments: Mapping[int, Argument], receive: Any, *, stage: str = "") -> None:
        shared, progress = (self.scale, self.adapt, value), self._told(stage)
        self._pieces.map(function, shared, self._within(arguments), receive, stage=stage, progress=progress)

    def _add_up(self, function: Any, arguments: Mapping[int, Argument], total: Floats, *, stage: str = "") -> None:
        shared, progress = (self.scale, self.adapt, None), self._told(stage)
        self._pieces.add_up(function, shared, self._within(arguments), total, stage=stage, progress=progress)

    def _within(self, arguments: Mapping[int, Argument]) -> dict[int, Argument]:
        """Rows, which come first, as they are counted within each piece."""
        return {number: (rows - number * self._size, *rest) for number, (rows, *rest) in arguments.items()}

    def _told(self, stage: str) -> Progress | None:
        return self._progress if stage else None

    def _split(self, rows: Rows) -> dict[int, Rows]:
        """Which of ``rows`` are in which piece."""
        number = rows // self._size
        order = np.argsort(number, kind="stable")
        found, starts = np.unique(number[order], return_index=True)
        return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=True)) if len(rows) else {}


def multiply_piece(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    (rows,), vectors = argument, shared[2]
    return _described(piece, shared).multiply(vectors, rows)


def gather_piece(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    rows, weights = argument
    return _described(piece, shared).gather(weights, rows)


def subtract_piece(piece: Arrays, shared: Shared, argument: Argument) -> tuple[Floats, Floats]:
    rows, targets = argument
    described = _described(piece, shared)
    left = targets - described.multiply(shared[2], rows)
    return left, described.gather(left, rows)


def cells_of_piece(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    (rows,), (scale, adapt, _) = argument, shared
    similarity: Floats = piece["gram"][rows] * np.multiply.outer(piece["row_scale"][rows], scale)
    return exponential(similarity) if adapt else similarity


def find_empty_rows(piece: Arrays, shared: Shared, argument: Argument) -> NDArray[np.bool_]:
    result: NDArray[np.bool_] = piece["row_scale"][argument[0]] == 0
    return result


def multiply_by_itself(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    (rows,), n = argument, len(shared[0])
    total = np.zeros((n, n), order="F")
    for start in range(0, len(rows), BLOCK):
        block = cells_of_piece(piece, shared, (rows[start : start + BLOCK],))
        total = blas.dsyrk(1.0, block.T, beta=1.0, c=total, overwrite_c=True, lower=True)
    return total


def leverage_of_piece(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    (rows,), factor = argument, shared[2]
    out = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        out[part] = leverage_of_cells(cells_of_piece(piece, shared, (rows[part],)), factor)
    return out


def leverage_of_cells(cells: Floats, factor: Floats) -> Floats:
    columns = cells.T
    if len(factor) > len(columns):
        columns = np.vstack([columns, np.ones((1, columns.shape[1]))])
    solved = linalg.solve_triangular(factor, columns, lower=True, overwrite_b=True, check_finite=False)
    result: Floats = np.einsum("ij,ij->j", solved, solved)
    return result


def _described(piece: Arrays, shared: Shared) -> Described:
    scale, adapt, _ = shared
    return Described(piece["gram"], piece["row_scale"], scale, adapt)
