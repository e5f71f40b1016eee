"""The command line on many documents: predicting by Dask workers from files to files, and a classify that is killed twice."""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import gramshift
from bench.child import run_child
from bench.grown import Grown, Reviews
from bench.linear_data import one_by_one, write_documents, write_parts
from bench.machine import dask_keys, say
from bench.rivals import MismatchError
from gramshift.runtime.memory import free_memory
from gramshift.runtime.workers import open_workers

LOOK = 0.05  # seconds between two looks at a process
N_FILES = 40
MODEL_DOCS = 4000
LIMIT = "3 GB"


def run_command(*arguments: str, kill_after: float | None = None, keys: dict[str, str] | None = None) -> dict[str, Any]:
    """Run ``gramshift`` in a process; it may be killed after so many seconds. An error is raised if it fails by itself.

    ``keys`` are those that Dask is configured with there.
    """
    command, peak, killed = _command(*arguments), 0, False
    environment = _environment() | {
        f"DASK_{name.replace('.', '__').replace('-', '_').upper()}": key for name, key in (keys or {}).items()
    }
    with TemporaryFile() as told:
        begun = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told, env=environment) as process:
            while process.poll() is None:
                peak = max(peak, _peak_of(process.pid))
                if kill_after is not None and not killed and time.perf_counter() - begun > kill_after:
                    process.kill()
                    killed = True
                time.sleep(LOOK)
            seconds = time.perf_counter() - begun
        if process.returncode and not killed:
            told.seek(0)
            sys.stderr.write(told.read().decode(errors="replace"))
            raise subprocess.CalledProcessError(process.returncode, command)
    return {"seconds": seconds, "peak_mb": peak / 1e6, "killed": killed}


def has_options(command: str, *options: str) -> bool:
    """Whether a command of this gramshift knows these options."""
    environment = _environment() | {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    told = subprocess.run(_command(command, "--help"), stdout=subprocess.PIPE, env=environment, text=True, check=True).stdout
    return all(option in told for option in options)


def race_predicting(reviews: Reviews, n: int, *, repeat: int, smoke: bool) -> dict[str, Any]:
    """n grown documents in files, labelled into files by one Dask worker and by two, in turns."""
    if not has_options("predict", "--engine"):
        return {"skipped": "gramshift predict has no --engine yet"}
    times: dict[int, list[float]] = {1: [], 2: []}
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        folder = Path(name)
        model = folder / "model.gramshift"
        run_child("keep_model", str(200 if smoke else MODEL_DOCS), str(model), str(int(smoke)), texts=[], here=smoke)
        n_files = 4 if smoke else N_FILES
        say(f"workers: {n} documents into {n_files} files")
        write_parts(folder / "parts", Grown(reviews, "EK", n, seed=2), n_files)
        given = ["--model", str(model)] if has_options("predict", "--model") else [str(model)]
        for number in range(repeat):
            for k, several in times.items():
                say(f"workers: {k}, {n} documents")
                output = folder / f"labels-{number}-{k}"
                output.mkdir()
                files = ["--input", str(folder / "parts" / "*.jsonl"), "--output", f"{output}{os.sep}", "--force"]
                several.append(_predict(given + files, k))
        written = [_contents(folder / f"labels-0-{k}") for k in times]
        if len(written[0]) != n_files or written[0] != written[1]:
            raise MismatchError("one Dask worker and two have written different labels")
    seconds = {k: min(several) for k, several in times.items()}
    rates = {k: n / value for k, value in seconds.items()}
    ratio = seconds[1] / seconds[2]
    return {"documents": n, "seconds": seconds, "all_seconds": times, "per_second": rates, "ratio": ratio}


def _predict(arguments: list[str], n_workers: int) -> float:
    """Seconds of a command on workers that are there already, if it takes the address of their scheduler."""
    if not has_options("predict", "--scheduler"):
        command = ["predict", *arguments, "--engine", "dask", "--jobs", str(n_workers)]
        return float(run_command(*command)["seconds"])
    with open_workers(None, n_workers=n_workers, memory_limit=free_memory() // n_workers) as client:
        client.run(_load_compiled)
        command = ["predict", *arguments, "--engine", "dask", "--scheduler", client.scheduler.address]
        return float(run_command(*command, keys=dask_keys(client))["seconds"])


def _load_compiled() -> None:
    from bench.child import held
    from bench.grown import load_reviews

    source, labels, target = held(load_reviews(smoke=True), 80, "B-D")
    gramshift.TransductiveClassifier(preset="best", n_jobs=1).fit(source, labels, target=target).predict(source[:9])


def resume_killed(reviews: Reviews, n: int) -> dict[str, Any]:
    """``gramshift classify --sample`` on n grown documents: without a break, and killed twice; are labels the same bytes?"""
    if not has_options("classify", "--sample"):
        return {"skipped": "gramshift classify has no --sample yet"}
    sample, n_source = max(100, n // 20), max(100, n // 50)
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        folder = Path(name)
        source = Grown(reviews, "BD", n_source)
        say(f"resume: {n} documents into a file")
        write_documents(folder / "source.jsonl", one_by_one(source), source.labels)
        write_documents(folder / "target.jsonl", one_by_one(Grown(reviews, "EK", n, seed=1)))
        command = ["classify", "--preset", "best", "--source", str(folder / "source.jsonl"), "--label", "label"]
        command += ["--target", str(folder / "target.jsonl"), "--text", "text", "--sample", str(sample)]
        command += ["--memory-limit" if has_options("classify", "--memory-limit") else "--memory", LIMIT]
        say("resume: without a break")
        whole = run_command(*command, "--output", str(folder / "whole.jsonl"))
        again = [*command, "--output", str(folder / "again.jsonl"), "--resume", str(folder / "kept")]
        runs = []
        for kill_after in (whole["seconds"] / 3, whole["seconds"] / 3, None):
            say(f"resume: {'to the end' if kill_after is None else f'killed after {kill_after:.0f} s'}")
            runs.append(run_command(*again, kill_after=kill_after))
        same = (folder / "whole.jsonl").read_bytes() == (folder / "again.jsonl").read_bytes()
    return {
        "documents": n,
        "sample": sample,
        "source_documents": n_source,
        "memory_limit": LIMIT,
        "whole": whole,
        "runs": runs,
        "killed": sum(run["killed"] for run in runs),
        "seconds": sum(run["seconds"] for run in runs),
        "peak_mb": max(run["peak_mb"] for run in [whole, *runs]),
        "same_bytes": same,
    }


def _contents(folder: Path) -> dict[str, bytes]:
    """What was written for each input; what is kept beside it may tell of the run."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl"))}


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from gramshift.commands.entry import run; run()", *arguments]


def _environment() -> dict[str, str]:
    """That of this process; the command must be of the gramshift that is measured."""
    home = str(Path(gramshift.__file__).parent.parent)
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))}


def _peak_of(pid: int) -> int:
    """The peak of resident memory of a process so far; 0 if it has gone, or if the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
