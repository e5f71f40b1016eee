"""Files that commands read back, models and kept results, which may be hostile."""

import json
import os

import pytest

from gramshift.commands.info import describe_model
from gramshift.errors import InputError
from gramshift.evaluate.kept import Kept
from gramshift.evaluate.protocol import SINGLE
from gramshift.evaluate.reproduce import Parts


def test_models_are_regular_files(tmp_path):
    """/dev/zero was once read until memory ended, a pipe until somebody wrote."""
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(InputError, match=f"{path} is a .*; it should be a regular file"):
            describe_model(path)


@pytest.mark.parametrize("content", [b"[" * 10**5, b"\xff", b"[]", b""])
def test_kept_results_that_cannot_be_read_are_found_again(tmp_path, content):
    kept = Kept(tmp_path)
    kept.save("a", {"x": 1}, [1, 2])
    assert kept.load("a", {"x": 1}) == [1, 2]
    (tmp_path / "a.json").write_bytes(content)
    assert kept.load("a", {"x": 1}) is None


def test_kept_results_behind_a_pipe_or_a_link_are_found_again(tmp_path):
    kept = Kept(tmp_path)
    kept.save("a", {}, 1)
    (tmp_path / "b.json").symlink_to("a.json")
    os.mkfifo(tmp_path / "c.json")
    assert [kept.load(name, {}) for name in "abc"] == [1, None, None]


@pytest.mark.parametrize(
    "change",
    [
        {"scores": [0.5]},
        {"scores": [0.5, float("nan"), 1]},
        {"scores": [0.5, 10**400, 1]},
        {"seconds": None},
        {"more": 1},
    ],
)
def test_outcomes_that_cannot_be_are_found_again(tmp_path, change):
    cell = SINGLE[0], "presence", "plain"
    key, data = {"fields": "text", "source_only": False}, dict.fromkeys(SINGLE[0].letters, "x")
    parts, right = Parts(tmp_path, key, data, 3), {"scores": [0.5, -1.0, 2.0], "seconds": 1.0}
    kept, name = Kept(tmp_path), f"text-presence-{SINGLE[0].name}-plain"
    kept.save(name, key | {"data": data}, right)
    assert parts.load(cell).scores.tolist() == right["scores"]
    kept.save(name, key | {"data": data}, right | change)
    assert json.loads((tmp_path / f"{name}.json").read_text())["body"]["result"] is not None
    assert parts.load(cell) is None
