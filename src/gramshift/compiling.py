"""The decorator of compiled functions: compiled at first use, cached on disk, without the GIL."""

import logging
import os
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typeconv import Conversion
from numba.core.types import Array

log = logging.getLogger("gramshift")
_announced: set[str] = set()
_loaded: set[str] = set()

if hasattr(os, "register_at_fork"):  # a child must not inherit the lock of a thread that compiles
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


@cache
def digest_sources() -> bytes:
    """Return a digest of all compiled functions: code includes that of the functions it calls."""
    paths = sorted(Path(__file__).parent.glob("*/compiled/*.py"))
    return sha256(b"".join(path.read_bytes() for path in paths)).digest()


class SourceCache(FunctionCache):
    """Numba's cache, which is void when the source of any compiled function has changed."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = self._cache_file._source_stamp, digest_sources()


class CompiledFunction(CPUDispatcher):
    """A function that is compiled, or loaded from the disk, when a call first needs it."""

    declared: tuple[Any, ...] = ()

    def compile(self, signature: Any) -> Any:
        """Compile for the declared signature that accepts these types, otherwise for the types."""
        types, _ = normalize_signature(signature)
        accepting = (one for one in self.declared if self._accepts(one.args, types))
        signature = next(accepting, signature)
        n_hits, n_misses = self._count_uses()
        try:
            if not self.overloads:
                self._cache: Any = SourceCache(self.py_func)
            entry_point = super().compile(signature)
        except (NumbaError, MemoryError):
            raise
        except Exception as error:  # a cache that cannot be read or written
            self._cache = NullCache()
            entry_point = super().compile(signature)
            why = f"because they cannot be kept ({error}): set NUMBA_CACHE_DIR to a new folder"
            _announce("in every process", why)
        hits, misses = self._count_uses()
        if hits > n_hits:
            _loaded.add(self.__name__)
        if misses > n_misses and not _announced:
            how_long = "some seconds" if _loaded else "up to a minute"
            _announce("on their first use in this environment", how_long)
        return entry_point

    def _accepts(self, declared: tuple[Any, ...], types: tuple[Any, ...]) -> bool:
        """Return True for the same types of arrays, and numbers that convert without loss."""

        def accepts(declared: Any, given: Any) -> bool:
            if isinstance(declared, Array):  # Numba would look for its code at every call
                return bool(declared == given)
            found = self.typingctx.can_convert(given, declared)
            return found is not None and found <= Conversion.safe

        return all(map(accepts, declared, types))

    def _count_uses(self) -> tuple[int, int]:
        """Return how often code was loaded, and how often it was compiled."""
        return sum(self.stats.cache_hits.values()), sum(self.stats.cache_misses.values())


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


def _announce(how_often: str, more: str) -> None:
    """Log how often code is compiled, once in a process."""
    if how_often not in _announced:
        _announced.add(how_often)
        log.warning("gramshift: compiling inner loops %s, %s", how_often, more)
