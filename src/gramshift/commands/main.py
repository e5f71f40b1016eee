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
from gramshift.commands import experiment_parser, parser
from gramshift.commands.interrupt import EXIT_CODE, exiting_soon
from gramshift.errors import FitWarning, GramshiftError
from gramshift.runtime.memory import check_address_space
from gramshift.text.terminal import say

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "14")  # its idle threads sleep soon instead of taking our cores; before NumPy
TRACEBACK = "GRAMSHIFT_TRACEBACK"
MENDABLE = (  # by the user: what we have checked, memory that the system does not give, and files that the user named
    GramshiftError,
    MemoryError,
    FileNotFoundError,
    FileExistsError,
    PermissionError,
    IsADirectoryError,
    NotADirectoryError,
    Warning,  # raised only where the user has Python raise warnings as errors
)
MENDABLE_NUMBERS = (errno.ENAMETOOLONG, errno.ELOOP)  # which have no class of their own
OUR_FAULT = "this is a bug of Gramshift's and not your mistake; please report it to its developers, with all that follows"
app = typer.Typer(
    name="gramshift",
    help="Label texts of a new domain from labelled texts of another, using shared words and character n-grams.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _plainly(command: Callable[..., None], kept: str = "nothing was written") -> Callable[..., None]:
    """Make the command end in one line on stderr when it is interrupted, which tells what is left."""
    words = f"interrupted; {kept}"

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        gc.enable()
        try:
            with exiting_soon(words):
                check_address_space()
                command(*arguments, **options)
        except KeyboardInterrupt:
            _stop(words, EXIT_CODE)

    return run


app.command("classify")(_plainly(parser.classify_command, "no file is half written"))
app.command("compare")(_plainly(experiment_parser.compare_command, "finished results are kept, continue with --continue"))
app.command("demo")(_plainly(parser.demo_command, "no file is half written"))
app.command("explain")(_plainly(parser.explain_command))
app.command("fetch")(_plainly(parser.fetch_command))
app.command("info")(_plainly(parser.info_command))
app.command("kernel")(_plainly(parser.kernel_command))
app.command("predict")(_plainly(parser.predict_command, "no file is half written, and finished ones are kept"))
app.command("reproduce")(_plainly(experiment_parser.reproduce_command, "finished settings are kept, continue with --continue"))
app.command("sample")(_plainly(experiment_parser.sample_command))


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"gramshift {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command. What users can mend is one line and exit code 2, what the system refuses one line and 1.

    Any other error is a bug of ours: the traceback is shown, and the exit code is 1. With GRAMSHIFT_TRACEBACK=1 the
    traceback is shown for all errors.
    """
    warnings.showwarning = _warn
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a text may have what the encoding of the terminal lacks
    try:
        app(prog_name="gramshift")
    except (*MENDABLE, OSError) as error:
        if os.environ.get(TRACEBACK):
            _show_traceback()
        mendable = isinstance(error, MENDABLE) or getattr(error, "errno", None) in MENDABLE_NUMBERS
        _stop(_describe(error), 2 if mendable else 1)
    except Exception:
        say(f"gramshift: {OUR_FAULT}")
        _show_traceback()
        sys.exit(1)


def _show_traceback() -> None:
    """Show it as Python does; its message may have come from a file."""
    for line in traceback.format_exc().splitlines():
        say(line)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    if isinstance(message, FitWarning):  # commands tell of these in words of their own
        return
    say(f"gramshift: {message}")


def _describe(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _stop(message: str, code: int) -> None:
    say(f"gramshift: {message}")
    sys.exit(code)


if __name__ == "__main__":
    main()
