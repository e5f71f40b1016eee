"""What a file of ours may hold, declared: members by name, with types, sizes in terms of each other, and ranges of values.

A declaration is checked before anything else sees a value: compiled code believes what it is given. Sizes have names. The
first member that has a size decides it, unless it was known before; all others must agree.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e60  # of any number: products of three of them, and sums of these, are still finite
EPSILON = 1e-9  # what rounding may add to a value that cannot be above 1

Sizes = dict[str, int]
Size = str | int
Sides = tuple[Size, ...]


class SchemaError(ValueError):
    """A member is not what it is declared to be."""


class Member(ABC):
    """What something that a file holds must be."""

    @abstractmethod
    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise a SchemaError if a value is something else; sizes that were not known are written down."""


@dataclass(frozen=True)
class Array(Member):
    """An array of numbers. A bound may be the name of a size."""

    dtype: str | tuple[str, ...]
    sides: Sides
    low: float = -LARGEST
    most: float | str = LARGEST
    below: str | None = None
    """Values are less than this size."""
    rising: str = ""
    """"strictly": each value is larger than the one before; "ends": none is smaller, and the last is the size ``most``."""
    zeros: str = ""
    others: str = ""
    """Names of sizes: how many values are 0, and how many are not."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        self.check_shape(name, value, sizes)
        if value.dtype.kind in "iuf":
            self._check_values(name, value, sizes)

    def check_shape(self, name: str, value: Any, sizes: Sizes) -> None:
        """The same for its type and shape alone, whatever its values."""
        dtypes = (self.dtype,) if isinstance(self.dtype, str) else self.dtype
        if not isinstance(value, np.ndarray) or value.dtype not in tuple(map(np.dtype, dtypes)):
            found = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
            raise SchemaError(f"{name} has values of type {found}, but should have {' or '.join(dtypes)}")
        fits = value.ndim == len(self.sides)
        for side, found in zip(self.sides, value.shape, strict=False):
            fits = fits and _agree(side, found, sizes)
        if not fits:
            raise SchemaError(f"{name} has shape {value.shape} where {_shown(self.sides, sizes)} fits the rest")

    def _check_values(self, name: str, value: NDArray[Any], sizes: Sizes) -> None:
        if self.zeros:
            n_zeros = int(np.count_nonzero(value == 0))
            sizes |= {self.zeros: n_zeros, self.others: value.size - n_zeros}
        ends = self.rising == "ends"
        if ends and (int(value[-1]) if value.size else 0) != self._most(sizes):
            raise SchemaError(f"{name} does not end where it should")
        if not value.size:
            return
        least, largest = value.min(), value.max()
        if value.dtype.kind == "f" and not (np.isfinite(least) and np.isfinite(largest)):
            raise SchemaError(f"{name} has numbers that are not finite")
        most = self._most(sizes)
        if least < self.low or largest > most:
            raise SchemaError(f"{name} has values from {least} to {largest}; they must be from {self.low:g} to {most:g}")
        if self.rising and not (value[1:] >= value[:-1] if ends else value[1:] > value[:-1]).all():
            raise SchemaError(f"{name} is not in order")

    def _most(self, sizes: Sizes) -> float:
        if self.below is not None:
            return sizes[self.below] - 1
        return sizes[self.most] if isinstance(self.most, str) else self.most


@dataclass(frozen=True)
class Text(Member):
    """A string."""

    longest: int

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if type(value) is not str or len(value) > self.longest:
            raise SchemaError(f"{name} is not a string of at most {self.longest} characters")


@dataclass(frozen=True)
class Number(Member):
    """A number."""

    low: float = -LARGEST
    most: float = LARGEST
    whole: bool = False

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if type(value) not in ((int,) if self.whole else (int, float)) or not self.low <= value <= self.most:
            what = "a whole number" if self.whole else "a number"
            raise SchemaError(f"{name} has {_brief(value)} where {what} from {self.low:g} to {self.most:g} is due")


@dataclass(frozen=True)
class Flag(Member):
    """True or false."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if type(value) is not bool:
            raise SchemaError(f"{name} is neither true nor false")


@dataclass(frozen=True)
class Listed(Member):
    """A list of values that are all declared alike; up to ``most``, and as many as a size if there is one."""

    of: Member
    size: str = ""
    most: int = 10_000

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, list) or len(value) > self.most or (self.size and not _agree(self.size, len(value), sizes)):
            raise SchemaError(f"{name} is not a list of {sizes.get(self.size, f'at most {self.most}')} values")
        for one in value:
            self.of.check(name, one, sizes)


@dataclass(frozen=True)
class Record(Member):
    """Values by name. Those that are ``optional`` may be missing or null; ``others`` says what any other name may have."""

    members: Mapping[str, Member]
    optional: Mapping[str, Member] | None = None
    others: Member | None = None
    most: int = 10_000

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict) or not all(type(key) is str for key in value) or len(value) > self.most:
            raise SchemaError(f"{name} is not a record")
        optional = self.optional or {}
        if lacking := [key for key in self.members if key not in value]:
            raise SchemaError(f"{name} lacks {lacking[0]}")
        strange = [key for key in value if key not in self.members and key not in optional]
        if strange and self.others is None:
            raise SchemaError(f"{name} has {_brief(strange[0])}, which nobody knows")
        for key, one in self.members.items():
            one.check(key, value[key], sizes)
        for key, one in optional.items():
            if value.get(key) is not None:
                one.check(key, value[key], sizes)
        for key in strange:
            assert self.others is not None
            self.others.check(name, value[key], sizes)


@dataclass(frozen=True)
class Plain(Member):
    """Values that can be written as JSON again, which something else checks before it uses them."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        if isinstance(value, (dict, list)):
            for one in value.values() if isinstance(value, dict) else value:
                self.check(name, one, sizes)
        elif isinstance(value, float) and not math.isfinite(value):
            raise SchemaError(f"{name} has a number that is not finite")


@dataclass(frozen=True)
class Anything(Member):
    """What nobody looks at, or something else checks as it reads it."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        pass


def check_names(expected: Collection[str], found: Collection[str]) -> None:
    """Raise a SchemaError if something is missing or too much."""
    both = (("lacks", expected, set(found)), ("holds", found, set(expected)))
    faults = {words: [one for one in some if one not in others] for words, some, others in both}
    told = [f"{words} {', '.join(map(_brief, names[:3]))}" for words, names in faults.items() if names]
    if told:
        raise SchemaError(f"it {' and '.join(told)}")


def _agree(side: Size, found: int, sizes: Sizes) -> bool:
    """Whether a size is what was found; one that is not known yet is from now on."""
    if isinstance(side, str):
        return sizes.setdefault(side, found) == found
    return found == side


def _shown(sides: Sides, sizes: Sizes) -> str:
    known = [sizes.get(str(side), side) for side in sides]
    return f"({', '.join(map(str, known))}{',' if len(known) == 1 else ''})"


def _brief(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
