"""The decorator of compiled functions: compiled at first use, cached on disk, without the GIL."""

import logging
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typeconv import Conversion

log = logging.getLogger("gramshift")
_announced: set[str] = set()


class CompiledFunction(CPUDispatcher):
    """A function that is compiled, or loaded from the disk, when a call first needs it."""

    declared: tuple[Any, ...] = ()

    def compile(self, signature: Any) -> Any:
        """Compile for the declared signature that accepts these types, otherwise for the types."""
        types, _ = normalize_signature(signature)
        accepting = (one for one in self.declared if self._accepts(one.args, types))
        signature = next(accepting, signature)
        n_misses = self._count_misses()
        try:
            if not self.overloads:
                self.enable_caching()
            entry_point = super().compile(signature)
        except NumbaError:
            raise
        except Exception as error:  # a cache that cannot be read or written
            self._cache = NullCache()
            entry_point = super().compile(signature)
            _announce(
                f"in every process, because they cannot be kept ({error}): set NUMBA_CACHE_DIR "
                "to a new folder"
            )
        if self._count_misses() > n_misses:
            _announce("on first use in this environment (up to a minute)")
        return entry_point

    def _accepts(self, declared: tuple[Any, ...], types: tuple[Any, ...]) -> bool:
        """Return True if arguments of these types convert to the declared ones without loss."""
        found = map(self.typingctx.can_convert, types, declared)
        return all(one is not None and one <= Conversion.safe for one in found)

    def _count_misses(self) -> int:
        return sum(self.stats.cache_misses.values())


def compiled(*signatures: str, reorder: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function for these signatures, each at its first use.

    Read-only arrays and other types that were not declared get code of their own. ``reorder``
    allows sums of floats in any order and fused multiplications, which are faster.
    """
    options: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy"}
    if reorder:
        options["fastmath"] = {"reassoc", "contract", "nsz"}

    def make(function: Callable[..., Any]) -> Any:
        if numba.config.DISABLE_JIT:
            return function
        result = CompiledFunction(function, targetoptions=options)
        parsed = map(normalize_signature, signatures)
        result.declared = tuple(returned(*types) for types, returned in parsed)
        return result

    return make


def _announce(how_often: str) -> None:
    if not _announced:
        _announced.add(how_often)
        log.warning("gramshift: compiling inner loops %s", how_often)
