"""Where files are, on a disk or, by fsspec, at a URL; and whether one is still what it was."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from gramshift.errors import GramshiftError, InputError, MissingPackageError


def is_url(name: str | os.PathLike[str]) -> bool:
    """Return True for the name of a file elsewhere, such as s3://bucket/parts/a.jsonl, and not on a disk of this machine."""
    return "://" in os.fspath(name)


class Disk:
    """This machine's own file system, by the names that fsspec has for what we ask of one."""

    isfile, isdir, exists = staticmethod(os.path.isfile), staticmethod(os.path.isdir), staticmethod(os.path.lexists)
    makedirs = staticmethod(os.makedirs)

    def ls(self, path: str, detail: bool = False) -> list[str]:
        return [os.path.join(path, name) for name in os.listdir(path)]

    def glob(self, path: str) -> list[str]:
        return glob(path, recursive=True)

    def unstrip_protocol(self, path: str) -> str:
        return path


def locate(url: str) -> tuple[Any, str]:
    """Return the file system of a name, as fsspec has it, and the path there."""
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
    """Raise errors of file systems elsewhere, which have classes of their own, as one line that begins with the URL."""
    try:
        yield
    except GramshiftError:
        raise
    except Exception as error:
        if not is_url(url):
            raise
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(f"{url}: there is no such file") from None
        if isinstance(error, ImportError):
            raise MissingPackageError(f"{url}: {error}", name=error.name) from None
        if isinstance(error, OSError):
            kind = PermissionError if isinstance(error, PermissionError) else OSError
            raise kind(f"{url}: {error.strerror or error}") from None
        raise InputError(f"{url} cannot be reached: {str(error) or type(error).__name__}") from None


def identify(name: str, *, whole: bool = False) -> dict[str, Any]:
    """Return the size and time of a file, to find out later if it has changed; ``whole`` also its sha256, if on a disk."""
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
    """Return True if ``identify`` gives the same size and time as ``known``, or at another time the same content.

    Where no time is known, as of files that were moved to a URL, the size must do.
    """
    now = identify(name)
    if now["size"] != known.get("size"):
        return False
    if now["modified"] == known.get("modified") or (is_url(name) and "modified" not in known):
        return True
    return "digest" in known and identify(name, whole=True).get("digest") == known["digest"]
