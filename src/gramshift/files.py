"""Files on a disk or, through fsspec, at a URL, which appear only when they are complete."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import glob
from hashlib import file_digest
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, Self

import numpy as np

from gramshift.errors import GramshiftError, InputError, MissingPackageError

CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
UNFINISHED: set[Path] = set()
"""Files and folders that a process must remove before it exits in the middle of its work."""


def is_url(name: str | os.PathLike[str]) -> bool:
    """Return True for a URL such as s3://bucket/parts/a.jsonl, False for a path on this machine."""
    return "://" in os.fspath(name)


class LocalDisk:
    """The file system of this machine, with those methods of fsspec's file systems that we use."""

    isfile = staticmethod(os.path.isfile)
    isdir = staticmethod(os.path.isdir)
    exists = staticmethod(os.path.lexists)
    makedirs = staticmethod(os.makedirs)

    def ls(self, path: str, detail: bool = False) -> list[str]:
        """Return the paths in a folder."""
        return [os.path.join(path, name) for name in os.listdir(path)]

    def glob(self, path: str) -> list[str]:
        """Return the paths that match a pattern."""
        return glob(path, recursive=True)

    def unstrip_protocol(self, path: str) -> str:
        """Return the path itself: it has no protocol."""
        return path


def locate(name: str) -> tuple[Any, str]:
    """Return the file system of a path or URL, and the path in it."""
    if not is_url(name):
        return LocalDisk(), name
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        raise MissingPackageError(
            f"{name}: files at a URL are read and written through fsspec, which is not installed: "
            "pip install fsspec",
            name="fsspec",
        ) from None
    with naming_url(name):
        system, path = url_to_fs(name)
    return system, path


@contextmanager
def naming_url(name: str) -> Iterator[None]:
    """Turn errors of a remote file system, of any class, into one line that names the URL."""
    try:
        yield
    except GramshiftError:
        raise
    except Exception as error:
        if not is_url(name):
            raise
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(f"{name}: there is no such file") from None
        if isinstance(error, ImportError):
            raise MissingPackageError(f"{name}: {error}", name=error.name) from None
        if isinstance(error, OSError):
            kind = PermissionError if isinstance(error, PermissionError) else OSError
            raise kind(f"{name}: {error.strerror or error}") from None
        raise InputError(
            f"{name} cannot be reached: {str(error) or type(error).__name__}"
        ) from None


def identify(name: str, *, digest: bool = False) -> dict[str, Any]:
    """Return the size and time of a file, for ``is_unchanged``, and on a disk also its digest."""
    if is_url(name):
        system, path = locate(name)
        with naming_url(name):
            system.invalidate_cache(path.rpartition("/")[0])
            return {"size": int(system.size(path)), "modified": str(system.ukey(path))}
    if os.path.isdir(name):
        inside = [path.stat() for path in Path(name).rglob("*") if path.exists()]
        inside.append(os.stat(name))  # renaming or removing a file changes the time of its folder
        size = sum(about.st_size for about in inside)
        return {"size": size, "modified": max(about.st_mtime_ns for about in inside)}
    about = os.stat(name)
    identity: dict[str, Any] = {"size": about.st_size, "modified": about.st_mtime_ns}
    if digest:
        with open(name, "rb") as file:
            identity["digest"] = file_digest(file, "sha256").hexdigest()
    return identity


def is_unchanged(name: str, before: dict[str, Any]) -> bool:
    """Return True if a file has the size and time of ``before``, or the same digest.

    The time of a file that was moved to a URL is not known before, so that its size must do.
    """
    now = identify(name)
    if now["size"] != before.get("size"):
        return False
    if now["modified"] == before.get("modified") or (is_url(name) and "modified" not in before):
        return True
    return "digest" in before and identify(name, digest=True).get("digest") == before["digest"]


