"""Labelling many files into a folder, on this machine or by Dask workers.

Finished files are skipped; ``records`` knows which these are. Each Dask worker reads its own files
and writes its own labels: only the model travels.
"""

import os
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict, replace
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from gramshift import __version__
from gramshift.commands.label.one_file import (
    Found,
    LabelOptions,
    label_file,
    load_model,
    naming_input,
)
from gramshift.commands.label.records import check_finished, prepare_folder, write_record
from gramshift.commands.label.workers import open_workers, require_dask, run_tasks
from gramshift.commands.outputs import FileJob
from gramshift.errors import InputError, suggest
from gramshift.files import Replacing, identify, is_unchanged, is_url
from gramshift.methods import ENGINES
from gramshift.runtime import Runtime
from gramshift.safe_reading import open_regular
from gramshift.tables.columns import Progress
from gramshift.tables.table import check_reread
from gramshift.terminal import Say

MAX_NAMED = 5  # files in an error
Labelled = Generator[tuple[FileJob, Found], None, None]


def check_engine(engine: str, scheduler: str | None) -> None:
    """Raise an error for an unknown engine, missing packages, or a useless address."""
    if engine not in ENGINES:
        raise InputError(
            f"--engine {engine}: there are {', '.join(ENGINES)}{suggest(engine, ENGINES)}"
        )
    if scheduler is not None and engine != "dask":
        raise InputError(f"--scheduler {scheduler} is for Dask; add --engine dask")
    if engine == "dask":
        require_dask(scheduler)


def label_job(
    classifier: Any,
    key: dict[str, Any],
    options: LabelOptions,
    job: FileJob,
    progress: Progress | None = None,
) -> Found:
    """Label one file of many and write its record; return its own errors as {"error": words}."""
    try:
        with naming_input(job.shown):
            check_reread(job.input)
            before = identify(job.input, digest=True)
        with Replacing() as files:
            found = label_file(
                classifier, job.input, job.output, options, files, follow=False, progress=progress
            )
            if not is_unchanged(job.input, before):
                raise InputError(
                    f"{job.shown} was changed while it was read; give the same command again when "
                    "it is whole"
                )
            renamed = found.pop("renamed")
            write_record(job, key, before, files.identify(), found)
        return found | {"renamed": renamed and renamed.replace(job.input, job.shown)}
    except InputError as error:
        return {"error": str(error).replace(job.input, job.shown)}


def label_files(
    model: str,
    classifier: Any,
    jobs: list[FileJob],
    folder: str,
    options: LabelOptions,
    runtime: Runtime,
    *,
    engine: str = "threads",
    scheduler: str | None = None,
    force: bool = False,
    say: Say,
) -> dict[str, Any]:
    """Label files into a folder with a model file, read as ``classifier`` unless workers do it.

    Finished files stay as they are. A file that cannot be labelled is named, and the others are
    labelled.
    """
    with open_regular(model, follow=True) as file:
        digest = file_digest(file, "sha256").hexdigest()
    key = {"gramshift": __version__, "model": digest, **asdict(options)}
    prepare_folder(folder)
    found: dict[FileJob, Found] = {}
    left = []
    for job in jobs:
        finished, fault = check_finished(job, key)
        if finished is not None:
            found[job] = finished | {"kept": True}
        elif fault and not force:
            raise FileExistsError(
                f"{job.output} exists, and {fault}; choose another --output or replace it with "
                "--force"
            )
        else:
            left.append(job)
    if found:
        say(f"{folder}: {len(found)} of {len(jobs)} files were finished already")
    if left and engine == "dask":
        labelling = _label_on_workers(model, key, left, options, runtime, scheduler)
    else:
        labelling = _label_here(classifier, key, left, options, runtime)
    with closing(labelling) as labelled:  # an interrupt here ends the workers, too
        for job, labels in labelled:
            found[job] = labels
            if "error" in labels:
                say(labels["error"])
    return _summarize(jobs, found, say)


