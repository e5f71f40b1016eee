"""The loop of the fuzzer finds what was put there to be found, tells of it once, and shrinks it."""

import json
import os
import signal
import time

import pytest

from fuzz import __main__ as command
from fuzz.loop import HANG, MEMORY, Limits, draw_case, run_alone, run_target
from fuzz.mutation import apply_steps, draw_steps
from fuzz.shrink import Budget, cut, shrink
from fuzz.targets import Refusal, Target, Wrong, may_refuse, same
from gramshift.errors import InputError

LIMITS = Limits(work=2.0, memory=300 << 20)  # a planted hang works all the time, whatever else the machine does
WAITING = Limits(wait=3.0)
pytestmark = pytest.mark.process


def abort():
    os.kill(os.getpid(), signal.SIGSEGV)


def hang():
    while True:
        pass


def wait():
    time.sleep(60)


def take_memory():
    assert bytearray(1 << 30)


def fault():
    raise KeyError("lost")


class Planted(Target):
    """Letters; one of them is refused, a pair of them is a bug."""

    name = "planted"
    cut = ("letters",)

    def __init__(self, bug=fault, pair=("x", "y")):
        self.bug, self.pair = bug, pair

    def draw(self, rng):
        return {"letters": [rng.choice("abcdefghijxyz") for _ in range(12)]}

    def run(self, case, folder):
        if all(letter in case["letters"] for letter in self.pair):
            self.bug()
        if "a" in case["letters"]:
            raise Refusal


@pytest.mark.parametrize(
    ("bug", "kind"),
    [
        (fault, "KeyError in fuzz/test_loop.py fault"),
        (abort, "SIGSEGV in fuzz/test_loop.py abort"),
        (take_memory, "MemoryError in fuzz/test_loop.py take_memory"),
    ],
)
def test_what_is_planted_is_found_once_and_shrunk(tmp_path, bug, kind):
    target = Planted(bug)
    tally = run_target(target, tmp_path, seed=1, inputs=60, batch=25, limits=LIMITS)
    cases = [draw_case(target, 1, number)["letters"] for number in range(60)]
    bad = [letters for letters in cases if "x" in letters and "y" in letters]
    refused = [letters for letters in cases if letters not in bad and "a" in letters]
    (found,) = tally.findings.values()
    assert (found.kind, found.times, found.case) == (kind, len(bad), {"letters": bad[0]})
    assert len(bad) > 2
    assert (tally.inputs, tally.refused, tally.accepted) == (60, len(refused), 60 - len(bad) - len(refused))

    def fails(case):
        again = run_alone(target, case, tmp_path, LIMITS)
        return again is not None and again[0] == kind

    assert sorted(shrink(target, found.case, fails)["letters"]) == ["x", "y"]


@pytest.mark.parametrize(("bug", "limits"), [(hang, LIMITS), (wait, WAITING)])
def test_what_does_not_end_is_ended_and_the_rest_goes_on(tmp_path, bug, limits):
    target = Planted(bug)
    cases = [draw_case(target, 1, number)["letters"] for number in range(6)]
    bad = [number for number, letters in enumerate(cases) if "x" in letters and "y" in letters]
    assert 0 < len(bad) < 5 > bad[-1]
    tally = run_target(target, tmp_path, seed=1, inputs=6, limits=limits)
    (found,) = tally.findings.values()
    assert (found.kind, found.number, found.times) == (f"{HANG} in fuzz/test_loop.py {bug.__name__}", bad[0], len(bad))
    assert tally.refused + tally.accepted == 6 - len(bad)


def test_memory_that_was_never_asked_for_at_once_is_found_too(tmp_path):
    def grow():
        held = []
        while True:
            held.append(bytes(1 << 20))

    target = Planted(grow)
    tally = run_target(target, tmp_path, seed=1, inputs=30, limits=Limits(memory=200 << 20))
    bad = [number for number in range(30) if {"x", "y"} <= set(draw_case(target, 1, number)["letters"])]
    assert tally.n_found == len(bad) > 0
    # the system's limit and the watching parent stand at the same size: either may be first
    assert {one.kind.partition(" in ")[0] for one in tally.findings.values()} <= {"MemoryError", MEMORY}


