"""Files to be written: checked before any work, whole or not there at all."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gramshift.data.readers import find_files, format_of
from gramshift.errors import InputError
from gramshift.runtime.files import (
    Replacing,
    is_url,
    locate,
    naming_url,
    partial_name,
    replaced_file,
)
from gramshift.text.terminal import require_stdout

STANDARD = "-"
RECORDS = ".gramshift"  # the folder of records, within one of labels


def check_outputs(outputs: dict[str, str | None], inputs: list[str], *, force: bool) -> None:
    """Refuse now what would fail later; ``outputs`` are file names by their option."""
    named = {option: name for option, name in outputs.items() if name is not None}
    for option, name in named.items():
        if name == STANDARD:
            require_stdout(f"{option} - writes there; give the name of a file")
            continue
        check_length(name, option)
        twin = next(
            (other for other in named if other != option and same_file(named[other], name)), None
        )
        if twin is not None:
            raise InputError(f"{option} and {twin} are both {name}; give them different names")
        if any(same_file(one, name) for one in inputs):
            raise InputError(
                f"{option} {name} is also an input, which would be lost; choose another name"
            )
        if is_url(name):
            system, place = locate(name)
            with naming_url(name):
                there = system.exists(place)
            if there and not force:
                raise FileExistsError(
                    f"{name} exists; choose another {option} or replace it with --force"
                )
            continue
        _check_on_disk(name, option, force=force)


def _check_on_disk(name: str, option: str, *, force: bool) -> None:
    """Refuse what cannot be written; a link stands for the file that it leads to, and is there even if that is not."""
    path = Path(os.path.realpath(name))
    if path.is_symlink():
        raise InputError(
            f"{option} {name} is a link that leads back to itself; choose another name"
        )
    if path.is_dir():
        raise IsADirectoryError(f"{option} {name} is a folder; give the name of a file in it")
    if path.exists() and not path.is_file():
        raise InputError(f"{option} {name} is no ordinary file; for standard output give -")
    if os.path.lexists(name) and not force:
        leads = "" if path.exists() else f" (it is a link to {path}, which does not exist)"
        raise FileExistsError(
            f"{name} exists{leads}; choose another {option} or replace it with --force"
        )
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{option} {name}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{option} {name}: you may not write into {folder}; choose another folder"
        )


def check_length(name: str, option: str) -> None:
    """Raise an error if the system cannot have a file of this name, or the one under which it is written first."""
    if is_url(name):
        return
    for one in (name, os.path.join(os.path.dirname(os.path.realpath(name)), partial_name())):
        try:
            os.lstat(one)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                shown = f"{name[:40]}...{name[-20:]}"
                raise InputError(
                    f"{option} {shown}: the name is too long for this system; choose a shorter one"
                ) from None


@contextmanager
def open_output(
    name: str, files: Replacing | None = None, *, follow: bool = True
) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name when it is whole, with all ``files``, or standard output for "-"."""
    if name == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with (
        replaced_file(name, follow=follow)
        if files is None
        else files.open(name, follow=follow) as file
    ):
        yield file


def same_file(name: str, other: str) -> bool:
    if STANDARD in (name, other) or is_url(name) or is_url(other):
        return name == other
    try:
        return os.path.samefile(name, other)
    except OSError:
        return os.path.realpath(name) == os.path.realpath(other)


@dataclass(frozen=True)
class FileJob:
    """A file to be labelled, and the file that it becomes."""

    input: str
    output: str
    shown: str
    """The input as the user knows it."""

    @property
    def record(self) -> str:
        folder, name = os.path.split(self.output)
        return f"{folder}/{RECORDS}/{name}.json"


def expand_inputs(given: list[str], *, format: str | None, option: str = "--input") -> list[str]:
    """All files that names, patterns and folders stand for, each once, in order."""
    files = [file for one in given for file in find_files(one, format=format, option=option)]
    return list(
        {
            (one if one == STANDARD or is_url(one) else os.path.abspath(one)): one
            for one in reversed(files)
        }.values()
    )[::-1]


def goes_into_folder(files: list[str], output: str) -> bool:
    """Whether the labels of these inputs go into a folder; an error if they must and cannot."""
    system, path = locate(output)
    with naming_url(output):
        is_folder = output.endswith("/") or (output != STANDARD and system.isdir(path))
    if len(files) == 1 and not is_folder:
        return False
    if STANDARD in files:
        advice = (
            "give it by itself, and --output a file" if len(files) > 1 else "give --output a file"
        )
        raise InputError(f"standard input has no name that a file in a folder could have; {advice}")
    if not is_folder:
        n, advice = len(files), "give --output a folder such as labels/"
        if output == STANDARD:
            raise InputError(
                f"{n} files are to be labelled, which cannot all go to standard output; {advice}"
            )
        if os.path.isfile(output):
            raise NotADirectoryError(
                f"{n} files are to be labelled, but --output {output} is a file; {advice}"
            )
        with suppress(InputError):
            format_of(output, "")
            raise NotADirectoryError(
                f"{n} files are to be labelled, but --output {output} is the name of one file; {advice}"
            )
    return True


def plan_files(
    files: list[str], folder: str, *, format: str | None, kept: list[str], option: str = "--input"
) -> list[FileJob]:
    """What becomes what; an error if two would be one file, or one of those that are ``kept`` would be lost."""
    jobs: dict[str, FileJob] = {}
    inputs = {_real(one): one for one in [*kept, *files]}
    root = folder.rstrip("/") or "/"
    for one in files:
        name = os.path.basename(one.rstrip("/"))
        if not is_url(one) and os.path.isdir(one):
            name += ".csv"
        elif format is not None and Path(name.removesuffix(".gz")).suffix == "":
            name += f".{format}"
        job = FileJob(one, f"{root}/{name}", one)
        check_length(job.record, "--output")
        if name in jobs:
            raise InputError(
                f"{option}: {jobs[name].input} and {one} would both become {job.output}; label them into two folders"
            )
        if _real(job.output) in inputs:
            raise InputError(
                f"--output {folder}: {inputs[_real(job.output)]} would be lost; choose another folder"
            )
        jobs[name] = job
    return list(jobs.values())


def _real(name: str) -> str:
    return name if is_url(name) else os.path.realpath(name)
