"""The door through which files of ours come back: regular files alone, no larger than they can be; JSON that is not deep."""

import errno
import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

from gramshift.errors import InputError

MEGABYTE = 10**6
DEEPEST = 20  # lists in lists; what we write has 5
KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a link",
}


class NotRegularError(InputError):
    """What has the name of a file of ours is a pipe, a device, a socket or a link."""


class NotJSONError(InputError):
    """A file of ours should hold JSON and does not."""


def open_regular(path: str | os.PathLike[str], *, follow: bool = False) -> BufferedReader:
    """Open a file to read if it is a regular one, without waiting for the other end of a pipe.

    Files that users name may be links (``follow``); in folders of ours there are none.
    """
    _check_kind(path, (os.stat if follow else os.lstat)(path))  # before it is opened: that alone can do something to a device
    flags = os.O_RDONLY
    for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY", *(() if follow else ("O_NOFOLLOW",))):
        flags |= getattr(os, name, 0)
    try:
        file = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise NotRegularError(f"{os.fspath(path)} is a link; it should be a regular file") from None
        raise
    try:
        _check_kind(path, os.fstat(file))  # what was looked at before may have been replaced
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


def _check_kind(path: str | os.PathLike[str], found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(found.st_mode):
        kind = KINDS.get(stat.S_IFMT(found.st_mode), "no file")
        raise NotRegularError(f"{os.fspath(path)} is {kind}; it should be a regular file")


def size_of(file: BufferedReader) -> int:
    """Bytes of an open file."""
    return os.fstat(file.fileno()).st_size


def read_regular(path: str | os.PathLike[str], *, most: int, follow: bool = False) -> bytes:
    """All bytes of a regular file; an error if there are more than ``most``."""
    with open_regular(path, follow=follow) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"{os.fspath(path)} has more than {most} bytes, which no such file of ours has")
    return data


def parse_json(data: bytes, *, deepest: int = DEEPEST) -> Any:
    """What JSON says, if it is not nested deeper than that; else a NotJSONError."""
    try:
        value = json.loads(data)
    except RecursionError:
        raise NotJSONError("it is nested too deep") from None
    except ValueError as error:  # no UTF-8, no JSON, or a number of more digits than Python reads
        raise NotJSONError(f"it is not JSON ({error})") from None
    layer = [value]
    for _ in range(deepest):
        layer = [one for each in layer for one in _inside(each) if isinstance(one, (dict, list))]
        if not layer:
            return value
    raise NotJSONError(f"it is nested more than {deepest} deep")


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def read_json(path: str | os.PathLike[str], *, most: int = 10 * MEGABYTE) -> Any:
    """What a JSON file in a folder of ours says; an InputError if it is not one that we can have written."""
    data = read_regular(Path(path), most=most)
    try:
        return parse_json(data)
    except NotJSONError as error:
        raise NotJSONError(f"{os.fspath(path)} cannot be read: {error}") from None
