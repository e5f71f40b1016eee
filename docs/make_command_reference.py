"""Tables of the options of each command, made from the commands themselves, for docs/commands.md.

When the site is built, a line `<!-- options: classify -->` of a page becomes the tables of that
command. To print them:
python docs/make_command_reference.py
"""

import re
from collections.abc import Iterator
from typing import Any

import typer

from gramshift.commands.main import app

PAGE = "commands.md"
PLACE = re.compile(r"^<!-- options: (\w+) -->$", re.MULTILINE)


def find_commands() -> dict[str, Any]:
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return commands


def fill_options(page: str) -> str:
    """Return the page, with the tables of a command in each place that asks for them."""
    return PLACE.sub(lambda place: "\n".join(describe_options(find_commands()[place[1]])), page)


def describe_options(command: Any) -> Iterator[str]:
    """Yield the lines of a table of parameters for each panel of a command's help."""
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    panels = dict.fromkeys(getattr(one, "rich_help_panel", None) for one in shown)
    for panel in panels:
        yield f"| {panel or 'Options'} | | Default |\n|---|---|---|"
        for one in shown:
            if getattr(one, "rich_help_panel", None) == panel:
                yield f"| {names(one)} | {cell(one.help or '')} | {cell(default(one))} |"
        yield ""


def names(parameter: Any) -> str:
    """Return an argument in capitals, or an option with all spellings and its value."""
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    takes_value = not getattr(parameter, "is_flag", False)
    value = (
        f" {parameter.metavar or parameter.name.upper().replace('_', '-')}" if takes_value else ""
    )
    spellings = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join([f"`{spellings[0]}{value}`", *(f"`{other}`" for other in spellings[1:])])


def default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if getattr(parameter, "is_flag", False):
        return f"`{parameter.opts[0]}`" if parameter.default else ""
    return (
        "" if parameter.default is None or not parameter.show_default else f"`{parameter.default}`"
    )


def cell(text: str) -> str:
    """One line of a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    for name, command in sorted(find_commands().items()):
        print(f"## gramshift {name}\n\n{command.help}\n", *describe_options(command), sep="\n")
