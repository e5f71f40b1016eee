"""The command line on many documents: predicting by Dask workers from files to files, and ``classify --sample``."""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import gramshift
from bench.child import run_child
from bench.grown import Grown, Reviews, one_by_one, write_documents, write_parts
from bench.machine import dask_keys, say
from bench.rivals import MismatchError
from gramshift.runtime.memory import free_memory
from gramshift.runtime.workers import open_workers

LOOK = 0.05  # seconds between two looks at a process
N_FILES = 40
MODEL_DOCS = 4000
LIMIT_MB = 3000


def run_command(*arguments: str, keys: dict[str, str] | None = None) -> dict[str, Any]:
    """Run ``gramshift`` in a process and raise an error if it fails; ``keys`` are those that Dask is configured with there."""
    command, peak = [sys.executable, "-c", "from gramshift.commands.entry import run; run()", *arguments], 0
    environment = _environment() | {
        f"DASK_{name.replace('.', '__').replace('-', '_').upper()}": key for name, key in (keys or {}).items()
    }
    with TemporaryFile() as told:
        begun = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told, env=environment) as process:
            while process.poll() is None:
                peak = max(peak, _peak_of(process.pid))
                time.sleep(LOOK)
            seconds = time.perf_counter() - begun
        if process.returncode:
            told.seek(0)
            sys.stderr.write(told.read().decode(errors="replace"))
            raise subprocess.CalledProcessError(process.returncode, command)
    return {"seconds": seconds, "peak_mb": peak / 1e6}


def race_predicting(reviews: Reviews, n: int, *, repeat: int, smoke: bool) -> dict[str, Any]:
    """n grown documents in files, labelled into files by one Dask worker and by two, in turns."""
    times: dict[int, list[float]] = {1: [], 2: []}
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        folder = Path(name)
        model = folder / "model.gramshift"
        run_child("keep_model", str(200 if smoke else MODEL_DOCS), str(model), str(int(smoke)), texts=[], here=smoke)
        n_files = 4 if smoke else N_FILES
        say(f"workers: {n} documents into {n_files} files")
        write_parts(folder / "parts", Grown(reviews, "EK", n, seed=2), n_files)
        for number in range(repeat):
            for k, several in times.items():
                say(f"workers: {k}, {n} documents")
                output = folder / f"labels-{number}-{k}"
                output.mkdir()
                files = ["--input", str(folder / "parts" / "*.jsonl"), "--output", f"{output}{os.sep}", "--force"]
                several.append(_predict(["--model", str(model), *files], k))
        written = [_contents(folder / f"labels-0-{k}") for k in times]
        if len(written[0]) != n_files or written[0] != written[1]:
            raise MismatchError("one Dask worker and two have written different labels")
    seconds = {k: min(several) for k, several in times.items()}
    rates = {k: n / value for k, value in seconds.items()}
    ratio = seconds[1] / seconds[2]
    return {"documents": n, "seconds": seconds, "all_seconds": times, "per_second": rates, "ratio": ratio}


def _predict(arguments: list[str], n_workers: int) -> float:
    """Seconds of a command on workers that are there already."""
    with open_workers(None, n_workers=n_workers, memory_limit=free_memory() // n_workers) as client:
        client.run(_load_compiled)
        command = ["predict", *arguments, "--engine", "dask", "--scheduler", client.scheduler.address]
        return float(run_command(*command, keys=dask_keys(client))["seconds"])


def _load_compiled() -> None:
    from bench.child import held
    from bench.grown import load_reviews

    source, labels, target = held(load_reviews(smoke=True), 80, "B-D")
    gramshift.TransductiveClassifier(preset="best", n_jobs=1).fit(source, labels, target=target).predict(source[:9])


def classify_by_sample(reviews: Reviews, n: int) -> dict[str, Any]:
    """``gramshift classify --sample`` on n grown documents: seconds and peak memory."""
    n_sampled, n_source = max(100, n // 20), max(100, n // 50)
    with TemporaryDirectory(prefix="gramshift-bench-") as name:
        folder = Path(name)
        source = Grown(reviews, "BD", n_source)
        say(f"sample: {n} documents into a file")
        write_documents(folder / "source.jsonl", one_by_one(source), source.labels)
        write_documents(folder / "target.jsonl", one_by_one(Grown(reviews, "EK", n, seed=1)))
        say(f"sample: {n_sampled} of them for the fit, then labels for all")
        command = ["classify", str(folder / "source.jsonl"), "--target", str(folder / "target.jsonl")]
        command += ["--sample", str(n_sampled), "--memory", f"{LIMIT_MB} MB", "--output", str(folder / "labels.jsonl")]
        found = run_command(*command)
    return {"documents": n, "sample": n_sampled, "source_documents": n_source, "limit_mb": LIMIT_MB} | found


def _contents(folder: Path) -> dict[str, bytes]:
    """What was written for each input; what is kept beside it may tell of the run."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl"))}


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
