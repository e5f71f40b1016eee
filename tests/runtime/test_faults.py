"""Grams that are killed, run out of disk or find damaged tiles go on: no finished tile is computed again, bits are the same."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import namedtuple
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from conftest import KINDS, PAIR_KINDS
from gramshift import StringKernel
from gramshift.grams import gram as gram_module
from gramshift.grams.plan import plan_gram, seconds_left, tiles
from gramshift.kernels.kernel import PIECE_BYTES, PIECES, CountingKernel, Job, plan_kept, plan_strips
from gramshift.kernels.pairs import plan_pairs
from gramshift.kernels.registry import KERNELS
from gramshift.ngrams.index import run_serially
from gramshift.runtime.resources import Runtime
from gramshift.text.encode import encode

RNG = np.random.default_rng(0)
TEXTS = ["".join(RNG.choice(list("abcd é"), size)) for size in RNG.integers(0, 40, 150)]
OTHERS = TEXTS[100:] + ["".join(RNG.choice(list("abcd é"), 30)) for _ in range(60)]
SMALL = {  # tiles of slow kernels, so that these texts have some
    "subsequence": {"tile": (16, 16), "tiles_in_file": 13},
    "local_rank": {"tile": (32, 32), "tiles_in_file": 7},
}
SCRIPT = """
import json, os, resource, signal, sys
from gramshift import StringKernel
from gramshift.runtime.resources import Runtime
texts, kind, options, folder, out, small = json.loads(sys.stdin.read())
def kill():
    os.kill(os.getpid(), signal.SIGKILL)
def progress(stage, done, total):
    if stage == "gram" and done == stop:
        kill()
stop = None
{fault}
runtime = Runtime(1, progress=progress, resume=folder, **small)
try:
    StringKernel(kind, ngram_range=(2, 4), **options).compute(texts, runtime=runtime, out=out)
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kept"


@pytest.fixture
def computed(monkeypatch):
    """The tiles that are computed from now on."""
    found, fill = [], gram_module._fill_tile

    def count(kernel, gram, normalize, tile):
        found.append(tile)
        fill(kernel, gram, normalize, tile)

    monkeypatch.setattr(gram_module, "_fill_tile", count)
    return found


def compute(others=None, *, kind="presence", folder=None, out=None, normalize=None, weighting=None, **resources):
    runtime = Runtime(**{"n_jobs": 1, "resume": folder} | SMALL.get(kind, {}) | resources)
    kernel = StringKernel(kind, ngram_range=(2, 4), weighting=weighting)
    return kernel.compute(TEXTS, others, runtime=runtime, out=out, normalize=normalize)


def run_with(fault, folder, kind="presence", out=None, **options):
    """A process of its own in which ``fault`` happens."""
    given = json.dumps([TEXTS, kind, options, str(folder), out and str(out), SMALL.get(kind, {})])
    command = [sys.executable, "-c", SCRIPT.format(fault=fault)]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=100, check=False)


def stopping_after(n):
    steps = []

    def progress(stage, done, total):
        if stage == "gram":
            steps.append(done)
            if done - steps[0] == n:
                raise KeyboardInterrupt

    return progress


def pieces(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".piece"))


@pytest.mark.parametrize(
    ("kind", "options", "stops", "together"),
    [
        ("presence", {}, (2, 4), 1),
        ("presence", {"weighting": {"idf": 1.5}, "normalize": True}, (1, 3), 1),
        ("subsequence", {"normalize": True}, (14, 30), 13),
    ],
    ids=["counts", "weights", "pairs"],
)
def test_killed_in_the_middle_it_goes_on(folder, tmp_path, computed, kind, options, stops, together):
    expected = compute(kind=kind, **options)
    n_tiles, out, steps = len(computed), tmp_path / "gram.npy", []
    computed.clear()
    for stop in stops:  # killed twice
        assert run_with(f"stop = {stop}", folder, kind, out, **options).returncode == -signal.SIGKILL
        assert not out.exists()
        assert len(pieces(folder)) == stop // together
    found = compute(kind=kind, folder=folder, out=out, progress=lambda *step: steps.append(step), **options)
    assert found.tobytes() == expected.tobytes()
    n_kept = stops[1] // together * together
    assert next(step for step in steps if step[0] == "gram") == ("gram", n_kept, n_tiles)
    assert len(computed) == n_tiles - n_kept > 0
    assert sorted(os.listdir(tmp_path)) == ["gram.npy", "kept"]  # nor what was left of the file
    computed.clear()
    assert compute(kind=kind, folder=folder, **options).tobytes() == expected.tobytes()
    assert computed == []


