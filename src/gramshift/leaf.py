"""The one decorator for compiled code: eager signature, cached on disk, no GIL. A cache that is of no use is done without."""

import logging
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

log = logging.getLogger("gramshift")
TAKES = "about a minute"
ELSEWHERE = "set NUMBA_CACHE_DIR to a folder that can be written to"
CHECK_BYTES = 4
_said: set[str] = set()


def leaf(*signatures: str, reorder: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile ``function`` for each of the signatures now, or load it from the disk cache.

    ``reorder`` allows sums of floats in any order and fused multiplications, which lets them run side by side.

    The first leaf that is not in the cache says so in one line, because compiling all of them takes some time.
    """

    def compile_now(function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        if reorder:
            options["fastmath"] = {"reassoc", "contract", "nsz"}
        dispatcher = njit(**options)(function)
        if hasattr(dispatcher, "compile"):  # a plain function under NUMBA_DISABLE_JIT
            try:
                dispatcher._cache = kept = KeptCode(function)
            except (RuntimeError, OSError):  # no writable place for a cache: compile in every process
                kept = None
            for signature in signatures:
                dispatcher.compile(signature)
            _announce(dispatcher, kept)
        return dispatcher

    return compile_now


def _announce(dispatcher: Any, kept: "KeptCode | None") -> None:
    """Say once why it takes so long, and whether it will again."""
    if kept is None:
        _say(
            "every",
            f"gramshift: compiling its inner loops ({TAKES}) in every process, because they can be kept nowhere: {ELSEWHERE}",
        )
    elif kept.not_kept is not None:
        why = kept.not_kept.strerror or kept.not_kept
        words = (
            f"gramshift: compiled inner loops cannot be kept in {kept.cache_path} ({why}), so that every process compiles them"
        )
        _say("every", f"{words} ({TAKES}): make room there, or {ELSEWHERE}")
    elif kept.damaged:
        words = f"compiled inner loops in {kept.cache_path} are damaged or of an older version"
        _say("once", f"gramshift: {words}: compiling them anew ({TAKES}) ...")
    elif not dispatcher.stats.cache_hits:
        _say("once", f"gramshift: compiling its inner loops, once per machine and version ({TAKES}) ...")


def _say(kind: str, words: str) -> None:
    if kind not in _said:
        _said.update((kind, "once"))
        log.warning(words)


class KeptCode(FunctionCache):
    """Numba's cache of one function. What is wrong with it on disk is noted, and stops nobody.

    What is damaged counts as missing, and is replaced when the function has been compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        base = self._impl.filename_base + ".bounds" * bool(
            getattr(config, "BOUNDSCHECK", 0)
        )  # Numba takes no note of how it was compiled
        self.files = self._cache_file = CheckedFiles(self._cache_path, base, self._impl.locator.get_source_stamp())
        self.not_kept: OSError | None = None

    @property
    def damaged(self) -> bool:
        return self.files.damaged

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled code, or None if there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            self.files.damaged = True
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if the disk lets us."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self.not_kept = error


class CheckedFiles(IndexDataCacheFile):
    """The files of a cache, with a check at the end of each that has compiled code.

    The check knows what the code was compiled from: where writing ended early, the index may tell of an older file.
    Damaged code would end the process, or compute something else.
    """

    damaged = False

    def load(self, key: Any) -> Any:
        """What is kept for the key; None if there is nothing."""
        name = self._load_index().get(key)
        if name is None:
            return None
        try:
            kept = Path(self._data_path(name)).read_bytes()
        except FileNotFoundError:
            return None
        data, check = kept[:-CHECK_BYTES], kept[-CHECK_BYTES:]
        if check != self._check(key, data):
            raise ValueError(f"{name} is damaged")
        return pickle.loads(data)

    def save(self, key: Any, data: Any) -> None:
        """Keep it: code first, so that the index never tells of what is not there."""
        overloads = self._load_index()
        taken = set(overloads.values())
        free = (name for name in map(self._data_name, range(1, len(taken) + 2)) if name not in taken)
        name = overloads.get(key) or next(free)
        dumped = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(dumped + self._check(key, dumped))
        if overloads.get(key) is None:
            self._save_index({**overloads, key: name})

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(super()._load_index())
        except Exception:  # of a pickle that is damaged, any
            self.damaged = True
            return {}

    def _check(self, key: Any, data: bytes) -> bytes:
        known = repr((self._version, self._source_stamp, key)).encode(errors="surrogatepass")
        return zlib.crc32(data, zlib.crc32(known)).to_bytes(CHECK_BYTES, "little")
