"""From labelled files and a file to be labelled to labels, a model and a report."""

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gramshift.commands.classify.findings import describe_findings
from gramshift.commands.classify.fitting import ClassifyOutcome, describe, fit_inputs
from gramshift.commands.classify.label_columns import (
    LabelColumns,
    check_columns_fit,
    label_columns,
    own_labels_in_words,
    renamed_in_words,
)
from gramshift.commands.classify.large_target import classify_by_files
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import (
    Inputs,
    check_names,
    check_written,
    read_inputs,
)
from gramshift.commands.outputs import open_output
from gramshift.errors import InputError
from gramshift.files import Replacing, is_url
from gramshift.methods import METHODS
from gramshift.model.settings import PLAIN
from gramshift.report.contents import RunInfo
from gramshift.report.page import MAX_COLUMNS, MAX_DOCUMENTS
from gramshift.report.payload import MAX_VALUE_LENGTH
from gramshift.tables.columns import Progress
from gramshift.tables.writing import open_writer
from gramshift.terminal import Say


def classify(
    options: ClassifyOptions,
    *,
    progress: Progress | None = None,
    say: Say = print,
    quiet: bool = False,
) -> dict[str, Any]:
    """Label the target and return the results, fit for JSON.

    All mistakes that can be found before the work are errors before it. If ``quiet``, only
    warnings are shown.
    """
    begun = time.perf_counter()
    if options.fit_on is not None:
        result = classify_by_files(options, progress, say, quiet=quiet)
    else:
        result = _classify_whole(options, progress, say, quiet=quiet)
    if options.dry_run:
        return result | {"dry_run": True}
    written = {"output": options.output, "report": options.report, "model": options.save}
    return result | written | {"seconds": round(time.perf_counter() - begun, 2)}


def _classify_whole(
    options: ClassifyOptions, progress: Progress | None, say: Say, *, quiet: bool
) -> dict[str, Any]:
    """Label a target that fits into memory: read, fit, report, save and write."""
    _check_files(options)
    inputs = read_inputs(options, progress=progress, say=say)
    _check_size(options, inputs)
    columns = _name_columns(options, inputs, say, quiet=quiet)
    described = describe(options, inputs)
    if options.dry_run:
        return described
    if not quiet:
        say(described["sentence"])
    outcome = fit_inputs(options, inputs, progress)
    result = described | describe_findings(options, inputs, outcome)
    with Replacing() as files:  # they appear together, when all of them are whole
        if options.report is not None:
            write_report(options, inputs, outcome, result, files, progress)
        if options.save is not None:
            with files.open(options.save) as file:
                outcome.classifier.save(file)
        if options.output is not None:  # last: standard output cannot be taken back
            write_labels(options, inputs, columns, outcome, files)
    return result


def _check_files(options: ClassifyOptions) -> None:
    """Raise an error for names of files that cannot be read or written."""
    check_names(options, options.targets)
    for target in options.targets:
        is_pattern = any(sign in target for sign in "*?[") and not is_url(target)
        if is_pattern and not os.path.exists(target):
            raise InputError(
                f"--target {target}: there is no such file; name one file,"
                " or add --fit-on 100000, which takes patterns and labels all files"
            )
    check_written(options, options.targets, options.output)


def _check_size(options: ClassifyOptions, inputs: Inputs) -> None:
    """Raise an error if there are too many documents for a report."""
    if options.report is not None and len(inputs.rows) > MAX_DOCUMENTS:
        raise InputError(
            f"--report shows {MAX_DOCUMENTS} documents at most, and the target has"
            f" {len(inputs.rows)}: leave --report out; the least sure rows of --output have the"
            " lowest confidence"
        )


def _name_columns(
    options: ClassifyOptions, inputs: Inputs, say: Say, *, quiet: bool
) -> LabelColumns:
    """Return the columns of the output, and raise an error if its format cannot hold them."""
    target, is_own = inputs.target, METHODS[options.method].is_own
    columns = label_columns(
        target.table,
        inputs.classes,
        filled=target.columns.label if not options.targets else None,
        reference=options.reference if is_own and options.method != PLAIN else None,
        issue=is_own,
    )
    if options.output is not None:
        check_columns_fit(options.output, target.table, columns, inputs.classes)
        if renamed := renamed_in_words(target.table, columns):
            say(renamed)
    own, labels = target.columns.label, target.labels
    if options.label in target.table.columns:
        own, labels = options.label, target.column(str(options.label))
    has_labels = own is not None and any(label is not None for label in labels)
    if options.targets and options.truth is None and has_labels and not quiet:
        say(own_labels_in_words(target.table, str(own)))
    return columns


