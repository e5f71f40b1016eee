"""Embeddings that the user has made: one .npy file with a row of numbers for each document, read without trusting it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, MemoryLimitError
from gramshift.runtime.door import open_regular, size_of
from gramshift.runtime.memory import free_memory, human

HOW = "write it with numpy.save, one row of numbers for each document"


def read_vectors(name: str, files: Sequence[tuple[str, int]] | None, *, option: str) -> NDArray[np.float64]:
    """Read a row for every row of the ``files``, one after another, given by name and number of rows.

    Where these numbers are not known yet, whoever reads the files must compare.
    """
    with open_regular(name, follow=True) as file:
        if file.read(6) != b"\x93NUMPY":
            raise InputError(f"{option} {name} is no .npy file; {HOW}")
        if size_of(file) > (free := free_memory()):
            raise MemoryLimitError(f"{option} {name} has {human(size_of(file))}, and {human(free)} of memory are free")
    try:
        found: Any = np.load(name, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{option} {name} cannot be read as an array of numbers ({error}); {HOW}") from None
    if found.ndim != 2 or found.dtype.kind not in "fiu" or not found.shape[1]:
        raise InputError(f"{option} {name} has shape {found.shape} and type {found.dtype}; {HOW}")
    if files is not None and len(found) != sum(n for _, n in files):
        raise_count(name, len(found), files, option=option)
    vectors = np.array(found, np.float64)
    wrong = ~np.isfinite(vectors).all(axis=1)
    if wrong.any():
        raise InputError(f"{option} {name}: row {int(np.argmax(wrong)) + 1} has a number that is not finite; {HOW}")
    return vectors


def raise_count(name: str, n_rows: int, files: Sequence[tuple[str, int]], *, option: str) -> None:
    """Raise an error that tells how many rows there are, and how many documents in which file."""
    each, wanted = ", ".join(f"{n} in {file}" for file, n in files), sum(n for _, n in files)
    raise InputError(f"{option} {name} has {n_rows} rows, and there are {wanted} documents ({each}); {HOW}, in order")
