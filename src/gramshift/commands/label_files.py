"""Labelling tables with a model, part by part: one, or many files into a folder, here or by Dask workers.

Only what labels imports the model and its libraries, which takes two seconds: a run with Dask workers does not wait for them.

Beside each file in the folder there is a record of what it was made from. It is written just before the file appears, so that
a file is never taken for finished that is not, nor for that of another model.
"""

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from gramshift import __version__
from gramshift.commands.outputs import RECORDS, FileJob
from gramshift.data.columns import Columns, Progress, find_columns, suggest, texts_in
from gramshift.data.readers import open_table
from gramshift.data.tables import Part, Table, check_reread
from gramshift.data.writing import open_writer, output_style
from gramshift.errors import InputError
from gramshift.methods import ENGINES
from gramshift.model.model_schema import ROWS
from gramshift.runtime.door import open_regular, parse_json, read_regular
from gramshift.runtime.files import (
    Replacing,
    identify,
    is_unchanged,
    is_url,
    locate,
    naming_url,
    replaced_file,
)
from gramshift.runtime.resources import Runtime
from gramshift.runtime.workers import open_workers, require_dask, run_tasks

CELLS = 1 << 25  # similarities that are in memory at a time
MOST_ROWS = 4096  # rows that are labelled at a time
LARGEST = 1 << 20  # bytes of a record
Found = dict[str, Any]
"""What was found in one table: n, labels (how many of each), abstained, confidence (the sum of all)."""


@dataclass(frozen=True)
class LabelOptions:
    """How tables are read and what is written of the labels; all of it is part of a record."""

    text: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    abstain_below: float | None = None

    def __post_init__(self) -> None:
        if self.abstain_below is not None and not 0 < self.abstain_below <= 1:
            raise InputError(f"--abstain-below {self.abstain_below:g}: give a confidence between 0 and 1, such as 0.7")


def check_engine(engine: str, scheduler: str | None) -> None:
    """Raise an error if there is no such engine, or Dask is not there, or has no use for the address of a scheduler."""
    if engine not in ENGINES:
        raise InputError(f"--engine {engine}: there are {', '.join(ENGINES)}{suggest(engine, ENGINES)}")
    if scheduler is not None and engine != "dask":
        raise InputError(f"--scheduler {scheduler} is for Dask; add --engine dask")
    if engine == "dask":
        require_dask(scheduler)


