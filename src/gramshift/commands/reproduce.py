"""``gramshift reproduce``: the paper's tables, with our figures beside the published ones."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gramshift.methods import BEST, METHODS, STAGES, check_preset, parse_methods


def reproduce_command(
    data: Annotated[Path, typer.Option("--data", help="Folder of the data set: it, or its parent, holds books, dvd, ...")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for results, tables and plots.")] = Path("results"),
    settings: Annotated[str, typer.Option(help="all, single, multi, or names such as D-B,DEK-B.")] = "all",
    methods: Annotated[
        str, typer.Option(help=f"own ({','.join(STAGES)}), rivals, all, or some of {','.join(METHODS)}.")
    ] = "own",
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
    from gramshift.commands.progress_bar import progress_bar
    from gramshift.evaluate.protocol import parse_settings
    from gramshift.evaluate.reproduce import reproduce

    chosen = parse_settings(settings)
    check_preset(preset)
    names = parse_methods(f"{methods},{BEST}" if preset == BEST else methods)
    kinds = _split(kernels)
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file; give a folder for the results")
    n_stages = sum(METHODS[name].is_stage for name in names)
    total = len(chosen) * (len(kinds) * n_stages + len(names) - n_stages)
    _say(f"{len(chosen)} settings, {len(kinds)} kernels, {len(names)} methods: {total} results; {_needs(chosen, names)}")
    with progress_bar() as progress:
        result = reproduce(
            data,
            output,
            settings=chosen,
            methods=names,
            kernels=kinds,
            fields=fields,
            resume=resume,
            n_jobs=jobs,
            progress=progress,
            say=_say,
        )
    drawn = _draw(result, output, kinds[0]) if plots and n_stages else []
    if as_json:
        print(json.dumps(result["rows"], ensure_ascii=False))
    else:
        show_tables(result["rows"], fields)
    files = ["results.json", "results.csv", "tables.md", "predictions.csv.gz", *(path.name for path in drawn)]
    _say(f"{len(result['rows'])} results in {result['seconds']:.1f} s; {output} has {', '.join(files)}")


def show_tables(rows: list[dict[str, Any]], fields: str) -> None:
    """For the terminal."""
    from rich.console import Console
    from rich.table import Table

    from gramshift.evaluate.results import NOTE, differences, make_tables

    console = Console(width=None if sys.stdout.isatty() else 160)
    for table in make_tables(rows, fields=fields):
        shown = Table(title=table.title, title_justify="left")
        shown.add_column("")
        for column in table.columns:
            shown.add_column(column, justify="right", no_wrap=True)
        for name, cells in table.rows:
            shown.add_row(name, *(cell.text(bold=("[bold]", "[/bold]")) for cell in cells))
        console.print(shown)
    for note in (NOTE, *differences(rows)):
        console.print(note, highlight=False)


def _draw(result: dict[str, Any], output: Path, kernel: str) -> list[Path]:
    try:
        from gramshift.report.plots import write_plots

        return write_plots(result, output, kernel=kernel)
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        _say("no plots: they need matplotlib, pip install 'gramshift[plot]'")
        return []


def _needs(settings: list[Any], methods: list[str]) -> str:
    n = 2000 * len({letter for setting in settings for letter in setting.letters})
    kept = 110_000 * n if BEST in methods else 0  # it keeps the index of all n-grams
    return f"about {(28 * n * n + kept) / 1e9 + 0.3:.1f} GB of memory"


def _split(value: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))


def _say(words: str) -> None:
    print(words, file=sys.stderr)
