import errno
import json
import logging
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramshift
from conftest import texts
from gramshift.errors import InputError
from gramshift.runtime import checkpoint as module
from gramshift.runtime.checkpoint import Checkpoint, check_folder, digest
from gramshift.runtime.lock import hold
from gramshift.runtime.replacing import replaced_file
from gramshift.runtime.schema import Array

KEY = {"what": "test", "ngram_range": (5, 8), "documents": 3}
ARRAYS = {
    "counts": np.arange(35).reshape(5, 7)[1:4, ::2],
    "values": np.array([[0.5, -0.0, np.inf]]),
    "flags": np.array([True, False, True]),
    "words": np.array(["", "é😀"]),
    "none": np.zeros((0, 4)),
    "one": np.array(7),
}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kept"


def fill(folder, **pieces):
    with Checkpoint.open(folder, KEY) as checkpoint:
        for name, value in pieces.items():
            checkpoint.save(name, value=np.full(3, value))


def elsewhere(folder, then="pass"):
    """Open the folder in another process; what it prints."""
    script = f"""
import os, signal, sys
from gramshift.errors import InputError
from gramshift.runtime.checkpoint import Checkpoint
from gramshift.runtime.schema import Array
try:
    checkpoint = Checkpoint.open(sys.argv[1], {KEY!r})
    print("open", checkpoint.n_done, flush=True)
    {then}
except OSError as error:
    print(type(error).__name__, error)
"""
    return subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, timeout=60, check=False)


def test_what_is_saved_is_there_the_next_time(folder):
    with Checkpoint.open(folder, KEY) as checkpoint:
        assert checkpoint.load("a") is None
        assert "a" not in checkpoint
        checkpoint.save("a", **ARRAYS)
        assert "a" in checkpoint
    with Checkpoint.open(folder, KEY) as checkpoint:
        assert ("a" in checkpoint, checkpoint.n_done, checkpoint.kept, checkpoint.redone) == (True, 1, 0, 0)
        found = checkpoint.load("a")
        assert checkpoint.kept == 1
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
        assert found[name].flags.aligned
    assert sorted(os.listdir(folder)) == ["a.piece", "lock", "run.json"]


def test_the_head_can_be_read_by_people(folder):
    fill(folder)
    head = json.loads((folder / "run.json").read_text())
    assert head == {"format": 1, "gramshift": gramshift.__version__, "what": "test", "ngram_range": [5, 8], "documents": 3}


def test_a_piece_can_be_replaced(folder):
    fill(folder, a=1)
    fill(folder, a=2)
    with Checkpoint.open(folder, KEY) as checkpoint:
        assert checkpoint.load("a")["value"].tolist() == [2, 2, 2]


def flip(data, place):
    place %= len(data)
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[:3], id="three bytes"),
        pytest.param(lambda data: data[:-1], id="one byte less"),
        pytest.param(lambda data: data[: len(data) // 2], id="half"),
        pytest.param(lambda data: data + b"\0", id="one byte more"),
        pytest.param(lambda data: bytes(len(data)), id="zeros"),
        *(pytest.param(lambda data, p=p: flip(data, p), id=f"flipped at {p}") for p in (0, 40, 70, 130, 150, -5, -1)),
    ],
)
def test_a_damaged_piece_is_found_and_removed(folder, damage, caplog):
    fill(folder, a=1, b=2)
    path = folder / "a.piece"
    data = path.read_bytes()
    path.write_bytes(damage(data))
    with Checkpoint.open(folder, KEY) as checkpoint:
        assert checkpoint.load("a") is None
        assert checkpoint.load("b")["value"].tolist() == [2, 2, 2]
        assert (checkpoint.redone, checkpoint.kept, checkpoint.n_done) == (1, 1, 1)
        assert "a" not in checkpoint
        assert not path.exists()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"{path} is damaged" in record.getMessage()


def test_a_piece_larger_than_its_arrays_can_be_is_not_read(folder, caplog):
    fill(folder, a=1)
    os.truncate(folder / "a.piece", 1 << 40)  # a terabyte of zeros, none of which is on the disk
    with Checkpoint.open(folder, KEY) as checkpoint:
        assert checkpoint.load("a", {"value": Array("<i8", (3,))}) is None
    assert "it has 1099511627776 bytes where 2072 are the most" in caplog.text


def test_every_single_byte_counts(folder):
    fill(folder, a=1)
    path = folder / "a.piece"
    data = path.read_bytes()
    with Checkpoint.open(folder, KEY) as checkpoint:
        for place in range(len(data)):
            path.write_bytes(flip(data, place))
            assert checkpoint.load("a") is None
        path.write_bytes(data)
        assert checkpoint.load("a") is not None


