"""Output files: checked before any work starts, and complete when they appear."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gramshift.errors import InputError
from gramshift.files import (
    Replacing,
    is_url,
    locate,
    naming_url,
    partial_name,
    replaced_file,
)
from gramshift.tables.opening import find_files, format_of
from gramshift.terminal import require_stdout

STANDARD = "-"
RECORDS = ".gramshift"  # folder of records in a folder of labels


def check_outputs(outputs: dict[str, str | None], inputs: list[str], *, force: bool) -> None:
    """Raise an error for outputs, given by their options, that could not be written later."""
    named = {option: name for option, name in outputs.items() if name is not None}
    for option, name in named.items():
        if name == STANDARD:
            require_stdout(f"{option} - writes there; give the name of a file")
            continue
        check_length(name, option)
        for other, other_name in named.items():
            if other != option and same_file(other_name, name):
                raise InputError(f"{option} and {other} are both {name}; give them different names")
        if any(same_file(one, name) for one in inputs):
            raise InputError(
                f"{option} {name} is also an input, which would be lost; choose another name"
            )
        if not is_url(name):
            _check_on_disk(name, option, force=force)
        elif not force:
            refuse_existing(name, f"choose another {option} or replace it with --force")


def refuse_existing(name: str, advice: str, why: str = "") -> None:
    """Raise an error if a file exists; ``why`` continues the sentence."""
    system, path = locate(name)
    with naming_url(name):
        exists = system.exists(path)
    if exists:
        raise FileExistsError(f"{name} exists{why}; {advice}")


def _check_on_disk(name: str, option: str, *, force: bool) -> None:
    """Raise an error for what cannot be written; a link that leads nowhere exists, too."""
    path = Path(os.path.realpath(name))
    folder = path.parent
    if path.is_symlink():
        raise InputError(
            f"{option} {name} is a link that leads back to itself; choose another name"
        )
    if path.is_dir():
        raise IsADirectoryError(f"{option} {name} is a folder; give the name of a file in it")
    if path.exists() and not path.is_file():
        raise InputError(f"{option} {name} is not an ordinary file; for standard output give -")
    if not force:
        leads = "" if path.exists() else f" (it is a link to {path}, which does not exist)"
        refuse_existing(name, f"choose another {option} or replace it with --force", leads)
    if not folder.is_dir():
        raise FileNotFoundError(f"{option} {name}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{option} {name}: you may not write into {folder}; choose another folder"
        )


def check_length(name: str, option: str) -> None:
    """Raise an error if this name, or the temporary name next to it, is too long."""
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


def check_folder(output: Path) -> None:
    """Raise an error if results cannot be written into this folder."""
    check_length(os.fspath(output), "--output")
    existing = next(path for path in (output, *output.absolute().parents) if os.path.lexists(path))
    if not existing.is_dir():
        raise NotADirectoryError(f"{existing} is a file; give a folder for the results")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{output}: you may not write into {existing}; give another folder for the results"
        )


@contextmanager
def open_output(
    name: str, files: Replacing | None = None, *, follow: bool = True
) -> Iterator[IO[bytes]]:
    """Open a file that appears when it, or all of ``files``, is complete; "-" is stdout."""
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
    """Return True if two names are of one file, which need not exist."""
    if STANDARD in (name, other) or is_url(name) or is_url(other):
        return name == other
    try:
        return os.path.samefile(name, other)
    except OSError:
        return os.path.realpath(name) == os.path.realpath(other)


def check_distinct(sources: list[str], targets: list[str], advice: str) -> None:
    """Raise an error if a source is named twice, or with the advice if a target is a source."""
    for place, name in enumerate([*sources, *targets]):
        if any(same_file(name, other) for other in sources[:place]):
            if place < len(sources):
                raise InputError(f"the source {name} is named twice")
            raise InputError(f"--target {name} is also a source; {advice}")


@dataclass(frozen=True)
class FileJob:
    """A file to label, and the file of its labels."""

    input: str
    output: str
    shown: str
    """The input as the user named it."""

    @property
    def record(self) -> str:
        """The file of the record of the labels."""
        folder, name = os.path.split(self.output)
        return f"{folder}/{RECORDS}/{name}.json"


def expand_inputs(given: list[str], *, format: str | None, option: str = "--input") -> list[str]:
    """Return all files that names, patterns and folders stand for, each once, in order."""
    files: dict[str, str] = {}
    for one in given:
        for name in find_files(one, format=format, option=option):
            is_path = name != STANDARD and not is_url(name)
            files.setdefault(os.path.abspath(name) if is_path else name, name)
    return list(files.values())


def _goes_into_folder(files: list[str], output: str) -> bool:
    """Return True if the labels go into a folder; raise an error if they must and cannot."""
    system, path = locate(output)
    with naming_url(output):
        is_folder = output.endswith("/") or (output != STANDARD and system.isdir(path))
    n = len(files)
    if n == 1 and not is_folder:
        return False
    if STANDARD in files:
        advice = "give it by itself, and --output a file" if n > 1 else "give --output a file"
        raise InputError(f"standard input has no name that a file in a folder could have; {advice}")
    if is_folder:
        return True
    many = f"{n} files are to be labelled"
    advice = "give --output a folder such as labels/"
    if output == STANDARD:
        raise InputError(f"{many}, which cannot all go to standard output; {advice}")
    if os.path.isfile(output):
        raise NotADirectoryError(f"{many}, but --output {output} is a file; {advice}")
    with suppress(InputError):
        format_of(output, "")
        raise NotADirectoryError(f"{many}, but --output {output} is the name of one file; {advice}")
    return True


def plan_files(
    files: list[str],
    output: str,
    *,
    format: str | None,
    kept: list[str],
    engine: str,
    option: str = "--input",
) -> list[FileJob] | None:
    """Return a job for each file if the labels go into a folder, None if they go into one file.

    Raise an error if two would have one output, or an input or one of ``kept`` would be lost.
    """
    if not _goes_into_folder(files, output):
        if engine == "dask":
            raise InputError(
                "--engine dask gives each worker a file of its own; several of them go into a "
                "folder: --output labels/"
            )
        return None
    jobs: dict[str, FileJob] = {}
    inputs = {_real(one): one for one in [*kept, *files]}
    root = output.rstrip("/") or "/"
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
                f"{option}: {jobs[name].input} and {one} would both become {job.output}; label "
                "them into two folders"
            )
        if _real(job.output) in inputs:
            lost = inputs[_real(job.output)]
            raise InputError(f"--output {output}: {lost} would be lost; choose another folder")
        jobs[name] = job
    return list(jobs.values())


def _real(name: str) -> str:
    return name if is_url(name) else os.path.realpath(name)
