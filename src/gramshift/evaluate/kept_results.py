"""Results of a run that may be stopped: each setting of each kernel is kept as soon as it is there."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.evaluate.experiment import Outcome
from gramshift.evaluate.protocol import Setting
from gramshift.runtime.storage import replaced_file


class Parts:
    """A folder with a file per kernel and setting, methods without a given kernel in one of their own.

    Each file says what it depends on: ``key`` and the data of its domains.
    """

    def __init__(self, folder: Path, key: dict[str, Any], data: dict[str, str]) -> None:
        self.folder, self.key, self.data = folder, key, data

    def load(self, kernel: str | None, setting: Setting, methods: list[str]) -> list[Outcome] | None:
        """Return what an earlier run found, if it is whole, has all methods and depends on the same."""
        found = self._read(kernel, setting)
        return [found[name] for name in methods] if set(methods) <= set(found) else None

    def save(self, kernel: str | None, setting: Setting, outcomes: list[Outcome]) -> None:
        """Keep outcomes beside what is there of other methods."""
        self.folder.mkdir(parents=True, exist_ok=True)
        together = self._read(kernel, setting) | {one.method: one for one in outcomes}
        kept = [
            {"method": one.method, "scores": one.scores.tolist(), "added": one.added.tolist(), "seconds": one.seconds}
            for one in together.values()
        ]
        body = {"key": self._key(setting), "outcomes": kept}
        with replaced_file(self._path(kernel, setting)) as file:
            file.write(json.dumps({"checksum": _checksum(body), "body": body}).encode())

    def _read(self, kernel: str | None, setting: Setting) -> dict[str, Outcome]:
        try:
            content = json.loads(self._path(kernel, setting).read_text())
            body = content["body"]
            if content["checksum"] != _checksum(body) or body["key"] != self._key(setting):
                return {}
            return {
                one["method"]: Outcome(
                    setting, one["method"], np.array(one["scores"]), np.array(one["added"], np.intp), one["seconds"]
                )
                for one in body["outcomes"]
            }
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _key(self, setting: Setting) -> dict[str, Any]:
        key = self.key | {"data": {letter: self.data[letter] for letter in setting.letters}}
        as_read: dict[str, Any] = json.loads(json.dumps(key))  # where there are no tuples
        return as_read

    def _path(self, kernel: str | None, setting: Setting) -> Path:
        return self.folder / f"{self.key['fields'].replace('+', '-')}-{kernel or 'rivals'}-{setting.name}.json"


def _checksum(body: dict[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
