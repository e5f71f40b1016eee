"""``gramshift classify --sample``: fit with a sample of the target, then label all of it.

The target is read twice, part by part: to draw the sample, and to be labelled.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gramshift.commands.classify.findings import describe_findings
from gramshift.commands.classify.fitting import check_columns_fit, describe, fit_inputs
from gramshift.commands.classify.labelled import Corrections, label_columns
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Say, check_names, read_inputs
from gramshift.commands.label_files import label_files
from gramshift.commands.labelling import MAX_ROWS, Found, LabelOptions, label_file
from gramshift.commands.outputs import (
    STANDARD,
    FileJob,
    check_outputs,
    expand_inputs,
    goes_into_folder,
    plan_files,
)
from gramshift.errors import InputError
from gramshift.files import Replacing, locate, replaced_file
from gramshift.model.advice import label_sentence
from gramshift.runtime import Runtime
from gramshift.tables.columns import Progress, TableDocuments, find_columns, texts_in
from gramshift.tables.opening import format_of, open_table
from gramshift.tables.table import check_reread
from gramshift.text.reservoir import Reservoir

SEED = 0


def classify_sampled(
    options: ClassifyOptions, *, progress: Progress | None = None, say: Say = print
) -> dict[str, Any]:
    """Run with a sample, part by part; returns what happened, fit for JSON."""
    begun = time.perf_counter()
    task = _plan(options)
    classifier, story = _fit(task, progress, say)
    if options.dry_run:
        return story | {"dry_run": True}
    if task.jobs is None:
        found = _label_one(task, classifier, progress)
    else:
        found = _label_all(task, task.jobs, classifier, progress, say)
    confidence = found.pop("confidence") / max(1, found["n"])
    result = story | found | {"mean_confidence": round(confidence, 4)}
    if options.abstain_below is None:
        del result["abstained"]
    result["sentence"] = label_sentence(result) + f"; learnt from {result['n_sample']} of them"
    files = {
        "output": options.output,
        "report": None,
        "model": options.save,
        "command": options.to_command(),
    }
    return result | files | {"seconds": round(time.perf_counter() - begun, 2)}


@dataclass(frozen=True)
class _Task:
    """The files to label: ``jobs`` for a folder, or one file."""

    options: ClassifyOptions
    files: list[str]
    jobs: list[FileJob] | None

    @property
    def label_options(self) -> LabelOptions:
        options = self.options
        return LabelOptions(options.text, options.format, options.encoding, options.abstain_below)


def _plan(options: ClassifyOptions) -> _Task:
    """Check all names before anything is read."""
    files = expand_inputs(options.targets, format=options.format, option="--target")
    check_names(options, files)
    for name in files:
        check_reread(name)
    jobs, output = None, options.output
    if output is not None and goes_into_folder(files, output):
        jobs, output = (
            plan_files(
                files, output, format=options.format, kept=options.source, option="--target"
            ),
            None,
        )
    elif output not in (None, STANDARD):
        format_of(str(output), "another --output")
    check_outputs(
        {"--output": output, "--save": options.save}, [*options.source, *files], force=options.force
    )
    if options.save == STANDARD:
        raise InputError("--save cannot go to standard output; give the name of a file")
    if options.engine == "dask" and jobs is None:
        raise InputError(
            "--engine dask gives each worker a file of its own;"
            " several targets go into a folder: --output labels/"
        )
    for job in jobs or () if not options.force else ():
        if locate(job.output)[0].exists(locate(job.output)[1]):
            advice = "choose another --output, or replace it with --force"
            raise FileExistsError(
                f"{job.output} exists, and a new fit would label it anew; {advice}"
            )
    return _Task(options, files, jobs)


def _fit(task: _Task, progress: Progress | None, say: Say) -> tuple[Any, dict[str, Any]]:
    """Return the classifier, None for a dry run, and a description of the fit, for JSON."""
    options = task.options
    sample, n_all = _draw(task, progress)
    inputs = read_inputs(options, sample=sample, progress=progress, say=say)
    classes = sorted(set(inputs.labels))
    if options.output is not None:
        output, say_now = options.output, say
        if task.jobs is not None:  # label_files names renamed columns in the end
            output, say_now = task.jobs[-1].output, lambda _: None
        columns = label_columns(sample.table, classes)
        check_columns_fit(output, sample.table, columns, classes, say_now)
    described = describe(options, inputs, Corrections(), n_all=n_all)
    described |= {"n_target": n_all, "n_sample": len(sample)}
    say(described["sentence"])
    if options.dry_run:
        return None, described
    outcome = fit_inputs(options, inputs, Corrections(), progress)
    story = described | describe_findings(options, inputs, Corrections(), outcome)
    story["sample_labels"] = story.pop("labels")
    return outcome.classifier, story


def _draw(task: _Task, progress: Progress | None) -> tuple[TableDocuments, int]:
    """Return a sample of the documents of all target files, and their number."""
    options = task.options
    reservoir = Reservoir(int(str(options.sample)), SEED)
    for name in task.files:
        with open_table(name, format=options.format, encoding=options.encoding) as table:
            columns = find_columns(table, text=options.text)
            for part in table.parts(MAX_ROWS):
                reservoir.add(texts_in(table, columns, part))
                if progress is not None:
                    progress("reading", *table.position())
    rows, texts = reservoir.take()
    return TableDocuments(
        table, columns, [], texts, [None] * len(rows), [str(row + 1) for row in rows]
    ), reservoir.n_seen


def _label_all(
    task: _Task, jobs: list[FileJob], classifier: Any, progress: Progress | None, say: Say
) -> dict[str, Any]:
    """Label files one by one; the model is saved first, so that ``predict`` can continue."""
    options = task.options
    runtime = Runtime(options.jobs, options.memory, progress=progress)
    with TemporaryDirectory(prefix="gramshift-") as folder:
        model = Path(folder, "model.gramshift")
        classifier.save(model)
        if options.save is not None:
            with replaced_file(options.save) as file:
                file.write(model.read_bytes())
        return label_files(
            str(model), classifier, jobs, str(options.output), task.label_options, runtime,
            engine=options.engine, scheduler=options.scheduler, force=options.force, say=say,
        )  # fmt: skip


def _label_one(task: _Task, classifier: Any, progress: Progress | None) -> Found:
    """Label one file; it and the model appear together, when both are whole."""
    options, output = task.options, str(task.options.output)
    with Replacing() as written:
        if options.save is not None:
            with written.open(options.save) as model:
                classifier.save(model)
        found = label_file(
            classifier, task.files[0], output, task.label_options, written, progress=progress
        )
    del found["renamed"]  # reported before the fit
    return found
