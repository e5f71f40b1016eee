"""The loop: inputs run in batches, each in a child process, so that a crash, a hang or much memory ends the child alone.

The child says on a board of shared memory which input is under way; whatever becomes of it, that input is known. What can be
caught in Python goes into a file, and the child goes on.
"""

import faulthandler
import json
import logging
import mmap
import os
import re
import resource
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import psutil

from bench.forks import fork, wait_for
from fuzz.targets import Case, Refusal, Target, Wrong

BATCH = 500  # inputs of a child; what a process gathers over time is not the fault of one input
MOST_WORK = 5.0  # seconds of a processor that an input may take: other programs do not make it slower
MOST_WAIT = 30.0  # seconds that it may take in all
MOST_MEMORY = 2 << 30  # bytes beyond what the child begins with
POLL = 0.02
NUMBER, REFUSED, ACCEPTED, CAUGHT = range(4)  # places on the board
FOUND, CRASH = "found.jsonl", "crash.txt"
HANG, MEMORY = "hangs", "takes too much memory"


@dataclass
class Finding:
    """An input that led to what must not happen, and how often others did so too."""

    target: str
    kind: str
    """What happened and where, without details: findings of one kind are kept once."""
    message: str
    case: Case
    number: int | None = None
    times: int = 1


@dataclass
class Tally:
    """What inputs of a target came to."""

    target: str
    refused: int = 0
    accepted: int = 0
    seconds: float = 0.0
    stopped: bool = False
    """Whether somebody stopped it."""
    findings: dict[str, Finding] = field(default_factory=dict)

    @property
    def n_found(self) -> int:
        return sum(one.times for one in self.findings.values())

    @property
    def inputs(self) -> int:
        return self.refused + self.accepted + self.n_found

    def add(self, finding: Finding) -> None:
        """Count a finding, and keep it if it is the first of its kind."""
        if finding.kind in self.findings:
            self.findings[finding.kind].times += 1
        else:
            self.findings[finding.kind] = finding


@dataclass(frozen=True)
class Limits:
    """What one input may take."""

    work: float = MOST_WORK
    wait: float = MOST_WAIT
    memory: int = MOST_MEMORY


def draw_case(target: Target, seed: int, number: int) -> Case:
    """Input ``number`` of a seed: it depends on nothing else."""
    return target.draw(Random(f"{target.name} {seed} {number}"))


def run_target(
    target: Target,
    folder: Path,
    *,
    seed: int,
    seconds: float | None = None,
    inputs: int | None = None,
    batch: int = BATCH,
    limits: Limits | None = None,
) -> Tally:
    """Run inputs of a prepared target for so many seconds, at least one, or so many of them."""
    tally, begun, number = Tally(target.name), time.monotonic(), 0
    deadline = None if seconds is None else begun + seconds
    try:
        while (inputs is None or number < inputs) and (number == 0 or deadline is None or time.monotonic() < deadline):
            stop = number + batch if inputs is None else min(number + batch, inputs)
            number = _run_batch(target, folder, tally, seed, number, stop, deadline, limits or Limits())
    except KeyboardInterrupt:  # whole batches count
        tally.stopped = True
    tally.seconds = time.monotonic() - begun
    return tally


def _run_batch(
    target: Target, folder: Path, tally: Tally, seed: int, start: int, stop: int, deadline: float | None, limits: Limits
) -> int:
    """Run inputs from ``start`` on in a child; return the number of the next one."""
    (folder / FOUND).unlink(missing_ok=True)

    def work(board: memoryview) -> None:
        for number in range(start, stop):
            if number > start and deadline is not None and time.monotonic() >= deadline:
                break
            board[NUMBER] = number
            case = draw_case(target, seed, number)
            fault = run_case(target, case, folder)
            if fault is None:
                board[ACCEPTED] += 1
            elif isinstance(fault, Refusal):
                board[REFUSED] += 1
            else:
                board[CAUGHT] += 1
                with (folder / FOUND).open("a") as file:
                    file.write(json.dumps([number, *describe(fault)]) + "\n")

    board, ended = in_child(work, folder, limits, first=start)
    for line in (folder / FOUND).read_text().splitlines() if (folder / FOUND).exists() else ():
        number, kind, message = json.loads(line)
        tally.add(Finding(target.name, kind, message, draw_case(target, seed, number), number))
    tally.refused += board[REFUSED]
    tally.accepted += board[ACCEPTED]
    if ended is not None:
        number = board[NUMBER]
        tally.add(Finding(target.name, *ended, draw_case(target, seed, number), number))
    return start + board[REFUSED] + board[ACCEPTED] + board[CAUGHT] + (ended is not None)


