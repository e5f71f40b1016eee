"""What a target of fuzzing is: it draws inputs, runs them, and says which of three things an input led to.

An input is a *case*, a plain value of JSON, so that it can be kept, shrunk and run again. Running it returns if the input was
accepted and all that must hold then held, raises :class:`Refusal` if it was refused in the way that users are promised, and
raises anything else for what must not happen.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from gramshift.errors import GramshiftError

Case = dict[str, Any]
LONGEST_MESSAGE = 10_000  # characters; an error is for people
MISSING = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


class Refusal(Exception):
    """The input was refused by an error that a user can mend."""


class Wrong(Exception):
    """What must hold does not; the first argument says what, without details, so that others of its kind are known."""

    def __init__(self, kind: str, details: str = "") -> None:
        super().__init__(f"{kind}: {details}" if details else kind)
        self.kind = kind


class Target(ABC):
    """Something that reads what others wrote."""

    name: ClassVar[str]
    cut: ClassVar[tuple[str, ...]] = ("steps",)
    """The entries of a case whose lists and strings are shortened when it is shrunk."""
    cut_within: ClassVar[tuple[str, ...]] = ()
    """Those that are lists of strings, each of which is shortened too."""

    def prepare(self, folder: Path) -> None:
        """Make what inputs begin with, once, in a folder that stays."""
        return

    @abstractmethod
    def draw(self, rng: Random) -> Case:
        """Draw an input; it depends on ``rng`` alone."""

    @abstractmethod
    def run(self, case: Case, folder: Path) -> None:
        """Run an input; ``folder`` is for files, and may hold those of the input before."""

    def flatten(self, case: Case) -> Case:
        """The same input without the steps that led to it, if there is such a form; it may be shrunk further."""
        return case


@contextmanager
def may_refuse(*names: str) -> Iterator[None]:
    """What happens within may be refused, by an error of ours that has one of these names, if any are given."""
    try:
        yield
    except (GramshiftError, *MISSING) as error:
        message = str(error)
        if names and not any(name in message for name in names):
            raise Wrong("an error does not name the file", f"{type(error).__name__}: {message[:300]}") from error
        if len(message) > LONGEST_MESSAGE:
            raise Wrong("an error is too long for people", f"{len(message)} characters: {message[:100]}") from error
        raise Refusal(message) from error


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are the same to the last bit: 1 is not 1.0, 0.0 is not -0.0, NaN is NaN."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(value, other[name]) for name, value in one.items())
    return bool(one == other)
