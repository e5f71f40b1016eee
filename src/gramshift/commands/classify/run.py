"""From labelled files and a file to be labelled to labels, a model and a page."""

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gramshift.commands.classify.findings import describe_findings
from gramshift.commands.classify.fitting import Fits, fit_all
from gramshift.commands.classify.labelled import (
    Corrections,
    LabelColumns,
    label_columns,
    own_labels_in_words,
    read_corrections,
    renamed_in_words,
)
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs, Say, check_names, read_inputs
from gramshift.commands.outputs import STANDARD, check_outputs, open_output
from gramshift.data.columns import Progress
from gramshift.data.readers import format_of
from gramshift.data.tables import Table, TableError
from gramshift.data.writing import open_writer, output_style
from gramshift.errors import InputError
from gramshift.methods import METHODS
from gramshift.model.settings import PLAIN, WORD_RANGE
from gramshift.report.contents import ReportContents, ShownAsItIs, SourceDocuments, TargetDocuments
from gramshift.report.gather import MAX_EXPLAINED, gather_contents, list_issues
from gramshift.report.page import LONGEST_VALUE, MOST_COLUMNS, MOST_SHOWN, render_page
from gramshift.runtime.budget import Needs, Work, check_memory
from gramshift.runtime.memory import memory_of
from gramshift.runtime.replacing import Replacing
from gramshift.runtime.storage import is_url

N_WORD_LENGTHS = 1 + WORD_RANGE[1] - WORD_RANGE[0]


def classify(options: ClassifyOptions, *, progress: Progress | None = None, say: Say = print) -> dict[str, Any]:
    """Run it; what can be refused is refused before the work. Returns what happened, fit for JSON."""
    if options.sample is not None:
        from gramshift.commands.classify.sampling import classify_any  # late: it measures runs with functions from here

        return classify_any(options, progress=progress, say=say)
    begun = time.perf_counter()
    check_files(options)
    inputs = read_inputs(options, progress=progress, say=say)
    options.given_parameters(inputs.labels)  # proportions of classes that there are not are refused
    given = _corrections(options, inputs, say)
    corrections = given.labels
    classes = sorted({*inputs.labels, *corrections.values()})
    columns = _columns(options, inputs, classes, say)
    needs = measure(options, inputs, corrections)
    described = describe(options, inputs, needs, n_corrected=len(corrections)) | {"classes": list(map(str, classes))}
    say(described["sentence"])
    if options.report is not None and len(inputs.rows) > MOST_SHOWN:
        advice = "leave --report out; the least sure rows of --output have the lowest confidence"
        raise InputError(f"--report shows {MOST_SHOWN} documents at most, and the target has {len(inputs.rows)}: {advice}")
    if options.dry_run:
        return described | {"dry_run": True}
    fits = fit_all(inputs, given, options, progress)
    result = described | describe_findings(options, inputs, corrections, fits)
    contents = None
    if options.report is not None:
        contents = _make_contents(options, inputs, given, fits, result, progress)
    write_outputs(options, inputs, columns, fits, contents)  # nothing is written before all is known
    files = {"output": options.output, "report": options.report, "model": options.save}
    return result | files | {"seconds": round(time.perf_counter() - begun, 2)}


def write_outputs(
    options: ClassifyOptions, inputs: Inputs, columns: LabelColumns, fits: Fits, contents: ReportContents | None
) -> None:
    """Write labels, model and page, those that are asked for; they appear together, when all of them are whole."""
    with Replacing() as files:
        if contents is not None:
            with files.open(str(options.report)) as file:
                file.write(render_page(contents).encode())
        if options.save is not None:
            with files.open(options.save) as file:
                fits.classifier.save(file)
        if options.output is not None:  # last: what has gone to standard output cannot be taken back
            write_labels(options, inputs, columns, fits, files=files)


def write_labels(
    options: ClassifyOptions, inputs: Inputs, columns: LabelColumns, fits: Fits, *, files: Replacing | None = None
) -> None:
    """The target with its new columns; of a file with gaps all rows, those that had a label as they were."""
    name, target, gap = str(options.output), inputs.target, columns.label == inputs.target.columns.label
    everywhere: list[Any] = list(target.labels) if gap else [None] * len(target)
    sure: list[list[float]] = [[]] * len(target)
    reference: list[Any] = [None] * len(target)
    for row, label, one in zip(inputs.rows, fits.labels, fits.probabilities.tolist(), strict=True):
        everywhere[row], sure[row] = label, one
    for row, one in zip(inputs.rows, fits.reference_labels or [], strict=False):
        reference[row] = one
    issues = _place_issues(inputs, fits, gap=gap)
    done = 0
    with open_output(name, files) as file, open_writer(file, name, target.table, columns.types) as writer:
        for part in target.raw:
            here = slice(done, done + len(part.rows))
            beside = reference[here], issues[here]
            writer.write(part, columns.values(everywhere[here], sure[here], options.abstain_below, *beside))
            done += len(part.rows)


