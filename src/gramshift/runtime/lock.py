"""One process at a time for a folder, by a lock that the system takes back from a process that ends, however it ends.

Not by the library filelock: it empties the file when it opens it, so that nobody could say who holds the lock, and removes it.
"""

import errno
import os
import platform
import re
import stat
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from gramshift.errors import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
OWNER = r"process \d+ on [^\n]*\n?"
NO_LOCK = "is no lock of Gramshift's, though it has the name of one; give another folder, or remove it"
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
        file = _open(path)
        try:
            is_free, words = try_lock(file), os.read(file, 200).decode(errors="replace")
            if words and not re.fullmatch(OWNER, words):
                raise InputError(f"{path} {NO_LOCK}")
            if not is_free:
                owner = words.strip() or "another process"
                words = f"in use by {owner}, which is still running; wait for it, or give another folder"
                raise BlockingIOError(errno.EAGAIN, words, str(path.parent))
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, f"process {os.getpid()} on {platform.node()}\n".encode())
        except (OSError, InputError) as error:
            os.close(file)
            if isinstance(error, OSError) and error.errno in UNKNOWN:
                return False
            raise
        _held[path] = _Held(file)
        return True


def _open(path: Path) -> int:
    """Open the file of a lock, made if it is missing: a link, a device or a file of somebody else's must not be emptied."""
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise InputError(f"{path} {NO_LOCK}")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError(f"{path} {NO_LOCK}") from None
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise InputError(f"{path} {NO_LOCK}")
    return file


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


def try_lock(file: int) -> bool:
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
