"""``gramshift reproduce``: the paper's tables, with our figures beside the published ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gramshift.commands.compare import PARTS, check_folder, draw, make_console, show_table
from gramshift.data.reviews import FIELDS, find_folder
from gramshift.errors import InputError
from gramshift.evaluate.amazon5 import beside_published, parse_pairs, run_amazon5
from gramshift.evaluate.comparison_files import markdown_lines, plot_lines, to_json, write_comparison, write_files
from gramshift.evaluate.kept import Kept
from gramshift.evaluate.protocol import Setting, parse_settings
from gramshift.evaluate.reproduce import reproduce
from gramshift.evaluate.result_tables import NOTE, differences, make_tables
from gramshift.evaluate.results import plot_outcomes
from gramshift.methods import BEST, KERNELS, METHODS, check_preset, parse_methods, parse_names
from gramshift.runtime.threads import Progress
from gramshift.text.terminal import say as to_stderr

FILES = ("results.json", "results.csv", "tables.md", "predictions.csv.gz")
Say = Callable[[str], None]


def reproduce_tables(
    data: Path,
    output: Path,
    *,
    settings: str = "all",
    methods: str = "own",
    kernels: str = "presence,intersection",
    fields: str = "title+text",
    preset: str = "paper",
    source_only: bool = False,
    resume: bool = False,
    plots: bool = True,
    jobs: int = -1,
    progress: Progress | None = None,
    say: Say = to_stderr,
) -> dict[str, Any]:
    """Run the experiments that are named as a user types them, and draw the plots; "files" are those in the folder."""
    chosen = parse_settings(settings)
    check_preset(preset)
    names = parse_methods(f"{methods},{BEST}" if preset == BEST else methods)
    kinds = parse_names("kernel", kernels, KERNELS)
    (fields,) = parse_names("fields", fields, FIELDS)
    find_folder(data)
    check_folder(output)
    n_stages = sum(METHODS[name].is_stage for name in names)
    total = len(chosen) * (len(kinds) * n_stages + len(names) - n_stages)
    say(f"{len(chosen)} settings, {len(kinds)} kernels, {len(names)} methods: {total} results; {_needs(chosen, names)}")
    result = reproduce(
        data,
        output,
        settings=chosen,
        methods=names,
        kernels=kinds,
        fields=fields,
        source_only=source_only,
        resume=resume,
        n_jobs=jobs,
        progress=progress,
        say=say,
    )
    drawn = draw(plot_outcomes(result["outcomes"], result["documents"]), output, say) if plots else []
    return result | {"files": [*FILES, *drawn]}


BENCHMARKS = ("paper", "amazon5")


def check_benchmark(name: str, **of_paper: str) -> None:
    """Raise an error if there is no such benchmark, or if an option is given that it has no use for."""
    if name not in BENCHMARKS:
        raise InputError(f"--benchmark {name}: there are {' and '.join(BENCHMARKS)}")
    usual = {"kernels": "presence,intersection", "fields": "title+text"}
    for option, value in of_paper.items():
        if name != "paper" and value != usual[option]:
            raise InputError(f"--{option} {value} goes with --benchmark paper; {name} has texts alone, leave it out")


def reproduce_amazon5(
    data: Path,
    output: Path,
    *,
    settings: str,
    methods: str,
    source_only: bool,
    resume: bool,
    plots: bool,
    jobs: int,
    progress: Progress | None,
    say: Say,
) -> tuple[tuple[list[str], list[list[str]]], dict[str, Any]]:
    """Run the second benchmark, and write what a comparison writes and a table beside the published figures."""
    pairs, names = parse_pairs(settings), parse_methods(methods)
    if not data.is_dir():
        raise FileNotFoundError(f"{data}: no such folder; give the one that has raw_data, with a folder for each domain")
    check_folder(output)
    say(f"{len(pairs)} pairs, {len(names)} methods: {len(pairs) * len(names)} results")
    kept = Kept(output / PARTS)
    if not resume:
        kept.clear()
    found = run_amazon5(data, pairs, names, kept=kept, source_only=source_only, n_jobs=jobs, progress=progress, say=say)
    table = beside_published(found)
    files = write_comparison(found, output) + (draw(plot_lines(found), output, say) if plots else [])
    files += write_files(output, {"published.md": "\n".join([*markdown_lines(*table), ""])})
    return table, to_json(found) | {"files": files}


def show_tables(result: dict[str, Any], fields: str) -> None:
    """Print the tables and their notes on the terminal."""
    for title, columns, lines in make_tables(result["rows"], result["means"], fields):
        show_table(["", *columns], lines, title=title, markup=True)
    for note in (NOTE, *differences(result["rows"])):
        make_console().print(note, highlight=False)


def _needs(settings: list[Setting], methods: list[str]) -> str:
    n = 2000 * len({letter for setting in settings for letter in setting.letters})
    kept = 110_000 * n if any(METHODS[name].is_best for name in methods) else 0  # it keeps the index of all n-grams
    return f"about {(28 * n * n + kept) / 1e9 + 0.3:.1f} GB of memory"