def _place_issues(inputs: Inputs, fits: Fits, *, gap: bool) -> list[str | None]:
    """What is wrong with the document of each row of the target; in a file with gaps also of those that had a label."""
    issues: list[str | None] = [None] * len(inputs.target)
    of_source = [row for row, label in enumerate(inputs.target.labels) if label is not None] if gap else []
    for number, words in fits.issues.by_row().items():
        of_target = number - len(inputs.labels)
        if of_target >= 0:
            issues[inputs.rows[of_target]] = words
        elif gap:
            issues[of_source[number]] = words
    return issues


def check_files(options: ClassifyOptions) -> None:
    """Refuse names that cannot be read or written, before anything is."""
    check_names(options, options.targets)
    for target in options.targets:
        if any(sign in target for sign in "*?[") and not is_url(target) and not os.path.exists(target):
            advice = "name one file, or add --sample 100000, which takes patterns and labels all files"
            raise InputError(f"--target {target}: there is no such file; {advice}")
    given = (options.corrections, options.unlabelled, options.truth)  # a column is no file, or none of these
    names = [*options.source, *options.targets, *filter(None, given)]
    outputs = {"--output": options.output, "--report": options.report, "--save": options.save}
    check_outputs(outputs, names, force=options.force)
    for option, name in (("--report", options.report), ("--save", options.save)):
        if name == STANDARD:
            raise InputError(f"{option} cannot go to standard output; give the name of a file")
    if options.output not in (None, STANDARD):
        format_of(str(options.output), option="another --output")


def _corrections(options: ClassifyOptions, inputs: Inputs, say: Say) -> Corrections:
    """Read what a person has said of target documents; what should be known of the file is said."""
    if options.corrections is None:
        return Corrections()
    found = read_corrections(
        options.corrections,
        ids=inputs.target_ids,
        classes=sorted(set(inputs.labels)),
        texts=inputs.target_texts,
    )
    if len(found.labels) == len(inputs.rows):
        raise TableError(f"{options.corrections} has a label for every target document; there is nothing left to find")
    if found.new and options.class_prior not in (None, "source"):
        named = ", ".join(map(repr, map(str, found.new)))
        raise TableError(
            f"--class-prior is for the classes of the source, and {options.corrections} adds {named}; leave --class-prior out"
        )
    method = METHODS[options.method]
    use = "measure the accuracy" if method.is_own else f"are corrections like others for the method {options.method}"
    if method.is_best and options.class_prior is None:
        use = "set the class proportions and measure the accuracy"
    for words in found.in_words(options.corrections, use):
        say(words)
    return found


def _columns(options: ClassifyOptions, inputs: Inputs, classes: list[Any], say: Say) -> LabelColumns:
    """The columns of the output, whose format must fit too."""
    table = inputs.target.table
    filled = inputs.target.columns.label if not options.targets else None
    reference = options.reference if options.method != PLAIN else None
    columns = label_columns(table, classes, filled=filled, reference=reference, issue=True)
    if options.output is not None:
        check_columns_fit(options.output, table, columns, classes, say)
    own, labels = inputs.target.columns.label, inputs.target.labels
    if options.label in table.columns:
        own, labels = options.label, inputs.target.column(str(options.label))
    if options.targets and options.truth is None and own is not None and any(one is not None for one in labels):
        say(own_labels_in_words(table, own))
    return columns


def check_columns_fit(output: str, table: Table, columns: LabelColumns, classes: list[Any], say: Say) -> None:
    """Raise an error if an output cannot have the labels; say what becomes of columns that the table has already."""
    style = output_style(output, table)
    try:
        "".join(map(str, classes)).encode(style.encoding)
    except UnicodeEncodeError as error:
        lacking = error.object[error.start]
        raise TableError(f"{output} would be {style.encoding}, which lacks {lacking!r} of a label") from None
    words = renamed_in_words(table, columns)
    if words is not None:
        say(words)


