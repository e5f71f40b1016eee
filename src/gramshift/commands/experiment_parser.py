"""The parser of the commands for experiments: compare and reproduce.

As in ``parser``, commands import the modules that compute when they run.
"""

from pathlib import Path
from typing import Annotated

import typer

from gramshift.commands import command_options as shared
from gramshift.commands.command_options import file_option, option
from gramshift.progress import progress_bar
from gramshift.terminal import print_json, say

AMAZON5 = "amazon5"
AMAZON5_METHODS = "tkc,best"
PAPER_OPTIONS = ("kernels", "fields", "preset")  # of reproduce, for the benchmark paper alone


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
    label: Annotated[str | None, option("Column of the labels.")] = None,
    truth: Annotated[
        str | None, option("Column of the target's true labels, if its name differs from --label.")
    ] = None,
    format: shared.Format = None,
    encoding: Annotated[str, option("Character encoding of the inputs.")] = "utf-8",
    methods: shared.Methods = "plain,tkc,best,tfidf",
    reference: Annotated[
        str | None, option("Method that the others are tested against. Default: best.")
    ] = None,
    repeat: Annotated[
        int,
        option(
            "Number of runs on random halves of source and target; 0 for one run on all documents."
        ),
    ] = 0,
    seed: Annotated[int, option("Random seed of the halves and of the bootstrap.")] = 0,
    output: Annotated[
        Path, option("Folder for tables, predictions and plot.", "--output", "-o")
    ] = Path("comparison"),
    source_only: shared.SourceOnly = False,
    resume: shared.Continue = False,
    force: Annotated[
        bool, option("Replace results that the folder already has.", "--force")
    ] = False,
    plot: Annotated[bool, option("Draw the plot (needs matplotlib).", "--plot/--no-plot")] = True,
    jobs: Annotated[int, option(f"{shared.JOBS_HELP} of our own methods; -1 for all cores.")] = -1,
    as_json: Annotated[
        bool, option("Print the figures as JSON instead of a table.", "--json")
    ] = False,
) -> None:
    """Compare methods on your own labelled documents.

    The result has accuracy with intervals, calibration, time and memory.

    Example: `gramshift compare books.csv --target kitchen.csv --methods plain,best,tfidf
    --repeat 5`
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
    data: Annotated[
        Path, option("Folder of the data set; it or its parent contains books, dvd, ...")
    ],
    benchmark: Annotated[
        str,
        option(
            "Benchmark to run: paper, or amazon5 (20 pairs of five domains, Li and others, "
            "AAAI 2018)."
        ),
    ] = "paper",
    output: Annotated[
        Path, option("Folder for results, tables and plot.", "--output", "-o")
    ] = Path("results"),
    settings: Annotated[
        str, option("Settings to run: all, single, multi, or names such as D-B,DEK-B.")
    ] = "all",
    methods: shared.Methods = "own",
    kernels: Annotated[
        str, option("String kernels to run: some of presence,intersection,spectrum.")
    ] = "presence,intersection",
    fields: Annotated[str, option("Parts of a review to use: text, or title+text.")] = "title+text",
    preset: Annotated[
        str, option("Preset to run: paper, or best, which adds our default to the methods.")
    ] = "paper",
    source_only: shared.SourceOnly = False,
    resume: shared.Continue = False,
    plots: Annotated[
        bool, option("Draw the plot (needs matplotlib).", "--plots/--no-plots")
    ] = True,
    jobs: shared.Jobs = -1,
    as_json: Annotated[
        bool, option("Print the figures as JSON instead of tables.", "--json")
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
    with progress_bar() as progress:
        if benchmark == AMAZON5:
            given["methods"] = AMAZON5_METHODS if methods == "own" else methods
            result = reproduce_amazon5(**given, progress=progress, say=say)
        else:
            result = reproduce_tables(
                **given, kernels=kernels, fields=fields, preset=preset, progress=progress, say=say
            )
    if as_json:
        print_json(result["rows"])
    elif benchmark == AMAZON5:
        show_table(*result["table"])
    else:
        show_tables(result, fields)
    took = "" if benchmark == AMAZON5 else f" in {result['seconds']:.1f} s"
    say(f"{len(result['rows'])} results{took}; {output} has {', '.join(result['files'])}")
