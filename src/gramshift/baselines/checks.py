"""What baselines need: parameters in range and packages installed, checked before any work starts."""

import math
from importlib.util import find_spec
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from gramshift.errors import InputError, MissingPackageError


def check_count(name: str, value: Any, *, least: int = 1) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}={value!r}: give a whole number from {least} on")


def check_number(name: str, value: Any, *, above: float = 0.0, most: float = math.inf) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not above < value <= most or not math.isfinite(value):
        allowed = f"above {above:g}" + ("" if math.isinf(most) else f", up to {most:g}")
        raise InputError(f"{name}={value!r}: give a number {allowed}")


def check_flag(name: str, value: Any) -> None:
    if type(value).__name__ not in ("bool", "bool_"):  # NumPy's too, without importing it: --help loads this module
        raise InputError(f"{name}={value!r}: give True or False")


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name}={value!r}: must be one of {', '.join(map(repr, allowed))}")


EXTRA = "baselines"  # has the packages that baselines need
INSTALL = f"pip install 'gramshift[{EXTRA}]'"


def require(user: str, packages: tuple[str, ...]) -> None:
    """Raise an error that says what to install if one of the packages that ``user`` needs is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingPackageError(f"{user} needs {', '.join(missing)}: {INSTALL}", name=missing[0])


def package_file(user: str, package: str, path: str) -> Path:
    """Return a file or folder within an installed package, which is not imported."""
    require(user, (package,))
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or []
    for folder in folders:
        if (Path(folder) / path).exists():
            return Path(folder) / path
    raise FileNotFoundError(f"{user} needs {path}, which the installed package {package!r} does not have: {INSTALL}")