def measure(options: ClassifyOptions, inputs: Inputs, corrections: dict[str, Any]) -> Needs:
    """Estimate what a run will take; it is refused if that is more memory than there is."""
    n_target, method = len(inputs.rows), METHODS[options.method]
    low, high = options.ngram_range
    work = Work(
        n_source=len(inputs.labels),
        n_target=n_target + len(inputs.more_texts),
        n_characters=inputs.n_characters,
        n_lengths=high - low + 1 + (N_WORD_LENGTHS if method.is_best else 0),
        n_classes=len({*inputs.labels, *corrections.values()}),
        label_characters=max((len(label) for label in set(inputs.labels) if isinstance(label, str)), default=0),
        n_explained=min(n_target, MAX_EXPLAINED) if options.report else 0,
        longest=max(map(len, inputs.target_texts), default=0) if options.report else 0,
        n_fits=2 if corrections else 1,
        jobs=options.jobs,
    )
    is_plain = options.method == PLAIN and options.kernel == "presence"
    linear = method.is_best or not method.is_own or is_plain
    return check_memory(work, memory_of(options.memory), linear=linear, way="--sample {}")


def describe(
    options: ClassifyOptions, inputs: Inputs, needs: Needs, *, n_corrected: int = 0, n_all: int | None = None
) -> dict[str, Any]:
    """Describe what a run will do, fit for JSON; ``n_all`` is how many there are of which the target is a sample."""
    n_source, n_target = len(inputs.labels), len(inputs.rows)
    of_all = "" if n_all is None else f" of {n_all}"
    return {
        "n_source": n_source,
        "n_target": n_target,
        "n_unlabelled": len(inputs.more_texts),
        "classes": [str(one) for one in sorted(set(inputs.labels))],
        "sources": [list(one) for one in inputs.files],
        "target": inputs.target.table.name,
        "method": options.method,
        "kernel": options.kernel,
        "ngrams": "-".join(map(str, options.ngram_range)),
        "n_added": options.n_added(n_target - n_corrected),
        "command": options.to_command(),
        "needs": {"bytes": needs.n_bytes, "seconds": round(needs.seconds, 1)},
        "sentence": f"{n_source} source and {n_target}{of_all} target documents: {needs}",
    }


def _make_contents(
    options: ClassifyOptions,
    inputs: Inputs,
    corrections: Corrections,
    fits: Fits,
    found: dict[str, Any],
    progress: Progress | None,
) -> ReportContents:
    """Gather all that the page shows."""
    names = [_short(name) for name, _ in inputs.files]
    typed = {name.replace("_", "-"): value for name, value in asdict(options).items() if value not in (None, False)}
    target = _short(inputs.target.table.name)
    return gather_contents(
        fits.classifier,
        fits.reference,
        target=TargetDocuments(
            inputs.target_ids,
            inputs.target_texts,
            truth=None if inputs.truth is None else [inputs.truth[row] for row in inputs.rows],
            corrected=corrections.labels,
            drawn=corrections.drawn,
            columns=_other_columns(options, inputs),
        ),
        source=SourceDocuments(inputs.ids, inputs.texts, inputs.labels),
        shown=ShownAsItIs(
            title=f"{target}, labelled from {', '.join(names)}",
            sentence=found["sentence"],
            options=typed,
            sources=inputs.files,
            warnings=found["warnings"],
            diagnostics=found["diagnostics"],
            scores=found["scores"],
            changes=found["corrections"]["changes"] if found["corrections"] else (),
            target_name=target,
            command=options.to_command(),
            issues=list_issues(fits.issues),
            next_command=options.to_command(corrections="corrections.csv", force=True),
        ),
        abstain_below=options.abstain_below or 0.0,
        listed=fits.documents,
        progress=progress,
    )


def _other_columns(options: ClassifyOptions, inputs: Inputs) -> dict[str, list[Any]]:
    """What else the target says of each document, such as its title: the first columns that are not text, id or label."""
    table, columns = inputs.target.table, inputs.target.columns
    ours = {*columns.texts, columns.id, *([] if options.targets else [columns.label])}
    truth = (options.truth or "").strip().lower()  # however it is spelt
    names = [name for name in table.columns if name not in ours and name.strip().lower() != truth][:MOST_COLUMNS]
    wanted = set(inputs.rows)
    rows = [row for part in inputs.target.raw for row in part.rows] if names else []
    return {name: [_cell(row.get(name)) for number, row in enumerate(rows) if number in wanted] for name in names}


def _cell(value: Any) -> str:
    """A value as a page shows it: the beginning of what it is."""
    return "" if value is None else str(value)[:LONGEST_VALUE]


def _short(name: str) -> str:
    return Path(name).name or name