@pytest.mark.parametrize(("call", "number"), [("fsync", 7), ("replace", 4)])
def test_killed_while_it_writes_a_piece_it_goes_on(folder, computed, call, number):
    expected = compute()
    computed.clear()
    fault = f"""
real, calls = os.{call}, []
def fatal(*arguments):
    calls.append(arguments)
    if len(calls) == {number}:  # the first one is of the head; the folder is synced too
        kill()
    return real(*arguments)
os.{call} = fatal"""
    assert run_with(fault, folder).returncode == -signal.SIGKILL
    assert any(name.endswith(".partial") for name in os.listdir(folder))
    assert len(pieces(folder)) == 2
    steps = []
    assert compute(folder=folder, progress=lambda *step: steps.append(step)).tobytes() == expected.tobytes()
    assert ("gram", 2, 2 + len(computed)) in steps
    assert not any(name.endswith(".partial") for name in os.listdir(folder))


@pytest.mark.parametrize("kind", KINDS + PAIR_KINDS)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("others", [None, OTHERS], ids=["symmetric", "rectangular"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_stopped_anywhere_the_bits_are_the_same(folder, computed, kind, normalize, others, n_jobs):
    plain = compute(others, kind=kind, normalize=normalize)
    computed.clear()
    for stop in (0, 1, 9):
        n_kept = len(pieces(folder)) if folder.exists() else 0
        with suppress(KeyboardInterrupt):  # other threads may have finished all tiles by then
            compute(others, kind=kind, normalize=normalize, folder=folder, n_jobs=n_jobs, progress=stopping_after(stop))
        assert len(pieces(folder)) >= n_kept
    found = compute(others, kind=kind, normalize=normalize, folder=folder, n_jobs=n_jobs)
    assert found.dtype == plain.dtype
    assert found.tobytes() == plain.tobytes()
    computed.clear()
    assert compute(others, kind=kind, normalize=normalize, folder=folder).tobytes() == plain.tobytes()
    assert computed == []


def test_tiles_fit_whatever_the_threads_and_the_memory(folder, computed):
    expected = compute(n_jobs=1, folder=folder)
    assert len(computed) > 4
    computed.clear()
    for n_jobs, limit in [(3, "1 GB"), (2, "2 MB"), (16, "3 MB")]:
        assert compute(n_jobs=n_jobs, memory_limit=limit, folder=folder).tobytes() == expected.tobytes()
    assert computed == []


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "gone"])
@pytest.mark.parametrize("kind", ["intersection", "local_rank"])
def test_a_damaged_tile_is_found_and_computed_again(folder, computed, caplog, kind, damage):
    expected = compute(kind=kind, folder=folder)
    n_tiles, names = len(computed), pieces(folder)
    assert len(names) > 2
    computed.clear()
    path = folder / names[1]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 64
    path.write_bytes({"empty": b"", "cut": data[:-9], "flipped": data, "gone": b""}[damage])
    if damage == "gone":
        path.unlink()
    assert compute(kind=kind, folder=folder).tobytes() == expected.tobytes()
    assert 0 < len(computed) < n_tiles / 2
    assert [record.levelname for record in caplog.records] == ([] if damage == "gone" else ["WARNING"])
    computed.clear()
    assert compute(kind=kind, folder=folder).tobytes() == expected.tobytes()
    assert computed == []


def test_tiles_of_another_shape_are_computed_again(folder, computed):
    """Should a later version cut grams in another way and forget to say so."""
    expected = compute(folder=folder)
    computed.clear()
    assert compute(folder=folder, tile=(16, 150)).tobytes() == expected.tobytes()
    assert len(computed) == 10


