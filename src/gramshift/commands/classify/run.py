"""From labelled files and a file to be labelled to labels, a model and a page."""

import time
from functools import partial
from pathlib import Path
from typing import Any

from gramshift.commands.classify.labelled import LabelColumns, label_columns, read_corrections, renamed_in_words
from gramshift.commands.classify.options import AUTO, ClassifyOptions, parse_ngrams
from gramshift.commands.classify.reading import Inputs, Say, check_names, read_inputs
from gramshift.commands.outputs import STANDARD, check_outputs, open_output
from gramshift.data.columns import Progress
from gramshift.data.readers import format_of
from gramshift.data.tables import TableError
from gramshift.data.writing import open_writer, output_style
from gramshift.methods import BEST, METHODS
from gramshift.model.settings import MOST_LANDMARKS, PRESETS, WORD_RANGE
from gramshift.runtime.budget import Needs, Work, check_exact, check_landmarks_fit, memory_of, most_landmarks
from gramshift.runtime.checkpoint import check_folder

N_WORD_LENGTHS = 1 + WORD_RANGE[1] - WORD_RANGE[0]
MOST_SHOWN = 20_000  # documents on a page: a browser holds no more of them with ease


def classify(options: ClassifyOptions, *, progress: Progress | None = None, say: Say = print) -> dict[str, Any]:
    """Run it; what can be refused is refused before the work. Returns what happened, fit for JSON."""
    begun = time.perf_counter()
    _check_files(options)
    if options.resume is not None:
        check_folder(options.resume)
    inputs = read_inputs(options, progress=progress, say=say)
    corrections = _corrections(options, inputs)
    columns = _columns(options, inputs, say)
    sizes = _sizes(options, inputs, corrections)
    say(sizes["sentence"])
    if options.report is not None and len(inputs.rows) > MOST_SHOWN:
        advice = "leave --report out; the least sure rows of --output have the lowest confidence"
        raise ValueError(f"--report shows {MOST_SHOWN} documents at most, and the target has {len(inputs.rows)}: {advice}")
    if options.dry_run:
        return sizes | {"dry_run": True}

    from gramshift.commands.classify.findings import describe_findings
    from gramshift.commands.classify.fitting import fit_all, fit_with_landmarks

    n_kept = sum(1 for _ in Path(options.resume).glob("*.piece")) if options.resume is not None else 0
    fit = partial(fit_all, on_disk=sizes["needs"]["disk"] > 0)
    if options.landmarks is not None:
        fit = partial(fit_with_landmarks, n_landmarks=sizes["landmarks"])
    fits = fit(inputs, corrections, options, progress)
    if n_kept:  # now it is known that they were of this run
        say(f"{options.resume}: {n_kept} finished pieces were there already")
    result = sizes | describe_findings(options, inputs, corrections, fits)
    contents = None
    if options.report is not None:
        from gramshift.commands.classify.page import make_contents
        from gramshift.report.page import write_page

        contents = make_contents(options, inputs, corrections, fits, result, progress)
    if options.output is not None:  # nothing is written before all is known
        write_labels(options, inputs, columns, fits.labels, fits.probabilities.tolist())
    if options.save is not None:
        fits.classifier.save(options.save)
    if contents is not None:
        write_page(str(options.report), contents)
    files = {"output": options.output, "report": options.report, "model": options.save}
    return result | files | {"seconds": round(time.perf_counter() - begun, 2)}


def write_labels(
    options: ClassifyOptions, inputs: Inputs, columns: LabelColumns, labels: list[Any], probabilities: list[list[float]]
) -> None:
    """The target with its new columns; of a file with gaps all rows, those that had a label as they were."""
    name, target, gap = str(options.output), inputs.target, columns.label == inputs.target.columns.label
    everywhere: list[Any] = list(target.labels) if gap else [None] * len(target)
    sure: list[list[float]] = [[]] * len(target)
    for row, label, one in zip(inputs.rows, labels, probabilities, strict=True):
        everywhere[row], sure[row] = label, one
    done = 0
    with open_output(name) as file, open_writer(file, name, target.table, columns.types) as writer:
        for part in target.raw_parts():
            here = slice(done, done + len(part.rows))
            writer.write(part, columns.values(everywhere[here], sure[here], options.abstain_below))
            done += len(part.rows)