def _label_here(
    classifier: Any,
    key: dict[str, Any],
    jobs: list[FileJob],
    options: LabelOptions,
    runtime: Runtime,
) -> Labelled:
    """Label one file after another, with progress over all of them."""
    sizes = [_size_of(job) for job in jobs]
    total = sum(sizes)
    before = 0
    for job, size in zip(jobs, sizes, strict=True):

        def report(_: str, done: int, all: int, before: int = before, size: int = size) -> None:
            runtime.report("labelling", before + (size * done // all if all else 0), total)

        yield job, label_job(classifier, key, options, job, report)
        before += size
        runtime.report("labelling", before, total)


def _size_of(job: FileJob) -> int:
    """Return the bytes of an input, at least 1; 1 also if it cannot be found."""
    try:
        return int(identify(job.input)["size"]) + 1
    except (OSError, InputError):
        return 1


def _label_on_workers(
    model: str,
    key: dict[str, Any],
    jobs: list[FileJob],
    options: LabelOptions,
    runtime: Runtime,
    scheduler: str | None,
) -> Labelled:
    """Label each file in a task of its own.

    The largest files come first, so that no worker is left alone with one in the end.
    """
    jobs = sorted(jobs, key=_size_of, reverse=True)
    by_absolute = {_with_absolute_paths(job): job for job in jobs}
    n_workers = min(runtime.n_threads, len(jobs))
    memory = runtime.memory // (n_workers + 1)
    runtime.report("labelling", 0, len(jobs))
    with open_workers(scheduler, n_workers=n_workers, memory_limit=memory) as client:
        shared: Any = os.path.abspath(model)
        if scheduler is not None:  # its workers may not see the file
            shared = client.scatter(Path(model).read_bytes(), broadcast=True, hash=False)
        tasks = run_tasks(
            client,
            label_on_worker,
            (shared, key, options),
            by_absolute,
            name=lambda job: f"label-{os.path.basename(job.output)}",
        )
        for n_done, (job, found) in enumerate(tasks, start=1):
            yield by_absolute[job], found
            runtime.report("labelling", n_done, len(jobs))


def _with_absolute_paths(job: FileJob) -> FileJob:
    def absolute(name: str) -> str:
        return name if is_url(name) else os.path.abspath(name)

    return replace(job, input=absolute(job.input), output=absolute(job.output))


def label_on_worker(
    shared: str | bytes, key: dict[str, Any], options: LabelOptions, job: FileJob
) -> Found:
    """Label one file, on a worker, with the model of a path or in bytes."""
    import joblib

    folder = os.path.dirname(job.output)
    if not is_url(folder) and not os.path.isdir(folder):
        raise InputError(
            f"a Dask worker does not see the folder {folder}: all of them must, at the same place"
        )
    with joblib.parallel_config(backend="sequential"):  # each worker has one core
        return label_job(load_shared(shared, key["model"]), key, options, job)


_models: dict[str, Any] = {}
_loading = threading.Lock()


def load_shared(shared: str | bytes, digest: str) -> Any:
    """Return the model with this digest, which is loaded once; only the last one is kept."""
    with _loading:
        if digest not in _models:
            data = shared if isinstance(shared, bytes) else Path(shared).read_bytes()
            if sha256(data).hexdigest() != digest:
                raise InputError("the model was changed while files were labelled")
            _models.clear()
            with NamedTemporaryFile(suffix=".gramshift") as file:
                file.write(data)
                file.flush()
                _models[digest] = load_model(file.name)
        return _models[digest]


def _summarize(jobs: list[FileJob], found: dict[FileJob, Found], say: Say) -> dict[str, Any]:
    """Return the totals of all files and what is in each, in the order of the jobs."""
    good = [(job, found[job]) for job in jobs if "error" not in found[job]]
    renamed = [words for _, labels in good if (words := labels.get("renamed"))]
    if renamed:
        say(renamed[0] + (f" (files like this: {len(renamed)})" if renamed[1:] else ""))
    totals: Counter[str] = Counter()
    for _, labels in good:
        totals.update(labels["labels"])
    return {
        "n": sum(labels["n"] for _, labels in good),
        "abstained": sum(labels["abstained"] for _, labels in good),
        "confidence": sum(labels["confidence"] for _, labels in good),
        "labels": dict(totals),
        "files": [
            {"input": job.input, "output": job.output}
            | {name: labels[name] for name in ("n", "labels", "abstained")}
            | {"kept": labels.get("kept", False)}
            for job, labels in good
        ],
        "bad": [
            {"input": job.input, "error": found[job]["error"]}
            for job in jobs
            if "error" in found[job]
        ],
    }


def describe_bad(result: dict[str, Any]) -> str | None:
    """Return a sentence about the files that could not be labelled, if there are any."""
    bad = [one["input"] for one in result.get("bad", [])]
    if not bad:
        return None
    names = ", ".join(bad[:MAX_NAMED])
    if len(bad) > MAX_NAMED:
        names += f" and {len(bad) - MAX_NAMED} more"
    return (
        f"{len(bad)} of {len(bad) + len(result['files'])} files could not be labelled: {names}; "
        "the others are done; fix or remove these and run the same command again"
    )
