"""The parser: the options of every command, which is then run by the module of its name.

What computes takes a second to import. It is imported within the commands, so that --help and the shell need not wait.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from gramshift.errors import InputError
from gramshift.methods import ENGINES, FORMATS, KERNELS, METHODS, OWN, PRESETS, RIVALS, STAGES
from gramshift.runtime.progress_bar import progress_bar
from gramshift.text.terminal import print_json, say, show, show_lines, tell

DATA_SETS = ("sentiment",)
FILES, COLUMNS, METHOD, RUN = "Files", "Columns", "Method", "Run"  # panels of the help
METHOD_HELP = f"Our own methods ({', '.join(OWN)}), or a baseline: {', '.join(RIVALS)}."
TEXT_HELP = "Column of the texts; title,body joins two columns."
FORMAT_HELP = "Format of the inputs (csv, tsv, jsonl, parquet), if the file extension does not show it."
KERNEL_HELP = "String kernel that compares documents"
NGRAMS_HELP = "Lengths of the character n-grams, for example 3-6 or 4"
ABSTAIN_HELP = "Give no label to documents below this confidence, for example 0.7."
MEMORY_HELP = "Memory limit, for example '4 GiB'; what needs more is refused before any work starts."
ENGINE_HELP = "Where files are labelled: threads, or dask, whose workers label many files in parallel."
SCHEDULER_HELP = "Address of a running Dask scheduler, for example tcp://host:8786, for --engine dask."
JOBS_HELP = "Number of threads"
FORCE_HELP = "Replace output files that exist."
MODEL_HELP = "Model file that gramshift classify --save has written."
METHODS_HELP = f"Methods to run: own ({', '.join(STAGES)}), baselines, all, or names from {', '.join(METHODS)}."
SOURCE_ONLY_HELP = "Run each method's own classifier without adaptation, trained on the source alone."
CONTINUE_HELP = "Continue an interrupted run with the finished results in the output folder."


def _file(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=FILES, metavar="FILE")


def _option(
    *names: str, help: str, panel: str, default: str | None = None, values: tuple[str, ...] = (), metavar: str | None = None
) -> Any:
    """Declare an option that shows this default and lets the shell complete these values."""
    return typer.Option(
        *names,
        help=help,
        rich_help_panel=panel,
        show_default=default if default is not None else False,
        autocompletion=(lambda incomplete: [one for one in values if one.startswith(incomplete)]) if values else None,
        metavar=metavar,
    )


def classify_command(
    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Labelled documents: one or several files, each a source domain."),
    ] = None,
    target: Annotated[
        list[str] | None, _file("--target", help="Documents to label. Omit it to label the unlabelled rows of the source.")
    ] = None,
    output: Annotated[
        str | None,
        _file("--output", "-o", help="Output file: the target's columns with labels and probabilities; - for stdout."),
    ] = None,
    report: Annotated[str | None, _file("--report", help="HTML report, to see and correct the labels in a browser.")] = None,
    save: Annotated[str | None, _file("--save", help="Save the model to this file, for gramshift predict and explain.")] = None,
    corrections: Annotated[
        str | None, _file("--corrections", help="Corrected labels, as the report saves them: columns id and label.")
    ] = None,
    text: Annotated[str | None, _option("--text", help=TEXT_HELP, panel=COLUMNS)] = None,
    label: Annotated[str | None, _option("--label", help="Column of the source's labels.", panel=COLUMNS)] = None,
    id: Annotated[str | None, _option("--id", help="Column of document ids; 'none' numbers the rows.", panel=COLUMNS)] = None,
    truth: Annotated[
        str | None,
        _option(
            "--truth",
            help="True labels of the target, a column or a file: for scoring, never for training.",
            panel=COLUMNS,
        ),
    ] = None,
    format: Annotated[str | None, _option("--format", help=FORMAT_HELP, panel=COLUMNS, values=FORMATS)] = None,
    encoding: Annotated[
        str | None, _option("--encoding", help="Character encoding of the inputs.", panel=COLUMNS, default="utf-8")
    ] = None,
    method: Annotated[
        str | None, _option("--method", help=METHOD_HELP, panel=METHOD, default="best", values=tuple(METHODS))
    ] = None,
    preset: Annotated[
        str | None,
        _option(
            "--preset", help="best (the default method), or paper (the published method, tkc).", panel=METHOD, values=PRESETS
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        _option(
            "--kernel",
            help=f"{KERNEL_HELP}, with the paper's methods: presence, intersection or spectrum.",
            panel=METHOD,
            default="presence",
            values=KERNELS,
        ),
    ] = None,
    ngrams: Annotated[
        str | None,
        _option("--ngrams", help=f"{NGRAMS_HELP}.", panel=METHOD, default="3-8 for best, 5-8 for the paper's methods"),
    ] = None,
    added: Annotated[
        str | None,
        _option(
            "--added",
            help="Number of pseudo-labelled target documents that tkc trains on, or a fraction such as 0.3.",
            panel=METHOD,
            default="1000, half of the target at most",
            metavar="NUMBER",
        ),
    ] = None,
    class_prior: Annotated[
        str | None,
        _option(
            "--class-prior",
            help="Class proportions of the target, if you know them: positive=60%,negative=40%, or source.",
            panel=METHOD,
            default="estimated",
        ),
    ] = None,
    unlabelled: Annotated[
        str | None,
        _file("--unlabelled", help="More unlabelled texts of the target domain: learnt from, but not in the output."),
    ] = None,
    abstain_below: Annotated[float | None, _option("--abstain-below", help=ABSTAIN_HELP, panel=METHOD)] = None,
    sample: Annotated[
        str | None,
        _option(
            "--sample",
            help="Learn from a random sample of this many target documents and label all of them.",
            panel=RUN,
            metavar="NUMBER",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        _option("--engine", help=ENGINE_HELP, panel=RUN, default="threads", values=ENGINES),
    ] = None,
    scheduler: Annotated[
        str | None,
        _option("--scheduler", help=SCHEDULER_HELP, panel=RUN, default="workers on this machine", metavar="ADDRESS"),
    ] = None,
    dry_run: Annotated[
        bool | None,
        typer.Option("--dry-run", help="Check the inputs, print memory and time needed, and stop.", rich_help_panel=RUN),
    ] = None,
    force: Annotated[bool | None, typer.Option("--force", help=FORCE_HELP, rich_help_panel=RUN)] = None,
    memory: Annotated[str | None, _option("--memory", help=MEMORY_HELP, panel=RUN, default="all free memory")] = None,
    jobs: Annotated[int | None, _option("--jobs", help=f"{JOBS_HELP}.", panel=RUN, default="all cores")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.", rich_help_panel=RUN)] = False,
) -> None:
    """Label one file from labelled examples in others; an HTML report shows confidence and reasons.

    Example: `gramshift classify books.csv dvd.csv --target kitchen.csv --output labels.csv --report report.html`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.classify.findings import in_words
    from gramshift.commands.classify.options import gather_options
    from gramshift.commands.classify.run import classify
    from gramshift.commands.label_files import describe_bad

    options = gather_options(given)
    if as_json and options.output == "-":
        raise InputError("--json and --output - would both go to standard output; give one of them a file")
    with progress_bar(options.steps) as progress:
        result = classify(options, progress=progress, say=say)
    if as_json:
        print_json(result)
    elif not options.dry_run:
        tell(in_words(result, options))
    if fault := describe_bad(result):
        raise InputError(fault)


