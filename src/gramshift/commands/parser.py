"""The parser: the options of all commands.

Modules that compute take a second to import. Commands import them when they run, so that --help and
the completion of the shell need not wait.
"""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from gramshift.commands import command_options as shared
from gramshift.commands.command_options import (
    check_json,
    file_option,
    flag,
    folder_option,
    json_option,
    number_option,
    option,
    whole_option,
)
from gramshift.errors import InputError
from gramshift.methods import ENGINES, FORMATS, KERNELS, METHODS, PRESETS
from gramshift.progress import progress_bar
from gramshift.terminal import (
    Line,
    count_in_words,
    print_json,
    say,
    show,
    show_lines,
    summarize,
)

DATA_SETS = ("sentiment",)
AMAZON5 = "amazon5"
AMAZON5_METHODS = "tkc,best"
PAPER_OPTIONS = ("kernels", "fields", "preset")  # of reproduce, for the benchmark paper alone
RUN = "Run"
# options in the panels of the help of classify
in_files = partial(file_option, panel="Files")
in_columns = partial(option, panel="Columns")
in_method = partial(option, panel="Method")
in_run = partial(option, panel=RUN)
run_flag = partial(flag, panel=RUN)


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
            default="stdout, if nothing else is asked for",
        ),
    ] = None,
    report: Annotated[
        str | None, in_files("HTML report, to see and correct the labels in a browser.")
    ] = None,
    save: Annotated[
        str | None, in_files("Save the model to this file, for gramshift predict and explain.")
    ] = None,
    corrections: Annotated[
        list[str] | None,
        in_files(
            "Corrected labels, as the report saves them: columns id and label; once for each file."
        ),
    ] = None,
    text: Annotated[str | None, in_columns(shared.TEXT_HELP, metavar="COLUMN")] = None,
    label: Annotated[
        str | None, in_columns("Column of the source's labels.", metavar="COLUMN")
    ] = None,
    id: Annotated[str | None, in_columns(shared.ID_HELP, metavar="COLUMN")] = None,
    truth: Annotated[
        str | None,
        in_columns(
            "True labels of the target, a column or a file: for scoring, never for training.",
            metavar="COLUMN",
        ),
    ] = None,
    format: Annotated[
        str | None, in_columns(shared.FORMAT_HELP, values=FORMATS, metavar="NAME")
    ] = None,
    encoding: Annotated[
        str | None,
        in_columns("Character encoding of the inputs.", default="utf-8", metavar="NAME"),
    ] = None,
    method: Annotated[
        str | None,
        in_method(
            f"Method: {shared.METHODS_HELP}.",
            default="best",
            values=tuple(METHODS),
            metavar="NAME",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        in_method(
            "best (the default method), or paper (the published method, tkc).",
            values=PRESETS,
            metavar="NAME",
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        in_method(
            f"{shared.KERNEL_HELP}, with the paper's methods: presence, intersection or spectrum.",
            default="presence",
            values=KERNELS,
            metavar="NAME",
        ),
    ] = None,
    ngrams: Annotated[
        str | None,
        in_method(
            f"{shared.NGRAMS_HELP}.",
            default="3-8 for best, 5-8 for the paper's methods",
            metavar="RANGE",
        ),
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
            metavar="SHARES",
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        in_method(
            f"Encoder whose vectors of whole texts join the n-grams: {shared.ENCODERS}.",
            metavar="NAME",
        ),
    ] = None,
    vectors: Annotated[
        tuple[str, str] | None,
        in_method(
            "Vectors in place of --encoder: two .npy files, with a row for each row of the source "
            "files and of the target.",
            metavar="FILE FILE",
        ),
    ] = None,
    unlabelled: Annotated[
        str | None,
        in_files("More unlabelled texts of the target domain: learnt from, but not in the output."),
    ] = None,
    abstain_below: Annotated[
        float | None, number_option(shared.ABSTAIN_HELP, panel="Method")
    ] = None,
    fit_on: Annotated[
        str | None,
        in_run(
            "Learn from N documents of the target drawn at random, then label all of them file by "
            "file.",
            metavar="N",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        in_run(shared.ENGINE_HELP, default="threads", values=ENGINES, metavar="NAME"),
    ] = None,
    scheduler: Annotated[
        str | None, in_run(shared.SCHEDULER_HELP, metavar="ADDRESS", default=shared.LOCAL_WORKERS)
    ] = None,
    dry_run: Annotated[
        bool | None,
        run_flag("Check the inputs, print memory and time needed, and stop.", "--dry-run"),
    ] = None,
    force: Annotated[bool | None, run_flag(shared.FORCE_HELP, "--force")] = None,
    memory: Annotated[
        str | None, in_run(shared.MEMORY_HELP, default="all free memory", metavar="SIZE")
    ] = None,
    jobs: Annotated[
        int | None, whole_option(f"{shared.JOBS_HELP}.", panel=RUN, default="all cores")
    ] = None,
    quiet: Annotated[bool, run_flag(shared.QUIET_HELP, "--quiet", "-q")] = False,
    as_json: Annotated[bool, json_option("the results", RUN)] = False,
) -> None:
    """Label one file from labelled examples in others; an HTML report shows confidence and reasons.

    Example: `gramshift classify books.csv dvd.csv --target kitchen.csv --output labels.csv
    --report report.html`
    """
    given = {name: value for name, value in locals().items() if name not in ("as_json", "quiet")}
    from gramshift.commands.classify.options import gather_options
    from gramshift.commands.classify.run import classify
    from gramshift.commands.classify.wording import in_words
    from gramshift.commands.label.many_files import describe_bad

    if not (as_json or dry_run) and output is None and report is None and save is None:
        given["output"] = "-"
    options = gather_options(given)
    check_json(as_json, options.output, "the labels")
    with progress_bar(options.steps, quiet=quiet) as progress:
        result = classify(options, progress=progress, say=say, quiet=quiet)
    if as_json:
        print_json(result)
    elif dry_run:
        show(result["sentence"])
    elif quiet:
        for words in result["warnings"]:
            say(f"Warning: {words}")
    else:
        summarize(in_words(result, options), options.output)
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
    abstain_below: Annotated[float | None, number_option(shared.ABSTAIN_HELP)] = None,
    encoder: shared.Encoder = None,
    engine: Annotated[str, option(shared.ENGINE_HELP, metavar="NAME")] = "threads",
    scheduler: Annotated[
        str | None, option(shared.SCHEDULER_HELP, metavar="ADDRESS", default=shared.LOCAL_WORKERS)
    ] = None,
    jobs: Annotated[
        int,
        whole_option(f"{shared.JOBS_HELP}, or of Dask workers on this machine; -1 for all cores."),
    ] = -1,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
    as_json: Annotated[bool, json_option("a summary")] = False,
) -> None:
    """Label new files with a saved model; memory does not grow with their size or number.

    Example: `gramshift predict --model model.gramshift --input 'parts/*.jsonl' --output labels/`
    """
    given = {
        name: value for name, value in locals().items() if name not in ("as_json", "more", "quiet")
    }
    from gramshift.commands.label.many_files import describe_bad
    from gramshift.commands.predict import in_words, predict

    inputs = [*(input or []), *(more or [])]  # files after the first of --input are arguments
    if not inputs:
        raise InputError("no --input: name the files to label, for example --input new.csv")
    check_json(as_json, output, "the labels")
    with progress_bar(["labelling"], quiet=quiet) as progress:
        result = predict(**given | {"input": inputs}, progress=progress, say=say)
    if as_json:
        print_json(result)
    elif not quiet:
        summarize(in_words(result), output)
    if fault := describe_bad(result):
        raise InputError(fault)


def demo_command(
    output: Annotated[
        Path, folder_option("Folder for the two files and the report.", "--output", "-o")
    ] = Path("gramshift-demo"),
    as_json: Annotated[bool, json_option("the figures")] = False,
) -> None:
    """Label 420 film reviews from 420 reviews of kitchen tools, and the other way round.

    A report to open in a browser is written as well.

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
    text: Annotated[
        str | None, typer.Argument(help="The text to explain, in quotes.", metavar="TEXT")
    ] = None,
    model: shared.Model = ...,  # type: ignore[assignment]
    input: Annotated[
        str | None,
        file_option(
            "File of documents to explain, instead of a text; - for stdin.", "--input", "-i"
        ),
    ] = None,
    html: Annotated[
        str | None, file_option("Also write an HTML file with the words marked.")
    ] = None,
    top: Annotated[
        int,
        whole_option("How many words for and against the label, and training documents, to show."),
    ] = 5,
    encoder: shared.Encoder = None,
    column: shared.Text = None,
    format: shared.Format = None,
    encoding: shared.Encoding = "utf-8",
    force: shared.Force = False,
    quiet: shared.Quiet = False,
    as_json: Annotated[bool, json_option("the explanations")] = False,
) -> None:
    """Show the words of a text that count for its label and against it.

    The most influential training documents are shown as well.

    Example: `gramshift explain --model model.gramshift "a great film, sadly too long"`
    """
    given = {name: value for name, value in locals().items() if name not in ("as_json", "quiet")}
    from gramshift.commands.explain import explain

    steps = ["report"] if input is None else ["reading", "report"]
    with progress_bar(steps, quiet=quiet) as progress:
        result = explain(**given, progress=progress)
    if as_json:
        print_json(result["explanations"])
    else:
        show("\n\n".join(result["texts"]))
    if html is not None and not quiet:
        say(f"page in {html}")


def fetch_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Data set to download: sentiment.")],
    output: Annotated[Path, folder_option("Folder to unpack it into.", "--output", "-o")] = Path(
        "."
    ),
    url: Annotated[
        str | None, option("Address to download from, instead of its home page.", metavar="ADDRESS")
    ] = None,
    quiet: shared.Quiet = False,
    as_json: Annotated[bool, json_option("a summary")] = False,
) -> None:
    """Download the Multi-Domain Sentiment Dataset from its home page.

    Its labelled part is unpacked and checked.

    Example: `gramshift fetch sentiment --output data`
    """
    from gramshift.datasets.fetch import URL, fetch_sentiment

    if name not in DATA_SETS:
        raise InputError(f"data set {name!r} is not known; there is {', '.join(DATA_SETS)}")
    if not quiet:
        say(f"fetching {url or URL} into {output}")
    with progress_bar(quiet=quiet) as progress:
        result = fetch_sentiment(output, url=url or URL, pinned=url is None, progress=progress)
    for warning in result["warnings"]:
        say(f"Warning: {warning}")
    if as_json:
        print_json(result)
    elif not quiet:
        summarize([Line(f"{result['reviews']} reviews in {result['folder']}")])


def info_command(
    file: Annotated[str | None, typer.Argument(help=shared.MODEL_HELP, metavar="MODEL")] = None,
    model: Annotated[
        str | None, file_option("The model file, as for predict and explain.", "--model", "-m")
    ] = None,
    as_json: Annotated[bool, json_option("the description")] = False,
) -> None:
    """Check a model file and describe it.

    It shows parameters, classes, sizes, date and versions, and if the file contains texts.

    Example: `gramshift info model.gramshift`
    """
    from gramshift.commands.info import describe_model, in_words

    names = [name for name in (file, model) if name is not None]
    if len(names) != 1:
        fault = "no model" if not names else f"{file} and --model {model} are two models"
        raise InputError(f"{fault}; name one file: gramshift info model.gramshift")
    found = describe_model(names[0])
    if as_json:
        print_json(found)
    else:
        show_lines(in_words(found))


def kernel_command(
    input: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="Text file, one document per line; - for stdin."),
    ],
    output: Annotated[Path, file_option("The .npy file to write.", "--output", "-o")],
    kind: Annotated[
        str,
        option(
            f"{shared.KERNEL_HELP}: presence, intersection, spectrum, subsequence or local_rank.",
            "--kernel",
            metavar="NAME",
        ),
    ] = "presence",
    ngrams: Annotated[str, option(f"{shared.NGRAMS_HELP}.", metavar="RANGE")] = "5-8",
    decay: Annotated[
        float | None, number_option("For subsequence: the weight of each character. Default: 0.5.")
    ] = None,
    max_offset: Annotated[
        int | None,
        whole_option("For local_rank: the largest distance, in characters. Default: 1000."),
    ] = None,
    sigma: Annotated[
        float | None, number_option("For local_rank: the width of the kernel. Default: 1.")
    ] = None,
    normalize: Annotated[
        bool, flag("Write similarities from 0 to 1 instead of counts.", "--normalize")
    ] = False,
    encoding: shared.Encoding = "utf-8",
    memory: Annotated[
        str | None, option(shared.MEMORY_HELP, default="all free memory", metavar="SIZE")
    ] = None,
    jobs: shared.Jobs = -1,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
    as_json: Annotated[bool, json_option("a summary")] = False,
) -> None:
    """Compare all documents of a text file and write their kernel matrix as a NumPy array.

    Example: `gramshift kernel reviews.txt --output kernel.npy --kernel intersection --ngrams 3-6
    --normalize`
    """
    given = {name: value for name, value in locals().items() if name not in ("as_json", "ngrams")}
    from gramshift.commands.classify.options import parse_ngrams
    from gramshift.commands.kernel import write_kernel

    with progress_bar(["index", "gram"], quiet=quiet) as progress:
        result = write_kernel(**given, ngram_range=parse_ngrams(ngrams), progress=progress)
    if as_json:
        print_json(result)
    elif not quiet:
        n = result["documents"]
        summarize([Line(f"wrote {result['output']}: {result['dtype']}, {n} x {n}")])


def sample_command(
    input: Annotated[
        str, typer.Argument(metavar="FILE", help="Output of gramshift classify or predict.")
    ],
    output: Annotated[
        str,
        file_option("CSV file to write, with an empty column label to fill in.", "--output", "-o"),
    ],
    doubtful: Annotated[
        int | None,
        whole_option(
            "Number of uncertain documents that differ from each other, to train on.", default="50"
        ),
    ] = None,
    random: Annotated[
        int | None, whole_option("Number of documents drawn at random, to measure with.")
    ] = None,
    seed: Annotated[int, whole_option("Seed of the random draw.")] = 0,
    corrections: Annotated[
        list[str] | None,
        file_option(
            "File of corrections (columns id and label); documents labelled there are not drawn. "
            "Once for each file."
        ),
    ] = None,
    text: shared.Text = None,
    id: shared.Id = None,
    format: shared.Format = None,
    encoding: shared.Encoding = "utf-8",
    force: Annotated[bool, flag("Replace an output that exists.", "--force")] = False,
    quiet: shared.Quiet = False,
    as_json: Annotated[bool, json_option("the result")] = False,
) -> None:
    """Draw documents to label by hand, for classify --corrections.

    Doubtful documents are there to learn from, random ones to measure accuracy.

    Example: `gramshift sample labels.csv --doubtful 50 --output to-label.csv`
    """
    given = {name: value for name, value in locals().items() if name not in ("as_json", "quiet")}
    from gramshift.commands.sample import draw_sample, in_words

    check_json(as_json, output, "the sample")
    with progress_bar(["reading"], quiet=quiet) as progress:
        result = draw_sample(**given, progress=progress)
    if as_json:
        print_json(result)
    elif not quiet:
        summarize(in_words(result), output)


def compare_command(
    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Labelled documents: one or several files."),
    ] = None,
    target: Annotated[
        str | None, file_option("Documents to label, with their true labels for scoring.")
    ] = None,
    data: Annotated[
        str | None,
        file_option(
            "One file of several domains, instead of sources and --target: every pair is compared."
        ),
    ] = None,
    domain: Annotated[
        str | None, option("Column of --data that names the domain.", metavar="COLUMN")
    ] = None,
    text: shared.Text = None,
    label: Annotated[str | None, option("Column of the labels.", metavar="COLUMN")] = None,
    truth: Annotated[
        str | None,
        option(
            "Column of the target's true labels, if its name differs from --label.",
            metavar="COLUMN",
        ),
    ] = None,
    format: shared.Format = None,
    encoding: Annotated[str, option("Character encoding of the inputs.", metavar="NAME")] = "utf-8",
    methods: shared.Methods = "plain,tkc,best,tfidf",
    reference: Annotated[
        str | None,
        option("Method that the others are tested against. Default: best.", metavar="NAME"),
    ] = None,
    repeat: Annotated[
        int,
        whole_option(
            "Number of runs on random halves of source and target; 0 for one run on all documents."
        ),
    ] = 0,
    seed: Annotated[int, whole_option("Random seed of the halves and of the bootstrap.")] = 0,
    output: Annotated[
        Path, folder_option("Folder for tables, predictions and plot.", "--output", "-o")
    ] = Path("comparison"),
    source_only: shared.SourceOnly = False,
    resume: shared.Continue = False,
    force: Annotated[bool, flag("Replace results that the folder already has.", "--force")] = False,
    plot: Annotated[bool, flag("Draw the plot (needs matplotlib).", "--plot/--no-plot")] = True,
    jobs: Annotated[
        int,
        whole_option(f"{shared.JOBS_HELP} of our own methods; -1 for all cores."),
    ] = -1,
    quiet: shared.Quiet = False,
    as_json: Annotated[
        bool, flag("Print the figures as JSON instead of a table.", "--json")
    ] = False,
) -> None:
    """Compare methods on your own labelled documents.

    The result has accuracy with intervals, calibration, time and memory.

    Example: `gramshift compare books.csv --target kitchen.csv --methods plain,best,tfidf
    --repeat 5`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.compare import compare_files, show_comparison

    with progress_bar(["reading", "methods"], quiet=quiet) as progress:
        found, result = compare_files(**given, progress=progress, say=say)
    if as_json:
        print_json(result)
        return
    show_comparison(found)
    if not quiet:
        n = count_in_words(len(result["rows"]), "result")
        say(f"{n}; {output} has {', '.join(result['files'])}")


def reproduce_command(
    data: Annotated[
        Path, folder_option("Folder of the data set; it or its parent contains books, dvd, ...")
    ],
    benchmark: Annotated[
        str,
        option(
            "Benchmark to run: paper, or amazon5 (20 pairs of five domains, Li and others, "
            "AAAI 2018).",
            metavar="NAME",
        ),
    ] = "paper",
    output: Annotated[
        Path, folder_option("Folder for results, tables and plot.", "--output", "-o")
    ] = Path("results"),
    settings: Annotated[
        str,
        option("Settings to run: all, single, multi, or names such as D-B,DEK-B.", metavar="NAMES"),
    ] = "all",
    methods: shared.Methods = "own",
    kernels: Annotated[
        str,
        option("String kernels to run: some of presence,intersection,spectrum.", metavar="NAMES"),
    ] = "presence,intersection",
    fields: Annotated[
        str, option("Parts of a review to use: text, or title+text.", metavar="NAME")
    ] = "title+text",
    preset: Annotated[
        str,
        option(
            "Preset to run: paper, or best, which adds our default to the methods.", metavar="NAME"
        ),
    ] = "paper",
    source_only: shared.SourceOnly = False,
    resume: shared.Continue = False,
    plots: Annotated[bool, flag("Draw the plot (needs matplotlib).", "--plots/--no-plots")] = True,
    jobs: shared.Jobs = -1,
    quiet: shared.Quiet = False,
    as_json: Annotated[
        bool, flag("Print the figures as JSON instead of tables.", "--json")
    ] = False,
) -> None:
    """Run the paper's experiments on the Multi-Domain Sentiment Dataset.

    Example: `gramshift reproduce --data sorted_data_acl --output results`
    """
    given = {
        name: value
        for name, value in locals().items()
        if name not in ("as_json", "benchmark", *PAPER_OPTIONS)
    }
    from gramshift.commands.reproduce import (
        check_benchmark,
        reproduce_amazon5,
        reproduce_tables,
        show_tables,
    )
    from gramshift.commands.table_output import show_table

    check_benchmark(benchmark, kernels=kernels, fields=fields)
    with progress_bar(quiet=quiet) as progress:
        if benchmark == AMAZON5:
            given["methods"] = AMAZON5_METHODS if methods == "own" else methods
            result = reproduce_amazon5(**given, progress=progress, say=say)
        else:
            result = reproduce_tables(
                **given, kernels=kernels, fields=fields, preset=preset, progress=progress, say=say
            )
    if as_json:
        print_json(result["rows"])
        return
    if benchmark == AMAZON5:
        show_table(*result["table"])
    else:
        show_tables(result, fields)
    if not quiet:
        took = "" if benchmark == AMAZON5 else f" in {result['seconds']:.1f} s"
        n = count_in_words(len(result["rows"]), "result")
        say(f"{n}{took}; {output} has {', '.join(result['files'])}")
