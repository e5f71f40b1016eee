"""``gramshift classify``: label a file with what other files teach."""

from typing import Annotated, Any

import typer

from gramshift.methods import METHODS, OWN, RIVALS

KERNELS = ("presence", "intersection", "spectrum")
FORMATS = ("csv", "tsv", "jsonl", "parquet")
METHOD_HELP = f"{', '.join(OWN)}, or a rival: {', '.join(RIVALS)}."
FILES, COLUMNS, METHOD, RUN = "Files", "Columns", "Method", "Run"


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
    target: Annotated[str | None, _file("--target", help="Documents to label. None if one source has gaps.")] = None,
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
        str | None, _option("--format", help="Of inputs whose names do not tell.", panel=COLUMNS, values=FORMATS)
    ] = None,
    encoding: Annotated[str | None, _option("--encoding", help="Of the inputs.", panel=COLUMNS, default="utf-8")] = None,
    method: Annotated[
        str | None, _option("--method", help=METHOD_HELP, panel=METHOD, default="tkc", values=tuple(METHODS))
    ] = None,
    preset: Annotated[
        str | None,
        _option("--preset", help="paper, or best: the same as --method best.", panel=METHOD, values=("paper", "best")),
    ] = None,
    kernel: Annotated[
        str | None,
        _option("--kernel", help="presence, intersection or spectrum.", panel=METHOD, default="presence", values=KERNELS),
    ] = None,
    ngrams: Annotated[
        str | None, _option("--ngrams", help="Lengths, for example 3-6 or 4.", panel=METHOD, default="5-8")
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
    abstain_below: Annotated[
        float | None, _option("--abstain-below", help="No label below this confidence, for example 0.7.", panel=METHOD)
    ] = None,
    landmarks: Annotated[
        str | None,
        _option("--landmarks", help="Compare with so many documents, not all: for many. Or auto.", panel=RUN, metavar="NUMBER"),
    ] = None,
    resume: Annotated[
        str | None, _option("--resume", help="Keep finished pieces here, go on with them.", panel=RUN, metavar="DIR")
    ] = None,
    engine: Annotated[
        str | None, _option("--engine", help="threads, or dask.", panel=RUN, default="threads", values=("threads", "dask"))
    ] = None,
    scheduler: Annotated[
        str | None,
        _option("--scheduler", help="Of Dask: tcp://host:8786; else on this machine.", panel=RUN, metavar="ADDRESS"),
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
    from gramshift.commands.classify.options import gather_options
    from gramshift.commands.classify.run import classify
    from gramshift.commands.progress_bar import progress_bar
    from gramshift.text.terminal import print_json, say

    options = gather_options(given, config)
    if as_json and options.output == "-":
        raise ValueError("--json and --output - would both go to standard output; give one of them a file")
    with progress_bar() as progress:
        result = classify(options, progress=progress, say=say)
    if as_json:
        print_json(result)
    elif not options.dry_run:
        from gramshift.commands.classify.findings import in_words

        for line in in_words(result):
            say(line)
