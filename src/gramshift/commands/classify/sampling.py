"""``gramshift classify --sample``: a fit with a sample of the target, then labels for all of it, from files to files.

The target is read twice, part by part: to draw the sample, and to be labelled. What is finished, the model and the
probabilities of one part after another, is in the folder of --resume.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.commands.classify.findings import describe_findings
from gramshift.commands.classify.fitting import fit_all
from gramshift.commands.classify.labelled import Corrections, label_columns
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Say, check_names, read_inputs
from gramshift.commands.classify.run import check_columns_fit, classify, describe, measure
from gramshift.commands.label_files import MOST_ROWS, Found, LabelOptions, count_rows, label_files, label_table
from gramshift.commands.outputs import (
    STANDARD,
    FileJob,
    as_option,
    check_outputs,
    expand_inputs,
    goes_into_folder,
    is_within,
    open_output,
    plan_files,
)
from gramshift.data.columns import Documents, Progress, find_columns, texts_in
from gramshift.data.readers import format_of, open_table
from gramshift.data.tables import check_reread
from gramshift.errors import InputError
from gramshift.methods import METHODS, load
from gramshift.model.advice import label_sentence
from gramshift.runtime.checkpoint import Checkpoint, check_folder, digest
from gramshift.runtime.door import MEGABYTE, open_regular, read_json
from gramshift.runtime.replacing import Replacing, replaced_file
from gramshift.runtime.resources import Runtime
from gramshift.runtime.schema import EPSILON, Anything, Array, Flag, Listed, Nothing, Number, Record, Text
from gramshift.runtime.storage import identify, is_url, locate
from gramshift.text.corpus import Reservoir

SEED = 0
MODEL, STORY, PIECES = "model.gramshift", "fit.json", "fit"  # in the folder of --resume
COUNT, SENTENCE = Number(0, 2**62, whole=True), Text(100_000)
TOLD = Record(  # what STORY must tell of a fit, as far as it is looked at again
    {
        "n_sample": COUNT,
        "n_target": COUNT,
        "sample_labels": Record({}, others=COUNT),
        "diagnostics": Record({}, {"verdict": SENTENCE}, others=Record({"sentence": SENTENCE}, others=Anything())),
        "warnings": Listed(SENTENCE),
        "scores": Nothing(),
        "corrections": Nothing(),
        "history": Listed(Record({}, others=Anything())),
    },
    {
        "expected_accuracy": Record({name: Number(0, 1) for name in ("value", "low", "high")}),
        "without_evidence": COUNT,
        "fell_back": Flag(),
    },
    others=Anything(),
)
FIT = Record({"model": Text(64), "story": TOLD})
LARGEST_STORY = 100 * MEGABYTE
DECIDING = (
    "text",
    "label",
    "id",
    "format",
    "encoding",
    "method",
    "kernel",
    "ngrams",
    "added",
    "class_prior",
    "sample",
)


def classify_any(
    options: ClassifyOptions, *, progress: Progress | None = None, say: Say = print, most_rows: int = MOST_ROWS
) -> dict[str, Any]:
    """Run what the options ask for, with a sample ``most_rows`` at a time; returns what happened, fit for JSON."""
    if options.sample is None:
        return classify(options, progress=progress, say=say)
    begun = time.perf_counter()
    task = _plan(options, most_rows)
    with _open_kept(options, task.files) as kept:
        fitted = _fit(task, kept, progress, say)
        if options.dry_run:
            return fitted.story | {"dry_run": True}
        with Replacing() as written:
            if options.save is not None:
                with written.open(options.save) as file:
                    fitted.classifier.save(file) if kept is None else file.write((kept.folder / MODEL).read_bytes())
            if task.jobs is None:
                found = _label_one(task, fitted.classifier, kept, progress, written)
            else:
                found = _label_all(task, task.jobs, fitted.classifier, kept, progress, say)
    confidence = found.pop("confidence") / max(1, found["n"])
    result = fitted.story | found | {"mean_confidence": round(confidence, 4)}
    if options.abstain_below is None:
        del result["abstained"]
    result["sentence"] = label_sentence(result) + f"; learnt from {result['n_sample']} of them"
    files = {"output": options.output, "report": None, "model": options.save, "options": options.to_toml()}
    return result | files | {"seconds": round(time.perf_counter() - begun, 2)}


@dataclass(frozen=True)
class _Task:
    """What is to be done: ``jobs`` for a folder, or one file."""

    options: ClassifyOptions
    files: list[str]
    jobs: list[FileJob] | None
    most_rows: int

    @property
    def label_options(self) -> LabelOptions:
        options = self.options
        return LabelOptions(options.text, options.format, options.encoding, options.abstain_below)


@dataclass(frozen=True)
class _Fitted:
    classifier: Any
    story: dict[str, Any]
    """What is told of the fit, fit for JSON."""


def _plan(options: ClassifyOptions, most_rows: int) -> _Task:
    """Check all names before anything is read."""
    files = expand_inputs(options.targets, format=options.format, option="--target")
    check_names(options, files)
    for name in files:
        check_reread(name)
    inputs = [*options.source, *files]
    jobs, output = None, options.output
    if output is not None and goes_into_folder(files, output):
        jobs, output = plan_files(files, output, format=options.format, kept=options.source, option="--target"), None
    elif output not in (None, STANDARD):
        format_of(str(output), "another --output")
    saved = None if _is_saved(options) else options.save
    check_outputs({"--output": output, "--save": saved}, inputs, force=options.force, resume=options.resume)
    if options.resume is not None and options.output is not None and is_within(options.output, options.resume):
        raise InputError(f"--output {options.output} is in the folder of --resume; give another folder")
    if options.save == STANDARD:
        raise InputError("--save cannot go to standard output; give the name of a file")
    if options.engine == "dask" and jobs is None:
        raise InputError(
            "--engine dask gives each worker a file of its own; several targets go into a folder: --output labels/"
        )
    if options.resume is not None:
        check_folder(options.resume)
    return _Task(options, files, jobs, most_rows)


def _is_saved(options: ClassifyOptions) -> bool:
    """Whether --save is there already and holds the model in the folder of --resume, so that nothing would be lost."""
    if options.save is None or options.resume is None or is_url(options.save):
        return False
    saved, kept = Path(options.save), Path(options.resume) / MODEL
    return saved.is_file() and kept.is_file() and saved.read_bytes() == kept.read_bytes()


@contextmanager
def _open_kept(options: ClassifyOptions, files: list[str]) -> Iterator[Checkpoint | None]:
    """The folder of --resume, if it is of this run: of the same options, and files that have not changed."""
    if options.resume is None or options.dry_run:
        yield None
        return
    key: dict[str, Any] = {"what": "labels of a target by a sample of it"}
    key |= {f"--{name}": getattr(options, name) for name in DECIDING}
    for option, names in (("source", options.source), ("target", files)):
        for name in names:
            about = identify(name)
            key |= {f"size of {option} {name}": about["size"], f"time of {option} {name}": about["modified"]}
    with Checkpoint.open(options.resume, key) as kept:
        yield kept


def _fit(task: _Task, kept: Checkpoint | None, progress: Progress | None, say: Say) -> _Fitted:
    options = task.options
    if kept is not None and (there := _take_up_fit(kept.folder, say)) is not None:
        say(f"{options.resume}: the fit and {kept.n_done} finished parts were there already")
        return there
    for job in task.jobs or () if not options.force else ():
        if locate(job.output)[0].exists(locate(job.output)[1]):
            advice = "" if kept is not None else "give the --resume that it was made with, "
            advice += "choose another --output or replace it with --force"
            raise FileExistsError(f"{job.output} exists, and a new fit would label it anew; {advice}")
    sample, n_all = _draw(task, progress)
    inputs = read_inputs(options, sample=sample, progress=progress, say=say)
    classes = sorted(set(inputs.labels))
    if options.output is not None:
        output = options.output if task.jobs is None else task.jobs[-1].output
        told = say if task.jobs is None else lambda _: None  # of several files it is told in the end
        check_columns_fit(output, sample.table, label_columns(sample.table, classes), classes, told)
    size = measure(options, inputs, {})
    described = describe(options, inputs, size, n_all=n_all) | {"n_target": n_all, "n_sample": len(sample)}
    say(described["sentence"])
    if options.dry_run:
        return _Fitted(None, described)
    pieces = str(kept.folder / PIECES) if kept is not None and METHODS[options.method].is_stage else None
    here = replace(options, engine="threads", scheduler=None, resume=pieces)
    fits = fit_all(inputs, Corrections(), here, progress, on_disk=size.needs.disk > 0)
    story = described | describe_findings(here, inputs, {}, fits)
    story["sample_labels"] = story.pop("labels")
    if kept is not None:
        with replaced_file(kept.folder / MODEL, follow=False) as file:
            fits.classifier.save(file)
        whole = {"model": sha256((kept.folder / MODEL).read_bytes()).hexdigest(), "story": story}
        with replaced_file(kept.folder / STORY, follow=False) as file:
            file.write(json.dumps(whole).encode())
    return _Fitted(fits.classifier, story)


def _take_up_fit(folder: Path, say: Say) -> _Fitted | None:
    """The fit that is in a folder, if it is whole."""
    try:
        told = read_json(folder / STORY, most=LARGEST_STORY)
        FIT.check(STORY, told, {})
        with open_regular(folder / MODEL) as file:
            digest = file_digest(file, "sha256").hexdigest()
        if digest != told["model"]:
            raise ValueError
        return _Fitted(load(folder / MODEL), told["story"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        if (folder / STORY).exists() or not isinstance(error, OSError):
            say(f"{folder / STORY} or {MODEL} beside it is damaged; the fit has to be done again")
        return None


def _draw(task: _Task, progress: Progress | None) -> tuple[Documents, int]:
    """A sample of the documents of all target files, and how many there are; no more than the sample and a part are held."""
    options = task.options
    reservoir = Reservoir(int(str(options.sample)), SEED)
    for name in task.files:
        with open_table(name, format=options.format, encoding=options.encoding, naming=as_option) as table:
            columns = find_columns(table, text=options.text)
            for part in table.parts(task.most_rows):
                reservoir.add(texts_in(table, columns, part))
                if progress is not None:
                    progress("reading", *table.position())
    rows, texts = reservoir.take()
    return Documents(table, columns, [], texts, [None] * len(rows), [str(row + 1) for row in rows]), reservoir.n_seen


def _label_all(
    task: _Task, jobs: list[FileJob], classifier: Any, kept: Checkpoint | None, progress: Progress | None, say: Say
) -> dict[str, Any]:
    options, given = task.options, task.label_options
    runtime = Runtime(options.jobs, options.memory, progress=progress, engine=options.engine, scheduler=options.scheduler)
    with TemporaryDirectory(prefix="gramshift-") as folder:
        model = Path(folder if kept is None else kept.folder, MODEL)
        if kept is None:
            classifier.save(model)
        return label_files(
            str(model), classifier, jobs, str(options.output), given, runtime,
            force=options.force, most_rows=task.most_rows, say=say,
        )  # fmt: skip


def _label_one(task: _Task, classifier: Any, kept: Checkpoint | None, progress: Progress | None, written: Replacing) -> Found:
    options, output = task.options, str(task.options.output)
    with open_table(task.files[0], format=options.format, encoding=options.encoding, naming=as_option) as table:
        columns = find_columns(table, text=options.text)
        with open_output(output, written) as file:
            return label_table(
                table,
                columns,
                file,
                output,
                score=_Scores(classifier, kept),
                ours=label_columns(table, classifier.classes_.tolist()),
                classes=classifier.classes_,
                abstain_below=options.abstain_below,
                size=task.most_rows,
                told=lambda: None if progress is None else progress("labelling", *table.position()),
            )


@dataclass(frozen=True)
class _Scores:
    """Probabilities of one part after another, each taken from the folder if it is there, and kept in it if not."""

    classifier: Any
    kept: Checkpoint | None

    def __call__(self, number: int, texts: list[str]) -> NDArray[np.float64]:
        if self.kept is None:
            return self._find(texts)
        name, known = f"labels-{number:06d}", np.array([digest(texts)], "S64")
        sides = len(texts), len(self.classifier.classes_)
        expected = {"probabilities": Array("<f8", sides, low=0, most=1 + EPSILON), "texts": Array("|S64", (1,))}
        piece = self.kept.load(name, expected) if name in self.kept else None
        if piece is not None and np.array_equal(piece["texts"], known):
            return piece["probabilities"]
        probabilities = self._find(texts)
        self.kept.save(name, probabilities=probabilities, texts=known)
        return probabilities

    def _find(self, texts: list[str]) -> NDArray[np.float64]:
        size = count_rows(self.classifier)
        return np.vstack([self.classifier.predict_proba(texts[start : start + size]) for start in range(0, len(texts), size)])
