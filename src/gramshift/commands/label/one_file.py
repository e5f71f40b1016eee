"""Labelling one table with a model.

The model and its libraries take two seconds to import. Only the functions that label import them,
so that a run with Dask workers does not wait.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from gramshift.commands.classify.label_columns import label_columns, renamed_in_words
from gramshift.commands.encoders import load_with_encoder
from gramshift.commands.outputs import open_output
from gramshift.errors import InputError
from gramshift.files import Replacing
from gramshift.model.model_schema import ROWS
from gramshift.tables.columns import Columns, Progress, find_columns, texts_in
from gramshift.tables.opening import open_table
from gramshift.tables.table import Table, TablePart
from gramshift.tables.writing import open_writer, output_style

MAX_ROWS = 4096  # that are labelled at a time
Found = dict[str, Any]
"""The labels of a table: n, labels (a count for each), abstained, confidence (the sum of all).

"renamed" is a sentence about columns that got other names, or None.
"""


@dataclass(frozen=True)
class LabelOptions:
    """How tables are read and labels are written; all of it is part of a record."""

    text: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    abstain_below: float | None = None

    def __post_init__(self) -> None:
        check_confidence(self.abstain_below)


def check_confidence(least: float | None) -> None:
    """Raise an error if this is no confidence below which documents get no label."""
    if least is not None and not 0 < least <= 1:
        raise InputError(
            f"--abstain-below {least:g}: give a confidence between 0 and 1, such as 0.7 or 70%"
        )


def label_table(
    classifier: Any,
    table: Table,
    columns: Columns,
    file: IO[bytes],
    name: str,
    *,
    abstain_below: float | None,
    progress: Progress | None = None,
) -> Found:
    """Write the table again with labels, part by part."""
    classes = classifier.classes_
    counts: Counter[str | None] = Counter()
    confidence = 0.0
    new = label_columns(table, classes.tolist())
    with open_writer(file, name, table, new.types) as writer:
        for part in _read_parts(table):
            probabilities = classifier.predict_proba(texts_in(table, columns, part))
            labels = classes[probabilities.argmax(axis=1)].tolist()
            added = new.values(labels, probabilities.tolist(), abstain_below)
            writer.write(part, added)
            counts.update(None if one is None else str(one) for one in added[new.label])
            confidence += float(probabilities.max(axis=1).sum())
            if progress is not None:
                progress("labelling", *table.position())
    return {
        "n": counts.total(),
        "labels": {str(one): counts[str(one)] for one in classes.tolist()},
        "abstained": counts[None],
        "confidence": confidence,
        "renamed": renamed_in_words(table, new),
    }


def _read_parts(table: Table) -> Iterator[TablePart]:
    """Yield the parts of a table, whose read errors are not about the file that is written."""
    with naming_input(table.name):
        yield from table.parts(MAX_ROWS)


@contextmanager
def naming_input(name: str) -> Iterator[None]:
    """Turn errors of the system into errors of this input."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}" if error.strerror else str(error)) from None


def label_file(
    classifier: Any,
    input: str,
    output: str,
    options: LabelOptions,
    files: Replacing | None = None,
    *,
    follow: bool = True,
    progress: Progress | None = None,
) -> Found:
    """Write a file again with labels.

    The output appears with all ``files``; if it is a link, the link is followed or replaced.
    """
    least = options.abstain_below
    with ExitStack() as stack:
        with naming_input(input):
            opened = open_table(input, format=options.format, encoding=options.encoding)
            table = stack.enter_context(opened)
            columns = find_columns(table, text=options.text)
            output_style(output, table)
        file = stack.enter_context(open_output(output, files, follow=follow))
        return label_table(
            classifier, table, columns, file, output, abstain_below=least, progress=progress
        )


def load_model(path: str, jobs: int = -1, encoder: str | None = None) -> Any:
    """Load a model of texts, which works on this number of threads."""
    classifier = load_with_encoder(path, encoder)
    _refuse_rows(path, classifier.kernel)
    return classifier.set_params(n_jobs=jobs)


def check_model(path: str) -> None:
    """Raise an error if a file is no model of texts, without importing what computes."""
    from gramshift.model.archive import read_archive

    head, _ = read_archive(path)
    _refuse_rows(path, head["parameters"].get("kernel"))
    if head["encoder"] is not None:
        raise InputError(
            f"{path} was fitted with an encoder, which Dask workers do not have; leave --engine out"
        )


def _refuse_rows(path: str, kernel: Any) -> None:
    if kernel == ROWS:
        raise InputError(
            f"{path} was fitted on rows of numbers, not on texts; use gramshift.load(...).predict "
            "in Python"
        )
