"""The parser of the commands that set methods beside each other on documents whose labels are known.

What computes is imported within the commands, as in ``parser``.
"""

from pathlib import Path
from typing import Annotated

import typer

from gramshift.commands.progress_bar import progress_bar
from gramshift.methods import METHODS, STAGES
from gramshift.text.terminal import print_json, say

AMAZON5, AMAZON5_METHODS = "amazon5", "tkc,best"
METHODS_HELP = f"own ({','.join(STAGES)}), rivals, all, or some of {','.join(METHODS)}."


def compare_command(
    source: Annotated[
        list[str] | None, typer.Option("--source", help="Labelled documents; several files may follow.", metavar="FILE")
    ] = None,
    target: Annotated[str | None, typer.Option("--target", help="Documents with their true labels.", metavar="FILE")] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="Or one file of several domains: every pair is compared.", metavar="FILE")
    ] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="The column of --data that names the domain.", metavar="COLUMN")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Column of the text; title,body joins two.")] = None,
    label: Annotated[str | None, typer.Option("--label", help="Column of the labels.")] = None,
    truth: Annotated[
        str | None, typer.Option("--truth", help="Column of the target's true labels, if another than --label.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl or parquet, where the name does not tell.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the inputs.")] = "utf-8",
    methods: Annotated[str, typer.Option(help=METHODS_HELP)] = "plain,tkc,best,tfidf",
    reference: Annotated[str | None, typer.Option(help="The method that others are tested against. Default: best.")] = None,
    repeat: Annotated[int, typer.Option(help="Random halves of source and target; 0 for all documents once.")] = 0,
    seed: Annotated[int, typer.Option(help="Decides the halves and the bootstrap.")] = 0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for tables, answers and plot.")] = Path("comparison"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an earlier run into this folder was stopped.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the results that the folder has.")] = False,
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw the plot (needs matplotlib).")] = True,
    jobs: Annotated[int, typer.Option(help="Threads of our own methods; -1 for all cores.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON instead of a table.")] = False,
) -> None:
    """Run methods side by side on your own labelled documents: accuracy with intervals, calibration, time and memory.

    Example: `gramshift compare --source books.csv --target kitchen.csv --methods plain,best,tfidf --repeat 5`
    """
    given = {name: value for name, value in locals().items() if name != "as_json"}
    from gramshift.commands.compare import compare_files, show_comparison

    with progress_bar() as progress:
        found, result = compare_files(**given, progress=progress, say=say)
    if as_json:
        print_json(result)
    else:
        show_comparison(found)
    say(f"{len(result['rows'])} results; {output} has {', '.join(result['files'])}")


def reproduce_command(
    data: Annotated[Path, typer.Option("--data", help="Folder of the data set: it, or its parent, holds books, dvd, ...")],
    benchmark: Annotated[
        str, typer.Option(help="paper, or amazon5: 20 pairs of five domains (Li and others, AAAI 2018).")
    ] = "paper",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for results, tables and plots.")] = Path("results"),
    settings: Annotated[str, typer.Option(help="all, single, multi, or names such as D-B,DEK-B.")] = "all",
    methods: Annotated[str, typer.Option(help=METHODS_HELP)] = "own",
    kernels: Annotated[str, typer.Option(help="Some of presence,intersection,spectrum.")] = "presence,intersection",
    fields: Annotated[str, typer.Option(help="text, or title+text.")] = "title+text",
    preset: Annotated[str, typer.Option(help="paper, or best: adds our best recipe to the methods.")] = "paper",
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an earlier run into this folder was stopped.")] = False,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw the plots (needs matplotlib).")] = True,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON instead of tables.")] = False,
) -> None:
    """Run the paper's experiments on the Multi-Domain Sentiment Dataset.

    Example: `gramshift reproduce --data sorted_data_acl --output results`
    """
    from gramshift.commands.reproduce import check_benchmark, reproduce_amazon5, reproduce_tables, show_lines, show_tables

    check_benchmark(benchmark, kernels=kernels, fields=fields)
    if benchmark == AMAZON5:
        wanted = AMAZON5_METHODS if methods == "own" else methods
        with progress_bar() as progress:
            table, told = reproduce_amazon5(
                data,
                output,
                settings=settings,
                methods=wanted,
                resume=resume,
                plots=plots,
                n_jobs=jobs,
                progress=progress,
                say=say,
            )
        if as_json:
            print_json(told["rows"])
        else:
            show_lines(*table)
        say(f"{len(told['rows'])} results; {output} has {', '.join(told['files'])}")
        return
    with progress_bar() as progress:
        result = reproduce_tables(
            data,
            output,
            settings=settings,
            methods=methods,
            kernels=kernels,
            fields=fields,
            preset=preset,
            resume=resume,
            plots=plots,
            n_jobs=jobs,
            progress=progress,
            say=say,
        )
    if as_json:
        print_json(result["rows"])
    else:
        show_tables(result["rows"], result["means"], fields)
    say(f"{len(result['rows'])} results in {result['seconds']:.1f} s; {output} has {', '.join(result['files'])}")
