"""Records of labelled files, by which a later run knows which of them are finished.

Each file of labels has a record of its inputs in a folder next to it. It is written just before the
file appears, so that an unfinished file, or one of another model, is never taken for finished.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from gramshift.commands.label.one_file import Found
from gramshift.commands.outputs import RECORDS, FileJob
from gramshift.errors import InputError
from gramshift.files import (
    is_unchanged,
    is_url,
    locate,
    naming_url,
    replaced_file,
)
from gramshift.safe_reading import parse_json, read_regular

MAX_BYTES = 1 << 20  # of a record
KEY_IN_WORDS = {
    "model": "model",
    "gramshift": "version of Gramshift",
    "abstain_below": "--abstain-below",
}


def prepare_folder(folder: str) -> None:
    """Make the folder of labels and that of its records, if they are missing."""
    system, path = locate(folder.rstrip("/") or "/")
    if is_url(folder):
        with naming_url(folder):
            system.makedirs(path, exist_ok=True)
        return
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise FileNotFoundError(f"--output {folder}: there is no folder {parent}; make it first")
    records = Path(path, RECORDS)
    if records.is_symlink():  # it may lead to files that are not ours
        raise InputError(
            f"{records} is a link; it should be a folder of ours: delete the link, or give another "
            "--output"
        )
    records.mkdir(parents=True, exist_ok=True)


def write_record(
    job: FileJob, key: dict[str, Any], input: dict[str, Any], output: dict[str, Any], found: Found
) -> None:
    """Record the model and options of a file (``key``), its input, its output, and its labels."""
    system, folder = locate(os.path.dirname(job.record))
    with naming_url(job.record):
        system.makedirs(folder, exist_ok=True)
    record = {"run": key, "input": input, "output": output, "found": found}
    with replaced_file(job.record, follow=False) as file:
        file.write(json.dumps(record).encode())


def check_finished(job: FileJob, key: dict[str, Any]) -> tuple[Found | None, str]:
    """Return the labels of a finished file; or None, and why it is not finished if it exists."""
    system, path = locate(job.output)
    with naming_url(job.output):
        if not system.exists(path):
            return None, ""
    record = _read_record(job)
    if record is None or not is_unchanged(job.output, record["output"]):
        return None, "it is not as this command wrote it"
    for name, value in key.items():
        if record["run"].get(name) != value:
            words = KEY_IN_WORDS.get(name, f"--{name}")
            return None, f"it was made with another {words}"
    with suppress(OSError):  # a missing input is an error when it is read
        if not is_unchanged(job.input, record["input"]):
            return None, f"{job.input} has changed since it was made"
    return record["found"], ""


def _read_record(job: FileJob) -> dict[str, Any] | None:
    """Return the record of an output, or None if there is none that can be used."""
    try:
        if is_url(job.record):
            system, path = locate(job.record)
            data = system.cat_file(path, end=MAX_BYTES)
        else:
            data = read_regular(job.record, most=MAX_BYTES)
        record = parse_json(data)
        found = record["found"]
        counts = [found["abstained"], *found["labels"].values()]
        is_sound = (
            all(type(count) is int and count >= 0 for count in counts)
            and found["n"] == sum(counts)
            and 0 <= found["confidence"] <= found["n"]
            and all(isinstance(record[name], dict) for name in ("run", "input", "output"))
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return dict(record) if is_sound else None
