"""``gramshift predict``: label files of any size with a saved model."""

import time
from collections import Counter
from typing import Any

from gramshift.commands.choices import as_option
from gramshift.commands.classify.labelled import label_columns, renamed_in_words
from gramshift.commands.classify.reading import Say
from gramshift.commands.outputs import STANDARD, check_outputs, open_output
from gramshift.data.columns import Progress, find_columns, texts_in
from gramshift.data.readers import format_of, open_table
from gramshift.data.writing import open_writer, output_style
from gramshift.errors import InputError
from gramshift.methods import load
from gramshift.text.terminal import say as to_stderr

CELLS = 1 << 25  # similarities that are in memory at a time
MOST_ROWS = 4096  # rows that are labelled at a time


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
    say: Say = to_stderr,
    most_rows: int = MOST_ROWS,
) -> dict[str, Any]:
    """Write the input again with labels, ``most_rows`` at a time: memory does not grow with it."""
    begun = time.perf_counter()
    check_outputs({"--output": output}, [model, input], force=force)
    if abstain_below is not None and not 0 < abstain_below <= 1:
        raise InputError(f"--abstain-below {abstain_below:g}: give a confidence between 0 and 1, such as 0.7")
    if output != STANDARD:
        format_of(output, "another --output")
    with open_table(input, format=format, encoding=encoding, naming=as_option) as table:
        columns = find_columns(table, text=text)
        output_style(output, table)
        classifier = load(model)
        classes = classifier.classes_.tolist()
        ours = label_columns(table, classes)
        words = renamed_in_words(table, ours)
        if words is not None:
            say(words)
        landmarks = getattr(classifier, "landmarks_", None)
        n_compared = len(classifier.labeled_iter_ if landmarks is None else landmarks)
        size = max(1, min(most_rows, CELLS // max(1, n_compared)))
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