def test_a_piece_of_another_run_or_under_another_name_does_not_count(folder, tmp_path):
    fill(folder, a=1)
    (folder / "b.piece").write_bytes((folder / "a.piece").read_bytes())
    with Checkpoint.open(tmp_path / "other", {**KEY, "documents": 4}) as checkpoint:
        (tmp_path / "other" / "a.piece").write_bytes((folder / "a.piece").read_bytes())
        assert checkpoint.load("a") is None
    with Checkpoint.open(folder, KEY) as checkpoint:
        assert checkpoint.load("b") is None
        assert checkpoint.load("a") is not None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ngram_range": (3, 5)}, "ngram_range is [5, 8] there and [3, 5] here"),
        ({"documents": 4}, "documents is 3 there and 4 here"),
        ({"kind": "presence"}, 'kind is missing there and "presence" here'),
        ({"gramshift": "9.9"}, f'gramshift is "{gramshift.__version__}" there and "9.9" here'),
        ({"format": 2}, "format is 1 there and 2 here"),
    ],
)
def test_a_folder_of_another_run_is_refused_with_the_reason(folder, change, told):
    fill(folder, a=1)
    message = f"{folder} is of another run: {told}; give another folder, or delete this one: rm -r {folder}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Checkpoint.open(folder, KEY | change)
    assert elsewhere(folder).stdout == "open 1\n"  # the lock was given back


def test_an_entry_that_this_run_lacks_is_told(folder):
    fill(folder)
    with pytest.raises(ValueError, match='what is "test" there and missing here; documents is 3 there and missing here;'):
        Checkpoint.open(folder, {"ngram_range": [5, 8]})


def test_a_folder_with_other_things_is_refused_and_left_alone(folder):
    folder.mkdir()
    (folder / "thesis.tex").write_text("x")
    with pytest.raises(ValueError, match=r"kept holds other things, such as thesis.tex; give an empty folder"):
        Checkpoint.open(folder, KEY)
    assert os.listdir(folder) == ["thesis.tex"]


@pytest.mark.parametrize("content", ["", "{", "[]", "\ufffd"])
def test_a_head_that_cannot_be_read_is_refused(folder, content):
    fill(folder, a=1)
    (folder / "run.json").write_text(content)
    with pytest.raises(ValueError, match=r"run.json cannot be read, .*give another folder, or delete this one"):
        Checkpoint.open(folder, KEY)


def test_an_empty_folder_will_do_and_so_will_what_a_killed_process_left(folder):
    folder.mkdir()
    (folder / ".gramshift-run-456.partial").write_text("{")
    (folder / "lock").write_text("process 1 on moon\n")
    fill(folder, a=1)
    (folder / ".gramshift-a-456.partial").write_bytes(b"half")
    fill(folder)
    assert sorted(os.listdir(folder)) == ["a.piece", "lock", "run.json"]


def test_a_piece_under_way_in_another_thread_is_no_leftover(folder):
    with Checkpoint.open(folder, KEY) as checkpoint, replaced_file(checkpoint.folder / "a.piece") as file:
        fill(folder)
        file.write(b"x")
    assert (folder / "a.piece").read_bytes() == b"x"


def test_places_that_cannot_hold_a_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileNotFoundError, match=r"nowhere: no such folder, so kept cannot be made in it; make it first"):
        Checkpoint.open(tmp_path / "nowhere" / "kept", KEY)
    with pytest.raises(NotADirectoryError, match=r"file is a file; give a folder, or a name for a new one"):
        Checkpoint.open(tmp_path / "file", KEY)
    with pytest.raises(FileNotFoundError, match=r"file: no such folder"):
        check_folder(tmp_path / "file" / "kept")
    assert os.listdir(tmp_path) == ["file"]


def refuse(code):
    def call(*_, **__):
        raise OSError(code, os.strerror(code))

    return call


@pytest.mark.parametrize(("code", "kind"), [(errno.EACCES, PermissionError), (errno.EROFS, OSError), (errno.ENOSPC, OSError)])
@pytest.mark.parametrize("call", ["mkdir", "open", "write"])
def test_a_folder_that_cannot_be_written_is_one_clear_error(folder, monkeypatch, call, code, kind):
    """As root no folder is read-only, so the system's own calls are made to refuse."""
    monkeypatch.setattr(os, call, refuse(code))
    with pytest.raises(kind, match=rf"{os.strerror(code)}; finished pieces are to be kept here; give another folder") as caught:
        Checkpoint.open(folder, KEY)
    assert caught.value.filename == str(folder)
    monkeypatch.undo()
    fill(folder, a=1)


def test_names_and_values_that_do_not_fit(folder):
    with Checkpoint.open(folder, KEY) as checkpoint:
        for name in ("", "../a", ".a", "a/b", "a b"):
            with pytest.raises(ValueError, match="is no name for a piece"):
                checkpoint.save(name, value=np.zeros(1))
        with pytest.raises(TypeError, match="value holds object values"):
            checkpoint.save("a", value=np.array([None]))
        assert checkpoint.n_done == 0
    with pytest.raises(TypeError, match="is no plain value for the key of a run"):
        Checkpoint.open(folder, {"x": object()})


