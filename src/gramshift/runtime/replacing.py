"""Files that appear under their name only when they are complete, alone or several together, on a disk or at a URL."""

import errno
import math
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.runtime.storage import identify, is_url, locate, reaching

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NEW = (
    os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
BEGIN, PARTIAL = ".gramshift-", ".partial"
"""How the names of files begin and end that are not whole; there are 16 digits for the file and 16 by chance between them."""
UNDER_WAY: set[Path] = set()
"""Files and folders that are being written and would be left behind by a process that ends at once."""
RENAMING = threading.Lock()
"""Held while files that belong together get their names: a process should not be ended just then."""
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EPERM, errno.EACCES)


class Replacing:
    """Files that are written under other names in the same folders, and get their own ones together when all are whole.

    What goes wrong before leaves all the old files; if a name cannot be given, those that were given are taken back. A process
    that is killed just between two renames leaves new files beside old ones, each of them whole.
    """

    def __init__(self) -> None:
        self._parts: list[_PartOnDisk | _PartAtUrl] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._appear()
        finally:
            for part in self._parts:
                part.close()

    @contextmanager
    def open(
        self,
        path: str | os.PathLike[str],
        *,
        follow: bool = True,
        announce: Callable[[dict[str, Any]], None] | None = None,
    ) -> Iterator[BinaryIO]:
        """A file to write into. A link is written through, as a shell does it; with ``follow`` false it is replaced.

        The mode and, where the system allows it, the owner of a file that is replaced are kept. ``announce`` is told when
        the file is whole by what it can be known again, for ``is_still``.
        """
        part = _PartAtUrl(os.fspath(path)) if is_url(path) else _PartOnDisk(path, follow=follow)
        self._parts.append(part)
        with part.blaming():
            yield part.create()
            part.finish()
            if announce is not None:
                announce(part.identify())

    def _appear(self) -> None:
        if len(self._parts) == 1:
            with self._parts[0].blaming():
                self._parts[0].appear()
        else:
            with RENAMING:
                self._appear_together()
        for folder in {part.folder for part in self._parts if part.folder is not None}:
            sync_folder(folder)

    def _appear_together(self) -> None:
        try:
            for part in self._parts:
                part.keep_old()
            for part in self._parts:
                with part.blaming():
                    part.appear()
        except BaseException:
            for part in self._parts:
                part.take_back()
            raise


@contextmanager
def replaced_file(
    path: str | os.PathLike[str], *, follow: bool = True, announce: Callable[[dict[str, Any]], None] | None = None
) -> Iterator[BinaryIO]:
    """A file to write into; renamed to ``path`` at the end, removed if anything goes wrong before. See ``Replacing.open``."""
    with Replacing() as files, files.open(path, follow=follow, announce=announce) as file:
        yield file


class _PartOnDisk:
    """A file of this machine that is not whole yet, locked so that others see that somebody is at it."""

    def __init__(self, path: str | os.PathLike[str], *, follow: bool) -> None:
        self.given, self.path = os.fspath(path), _real(path, follow=follow)
        self.folder = self.path.parent
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{self.folder}: no such folder; make it first")
        self.old = os.lstat(self.path) if os.path.lexists(self.path) else None
        if follow and self.old is not None and not stat.S_ISREG(self.old.st_mode):
            raise InputError(f"{self.given} is no ordinary file; give the name of one, or a new name")
        self._partial = self._backup = self._new_name()
        self._file: BinaryIO | None = None
        self._appeared = False
        if follow:  # folders of ours are cleaned once, when a run begins
            remove_leftovers(self.path)

    def _new_name(self) -> Path:
        return self.folder / f"{BEGIN}{_tag(self.path)}-{token_hex(8)}{PARTIAL}"

    @contextmanager
    def blaming(self) -> Iterator[None]:
        """Tell errors of the system with the name that was given, and not with one that nobody knows."""
        try:
            yield
        except OSError as error:
            if error.filename in (None, str(self._partial)):  # a full disk does not say which file it is about
                error.filename, error.filename2 = self.given, None
            raise

    def create(self) -> BinaryIO:
        mode = 0o666 if self.old is None else 0o600  # nobody may read a private file while it is written again
        while True:
            UNDER_WAY.add(self._partial)
            self._file = os.fdopen(os.open(self._partial, NEW, mode), "w+b")
            if self._is_claimed(self._file.fileno()):
                return self._file
            self.close()  # it was taken for a leftover before it was locked
            self._partial = self._new_name()

    def _is_claimed(self, file: int) -> bool:
        try:
            return try_lock(file) and os.path.samestat(os.fstat(file), os.lstat(self._partial))
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            return True

    def finish(self) -> None:
        """Force it to the disk, with the mode of the file whose place it takes."""
        assert self._file is not None
        self._file.flush()
        if self.old is not None and stat.S_ISREG(self.old.st_mode):
            _keep_owner(self._file.fileno(), self.old)
        os.fsync(self._file.fileno())
        if os.name == "nt":  # which renames no file that is open
            self._file.close()

    def identify(self) -> dict[str, Any]:
        return identify(os.fspath(self._partial), whole=True)

    def keep_old(self) -> None:
        """Give the old file a second name, where the file system can, so that it can be had back."""
        if self.old is not None:
            self._backup = self._new_name()
            UNDER_WAY.add(self._backup)
            with suppress(OSError, NotImplementedError):
                os.link(self.path, self._backup, follow_symlinks=False)

    def appear(self) -> None:
        os.replace(self._partial, self.path)
        self._appeared = True

    def take_back(self) -> None:
        if os.path.lexists(self._partial):  # it did not appear
            return
        with suppress(OSError):
            if self.old is None:
                os.unlink(self.path)
            elif self._backup != self._partial:
                os.replace(self._backup, self.path)

    def close(self) -> None:
        """Leave nothing behind but the file, if it has appeared."""
        for name in {self._partial, self._backup}:
            if not (self._appeared and name == self._partial):
                with suppress(OSError):  # what cannot be removed now is a leftover for the next run
                    os.unlink(name)
            UNDER_WAY.discard(name)
        if self._file is not None:
            with suppress(OSError):  # all that counts is on the disk, or another error is told
                self._file.close()


