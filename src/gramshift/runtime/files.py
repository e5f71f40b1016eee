"""Files that appear under their name only when they are complete, alone or several together, on a disk or at a URL."""

import errno
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.runtime.storage import identify, is_url, locate, reaching

CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EPERM, errno.EACCES)
UNDER_WAY: set[Path] = set()
"""Files and folders that are being written and would be left behind by a process that ends at once."""


def partial_name() -> str:
    """Return a new name for an incomplete file; a run that is killed leaves it behind, and nothing depends on it."""
    return f".gramshift-{token_hex(8)}.partial"


class Replacing:
    """Files that are written under temporary names in their folders, and renamed one after another when all are complete.

    After an error before that, the old files are unchanged. A process that is killed between two renames leaves new files
    next to old ones, each of them complete.
    """

    def __init__(self) -> None:
        self.parts: list[_PartOnDisk | _PartAtUrl] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                for part in self.parts:
                    part.appear()
                for folder in {part.folder for part in self.parts if isinstance(part, _PartOnDisk)}:
                    sync_folder(folder)
        finally:
            for part in self.parts:
                part.close()

    @contextmanager
    def open(self, path: str | os.PathLike[str], *, follow: bool = True) -> Iterator[BinaryIO]:
        """Open a file to write into. A link is followed, as a shell does it; with ``follow`` false it is replaced.

        The mode and, where the system allows it, the owner of a file that is replaced are kept.
        """
        part = _PartAtUrl(os.fspath(path)) if is_url(path) else _PartOnDisk(path, follow=follow)
        self.parts.append(part)
        with part.naming_errors():
            yield part.create()
            part.finish()


@contextmanager
def replaced_file(path: str | os.PathLike[str], *, follow: bool = True) -> Iterator[BinaryIO]:
    """Open a file that is renamed to ``path`` at the end, and removed if there is an error. See ``Replacing.open``."""
    with Replacing() as files, files.open(path, follow=follow) as file:
        yield file


class _PartOnDisk:
    """An incomplete file on this machine."""

    def __init__(self, path: str | os.PathLike[str], *, follow: bool) -> None:
        self._given, self._path = os.fspath(path), Path(os.path.abspath(path))
        self._path = Path(os.path.realpath(path)) if follow else Path(os.path.realpath(self._path.parent), self._path.name)
        self.folder = self._path.parent
        if follow and self._path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._given)
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{self.folder}: no such folder; make it first")
        self._old = self._path.lstat() if os.path.lexists(self._path) else None
        if follow and self._old is not None and not stat.S_ISREG(self._old.st_mode):
            raise InputError(f"{self._given} is no ordinary file; give the name of one, or a new name")
        self._partial = self.folder / partial_name()
        self._file: BinaryIO | None = None

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
        UNDER_WAY.add(self._partial)
        self._file = os.fdopen(os.open(self._partial, CREATE, mode), "w+b")
        return self._file

    def finish(self) -> None:
        """Force the file to the disk, with the owner and the mode of the file that it replaces, where the system allows it."""
        assert self._file is not None
        self._file.flush()
        if self._old is not None and stat.S_ISREG(self._old.st_mode) and os.name != "nt":
            with suppress(OSError):
                os.fchown(self._file.fileno(), self._old.st_uid, self._old.st_gid)
            with suppress(OSError):
                os.fchmod(self._file.fileno(), stat.S_IMODE(self._old.st_mode) & 0o777)
        os.fsync(self._file.fileno())
        self._file.close()

    def identify(self) -> dict[str, Any]:
        """Identify the finished file for ``is_still``."""
        return identify(os.fspath(self._partial), whole=True)

    def appear(self) -> None:
        with self.naming_errors():
            os.replace(self._partial, self._path)
        UNDER_WAY.discard(self._partial)

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # another error is raised, or the file is on the disk
                self._file.close()
        if self._partial in UNDER_WAY:
            with suppress(OSError):
                self._partial.unlink()
            UNDER_WAY.discard(self._partial)


class _PartAtUrl:
    """An incomplete file at a URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._path = locate(url)
        self._partial = f"{self._path.rpartition('/')[0]}/{partial_name()}"
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


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, where the system can."""
    if os.name == "nt":
        return
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise OSError(error.errno, error.strerror, os.fspath(folder)) from None
