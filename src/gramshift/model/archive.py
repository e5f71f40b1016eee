"""One file of JSON and NumPy's arrays: checksummed, written at once or not at all, read without trusting it.

It is an archive that ``np.load`` reads too. Our own reader is stricter: members are stored, not compressed, and an array is as
large as its bytes before memory is taken for it, so that a small file cannot unfold into a large one. Nothing is unpickled,
and nothing is unpacked to disk.
"""

import io
import json
import os
import zipfile
from contextlib import nullcontext
from hashlib import sha256
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gramshift.errors import InputError, MemoryLimitError
from gramshift.model.model_schema import declare_model
from gramshift.runtime.door import open_regular, parse_json, size_of
from gramshift.runtime.memory import free_memory, human
from gramshift.runtime.replacing import replaced_file
from gramshift.runtime.schema import SchemaError, Sizes, check_names

HEAD = "model.json"
MOST_MEMBERS = 1000  # 64 kernels have 8 arrays each, and there are 20 others
DTYPES = ("<f8", "<i8", "<i4", "<u4", "|u1")


class ModelFileError(InputError):
    """The file is not a model that can be read."""


Writable = str | os.PathLike[str] | BinaryIO
"""Where a model is written: under a name, at once or not at all, or into a file that is open."""


def write_archive(path: Writable, head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a head, which must be fit for JSON, and arrays; the comment of the archive is the checksum of them all."""
    text = json.dumps(head, ensure_ascii=True, allow_nan=False, indent=1, default=_plain).encode()
    members = {HEAD: text} | {f"{name}.npy": _to_bytes(array) for name, array in arrays.items()}
    opened = replaced_file(path) if isinstance(path, (str, os.PathLike)) else nullcontext(path)
    with opened as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.comment = checksum(members)


def checksum(members: dict[str, bytes]) -> bytes:
    """Compute the checksum of all members: their names, sizes and bytes, in order."""
    total = sha256()
    for name, data in members.items():
        total.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogatepass"))
        total.update(data)
    return total.hexdigest().encode()


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the head and the arrays, if all of them are what they are declared to be."""
    with open_regular(path, follow=True) as file:
        size = size_of(file)
        if size > (free := free_memory()):
            raise MemoryLimitError(f"{path} has {human(size)}, and {human(free)} of memory are free; it is read as a whole")
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(archive, file_size=size)
        except (ModelFileError, SchemaError) as error:
            raise ModelFileError(f"{path} is not a Gramshift model that can be trusted: {error}") from None
        except MemoryError:
            raise
        except zipfile.BadZipFile as error:
            raise ModelFileError(f"{path} is not a Gramshift model, or not a whole one ({error})") from None
        except Exception as error:  # whatever a cut or made-up file leads to, it is the file's fault
            raise ModelFileError(f"{path} is not a whole Gramshift model ({error}); save it again") from None


def _read(archive: zipfile.ZipFile, *, file_size: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    infos = archive.infolist()
    _check_members(infos, file_size)
    members = {info.filename: archive.read(info) for info in infos}
    if HEAD not in members:
        raise ModelFileError(f"it lacks {HEAD!r}")
    if checksum(members) != archive.comment:
        raise ModelFileError("its checksum is wrong: it was altered")
    head = parse_json(members[HEAD])
    sizes: Sizes = {}
    arrays: dict[str, NDArray[Any]] = {}
    declared = declare_model(head, sizes)
    check_names([HEAD, *(f"{name}.npy" for name in declared)], members)
    for name, one in declared.items():
        arrays[name] = _from_bytes(members.pop(f"{name}.npy"), name)
        one.check(name, arrays[name], sizes)
    return head, arrays


def _check_members(infos: list[zipfile.ZipInfo], file_size: int) -> None:
    if len(infos) > MOST_MEMBERS:
        raise ModelFileError(f"it has {len(infos)} members, and a model at most {MOST_MEMBERS}")
    if len({info.filename for info in infos}) < len(infos):
        raise ModelFileError("it holds a member twice")
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


def _from_bytes(data: bytes, name: str) -> NDArray[Any]:
    """The array, if its header says just what its bytes can hold."""
    buffer = io.BytesIO(data)
    try:
        if npy.read_magic(buffer) != (1, 0):
            raise ValueError
        shape, fortran, found = npy.read_array_header_1_0(buffer, max_header_size=1000)
    except Exception:  # the header is a Python literal, which can be wrong in many ways
        raise ModelFileError(f"{name}.npy is not an array") from None
    if found.str not in DTYPES or fortran:
        raise ModelFileError(f"{name}.npy has values of type {found}, or in another order, which a model's never have")
    n_cells = 1
    for side in shape:
        n_cells *= int(side)
    if n_cells * found.itemsize != len(data) - buffer.tell() or any(type(side) is not int or side < 0 for side in shape):
        raise ModelFileError(f"{name}.npy says that it has shape {shape}, which is not what it holds")
    return np.frombuffer(data, found, offset=buffer.tell()).reshape(shape).copy()