def run_alone(target: Target, case: Case, folder: Path, limits: Limits | None = None) -> tuple[str, str] | None:
    """Run one input in a child of its own; the kind and the message of what was found, None if it was accepted or refused."""
    told = folder / "alone.json"
    told.unlink(missing_ok=True)

    def work(_: memoryview) -> None:
        fault = run_case(target, case, folder)
        told.write_text(json.dumps(None if fault is None or isinstance(fault, Refusal) else describe(fault)))

    _, ended = in_child(work, folder, limits or Limits())
    if ended is not None:
        return ended
    found = json.loads(told.read_text())
    return None if found is None else (found[0], found[1])


def run_case(target: Target, case: Case, folder: Path) -> BaseException | None:
    """Run an input in this process; what it raised."""
    try:
        target.run(case, folder)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: nothing that is called here may end the process
        return error
    return None


def describe(fault: BaseException) -> tuple[str, str]:
    """The kind of an error, which is its class and the function of ours that it comes from, and all that is known of it."""
    whole = "".join(traceback.format_exception(fault))[-6000:]
    if isinstance(fault, Wrong):
        return fault.kind, whole
    frames = traceback.extract_tb(fault.__traceback__)
    return f"{type(fault).__name__}{_place([(frame.filename, frame.name) for frame in frames])}", whole


def _place(frames: list[tuple[str, str]]) -> str:
    """The innermost function of the package, else of whatever there is; frames come outermost first."""
    ours = [frame for frame in frames if f"{os.sep}gramshift{os.sep}" in frame[0]] or frames
    return f" in {'/'.join(Path(ours[-1][0]).parts[-2:])} {ours[-1][1]}" if ours else ""


def in_child(
    work: Callable[[memoryview], None], folder: Path, limits: Limits, *, first: int = 0
) -> tuple[list[int], tuple[str, str] | None]:
    """Run ``work`` in a child; what stands on the board then, and the kind and message if the child was ended."""
    shared = mmap.mmap(-1, 8 * 8)
    board = memoryview(shared).cast("q")
    board[NUMBER] = first

    def guarded() -> int:
        try:
            _settle(folder, limits)
            work(board)
        except BaseException:
            (folder / CRASH).write_text(traceback.format_exc())
            return 1
        return 0

    child = fork(guarded)
    ended = _watch(child, board, limits)
    figures = list(board)
    board.release()
    shared.close()
    if ended == 0:
        return figures, None
    said = (folder / CRASH).read_text(errors="replace") if (folder / CRASH).exists() else ""
    what = ended if isinstance(ended, str) else signal.Signals(-ended).name if ended < 0 else f"exit code {ended}"
    frames = re.findall(r'^  File "(.*)", line \d+ in (.*)$', said.partition("Current thread")[2].partition("\n\n")[0], re.M)
    return figures, (f"{what}{_place(frames[::-1])}", f"{what}\n{said[-6000:]}")


def _settle(folder: Path, limits: Limits) -> None:
    """What a child does first: be quiet, tell where it crashes, take no more memory than it may."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    logging.disable()
    warnings.simplefilter("ignore")
    faulthandler.enable((folder / CRASH).open("w"))
    size = psutil.Process().memory_info().vms + limits.memory
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _watch(child: int, board: memoryview, limits: Limits) -> int | str:
    """Wait for a child; its exit code, minus the signal that ended it, or why it had to be ended."""
    process = psutil.Process(child)
    seen, since, worked, before, pause = -1, 0.0, 0.0, 0, 0.001
    try:
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            resident, processor = process.memory_info().rss, sum(process.cpu_times()[:2])
            before = before or resident
            if board[NUMBER] != seen:
                seen, since, worked = board[NUMBER], time.monotonic(), processor
            reason = MEMORY if resident > before + limits.memory else ""
            if processor - worked > limits.work or time.monotonic() - since > limits.wait:
                reason = HANG
            if reason:
                os.kill(child, signal.SIGABRT)  # it tells where it is
                time.sleep(0.2)
                os.kill(child, signal.SIGKILL)
                wait_for(child)
                return reason
            time.sleep(pause)
            pause = min(POLL, 2 * pause)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        wait_for(child)
        raise


def to_json(finding: Finding, seed: int) -> dict[str, Any]:
    """What is kept of a finding; ``python -m fuzz --again`` runs it again."""
    kept = {"target": finding.target, "kind": finding.kind, "seed": seed, "number": finding.number, "case": finding.case}
    return kept | {"message": finding.message}
