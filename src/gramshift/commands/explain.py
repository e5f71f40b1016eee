"""``gramshift explain``: the n-grams and documents that decided."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from gramshift.commands.outputs import check_outputs, open_output
from gramshift.data.columns import Progress, find_columns, read_documents
from gramshift.data.readers import open_table

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Gramshift: why</title>
<style>:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 45rem; margin: 2rem auto; padding: 0 1rem }}
figure {{ margin: 0 0 2rem }} figcaption {{ font-weight: 600 }} p {{ overflow-wrap: anywhere }}</style></head>
<body><h1>Why these labels</h1><p>Blue speaks for the label, red against it; the stronger the colour, the more it counts.</p>
{figures}
</body></html>
"""


def explain(
    model: str,
    text: str | None = None,
    input: str | None = None,
    *,
    column: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    html: str | None = None,
    top: int = 8,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Of one text, or of each document of an input; with ``html`` also written as a page."""
    if (text is None) == (input is None):
        raise ValueError('give either one text in quotes, "like this", or a file with --input')
    if top < 1:
        raise ValueError(f"--top {top}: give a number from 1 on")
    check_outputs({"--html": html}, [model, *([input] if input else [])], force=force)
    texts = [text] if text is not None else []
    if input is not None:
        with open_table(input, format=format, encoding=encoding) as table:
            texts = read_documents(table, find_columns(table, text=column), progress=progress).texts

    from gramshift.methods import OWN, load
    from gramshift.model.classifier import TransductiveClassifier

    classifier = load(model)
    if not isinstance(classifier, TransductiveClassifier):
        raise ValueError(
            f"{model} holds a {type(classifier).__name__}, which cannot be explained; those of {', '.join(OWN)} can"
        )
    explanations = []
    for number, one in enumerate(texts):
        if progress is not None:
            progress("explain", number, len(texts))
        explanations.append(classifier.explain(str(one)))
    if html is not None:
        with open_output(html) as file:
            file.write(PAGE.format(figures="\n".join(one.html() for one in explanations)).encode())
    return {
        "html": html,
        "texts": [one.text(n=top) for one in explanations],
        "explanations": [
            {
                "text": one.given,
                "label": one.label,
                "score": {str(name): value for name, value in one.score.items()},
                "empty": {str(name): value for name, value in one.empty.items()},
                "spans": [_plain(span) for span in one.spans],
                "documents": [_plain(document) for document in one.documents[:top]],
            }
            for one in explanations
        ],
    }


def _plain(part: Any) -> dict[str, Any]:
    fields = asdict(part)
    return fields | {"shares": {str(name): value for name, value in fields["shares"].items()}}


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
    from gramshift.commands.progress_bar import progress_bar
    from gramshift.text.terminal import print_json, say

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
