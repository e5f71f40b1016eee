"""``gramshift predict``: label a file with a saved model."""

from typing import Annotated

import typer


def predict_command(
    model: Annotated[str, typer.Option("--model", "-m", help="What gramshift classify --save has kept.", metavar="FILE")],
    input: Annotated[str, typer.Option("--input", "-i", help="Documents of any number; - for standard input.", metavar="FILE")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where they go, with labels.", metavar="FILE", show_default="standard output")
    ] = "-",
    text: Annotated[str | None, typer.Option(help="Column of the text; title,body joins two.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl or parquet, where the name does not tell.")] = None,
    encoding: Annotated[str, typer.Option(help="Of the input.")] = "utf-8",
    abstain_below: Annotated[float | None, typer.Option(help="No label below this confidence, for example 0.7.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Label a file of any size with a saved model; memory does not grow with the file.

    Example: `gramshift predict --model model.gramshift --input big.jsonl --output labelled.jsonl`
    """
    from gramshift.commands.predicting import predict
    from gramshift.commands.progress_bar import progress_bar
    from gramshift.commands.words import print_json, say

    if as_json and output == "-":
        raise ValueError("--json and the labels would both go to standard output; give --output a file")
    with progress_bar() as progress:
        result = predict(
            model,
            input,
            output,
            text=text,
            format=format,
            encoding=encoding,
            abstain_below=abstain_below,
            force=force,
            progress=progress,
            say=say,
        )
    if as_json:
        print_json(result)
    else:
        found = ", ".join(f"{count} {name}" for name, count in list(result["labels"].items())[:10])
        rest = f", {result['abstained']} without a label" if result["abstained"] else ""
        say(f"{result['n']} documents: {found}{rest}; {result['seconds']:.1f} s")
