"""``gramshift classify --fit-on``: fit with a sample of the target, then label all of it.

The target is read twice, part by part: to draw the sample, and to be labelled.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gramshift.commands.classify.findings import describe_findings
from gramshift.commands.classify.fitting import describe, fit_inputs
from gramshift.commands.classify.label_columns import (
    check_columns_fit,
    label_columns,
    renamed_in_words,
)
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import check_names, check_written, read_inputs
from gramshift.commands.classify.reservoir import Reservoir
from gramshift.commands.label.many_files import label_files
from gramshift.commands.label.one_file import MAX_ROWS, Found, LabelOptions, label_file
from gramshift.commands.outputs import (
    FileJob,
    expand_inputs,
    plan_files,
    refuse_existing,
)
from gramshift.files import Replacing, replaced_file
from gramshift.model.advice import label_sentence
from gramshift.runtime import Runtime
from gramshift.tables.columns import Progress, TableDocuments, find_columns, texts_in
from gramshift.tables.opening import open_table
from gramshift.tables.table import check_reread
from gramshift.terminal import Say

SEED = 0


def classify_by_files(
    options: ClassifyOptions, progress: Progress | None, say: Say, *, quiet: bool
) -> dict[str, Any]:
    """Fit with a sample of the target, and label all of it part by part."""
    files, jobs = _plan(options)
    sample, n_all = _draw(options, files, progress)
    inputs = read_inputs(options, sample=sample, progress=progress, say=say)
    if options.output is not None:
        columns = label_columns(sample.table, inputs.classes)
        output = options.output if jobs is None else jobs[-1].output
        check_columns_fit(output, sample.table, columns, inputs.classes)
        renamed = renamed_in_words(sample.table, columns)
        if renamed and jobs is None:  # label_files says so in the end
            say(renamed)
    described = describe(options, inputs, n_all=n_all) | {"n_fit_on": len(sample)}
    if options.dry_run:
        return described
    if not quiet:
        say(described["sentence"])
    outcome = fit_inputs(options, inputs, progress)
    result = described | describe_findings(options, inputs, outcome)
    result["fit_on_labels"] = result.pop("labels")
    if jobs is None:
        found = _label_one(options, files[0], outcome.classifier, progress)
    else:
        found = _label_all(options, jobs, outcome.classifier, progress, say)
    confidence = found.pop("confidence") / max(1, found["n"])
    result |= found | {"mean_confidence": round(confidence, 4)}
    if options.abstain_below is None:
        del result["abstained"]
    sentence = f"{label_sentence(result)}; learnt from {result['n_fit_on']} of them"
    return result | {"sentence": sentence}


def _plan(options: ClassifyOptions) -> tuple[list[str], list[FileJob] | None]:
    """Return the files to label, and the jobs of a folder; all names are checked before reading."""
    files = expand_inputs(options.targets, format=options.format, option="--target")
    check_names(options, files)
    for name in files:
        check_reread(name)
    jobs = None
    if options.output is not None:
        jobs = plan_files(
            files,
            options.output,
            format=options.format,
            kept=options.source,
            engine=options.engine,
            option="--target",
        )
    check_written(options, files, options.output if jobs is None else None)
    if jobs is not None and not options.force:
        advice = "choose another --output, or replace it with --force"
        for job in jobs:
            refuse_existing(job.output, advice, ", and a new fit would label it again")
    return files, jobs


def _draw(
    options: ClassifyOptions, files: list[str], progress: Progress | None
) -> tuple[TableDocuments, int]:
    """Return a sample of the documents of all target files, and their number."""
    reservoir = Reservoir(int(str(options.fit_on)), SEED)
    for name in files:
        with open_table(name, format=options.format, encoding=options.encoding) as table:
            columns = find_columns(table, text=options.text)
            for part in table.parts(MAX_ROWS):
                reservoir.add(texts_in(table, columns, part))
                if progress is not None:
                    progress("reading", *table.position())
    rows, texts = reservoir.take()
    ids = [str(row + 1) for row in rows]
    sample = TableDocuments(table, columns, [], texts, [None] * len(rows), ids)
    return sample, reservoir.n_seen


def _label_all(
    options: ClassifyOptions,
    jobs: list[FileJob],
    classifier: Any,
    progress: Progress | None,
    say: Say,
) -> Found:
    """Label files one by one; the model is saved first, so that ``predict`` can continue."""
    runtime = Runtime(options.jobs, options.memory, progress=progress)
    with TemporaryDirectory(prefix="gramshift-") as folder:
        model = Path(folder, "model.gramshift")
        classifier.save(model)
        if options.save is not None:
            with replaced_file(options.save) as file:
                file.write(model.read_bytes())
        return label_files(
            str(model),
            classifier,
            jobs,
            str(options.output),
            _label_options(options),
            runtime,
            engine=options.engine,
            scheduler=options.scheduler,
            force=options.force,
            say=say,
        )


def _label_one(
    options: ClassifyOptions, name: str, classifier: Any, progress: Progress | None
) -> Found:
    """Label one file; it and the model appear together, when both are whole."""
    output, how = str(options.output), _label_options(options)
    with Replacing() as written:
        if options.save is not None:
            with written.open(options.save) as model:
                classifier.save(model)
        found = label_file(classifier, name, output, how, written, progress=progress)
    del found["renamed"]  # reported before the fit
    return found


def _label_options(options: ClassifyOptions) -> LabelOptions:
    return LabelOptions(options.text, options.format, options.encoding, options.abstain_below)
