"""What lower rooms may ask of higher ones, by name: the package itself says where each function lives.

A classifier has a method that writes a page, and pages are made above it. Importing upwards would tie the rooms in a knot, so
the package, which hands on the names of all rooms, fills in this table, and whoever asks gets the function when it is needed.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_homes: dict[str, str] = {}


def register(homes: dict[str, str]) -> None:
    """Say in which module each function lives; nothing is imported yet."""
    _homes.update(homes)


def find_function(name: str) -> Callable[..., Any]:
    """Import and return a function that was registered."""
    function: Callable[..., Any] = getattr(import_module(_homes[name]), name)
    return function
