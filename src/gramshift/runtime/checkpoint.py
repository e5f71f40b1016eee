"""A folder of finished pieces of one run, so that a run that was stopped can go on."""

import errno
import json
import logging
import math
import os
import re
import threading
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gramshift import __version__
from gramshift.errors import InputError
from gramshift.runtime.door import open_regular, parse_json, read_json
from gramshift.runtime.lock import hold, let_go
from gramshift.runtime.replacing import PARTIAL, clear_leftovers, replaced_file
from gramshift.runtime.schema import Anything, Array, Listed, Number, Record, Sizes, Text, check_members

log = logging.getLogger("gramshift")
FORMAT = 1
HEAD, LOCK, PIECE = "run.json", "lock", ".piece"
ALIGNED = 64  # bytes; arrays begin at multiples of it
KINDS = "biufcSU"  # of values that a piece holds: numbers, booleans, strings of a fixed size
PIECE_HEAD = Listed(Listed(Anything(), most=3), most=10**6)
PIECE_ENTRY = Record({"key": Text(200), "dtype": Text(20), "shape": Listed(Number(0, 2**62, whole=True), most=32)})
ARRAY_ENTRY = 1024  # bytes that naming and aligning an array takes at most
CHECKSUM = 4  # bytes at the end of a piece: zlib.crc32, 4 GB/s where blake2b has 0.8
SHOWN = 3  # entries of a key that are told if they differ


class Checkpoint:
    """A folder of finished pieces of one run.

    Pieces have names and hold arrays. They appear when they are whole, and each has a checksum of what it holds, its name
    and the run that it belongs to. Only one process at a time has the folder; ``close`` gives it back.
    """

    def __init__(self, folder: Path, run: Mapping[str, Any], *, locked: bool) -> None:
        """Take a folder that is known to be of this run: use ``open``."""
        self.folder = folder
        self.drops = False
        self.kept = 0
        """Pieces that load() has given back."""
        self.redone = 0
        """Pieces that load() found damaged."""
        self._seed = json.dumps(run, sort_keys=True).encode()
        self._guard = threading.Lock()
        self._names = {path.name.removesuffix(PIECE) for path in folder.glob(f"*{PIECE}")}
        self._let_go = weakref.finalize(self, let_go, folder / LOCK, os.getpid()) if locked else None

    @classmethod
    def open(cls, folder: str | os.PathLike[str], key: Mapping[str, Any]) -> Self:
        """The folder of the run that ``key`` describes in plain values; made if it is missing, refused if it is another's."""
        check_folder(folder)
        path = Path(folder).resolve()
        run = json.loads(json.dumps({"format": FORMAT, "gramshift": __version__, **key}, default=_plain, allow_nan=False))
        with _advising(folder, "finished pieces are to be kept here; give another folder"):
            path.mkdir(exist_ok=True)
            locked = hold(path / LOCK)
            try:
                if (path / HEAD).exists():
                    _compare(folder, _read_head(folder), run)
                else:
                    with replaced_file(path / HEAD, follow=False) as file:
                        file.write(json.dumps(run, indent=1).encode() + b"\n")
                clear_leftovers(path)
                return cls(path, run, locked=locked)
            except BaseException:
                if locked:
                    let_go(path / LOCK, os.getpid())
                raise

    def close(self) -> None:
        """Let other processes have the folder."""
        if self._let_go is not None:
            self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @property
    def n_done(self) -> int:
        """Pieces that are there."""
        return len(self._names)

    def load(self, name: str, expected: Mapping[str, Array] | None = None) -> dict[str, NDArray[Any]] | None:
        """The arrays of a piece; None if it is missing, or damaged: then it is removed with a warning.

        One that has other arrays than ``expected``, or values that these cannot have, is damaged, whatever its checksum.
        """
        path = self._path(name)
        try:
            with open_regular(path) as file:
                if expected is not None:
                    _check_size(os.fstat(file.fileno()).st_size, expected)
                arrays = _unpack(np.fromfile(file, np.uint8), self._start(name))
            if expected is not None:
                check_members(expected, arrays, {})
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EIO:
                raise
            log.warning("gramshift: %s is damaged (%s); it is done again", path, error)
            path.unlink(missing_ok=True)
            with self._guard:
                self._names.discard(name)
                self.redone += 1
            return None
        with self._guard:
            self.kept += 1
        return arrays

    def save(self, name: str, /, **arrays: NDArray[Any]) -> None:
        """Keep arrays of numbers or fixed-size strings under this name."""
        path, checksum = self._path(name), self._start(name)
        for key, array in arrays.items():
            if array.dtype.kind not in KINDS:
                raise TypeError(
                    f"{key} holds {array.dtype} values; a piece holds numbers, booleans and strings of a fixed size"
                )
        head = json.dumps([[key, array.dtype.str, array.shape] for key, array in arrays.items()]).encode()
        size = np.array([len(head)], "<u8")
        advice = "what is finished is kept; start again once this is mended"
        with _advising(path, advice), replaced_file(path, follow=False) as file:
            for part in (size, np.frombuffer(head, np.uint8), *arrays.values()):
                data = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
                for each in (data.data, bytes(_missing(data.size))):
                    file.write(each)
                    checksum = zlib.crc32(each, checksum)
            file.write(checksum.to_bytes(CHECKSUM, "little"))
        with self._guard:
            self._names.add(name)

    def drop(self, name: str) -> None:
        """A piece is not needed any more; a run that goes on may need it again, so that it is removed on request only."""
        if self.drops:
            self._path(name).unlink(missing_ok=True)
            with self._guard:
                self._names.discard(name)

    def _path(self, name: str) -> Path:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
            raise ValueError(f"{name!r} is no name for a piece: letters, digits, - . and _ only")
        return self.folder / f"{name}{PIECE}"

    def _start(self, name: str) -> int:
        """What the checksum of a piece begins with: one of another run, or under another name, does not fit."""
        return zlib.crc32(name.encode(), zlib.crc32(self._seed))


