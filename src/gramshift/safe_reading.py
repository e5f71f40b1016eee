"""Safe reading of files that Gramshift has written: regular, of limited size and depth."""

import errno
import json
import os
import stat
from io import BufferedReader
from typing import Any

from gramshift.errors import InputError

MEGABYTE = 10**6
MAX_DEPTH = 20  # of nested lists; our files have 5
KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a link",
}


class NotRegularError(InputError):
    """A pipe, a device, a socket or a link in place of a regular file."""


class NotJSONError(InputError):
    """A file of ours that is not the JSON that it should be."""


def open_regular(path: str | os.PathLike[str], *, follow: bool = False) -> BufferedReader:
    """Open a regular file for reading, without waiting for the other end of a pipe.

    Files that users name may be links (``follow``); in folders of ours there are none. The kind
    of a file is checked before it is opened, because opening a device can have effects.
    """
    before = (os.stat if follow else os.lstat)(path)
    if stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(before.st_mode):
        kind = KINDS.get(stat.S_IFMT(before.st_mode), "no file")
        raise NotRegularError(f"{os.fspath(path)} is {kind}; it should be a regular file")
    flags = os.O_RDONLY
    for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not os.path.samestat(before, os.fstat(file.fileno())):
        file.close()
        raise NotRegularError(f"{os.fspath(path)} was replaced while it was opened; try again")
    return file


def read_regular(path: str | os.PathLike[str], *, most: int, follow: bool = False) -> bytes:
    """Read a regular file of at most ``most`` bytes."""
    with open_regular(path, follow=follow) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"{os.fspath(path)} has more than {most} bytes, too many for such a file")
    return data


def parse_json(data: bytes, *, deepest: int = MAX_DEPTH) -> Any:
    """Parse JSON; raise a NotJSONError if it is invalid or nested deeper than ``deepest``."""
    try:
        value = json.loads(data)
    except RecursionError:
        raise NotJSONError("it is nested too deep") from None
    except ValueError as error:  # no UTF-8, no JSON, or a number with too many digits
        raise NotJSONError(f"it is not JSON ({error})") from None
    layer = [value]
    for _ in range(deepest):
        layer = [one for each in layer for one in _items(each) if isinstance(one, (dict, list))]
        if not layer:
            return value
    raise NotJSONError(f"it is nested more than {deepest} deep")


def _items(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def read_json(path: str | os.PathLike[str], *, most: int = 10 * MEGABYTE) -> Any:
    """Read a JSON file in a folder of ours; raise an InputError if we cannot have written it."""
    data = read_regular(path, most=most)
    try:
        return parse_json(data)
    except NotJSONError as error:
        raise NotJSONError(f"{os.fspath(path)} cannot be read: {error}") from None
