"""The parser: the options of every command, which is then run by the module of its name.

What computes takes a second to import. It is imported within the commands, so that --help and the shell need not wait.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from gramshift.commands.progress_bar import progress_bar
from gramshift.errors import InputError
from gramshift.methods import ENGINES, FORMATS, KERNELS, LABELLING, OWN, PRESETS
from gramshift.text.terminal import print_json, say

METHOD_HELP = f"{', '.join(OWN)}, or a rival: {', '.join(name for name in LABELLING if name not in OWN)}."
FILES, COLUMNS, METHOD, RUN = "Files", "Columns", "Method", "Run"
DATA_SETS = ("sentiment",)


def _choice(values: tuple[str, ...]) -> Any:
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


def _file(*names: str, help: str, panel: str = FILES) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, metavar="FILE")


def _option(
    *names: str, help: str, panel: str, default: str | None = None, values: tuple[str, ...] = (), metavar: str | None = None
) -> Any:
    shown = default if default is not None else False
    complete = _choice(values) if values else None
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=shown, autocompletion=complete, metavar=metavar)


def classify_command(
    source: Annotated[list[str] | None, _file("--source", help="Labelled documents; several files may follow.")] = None,
    target: Annotated[list[str] | None, _file("--target", help="Documents to label. None if one source has gaps.")] = None,
    output: Annotated[str | None, _file("--output", "-o", help="Where the labels go: the target's columns and ours.")] = None,
    report: Annotated[str | None, _file("--report", help="A page (.html) to look at and correct the labels.")] = None,
    save: Annotated[str | None, _file("--save", help="Keep the model, for gramshift predict and explain.")] = None,
    corrections: Annotated[str | None, _file("--corrections", help="Labels put right on the page: id, label.")] = None,
    config: Annotated[str | None, _file("--config", help="A TOML file with any of these options.")] = None,
    text: Annotated[str | None, _option("--text", help="Text; title,body joins two.", panel=COLUMNS)] = None,
    label: Annotated[str | None, _option("--label", help="Labels of the source.", panel=COLUMNS)] = None,
    id: Annotated[str | None, _option("--id", help="Ids of documents; none: number the rows.", panel=COLUMNS)] = None,
    truth: Annotated[
        str | None, _option("--truth", help="True labels of the target; used to score, never to learn.", panel=COLUMNS)
    ] = None,
    format: Annotated[
        str | None, _option("--format", help="What inputs are whose names do not tell.", panel=COLUMNS, values=FORMATS)
    ] = None,
    encoding: Annotated[
        str | None, _option("--encoding", help="Encoding of the inputs.", panel=COLUMNS, default="utf-8")
    ] = None,
    method: Annotated[
        str | None, _option("--method", help=METHOD_HELP, panel=METHOD, default="best", values=tuple(LABELLING))
    ] = None,
    preset: Annotated[
        str | None,
        _option("--preset", help="paper, or best: the same as --method best.", panel=METHOD, values=PRESETS),
    ] = None,
    kernel: Annotated[
        str | None,
        _option("--kernel", help="presence, intersection or spectrum.", panel=METHOD, default="presence", values=KERNELS),
    ] = None,
    ngrams: Annotated[
        str | None, _option("--ngrams", help="Lengths, for example 3-6 or 4; each method has its own.", panel=METHOD)
    ] = None,
    added: Annotated[
        str | None,
        _option(
            "--added",
            help="Target documents that join the training: 500, or 0.3 of them.",
            panel=METHOD,
            default="1000, half of the target at most",
            metavar="NUMBER",
        ),
    ] = None,
    shares: Annotated[
        str | None,
        _option("--shares", help="Shares of classes: positive=0.5,negative=0.5, or source.", panel=METHOD, default="estimated"),
    ] = None,
    unlabelled: Annotated[str | None, _file("--unlabelled", help="More texts of the target's kind, without output.")] = None,
    abstain_below: Annotated[
        float | None, _option("--abstain-below", help="No label below this confidence, for example 0.7.", panel=METHOD)
    ] = None,
    landmarks: Annotated[
        str | None,
        _option("--landmarks", help="Compare with so many documents, not all: for many. Or auto.", panel=RUN, metavar="NUMBER"),
    ] = None,
    sample: Annotated[
        str | None,
        _option("--sample", help="Learn from so many target documents, label all: for very many.", panel=RUN, metavar="NUMBER"),
    ] = None,
    resume: Annotated[
        str | None, _option("--resume", help="Keep finished pieces here, go on with them.", panel=RUN, metavar="DIR")
    ] = None,
    engine: Annotated[
        str | None, _option("--engine", help="threads, or dask.", panel=RUN, default="threads", values=ENGINES)
    ] = None,
    scheduler: Annotated[
        str | None,
        _option("--scheduler", help="Address of Dask: tcp://host:8786; else on this machine.", panel=RUN, metavar="ADDRESS"),
    ] = None,
    dry_run: Annotated[
        bool | None, typer.Option("--dry-run", help="Check all, say what it needs, stop.", rich_help_panel=RUN)
    ] = None,
    force: Annotated[bool | None, typer.Option("--force", help="Replace files that exist.", rich_help_panel=RUN)] = None,
    memory: Annotated[
        str | None, _option("--memory", help="Limit, for example '4 GiB'.", panel=RUN, default="what is free")
    ] = None,
    jobs: Annotated[int | None, _option("--jobs", help="Threads.", panel=RUN, default="all cores")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.", rich_help_panel=RUN)] = False,
) -> None:
    """Label the documents of one file with what others teach; a page shows how sure it is and why.

    Example: `gramshift classify --source books.csv dvd.csv --target kitchen.csv --output labels.csv --report report.html`
    """
    given = {name: value for name, value in locals().items() if name not in ("config", "as_json")}
    from gramshift.commands.classify.findings import in_words
    from gramshift.commands.classify.options import gather_options
    from gramshift.commands.classify.sampling import classify_any
    from gramshift.commands.label_files import describe_bad

    options = gather_options(given, config)
    if as_json and options.output == "-":
        raise InputError("--json and --output - would both go to standard output; give one of them a file")
    with progress_bar() as progress:
        result = classify_any(options, progress=progress, say=say)
    if as_json:
        print_json(result)
    elif not options.dry_run:
        for line in in_words(result):
            say(line)
    if fault := describe_bad(result):
        raise InputError(fault)


def demo_command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the two files and the report.")] = Path(
        "gramshift-demo"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Learn from 420 reviews of kitchen tools, label 420 reviews of films, and the other way round; ends with a page to open.

    Example: `gramshift demo`
    """
    from gramshift.commands.demo import describe, run_demo, write_demo

    result = run_demo() | write_demo(output)
    if as_json:
        print_json(result)
    else:
        print(describe(result))