def test_inputs_depend_on_the_seed_and_their_number_alone(tmp_path):
    target = Planted(pair="?")
    assert draw_case(target, 3, 7) == draw_case(target, 3, 7) != draw_case(target, 4, 7)
    whole, parts = (run_target(target, tmp_path, seed=5, inputs=50, batch=batch) for batch in (50, 7))
    assert (whole.refused, whole.accepted) == (parts.refused, parts.accepted)
    assert whole.inputs == 50


def test_time_ends_it(tmp_path):
    tally = run_target(Planted(pair="?"), tmp_path, seed=0, seconds=0.2)
    assert tally.inputs > 0
    assert not tally.findings


def test_who_stops_it_gets_what_was_done(tmp_path):
    class Stopping(Planted):
        def draw(self, rng):
            if len(list(tmp_path.glob("seen*"))) == 3:
                os.kill(os.getppid(), signal.SIGINT)
                time.sleep(60)
            (tmp_path / f"seen{rng.random()}").touch()
            return {"letters": []}

    tally = run_target(Stopping(), tmp_path, seed=0, inputs=10, batch=1)
    assert (tally.stopped, tally.accepted) == (True, 3)


@pytest.mark.parametrize("name", ["csv", "jsonl", "review"])
def test_targets_run(name, tmp_path, capsys):
    code = command.main(["--target", name, "--inputs", "40", "--found", str(tmp_path / "found")])
    out = capsys.readouterr().out
    assert (code, out.splitlines()[-1].split()[:2]) == (0, [name, "40"])
    assert not (tmp_path / "found").exists()


def test_a_finding_is_kept_and_can_be_run_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(command.TARGETS, "csv", "planted")
    monkeypatch.setattr(command, "load_target", lambda name: Planted())
    assert command.main(["--target", "csv", "--inputs", "40", "--found", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    (path,) = tmp_path.glob("*.json")
    kept = json.loads(path.read_text())
    assert sorted(kept["case"]["letters"]) == ["x", "y"]
    assert f"python -m fuzz --again {path}" in out
    assert "times: KeyError in fuzz/test_loop.py fault" in out
    assert command.main(["--again", str(path)]) == 1
    path.write_text(json.dumps(kept | {"case": {"letters": ["x"]}}))
    assert command.main(["--again", str(path)]) == 0


def test_steps_of_mutations_can_be_left_out_and_are_plain():
    from random import Random

    data = bytes(range(200))
    for seed in range(300):
        steps = draw_steps(Random(seed), ["word", "\xff"], tail=20 * (seed % 2))
        assert steps == json.loads(json.dumps(steps))
        assert apply_steps(data, steps) == apply_steps(data, steps)
        for place in range(len(steps)):
            apply_steps(data, steps[:place] + steps[place + 1 :])
        apply_steps(b"", steps)


def test_cutting_stops_when_there_are_no_more_tries():
    assert cut("aaxaayaa", lambda text: "x" in text and "y" in text, Budget()) == "xy"
    assert cut("aaxaayaa", lambda text: "x" in text and "y" in text, Budget(tries=1)) == "aaxaayaa"


def test_an_error_must_be_of_ours_and_name_the_file():
    with pytest.raises(Refusal), may_refuse("in.csv"):
        raise InputError("in.csv, line 2: no")
    with pytest.raises(Wrong, match="does not name the file"), may_refuse("in.csv"):
        raise InputError("no")
    with pytest.raises(ValueError, match="no"), may_refuse("in.csv"):
        raise ValueError("in.csv: no")


def test_the_same_is_the_same_bit_for_bit():
    assert same({"a": [float("nan"), None]}, {"a": [float("nan"), None]})
    pairs = [(1, 1.0), (0.0, -0.0), (True, 1), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([1], [1, 1])]
    assert not any(same(*pair) for pair in pairs)
