"""Shrinking: the same fault with less of an input, by leaving out halves, quarters, ... of its lists and strings."""

import time
from collections.abc import Callable
from typing import Any

from fuzz.targets import Case, Target

MOST_TRIES = 400
MOST_SECONDS = 30.0


class Budget:
    """How often an input may still be run, and until when."""

    def __init__(self, tries: int = MOST_TRIES, seconds: float = MOST_SECONDS) -> None:
        self._tries, self._until = tries, time.monotonic() + seconds

    def take(self) -> bool:
        """Whether there is another try."""
        self._tries -= 1
        return self._tries >= 0 and time.monotonic() < self._until


def shrink(target: Target, case: Case, fails: Callable[[Case], bool], budget: Budget | None = None) -> Case:
    """A case that still fails and of which little can be left out; ``fails`` says whether one has the same fault."""
    budget = budget or Budget()
    case = _shrink_entries(target, case, fails, budget)
    flat = target.flatten(case)
    if flat != case and budget.take() and fails(flat):
        case = _shrink_entries(target, flat, fails, budget)
    return case


def _shrink_entries(target: Target, case: Case, fails: Callable[[Case], bool], budget: Budget) -> Case:
    """Cut each entry that may be cut, then the strings in a list."""
    for name in target.cut:
        if isinstance(case.get(name), (list, str)):
            case = _shrink_at(case, [name], fails, budget)
        for place in range(len(case.get(name, [])) if name in target.cut_within else 0):
            case = _shrink_at(case, [name, place], fails, budget)
    return case


def _shrink_at(case: Case, path: list[Any], fails: Callable[[Case], bool], budget: Budget) -> Case:
    value: Any = case
    for key in path:
        value = value[key]
    shrunk: Case = placed(case, path, cut(value, lambda less: fails(placed(case, path, less)), budget))
    return shrunk


def placed(value: Any, path: list[Any], new: Any) -> Any:
    """The plain value with something else at a place, which is a list of keys and numbers."""
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = placed(value[path[0]], path[1:], new)
    return copy


def cut(value: Any, fails: Callable[[Any], bool], budget: Budget) -> Any:
    """Leave out as much of a list or string as can be left out, ever smaller stretches of it at a time."""
    size = max(1, len(value) // 2)
    while value:
        start = 0
        while start < len(value):
            less = value[:start] + value[start + size :]
            if not budget.take():
                return value
            if fails(less):
                value = less
            else:
                start += size
        if size == 1:
            break
        size //= 2
    return value
