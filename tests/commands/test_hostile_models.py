"""Models and kept results that are no regular files, or deeply nested."""

import os

import pytest

from gramshift.commands.info import describe_model
from gramshift.errors import InputError
from gramshift.evaluate.result_store import ResultStore


def test_models_are_regular_files(tmp_path):
    """Issue 19, B15: /dev/zero was read until memory ended, a pipe until somebody wrote."""
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(InputError, match=f"{path} is a .*; it should be a regular file"):
            describe_model(path)


@pytest.mark.parametrize("content", [b"[" * 10**5, b"\xff", b"[]", b""])
def test_kept_results_that_cannot_be_read_are_found_again(tmp_path, content):
    """Issue 19, D7."""
    kept = ResultStore(tmp_path)
    kept.save("a", {"x": 1}, [1, 2])
    assert kept.load("a", {"x": 1}) == [1, 2]
    (tmp_path / "a.json").write_bytes(content)
    assert kept.load("a", {"x": 1}) is None


def test_kept_results_behind_a_pipe_or_a_link_are_found_again(tmp_path):
    kept = ResultStore(tmp_path)
    kept.save("a", {}, 1)
    (tmp_path / "b.json").symlink_to("a.json")
    os.mkfifo(tmp_path / "c.json")
    assert [kept.load(name, {}) for name in "abc"] == [1, None, None]
