"""The command reference, made from the commands themselves; a hook of mkdocs, which puts the page into the site.

To read it without the site: python docs/make_command_reference.py
"""

from collections.abc import Iterator
from typing import Any

import typer

from gramshift.commands.main import app

PAGE = "command-reference.md"
HEAD = """# Command reference

All commands and options, taken from the code. What they are for, with examples: [On the command line](commands.md).
Every command also has `--help`.
"""


def on_files(files: Any, config: Any) -> Any:
    """Add the page to those of the site."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=command_reference()))
    return files


def command_reference() -> str:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return "\n".join([HEAD, *(line for name in sorted(commands) for line in describe_command(name, commands[name]))])


def describe_command(name: str, command: Any) -> Iterator[str]:
    """Its help, and a table of its parameters for each panel of the help."""
    yield f"## gramshift {name}\n"
    yield f"{command.help}\n"
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    panels = dict.fromkeys(getattr(one, "rich_help_panel", None) for one in shown)
    for panel in panels:
        yield f"| {panel or 'Options'} | | Default |\n|---|---|---|"
        for one in shown:
            if getattr(one, "rich_help_panel", None) == panel:
                yield f"| {names(one)} | {cell(one.help or '')} | {cell(default(one))} |"
        yield ""


def names(parameter: Any) -> str:
    """The argument in capitals; an option with its other spellings and what follows it."""
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    takes_value = not getattr(parameter, "is_flag", False)
    value = f" {parameter.metavar or parameter.name.upper().replace('_', '-')}" if takes_value else ""
    spellings = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join([f"`{spellings[0]}{value}`", *(f"`{other}`" for other in spellings[1:])])


def default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if getattr(parameter, "is_flag", False):
        return f"`{parameter.opts[0]}`" if parameter.default else ""
    return "" if parameter.default is None or not parameter.show_default else f"`{parameter.default}`"


def cell(text: str) -> str:
    """One line of a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(command_reference())
