"""Files to be written: checked before any work, whole or not there at all."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from gramshift.errors import InputError
from gramshift.runtime.storage import replaced_file

STANDARD = "-"


def check_outputs(outputs: dict[str, str | None], inputs: list[str], *, force: bool) -> None:
    """Refuse now what would fail later; ``outputs`` are file names by their option."""
    named = {option: name for option, name in outputs.items() if name is not None}
    for option, name in named.items():
        if name == STANDARD:
            continue
        path = Path(name)
        twin = next((other for other in named if other != option and same_file(named[other], name)), None)
        if twin is not None:
            raise InputError(f"{option} and {twin} are both {name}; give them different names")
        if any(same_file(one, name) for one in inputs):
            raise InputError(f"{option} {name} is also an input, which would be lost; choose another name")
        if path.is_dir():
            raise IsADirectoryError(f"{option} {name} is a folder; give the name of a file in it")
        if path.exists() and not path.is_file():
            raise InputError(f"{option} {name} is no ordinary file; for standard output give -")
        if path.exists() and not force:
            raise FileExistsError(f"{name} exists; choose another {option} or replace it with --force")
        folder = path.absolute().parent
        if not folder.is_dir():
            raise FileNotFoundError(f"{option} {name}: there is no folder {folder}; make it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{option} {name}: you may not write into {folder}; choose another folder")


@contextmanager
def open_output(name: str) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name when it is whole, or standard output for "-"."""
    if name == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with replaced_file(name) as file:
        yield file


def same_file(name: str, other: str) -> bool:
    if STANDARD in (name, other):
        return name == other
    try:
        return os.path.samefile(name, other)
    except OSError:
        return os.path.abspath(name) == os.path.abspath(other)
