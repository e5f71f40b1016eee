"""``gramshift predict``: label files of any size, and of any number, with a saved model."""

import time
from collections.abc import Callable
from typing import Any

from gramshift.commands.label_files import (
    LabelOptions,
    check_engine,
    check_model,
    label_files,
    label_table,
    load_model,
)
from gramshift.commands.outputs import (
    STANDARD,
    check_outputs,
    expand_inputs,
    goes_into_folder,
    open_output,
    plan_files,
)
from gramshift.errors import InputError
from gramshift.runtime.resources import Runtime
from gramshift.tables.columns import Progress, find_columns
from gramshift.tables.opening import format_of, open_table
from gramshift.tables.writing import output_style
from gramshift.text.terminal import Line, labelled_in_words, list_classes
from gramshift.text.terminal import say as to_stderr


def predict(
    model: str,
    input: str | list[str],
    output: str = STANDARD,
    *,
    text: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    abstain_below: float | None = None,
    force: bool = False,
    engine: str = "threads",
    scheduler: str | None = None,
    jobs: int = -1,
    progress: Progress | None = None,
    say: Callable[[str], None] = to_stderr,
) -> dict[str, Any]:
    """Write the input again with labels, part by part; several files go into a folder, and one if that is named."""
    begun = time.perf_counter()
    options = LabelOptions(text, format, encoding, abstain_below)
    check_engine(engine, scheduler)
    files = expand_inputs([input] if isinstance(input, str) else input, format=format)
    if goes_into_folder(files, output):
        planned = plan_files(files, output, format=format, kept=[model])
        runtime = Runtime(jobs, progress=progress)
        classifier = None
        if engine == "dask":
            check_model(model)
        else:
            classifier = load_model(model, jobs)
        result = label_files(
            model, classifier, planned, output, options, runtime,
            engine=engine, scheduler=scheduler, force=force, say=say,
        )  # fmt: skip
    elif engine == "dask":
        raise InputError("--engine dask gives each worker a file of its own; several inputs go into a folder: --output labels/")
    else:
        result = _predict_one(model, files[0], output, options, jobs, force, progress, say)
    del result["confidence"]
    return result | {"model": model, "output": output, "seconds": round(time.perf_counter() - begun, 2)}


def _predict_one(
    model: str,
    input: str,
    output: str,
    options: LabelOptions,
    jobs: int,
    force: bool,
    progress: Progress | None,
    say: Callable[[str], None],
) -> dict[str, Any]:
    from gramshift.commands.classify.labelled import label_columns, renamed_in_words

    check_outputs({"--output": output}, [model, input], force=force)
    if output != STANDARD:
        format_of(output, "another --output")
    with open_table(input, format=options.format, encoding=options.encoding) as table:
        columns = find_columns(table, text=options.text)
        output_style(output, table)
        classifier = load_model(model, jobs)
        words = renamed_in_words(table, label_columns(table, classifier.classes_.tolist()))
        if words is not None:
            say(words)
        with open_output(output) as file:
            return label_table(
                classifier, table, columns, file, output,
                abstain_below=options.abstain_below, progress=progress,
            )  # fmt: skip


def in_words(result: dict[str, Any]) -> list[Line]:
    """Tell for a terminal how many documents have which label, and where they are."""
    n_files = len(result.get("files", []))
    where = f" in {n_files} file{'' if n_files == 1 else 's'}" if "files" in result else ""
    lines = [Line(f"Result: {labelled_in_words(result)}{where}", "bold")]
    lines += [Line(one, indent=2) for one in list_classes(result["labels"])]
    written = f"labels in {result['output']}; " if result["output"] != STANDARD else ""
    return [*lines, Line(f"{written}{result['seconds']:.1f} s", indent=2)]
