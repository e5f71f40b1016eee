"""A fault at each system call of writing, after which the old or the new file is complete."""

import errno
import io
import os
import shutil
import signal
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from functools import partial
from unittest import mock

import pytest

import gramshift as gs
from gramshift.commands.main import main
from gramshift.files import replaced_file
from small_tables import die_in_a_fork, write_csv

pytestmark = [pytest.mark.process, pytest.mark.slow]
KILL = "kill"
FAULTS = ("ENOSPC", "EIO", "EINTR", KILL)
CALLS = {"open": 0, "fsync": 0, "replace": 1, "unlink": 0, "fchown": 0, "fchmod": 0, "close": 0}
"""Calls of os, and the place of the argument that names the file."""
LABELS_FILES = ["labels.csv", "labels.jsonl", "labels.parquet", "labels.csv.gz"]
OLD = b"old"
TEXTS = [
    "a good film, nice and good",
    "nice, really good",
    "a bad film, dull and bad",
    "dull, really bad",
] * 5
LABELS = ["positive", "positive", "negative", "negative"] * 5


class Faults:
    """A counter of system calls for files of a folder, in which the chosen call fails."""

    def __init__(self, folder, chosen=None, fault=KILL):
        self.folder, self.chosen, self.fault = os.path.realpath(folder), chosen, fault
        self.counts, self.files = Counter(), set()

    @contextmanager
    def installed(self):
        with ExitStack() as stack:
            for name, place in CALLS.items():
                stack.enter_context(
                    mock.patch.object(os, name, self.failing(getattr(os, name), name, place))
                )
            stack.enter_context(mock.patch.object(os, "fdopen", self.wrapping(os.fdopen)))
            yield

    def strike(self, call):
        self.counts[call] += 1
        if (call, self.counts[call]) == self.chosen:
            if self.fault == KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            code = getattr(errno, self.fault)
            raise OSError(code, os.strerror(code))

    def is_ours(self, file):
        return (
            file in self.files
            if isinstance(file, int)
            else os.path.abspath(os.fspath(file)).startswith(self.folder)
        )

    def failing(self, real, name, place):
        def call(*arguments, **options):
            if not self.is_ours(arguments[place]):
                return real(*arguments, **options)
            if name == "close":  # a file is closed whatever close returns
                self.files.discard(arguments[0])
                real(*arguments)
                return self.strike(name)
            self.strike(name)
            result = real(*arguments, **options)
            if name == "open":
                self.files.add(result)
            return result

        return call

    def wrapping(self, real):
        def fdopen(file, mode="r", *arguments, **options):
            if file not in self.files or "+" not in mode:
                return real(file, mode, *arguments, **options)
            return io.BufferedRandom(FailingFile(self, file))

        return fdopen


class FailingFile(io.FileIO):
    """A file whose writes may fail half way."""

    def __init__(self, faults, file):
        self.faults = faults
        super().__init__(file, "w+")

    def write(self, data):
        fails = ("write", self.faults.counts["write"] + 1) == self.faults.chosen
        if fails and self.faults.fault != "EINTR":  # a call that is interrupted has done nothing
            super().write(memoryview(data)[: len(data) // 2])
        self.faults.strike("write")
        return super().write(data)

    def close(self):
        if not self.closed:
            super().close()
            self.faults.strike("close")


def run_command(*arguments):
    with mock.patch.object(sys, "argv", ["gramshift", *map(str, arguments)]):
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise OSError(f"exit code {stop.code}") from None


def write_bytes(path):
    with replaced_file(path) as file:
        for _ in range(4):
            file.write(b"a line\n" * 2000)
            file.flush()


@pytest.fixture(scope="module")
def writers(tmp_path_factory):
    """Return functions that write a file, by the name of the file."""
    scratch = tmp_path_factory.mktemp("writers")
    classifier = gs.TransductiveClassifier(n_jobs=1).fit(
        TEXTS, LABELS, target=[f"{text} as well" for text in TEXTS]
    )
    classifier.save(scratch / "m.gramshift")
    new = write_csv(scratch / "new.csv", ["text"], [[text] for text in TEXTS])

    def label(path):
        files = ["--model", scratch / "m.gramshift", "--input", new, "--output", path]
        run_command("predict", *files, "--force", "--jobs", 1)

    return dict.fromkeys(LABELS_FILES, label) | {
        "bytes": write_bytes,
        "model.gramshift": partial(classifier.save, overwrite=True),
        "page.html": partial(classifier.report, overwrite=True),
    }


def attempt(write, path):
    try:
        write(path)
    except OSError:
        return "error"
    return "done"


def attempt_with(faults, write, path):
    with faults.installed():
        return attempt(write, path)


def try_faults(write, path, *, every):
    """Yield each fault and the state of the file after it and after the next run without one."""
    path.parent.mkdir()
    path.write_bytes(OLD)
    faults = Faults(path.parent)
    with faults.installed():
        write(path)
    new = path.read_bytes()
    for call, n in faults.counts.items():
        for number in range(1, n + 1) if every else [n // 2 + 1]:
            for fault in FAULTS:
                shutil.rmtree(path.parent)
                path.parent.mkdir()
                path.write_bytes(OLD)
                work = partial(
                    attempt_with, Faults(path.parent, (call, number), fault), write, path
                )
                ended = (
                    ("killed" if die_in_a_fork(work) == -signal.SIGKILL else "done")
                    if fault == KILL
                    else work()
                )
                state = find_state(path, new)
                again = (
                    attempt(write, path),
                    find_state(path, new),
                    sorted(one.name for one in path.parent.iterdir()),
                )
                yield call, fault, ended, state, again


def find_state(path, new):
    data = path.read_bytes()
    if data == OLD:
        return "old"
    if path.suffix == ".gramshift":  # has a date in it
        gs.load(path)
        return "new"
    if path.suffix == ".html":  # too
        return "new" if data.rstrip().endswith(b"</html>") else "broken"
    return "new" if data == new else "broken"


@pytest.mark.parametrize("name", [*LABELS_FILES, "bytes", "model.gramshift", "page.html"])
def test_a_file_is_old_or_new_whatever_fails(writers, tmp_path, name):
    path, calls = tmp_path / "here" / name, set()
    for call, fault, ended, state, again in try_faults(writers[name], path, every=name == "bytes"):
        calls.add(call)
        allowed = ("error", "killed") if state == "old" else ("error", "killed", "done")
        assert state in ("old", "new"), f"{call}, {fault}: the file is {state}"
        assert ended in allowed, f"{call}, {fault}: {ended}, and the file is {state}"
        *begun, last = again[2]
        assert (*again[:2], last) == ("done", "new", name), f"after {call}, {fault}: {again}"
        assert not begun or (
            ended == "killed" and len(begun) == 1 and begun[0].endswith(".partial")
        )
    assert calls >= {"open", "write", "fchown", "fchmod", "fsync", "replace", "close"}


def test_a_careless_writer_is_detected(tmp_path):
    def write(path):
        with os.fdopen(os.open(path, os.O_RDWR | os.O_TRUNC | os.O_CREAT), "w+b") as file:
            file.write(b"one line\n" * 10)

    found = {
        (call, fault): state
        for call, fault, _, state, _ in try_faults(
            write, tmp_path / "here" / "labels.csv", every=True
        )
    }
    assert found["write", KILL] == found["write", "ENOSPC"] == "broken"
