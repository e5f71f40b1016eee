"""Pieces of a large array that are made once, kept in memory or on disk, and worked on one after another."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from gramshift.runtime.resources import Runtime
from gramshift.runtime.schema import Array
from gramshift.runtime.threads import iterate_threads

T = TypeVar("T")
Arrays = dict[str, Any]


class Store(Protocol):
    """Arrays by name."""

    def load(self, name: str, expected: Mapping[str, Array] | None = None) -> Arrays | None:
        """None if they are not there, or not what is expected."""

    def save(self, name: str, /, **arrays: Any) -> None: ...

    def drop(self, name: str) -> None:
        """It is not needed any more, in this run or in one that goes on with it."""


class MemoryStore(dict[str, Arrays]):
    """A store that is gone when nobody refers to it any more."""

    def load(self, name: str, expected: Mapping[str, Array] | None = None) -> Arrays | None:
        return self.get(name)

    def save(self, name: str, /, **arrays: Any) -> None:
        self[name] = arrays

    def drop(self, name: str) -> None:
        self.pop(name, None)


class Pieces(Protocol):
    """Numbered pieces, wherever they are."""

    def fill(self, make: Callable[[Any], Arrays], items: Iterable[Any], total: int, *, stage: str = "") -> None:
        """Make the pieces that are not there yet, each from its item; there are ``total`` of them."""

    def map(
        self,
        function: Callable[[Any, Any, Any], T],
        shared: Any,
        arguments: Mapping[int, Any],
        receive: Callable[[int, T], None],
        *,
        stage: str = "",
    ) -> None:
        """receive(number, function(piece, shared, argument)) for the pieces that have an argument, in the order of these."""

    def add_up(
        self,
        function: Callable[[Any, Any, Any], Any],
        shared: Any,
        arguments: Mapping[int, Any],
        total: Any,
        *,
        stage: str = "",
    ) -> None:
        """total += function(piece, shared, argument) for these pieces, in an order that depends on nothing but these."""

    def drop(self) -> None:
        """Free the pieces, which are not needed any more."""


class StoredPieces:
    """Pieces of a store, worked on by threads; each is loaded when it is needed and not held."""

    def __init__(
        self,
        store: Store,
        name: str,
        runtime: Runtime,
        *,
        one_at_a_time: bool = False,
        expect: Callable[[int], Mapping[str, Array]] | None = None,
    ) -> None:
        """Pieces are made ``one_at_a_time`` if what makes them uses threads itself; ``expect`` says what each must be."""
        self._store, self._name, self._runtime, self._n = store, name, runtime, 0
        self._expect: Callable[[int], Mapping[str, Array] | None] = expect or (lambda number: None)
        self._n_makers = 1 if one_at_a_time else runtime.n_threads

    def fill(self, make: Callable[[Any], Arrays], items: Iterable[Any], total: int, *, stage: str = "") -> None:
        """Make the pieces that are not there yet, on threads."""
        self._n = total

        def work(numbered: tuple[int, Any]) -> None:
            number, item = numbered
            if not self.has(number):
                self.put(number, make(item))

        options: dict[str, Any] = {"n_threads": self._n_makers, "ahead": 2, "report": self._runtime.telling(stage)}
        for _ in iterate_threads(work, enumerate(items), total, **options):
            pass

    def has(self, number: int) -> bool:
        """Whether the piece is there, whole."""
        return self._store.load(self._called(number), self._expect(number)) is not None

    def put(self, number: int, arrays: Arrays) -> None:
        """Keep a piece."""
        self._store.save(self._called(number), **arrays)

    def drop(self) -> None:
        """Free the pieces, which are not needed any more."""
        for number in range(self._n):
            self._store.drop(self._called(number))

    def map(
        self,
        function: Callable[[Any, Any, Any], T],
        shared: Any,
        arguments: Mapping[int, Any],
        receive: Callable[[int, T], None],
        *,
        stage: str = "",
    ) -> None:
        """receive(number, function(piece, shared, argument)), in the order of the pieces for any number of threads."""

        def work(number: int) -> T:
            piece = self._store.load(self._called(number), self._expect(number))
            if piece is None:
                raise OSError(f"{self._called(number)} was there and is gone or damaged; start again")
            return function(piece, shared, arguments[number])

        numbers, report = sorted(arguments), self._runtime.telling(stage)
        results = iterate_threads(work, numbers, len(numbers), n_threads=self._runtime.n_threads, ahead=1, report=report)
        for number, result in zip(numbers, results, strict=True):
            receive(number, result)

    def add_up(
        self,
        function: Callable[[Any, Any, Any], Any],
        shared: Any,
        arguments: Mapping[int, Any],
        total: Any,
        *,
        stage: str = "",
    ) -> None:
        """total += function(piece, shared, argument), one piece after another."""
        self.map(function, shared, arguments, partial(add, total), stage=stage)

    def _called(self, number: int) -> str:
        return f"{self._name}-{number}"


def add(total: Any, _: int, result: Any) -> None:
    """total += result, in its place."""
    np.add(total, result, out=total)