def count_rows(classifier: Any) -> int:
    """Return how many rows are labelled at a time: fewer where each is compared with many documents."""
    fit = classifier._fit
    if fit.model.ngrams is not None:
        return MOST_ROWS
    return max(1, min(MOST_ROWS, CELLS // max(1, len(fit.labelling))))


def label_table(
    classifier: Any,
    table: Table,
    columns: Columns,
    file: IO[bytes],
    name: str,
    *,
    abstain_below: float | None,
    progress: Progress | None = None,
) -> Found:
    """Write the table again with labels, part by part."""
    from gramshift.commands.classify.labelled import label_columns

    counts: Counter[str] = Counter()
    confidence, classes = 0.0, classifier.classes_
    ours = label_columns(table, classes.tolist())
    with open_writer(file, name, table, ours.types) as writer:
        for part in _blaming_input(table, table.parts(count_rows(classifier))):
            probabilities = classifier.predict_proba(texts_in(table, columns, part))
            labels = classes[probabilities.argmax(axis=1)].tolist()
            added = ours.values(labels, probabilities.tolist(), abstain_below)
            writer.write(part, added)
            counts.update("" if label is None else str(label) for label in added[ours.label])
            confidence += float(probabilities.max(axis=1).sum())
            if progress is not None:
                progress("labelling", *table.position())
    abstained = counts.pop("", 0)
    found = {str(one): counts[str(one)] for one in classes.tolist()}
    return {"n": sum(counts.values()) + abstained, "labels": found, "abstained": abstained, "confidence": confidence}


def _blaming_input(table: Table, parts: Iterator[Part]) -> Iterator[Part]:
    """The same parts; a disk that fails while they are read is the fault of this file, not of the one that is written."""
    while True:
        with _blaming(table.name):
            part = next(parts, None)
        if part is None:
            return
        yield part
        del part  # the next one needs the room


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}" if error.strerror else str(error)) from None


def label_file(classifier: Any, model: str, options: LabelOptions, progress: Progress | None, job: FileJob) -> Found:
    """Label one file and leave a record; what is wrong with the file itself is returned as {"error": words}."""
    from gramshift.commands.classify.labelled import label_columns, renamed_in_words

    try:
        with ExitStack() as stack:
            with _blaming(job.shown):
                check_reread(job.input)
                known = identify(job.input, digest=True)
                table = stack.enter_context(open_table(job.input, format=options.format, encoding=options.encoding))
                columns = find_columns(table, text=options.text)
                output_style(job.output, table)
            with Replacing() as files:
                with files.open(job.output, follow=False) as file:
                    found = label_table(
                        classifier, table, columns, file, job.output,
                        abstain_below=options.abstain_below, progress=progress,
                    )  # fmt: skip
                if not is_unchanged(job.input, known):
                    raise InputError(f"{job.shown} was changed while it was read; give the same command again when it is whole")
                _write_record(job, _key(model, options), known, files.identify(), found)
            words = renamed_in_words(table, label_columns(table, classifier.classes_.tolist()))
            return found | {"renamed": words and words.replace(job.input, job.shown)}
    except InputError as error:
        return {"error": str(error).replace(job.input, job.shown)}


def _key(model: str, options: LabelOptions) -> dict[str, Any]:
    """What decides the labels of a file, beside the file."""
    return {"gramshift": __version__, "model": model, **asdict(options)}


def _write_record(job: FileJob, key: dict[str, Any], input: dict[str, Any], output: dict[str, Any], found: Found) -> None:
    system, folder = locate(os.path.dirname(job.record))
    with naming_url(job.record):
        system.makedirs(folder, exist_ok=True)
    with replaced_file(job.record, follow=False) as file:
        file.write(json.dumps({"run": key, "input": input, "output": output, "found": found}).encode())


def _read_record(job: FileJob) -> dict[str, Any] | None:
    """The record of an output; None if there is none that makes sense."""
    try:
        if is_url(job.record):
            system, path = locate(job.record)
            data = system.cat_file(path, end=LARGEST)
        else:
            data = read_regular(job.record, most=LARGEST)
        record = parse_json(data)
        found = record["found"]
        counts = [found["n"], found["abstained"], *found["labels"].values()]
        if not all(type(one) is int and one >= 0 for one in counts) or not 0 <= float(found["confidence"]) <= found["n"]:
            raise ValueError
        if found["n"] != found["abstained"] + sum(found["labels"].values()):
            raise ValueError
        if not all(isinstance(record[name], dict) for name in ("run", "input", "output")):
            raise ValueError
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return dict(record)


def _take_up(job: FileJob, key: dict[str, Any]) -> tuple[Found | None, str]:
    """What was found in a file that is finished; else None, and what is wrong with the output that is there, if one is."""
    system, path = locate(job.output)
    with naming_url(job.output):
        if not system.exists(path):
            return None, ""
    record = _read_record(job)
    if record is None or not is_unchanged(job.output, record["output"]):
        return None, "it is not as this command wrote it"
    if record["run"] != key:
        names = [name for name in key if record["run"].get(name) != key[name]] or ["options"]
        words = {"model": "model", "gramshift": "version of Gramshift"} | {"abstain_below": "--abstain-below"}
        return None, f"it was made with another {words.get(names[0], '--' + names[0])}"
    with suppress(OSError):  # an input that is not there is told of when it is its turn
        if not is_unchanged(job.input, record["input"]):
            return None, f"{job.input} has changed since it was made"
    return record["found"], ""


def _prepare_folder(folder: str) -> None:
    """Make the folder, and that of its records, if they are missing."""
    system, path = locate(folder.rstrip("/") or "/")
    if is_url(folder):
        with naming_url(folder):
            system.makedirs(path, exist_ok=True)
        return
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise FileNotFoundError(f"--output {folder}: there is no folder {parent}; make it first")
    records = Path(path, RECORDS)
    if records.is_symlink():  # what it leads to is not ours
        raise InputError(f"{records} is a link; it should be a folder of ours: delete the link, or give another --output")
    records.mkdir(parents=True, exist_ok=True)


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
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Label files into a folder with the model of that name, which is the ``classifier``; Dask workers load their own.

    Those that are finished stay as they are. A file that is bad is named, and the others are labelled.
    """
    with open_regular(model, follow=True) as file:
        digest = file_digest(file, "sha256").hexdigest()
    found: dict[FileJob, Found] = {}
    _prepare_folder(folder)
    left = []
    for job in jobs:
        finished, fault = _take_up(job, _key(digest, options))
        if finished is not None:
            found[job] = finished | {"kept": True}
            continue
        if fault and not force:
            raise FileExistsError(f"{job.output} exists, and {fault}; choose another --output or replace it with --force")
        left.append(job)

    def receive(job: FileJob, one: Found) -> None:
        found[job] = one
        if "error" in one:
            say(one["error"])

    if found:
        say(f"{folder}: {len(found)} of {len(jobs)} files were finished already")
    if left and engine == "dask":
        _label_on_workers(model, digest, left, options, runtime, scheduler, receive)
    elif left:
        _label_here(digest, classifier, left, options, runtime, receive)
    return _summary(jobs, found, say)


Receive = Callable[[FileJob, Found], None]


def _label_here(
    digest: str, classifier: Any, jobs: list[FileJob], options: LabelOptions, runtime: Runtime, receive: Receive
) -> None:
    sizes = [_size_of(job) for job in jobs]
    before, total = 0, sum(sizes)
    for job, size in zip(jobs, sizes, strict=True):

        def told(stage: str, done: int, all: int, before: int = before, size: int = size) -> None:
            runtime.report(stage, before + (size * done // all if all else 0), total)

        receive(job, label_file(classifier, digest, options, told, job))
        before += size
        runtime.report("labelling", before, total)


def _size_of(job: FileJob) -> int:
    try:
        return int(identify(job.input)["size"]) + 1
    except (OSError, InputError):
        return 1


def _label_on_workers(
    model: str, digest: str, jobs: list[FileJob], options: LabelOptions, runtime: Runtime, scheduler: str | None,
    receive: Receive,
) -> None:  # fmt: skip
    """One task for each file: workers read their own files and write their own labels, and only the model travels.

    The largest files come first, so that no worker is left alone with one in the end.
    """
    jobs = sorted(jobs, key=_size_of, reverse=True)
    own, n_workers = {job.shown: job for job in jobs}, min(runtime.n_threads, len(jobs))
    far = [replace(job, input=_absolute(job.input), output=_absolute(job.output)) for job in jobs]
    n_done = 0

    def take(job: FileJob, one: Found) -> None:
        nonlocal n_done
        receive(own[job.shown], one)
        n_done += 1
        runtime.report("labelling", n_done, len(jobs))

    runtime.report("labelling", 0, len(jobs))
    with open_workers(scheduler, n_workers=n_workers, memory_limit=runtime.memory // (n_workers + 1)) as client:
        shared = os.path.abspath(model)
        if scheduler is not None:
            shared = client.scatter(Path(model).read_bytes(), broadcast=True, hash=False)
        arguments = shared, model, digest, options
        run_tasks(client, _label_on_worker, arguments, far, take, name=lambda job: f"label-{os.path.basename(job.output)}")


def _absolute(name: str) -> str:
    return name if is_url(name) else os.path.abspath(name)


def _label_on_worker(shared: Any, name: str, digest: str, options: LabelOptions, job: FileJob) -> Found:
    import joblib

    folder = os.path.dirname(job.output)
    if not is_url(folder) and not os.path.isdir(folder):
        raise InputError(f"a Dask worker does not see the folder {folder}: all of them must, at the same place")
    with joblib.parallel_config(backend="sequential"):  # each worker has a core, and all have work
        return label_file(_model_of(shared, digest, name), digest, options, None, job)


def load_model(path: str, jobs: int = -1) -> Any:
    """Load a model of texts, which works on this number of threads."""
    from gramshift.model.classifier import load

    classifier = load(path)
    _refuse_rows(path, classifier.kernel)
    return classifier.set_params(n_jobs=jobs)


def check_model(path: str) -> None:
    """Raise the error of a file that is not a model of texts; nothing is imported that computes with models."""
    from gramshift.model.archive import read_archive

    head, _ = read_archive(path)
    _refuse_rows(path, head["parameters"].get("kernel"))


def _refuse_rows(path: str, kernel: Any) -> None:
    if kernel == ROWS:
        raise InputError(f"{path} was fitted on rows of numbers, not on texts; use gramshift.load(...).predict in Python")


_models: dict[str, Any] = {}
_loading = threading.Lock()


def _model_of(shared: str | bytes, digest: str, name: str) -> Any:
    """The model of a worker, by its path or its bytes; it is loaded once, and only the last one is kept."""
    with _loading:
        if digest not in _models:
            data = shared if isinstance(shared, bytes) else Path(shared).read_bytes()
            if sha256(data).hexdigest() != digest:
                raise InputError(f"{shared if isinstance(shared, str) else 'the model'} was changed while files were labelled")
            _models.clear()
            with NamedTemporaryFile(suffix=".gramshift") as file:
                file.write(data)
                file.flush()
                try:
                    _models[digest] = load_model(file.name)
                except InputError as error:
                    raise InputError(str(error).replace(file.name, name)) from None
        return _models[digest]


def _summary(jobs: list[FileJob], found: dict[FileJob, Found], say: Callable[[str], None]) -> dict[str, Any]:
    """What was found, fit for JSON, with the files in their order."""
    good = [job for job in jobs if "error" not in found[job]]
    renamed = [words for job in good if (words := found[job].get("renamed"))]
    if renamed:
        say(renamed[0] + (f" (files like this: {len(renamed)})" if renamed[1:] else ""))
    files = []
    for job in good:
        one = found[job]
        told = {name: one[name] for name in ("n", "labels", "abstained")}
        files.append({"input": job.input, "output": job.output, **told, "kept": one.get("kept", False)})
    bad = [{"input": job.input, "error": found[job]["error"]} for job in jobs if "error" in found[job]]
    labels: Counter[str] = Counter()
    for one in files:
        labels.update(one["labels"])
    totals = {name: sum(found[job][name] for job in good) for name in ("n", "abstained", "confidence")}
    return totals | {"labels": dict(labels), "files": files, "bad": bad}


def describe_bad(result: dict[str, Any]) -> str | None:
    """One sentence about files that could not be labelled, if there are any."""
    bad = [one["input"] for one in result.get("bad", [])]
    if not bad:
        return None
    shown = ", ".join(bad[:5]) + (f" and {len(bad) - 5} more" if len(bad) > 5 else "")
    advice = "the others are done; fix or remove these and run the same command again"
    return f"{len(bad)} of {len(bad) + len(result['files'])} files could not be labelled: {shown}; {advice}"
