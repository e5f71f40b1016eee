"""What the help says of options that several commands have, so that it says the same of them; and how options are declared."""

from typing import Any

import typer

from gramshift.methods import METHODS, OWN, RIVALS, STAGES

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


def _choice(values: tuple[str, ...]) -> Any:
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


def make_file_option(*names: str, help: str, panel: str = FILES) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, metavar="FILE")


def make_option(
    *names: str, help: str, panel: str, default: str | None = None, values: tuple[str, ...] = (), metavar: str | None = None
) -> Any:
    shown = default if default is not None else False
    complete = _choice(values) if values else None
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=shown, autocompletion=complete, metavar=metavar)
