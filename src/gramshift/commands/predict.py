"""``gramshift predict``: label files of any size with a saved model."""

import time
from collections import Counter
from typing import Annotated, Any

import typer

from gramshift.commands.classify.labelled import label_columns, renamed_in_words
from gramshift.commands.classify.reading import Say
from gramshift.commands.outputs import STANDARD, check_outputs, open_output
from gramshift.data.columns import Progress, find_columns, texts_in
from gramshift.data.readers import format_of, open_table
from gramshift.data.writing import open_writer, output_style

CELLS = 1 << 25  # similarities that are in memory at a time
MOST_ROWS = 4096


def predict(
    model: str,
    input: str,
    output: str = STANDARD,
    *,
    text: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    abstain_below: float | None = None,
    force: bool = False,
    progress: Progress | None = None,
    say: Say = print,
) -> dict[str, Any]:
    """Write the input again with labels, part by part: memory does not grow with it."""
    begun = time.perf_counter()
    check_outputs({"--output": output}, [model, input], force=force)
    if abstain_below is not None and not 0 < abstain_below <= 1:
        raise ValueError(f"--abstain-below {abstain_below:g}: give a confidence between 0 and 1, such as 0.7")
    if output != STANDARD:
        format_of(output, option="another --output")
    with open_table(input, format=format, encoding=encoding) as table:
        columns = find_columns(table, text=text)
        output_style(output, table)

        from gramshift.methods import load

        classifier = load(model)
        classes = classifier.classes_.tolist()
        ours = label_columns(table, classes)
        words = renamed_in_words(table, ours)
        if words is not None:
            say(words)
        landmarks = getattr(classifier, "landmarks_", None)
        n_compared = len(classifier.labeled_iter_ if landmarks is None else landmarks)
        size = max(1, min(MOST_ROWS, CELLS // max(1, n_compared)))
        counts: Counter[str] = Counter()
        with open_output(output) as file, open_writer(file, output, table, ours.types) as writer:
            for part in table.parts(size):
                probabilities = classifier.predict_proba(texts_in(table, columns, part))
                labels = classifier.classes_[probabilities.argmax(axis=1)].tolist()
                added = ours.values(labels, probabilities.tolist(), abstain_below)
                writer.write(part, added)
                counts.update("" if label is None else str(label) for label in added[ours.label])
                if progress is not None:
                    progress("labelling", *table.position())
    abstained = counts.pop("", 0)
    return {
        "n": sum(counts.values()) + abstained,
        "labels": {str(name): counts[str(name)] for name in classes},
        "abstained": abstained,
        "model": model,
        "output": output,
        "seconds": round(time.perf_counter() - begun, 2),
    }


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
    from gramshift.commands.progress_bar import progress_bar
    from gramshift.text.terminal import print_json, say

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
