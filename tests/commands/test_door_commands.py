"""Files that commands read back: options, models and kept results that are no regular files, or nested deep."""

import json
import os

import numpy as np
import pytest

from gramshift.commands.classify.options import read_config
from gramshift.commands.info import describe_model
from gramshift.errors import InputError
from gramshift.evaluate.kept import Kept
from gramshift.evaluate.protocol import SINGLE
from gramshift.evaluate.results import Parts


@pytest.mark.parametrize("content", ["a = " + "[" * 2000 + "]" * 2000, "a = " + "{b=" * 2000 + "1" + "}" * 2000])
def test_options_that_are_nested_deep_are_one_clear_error(tmp_path, content):
    """Issue 19, D7: a RecursionError, told as a fault of ours."""
    (tmp_path / "c.toml").write_text(content)
    with pytest.raises(InputError, match=r"c\.toml is nested too deep; options are strings, numbers and lists of strings"):
        read_config(str(tmp_path / "c.toml"))


def test_options_and_models_are_regular_files_of_a_sensible_size(tmp_path):
    """Issue 19, B15: /dev/zero was read until memory ended, a pipe until somebody wrote."""
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        for read in (read_config, describe_model):
            with pytest.raises(InputError, match=f"{path} is a .*; it should be a regular file"):
                read(path)
    (tmp_path / "large.toml").write_text("# \n" * 50_000)
    with pytest.raises(InputError, match=r"large\.toml has more than 100000 bytes"):
        read_config(str(tmp_path / "large.toml"))
    (tmp_path / "number.toml").write_text("jobs = " + "9" * 10_000)
    with pytest.raises(InputError, match=r"number\.toml is not TOML"):
        read_config(str(tmp_path / "number.toml"))
    (tmp_path / "c.toml").write_bytes(b'\xef\xbb\xbfmethod = "tkc"\r\njobs = 2\r\n')
    (tmp_path / "link.toml").symlink_to("c.toml")
    assert read_config(str(tmp_path / "link.toml")) == {"method": "tkc", "jobs": 2}


@pytest.mark.parametrize("content", [b"[" * 10**5, b'{"body":' * 10**5, b"\xff", b"1" * 5000, b"[]", b""])
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
        {"scores": [0.5, "1", 1]},
        {"scores": [[0.5], [0.5], [1]]},
        {"added": [3]},
        {"added": [-1]},
        {"added": [10**30]},
        {"seconds": "x"},
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