@pytest.mark.parametrize(
    ("change", "texts", "told"),
    [
        ({"kind": "spectrum"}, TEXTS, 'kind is "presence" there and "spectrum" here'),
        ({"ngram_range": (2, 5)}, TEXTS, r"ngram_range is \[2, 4\] there and \[2, 5\] here"),
        ({"normalize": True}, TEXTS, "normalize is false there and true here"),
        ({"weighting": "idf"}, TEXTS, r'weighting is missing there and {"idf": 2.0,.*} here'),
        ({}, TEXTS[1:], "documents is 150 there and 149 here"),
        ({}, [*TEXTS[:-1], "x"], 'documents_sha256 is "'),
        ({}, [TEXTS[0] + TEXTS[1][:1], TEXTS[1][1:], *TEXTS[2:]], 'documents_sha256 is "'),
    ],
)
def test_the_folder_of_another_gram_is_refused_before_any_work(folder, computed, change, texts, told):
    compute(folder=folder)
    computed.clear()
    kernel = StringKernel(**({"kind": "presence", "ngram_range": (2, 4)} | change))
    with pytest.raises(ValueError, match=f"kept is of another run: {told}"):
        kernel.gram(texts, resume=folder, progress=lambda *_: pytest.fail("work began"))


def test_what_else_the_bits_depend_on_is_told_apart(folder, tmp_path):
    kernel = StringKernel(ngram_range=(2, 4), weighting={"classes": 1})
    classes = ["a", "b", None] * 50
    kernel.gram(TEXTS, classes=classes, resume=folder)
    with pytest.raises(ValueError, match="classes_sha256 is"):
        kernel.gram(TEXTS, classes=[*classes[1:], "a"], resume=folder)
    compute(OTHERS, folder=tmp_path / "others")
    with pytest.raises(ValueError, match="others is 110 there and missing here"):
        compute(folder=tmp_path / "others")
    with pytest.raises(ValueError, match="others_sha256 is"):
        compute(OTHERS[::-1], folder=tmp_path / "others")
    StringKernel("subsequence", ngram_range=(2, 2), decay=0.5).gram(TEXTS[:9], resume=tmp_path / "decay")
    with pytest.raises(ValueError, match=r"decay is 0\.5 there and 0\.25 here"):
        StringKernel("subsequence", ngram_range=(2, 2), decay=0.25).gram(TEXTS[:9], resume=tmp_path / "decay")


def test_the_folder_of_another_version_is_refused(folder, monkeypatch):
    compute(folder=folder)
    monkeypatch.setattr("gramshift.runtime.checkpoint.__version__", "99.0")
    with pytest.raises(ValueError, match=r'gramshift is "\S+" there and "99.0" here; give another folder'):
        compute(folder=folder)


def test_a_disk_that_fills_up_keeps_what_is_finished(folder, computed):
    """The system refuses files above 30 KB, which the second piece is the first to reach."""
    expected = compute()
    computed.clear()
    result = run_with("resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))", folder)
    assert result.returncode == 0, result.stderr
    assert "File too large; what is finished is kept; start again once this is mended: " in result.stdout
    assert str(folder / "tiles-00001.piece") in result.stdout
    assert sorted(os.listdir(folder)) == ["lock", "run.json", "tiles-00000.piece"]
    assert compute(folder=folder).tobytes() == expected.tobytes()
    assert len(computed) == len(pieces(folder)) - 1


def test_a_full_disk_is_an_error_with_the_path(folder, monkeypatch, tmp_path):
    real, calls = os.fsync, []

    def full(file):
        calls.append(file)
        if len(calls) == 5:  # file and folder of the head, of a piece, and now of the next
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device; what is finished is kept") as caught:
        compute(folder=folder, out=tmp_path / "gram.npy")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(folder / "tiles-00001.piece")
    assert sorted(os.listdir(folder)) == ["lock", "run.json", "tiles-00000.piece"]
    assert os.listdir(tmp_path) == ["kept"]


