"""Calls of the system that fail when they are told to: in one process, from Python, by whom they are made through ``os``.

Only calls about one folder count. They are numbered by their name, so that each can be made to fail by itself. `strace` does
the same from outside: see faults.py.
"""

import builtins
import errno
import fcntl
import io
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

KILL = "kill"
FAULTS = ("ENOSPC", "EIO", "EINTR", KILL)
CALLS = {  # of os, by what they are called in the table; the place of the argument that tells the file
    "open": ("open", 0),
    "fsync": ("fsync", 0),
    "replace": ("rename", 1),
    "link": ("link", 1),
    "unlink": ("unlink", 0),
    "mkdir": ("mkdir", 0),
    "fchmod": ("chmod", 0),
    "posix_fallocate": ("allocate", 0),
    "ftruncate": ("truncate", 0),
    "write": ("write", 0),
    "close": ("close", 0),
}


class Faults:
    """Counts the calls about a folder; the one with this name and number meets the fault, all others do their work."""

    def __init__(self, folder: Path, call: str | None = None, number: int = 0, fault: str = KILL) -> None:
        self._folder, self._chosen, self._fault = os.path.realpath(folder), (call, number), fault
        self.counts: Counter[str] = Counter()
        self._files: set[int] = set()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Take the place of the system's calls."""
        with ExitStack() as stack:
            for name, (shown, place) in CALLS.items():
                stack.enter_context(mock.patch.object(os, name, self._failing(getattr(os, name), shown, place)))
            for owner, name, shown in ((fcntl, "flock", "lock"), (np.memmap, "flush", "sync of a map")):
                place = 0 if owner is fcntl else None
                stack.enter_context(mock.patch.object(owner, name, self._failing(getattr(owner, name), shown, place)))
            stack.enter_context(mock.patch.object(os, "fdopen", self._wrapped(os.fdopen)))
            opened = self._opened(io.open)
            stack.enter_context(mock.patch.object(io, "open", opened))
            stack.enter_context(mock.patch.object(builtins, "open", opened))
            yield

    def strike(self, call: str) -> None:
        """Count a call, and let it meet its fault if it is the chosen one."""
        self.counts[call] += 1
        if (call, self.counts[call]) == self._chosen:
            if self._fault == KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            code = getattr(errno, self._fault)
            raise OSError(code, os.strerror(code))

    def stops_half_way(self, call: str) -> bool:
        """Whether the next call does half of its work before it fails; one that is interrupted has done nothing."""
        return (call, self.counts[call] + 1) == self._chosen and self._fault != "EINTR"

    def _is_ours(self, file: Any) -> bool:
        if isinstance(file, int):
            return file in self._files
        return os.path.abspath(os.fspath(file)).startswith(self._folder)

    def _failing(self, real: Callable[..., Any], shown: str, place: int | None) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if place is not None and not self._is_ours(arguments[place]):
                return real(*arguments, **options)
            if shown == "close":  # a file is closed whatever close says
                self._files.discard(arguments[0])
                real(*arguments)
                return self.strike(shown)
            self.strike(shown)
            result = real(*arguments, **options)
            if shown == "open":
                self._files.add(result)
            return result

        return call

    def _wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def fdopen(file: int, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if file not in self._files or mode != "w+b":
                return real(file, mode, *arguments, **options)
            return io.BufferedRandom(_FailingFile(self, file, "w+"))

        return fdopen

    def _opened(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if isinstance(file, int) or mode not in ("wb", "ab", "xb") or not self._is_ours(file):
                return real(file, mode, *arguments, **options)
            self.strike("open")
            return io.BufferedWriter(_FailingFile(self, file, mode[0]))

        return opened


class _FailingFile(io.FileIO):
    """A file whose writes may stop half way."""

    def __init__(self, faults: Faults, *arguments: Any) -> None:
        self._faults = faults
        super().__init__(*arguments)

    def write(self, data: Any) -> int:
        if self._faults.stops_half_way("write"):
            super().write(memoryview(data)[: len(data) // 2])
        self._faults.strike("write")
        return super().write(data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._faults.strike("close")
