"""Parameters of baselines, checked before any work starts."""

from numbers import Integral, Real
from typing import Any

import numpy as np


def check_count(name: str, value: Any, *, least: int = 1) -> None:
    if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)) or value < least:
        raise ValueError(f"{name}={value!r}: give a whole number from {least} on")


def check_number(name: str, value: Any, *, above: float = 0.0, most: float = np.inf) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not is_number or not above < value <= most or not np.isfinite(value):
        allowed = f"above {above:g}" + ("" if np.isinf(most) else f", up to {most:g}")
        raise ValueError(f"{name}={value!r}: give a number {allowed}")


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r}: give True or False")


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, allowed))}")
