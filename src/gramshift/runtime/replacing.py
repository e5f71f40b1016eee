"""Files that appear under their name only when they are complete, alone or several together, on a disk or at a URL."""

import errno
import math
import os
import stat
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

try:
    import fcntl
except ModuleNotFoundError:  # on Windows, where a file that is open can neither be removed nor renamed
    fcntl = None  # type: ignore[assignment]

NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
BEGIN, PARTIAL = ".gramshift-", ".partial"
"""How the names of incomplete files begin and end; between them are 16 digits of the file's name and 16 random ones."""
UNDER_WAY: set[Path] = set()
"""Files and folders that are being written and would be left behind by a process that ends at once."""
UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK, errno.EPERM, errno.EACCES)


class Replacing:
    """Files that are written under temporary names in their folders, and renamed one after another when all are complete.

    After an error before that, the old files are unchanged. A process that is killed between two renames leaves new files
    next to old ones, each of them complete.
    """

    def __init__(self) -> None:
        self._parts: list[_PartOnDisk | _PartAtUrl] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                for part in self._parts:
                    part.appear()
                for folder in {part.folder for part in self._parts if isinstance(part, _PartOnDisk)}:
                    sync_folder(folder)
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
        """Open a file to write into. A link is written through, as a shell does it; with ``follow`` false it is replaced.

        The mode and, where the system allows it, the owner of a file that is replaced are kept. ``announce`` is called when
        the file is complete with what identifies it, for ``is_still``.
        """
        part = _PartAtUrl(os.fspath(path)) if is_url(path) else _PartOnDisk(path, follow=follow)
        self._parts.append(part)
        with part.naming_errors():
            yield part.create()
            part.finish()
            if announce is not None:
                announce(part.identify())


@contextmanager
def replaced_file(
    path: str | os.PathLike[str], *, follow: bool = True, announce: Callable[[dict[str, Any]], None] | None = None
) -> Iterator[BinaryIO]:
    """Open a file that is renamed to ``path`` at the end, and removed if there is an error. See ``Replacing.open``."""
    with Replacing() as files, files.open(path, follow=follow, announce=announce) as file:
        yield file


class _PartOnDisk:
    """An incomplete file on this machine, locked so that other processes do not take it for abandoned."""

    def __init__(self, path: str | os.PathLike[str], *, follow: bool) -> None:
        self._given, self._path = os.fspath(path), _real(path, follow=follow)
        self.folder = self._path.parent
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{self.folder}: no such folder; make it first")
        self._old = os.lstat(self._path) if os.path.lexists(self._path) else None
        if follow and self._old is not None and not stat.S_ISREG(self._old.st_mode):
            raise InputError(f"{self._given} is no ordinary file; give the name of one, or a new name")
        self._partial = self.folder
        self._file: BinaryIO | None = None
        self._appeared = False
        if follow:  # folders of results are cleaned once, when a run begins
            remove_leftovers(self._path)

    @contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Give errors of the system the name that the user has given."""
        try:
            yield
        except OSError as error:
            if error.filename in (None, str(self._partial)):  # a full disk does not say which file it is about
                error.filename, error.filename2 = self._given, None
            raise

    def create(self) -> BinaryIO:
        mode = 0o666 if self._old is None else 0o600  # nobody may read a private file while it is written again
        while self._file is None or not _lock(self._file.fileno(), self._partial):  # else it was taken for abandoned: again
            self.close()
            self._partial = self.folder / f"{BEGIN}{_tag(self._path)}-{token_hex(8)}{PARTIAL}"
            UNDER_WAY.add(self._partial)
            self._file = os.fdopen(os.open(self._partial, NEW, mode), "w+b")
        return self._file

    def finish(self) -> None:
        """Force the file to the disk, with the mode of the file that it replaces."""
        assert self._file is not None
        self._file.flush()
        if self._old is not None and stat.S_ISREG(self._old.st_mode):
            _keep_owner(self._file.fileno(), self._old)
        os.fsync(self._file.fileno())
        if os.name == "nt":
            self._file.close()

    def identify(self) -> dict[str, Any]:
        return identify(os.fspath(self._partial), whole=True)

    def appear(self) -> None:
        with self.naming_errors():
            os.replace(self._partial, self._path)
        self._appeared = True

    def close(self) -> None:
        if self._file is None:
            return
        if not self._appeared:
            with suppress(OSError):  # what cannot be removed now is removed by the next run
                os.unlink(self._partial)
        UNDER_WAY.discard(self._partial)
        with suppress(OSError):  # all that counts is on the disk, or another error is raised
            self._file.close()


class _PartAtUrl:
    """An incomplete file at a URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._path = locate(url)
        parent, _, name = self._path.rpartition("/")
        self._partial = f"{parent}/{BEGIN}{_tag(Path(name))}-{token_hex(8)}{PARTIAL}"
        self._file: BinaryIO | None = None
        self._appeared = False

    @contextmanager
    def naming_errors(self) -> Iterator[None]:
        yield  # each call to the store names its own errors

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

    def appear(self) -> None:
        with reaching(self._url):
            self._system.mv(self._partial, self._path)
        self._appeared = True

    def close(self) -> None:
        if self._appeared:
            return
        with suppress(Exception):  # the error before says what went wrong
            if self._file is not None:
                self._file.close()
        with suppress(Exception):
            self._system.rm(self._partial)


@contextmanager
def npy_file(path: str | os.PathLike[str], shape: tuple[int, int], dtype: Any) -> Iterator[NDArray[Any]]:
    """Open a memory-mapped .npy file that is renamed to ``path`` at the end, and removed if there is an error.

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
    """Return where a file is once links are followed: all of them, or only those of its folder."""
    given = os.path.abspath(path)
    real = (
        os.path.realpath(given) if follow else os.path.join(os.path.realpath(os.path.dirname(given)), os.path.basename(given))
    )
    if follow and os.path.islink(real):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return Path(real)


def _tag(path: Path) -> str:
    """Return 16 digits for a name: names of any length have temporary ones, and a run knows those of its own files."""
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
    """Remove a file that no process has locked; a link, a folder or a device is none of ours."""
    if not stat.S_ISREG(os.lstat(partial).st_mode):
        return
    if fcntl is None:
        os.unlink(partial)  # which fails while it is open anywhere
        return
    with open(partial, "r+b") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(partial)


def _lock(file: int, path: Path) -> bool:
    """Lock a new file; return False if another process has taken it for abandoned before that."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        return True
