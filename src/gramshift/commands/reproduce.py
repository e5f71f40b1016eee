"""``gramshift reproduce``: the paper's tables, with our figures next to the published ones."""

from pathlib import Path
from typing import Any

from gramshift.commands.compare import FINISHED_PARTS
from gramshift.commands.outputs import check_folder
from gramshift.commands.table_output import draw, show_notes, show_table
from gramshift.datasets.reviews import FIELDS, find_folder
from gramshift.errors import InputError
from gramshift.evaluate.amazon5 import parse_pairs, run_amazon5, with_published
from gramshift.evaluate.comparison_files import (
    markdown_lines,
    plot_lines,
    to_json,
    write_comparison,
    write_files,
)
from gramshift.evaluate.protocol import Setting, parse_settings
from gramshift.evaluate.reproduce import reproduce
from gramshift.evaluate.result_store import ResultStore
from gramshift.evaluate.result_tables import NOTE, differences, make_tables
from gramshift.evaluate.results import plot_outcomes
from gramshift.methods import BEST, KERNELS, METHODS, check_preset, parse_methods, parse_names
from gramshift.parallel import Progress
from gramshift.terminal import Say, count_in_words
from gramshift.terminal import say as to_stderr

BENCHMARKS = ("paper", "amazon5")
FILES = ("results.json", "results.csv", "tables.md", "predictions.csv.gz")
DEFAULT_KERNELS = "presence,intersection"
DEFAULT_FIELDS = "title+text"
GRAM_BYTES = 28  # for each pair of documents
INDEX_BYTES = 110_000  # for each document of the preset best, of which all n-grams are kept
BASE_GB = 0.3


def check_benchmark(name: str, *, kernels: str, fields: str) -> None:
    """Raise an error for an unknown benchmark, or an option that only the paper's has."""
    if name not in BENCHMARKS:
        raise InputError(f"--benchmark {name}: there are {' and '.join(BENCHMARKS)}")
    if name == "paper":
        return
    for option, value, default in (
        ("--kernels", kernels, DEFAULT_KERNELS),
        ("--fields", fields, DEFAULT_FIELDS),
    ):
        if value != default:
            raise InputError(
                f"{option} {value} goes with --benchmark paper; {name} has texts alone, leave it "
                "out"
            )


def reproduce_tables(
    data: Path,
    output: Path,
    *,
    settings: str = "all",
    methods: str = "own",
    kernels: str = DEFAULT_KERNELS,
    fields: str = DEFAULT_FIELDS,
    preset: str = "paper",
    source_only: bool = False,
    resume: bool = False,
    plots: bool = True,
    jobs: int = -1,
    progress: Progress | None = None,
    say: Say = to_stderr,
    quiet: bool = False,
) -> dict[str, Any]:
    """Run the paper's experiments and draw the plot; "files" are those in the folder."""
    chosen = parse_settings(settings)
    check_preset(preset)
    names = parse_methods(f"{methods},{BEST}" if preset == BEST else methods)
    kinds = parse_names("kernel", kernels, KERNELS)
    (fields,) = parse_names("fields", fields, FIELDS)
    find_folder(data)
    check_folder(output)
    n_stages = sum(METHODS[name].is_stage for name in names)
    n_results = len(chosen) * (len(kinds) * n_stages + len(names) - n_stages)
    if not quiet:
        counts = {"setting": len(chosen), "kernel": len(kinds), "method": len(names)}
        words = _counts_in_words(counts | {"result": n_results})
        say(f"{words}; about {_estimate_gigabytes(chosen, names):.1f} GB of memory")
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
    files = list(FILES)
    if plots:
        files += draw(plot_outcomes(result["outcomes"], result["documents"]), output, say)
    return result | {"files": files}


def _counts_in_words(counts: dict[str, int]) -> str:
    return ", ".join(count_in_words(n, noun) for noun, n in counts.items())


def _estimate_gigabytes(settings: list[Setting], methods: list[str]) -> float:
    n = 2000 * len({letter for setting in settings for letter in setting.letters})
    n_bytes = GRAM_BYTES * n * n
    if any(METHODS[name].is_best for name in methods):
        n_bytes += INDEX_BYTES * n
    return n_bytes / 1e9 + BASE_GB


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
    quiet: bool,
) -> dict[str, Any]:
    """Run the second benchmark; write a comparison and a "table" with the published figures."""
    pairs = parse_pairs(settings)
    names = parse_methods(methods)
    if not data.is_dir():
        raise FileNotFoundError(
            f"{data}: no such folder; give the one that has raw_data, with a folder for each domain"
        )
    check_folder(output)
    if not quiet:
        counts = {"pair": len(pairs), "method": len(names), "result": len(pairs) * len(names)}
        say(_counts_in_words(counts))
    kept = ResultStore(output / FINISHED_PARTS)
    if not resume:
        kept.clear()
    found = run_amazon5(
        data,
        pairs,
        names,
        kept=kept,
        source_only=source_only,
        n_jobs=jobs,
        progress=progress,
        say=say,
    )
    table = with_published(found)
    files = write_comparison(found, output)
    if plots:
        files += draw(plot_lines(found), output, say)
    files += write_files(output, {"published.md": "\n".join([*markdown_lines(*table), ""])})
    return to_json(found) | {"files": files, "table": table}


def show_tables(result: dict[str, Any], fields: str) -> None:
    """Print the tables and their notes."""
    for title, columns, lines in make_tables(result["rows"], result["means"], fields):
        show_table(["", *columns], lines, title=title, markup=True)
    show_notes([NOTE, *differences(result["rows"])])
