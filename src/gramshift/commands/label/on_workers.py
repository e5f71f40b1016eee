"""Labelling many files by Dask workers.

Each worker reads its own files and writes its own labels: only the model travels.
"""

import os
import threading
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from gramshift.commands.label.many_files import Receive, label_job, size_of
from gramshift.commands.label.one_file import Found, LabelOptions, load_model
from gramshift.commands.label.workers import open_workers, run_tasks
from gramshift.commands.outputs import FileJob
from gramshift.errors import InputError
from gramshift.files import is_url
from gramshift.runtime import Runtime


def label_on_workers(
    model: str,
    key: dict[str, Any],
    jobs: list[FileJob],
    options: LabelOptions,
    runtime: Runtime,
    scheduler: str | None,
    receive: Receive,
) -> None:
    """Label each file in a task of its own.

    The largest files come first, so that no worker is left alone with one in the end.
    """
    jobs = sorted(jobs, key=size_of, reverse=True)
    by_shown = {job.shown: job for job in jobs}
    n_workers = min(runtime.n_threads, len(jobs))
    n_done = 0

    def take(job: FileJob, found: Found) -> None:
        nonlocal n_done
        receive(by_shown[job.shown], found)
        n_done += 1
        runtime.report("labelling", n_done, len(jobs))

    runtime.report("labelling", 0, len(jobs))
    memory = runtime.memory // (n_workers + 1)
    with open_workers(scheduler, n_workers=n_workers, memory_limit=memory) as client:
        shared: Any = os.path.abspath(model)
        if scheduler is not None:  # its workers may not see the file
            shared = client.scatter(Path(model).read_bytes(), broadcast=True, hash=False)
        run_tasks(
            client,
            label_on_worker,
            (shared, key, options),
            map(_with_absolute_paths, jobs),
            take,
            name=lambda job: f"label-{os.path.basename(job.output)}",
        )


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
