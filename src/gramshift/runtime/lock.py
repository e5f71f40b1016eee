"""One process at a time for a folder, by a lock that the system takes back from a process that ends, however it ends.

Not by the library filelock: it empties the file when it opens it, so that nobody could say who holds the lock, and removes it.
"""

import errno
import os
import platform
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
UNKNOWN = (errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


@dataclass
class _Held:
    file: int
    users: int = 1


_held: dict[Path, _Held] = {}
_guard = threading.RLock()  # a lock may be given back by the garbage collector, at any moment of the same thread


def hold(path: Path) -> bool:
    """Lock the file for this process, which may do so several times; False where the file system knows no locks.

    The file tells whose it is. It is never removed: a process could then lock a file that is no longer there for others.
    """
    with _guard:
        held = _held.get(path)
        if held is not None:
            held.users += 1
            return True
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            if not _lock(file):
                owner = os.read(file, 200).decode(errors="replace").strip() or "another process"
                words = f"in use by {owner}, which is still running; wait for it, or give another folder"
                raise BlockingIOError(errno.EAGAIN, words, str(path.parent))
            os.ftruncate(file, 0)
            os.write(file, f"process {os.getpid()} on {platform.node()}\n".encode())
        except OSError as error:
            os.close(file)
            if error.errno in UNKNOWN:
                return False
            raise
        _held[path] = _Held(file)
        return True


def let_go(path: Path, pid: int) -> None:
    """Undo one hold() of the process ``pid``, if this is it; the last one gives the lock back."""
    with _guard:
        if pid != os.getpid():
            return
        held = _held[path]
        held.users -= 1
        if held.users == 0:
            del _held[path]
            os.close(held.file)


def _lock(file: int) -> bool:
    """Whether the lock could be had. Not by POSIX locks: those are lost when the process reads and closes the file anywhere."""
    try:
        if sys.platform == "win32":
            os.lseek(file, 1 << 20, os.SEEK_SET)  # beyond the words, which others may read
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in TAKEN:
            raise
        return False
    finally:
        os.lseek(file, 0, os.SEEK_SET)
    return True


def _forget() -> None:
    """A fork holds nothing: it may outlive the process."""
    global _guard
    _guard = threading.RLock()
    for held in _held.values():
        os.close(held.file)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