def explain_command(
    text: Annotated[str | None, typer.Argument(help="A text in quotes.", metavar="TEXT")] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="What gramshift classify --save has kept.", metavar="FILE")] = ...,  # type: ignore[assignment]
    input: Annotated[
        str | None, typer.Option("--input", "-i", help="Or a file of documents; - for standard input.", metavar="FILE")
    ] = None,
    html: Annotated[str | None, typer.Option(help="Also write a page with the texts marked.", metavar="FILE")] = None,
    top: Annotated[int, typer.Option(help="How many stretches and documents to show.")] = 8,
    column: Annotated[str | None, typer.Option("--text", help="Column of the text in the file.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl or parquet, where the name does not tell.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the input.")] = "utf-8",
    force: Annotated[bool, typer.Option("--force", help="Replace a page that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all shares as JSON.")] = False,
) -> None:
    """Show what in a text speaks for its label, what against it, and which documents that was learnt from.

    Example: `gramshift explain --model model.gramshift "a great film, sadly too long"`
    """
    from gramshift.commands.explain import explain

    with progress_bar() as progress:
        result = explain(
            model,
            text,
            input,
            column=column,
            format=format,
            encoding=encoding,
            html=html,
            top=top,
            force=force,
            progress=progress,
        )
    if as_json:
        print_json(result["explanations"])
    else:
        print("\n\n".join(result["texts"]))
    if html is not None:
        say(f"page in {html}")