def test_a_second_process_is_refused_while_the_first_one_lives(folder):
    checkpoint = Checkpoint.open(folder, KEY)
    again = Checkpoint.open(folder, KEY)  # the same process may
    (folder / "lock").read_text()  # reading it must not give it away
    refused = elsewhere(folder).stdout
    assert refused.startswith(f"BlockingIOError [Errno {errno.EAGAIN}] in use by process {os.getpid()} on ")
    assert f"which is still running; wait for it, or give another folder: '{folder}'" in refused
    again.close()
    assert elsewhere(folder).stdout == refused
    checkpoint.close()
    checkpoint.close()
    assert elsewhere(folder).stdout == "open 0\n"


def test_a_lock_is_taken_over_from_a_process_that_was_killed(folder):
    killed = elsewhere(folder, then="os.kill(os.getpid(), signal.SIGKILL)")
    assert (killed.returncode, killed.stdout) == (-9, "open 0\n")
    fill(folder, a=1)
    assert (folder / "lock").read_text().startswith(f"process {os.getpid()} on ")


def test_a_fork_that_outlives_the_process_does_not_keep_the_lock(folder):
    """The child tells its parent that it is there, and lives on until the test closes its standard input."""
    script = f"""
import os, signal, sys
from gramshift.errors import InputError
from gramshift.runtime.checkpoint import Checkpoint
from gramshift.runtime.schema import Array
checkpoint = Checkpoint.open(sys.argv[1], {KEY!r})
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, b"here")
    sys.stdin.read()
    os._exit(0)
os.read(reading, 4)
os.kill(os.getpid(), signal.SIGKILL)
"""
    reading, writing = os.pipe()
    try:
        subprocess.run([sys.executable, "-c", script, str(folder)], stdin=reading, timeout=60, check=False)
        fill(folder, a=1)
    finally:
        os.close(writing)
        os.close(reading)


def test_where_locks_are_unknown_it_works_without(folder, monkeypatch):
    monkeypatch.setattr("fcntl.flock", refuse(errno.ENOLCK))
    fill(folder, a=1)
    (folder / ".gramshift-b-456.partial").write_bytes(b"whose?")
    fill(folder)
    assert (folder / ".gramshift-b-456.partial").exists()
    with Checkpoint.open(folder, KEY) as checkpoint:
        assert checkpoint.load("a") is not None


@given(texts, texts)
def test_digests_differ_where_documents_do(some, others):
    assert (digest(some) == digest(others)) == (some == others)


@given(st.lists(st.text(alphabet="ab\0", max_size=3), max_size=4), st.integers(0, 4))
def test_digests_know_where_a_document_ends(some, place):
    moved = ["".join(some[:place]), *some[place:]]
    assert (digest(some) == digest(moved)) == (some == moved)


def test_digest_is_a_sha256_of_lengths_and_utf_8():
    from hashlib import sha256

    assert digest(iter(["é", ""])) == sha256(b"\2" + bytes(7) + "é".encode() + bytes(8)).hexdigest()


def test_the_head_is_never_half_written(folder, monkeypatch):
    monkeypatch.setattr(module, "replaced_file", refuse(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left"):
        Checkpoint.open(folder, KEY)
    monkeypatch.undo()
    assert os.listdir(folder) == ["lock"]
    fill(folder, a=1)


@pytest.mark.parametrize("what", ["link", "dangling", "fifo", "folder", "file"])
def test_a_lock_that_is_none_of_ours_is_neither_emptied_nor_followed(folder, tmp_path, what):
    victim, lock = tmp_path / "victim.txt", folder / "lock"
    folder.mkdir()
    victim.write_text("precious\n")
    made = {
        "link": lambda: lock.symlink_to("../victim.txt"),
        "dangling": lambda: lock.symlink_to("../new.txt"),
        "fifo": lambda: os.mkfifo(lock),
        "folder": lock.mkdir,
        "file": lambda: os.link(victim, lock),
    }
    made[what]()
    with pytest.raises(InputError, match=r"lock is (a link|no ordinary file|no lock of Gramshift's)"):
        Checkpoint.open(folder, KEY)
    with pytest.raises(InputError, match="lock is no lock of Gramshift's, though it has the name of one"):
        hold(lock)
    assert (victim.read_text(), (tmp_path / "new.txt").exists()) == ("precious\n", False)
    assert os.listdir(folder) == ["lock"]


@pytest.mark.parametrize("name", ["a.piece", "run.json", "model.gramshift"])
def test_a_folder_with_links_in_it_is_refused_before_anything_is_written(folder, tmp_path, name):
    fill(folder, b=1)
    (folder / name).unlink(missing_ok=True)
    (tmp_path / "victim.txt").write_text("precious\n")
    (folder / name).symlink_to("../victim.txt")
    with pytest.raises(InputError, match=f"{name} is a link, which no folder of finished pieces holds; .*: rm -r "):
        Checkpoint.open(folder, KEY)
    assert (tmp_path / "victim.txt").read_text() == "precious\n"
