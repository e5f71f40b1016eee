"""``gramshift explain``: the n-grams and documents that decided."""

from typing import Annotated

import typer


def explain_command(
    text: Annotated[str | None, typer.Argument(help="A text in quotes.", metavar="TEXT")] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="What gramshift classify --save has kept.", metavar="FILE")] = ...,  # type: ignore[assignment]
    input: Annotated[
        str | None, typer.Option("--input", "-i", help="Or a file of documents; - for standard input.", metavar="FILE")
    ] = None,
    html: Annotated[str | None, typer.Option(help="Also write a page with the texts marked.", metavar="FILE")] = None,
    top: Annotated[int, typer.Option(help="How many stretches and documents to show.")] = 8,
    column: Annotated[str | None, typer.Option("--text", help="Column of the text in the file.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl or parquet, where the name does not tell.")] = None,
    encoding: Annotated[str, typer.Option(help="Of the input.")] = "utf-8",
    force: Annotated[bool, typer.Option("--force", help="Replace a page that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all shares as JSON.")] = False,
) -> None:
    """Show what in a text speaks for its label, what against it, and which documents that was learnt from.

    Example: `gramshift explain --model model.gramshift "a great film, sadly too long"`
    """
    from gramshift.commands.explaining import explain
    from gramshift.commands.progress_bar import progress_bar
    from gramshift.commands.words import print_json, say

    with progress_bar() as progress:
        result = explain(
            model,
            text,
            input,
            column=column,
            format=format,
            encoding=encoding,
            html=html,
            top=top,
            force=force,
            progress=progress,
        )
    if as_json:
        print_json(result["explanations"])
    else:
        print("\n\n".join(result["texts"]))
    if html is not None:
        say(f"page in {html}")