def demo_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the two files and the report.")] = Path(
        "gramshift-demo"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Label 420 film reviews from 420 reviews of kitchen tools, and the other way round; writes a report to open.

    Example: `gramshift demo`
    """
    from gramshift.commands.demo import check_demo, describe, run_demo, write_demo

    check_demo(output)
    result = run_demo() | write_demo(output)
    if as_json:
        print_json(result)
    else:
        show(describe(result))


def explain_command(
    text: Annotated[str | None, typer.Argument(help="The text to explain, in quotes.", metavar="TEXT")] = None,
    model: Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP, metavar="FILE")] = ...,  # type: ignore[assignment]
    input: Annotated[
        str | None,
        typer.Option("--input", "-i", help="File of documents to explain, instead of a text; - for stdin.", metavar="FILE"),
    ] = None,
    html: Annotated[str | None, typer.Option(help="Also write an HTML file with the words marked.", metavar="FILE")] = None,
    top: Annotated[int, typer.Option(help="How many words for and against the label, and training documents, to show.")] = 5,
    column: Annotated[str | None, typer.Option("--text", help=TEXT_HELP)] = None,
    format: Annotated[str | None, typer.Option(help=FORMAT_HELP)] = None,
    encoding: Annotated[str, typer.Option(help="Character encoding of the input.")] = "utf-8",
    force: Annotated[bool, typer.Option("--force", help=FORCE_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the explanations as JSON.")] = False,
) -> None:
    """Show the words of a text that count for its label and against it, and the most influential training documents.

    Example: `gramshift explain --model model.gramshift "a great film, sadly too long"`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.explain import explain

    with progress_bar(["report"] if input is None else ["reading", "report"]) as progress:
        result = explain(**given, progress=progress)
    if as_json:
        print_json(result["explanations"])
    else:
        show("\n\n".join(result["texts"]))
    if html is not None:
        say(f"page in {html}")


