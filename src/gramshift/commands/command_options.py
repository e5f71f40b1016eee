"""Declaring the options of commands, and those that several commands share."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from gramshift.errors import InputError, short
from gramshift.methods import STAGES

ENCODERS = "wordllama, model2vec:FOLDER or sentence-transformers:FOLDER"
MODEL_HELP = "Model file that gramshift classify --save has written."
TEXT_HELP = (
    "Column of the texts; title,body joins two columns, 'review|body' is the first that a file has."
)
FORMAT_HELP = (
    "Format of the inputs (csv, tsv, jsonl, parquet), if the file extension does not show it."
)
ID_HELP = "Column of document ids; 'none' numbers the rows."
KERNEL_HELP = "String kernel that compares documents"
NGRAMS_HELP = "Lengths of the character n-grams, for example 3-6 or 4"
ABSTAIN_HELP = "Give no label to documents below this confidence, for example 0.7 or 70%."
MEMORY_HELP = (
    "Memory limit, for example '4 GiB'; what needs more is refused before any work starts."
)
ENGINE_HELP = (
    "Where files are labelled: threads, or dask, whose workers label many files in parallel."
)
SCHEDULER_HELP = (
    "Address of a running Dask scheduler, for example tcp://host:8786, for --engine dask."
)
LOCAL_WORKERS = "workers on this machine"
JOBS_HELP = "Number of threads"
QUIET_HELP = "Show no progress and no summary, only warnings and errors."
METHODS_HELP = (
    "best, tkc (the published method), adapted and plain (its first round, with and without "
    "adapting), tfidf (of words, in three lines of scikit-learn) or tfidf-characters; the page "
    "Baselines of the documentation lists the others"
)
FORCE_HELP = "Replace output files that exist."


class PlainCommand(TyperCommand):
    """A command whose help shows no types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with their words for the help."""
        return _without_types(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """The command of all commands, likewise."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with their words for the help."""
        return _without_types(super().get_params(ctx))


def _without_types(params: list[Any]) -> list[Any]:
    """Hide the types that Typer shows for arguments, and for options without a metavar."""
    for one in params:
        if one.metavar is None or one.param_type_name == "argument":
            one.display_type_rich = lambda ctx: None
    return params


def option(
    help: str,
    *names: str,
    metavar: str,
    panel: str | None = None,
    default: str | None = None,
    values: tuple[str, ...] = (),
    parser: Callable[[str], Any] | None = None,
) -> Any:
    """Declare an option; without ``names`` it is named like the parameter.

    ``metavar`` stands for its value in the help, where ``panel`` groups options and ``default``
    replaces the default that is shown. ``values`` are what the shell completes, and ``parser``
    reads a value that is no string.
    """
    return typer.Option(
        *names,
        help=help,
        rich_help_panel=panel,
        show_default=True if default is None else default,
        autocompletion=_complete(values) if values else None,
        metavar=metavar,
        parser=parser,
    )


def _complete(values: tuple[str, ...]) -> Any:
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


flag = partial(option, metavar="")


def file_option(help: str, *names: str, **more: Any) -> Any:
    """Declare an option whose value is the name of a file."""
    return option(help, *names, metavar="FILE", **more)


def folder_option(help: str, *names: str) -> Any:
    """Declare an option whose value is the name of a folder."""
    return option(help, *names, metavar="FOLDER")


def whole_number(given: str) -> int:
    """Read a whole number, or raise an error that shows what was given."""
    try:
        return int(given)
    except ValueError:
        fault = f"{short(str(given))!r} is no whole number; give one such as 20"
        raise typer.BadParameter(fault) from None


def number(given: str) -> float:
    """Read a number such as 0.7 or 70%, or raise an error that shows what was given."""
    text = str(given).strip()
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        fault = f"{short(text)!r} is no number; give one such as 0.7 or 70%"
        raise typer.BadParameter(fault) from None


def whole_option(help: str, *names: str, **more: Any) -> Any:
    """Declare an option whose value is a whole number."""
    return option(help, *names, metavar="NUMBER", parser=whole_number, **more)


def number_option(help: str, *names: str, **more: Any) -> Any:
    """Declare an option whose value is a number."""
    return option(help, *names, metavar="NUMBER", parser=number, **more)


def json_option(what: str, panel: str | None = None) -> Any:
    """Declare --json, which prints ``what`` as JSON."""
    return flag(f"Print {what} as JSON.", "--json", panel=panel)


def check_json(as_json: bool, output: str | None, what: str) -> None:
    """Raise an error if --json and ``what`` would both go to standard output."""
    if as_json and output == "-":
        raise InputError(
            f"--json and {what} would both go to standard output; give --output the name of a file"
        )


Encoder = Annotated[
    str | None,
    option(f"Encoder of the model, if it was fitted with one: {ENCODERS}.", metavar="NAME"),
]
Model = Annotated[str, file_option(MODEL_HELP, "--model", "-m")]
Text = Annotated[str | None, option(TEXT_HELP, "--text", metavar="COLUMN")]
Id = Annotated[str | None, option(ID_HELP, metavar="COLUMN")]
Format = Annotated[str | None, option(FORMAT_HELP, metavar="NAME")]
Encoding = Annotated[str, option("Character encoding of the input.", metavar="NAME")]
Force = Annotated[bool, flag(FORCE_HELP, "--force")]
Quiet = Annotated[bool, flag(QUIET_HELP, "--quiet", "-q")]
Jobs = Annotated[int, whole_option(f"{JOBS_HELP}; -1 for all cores.")]
Methods = Annotated[
    str,
    option(
        f"Methods to run: own ({', '.join(STAGES)}), baselines, all, or names such as "
        f"{METHODS_HELP}.",
        metavar="NAMES",
    ),
]
SourceOnly = Annotated[
    bool,
    flag(
        "Run each method's own classifier without adaptation, trained on the source alone.",
        "--source-only",
    ),
]
Continue = Annotated[
    bool,
    flag(
        "Continue an interrupted run with the finished results in the output folder.", "--continue"
    ),
]
