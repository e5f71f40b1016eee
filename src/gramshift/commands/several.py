"""Options that take several values: --source a.csv b.csv as well as --source a.csv --source b.csv."""

from typing import Any

from typer.core import TyperCommand


class SeveralValues(TyperCommand):
    """For commands without arguments, so that every value belongs to the option before it."""

    several = ("--source",)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, repeat_option(args, self.several))


def repeat_option(args: list[str], several: tuple[str, ...]) -> list[str]:
    """The option again before each of its further values, as the parser wants it."""
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
