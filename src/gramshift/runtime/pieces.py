"""Pieces of a large array that are made once, kept in memory or on disk, and worked on one after another."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from gramshift.runtime.threads import Progress, iterate_threads

T = TypeVar("T")
Arrays = dict[str, Any]


class Store(Protocol):
    """Arrays by name."""

    def load(self, name: str) -> Arrays | None: ...

    def save(self, name: str, /, **arrays: Any) -> None: ...

    def drop(self, name: str) -> None:
        """It is not needed any more, in this run or in one that goes on with it."""


class Memory(dict[str, Arrays]):
    """A store that is gone when nobody refers to it any more."""

    def load(self, name: str) -> Arrays | None:
        return self.get(name)

    def save(self, name: str, /, **arrays: Any) -> None:
        self[name] = arrays

    def drop(self, name: str) -> None:
        self.pop(name, None)


class Pieces(Protocol):
    """Numbered pieces, wherever they are."""

    def map(
        self,
        function: Callable[[Any, Any, Any], T],
        shared: Any,
        arguments: Mapping[int, Any],
        receive: Callable[[int, T], None],
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> None:
        """receive(number, function(piece, shared, argument)) for the pieces that have an argument, one after another."""

    def add_up(
        self,
        function: Callable[[Any, Any, Any], Any],
        shared: Any,
        arguments: Mapping[int, Any],
        total: Any,
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> None:
        """total += function(piece, shared, argument) for these pieces."""

    def drop(self) -> None:
        """They are not needed any more."""


class StoredPieces:
    """Pieces of a store, worked on by threads; each is loaded when it is needed and not held."""

    def __init__(self, store: Store, name: str, n_threads: int) -> None:
        self._store, self._name, self._n_threads, self._n = store, name, n_threads, 0

    def fill(
        self,
        make: Callable[[Any], Arrays],
        items: Iterable[Any],
        total: int,
        *,
        n_threads: int | None = None,
        stage: str = "",
        progress: Progress | None = None,
    ) -> None:
        """Make the pieces that are not there yet, each from its item, on fewer threads if ``make`` has its own."""
        n_threads, self._n = n_threads or self._n_threads, total

        def work(numbered: tuple[int, Any]) -> None:
            number, item = numbered
            if not self.has(number):
                self.put(number, make(item))

        for _ in iterate_threads(work, enumerate(items), total, n_threads=n_threads, ahead=2, stage=stage, progress=progress):
            pass

    def has(self, number: int) -> bool:
        """Whether the piece is there, whole."""
        return self._store.load(self._called(number)) is not None

    def put(self, number: int, arrays: Arrays) -> None:
        self._store.save(self._called(number), **arrays)

    def complete(self, total: int) -> None:
        """There are so many now."""
        self._n = total

    def drop(self) -> None:
        """They are not needed any more."""
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
        progress: Progress | None = None,
    ) -> None:
        """In the order of the pieces, so that sums are the same for any number of threads."""

        def work(number: int) -> T:
            piece = self._store.load(self._called(number))
            if piece is None:
                raise OSError(f"{self._called(number)} was there and is gone or damaged; start again")
            return function(piece, shared, arguments[number])

        numbers = sorted(arguments)
        options: dict[str, Any] = {"n_threads": self._n_threads, "ahead": 1, "stage": stage, "progress": progress}
        for number, result in zip(numbers, iterate_threads(work, numbers, len(numbers), **options), strict=True):
            receive(number, result)

    def add_up(
        self,
        function: Callable[[Any, Any, Any], Any],
        shared: Any,
        arguments: Mapping[int, Any],
        total: Any,
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> None:
        """In the order of the pieces, too."""

        def add(_: int, result: Any) -> None:
            np.add(total, result, out=total)

        self.map(function, shared, arguments, add, stage=stage, progress=progress)

    def _called(self, number: int) -> str:
        return f"{self._name}-{number}"
