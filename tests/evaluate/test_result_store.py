"""Kept results of interrupted runs: damaged and impossible ones are computed again."""

import json
import os

import pytest

from conftest import posix
from gramshift.errors import InputError
from gramshift.evaluate.protocol import Setting
from gramshift.evaluate.reproduce import OutcomeStore
from gramshift.evaluate.result_store import ResultStore


@pytest.mark.parametrize("content", [b"[" * 10**5, b"\xff", b"[]", b""])
def test_unreadable_results_are_computed_again(tmp_path, content):
    kept = ResultStore(tmp_path)
    kept.save("a", {"x": 1}, [1, 2])
    assert kept.load("a", {"x": 1}) == [1, 2]
    (tmp_path / "a.json").write_bytes(content)
    assert kept.load("a", {"x": 1}) is None


@posix
def test_results_behind_a_pipe_or_a_link_are_computed_again(tmp_path):
    kept = ResultStore(tmp_path)
    kept.save("a", {}, 1)
    (tmp_path / "b.json").symlink_to("a.json")
    os.mkfifo(tmp_path / "c.json")
    assert [kept.load(name, {}) for name in "abc"] == [1, None, None]


@posix
def test_only_results_are_deleted_and_none_behind_a_link(tmp_path):
    folder, mine = tmp_path / "compared", {"mine.json": "{}", "b.json": '{"checksum": 1}'}
    kept = ResultStore(folder)
    kept.save("a", {}, 1)
    for name, content in mine.items():
        (folder / name).write_text(content)
    (folder / "link.json").symlink_to("a.json")
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(InputError, match=r"link is a link; .* delete the link, or give another"):
        ResultStore(tmp_path / "link").clear()
    assert kept.load("a", {}) == 1
    kept.clear()
    assert sorted(path.name for path in folder.iterdir()) == ["b.json", "link.json", "mine.json"]
    assert kept.names() == []


@pytest.mark.parametrize(
    "change",
    [
        {"scores": [0.5]},
        {"scores": "x"},
        {"scores": [0.5, float("nan"), 1]},
        {"scores": [0.5, 10**400, 1]},
        {"seconds": None},
        None,
    ],
)
def test_impossible_outcomes_are_computed_again(tmp_path, change):
    cell = Setting("D", "B"), "presence", "plain"
    key = {"fields": "text", "source_only": False}
    data = {"B": "b", "D": "d"}
    right = {"scores": [0.5, -1.0, 2.0], "seconds": 1.0}
    outcomes = OutcomeStore(tmp_path, key, data, 3)
    results, name = ResultStore(tmp_path), "text-presence-D-B-plain"
    results.save(name, key | {"data": data}, right)
    assert outcomes.load(cell).scores.tolist() == right["scores"]
    results.save(name, key | {"data": data}, {} if change is None else right | change)
    assert json.loads((tmp_path / f"{name}.json").read_text())["body"]["result"] is not None
    assert outcomes.load(cell) is None