def check_flag(name: str, value: Any) -> bool:
    """Return a parameter as True or False, or raise an error if it is another value."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}={value!r}: give True or False")
    return bool(value)


def check_overwrite(path: Any, *, overwrite: bool) -> None:
    """Raise an error if a path is that of a file, unless it may be replaced."""
    if check_flag("overwrite", overwrite) or not isinstance(path, str | os.PathLike):
        return
    name = os.fspath(path)
    system, place = locate(name)
    with naming_url(name):
        exists = system.isfile(place)
    if exists:
        raise InputError(f"{name} exists; give another name, or overwrite=True to replace it")


def partial_name() -> str:
    """Return a new name for an incomplete file; only a run that is killed leaves it behind."""
    return f".gramshift-{token_hex(8)}.partial"


class Replacing:
    """Files that are written under temporary names and renamed when all of them are complete.

    After an error the old files are unchanged. A process that is killed between two renames
    leaves new files next to old ones, each of them complete.
    """

    def __init__(self) -> None:
        self._parts: list[_LocalPart | _RemotePart] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                for part in self._parts:
                    part.rename()
                for part in self._parts:
                    part.sync_name()
        finally:
            for part in self._parts:
                part.close()

    @contextmanager
    def open(self, path: str | os.PathLike[str], *, follow: bool = True) -> Iterator[BinaryIO]:
        """Open a file to write. A link is followed, or with ``follow=False`` replaced.

        The mode and, where the system allows it, the owner of a replaced file are kept.
        """
        name = os.fspath(path)
        part = _RemotePart(name) if is_url(name) else _LocalPart(name, follow=follow)
        self._parts.append(part)
        with part.writing() as file:
            yield file

    def identify(self) -> dict[str, Any]:
        """Identify the one complete file for ``is_unchanged`` before it is renamed."""
        (part,) = self._parts
        return part.identify()


@contextmanager
def replaced_file(path: str | os.PathLike[str], *, follow: bool = True) -> Iterator[BinaryIO]:
    """Open a file that gets its name when it is complete; see ``Replacing.open``."""
    with Replacing() as files, files.open(path, follow=follow) as file:
        yield file


class _LocalPart:
    """An incomplete file on a disk."""

    _file: BinaryIO | None = None

    def __init__(self, name: str, *, follow: bool) -> None:
        path = Path(os.path.abspath(name))
        folder = Path(os.path.realpath(path.parent))
        self._name = name
        self._path = Path(os.path.realpath(path)) if follow else folder / path.name
        if follow and self._path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        if not self._path.parent.is_dir():
            raise FileNotFoundError(f"{self._path.parent}: no such folder; make it first")
        self._old = self._path.lstat() if os.path.lexists(self._path) else None
        if follow and self._old is not None and not stat.S_ISREG(self._old.st_mode):
            raise InputError(f"{name} is not an ordinary file; give the name of one, or a new name")
        self._partial = self._path.with_name(partial_name())

    @contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        """Open the file, then force it to the disk with the owner and mode of the one it replaces.

        The latter may be private.
        """
        mode = 0o666 if self._old is None else 0o600
        with self._naming_errors():
            UNFINISHED.add(self._partial)
            self._file = os.fdopen(os.open(self._partial, CREATE, mode), "w+b")
            yield self._file
            self._file.flush()
            if self._old is not None and stat.S_ISREG(self._old.st_mode) and os.name != "nt":
                with suppress(OSError):
                    os.fchown(self._file.fileno(), self._old.st_uid, self._old.st_gid)
                with suppress(OSError):
                    os.fchmod(self._file.fileno(), stat.S_IMODE(self._old.st_mode) & 0o777)
            os.fsync(self._file.fileno())
            self._file.close()

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        """Put the name that the user has given into errors of the system."""
        try:
            yield
        except OSError as error:
            if error.filename in (None, str(self._partial)):  # a full disk names no file
                error.filename, error.filename2 = self._name, None
            raise

    def identify(self) -> dict[str, Any]:
        return identify(os.fspath(self._partial), digest=True)

    def rename(self) -> None:
        with self._naming_errors():
            os.replace(self._partial, self._path)
        UNFINISHED.discard(self._partial)

    def sync_name(self) -> None:
        """Write the new name to disk, where folders can be synced: a power cut does not undo it."""
        with suppress(OSError):
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def close(self) -> None:
        """Remove the file unless it was renamed."""
        with suppress(OSError):  # an earlier error is the one to raise
            if self._file is not None:
                self._file.close()
        if self._partial in UNFINISHED:
            with suppress(OSError):
                self._partial.unlink()
            UNFINISHED.discard(self._partial)


class _RemotePart:
    """An incomplete file at a URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._path = locate(url)
        self._partial = f"{self._path.rpartition('/')[0]}/{partial_name()}"
        self._file: BinaryIO | None = None
        self._is_renamed = False

    @contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        """Open the file; only errors of opening and closing are about it."""
        with naming_url(self._url):
            self._file = file = self._system.open(self._partial, "wb")
        yield file
        with naming_url(self._url):
            file.close()

    def identify(self) -> dict[str, Any]:
        with naming_url(self._url):
            return {"size": int(self._system.size(self._partial))}  # a rename changes the time

    def rename(self) -> None:
        with naming_url(self._url):
            self._system.mv(self._partial, self._path)
        self._is_renamed = True

    def sync_name(self) -> None:
        """Do nothing: an object store has no folders to sync."""

    def close(self) -> None:
        """Remove the file unless it was renamed."""
        if self._is_renamed:
            return
        with suppress(Exception):  # an earlier error is the one to raise
            if self._file is not None:
                self._file.close()
        with suppress(Exception):
            self._system.rm(self._partial)