class _PartAtUrl:
    """A file elsewhere that is not whole yet."""

    folder = None  # nothing there can be forced to a disk

    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._path = locate(url)
        parent, _, name = self._path.rpartition("/")
        self._partial = f"{parent}/{BEGIN}{_tag(Path(name))}-{token_hex(8)}{PARTIAL}"
        self._file: BinaryIO | None = None
        self._appeared = False

    @contextmanager
    def blaming(self) -> Iterator[None]:
        yield  # each call to the other side tells of its own errors

    def create(self) -> BinaryIO:
        with reaching(self._url):
            self._file = self._system.open(self._partial, "wb")
            return self._file

    def finish(self) -> None:
        assert self._file is not None
        with reaching(self._url):
            self._file.close()

    def identify(self) -> dict[str, Any]:
        with reaching(self._url):
            return {"size": int(self._system.size(self._partial))}  # the time of a copy is its own

    def keep_old(self) -> None:
        """A copy of it would have to be fetched."""

    def appear(self) -> None:
        with reaching(self._url):
            self._system.mv(self._partial, self._path)
        self._appeared = True

    def take_back(self) -> None:
        """It cannot be: what was there is gone."""

    def close(self) -> None:
        if self._appeared:
            return
        with suppress(Exception):  # what went wrong is told by the error before
            if self._file is not None:
                self._file.close()
        with suppress(Exception):
            self._system.rm(self._partial)


@contextmanager
def npy_file(path: str | os.PathLike[str], shape: tuple[int, int], dtype: Any) -> Iterator[NDArray[Any]]:
    """A memory-mapped .npy to write into; renamed to ``path`` at the end, removed if anything goes wrong before.

    The space is reserved first: a full disk is an error here and not a crash in the middle.
    """
    array: NDArray[Any]
    with replaced_file(path) as file:
        described = {"descr": npy.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(file, described)
        file.flush()
        if 0 in shape:  # nothing to map
            yield np.empty(shape, dtype)
            return
        offset = file.tell()
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, offset + math.prod(shape) * np.dtype(dtype).itemsize)
        array = np.memmap(file, dtype, "r+", offset, shape)
        yield array
        array.flush()


def _keep_owner(file: int, old: os.stat_result) -> None:
    """Give a file the owner, the group and the mode of another, as far as the system allows it."""
    if os.name == "nt":
        return
    now = os.fstat(file)
    try:
        if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            with suppress(PermissionError):
                os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode) & 0o777)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, where the system can."""
    if os.name == "nt":
        return
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise OSError(error.errno, error.strerror, os.fspath(folder)) from None


def _real(path: str | os.PathLike[str], *, follow: bool) -> Path:
    """Where a file is once links are followed: all of them, or only those of its folder."""
    given = os.path.abspath(path)
    real = (
        os.path.realpath(given) if follow else os.path.join(os.path.realpath(os.path.dirname(given)), os.path.basename(given))
    )
    if follow and os.path.islink(real):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return Path(real)


def _tag(path: Path) -> str:
    """16 digits for a name: names of any length have temporary ones, and a run knows those of its own files."""
    return sha256(os.fsencode(path.name)).hexdigest()[:16]


def remove_leftovers(*paths: str | os.PathLike[str]) -> None:
    """Remove what processes that no longer run have left of these files: it can be as large as the files."""
    tags: dict[Path, set[str]] = {}
    for path in paths:
        real = Path(path if is_url(path) else os.path.realpath(path))
        tags.setdefault(real.parent, set()).add(_tag(real))
    for folder, wanted in tags.items():
        clear_leftovers(folder, wanted)


def clear_leftovers(folder: str | os.PathLike[str], tags: set[str] | None = None) -> None:
    """Remove what processes that no longer run have left in a folder of ours; with ``tags`` only of these files."""
    with suppress(OSError), os.scandir(folder) as entries:  # none, or none that may be looked at
        for entry in entries:
            begin, end = entry.name.startswith(BEGIN), entry.name.endswith(PARTIAL)
            if begin and end and (tags is None or entry.name[len(BEGIN) :].split("-")[0] in tags):
                with suppress(OSError):
                    _remove_if_dead(entry.path)


def _remove_if_dead(partial: str) -> None:
    """Remove a file that nobody holds locked; a link, a folder or a device is none of ours."""
    if not stat.S_ISREG(os.lstat(partial).st_mode):
        return
    if os.name == "nt":
        os.unlink(partial)  # which fails while it is open anywhere
        return
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(partial, os.O_RDWR | flags)
    except PermissionError:
        file = os.open(partial, os.O_RDONLY | flags)
    try:
        if try_lock(file):
            os.unlink(partial)
    finally:
        os.close(file)


def try_lock(file: int) -> bool:
    """Whether the lock could be had. Not by POSIX locks: those are lost when the process reads and closes the file anywhere."""
    try:
        if sys.platform == "win32":
            os.lseek(file, 1 << 20, os.SEEK_SET)  # any byte would do, if everybody takes the same
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
    """A fork writes none of the files of its parent."""
    global RENAMING
    RENAMING = threading.Lock()
    UNDER_WAY.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