def test_a_disk_that_is_too_small_is_refused_first(folder, computed, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: namedtuple("Usage", "free")(100_000))
    with pytest.raises(OSError, match=r"1\d\d\.\d KiB are needed for the tiles to come, but 97.7 KiB are free") as caught:
        compute(folder=folder)
    assert caught.value.filename == str(folder)
    assert computed == []


def test_bad_folders_are_refused_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr("gramshift.model.string_kernel.as_documents", lambda *_: pytest.fail("work began"))
    with pytest.raises(NotADirectoryError, match="file is a file; give a folder"):
        compute(folder=tmp_path / "file")
    with pytest.raises(FileNotFoundError, match="make it first"):
        compute(folder=tmp_path / "no" / "kept")
    with pytest.raises(ValueError, match="holds other things, such as file"):
        compute(folder=tmp_path)


def test_the_lock_is_given_back_after_an_error(folder):
    from gramshift.runtime import lock

    with pytest.raises(KeyboardInterrupt):
        compute(folder=folder, progress=stopping_after(1))
    assert not lock._held


def test_empty_grams_and_single_documents(tmp_path):
    assert StringKernel().gram([], resume=tmp_path / "none").shape == (0, 0)
    for _ in range(2):
        assert StringKernel(ngram_range=(1, 2)).gram(["ab"], resume=tmp_path / "one").tolist() == [[3]]


def make_kernel(kind):
    texts = encode(StringKernel().prepare(TEXTS))
    return KERNELS[kind].make_ready(Job(texts, None, (2, 4), True, KERNELS[kind].defaults, run_serially, lambda n_bytes: None))


def test_what_is_left_is_what_is_announced(folder, caplog):
    kernel, runtime = make_kernel("subsequence"), Runtime(1, **SMALL["subsequence"])
    plan = plan_gram(kernel, runtime, 10**9, n_threads=1, kept=True)
    whole = seconds_left(kernel, plan, 0)
    announced = {"kind": "subsequence", "folder": folder, "announced_from": whole / 2}
    compute(**announced)
    assert len(caplog.messages) == 1
    (folder / pieces(folder)[0]).unlink()
    assert 0 < seconds_left(kernel, plan, len(pieces(folder))) < whole / 2
    compute(**announced)
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("kind", ["presence", "subsequence"])
def test_without_a_checkpoint_no_tile_is_held_to_be_written(kind):
    plan = plan_gram(make_kernel(kind), Runtime(1, tiles_in_file=5), 10**9, n_threads=1)
    assert plan.together == 0


@pytest.mark.parametrize("n_docs", [1, 45, 2000, 8000, 50_000])
@pytest.mark.parametrize("length", [100, 5000])
def test_there_are_neither_many_files_nor_large_ones(n_docs, length):
    def cost(n_rows, row_length, n_cols, col_length):
        return 500.0 * n_rows * n_cols + 2.2 * row_length * col_length

    lengths = np.full(n_docs, length)
    work = cost(n_docs, n_docs * length, n_docs, n_docs * length)
    pairs = plan_pairs(lengths, lengths, n_threads=2, tile_bytes=7, nanoseconds=cost)
    strips = plan_strips(n_docs, n_docs, n_threads=6, budget=10**12, row_bytes=CountingKernel.BYTES_PER_ROW)
    for plan, nanoseconds in [(pairs, work), (strips, 0.0)]:
        kept = plan_kept(plan, n_docs, n_docs, nanoseconds=nanoseconds, budget=10**12)
        assert replace(kept, together=0) == plan
        n_tiles = sum(1 for _ in tiles(n_docs, n_docs, plan.height, plan.width, symmetric=True))
        n_files, size = -(-n_tiles // kept.together), 8 * kept.height * kept.width * kept.together
        assert size <= PIECE_BYTES
        assert n_files <= PIECES or size > PIECE_BYTES / 4
        if nanoseconds and n_files > 1:
            assert work / 2 / n_files <= max(2e10, work / 2 / PIECES * 2.1)
