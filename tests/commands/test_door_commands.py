"""Files that commands read back: models and kept results that are no regular files, or nested deep."""

import json
import os

import numpy as np
import pytest

from gramshift.commands.info import describe_model
from gramshift.errors import InputError
from gramshift.evaluate.kept import Kept
from gramshift.evaluate.protocol import SINGLE
from gramshift.evaluate.results import Parts


def test_models_are_regular_files(tmp_path):
    """Issue 19, B15: /dev/zero was read until memory ended, a pipe until somebody wrote."""
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(InputError, match=f"{path} is a .*; it should be a regular file"):
            describe_model(path)


@pytest.mark.parametrize("content", [b"[" * 10**5, b"\xff", b"[]", b""])
def test_kept_results_that_cannot_be_read_are_found_again(tmp_path, content):
    """Issue 19, D7."""
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
        {"added": [3]},
        {"added": [-1]},
        {"added": [10**30]},
        {"seconds": None},
        {"method": 1},
        {"more": 1},
    ],
)
def test_outcomes_that_cannot_be_are_found_again(tmp_path, change):
    setting = SINGLE[0]
    parts = Parts(tmp_path, {"fields": "text"}, dict.fromkeys(setting.letters, "x"), dict.fromkeys(setting.letters, 3))
    right = {"method": "plain", "scores": [0.5, -1.0, 2.0], "added": [1], "seconds": 1.0}
    kept, name = Kept(tmp_path), f"text-presence-{setting.name}"
    key = {"fields": "text", "data": dict.fromkeys(setting.letters, "x")}
    kept.save(name, key, [right])
    (found,) = parts.load("presence", setting, ["plain"])
    assert (found.scores.tolist(), found.added.tolist()) == (right["scores"], [1])
    assert found.added.dtype == np.intp
    kept.save(name, key, [right | change])
    assert json.loads((tmp_path / f"{name}.json").read_text())["body"]["result"] is not None
    assert parts.load("presence", setting, ["plain"]) is None
