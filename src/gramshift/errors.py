"""Errors caused by the user's input: each shows what was given, what is allowed and what to type.

All are :class:`GramshiftError` and also the matching built-in error, so ``except ValueError``
works. An error of any other class is a bug of the package, or an error of the system such as a
full disk.
"""


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
