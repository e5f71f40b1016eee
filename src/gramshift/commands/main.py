"""The command ``gramshift``."""

import errno
import functools
import gc
import io
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gramshift import __version__
from gramshift.commands import experiment_parser, parser
from gramshift.commands.interrupt import CODE, stopping_soon
from gramshift.errors import FitWarning, GramshiftError, InputError
from gramshift.runtime.memory import check_address_space
from gramshift.text.terminal import say


class Renamed(TyperCommand):
    """A command with options that had other names once; these are still understood, and no longer shown."""

    old_names: Mapping[str, str] = {"--memory-limit": "--memory", "--kind": "--kernel"}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = (argument.partition("=") for argument in args)
        return super().parse_args(ctx, [self.old_names.get(name, name) + equals + value for name, equals, value in named])


class SeveralValues(TyperCommand):
    """A command without arguments, so that every value belongs to the option before it; files that stand alone are a slip."""

    several: tuple[str, ...] = ("--source", "--target")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        typed = repeat_option(args, self.several)
        _, alone, _ = self.make_parser(ctx).parse_args(args=list(typed))
        if alone and not ctx.resilient_parsing:
            these = "this is" if len(alone) == 1 else "these are"
            raise InputError(f"{shlex.join(alone)}: no option says what {these}; type {self.advise(alone, args)}")
        return super().parse_args(ctx, typed)

    def advise(self, alone: list[str], args: list[str]) -> str:
        """What to type for files that stand alone: the last one is what is to be labelled."""
        if "--target" in args and "--source" not in args:
            return f"--source {shlex.join(alone)}"
        if len(alone) == 1:
            return f"--{'target' if '--source' in args else 'source'} {shlex.join(alone)}"
        if "--source" in args:
            return f"--target {shlex.join(alone)}"
        return f"--source {shlex.join(alone[:-1])} --target {shlex.join(alone[-1:])}"


class Continued(Renamed):
    """A command that continues in its output folder; elsewhere ``--resume`` is followed by a folder."""

    old_names: Mapping[str, str] = {"--resume": "--continue"}


class SeveralSources(Continued, SeveralValues):
    """The same for ``compare``, which has one target."""

    several = ("--source",)

    def advise(self, alone: list[str], args: list[str]) -> str:
        """What to type: one file with several domains, or the files of each."""
        if "--domain" in args or "--data" in args:
            return f"--data {shlex.join(alone)}"
        return super().advise(alone, args)


class SeveralInputs(SeveralValues):
    """The same for ``predict``."""

    several = ("--input", "-i")

    def advise(self, alone: list[str], args: list[str]) -> str:
        """What to type for a model and for files that stand alone."""
        models = [one for one in alone if one.endswith(".gramshift")]
        files = [one for one in alone if one not in models]
        typed = [*(["--model", models[0]] if models else []), *(["--input", *files] if files else [])]
        return shlex.join(typed)


def repeat_option(args: list[str], several: tuple[str, ...]) -> list[str]:
    """Repeat the option before each of its further values, as the parser wants it."""
    result: list[str] = []
    current = None
    for place, argument in enumerate(args):
        if argument.startswith("-") and argument != "-":
            name, equals, _ = argument.partition("=")
            current = name if name in several else None
            first = current is not None and not equals
        elif current is not None:
            if not first:
                result.append(current)
            first = False
        if argument == "--":
            return [*result, *args[place:]]
        result.append(argument)
    return result


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
            with stopping_soon(words):
                check_address_space()
                command(*arguments, **options)
        except KeyboardInterrupt:
            _stop(words, CODE)

    return run


app.command("classify", cls=SeveralValues)(_plainly(parser.classify_command, "no file is half written"))
app.command("compare", cls=SeveralSources)(
    _plainly(experiment_parser.compare_command, "finished results are kept, continue with --continue")
)
app.command("demo")(_plainly(parser.demo_command, "no file is half written"))
app.command("explain")(_plainly(parser.explain_command))
app.command("fetch")(_plainly(parser.fetch_command, "what has arrived is kept and taken up next time"))
app.command("info")(_plainly(parser.info_command))
app.command("kernel", cls=Renamed)(_plainly(parser.kernel_command))
app.command("predict", cls=SeveralInputs)(
    _plainly(parser.predict_command, "no file is half written, and finished ones are kept")
)
app.command("reproduce", cls=Continued)(
    _plainly(experiment_parser.reproduce_command, "finished settings are kept, continue with --continue")
)
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
