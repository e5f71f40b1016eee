"""One file of JSON and arrays: checksummed, written at once or not at all, read without trusting it.

Members are stored, not compressed, so that a small file cannot unfold into a large one. Nothing is unpickled, and nothing is
unpacked to disk.
"""

import io
import json
import os
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.runtime.storage import replaced_file

HEAD = "model.json"


class ModelFileError(InputError):
    """The file is not a model that can be read."""


def write_archive(path: str | os.PathLike[str], head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """``head`` must be fit for JSON; the checksums of the arrays are added to it."""
    members = {f"{name}.npy": _to_bytes(array) for name, array in arrays.items()}
    checksums = {name: sha256(data).hexdigest() for name, data in members.items()}
    text = json.dumps(head | {"checksums": checksums}, ensure_ascii=True, allow_nan=False, indent=1, default=_plain).encode()
    with replaced_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in {HEAD: text, **members}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.comment = sha256(text).hexdigest().encode()


Names = Callable[[dict[str, Any]], dict[str, str]]


def read_archive(path: str | os.PathLike[str], names: Names) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The head and the arrays; ``names`` says for a head which arrays there must be and of which dtype."""
    path = Path(path)
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(archive, names, file_size=path.stat().st_size)
        except ModelFileError as error:
            raise ModelFileError(f"{path} is not a Gramshift model that can be trusted: {error}") from None
        except Exception as error:  # whatever a cut or made-up file leads to, it is the file's fault
            raise ModelFileError(f"{path} is not a whole Gramshift model ({error}); save it again") from None


def _read(archive: zipfile.ZipFile, names_for: Names, *, file_size: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    infos = archive.infolist()
    found = [info.filename for info in infos]
    if found.count(HEAD) != 1:
        raise ModelFileError(f"it lacks {HEAD!r}")
    _check_members(infos, file_size)
    text = archive.read(HEAD)
    if sha256(text).hexdigest().encode() != archive.comment:
        raise ModelFileError(f"the checksum of {HEAD} is wrong: it was altered")
    head = json.loads(text)
    if not isinstance(head, dict) or not isinstance(head.get("checksums"), dict):
        raise ModelFileError(f"{HEAD} is not what a model has")
    names = names_for(head)
    expected = [HEAD, *(f"{name}.npy" for name in names)]
    if sorted(found) != sorted(expected):
        strange = [name for name in found if name not in expected or found.count(name) > 1]
        missing = [name for name in expected if name not in found]
        faults = [
            f"{words} {', '.join(map(repr, names[:3]))}" for words, names in (("lacks", missing), ("holds", strange)) if names
        ]
        raise ModelFileError(f"it {' and '.join(faults)}")
    arrays = {}
    for name, dtype in names.items():
        data = archive.read(f"{name}.npy")
        if sha256(data).hexdigest() != head["checksums"].get(f"{name}.npy"):
            raise ModelFileError(f"the checksum of {name}.npy is wrong: it was altered")
        arrays[name] = _from_bytes(data, name, np.dtype(dtype))
    return head, arrays


def _check_members(infos: list[zipfile.ZipInfo], file_size: int) -> None:
    if any(info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 for info in infos):
        raise ModelFileError("its members are compressed or encrypted, which a model's never are")
    if sum(info.file_size for info in infos) > file_size:
        raise ModelFileError("its members claim to be larger than the file")


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved")


def _to_bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _from_bytes(data: bytes, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array, if its header says just what its bytes can hold."""
    buffer = io.BytesIO(data)
    try:
        if npy.read_magic(buffer) != (1, 0):
            raise ValueError
        shape, fortran, found = npy.read_array_header_1_0(buffer, max_header_size=1000)
    except Exception:  # the header is a Python literal, which can be wrong in many ways
        raise ModelFileError(f"{name}.npy is not an array") from None
    if found != dtype or fortran:
        raise ModelFileError(f"{name}.npy has values of type {found}, but should have {dtype}")
    n_cells = 1
    for side in shape:
        n_cells *= int(side)
    if n_cells * dtype.itemsize != len(data) - buffer.tell() or any(type(side) is not int or side < 0 for side in shape):
        raise ModelFileError(f"{name}.npy says that it has shape {shape}, which is not what it holds")
    return np.frombuffer(data, dtype, offset=buffer.tell()).reshape(shape).copy()
