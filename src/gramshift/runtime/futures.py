"""Values that live on Dask workers, and where in the arguments of a task they may stand."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn


@dataclass(eq=False)
class Handle:
    """A value on the workers. It is put there anew if it was lost with the only worker that held it."""

    put: Callable[[], Any]
    needs: tuple["Handle", ...] = ()

    def __post_init__(self) -> None:
        self.future = self.put()

    def revive(self) -> None:
        """Put the value, and those that it needs, there anew if they were lost."""
        for handle in self.needs:
            handle.revive()
        if self.future.status in ("lost", "cancelled"):
            self.future = self.put()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a handle can be an item, an entry of one, or an argument of functools.partial, and nothing else")


def find_handles(value: Any) -> list[Handle]:
    """Find the handles in an argument that stand where workers can find them."""
    if isinstance(value, partial):
        return [handle for part in (*value.args, *value.keywords.values()) for handle in find_handles(part)]
    if isinstance(value, (list, tuple)):
        return [part for part in value if isinstance(part, Handle)]
    return [value] if isinstance(value, Handle) else []


def with_futures(value: Any) -> Any:
    """The argument with Dask's futures in the places of handles."""
    if isinstance(value, Handle):
        return value.future
    if isinstance(value, (list, tuple)) and find_handles(value):
        return [part.future if isinstance(part, Handle) else part for part in value]
    return value
