"""The decorator of compiled functions: cached on disk, and run without the GIL."""

import logging
from collections.abc import Callable
from typing import Any

from numba import njit

log = logging.getLogger("gramshift")
_announced: set[str] = set()


def compiled(*signatures: str, reorder: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for each of the signatures now, or load it from Numba's cache.

    ``reorder`` allows sums of floats in any order and fused multiplications, which are faster. The
    first function that is not in the cache is announced, because compiling all takes a minute.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if reorder:
        options["fastmath"] = {"reassoc", "contract", "nsz"}

    def compile_for(function: Callable[..., Any], *, cache: bool) -> Any:
        result = njit(cache=cache, **options)(function)
        if hasattr(result, "compile"):  # not under NUMBA_DISABLE_JIT
            for signature in signatures:  # read-only arrays and other types are compiled at a call
                result.compile(signature)
        return result

    def compile_now(function: Callable[..., Any]) -> Any:
        try:
            result = compile_for(function, cache=True)
        except Exception as error:  # a cache that cannot be read or written
            result = compile_for(function, cache=False)
            _announce(
                f"in every process, because they cannot be kept ({error}): set NUMBA_CACHE_DIR "
                "to a new folder"
            )
        else:
            if hasattr(result, "stats") and not result.stats.cache_hits:
                _announce("once per machine and version")
        return result

    return compile_now


def _announce(how_often: str) -> None:
    if not _announced:
        _announced.add(how_often)
        log.warning("gramshift: compiling its inner loops (about a minute) %s", how_often)
