"""The command ``gramshift``."""

import errno
import functools
import gc
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from gramshift import __version__
from gramshift.commands import parser
from gramshift.commands.command_options import PlainCommand, PlainGroup
from gramshift.commands.interrupt import EXIT_CODE, exiting_soon
from gramshift.errors import FitWarning, GramshiftError
from gramshift.memory import check_address_space
from gramshift.terminal import say

# idle threads of OpenBLAS sleep soon instead of taking our cores; it must come before NumPy
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "14")
TRACEBACK = "GRAMSHIFT_TRACEBACK"
USER_ERRORS = (
    GramshiftError,
    MemoryError,
    FileNotFoundError,
    FileExistsError,
    PermissionError,
    IsADirectoryError,
    NotADirectoryError,
    Warning,  # raised only if the user has Python raise warnings as errors
)
USER_ERROR_NUMBERS = (errno.ENAMETOOLONG, errno.ELOOP)  # errors of the system without a class
BUG = (
    "this is a bug of Gramshift's and not your mistake; please report it to its developers, with "
    "all that follows"
)
NOTHING_WRITTEN = "nothing was written"
NOTHING_HALF_WRITTEN = "no file is half written"
COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "classify": (parser.classify_command, NOTHING_HALF_WRITTEN),
    "compare": (parser.compare_command, "finished results are kept, continue with --continue"),
    "demo": (parser.demo_command, NOTHING_HALF_WRITTEN),
    "explain": (parser.explain_command, NOTHING_WRITTEN),
    "fetch": (parser.fetch_command, NOTHING_WRITTEN),
    "info": (parser.info_command, NOTHING_WRITTEN),
    "kernel": (parser.kernel_command, NOTHING_WRITTEN),
    "predict": (parser.predict_command, f"{NOTHING_HALF_WRITTEN}, and finished ones are kept"),
    "reproduce": (parser.reproduce_command, "finished settings are kept, continue with --continue"),
    "sample": (parser.sample_command, NOTHING_WRITTEN),
}
"""The commands, and what they leave behind when they are interrupted."""
app = typer.Typer(
    cls=PlainGroup,
    name="gramshift",
    help="Learn from labelled texts of one kind, and label texts of another, by words and "
    "character n-grams.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _interruptible(command: Callable[..., None], left: str) -> Callable[..., None]:
    """Make a command end in one line on stderr when it is interrupted."""
    words = f"interrupted; {left}"

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        gc.enable()
        try:
            with exiting_soon(words):
                check_address_space()
                command(*arguments, **options)
        except KeyboardInterrupt:
            _exit(words, EXIT_CODE)

    return run


for _name, (_command, _left) in COMMANDS.items():
    app.command(_name, cls=PlainCommand)(_interruptible(_command, _left))


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"gramshift {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and stop.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command.

    An error that the user can correct is one line and exit code 2; one of the system is one line
    and exit code 1. Any other is a bug of ours: a traceback and exit code 1. GRAMSHIFT_TRACEBACK=1
    shows the traceback of all errors.
    """
    warnings.showwarning = _show_warning
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal may lack characters
    try:
        app(prog_name="gramshift")
    except (*USER_ERRORS, OSError) as error:
        if os.environ.get(TRACEBACK):
            _show_traceback()
        is_of_user = isinstance(error, USER_ERRORS)
        is_of_user |= getattr(error, "errno", None) in USER_ERROR_NUMBERS
        _exit(_in_words(error), 2 if is_of_user else 1)
    except Exception:
        say(f"gramshift: {BUG}")
        _show_traceback()
        sys.exit(1)


def _show_traceback() -> None:
    """Print the traceback as Python does, but safely: its message may have come from a file."""
    for line in traceback.format_exc().splitlines():
        say(line)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    if not isinstance(message, FitWarning):  # commands put these into their own words
        say(f"Warning: {message}")


def _in_words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _exit(message: str, code: int) -> None:
    say(f"gramshift: {message}")
    sys.exit(code)


if __name__ == "__main__":
    main()
