"""``gramshift predict``: label files of any size and number with a saved model."""

import time
from typing import Any

from gramshift.commands.label.many_files import check_engine, label_files
from gramshift.commands.label.one_file import LabelOptions, check_model, label_file, load_model
from gramshift.commands.outputs import (
    STANDARD,
    check_outputs,
    expand_inputs,
    plan_files,
)
from gramshift.runtime import Runtime
from gramshift.tables.columns import Progress
from gramshift.tables.opening import format_of
from gramshift.terminal import Line, Say, count_in_words, labelled_in_words, list_classes
from gramshift.terminal import say as to_stderr


def predict(
    model: str,
    input: str | list[str],
    output: str = STANDARD,
    *,
    text: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    abstain_below: float | None = None,
    encoder: str | None = None,
    force: bool = False,
    engine: str = "threads",
    scheduler: str | None = None,
    jobs: int = -1,
    progress: Progress | None = None,
    say: Say = to_stderr,
) -> dict[str, Any]:
    """Write the input again with labels, part by part, or several files into a folder."""
    begun = time.perf_counter()
    options = LabelOptions(text, format, encoding, abstain_below)
    check_engine(engine, scheduler)
    files = expand_inputs([input] if isinstance(input, str) else input, format=format)
    file_jobs = plan_files(files, output, format=format, kept=[model], engine=engine)
    if file_jobs is not None:
        classifier = None
        if engine == "dask":
            check_model(model)
        else:
            classifier = load_model(model, jobs, encoder)
        result = label_files(
            model,
            classifier,
            file_jobs,
            output,
            options,
            Runtime(jobs, progress=progress),
            engine=engine,
            scheduler=scheduler,
            force=force,
            say=say,
        )
    else:
        check_outputs({"--output": output}, [model, *files], force=force)
        if output != STANDARD:
            format_of(output, "another --output")
        classifier = load_model(model, jobs, encoder)
        result = label_file(classifier, files[0], output, options, progress=progress)
        if renamed := result.pop("renamed"):
            say(renamed)
    del result["confidence"]
    seconds = round(time.perf_counter() - begun, 2)
    return result | {"model": model, "output": output, "seconds": seconds}


def in_words(result: dict[str, Any]) -> list[Line]:
    """Return lines for a terminal: how many documents have which label, and where they are."""
    where = f" in {count_in_words(len(result['files']), 'file')}" if "files" in result else ""
    lines = [Line(f"Result: {labelled_in_words(result)}{where}", "bold")]
    lines += [Line(one, indent=2) for one in list_classes(result["labels"])]
    written = f"labels in {result['output']}; " if result["output"] != STANDARD else ""
    return [*lines, Line(f"{written}{result['seconds']:.1f} s", indent=2)]
