"""Many documents described by landmarks: pieces that are looked at one after another, and never all at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas

from gramshift.learn.features import GramFeatures, exponential
from gramshift.learn.labelling import Rows
from gramshift.runtime.pieces import Arrays, Pieces, Store
from gramshift.runtime.schema import EPSILON, Array

Floats = NDArray[np.float64]
BLOCK = 512  # documents whose cells are written out in double precision at a time


@dataclass(frozen=True)
class Shared:
    """What every piece is worked on with."""

    scale: Floats
    """What columns are multiplied by, one number for each landmark."""
    adapt: bool
    value: Any = None
    """What else a function needs: vectors, or a factor."""

    @property
    def nbytes(self) -> int:
        """How many bytes it holds."""
        return self.scale.nbytes + getattr(self.value, "nbytes", 0)


@dataclass(frozen=True)
class Argument:
    """What one piece is worked on with beside that."""

    rows: Rows
    """Which of its documents, counted within the piece."""
    values: Any = None
    """What belongs to each of these: weights or targets."""


class LandmarkFeatures:
    """Documents by their similarities to landmarks, K-tilde (``adapt``) or K-hat, in pieces of ``size`` documents.

    What is asked for is a sum over documents or a number for each: neither needs two pieces at once. Sums are added up in
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
    ) -> None:
        """With a ``store`` sums of products are kept there, and those that it has are not worked out again."""
        self._pieces, self._n, self._size, self.scale, self.adapt = pieces, n, size, scale, adapt
        self._store = store

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
        self._pieces.add_up(gather_piece, self._shared(), self._arguments(rows, self._split(rows), weights), total)
        return total

    def subtract(self, vectors: Floats, targets: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """``targets`` less multiply(vectors, rows), and gather() with what is left as weights: both in one pass."""
        left, total, places = np.empty_like(targets), np.zeros((self.n_landmarks, targets.shape[1])), self._split(rows)

        def put(number: int, result: tuple[Floats, Floats]) -> None:
            left[places[number]] = result[0]
            np.add(total, result[1], out=total)

        self._pieces.map(subtract_piece, self._shared(vectors), self._arguments(rows, places, targets), put)
        return left, total

    def products(self, rows: Rows) -> Floats:
        """The sum over ``rows`` of each description times itself, shape (landmarks, landmarks), with 0 above the diagonal.

        What is there would be the mirror image.
        """
        if len(rows) <= self.n_landmarks:  # so few are less to hand over than a sum from every piece
            few: Floats = blas.dsyrk(1.0, self.cells(rows).T, lower=True)
            return few
        name = f"half_sums-{sha256(rows.tobytes()).hexdigest()[:16]}-{self.adapt:d}"
        side, most = self.n_landmarks, len(rows) * (1 + EPSILON)  # no description has a value above 1
        sums = Array("<f8", (side, side), low=0, most=most)
        kept = None if self._store is None else self._store.load(name, {"sums": sums})
        if kept is not None:
            return np.array(kept["sums"], order="F")
        total = np.zeros((self.n_landmarks, self.n_landmarks), order="F")  # as results are: others take longer to be added
        arguments = self._arguments(rows, self._split(rows))
        self._pieces.add_up(multiply_by_itself, self._shared(), arguments, total, stage="sums")
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

        self._pieces.map(function, self._shared(value), self._arguments(rows, places), put, stage=stage)
        return out

    def _shared(self, value: Any = None) -> Shared:
        return Shared(self.scale, self.adapt, value)

    def _arguments(self, rows: Rows, places: Mapping[int, Rows], values: Floats | None = None) -> dict[int, Argument]:
        """What each piece is given of ``rows``, and of what belongs to them."""
        return {
            number: Argument(rows[at] - number * self._size, None if values is None else values[at])
            for number, at in places.items()
        }

    def _split(self, rows: Rows) -> dict[int, Rows]:
        """Which of ``rows`` are in which piece."""
        number = rows // self._size
        order = np.argsort(number, kind="stable")
        found, starts = np.unique(number[order], return_index=True)
        return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=True)) if len(rows) else {}


def multiply_piece(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    return _described(piece, shared).multiply(shared.value, argument.rows)


def gather_piece(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    return _described(piece, shared).gather(argument.values, argument.rows)


def subtract_piece(piece: Arrays, shared: Shared, argument: Argument) -> tuple[Floats, Floats]:
    described, targets = _described(piece, shared), argument.values
    left = targets - described.multiply(shared.value, argument.rows)
    return left, described.gather(left, argument.rows)


def cells_of_piece(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    rows = argument.rows
    similarity: Floats = piece["gram"][rows] * np.multiply.outer(piece["row_scale"][rows], shared.scale)
    return exponential(similarity) if shared.adapt else similarity


def find_empty_rows(piece: Arrays, shared: Shared, argument: Argument) -> NDArray[np.bool_]:
    result: NDArray[np.bool_] = piece["row_scale"][argument.rows] == 0
    return result


def multiply_by_itself(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    n = len(shared.scale)
    total = np.zeros((n, n), order="F")
    for block in _blocks(argument.rows):
        cells = cells_of_piece(piece, shared, Argument(argument.rows[block]))
        total = blas.dsyrk(1.0, cells.T, beta=1.0, c=total, overwrite_c=True, lower=True)
    return total


def leverage_of_piece(piece: Arrays, shared: Shared, argument: Argument) -> Floats:
    out = np.empty(len(argument.rows))
    for block in _blocks(argument.rows):
        out[block] = leverage_of_cells(cells_of_piece(piece, shared, Argument(argument.rows[block])), shared.value)
    return out


def _blocks(rows: Rows) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, len(rows), BLOCK)]


def leverage_of_cells(cells: Floats, factor: Floats) -> Floats:
    columns = cells.T
    if len(factor) > len(columns):
        columns = np.vstack([columns, np.ones((1, columns.shape[1]))])
    solved = linalg.solve_triangular(factor, columns, lower=True, overwrite_b=True, check_finite=False)
    result: Floats = np.einsum("ij,ij->j", solved, solved)
    return result


def _described(piece: Arrays, shared: Shared) -> GramFeatures:
    return GramFeatures(piece["gram"], piece["row_scale"], shared.scale, shared.adapt)
