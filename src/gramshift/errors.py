"""Errors caused by the user's input: each shows what was given, what is allowed and what to type.

All are :class:`GramshiftError` and also the matching built-in error, so ``except ValueError``
works. An error of any other class is a bug of the package, or an error of the system such as a
full disk.
"""

from collections.abc import Iterable
from difflib import get_close_matches

MAX_NAME_LENGTH = 60  # characters of a name in an error


class GramshiftError(Exception):
    """An error that the user can correct."""


class InputError(GramshiftError, ValueError):
    """An invalid parameter, option, document or file."""


class InputTypeError(GramshiftError, TypeError):
    """A value of a wrong type."""


class MemoryLimitError(GramshiftError, MemoryError):
    """Work that needs more memory than the limit allows."""


class MissingPackageError(GramshiftError, ModuleNotFoundError):
    """An optional package that is not installed."""


class FitWarning(UserWarning):
    """A warning about likely mistakes in the input of a fit, or about labels not to be trusted."""


def suggest(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the closest known name, or an empty string.

    Long names are left out: comparing them takes time, and they are no slips of a finger.
    """
    if len(name) > MAX_NAME_LENGTH:
        return ""
    by_lower = {one.lower(): one for one in reversed(list(known)) if len(one) <= MAX_NAME_LENGTH}
    close = get_close_matches(name.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[close[0]]}?" if close else ""


def short(name: str) -> str:
    """Return a name, cut if it is too long for an error."""
    return name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 3] + "..."
