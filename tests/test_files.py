import errno
import os

import fsspec
import numpy as np
import pytest

from gramshift.files import identify, is_unchanged, replaced_file
from gramshift.kernels.gram import npy_file


def test_the_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "gram.npy"
    with npy_file(path, (3, 4), np.int64) as array:
        array[:] = 7
        assert not path.exists()
    assert (np.load(path) == 7).all()
    assert os.listdir(tmp_path) == ["gram.npy"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_and_an_old_file_is_kept_after_an_error(tmp_path, error):
    path = tmp_path / "gram.npy"
    np.save(path, np.arange(3))

    def fail():
        with npy_file(path, (3, 4), np.int64) as array:
            array[0] = 1
            raise error

    with pytest.raises(error):
        fail()
    assert np.load(path).tolist() == [0, 1, 2]
    assert os.listdir(tmp_path) == ["gram.npy"]


def test_a_full_disk_is_an_error_before_any_work(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with (
        pytest.raises(OSError, match="No space left"),
        npy_file(tmp_path / "gram.npy", (3, 4), np.int64),
    ):
        pytest.fail("work began on a full disk")
    assert os.listdir(tmp_path) == []


def test_an_empty_array(tmp_path):
    with npy_file(tmp_path / "gram.npy", (0, 0), np.int64):
        pass
    assert np.load(tmp_path / "gram.npy").shape == (0, 0)


def test_a_file_is_unchanged_by_its_time_or_its_digest(tmp_path):
    path = tmp_path / "x"
    path.write_text("one")
    quick, with_digest = identify(str(path)), identify(str(path), digest=True)
    assert is_unchanged(str(path), quick)
    os.utime(path, ns=(5, 5))
    assert not is_unchanged(str(path), quick)
    assert is_unchanged(str(path), with_digest)
    path.write_text("two")
    assert not is_unchanged(str(path), with_digest)
    path.write_text("more")
    assert not is_unchanged(str(path), with_digest)


def test_a_folder_is_changed_by_any_of_its_files(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.txt").write_text("one")
    (folder / "two.txt").write_text("two")
    os.utime(folder / "two.txt", ns=(5, 5))
    before = identify(str(folder))
    assert is_unchanged(str(folder), before)
    os.utime(folder, ns=(9, 9))
    (folder / "two.txt").rename(folder / "three.txt")
    assert not is_unchanged(str(folder), before)
    before = identify(str(folder))
    (folder / "one.txt").write_text("uno")
    assert not is_unchanged(str(folder), before)


def test_an_incomplete_file_at_a_url_never_appears():
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    with pytest.raises(TypeError), replaced_file("memory://bucket/x.csv") as file:
        file.writelines([b"half", None])
    assert memory.find("/") == []
