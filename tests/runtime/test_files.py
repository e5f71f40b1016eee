import errno
import os

import numpy as np
import pytest

from gramshift.runtime.files import npy_file


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
    with pytest.raises(OSError, match="No space left"), npy_file(tmp_path / "gram.npy", (3, 4), np.int64):
        pytest.fail("work began on a full disk")
    assert os.listdir(tmp_path) == []


def test_an_empty_array(tmp_path):
    with npy_file(tmp_path / "gram.npy", (0, 0), np.int64):
        pass
    assert np.load(tmp_path / "gram.npy").shape == (0, 0)