def digest(texts: Iterable[str]) -> str:
    """The sha256 of documents, each with its length in front."""
    state = sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Everything that can be wrong with the folder whatever the run, as an error now."""
    path = Path(folder).absolute()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: no such folder, so {path.name} cannot be made in it; make it first")
    if not path.exists():
        return
    if not path.is_dir():
        raise NotADirectoryError(f"{folder} is a file; give a folder, or a name for a new one")
    with _advising(folder, "finished pieces are to be kept here; give another folder"), os.scandir(path) as entries:
        names = [entry.name for entry in entries if _is_ours(entry)]
    strange = sorted(name for name in names if name != LOCK and not name.endswith(PARTIAL))
    if HEAD not in names and strange:
        raise InputError(f"{folder} holds other things, such as {strange[0]}; give an empty folder, or a name for a new one")


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """True, or an error: what is read, written or emptied here must lead nowhere else."""
    if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
        return True
    what = "a link" if entry.is_symlink() else "no ordinary file"
    folder = os.path.dirname(entry.path)
    raise InputError(f"{entry.path} is {what}, which no folder of finished pieces holds; {_advice(folder)}")


def count_pieces(folder: str | os.PathLike[str]) -> int:
    """Count the pieces that are in a folder, of whatever run."""
    return sum(1 for _ in Path(folder).glob(f"*{PIECE}"))


def _check_size(size: int, expected: Mapping[str, Array]) -> None:
    """Refuse a piece that is larger than its arrays can be, before it is read into memory."""
    most = sum(one.most_bytes() + ARRAY_ENTRY for one in expected.values()) + ARRAY_ENTRY
    if size > most:
        raise ValueError(f"it has {size} bytes where {most} are the most")


def _unpack(data: NDArray[np.uint8], start: int) -> dict[str, NDArray[Any]]:
    body, end = data[:-CHECKSUM], data[-CHECKSUM:]
    if len(body) < ALIGNED:
        raise ValueError(f"only {len(data)} bytes are left")
    if zlib.crc32(body.data, start) != int.from_bytes(end.tobytes(), "little"):
        raise ValueError("its checksum is wrong")
    place = ALIGNED + int(body[:8].view("<u8")[0])
    head, arrays, sizes = parse_json(body[ALIGNED:place].tobytes()), {}, Sizes()
    PIECE_HEAD.check("its list of arrays", head, sizes)
    for entry in head:
        PIECE_ENTRY.check("its list of arrays", dict(zip(PIECE_ENTRY.members, entry, strict=True)), sizes)
        key, dtype, shape = entry
        place += _missing(place)
        size = _size_of_type(dtype) * math.prod(shape)
        if place + size > len(body):
            raise ValueError(f"{key} ends after it")
        arrays[key] = body[place : place + size].view(dtype).reshape(shape)
        place += size
    return arrays


def _size_of_type(name: str) -> int:
    """Bytes of one value of a type that a piece may hold."""
    with suppress(TypeError):
        if re.fullmatch(rf"[<>|][{KINDS}]\d{{1,9}}", name) and np.dtype(name).itemsize:
            return np.dtype(name).itemsize
    raise ValueError(f"it has values of type {name!r}")


def _missing(size: int) -> int:
    """Bytes to the next multiple of ALIGNED."""
    return -size % ALIGNED


def _read_head(folder: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        head = read_json(Path(folder) / HEAD)
    except InputError:  # of which some are no JSON
        head = None
    if not isinstance(head, dict):
        raise InputError(f"{Path(folder) / HEAD} cannot be read, so nobody knows what this folder holds; {_advice(folder)}")
    return head


def _compare(folder: str | os.PathLike[str], found: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    names = [name for name in {**run, **found} if (name in found, found.get(name)) != (name in run, run.get(name))]
    if names:
        told = "; ".join(f"{name} is {_show(found, name)} there and {_show(run, name)} here" for name in names[:SHOWN])
        more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise InputError(f"{folder} is of another run: {told}{more}; {_advice(folder)}")


def _advice(folder: str | os.PathLike[str]) -> str:
    name = os.fspath(folder)
    if not name.isprintable():  # the terminal would show another name, and another folder would be deleted
        return "give another folder, or delete this one"
    return f"give another folder, or delete this one: rm -r {quote(f'./{name}' if name.startswith('-') else name)}"


def _show(values: Mapping[str, Any], name: str) -> str:
    shown = json.dumps(values[name], ensure_ascii=False) if name in values else "missing"
    return shown if len(shown) <= 60 else f"{shown[:12]}...{shown[-6:]}"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is no plain value for the key of a run")


@contextmanager
def _advising(path: str | os.PathLike[str], advice: str) -> Iterator[None]:
    """An error of the system's with the path and what to do."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, f"{error.strerror}; {advice}", os.fspath(path)) from error
