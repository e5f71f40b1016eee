"""Files that appear under their name only when they are complete, on a disk or, by fsspec, at a URL."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import glob
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import psutil
from numpy.lib import format as npy
from numpy.typing import NDArray

from gramshift.errors import GramshiftError, InputError, MissingPackageError

UNDER_WAY: set[Path] = set()
"""Files and folders that are being written and would be left behind by a process that ends at once."""


@contextmanager
def replaced_file(
    path: str | os.PathLike[str], *, announce: Callable[[dict[str, Any]], None] | None = None
) -> Iterator[BinaryIO]:
    """A file to write into; renamed to ``path`` at the end, removed if anything goes wrong before.

    ``announce`` is told just before the file appears by what it can be known again, for ``is_still``.
    """
    if is_url(path):
        with _replaced_at_url(os.fspath(path), announce) as remote:
            yield remote
        return
    path = Path(path)
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path.absolute().parent}: no such folder; make it first")
    with _partial(path) as partial:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if announce is not None:
            announce(identify(os.fspath(partial), whole=True))
        os.replace(partial, path)


def is_url(name: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a file elsewhere, such as s3://bucket/parts/a.jsonl, and not on a disk of this machine."""
    return "://" in os.fspath(name)


class Disk:
    """What we ask a file system, by the names that fsspec has for it, of this machine's own."""

    isfile, isdir, exists = staticmethod(os.path.isfile), staticmethod(os.path.isdir), staticmethod(os.path.lexists)
    makedirs = staticmethod(os.makedirs)

    def ls(self, path: str, detail: bool = False) -> list[str]:
        return [os.path.join(path, name) for name in os.listdir(path)]

    def glob(self, path: str) -> list[str]:
        return glob(path, recursive=True)

    def unstrip_protocol(self, path: str) -> str:
        return path


def locate(url: str) -> tuple[Any, str]:
    """The file system of a name, as fsspec has it, and the path there."""
    if not is_url(url):
        return Disk(), url
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        words = f"{url}: files elsewhere are read and written through fsspec, which is not installed: pip install fsspec"
        raise MissingPackageError(words, name="fsspec") from None
    with reaching(url):
        system, path = url_to_fs(url)
    return system, path


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Tell the errors of file systems elsewhere, which have classes of their own, in one line that begins with the URL."""
    try:
        yield
    except GramshiftError:
        raise
    except Exception as error:
        if not is_url(url):
            raise
        raise _in_words(url, error) from None


def _in_words(url: str, error: Exception) -> Exception:
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(f"{url}: there is no such file")
    if isinstance(error, ImportError):
        return MissingPackageError(f"{url}: {error}", name=error.name)
    if isinstance(error, OSError):
        return (PermissionError if isinstance(error, PermissionError) else OSError)(f"{url}: {error.strerror or error}")
    return InputError(f"{url} cannot be reached: {str(error) or type(error).__name__}")


@contextmanager
def _replaced_at_url(url: str, announce: Callable[[dict[str, Any]], None] | None) -> Iterator[BinaryIO]:
    system, path = locate(url)
    parent, _, name = path.rpartition("/")
    partial = f"{parent}/.{name}.{os.getpid()}-{threading.get_ident()}.partial"
    try:
        with reaching(url):
            file = system.open(partial, "wb")
        with file:
            yield file
        with reaching(url):
            if announce is not None:
                announce({"size": int(system.size(partial))})  # the time of a copy is its own
            system.mv(partial, path)
    except BaseException:
        with suppress(Exception):  # what went wrong is told by the error before
            system.rm(partial)
        raise


def identify(name: str, *, whole: bool = False) -> dict[str, Any]:
    """What tells whether a file has changed: its size and when that was; ``whole`` also the sha256 of a file on a disk."""
    if is_url(name):
        system, path = locate(name)
        with reaching(name):
            system.invalidate_cache(path.rpartition("/")[0])
            return {"size": int(system.size(path)), "modified": str(system.ukey(path))}
    if os.path.isdir(name):
        inside = sorted((os.fspath(path), path.stat()) for path in Path(name).rglob("*") if path.is_file())
        times = json.dumps([[path, about.st_size, about.st_mtime_ns] for path, about in inside]).encode()
        return {"size": sum(about.st_size for _, about in inside), "modified": sha256(times).hexdigest()}
    about = os.stat(name)
    known: dict[str, Any] = {"size": about.st_size, "modified": about.st_mtime_ns}
    if whole:
        with open(name, "rb") as file:
            known["digest"] = file_digest(file, "sha256").hexdigest()
    return known


def is_still(name: str, known: dict[str, Any]) -> bool:
    """Whether a file is what ``identify`` once said of it: of the same size and time, or at another time of the same content.

    Where no time is known, as of files that were moved to a URL, the size must do.
    """
    now = identify(name)
    if now["size"] != known.get("size"):
        return False
    if now["modified"] == known.get("modified") or (is_url(name) and "modified" not in known):
        return True
    return "digest" in known and identify(name, whole=True).get("digest") == known["digest"]


@contextmanager
def _partial(path: Path) -> Iterator[Path]:
    """Another name in the same folder, unlike that of any other process or thread; no file of that name is left."""
    partial = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.partial")
    UNDER_WAY.add(partial)
    try:
        yield partial
    except OSError as error:
        if error.filename in (None, str(partial)):  # a full disk does not say which file it is about
            error.filename = str(path)
        raise
    finally:
        partial.unlink(missing_ok=True)
        UNDER_WAY.discard(partial)


def remove_leftovers(*paths: str | os.PathLike[str]) -> None:
    """Remove what processes that no longer run have left of these files: it can be as large as the files."""
    names: dict[Path, set[str]] = {}
    for path in map(Path, paths):
        names.setdefault(path.parent, set()).add(path.name)
    for folder, wanted in names.items():
        for partial in folder.glob(".*.partial"):
            name, _, process = partial.name[1:].removesuffix(".partial").rpartition(".")
            pid = process.split("-")[0]
            if name in wanted and pid.isdecimal() and not psutil.pid_exists(int(pid)):
                partial.unlink(missing_ok=True)


@contextmanager
def npy_file(path: str | os.PathLike[str], shape: tuple[int, int], dtype: Any) -> Iterator[NDArray[Any]]:
    """A memory-mapped .npy to write into; renamed to ``path`` at the end, removed if anything goes wrong before.

    The space is reserved first: a full disk is an error here and not a crash in the middle.
    """
    path = Path(path)
    with _partial(path) as partial:
        if 0 in shape:  # nothing to map
            array = np.empty(shape, dtype)
            with partial.open("wb") as file:
                npy.write_array(file, array)
            yield array
        else:
            array = npy.open_memmap(partial, mode="w+", dtype=dtype, shape=shape)
            if hasattr(os, "posix_fallocate"):
                with partial.open("r+b") as file:
                    os.posix_fallocate(file.fileno(), 0, partial.stat().st_size)
            yield array
            array.flush()
        os.replace(partial, path)
