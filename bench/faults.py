"""A fault at every call of the system that writing makes: afterwards each file is the old one or the new one, whole.

For each file that we write, each call (open, write, fsync, rename, close and others) meets each fault: a full disk, an error of
the disk, an interrupted call, and in a fork a kill. Then it is looked at what is there; then the writing is done again without
a fault, and nothing may be left but the new files. With `--strace` the faults come from the side of the kernel, so that native
code meets them too; strace must be installed and allowed to trace.
"""

import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.fault_shim import FAULTS, KILL, Faults
from bench.fault_writers import OLD, Writer, is_whole, make_writers
from bench.forks import fork, wait_for
from bench.table import table

TRACED = (
    "openat,write,pwrite64,fsync,fdatasync,msync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,fchmod,"
    "fchown,fallocate,ftruncate,flock,close"
)  # fmt: skip
DONE, TOLD, BUG = 0, 3, 4
LIMIT = 60  # seconds of one writing


@dataclass(frozen=True)
class Case:
    """One call that meets a fault, and what was there afterwards."""

    file: str
    call: str
    number: int
    fault: str
    outcome: str
    """"old", "new", "mixed" (an error or a kill between two renames), or what went wrong."""

    @property
    def is_bad(self) -> bool:
        return self.outcome not in ("old", "new", "mixed")


def run(*, smoke: bool = False, strace: bool = False) -> dict[str, Any]:
    """Try all, or with ``smoke`` each file, call and fault once, without those that take long."""
    with TemporaryDirectory(prefix="gramshift-faults-") as name:
        scratch = Path(name)
        with make_writers(scratch) as writers:
            chosen = [writer for writer in writers if not (smoke and writer.is_slow)]
            cases = [case for writer in chosen for case in try_writer(writer, scratch / "here", smoke=smoke, strace=strace)]
    rows = [vars(case) for case in cases]
    return {"cases": len(rows), "failed": sum(case.is_bad for case in cases), "rows": rows}


