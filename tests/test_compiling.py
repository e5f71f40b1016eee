"""Compiled code on disk: damaged or unwritable files never stop a run or change a result."""

import os
import signal
import subprocess
import sys
import textwrap
from threading import Event, Thread

import numba
import numpy as np
import pytest
from numba import int64, typeof
from numba.core.compiler_lock import global_compiler_lock

from gramshift import compiling
from gramshift.compiling import CompiledFunction, compiled


def twice(number):
    return number + number


def read_third(numbers):
    return numbers[2]


def load(function=twice):
    """Return the function as a new process gets it, and whether it came from the disk."""
    found = compiled("int64(int64)")(function)
    assert found(21) == function(21)
    return bool(found.stats.cache_hits)


@pytest.mark.parametrize("checked", [0, 1])
def test_bounds_are_checked_where_the_environment_asks(tmp_path, monkeypatch, checked):
    """`make test-bounds` asks. The third number is there, beyond the end of the array."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", checked)
    found = compiled("int64(int64[::1])")(read_third)
    if checked:
        with pytest.raises(IndexError):
            found(np.arange(3)[:2])
    else:
        assert found(np.arange(3)[:2]) == 2


def test_it_is_compiled_for_the_declared_types_that_a_call_needs():
    found = compiled("float64(float64[::1])", "float64(int64[::1])")(read_third)
    assert found.signatures == []
    numbers = np.arange(3)
    assert found(numbers) == 2
    assert found.signatures == [(typeof(numbers),)]
    numbers.flags.writeable = False
    assert found(numbers) == 2
    assert len(found.signatures) == 2

    inner = compiled("int64(int64)")(twice)
    assert compiled("int64(uint8)")(lambda number: inner(number) + inner(3))(np.uint8(4)) == 14
    assert inner.signatures == [(int64,)]


def test_a_call_with_the_same_types_compiles_nothing(monkeypatch):
    found = compiled("int64(int64[::1])")(read_third)
    numbers = np.arange(6).reshape(3, 2)[:, 0]  # not in one piece, unlike the declared ones
    assert found(numbers) == 4
    monkeypatch.setattr(CompiledFunction, "compile", None)
    assert found(numbers) == 4


def test_code_is_compiled_again_when_any_compiled_function_has_changed(kept, monkeypatch):
    assert load()
    monkeypatch.setattr(compiling, "digest_sources", lambda: b"another function has changed")
    assert not load()
    assert load()


@pytest.mark.process
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # from Python 3.12 on
def test_a_child_does_not_wait_for_a_thread_that_compiled_in_its_parent():
    held, release = Event(), Event()

    def compile_for_long():
        with global_compiler_lock:
            held.set()
            release.wait(1)  # the fork waits for it

    thread = Thread(target=compile_for_long)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)  # ends a child that waits for ever
        with global_compiler_lock:
            os._exit(0)
    release.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The index and the code of a compiled function, kept on disk."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert not load()
    assert load()
    return next(tmp_path.rglob("*.nbi")), next(tmp_path.rglob("*.nbc"))


DAMAGE = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "something else": lambda content: b"\x80\x04\x95\x00",
    "zeros": lambda content: bytes(len(content)),
}


@pytest.mark.parametrize("which", [0, 1], ids=["index", "code"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_files_are_done_without(kept, which, damage):
    path = kept[which]
    path.write_bytes(damage(path.read_bytes()))
    assert not load()


def test_files_that_are_folders_stop_nobody(kept):
    for path in kept:
        path.unlink()
        path.mkdir()
    assert not load()


SCRIPT = """
    import logging, resource, sys
    logging.basicConfig(format="%(message)s")
    if sys.argv[1:]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
    from gramshift.compiling import compiled
    @compiled("int64(int64)")
    def twice(number):
        return number + number
    @compiled("int64(int64)")
    def thrice(number):
        return number + number + number
    print(twice(4), thrice(4), sum(bool(one.stats.cache_hits) for one in (twice, thrice)))
"""


@pytest.fixture
def run(tmp_path):
    """A process that loads two compiled functions: what it prints, and the lines that it logs."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))

    def start(folder, *arguments):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
        command = [sys.executable, str(script), *map(str, arguments)]
        result = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=True
        )
        return result.stdout.strip(), result.stderr.splitlines()

    return start


@pytest.mark.process
def test_one_line_says_how_often_it_is_compiled(tmp_path, run):
    out, lines = run(tmp_path / "kept")
    assert out == "8 12 0"
    assert len(lines) == 1
    assert (
        "compiling inner loops on their first use in this environment, up to a minute" in lines[0]
    )
    assert run(tmp_path / "kept") == ("8 12 2", [])


@pytest.mark.process
def test_a_disk_without_room_is_named_and_stops_nobody(tmp_path, run):
    """The process may write files of 2000 bytes: enough for the index, not for the code."""
    out, lines = run(tmp_path / "kept", 2000)
    assert out == "8 12 0"
    assert len(lines) == 1
    assert "in every process, because they cannot be kept" in lines[0]
    assert "File too large" in lines[0]
    assert "set NUMBA_CACHE_DIR to a new folder" in lines[0]


PLAIN = """
    import gramshift as gs
    clf = gs.TransductiveClassifier(ngram_range=(2, 3))
    clf.fit(["a good pan", "a bad pan", "good", "bad"], [1, 0, 1, 0], target=["a bad film", "good"])
    print(clf.predict(["so bad", ""])[0], clf.explain("so bad").label)
"""


@pytest.mark.process
def test_compiled_functions_run_as_plain_python():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PLAIN)]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.stdout, result.stderr) == ("0 0\n", "")


@pytest.mark.process
def test_without_a_place_it_says_that_every_process_compiles():
    """Code that is in no file has no place for what is compiled from it."""
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout == "8 12 0\n"
    assert result.stderr.count("\n") == 1
    assert "in every process, because they cannot be kept" in result.stderr