def fetch_command(
    name: Annotated[str, typer.Argument(help="Which data set: sentiment.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to put it in.")] = Path("."),
    url: Annotated[str | None, typer.Option(help="Where to get it, if not from its home page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Download the Multi-Domain Sentiment Dataset from its home page, unpack its labelled part and check it.

    Example: `gramshift fetch sentiment --output data`
    """
    from gramshift.data.fetch import URL, fetch_sentiment

    if name not in DATA_SETS:
        raise InputError(f"data set {name!r} is not known; there is {', '.join(DATA_SETS)}")
    say(f"fetching {url or URL} into {output}")
    with progress_bar() as progress:
        result = fetch_sentiment(output, url=url or URL, progress=progress)
    for warning in result["warnings"]:
        say(f"gramshift: {warning}")
    if as_json:
        print_json(result)
    else:
        say(f"{result['reviews']} reviews in {result['folder']}")


def info_command(
    model: Annotated[str, typer.Argument(help="What gramshift classify --save has kept.", metavar="MODEL")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Check a model file and tell what is in it: parameters, classes, sizes, date, versions, whether it holds texts.

    Example: `gramshift info model.gramshift`
    """
    from gramshift.commands.info import describe_model, in_words

    found = describe_model(model)
    if as_json:
        print_json(found)
    else:
        print("\n".join(in_words(found)))


def kernel_command(
    input: Annotated[str, typer.Argument(metavar="INPUT", help="Text file, one document per line; - for standard input.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .npy file to write.")],
    kind: Annotated[str, typer.Option(help="presence, intersection, spectrum, subsequence or local_rank.")] = "presence",
    ngrams: Annotated[str, typer.Option(help="Lengths of the n-grams, for example 5-8 or 4.")] = "5-8",
    decay: Annotated[float | None, typer.Option(help="For subsequence: what a character is worth. Default: 0.5.")] = None,
    max_offset: Annotated[
        int | None, typer.Option(help="For local_rank: how far is far, in characters. Default: 1000.")
    ] = None,
    sigma: Annotated[float | None, typer.Option(help="For local_rank: the width of the kernel. Default: 1.")] = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Similarities from 0 to 1 instead of counts.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the input.")] = "utf-8",
    memory: Annotated[str | None, typer.Option(help="Limit, for example '2 GiB'. Default: what is free.")] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep finished tiles in this folder; a run that was stopped goes on when the same command is given again.",
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="threads, or dask: tiles are filled by its workers.")] = "threads",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address of Dask: tcp://host:8786. Default: workers on this machine.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Compare all documents of a text file and write their gram as a NumPy array.

    Example: `gramshift kernel reviews.txt --output gram.npy --kind intersection --ngrams 3-6 --normalize`
    """
    from gramshift.commands.classify.options import parse_ngrams
    from gramshift.commands.kernel import write_kernel

    parameters = {"decay": decay, "max_offset": max_offset, "sigma": sigma}
    with progress_bar() as progress:
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
            resume=resume,
            engine=engine,
            scheduler=scheduler,
            force=force,
            progress=progress,
        )
    if as_json:
        print_json(result)
    else:
        say(f"wrote {result['output']}: {result['dtype']}, {result['documents']} x {result['documents']}")


def predict_command(
    model: Annotated[str, typer.Option("--model", "-m", help="What gramshift classify --save has kept.", metavar="FILE")],
    input: Annotated[
        list[str], typer.Option("--input", "-i", help="Documents: files, 'parts/*.csv', a folder, or -.", metavar="FILE")
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="A file, or a folder for several.", metavar="FILE", show_default="standard output"),
    ] = "-",
    text: Annotated[str | None, typer.Option(help="Column of the text; title,body joins two.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl or parquet, where the name does not tell.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the input.")] = "utf-8",
    abstain_below: Annotated[float | None, typer.Option(help="No label below this confidence, for example 0.7.")] = None,
    engine: Annotated[str, typer.Option(help="threads, or dask: workers label files side by side.")] = "threads",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address of Dask: tcp://host:8786. Default: workers on this machine.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Threads, or Dask workers on this machine; -1 for all cores.")] = -1,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Label files of any size and number with a saved model; memory does not grow with them.

    Example: `gramshift predict --model model.gramshift --input 'parts/*.jsonl' --output labels/`
    """
    from gramshift.commands.label_files import describe_bad
    from gramshift.commands.predict import predict

    if as_json and output == "-":
        raise InputError("--json and the labels would both go to standard output; give --output a file")
    with progress_bar() as progress:
        result = predict(
            model,
            input,
            output,
            text=text,
            format=format,
            encoding=encoding,
            abstain_below=abstain_below,
            engine=engine,
            scheduler=scheduler,
            jobs=jobs,
            force=force,
            progress=progress,
            say=say,
        )
    if as_json:
        print_json(result)
    else:
        found = ", ".join(f"{count} {name}" for name, count in list(result["labels"].items())[:10])
        rest = f", {result['abstained']} without a label" if result["abstained"] else ""
        where = f" in {len(result['files'])} files" if "files" in result else ""
        say(f"{result['n']} documents{where}: {found}{rest}; {result['seconds']:.1f} s")
    if fault := describe_bad(result):
        raise InputError(fault)
