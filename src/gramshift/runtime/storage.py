"""Arrays on disk that appear under their name only when they are complete."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import psutil
from numpy.lib import format as npy
from numpy.typing import NDArray

UNDER_WAY: set[Path] = set()
"""Files and folders that are being written and would be left behind by a process that ends at once."""


@contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write into; renamed to ``path`` at the end, removed if anything goes wrong before."""
    path = Path(path)
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path.absolute().parent}: no such folder; make it first")
    with _partial(path) as partial:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)


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


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove what processes that no longer run have left of this file: it can be as large as the file."""
    path = Path(path)
    for partial in path.parent.glob(f".{escape(path.name)}.*.partial"):
        pid = partial.name.removeprefix(f".{path.name}.").split("-")[0]
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
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
