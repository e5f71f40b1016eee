"""Finished results of a run, kept in one file each, so that an interrupted run can be continued."""

import json
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.files import replaced_file
from gramshift.model.saving import library_versions
from gramshift.safe_reading import MEGABYTE, open_regular, read_json

MAX_RESULT_BYTES = 1000 * MEGABYTE  # probabilities of a million documents in fifty classes
BEGINNING = re.compile(rb'\{"checksum": "[0-9a-f]{64}", "body": \{"key": ')


class ResultStore:
    """A folder with one JSON file per result.

    Each file records what its result depends on, code and library versions included, and is whole
    or absent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, name: str, key: dict[str, Any]) -> Any:
        """Return a kept result, or None if it is damaged or depends on another key."""
        try:
            content = read_json(self.folder / f"{name}.json", most=MAX_RESULT_BYTES)
            body = content["body"]
            whole = content["checksum"] == _checksum(body) and body["key"] == _full_key(key)
            return body["result"] if whole else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, name: str, key: dict[str, Any], result: Any) -> None:
        """Keep a result, replacing any earlier one of that name."""
        self.folder.mkdir(parents=True, exist_ok=True)
        body = {"key": _full_key(key), "result": result}
        with replaced_file(self.folder / f"{name}.json", follow=False) as file:
            file.write(json.dumps({"checksum": _checksum(body), "body": body}).encode())

    def clear(self) -> None:
        """Delete all results in the folder, and nothing that is not ours."""
        if self.folder.is_symlink():
            raise InputError(
                f"{self.folder} is a link; only a folder of ours is emptied: delete the "
                "link, or give another folder"
            )
        for path in self.names():
            path.unlink()

    def names(self) -> list[Path]:
        """Return the files of all results in the folder."""
        return [path for path in sorted(self.folder.glob("*.json")) if _is_result(path)]


def check_numbers(values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return kept numbers as an array; raise a ValueError unless all are finite, in this shape."""
    try:
        numbers = np.array(values, np.float64)
    except OverflowError as error:
        raise ValueError("a number is too large") from error
    if numbers.shape != shape or not np.isfinite(numbers).all():
        raise ValueError(f"not {shape} finite numbers")
    return numbers


def _is_result(path: Path) -> bool:
    """Return True if a file begins as `ResultStore.save` begins it."""
    try:
        with open_regular(path) as file:
            return BEGINNING.match(file.read(1000)) is not None
    except (OSError, InputError):
        return False


def _full_key(key: dict[str, Any]) -> Any:
    full = key | {"versions": library_versions(), "source": digest_source()}
    return json.loads(json.dumps(full))  # tuples become lists, as in a file


@cache
def digest_source() -> str:
    """Return a digest of the code of this package: other code may give other results."""
    digest = sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _checksum(body: dict[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
