"""The errors that a user can mend: each says what was given, what is allowed and what to type instead.

All are :class:`GramshiftError`, and also the error of Python that one would expect, so that ``except ValueError`` works as
before. An error of any other class that leaves the package is a fault of ours, or of the system (a disk that is full).
"""


class GramshiftError(Exception):
    """Something that the user can mend, in words that say how."""


class InputError(GramshiftError, ValueError):
    """A parameter, an option, a document or a file that is not what it should be."""


class InputTypeError(GramshiftError, TypeError):
    """A value of a type that cannot be used."""


class MemoryLimitError(GramshiftError, MemoryError):
    """Work that does not fit into the memory that it may take."""


class MissingPackageError(GramshiftError, ModuleNotFoundError):
    """A package that only some need and that is not installed."""


class FitWarning(UserWarning):
    """Something about a fit that a user should look at: likely mistakes in what it was given, or labels not to be trusted."""
