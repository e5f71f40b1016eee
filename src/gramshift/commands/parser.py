"""The parser of the commands that label files: classify and predict.

Modules that compute take a second to import. Commands import them when they run, so that --help and
the completion of the shell need not wait.
"""

from functools import partial
from typing import Annotated

import typer

from gramshift.commands import command_options as shared
from gramshift.commands.command_options import check_json, file_option, json_option, option
from gramshift.errors import InputError
from gramshift.methods import ENGINES, FORMATS, KERNELS, METHODS, OWN, PRESETS, RIVALS
from gramshift.progress import progress_bar
from gramshift.terminal import print_json, say, tell

METHOD_HELP = f"Our own methods ({', '.join(OWN)}), or a baseline: {', '.join(RIVALS)}."
RUN = "Run"
# options in the panels of the help of classify
in_files = partial(file_option, panel="Files")
in_columns = partial(option, panel="Columns")
in_method = partial(option, panel="Method")
in_run = partial(option, panel=RUN)


def classify_command(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE", help="Labelled documents: one or several files, each a source domain."
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        in_files("Documents to label. Omit it to label the unlabelled rows of the source."),
    ] = None,
    output: Annotated[
        str | None,
        in_files(
            "Output file: the target's columns with labels and probabilities; - for stdout.",
            "--output",
            "-o",
        ),
    ] = None,
    report: Annotated[
        str | None, in_files("HTML report, to see and correct the labels in a browser.")
    ] = None,
    save: Annotated[
        str | None, in_files("Save the model to this file, for gramshift predict and explain.")
    ] = None,
    corrections: Annotated[
        str | None, in_files("Corrected labels, as the report saves them: columns id and label.")
    ] = None,
    text: Annotated[str | None, in_columns(shared.TEXT_HELP)] = None,
    label: Annotated[str | None, in_columns("Column of the source's labels.")] = None,
    id: Annotated[str | None, in_columns(shared.ID_HELP)] = None,
    truth: Annotated[
        str | None,
        in_columns(
            "True labels of the target, a column or a file: for scoring, never for training."
        ),
    ] = None,
    format: Annotated[str | None, in_columns(shared.FORMAT_HELP, values=FORMATS)] = None,
    encoding: Annotated[
        str | None, in_columns("Character encoding of the inputs.", default="utf-8")
    ] = None,
    method: Annotated[
        str | None, in_method(METHOD_HELP, default="best", values=tuple(METHODS))
    ] = None,
    preset: Annotated[
        str | None,
        in_method(
            "best (the default method), or paper (the published method, tkc).", values=PRESETS
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        in_method(
            f"{shared.KERNEL_HELP}, with the paper's methods: presence, intersection or spectrum.",
            default="presence",
            values=KERNELS,
        ),
    ] = None,
    ngrams: Annotated[
        str | None,
        in_method(f"{shared.NGRAMS_HELP}.", default="3-8 for best, 5-8 for the paper's methods"),
    ] = None,
    added: Annotated[
        str | None,
        in_method(
            "Number of pseudo-labelled target documents that tkc trains on, or a fraction such "
            "as 0.3.",
            metavar="NUMBER",
            default="1000, half of the target at most",
        ),
    ] = None,
    class_prior: Annotated[
        str | None,
        in_method(
            "Class proportions of the target, if you know them: positive=60%,negative=40%, or "
            "source.",
            default="estimated",
        ),
    ] = None,
    unlabelled: Annotated[
        str | None,
        in_files("More unlabelled texts of the target domain: learnt from, but not in the output."),
    ] = None,
    abstain_below: Annotated[float | None, in_method(shared.ABSTAIN_HELP)] = None,
    sample: Annotated[
        str | None,
        in_run(
            "Learn from a random sample of this many target documents and label all of them.",
            metavar="NUMBER",
        ),
    ] = None,
    engine: Annotated[
        str | None, in_run(shared.ENGINE_HELP, default="threads", values=ENGINES)
    ] = None,
    scheduler: Annotated[
        str | None, in_run(shared.SCHEDULER_HELP, metavar="ADDRESS", default=shared.LOCAL_WORKERS)
    ] = None,
    dry_run: Annotated[
        bool | None,
        in_run("Check the inputs, print memory and time needed, and stop.", "--dry-run"),
    ] = None,
    force: Annotated[bool | None, in_run(shared.FORCE_HELP, "--force")] = None,
    memory: Annotated[str | None, in_run(shared.MEMORY_HELP, default="all free memory")] = None,
    jobs: Annotated[int | None, in_run(f"{shared.JOBS_HELP}.", default="all cores")] = None,
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
    check_json(as_json, options.output, "the labels")
    with progress_bar(options.steps) as progress:
        result = classify(options, progress=progress, say=say)
    if as_json:
        print_json(result)
    elif not options.dry_run:
        tell(in_words(result, options))
    if fault := describe_bad(result):
        raise InputError(fault)


def predict_command(
    model: shared.Model,
    more: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Further documents to label.")
    ] = None,
    input: Annotated[
        list[str] | None,
        file_option(
            "Documents to label: files, patterns such as 'parts/*.csv', a folder, or - for stdin.",
            "--input",
            "-i",
        ),
    ] = None,
    output: Annotated[
        str,
        file_option(
            "Output file; a folder for several inputs.", "--output", "-o", default="stdout"
        ),
    ] = "-",
    text: shared.Text = None,
    format: shared.Format = None,
    encoding: shared.Encoding = "utf-8",
    abstain_below: Annotated[float | None, option(shared.ABSTAIN_HELP)] = None,
    engine: Annotated[str, option(shared.ENGINE_HELP)] = "threads",
    scheduler: Annotated[
        str | None, option(shared.SCHEDULER_HELP, metavar="ADDRESS", default=shared.LOCAL_WORKERS)
    ] = None,
    jobs: Annotated[
        int, option(f"{shared.JOBS_HELP}, or of Dask workers on this machine; -1 for all cores.")
    ] = -1,
    force: shared.Force = False,
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
    check_json(as_json, output, "the labels")
    with progress_bar(["labelling"]) as progress:
        result = predict(**given | {"input": inputs}, progress=progress, say=say)
    if as_json:
        print_json(result)
    else:
        tell(in_words(result))
    if fault := describe_bad(result):
        raise InputError(fault)
