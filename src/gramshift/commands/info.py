"""``gramshift info``: what is in a model file."""

from typing import Annotated

import typer


def info_command(
    model: Annotated[str, typer.Argument(help="What gramshift classify --save has kept.", metavar="MODEL")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Check a model file and tell what is in it: parameters, classes, sizes, date, versions, whether it holds texts.

    Example: `gramshift info model.gramshift`
    """
    from gramshift.commands.informing import describe_model, in_words
    from gramshift.commands.words import print_json

    found = describe_model(model)
    if as_json:
        print_json(found | {"rounds": [step | _by_name(step) for step in found["rounds"]]})
    else:
        print("\n".join(in_words(found)))


def _by_name(step: dict[str, dict[object, int] | None]) -> dict[str, dict[str, int] | None]:
    """JSON has no keys but strings."""
    return {
        key: None if counts is None else {str(name): count for name, count in counts.items()}
        for key, counts in ((key, step[key]) for key in ("added", "labels"))
    }
