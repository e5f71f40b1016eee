"""``gramshift fetch``: get a public data set."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

SETS = ("sentiment",)


def fetch_command(
    name: Annotated[str, typer.Argument(help="Which data set: sentiment.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to put it in.")] = Path("."),
    url: Annotated[str | None, typer.Option(help="Where to get it, if not from its home page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Download the Multi-Domain Sentiment Dataset from its home page, unpack its labelled part and check it.

    Example: `gramshift fetch sentiment --output data`
    """
    from gramshift.commands.progress_bar import progress_bar
    from gramshift.data.fetch import URL, fetch_sentiment

    if name not in SETS:
        raise ValueError(f"data set {name!r} is not known; there is {', '.join(SETS)}")
    print(f"fetching {url or URL} into {output}", file=sys.stderr)
    with progress_bar() as progress:
        result = fetch_sentiment(output, url=url or URL, progress=progress)
    for warning in result["warnings"]:  # type: ignore[attr-defined]
        print(f"gramshift: {warning}", file=sys.stderr)
    if as_json:
        print(json.dumps(result))
    else:
        print(f"{result['reviews']} reviews in {result['folder']}", file=sys.stderr)
