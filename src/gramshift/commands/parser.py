"""The parser of the commands that label files: classify and predict.

Modules that compute take a second to import. Commands import them when they run, so that --help and
the completion of the shell need not wait.
"""

from typing import Annotated

import typer

from gramshift.commands.command_options import (
    ABSTAIN_HELP,
    ENGINE_HELP,
    FORCE_HELP,
    FORMAT_HELP,
    ID_HELP,
    JOBS_HELP,
    KERNEL_HELP,
    LOCAL_WORKERS,
    MEMORY_HELP,
    NGRAMS_HELP,
    SCHEDULER_HELP,
    TEXT_HELP,
    Encoding,
    Force,
    Format,
    Model,
    Text,
    json_option,
    option,
)
from gramshift.errors import InputError
from gramshift.methods import ENGINES, FORMATS, KERNELS, METHODS, OWN, PRESETS, RIVALS
from gramshift.progress import progress_bar
from gramshift.terminal import print_json, say, tell

METHOD_HELP = f"Our own methods ({', '.join(OWN)}), or a baseline: {', '.join(RIVALS)}."
# panels of the help of classify
FILES = "Files"
COLUMNS = "Columns"
METHOD = "Method"
RUN = "Run"


def classify_command(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE", help="Labelled documents: one or several files, each a source domain."
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        option(
            "Documents to label. Omit it to label the unlabelled rows of the source.",
            panel=FILES,
            metavar="FILE",
        ),
    ] = None,
    output: Annotated[
        str | None,
        option(
            "Output file: the target's columns with labels and probabilities; - for stdout.",
            "--output",
            "-o",
            panel=FILES,
            metavar="FILE",
        ),
    ] = None,
    report: Annotated[
        str | None,
        option(
            "HTML report, to see and correct the labels in a browser.", panel=FILES, metavar="FILE"
        ),
    ] = None,
    save: Annotated[
        str | None,
        option(
            "Save the model to this file, for gramshift predict and explain.",
            panel=FILES,
            metavar="FILE",
        ),
    ] = None,
    corrections: Annotated[
        str | None,
        option(
            "Corrected labels, as the report saves them: columns id and label.",
            panel=FILES,
            metavar="FILE",
        ),
    ] = None,
    text: Annotated[str | None, option(TEXT_HELP, panel=COLUMNS)] = None,
    label: Annotated[str | None, option("Column of the source's labels.", panel=COLUMNS)] = None,
    id: Annotated[str | None, option(ID_HELP, panel=COLUMNS)] = None,
    truth: Annotated[
        str | None,
        option(
            "True labels of the target, a column or a file: for scoring, never for training.",
            panel=COLUMNS,
        ),
    ] = None,
    format: Annotated[str | None, option(FORMAT_HELP, panel=COLUMNS, values=FORMATS)] = None,
    encoding: Annotated[
        str | None, option("Character encoding of the inputs.", panel=COLUMNS, default="utf-8")
    ] = None,
    method: Annotated[
        str | None, option(METHOD_HELP, panel=METHOD, default="best", values=tuple(METHODS))
    ] = None,
    preset: Annotated[
        str | None,
        option(
            "best (the default method), or paper (the published method, tkc).",
            panel=METHOD,
            values=PRESETS,
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        option(
            f"{KERNEL_HELP}, with the paper's methods: presence, intersection or spectrum.",
            panel=METHOD,
            default="presence",
            values=KERNELS,
        ),
    ] = None,
    ngrams: Annotated[
        str | None,
        option(
            f"{NGRAMS_HELP}.", panel=METHOD, default="3-8 for best, 5-8 for the paper's methods"
        ),
    ] = None,
    added: Annotated[
        str | None,
        option(
            "Number of pseudo-labelled target documents that tkc trains on, or a fraction such "
            "as 0.3.",
            panel=METHOD,
            metavar="NUMBER",
            default="1000, half of the target at most",
        ),
    ] = None,
    class_prior: Annotated[
        str | None,
        option(
            "Class proportions of the target, if you know them: positive=60%,negative=40%, or "
            "source.",
            panel=METHOD,
            default="estimated",
        ),
    ] = None,
    unlabelled: Annotated[
        str | None,
        option(
            "More unlabelled texts of the target domain: learnt from, but not in the output.",
            panel=FILES,
            metavar="FILE",
        ),
    ] = None,
    abstain_below: Annotated[float | None, option(ABSTAIN_HELP, panel=METHOD)] = None,
    sample: Annotated[
        str | None,
        option(
            "Learn from a random sample of this many target documents and label all of them.",
            panel=RUN,
            metavar="NUMBER",
        ),
    ] = None,
    engine: Annotated[
        str | None, option(ENGINE_HELP, panel=RUN, default="threads", values=ENGINES)
    ] = None,
    scheduler: Annotated[
        str | None, option(SCHEDULER_HELP, panel=RUN, metavar="ADDRESS", default=LOCAL_WORKERS)
    ] = None,
    dry_run: Annotated[
        bool | None,
        option("Check the inputs, print memory and time needed, and stop.", "--dry-run", panel=RUN),
    ] = None,
    force: Annotated[bool | None, option(FORCE_HELP, "--force", panel=RUN)] = None,
    memory: Annotated[str | None, option(MEMORY_HELP, panel=RUN, default="all free memory")] = None,
    jobs: Annotated[int | None, option(f"{JOBS_HELP}.", panel=RUN, default="all cores")] = None,
    as_json: Annotated[bool, json_option("the results", RUN)] = False,
) -> None:
    """Label one file from labelled examples in others; an HTML report shows confidence and reasons.

    Example: `gramshift classify books.csv dvd.csv --target kitchen.csv --output labels.csv
    --report report.html`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.classify.options import gather_options
    from gramshift.commands.classify.run import classify
    from gramshift.commands.classify.wording import in_words
    from gramshift.commands.label.many_files import describe_bad

    options = gather_options(given)
    if as_json and options.output == "-":
        raise InputError(
            "--json and --output - would both go to standard output; give one of them a file"
        )
    with progress_bar(options.steps) as progress:
        result = classify(options, progress=progress, say=say)
    if as_json:
        print_json(result)
    elif not options.dry_run:
        tell(in_words(result, options))
    if fault := describe_bad(result):
        raise InputError(fault)


def predict_command(
    model: Model,
    more: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Further documents to label.")
    ] = None,
    input: Annotated[
        list[str] | None,
        option(
            "Documents to label: files, patterns such as 'parts/*.csv', a folder, or - for stdin.",
            "--input",
            "-i",
            metavar="FILE",
        ),
    ] = None,
    output: Annotated[
        str,
        option(
            "Output file; a folder for several inputs.",
            "--output",
            "-o",
            metavar="FILE",
            default="stdout",
        ),
    ] = "-",
    text: Text = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    abstain_below: Annotated[float | None, option(ABSTAIN_HELP)] = None,
    engine: Annotated[str, option(ENGINE_HELP)] = "threads",
    scheduler: Annotated[
        str | None, option(SCHEDULER_HELP, metavar="ADDRESS", default=LOCAL_WORKERS)
    ] = None,
    jobs: Annotated[
        int, option(f"{JOBS_HELP}, or of Dask workers on this machine; -1 for all cores.")
    ] = -1,
    force: Force = False,
    as_json: Annotated[bool, json_option("a summary")] = False,
) -> None:
    """Label new files with a saved model; memory does not grow with their size or number.

    Example: `gramshift predict --model model.gramshift --input 'parts/*.jsonl' --output labels/`
    """
    given = {name: value for name, value in locals().items() if name not in ("as_json", "more")}
    from gramshift.commands.label.many_files import describe_bad
    from gramshift.commands.predict import in_words, predict

    inputs = [*(input or []), *(more or [])]  # files after the first of --input are arguments
    if not inputs:
        raise InputError("no --input: name the files to label, for example --input new.csv")
    if as_json and output == "-":
        raise InputError(
            "--json and the labels would both go to standard output; give --output a file"
        )
    with progress_bar(["labelling"]) as progress:
        result = predict(**given | {"input": inputs}, progress=progress, say=say)
    if as_json:
        print_json(result)
    else:
        tell(in_words(result))
    if fault := describe_bad(result):
        raise InputError(fault)
