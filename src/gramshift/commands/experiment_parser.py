"""The parser of the commands about labels that people know: documents to label by hand, and methods beside each other.

What computes is imported within the commands, as in ``parser``.
"""

from pathlib import Path
from typing import Annotated

import typer

from gramshift.commands.parser import CONTINUE_HELP, FORMAT_HELP, JOBS_HELP, METHODS_HELP, SOURCE_ONLY_HELP, TEXT_HELP
from gramshift.errors import InputError
from gramshift.runtime.progress_bar import progress_bar
from gramshift.text.terminal import print_json, say, tell

AMAZON5, AMAZON5_METHODS = "amazon5", "tkc,best"
OF_PAPER = ("kernels", "fields", "preset")  # options of reproduce that only the benchmark paper has


def compare_command(
    source: Annotated[
        list[str] | None, typer.Argument(metavar="SOURCE", help="Labelled documents: one or several files.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="Documents to label, with their true labels for scoring.", metavar="FILE")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="One file of several domains, instead of sources and --target: every pair is compared.",
            metavar="FILE",
        ),
    ] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="Column of --data that names the domain.", metavar="COLUMN")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help=TEXT_HELP)] = None,
    label: Annotated[str | None, typer.Option("--label", help="Column of the labels.")] = None,
    truth: Annotated[
        str | None, typer.Option("--truth", help="Column of the target's true labels, if its name differs from --label.")
    ] = None,
    format: Annotated[str | None, typer.Option(help=FORMAT_HELP)] = None,
    encoding: Annotated[str, typer.Option(help="Character encoding of the inputs.")] = "utf-8",
    methods: Annotated[str, typer.Option(help=METHODS_HELP)] = "plain,tkc,best,tfidf",
    reference: Annotated[str | None, typer.Option(help="Method that the others are tested against. Default: best.")] = None,
    repeat: Annotated[
        int, typer.Option(help="Number of runs on random halves of source and target; 0 for one run on all documents.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Random seed of the halves and of the bootstrap.")] = 0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for tables, predictions and plot.")] = Path(
        "comparison"
    ),
    source_only: Annotated[bool, typer.Option("--source-only", help=SOURCE_ONLY_HELP)] = False,
    resume: Annotated[bool, typer.Option("--continue", help=CONTINUE_HELP)] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace results that the folder already has.")] = False,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw the plot (needs matplotlib).")] = True,
    jobs: Annotated[int, typer.Option(help=f"{JOBS_HELP} of our own methods; -1 for all cores.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON instead of a table.")] = False,
) -> None:
    """Compare methods on your own labelled documents: accuracy with intervals, calibration, time and memory.

    Example: `gramshift compare books.csv --target kitchen.csv --methods plain,best,tfidf --repeat 5`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.compare import compare_files, show_comparison

    with progress_bar(["reading", "methods"]) as progress:
        found, result = compare_files(**given, progress=progress, say=say)
    if as_json:
        print_json(result)
    else:
        show_comparison(found)
    say(f"{len(result['rows'])} results; {output} has {', '.join(result['files'])}")


def reproduce_command(
    data: Annotated[Path, typer.Option("--data", help="Folder of the data set; it or its parent contains books, dvd, ...")],
    benchmark: Annotated[
        str, typer.Option(help="Benchmark to run: paper, or amazon5 (20 pairs of five domains, Li and others, AAAI 2018).")
    ] = "paper",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for results, tables and plot.")] = Path("results"),
    settings: Annotated[str, typer.Option(help="Settings to run: all, single, multi, or names such as D-B,DEK-B.")] = "all",
    methods: Annotated[str, typer.Option(help=METHODS_HELP)] = "own",
    kernels: Annotated[
        str, typer.Option(help="String kernels to run: some of presence,intersection,spectrum.")
    ] = "presence,intersection",
    fields: Annotated[str, typer.Option(help="Parts of a review to use: text, or title+text.")] = "title+text",
    preset: Annotated[
        str, typer.Option(help="Preset to run: paper, or best, which adds our default to the methods.")
    ] = "paper",
    source_only: Annotated[bool, typer.Option("--source-only", help=SOURCE_ONLY_HELP)] = False,
    resume: Annotated[bool, typer.Option("--continue", help=CONTINUE_HELP)] = False,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw the plot (needs matplotlib).")] = True,
    jobs: Annotated[int, typer.Option(help=f"{JOBS_HELP}; -1 for all cores.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON instead of tables.")] = False,
) -> None:
    """Run the paper's experiments on the Multi-Domain Sentiment Dataset.

    Example: `gramshift reproduce --data sorted_data_acl --output results`
    """
    given = {name: value for name, value in locals().items() if name not in ("as_json", "benchmark", *OF_PAPER)}
    from gramshift.commands.compare import show_table
    from gramshift.commands.reproduce import check_benchmark, reproduce_amazon5, reproduce_tables, show_tables

    check_benchmark(benchmark, kernels=kernels, fields=fields)
    with progress_bar() as progress:
        if benchmark == AMAZON5:
            given["methods"] = AMAZON5_METHODS if methods == "own" else methods
            table, result = reproduce_amazon5(**given, progress=progress, say=say)
        else:
            result = reproduce_tables(**given, kernels=kernels, fields=fields, preset=preset, progress=progress, say=say)
    if as_json:
        print_json(result["rows"])
    elif benchmark == AMAZON5:
        show_table(*table)
    else:
        show_tables(result, fields)
    took = "" if benchmark == AMAZON5 else f" in {result['seconds']:.1f} s"
    say(f"{len(result['rows'])} results{took}; {output} has {', '.join(result['files'])}")


def sample_command(
    input: Annotated[str, typer.Argument(metavar="FILE", help="Output of gramshift classify or predict.")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="CSV file to write, with an empty column label to fill in.", metavar="FILE")
    ],
    doubtful: Annotated[
        int | None,
        typer.Option(help="Number of uncertain documents that differ from each other, to train on.", show_default="50"),
    ] = None,
    random: Annotated[int | None, typer.Option(help="Number of documents drawn at random, to measure with.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random draw.")] = 0,
    corrections: Annotated[
        str | None, typer.Option(help="File of corrections (columns id and label); documents labelled there are not drawn.")
    ] = None,
    text: Annotated[str | None, typer.Option(help=TEXT_HELP)] = None,
    id: Annotated[str | None, typer.Option(help="Column of document ids; 'none' numbers the rows.")] = None,
    format: Annotated[str | None, typer.Option(help=FORMAT_HELP)] = None,
    encoding: Annotated[str, typer.Option(help="Character encoding of the input.")] = "utf-8",
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Draw documents to label by hand, for classify --corrections: doubtful ones to learn from, or random ones to measure with.

    Example: `gramshift sample labels.csv --doubtful 50 --output to-label.csv`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.sample import draw_sample, in_words

    if as_json and output == "-":
        raise InputError("--json and the sample would both go to standard output; give --output a file")
    with progress_bar(["reading"]) as progress:
        result = draw_sample(**given, progress=progress)
    if as_json:
        print_json(result)
    else:
        tell(in_words(result))