def show(result: dict[str, Any]) -> str:
    """One line for each file and call."""
    found: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    for row in result["rows"]:
        line = found.setdefault((row["file"], row["call"]), {fault: Counter() for fault in FAULTS})
        line[row["fault"]][row["outcome"]] += 1
    rows = []
    for (file, call), by_fault in found.items():
        cells = [", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())) for counts in by_fault.values()]
        rows.append([file, call, *cells])
    total = Counter(row["outcome"] for row in result["rows"])
    words = ", ".join(f"{n} {outcome}" for outcome, n in total.most_common())
    legend = "old, new: all files of a run as they were, or all as they should be; mixed: a fault between renames, all whole"
    return f"{table('file', ['call', *FAULTS], rows)}\n\n{result['cases']} faults: {words}\n{legend}"


def try_writer(writer: Writer, folder: Path, *, smoke: bool, strace: bool) -> Iterator[Case]:
    """Let each call of a writer meet each fault."""
    reference = folder.with_name("reference")
    _prepare(writer, reference)
    writer.write(reference)
    counts = _count_traced(writer, folder) if strace else _count(writer, folder)
    for call, numbers in counts.items():
        for number in numbers[len(numbers) // 2 :][:1] if smoke else numbers:
            for fault in FAULTS:
                _prepare(writer, folder)
                if strace:
                    ended = in_fork(partial(writer.write, folder), tracer=(call, number, fault))
                else:
                    work = partial(_write_with, Faults(folder, call, number, fault), writer, folder)
                    ended = in_fork(work) if fault == KILL else here(work)
                yield Case(writer.name, call, number, fault, judge(writer, folder, reference, fault, ended))
    shutil.rmtree(folder)
    shutil.rmtree(reference)


def _write_with(faults: Faults, writer: Writer, folder: Path) -> None:
    with faults.installed():
        writer.write(folder)


def judge(writer: Writer, folder: Path, reference: Path, fault: str, ended: int) -> str:
    """Say what was there after the fault; or, if it is not as it should be, then or after the next run, what is wrong."""
    if ended not in (DONE, TOLD, -signal.SIGKILL) or (fault != KILL and ended == -signal.SIGKILL):
        return f"ended with {ended}"
    states = {name: _state(writer, name, folder, reference) for name in writer.files}
    others = [path for path in _files_of(folder, writer.also) if not path.name.endswith(".partial")]
    also = {str(path): _state(writer, str(path.relative_to(folder)), folder, reference) for path in others}
    broken = [name for name, state in (states | also).items() if state == "broken"]
    if broken:
        return f"{broken[0]} is broken"
    if ended == DONE and "old" in states.values():
        return "old, and no error"
    kinds = set(states.values()) or {"new" if also else "old"}
    return _after(writer, folder, reference) or (kinds.pop() if len(kinds) == 1 else "mixed")


def _after(writer: Writer, folder: Path, reference: Path) -> str | None:
    """What is wrong after a run without a fault."""
    if (again := here(partial(writer.write, folder))) != DONE:
        return f"the next run ended with {again}"
    found, wanted = ({str(path.relative_to(root)) for path in _files_of(root)} for root in (folder, reference))
    if found != wanted:
        return f"the next run left {', '.join(sorted(found ^ wanted)[:3])}"
    states = {name: _state(writer, name, folder, reference) for name in wanted}
    wrong = [name for name, state in states.items() if state != "new"]
    return f"{wrong[0]} is {states[wrong[0]]} after the next run" if wrong else None


def _prepare(writer: Writer, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in writer.files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(OLD)


def _files_of(folder: Path, patterns: tuple[str, ...] = ("*",)) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if any(fnmatch(str(path.relative_to(folder)), pattern) for pattern in patterns)]


def _state(writer: Writer, name: str, folder: Path, reference: Path) -> str:
    path = folder / name
    if not path.is_file():
        return "broken"
    data, same = path.read_bytes(), reference / name
    if data == OLD:
        return "old"
    if any(fnmatch(name, f"*{pattern}") for pattern in writer.varying) and is_whole(path):
        return "new"
    return "new" if same.is_file() and data == same.read_bytes() else "broken"


def here(work: Callable[[], Any]) -> int:
    """Do the work in this process; how it ended."""
    try:
        work()
    except OSError:
        return TOLD
    except Exception:
        return BUG
    return DONE


def in_fork(work: Callable[[], Any], *, tracer: tuple[str, int, str] | str | None = None) -> int:
    """Do the work in a fork, traced if that is asked for; how it ended, as subprocess has it."""
    child = fork(partial(_work_quietly, work, waits=tracer is not None), failed=BUG)
    tracing = None
    if tracer is not None:
        os.waitpid(child, os.WUNTRACED)
        tracing = _trace(child, tracer)
        os.kill(child, signal.SIGCONT)
    ended = wait_for(child)
    if tracing is not None:
        tracing.wait(LIMIT)
    return ended


def _work_quietly(work: Callable[[], Any], *, waits: bool) -> int:
    signal.alarm(LIMIT)  # what hangs is a bug
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (1, 2):
        os.dup2(nowhere, standard)
    if waits:
        os.kill(os.getpid(), signal.SIGSTOP)
    return here(work)


def _count(writer: Writer, folder: Path) -> dict[str, list[int]]:
    """How often each call is made about the folder, from 1 on."""
    _prepare(writer, folder)
    faults = Faults(folder)
    _write_with(faults, writer, folder)
    return {call: list(range(1, n + 1)) for call, n in faults.counts.items()}


def _count_traced(writer: Writer, folder: Path) -> dict[str, list[int]]:
    """Which calls of each name are about the folder, by their number among all calls of that name."""
    _prepare(writer, folder)
    log = folder.with_name("log")
    in_fork(partial(writer.write, folder), tracer=str(log))
    seen: Counter[str] = Counter()
    found: dict[str, list[int]] = {}
    for line in log.read_text(errors="replace").splitlines():
        if match := re.match(r"(\w+)\((.*)", line):
            seen[match[1]] += 1
            if str(folder) in match[2]:
                found.setdefault(match[1], []).append(seen[match[1]])
    return found


def _trace(child: int, what: tuple[str, int, str] | str) -> "subprocess.Popen[str]":
    """Attach strace to a process that waits; it writes a log, or makes one call fail."""
    if isinstance(what, str):
        asked = ["-y", "-s", "400", "-o", what, "-e", f"trace={TRACED}"]
    else:
        call, number, fault = what
        met = "signal=KILL" if fault == KILL else f"error={fault}"
        asked = ["-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:{met}:when={number}"]
    process = subprocess.Popen(["strace", *asked, "-p", str(child)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    if "attached" not in process.stderr.readline():
        raise RuntimeError("strace cannot trace here; without --strace faults come from Python")
    return process