def write_labels(
    options: ClassifyOptions,
    inputs: Inputs,
    columns: LabelColumns,
    outcome: ClassifyOutcome,
    files: Replacing,
) -> None:
    """Write the target with its new columns; rows that had a label keep it."""
    name, target = str(options.output), inputs.target
    n, fills_gaps = len(target), columns.label == target.columns.label
    labels = list(target.labels) if fills_gaps else [None] * n
    probabilities: list[list[float]] = [[]] * n
    reference: list[Any] = [None] * n
    found = zip(inputs.rows, outcome.labels, outcome.probabilities.tolist(), strict=True)
    for row, label, of_classes in found:
        labels[row] = label
        probabilities[row] = of_classes
    for row, label in zip(inputs.rows, outcome.reference_labels or (), strict=False):
        reference[row] = label
    issues = _place_issues(inputs, outcome, fills_gaps=fills_gaps)
    start = 0
    with (
        open_output(name, files) as file,
        open_writer(file, name, target.table, columns.types) as writer,
    ):
        for part in target.raw:
            rows = slice(start, start + len(part.rows))
            values = columns.values(
                labels[rows],
                probabilities[rows],
                options.abstain_below,
                reference[rows],
                issues[rows],
            )
            writer.write(part, values)
            start = rows.stop


def _place_issues(
    inputs: Inputs, outcome: ClassifyOutcome, *, fills_gaps: bool
) -> list[str | None]:
    """Return the issues of each row of the target; if it is also the source, those of all rows."""
    issues: list[str | None] = [None] * len(inputs.target)
    labelled = [row for row, label in enumerate(inputs.target.labels) if label is not None]
    for number, words in outcome.issues.by_row().items():
        place = number - len(inputs.labels)
        if place >= 0:
            issues[inputs.rows[place]] = words
        elif fills_gaps:
            issues[labelled[number]] = words
    return issues


def write_report(
    options: ClassifyOptions,
    inputs: Inputs,
    outcome: ClassifyOutcome,
    result: dict[str, Any],
    files: Replacing,
    progress: Progress | None,
) -> None:
    """Write the page, with what the command alone knows."""
    target = _short(inputs.target.table.name)
    names = [_short(name) for name, _ in inputs.files]
    typed = {
        name.replace("_", "-"): value
        for name, value in asdict(options).items()
        if value not in (None, False, [])
    }
    run = RunInfo(
        command=options.to_command(),
        next_command=options.to_command(corrections=["corrections.csv"], force=True),
        options=typed,
        target_name=target,
        sources=inputs.files,
        scores=result["scores"],
        changes=result["corrections"]["changes"] if result["corrections"] else (),
        sentence=result["sentence"],
        warnings=result["warnings"],
        diagnostics=result["diagnostics"],
    )
    with files.open(str(options.report)) as file:
        outcome.classifier.report(
            file,
            ids=inputs.target_ids,
            source_ids=inputs.ids,
            columns=_other_columns(options, inputs),
            title=f"{target}, labelled from {', '.join(names)}",
            truth=inputs.target_truth,
            drawn=inputs.corrections.drawn,
            abstain_below=options.abstain_below,
            run=run,
            progress=progress,
        )


def _other_columns(options: ClassifyOptions, inputs: Inputs) -> dict[str, list[Any]]:
    """Return the first columns of the target that are no text, id, label or truth."""
    table, columns = inputs.target.table, inputs.target.columns
    used = {*columns.texts, columns.id, *([] if options.targets else [columns.label])}
    truth = (options.truth or "").strip().lower()  # upper and lower case do not matter there
    names = [name for name in table.columns if name not in used and name.strip().lower() != truth]
    names = names[:MAX_COLUMNS]
    wanted = set(inputs.rows)
    rows = [row for part in inputs.target.raw for row in part.rows] if names else []
    chosen = [row for number, row in enumerate(rows) if number in wanted]
    return {name: [_cell(row.get(name)) for row in chosen] for name in names}


def _cell(value: Any) -> str:
    """Return the beginning of a value, as a page shows it."""
    return "" if value is None else str(value)[:MAX_VALUE_LENGTH]


def _short(name: str) -> str:
    return Path(name).name or name