def _check_files(options: ClassifyOptions) -> None:
    check_names(options)
    names = [*options.source, *filter(None, [options.target, options.corrections])]
    check_outputs({"--output": options.output, "--report": options.report, "--save": options.save}, names, force=options.force)
    for option, name in (("--report", options.report), ("--save", options.save)):
        if name == STANDARD:
            raise ValueError(f"{option} cannot go to standard output; give the name of a file")
    if options.output not in (None, STANDARD):
        format_of(str(options.output), option="another --output")


def _corrections(options: ClassifyOptions, inputs: Inputs) -> dict[str, Any]:
    if options.corrections is None:
        return {}
    corrections = read_corrections(options.corrections, ids=inputs.target_ids, classes=sorted(set(inputs.labels)))
    if len(corrections) == len(inputs.rows):
        raise TableError(f"{options.corrections} has a label for every target document; there is nothing left to find")
    return corrections


def _columns(options: ClassifyOptions, inputs: Inputs, say: Say) -> LabelColumns:
    """Of the output, whose format must fit too."""
    table, classes = inputs.target.table, sorted(set(inputs.labels))
    columns = label_columns(table, classes, filled=inputs.target.columns.label if options.target is None else None)
    if options.output is None:
        return columns
    style = output_style(options.output, table)
    try:
        "".join(map(str, classes)).encode(style.encoding)
    except UnicodeEncodeError as error:
        lacking = error.object[error.start]
        raise TableError(f"{options.output} would be {style.encoding}, which lacks {lacking!r} of a label") from None
    words = renamed_in_words(table, columns)
    if words is not None:
        say(words)
    return columns


def _sizes(options: ClassifyOptions, inputs: Inputs, corrections: dict[str, Any]) -> dict[str, Any]:
    """How large the run is and what it will take; refused if that is more than there is."""
    n_source, n_target = len(inputs.labels), len(inputs.rows)
    low, high = parse_ngrams(options.ngrams)
    n_added = options.n_added(n_target - len(corrections))
    work = Work(
        n_source=n_source,
        n_target=n_target,
        n_added=n_added,
        n_characters=inputs.n_characters,
        n_lengths=high - low + 1 + (N_WORD_LENGTHS if options.method == BEST else 0),
        adapts=options.method != "plain",
        n_explained=min(n_target, 2000) if options.report else 0,
        jobs=options.jobs,
        n_grams=PRESETS[BEST]["n_rounds"] if options.method == BEST else 1,
        command=True,
    )
    n_landmarks = _count_landmarks(work, options)
    needs = _check_needs(work, options, n_landmarks)
    compared = "" if n_landmarks is None else f", {n_landmarks} landmarks"
    return {
        "n_source": n_source,
        "n_target": n_target,
        "classes": [str(one) for one in sorted(set(inputs.labels))],
        "sources": [list(one) for one in inputs.files],
        "target": inputs.target.table.name,
        "method": options.method,
        "kernel": options.kernel,
        "ngrams": options.ngrams,
        "n_added": n_added,
        "options": options.to_toml(),
        "landmarks": n_landmarks,
        "needs": {"bytes": needs.n_bytes, "seconds": round(needs.seconds, 1), "disk": needs.disk},
        "sentence": f"{n_source} source and {n_target} target documents{compared}: {needs}",
    }


def _count_landmarks(work: Work, options: ClassifyOptions) -> int | None:
    """As many as are asked for, or as memory allows; no more than there are documents."""
    if options.landmarks == AUTO:
        cell_bytes, kept = 8 if options.method == BEST else 4, options.resume is not None
        return most_landmarks(work, memory_of(options.memory), MOST_LANDMARKS, cell_bytes=cell_bytes, kept=kept)
    return None if options.landmarks is None else min(int(options.landmarks), work.n)


def _check_needs(work: Work, options: ClassifyOptions, n_landmarks: int | None) -> Needs:
    """Refuse what does not fit; with a folder to keep pieces in, the gram may be there too."""
    allowed = memory_of(options.memory)
    if n_landmarks is not None:
        cell_bytes, kept = 8 if options.method == BEST else 4, options.resume is not None
        return check_landmarks_fit(work, n_landmarks, allowed, cell_bytes=cell_bytes, kept=kept)
    is_stage, is_own = METHODS[options.method].is_stage, METHODS[options.method].is_own
    ways = ({"disk": "--resume DIR"} if is_stage else {}) | ({"landmarks": "--landmarks {}"} if is_own else {})
    may_use_disk, cell_bytes = is_stage and options.resume is not None, 8 if options.method == BEST else 4
    needs, _ = check_exact(work, allowed, may_use_disk=may_use_disk, options=ways, cell_bytes=cell_bytes)
    return needs
