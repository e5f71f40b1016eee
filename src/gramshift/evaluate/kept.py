"""Results that a run has already found, kept one by one, so that a run that was stopped goes on where it was."""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from gramshift.runtime.door import MEGABYTE, read_json
from gramshift.runtime.replacing import replaced_file

LARGEST = 1000 * MEGABYTE  # probabilities of a million documents in fifty classes


class Kept:
    """A folder with a JSON file per result. Each file says what its result depends on, and is whole or not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, name: str, key: dict[str, Any]) -> Any:
        """Return what is kept under a name, if it is whole and depends on the same; else None."""
        try:
            content = read_json(self.folder / f"{name}.json", most=LARGEST)
            body = content["body"]
            whole = content["checksum"] == _checksum(body) and body["key"] == _as_read(key)
            return body["result"] if whole else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, name: str, key: dict[str, Any], result: Any) -> None:
        """Keep a result in place of what is there under its name."""
        self.folder.mkdir(parents=True, exist_ok=True)
        body = {"key": _as_read(key), "result": result}
        with replaced_file(self.folder / f"{name}.json", follow=False) as file:
            file.write(json.dumps({"checksum": _checksum(body), "body": body}).encode())

    def clear(self) -> None:
        """Put away what is kept, of this run or another."""
        for path in self.names():
            path.unlink()

    def names(self) -> list[Path]:
        """The files of results that are there."""
        return sorted(self.folder.glob("*.json"))


@cache
def digest_source() -> str:
    """A name for the code of this package: results of other code are not taken for its own."""
    told = sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        told.update(path.read_bytes())
    return told.hexdigest()[:16]


def _as_read(key: dict[str, Any]) -> Any:
    return json.loads(json.dumps(key))  # where there are no tuples


def _checksum(body: dict[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