def fetch_command(
    name: Annotated[str, typer.Argument(help="Data set to download: sentiment.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to unpack it into.")] = Path("."),
    url: Annotated[str | None, typer.Option(help="Address to download from, instead of its home page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Download the Multi-Domain Sentiment Dataset from its home page, unpack its labelled part and check it.

    Example: `gramshift fetch sentiment --output data`
    """
    from gramshift.datasets.fetch import URL, fetch_sentiment

    if name not in DATA_SETS:
        raise InputError(f"data set {name!r} is not known; there is {', '.join(DATA_SETS)}")
    say(f"fetching {url or URL} into {output}")
    with progress_bar() as progress:
        result = fetch_sentiment(output, url=url or URL, pinned=url is None, progress=progress)
    for warning in result["warnings"]:
        say(f"gramshift: {warning}")
    if as_json:
        print_json(result)
    else:
        say(f"{result['reviews']} reviews in {result['folder']}")


def info_command(
    model: Annotated[str, typer.Argument(help=MODEL_HELP, metavar="MODEL")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the description as JSON.")] = False,
) -> None:
    """Check a model file and describe it: parameters, classes, sizes, date, versions, and whether it contains texts.

    Example: `gramshift info model.gramshift`
    """
    from gramshift.commands.info import describe_model, in_words

    found = describe_model(model)
    if as_json:
        print_json(found)
    else:
        show_lines(in_words(found))


def kernel_command(
    input: Annotated[str, typer.Argument(metavar="INPUT", help="Text file, one document per line; - for stdin.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .npy file to write.")],
    kind: Annotated[
        str,
        typer.Option("--kernel", help=f"{KERNEL_HELP}: presence, intersection, spectrum, subsequence or local_rank."),
    ] = "presence",
    ngrams: Annotated[str, typer.Option(help=f"{NGRAMS_HELP}.")] = "5-8",
    decay: Annotated[float | None, typer.Option(help="For subsequence: the weight of each character. Default: 0.5.")] = None,
    max_offset: Annotated[
        int | None, typer.Option(help="For local_rank: the largest distance, in characters. Default: 1000.")
    ] = None,
    sigma: Annotated[float | None, typer.Option(help="For local_rank: the width of the kernel. Default: 1.")] = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Write similarities from 0 to 1 instead of counts.")] = False,
    encoding: Annotated[str, typer.Option(help="Character encoding of the input.")] = "utf-8",
    memory: Annotated[str | None, typer.Option(help=MEMORY_HELP, show_default="all free memory")] = None,
    jobs: Annotated[int, typer.Option(help=f"{JOBS_HELP}; -1 for all cores.")] = -1,
    force: Annotated[bool, typer.Option("--force", help=FORCE_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Compare all documents of a text file and write their kernel matrix as a NumPy array.

    Example: `gramshift kernel reviews.txt --output kernel.npy --kernel intersection --ngrams 3-6 --normalize`
    """
    from gramshift.commands.classify.options import parse_ngrams
    from gramshift.commands.kernel import write_kernel

    parameters = {"decay": decay, "max_offset": max_offset, "sigma": sigma}
    with progress_bar(["index", "gram"]) as progress:
        result = write_kernel(
            input,
            output,
            kind=kind,
            ngram_range=parse_ngrams(ngrams),
            parameters={name: value for name, value in parameters.items() if value is not None},
            normalize=normalize,
            encoding=encoding,
            memory=memory,
            n_jobs=jobs,
            force=force,
            progress=progress,
        )
    if as_json:
        print_json(result)
    else:
        say(f"wrote {result['output']}: {result['dtype']}, {result['documents']} x {result['documents']}")


def predict_command(
    model: Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP, metavar="FILE")],
    more: Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Further documents to label.")] = None,
    input: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            "-i",
            help="Documents to label: files, patterns such as 'parts/*.csv', a folder, or - for stdin.",
            metavar="FILE",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Output file; a folder for several inputs.", metavar="FILE", show_default="stdout"),
    ] = "-",
    text: Annotated[str | None, typer.Option(help=TEXT_HELP)] = None,
    format: Annotated[str | None, typer.Option(help=FORMAT_HELP)] = None,
    encoding: Annotated[str, typer.Option(help="Character encoding of the input.")] = "utf-8",
    abstain_below: Annotated[float | None, typer.Option(help=ABSTAIN_HELP)] = None,
    engine: Annotated[str, typer.Option(help=ENGINE_HELP)] = "threads",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help=SCHEDULER_HELP, show_default="workers on this machine")
    ] = None,
    jobs: Annotated[int, typer.Option(help=f"{JOBS_HELP}, or of Dask workers on this machine; -1 for all cores.")] = -1,
    force: Annotated[bool, typer.Option("--force", help=FORCE_HELP)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Label new files with a saved model; memory does not grow with their size or number.

    Example: `gramshift predict --model model.gramshift --input 'parts/*.jsonl' --output labels/`
    """
    given = {name: value for name, value in locals().items() if name not in ("as_json", "more")}
    from gramshift.commands.label_files import describe_bad
    from gramshift.commands.predict import in_words, predict

    inputs = [*(input or []), *(more or [])]  # further files after --input are arguments to the parser
    if not inputs:
        raise InputError("no --input: name the files to label, for example --input new.csv")
    if as_json and output == "-":
        raise InputError("--json and the labels would both go to standard output; give --output a file")
    with progress_bar(["labelling"]) as progress:
        result = predict(**given | {"input": inputs}, progress=progress, say=say)
    if as_json:
        print_json(result)
    else:
        tell(in_words(result))
    if fault := describe_bad(result):
        raise InputError(fault)
