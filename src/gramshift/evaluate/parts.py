"""Results of a run that may be stopped: each setting of each kernel is kept as soon as it is there."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.engine.storage import replaced_file
from gramshift.evaluate.experiment import Outcome
from gramshift.evaluate.settings import Setting


class Parts:
    """A folder with a file per kernel and setting, all of the same data and version."""

    def __init__(self, folder: Path, key: dict[str, Any]) -> None:
        self.folder, self.key = folder, key

    def load(self, kernel: str, setting: Setting, methods: list[str]) -> list[Outcome] | None:
        """What an earlier run found, if it is whole, has all methods and was made with the same key."""
        try:
            content = json.loads(self._path(kernel, setting).read_text())
            body = content["body"]
            if content["checksum"] != _checksum(body) or body["key"] != self.key:
                return None
            found = {one["method"]: one for one in body["outcomes"]}
            return [
                Outcome(setting, name, np.array(one["scores"]), np.array(one["added"], np.intp), one["seconds"])
                for name in methods
                for one in [found[name]]
            ]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, kernel: str, setting: Setting, outcomes: list[Outcome]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = [
            {"method": one.method, "scores": one.scores.tolist(), "added": one.added.tolist(), "seconds": one.seconds}
            for one in outcomes
        ]
        body = {"key": self.key, "outcomes": kept}
        with replaced_file(self._path(kernel, setting)) as file:
            file.write(json.dumps({"checksum": _checksum(body), "body": body}).encode())

    def _path(self, kernel: str, setting: Setting) -> Path:
        return self.folder / f"{self.key['fields'].replace('+', '-')}-{kernel}-{setting.name}.json"


def _checksum(body: dict[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
