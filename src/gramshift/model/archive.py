"""One file of JSON and NumPy arrays: checksummed, written whole or not at all, never trusted.

``np.load`` reads these archives, too. The reader here is stricter: members are stored and not
compressed, and the size of an array is compared with its bytes before memory is allocated for it,
so that a small file cannot unfold into a large one. Nothing is unpickled or unpacked to disk.
"""

import io
import json
import math
import os
import zipfile
from contextlib import nullcontext
from hashlib import sha256
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gramshift.errors import InputError, MemoryLimitError
from gramshift.files import replaced_file
from gramshift.memory import free_memory, size_in_words
from gramshift.model.model_schema import Sizes, check_head, check_names, declare_arrays
from gramshift.safe_reading import open_regular, parse_json

HEAD = "model.json"
MAX_MEMBERS = 1000  # 64 kernels have 8 arrays each, and there are 20 others
DTYPES = ("<f8", "<i8", "<i4", "<u4", "|u1")


class ModelFileError(InputError):
    """A file that is not a readable model."""


Writable = str | os.PathLike[str] | BinaryIO
"""A name, under which a model is written whole or not at all, or an open file."""


def write_archive(path: Writable, head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a head as JSON, and arrays; the checksum of them all is the archive's comment."""
    text = json.dumps(head, allow_nan=False, indent=1, default=_as_number).encode()
    members = {HEAD: text} | {f"{name}.npy": _to_bytes(one) for name, one in arrays.items()}
    opened = replaced_file(path) if isinstance(path, (str, os.PathLike)) else nullcontext(path)
    with opened as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.comment = checksum(members)


def checksum(members: dict[str, bytes]) -> bytes:
    """Compute the checksum of the names, sizes and bytes of all members, in order."""
    total = sha256()
    for name, data in members.items():
        total.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogatepass"))
        total.update(data)
    return total.hexdigest().encode()


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the head and the arrays, or raise an error if any of them is not as declared."""
    with open_regular(path, follow=True) as file:
        size, free = os.fstat(file.fileno()).st_size, free_memory()
        if size > free:
            sizes = (
                f"{path} has {size_in_words(size)}, and {size_in_words(free)} of memory are free"
            )
            raise MemoryLimitError(f"{sizes}; it is read as a whole")
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(archive, size)
        except MemoryError:
            raise
        except ValueError as error:
            words = "is not a Gramshift model that can be trusted"
            raise ModelFileError(f"{path} {words}: {error}") from None
        except Exception as error:  # a damaged archive can fail in many ways
            words = "is not a Gramshift model, or not a whole one"
            raise ModelFileError(f"{path} {words} ({error}); save it again") from None


def _read(
    archive: zipfile.ZipFile, file_size: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    infos = archive.infolist()
    _check_members(infos, file_size)
    members = {info.filename: archive.read(info) for info in infos}
    if checksum(members) != archive.comment:
        raise ValueError("its checksum is wrong: it was altered")
    if HEAD not in members:
        raise ValueError(f"it lacks {HEAD!r}")
    head = parse_json(members.pop(HEAD))
    check_head(head)
    declared = declare_arrays(head)
    check_names("it", [f"{name}.npy" for name in declared], members)
    sizes: Sizes = {"classes": len(head["classes"]["values"])}
    arrays: dict[str, NDArray[Any]] = {}
    for name, one in declared.items():
        arrays[name] = array = _from_bytes(members.pop(f"{name}.npy"), name)
        one.check(name, array, sizes)
        if name == "labeled_iter":
            sizes["source"] = int(np.count_nonzero(array == 0))
            sizes["target"] = array.size - sizes["source"]
    return head, arrays


def _check_members(infos: list[zipfile.ZipInfo], file_size: int) -> None:
    if len(infos) > MAX_MEMBERS:
        raise ValueError(f"it has {len(infos)} members, and a model at most {MAX_MEMBERS}")
    if len({info.filename for info in infos}) < len(infos):
        raise ValueError("it holds a member twice")
    if any(info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 for info in infos):
        raise ValueError("its members are compressed or encrypted, which a model's never are")
    if sum(info.file_size for info in infos) > file_size:
        raise ValueError("its members claim to be larger than the file")


def _as_number(value: Any) -> Any:
    """Return a NumPy number as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved")


def _to_bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _from_bytes(data: bytes, name: str) -> NDArray[Any]:
    """Return an array, if its header describes exactly the bytes that follow."""
    buffer = io.BytesIO(data)
    shape, is_fortran, dtype = read_header(buffer, len(data), f"{name}.npy")
    if dtype.str not in DTYPES or is_fortran:
        raise ValueError(f"{name}.npy has values of type {dtype}, or in another order")
    return np.frombuffer(data, dtype, offset=buffer.tell()).reshape(shape).copy()


def read_header(
    file: BinaryIO, size: int, name: str
) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type of an .npy file of ``size`` bytes, if they fit what follows."""
    try:
        if npy.read_magic(file) != (1, 0):
            raise ValueError
        shape, is_fortran, dtype = npy.read_array_header_1_0(file, max_header_size=1000)
    except Exception:  # the header is a Python literal, which can be wrong in many ways
        raise ValueError(f"{name} is not an array") from None
    if dtype.hasobject:
        raise ValueError(f"{name} has values of type {dtype}")
    is_shape = all(type(side) is int and side >= 0 for side in shape)
    if not is_shape or math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError(f"{name} has shape {shape} in its header, which is not what it holds")
    return shape, is_fortran, dtype
