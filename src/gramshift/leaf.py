"""The one decorator for compiled code: eager signature, cached on disk, no GIL."""

import logging
from collections.abc import Callable
from typing import Any

from numba import njit

log = logging.getLogger("gramshift")
_announced = False


def leaf(*signatures: str, reorder: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile ``function`` for each of the signatures now, or load it from the disk cache.

    ``reorder`` allows sums of floats in any order and fused multiplications, which lets them run side by side.

    The first leaf that is not in the cache says so in one line, because compiling all of them takes some seconds.
    """

    def compile_now(function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        if reorder:
            options["fastmath"] = {"reassoc", "contract", "nsz"}
        try:
            dispatcher = njit(cache=True, **options)(function)
        except RuntimeError:  # no writable place for a cache: compile in every process
            dispatcher = njit(**options)(function)
        if hasattr(dispatcher, "compile"):  # a plain function under NUMBA_DISABLE_JIT
            for signature in signatures:
                dispatcher.compile(signature)
            _announce(dispatcher)
        return dispatcher

    return compile_now


def _announce(dispatcher: Any) -> None:
    global _announced
    if not _announced and not dispatcher.stats.cache_hits:
        _announced = True
        log.warning("gramshift: compiling its inner loops, once per machine and version (about 15 s) ...")
