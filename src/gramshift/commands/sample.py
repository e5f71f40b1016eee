"""``gramshift sample``: draw documents to label by hand, into a file for ``classify``."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.commands.classify.hand_labels import DRAWN, read_reviewed
from gramshift.commands.classify.label_columns import OURS
from gramshift.commands.outputs import STANDARD, check_outputs, open_output
from gramshift.errors import InputError
from gramshift.model.documents_to_label import (
    DOUBTFUL,
    RANDOM,
    check_number,
    choose_doubtful,
    choose_random,
    compare_texts,
)
from gramshift.tables.columns import (
    Progress,
    TableDocuments,
    check_ids,
    find_columns,
    read_documents,
)
from gramshift.tables.opening import open_table
from gramshift.tables.table import TableError
from gramshift.tables.writing import csv_text
from gramshift.terminal import Line, count_in_words, quote_word

DEFAULT_SIZE = 50
EMPTY, LABELLED = LEFT_OUT = ("empty text", "labelled document")
HEADING = ("id", "text", "predicted_label", "confidence", "label", DRAWN)


def draw_sample(
    input: str,
    output: str,
    *,
    doubtful: int | None = None,
    random: int | None = None,
    seed: int = 0,
    corrections: Sequence[str] | None = None,
    text: str | None = None,
    id: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Draw documents of a file that are not in ``corrections``, and return what happened.

    The file must have labels and confidences, unless documents are drawn at random.
    """
    if doubtful is not None and random is not None:
        raise InputError(
            "--doubtful is to learn from, --random to measure with; draw two samples, one after "
            "the other"
        )
    if seed < 0:
        raise InputError(f"--seed {seed}: give 0 or more")
    corrections = corrections or ()
    check_outputs({"--output": output}, [input, *corrections], force=force)
    if output != STANDARD and Path(output).suffix != ".csv":
        raise InputError(
            f"--output {output}: the sample is a table to fill in, give a name that ends in .csv"
        )
    with open_table(input, format=format, encoding=encoding) as table:
        columns = find_columns(table, text=text, id=id)
        documents = read_documents(table, columns, progress=progress)
    check_ids(documents)
    how = DOUBTFUL if random is None else RANDOM
    labels, confidences = _read_labels(documents)
    if how == DOUBTFUL and confidences is None:
        raise TableError(
            f"{input} has no column confidence, which shows the doubtful documents: give the "
            "output of gramshift classify or predict, or draw at random with --random"
        )
    reviewed: set[str] = set()
    for name in corrections:
        reviewed |= read_reviewed(name, ids=documents.ids, texts=documents.texts)
    left_out = dict.fromkeys(LEFT_OUT, 0)
    rows = np.fromiter(_eligible_rows(documents, confidences, reviewed, left_out), np.int64)
    if not len(rows):
        raise TableError(f"{input} has no document that could be drawn")
    n_wanted = doubtful if how == DOUBTFUL else random
    n = min(DEFAULT_SIZE, len(rows))
    if n_wanted is not None:
        n = check_number(n_wanted, len(rows), f"--{how} ")
    if confidences is None or how == RANDOM:
        drawn = rows[choose_random(len(rows), n, seed)].tolist()
    else:
        similarity = compare_texts([documents.texts[row] for row in rows])
        eligible = np.array([confidences[row] for row in rows], float)
        drawn = rows[choose_doubtful(eligible, n, similarity)].tolist()
    lines = [HEADING]
    for row in drawn:
        confidence = "" if confidences is None else f"{confidences[row]:.6g}"
        lines.append((documents.ids[row], documents.texts[row], labels[row], confidence, "", how))
    with open_output(output) as file:
        file.write(csv_text(lines).encode("utf-8", "backslashreplace"))
    return {
        "n": n,
        "n_all": len(rows),
        "left_out": left_out,
        "how": how,
        "seed": seed,
        "output": output,
        "ids": [documents.ids[row] for row in drawn],
    }


def _eligible_rows(
    documents: TableDocuments,
    confidences: list[float | None] | None,
    reviewed: set[str],
    left_out: dict[str, int],
) -> Iterator[int]:
    """Yield the rows that have a text and no label by a person, and count those left out."""
    for row, (text, id) in enumerate(zip(documents.texts, documents.ids, strict=True)):
        if not text.strip():
            left_out[EMPTY] += 1
        elif id in reviewed or (confidences is not None and confidences[row] is None):
            left_out[LABELLED] += 1
        else:
            yield row


def _read_labels(documents: TableDocuments) -> tuple[list[str], list[float | None] | None]:
    """Return the labels that we have predicted, and their confidences.

    Both are missing from rows that had a label already, and may be missing from the table.
    """
    rows = [row for part in documents.raw for row in part.rows]

    def read(column: str) -> list[str]:
        return ["" if row.get(column) is None else str(row[column]) for row in rows]

    labels = [""] * len(rows)
    confidence = _last_added(documents.table.columns, "confidence")
    if confidence is None:
        return labels, None
    label = _last_added(documents.table.columns, "label")
    if label is not None:
        labels = read(label)
    try:
        return labels, [float(cell) if cell else None for cell in read(confidence)]
    except ValueError:
        raise TableError(
            f"{documents.table.name}: the column {confidence!r} contains a value that is not"
            " a number"
        ) from None


def _last_added(columns: list[str], name: str) -> str | None:
    """Return the column of this name that was added last.

    "predicted_" precedes it once for each column of this name that was there before.
    """
    found = []
    for column in columns:
        n_prefixes = (len(column) - len(name)) // len(OURS)
        if column.removeprefix(OURS * n_prefixes) == name:
            found.append(column)
    return max(found, key=len, default=None)


def in_words(result: dict[str, Any]) -> list[Line]:
    """Return lines for a terminal: what was drawn, and what to do with it."""
    if result["how"] == DOUBTFUL:
        how = "doubtful ones that are unlike each other"
        purpose = "learn from them"
    else:
        how = "drawn at random"
        purpose = "set the class proportions and measure the accuracy by them"
    output = result["output"]
    documents = f"{result['n']} of {count_in_words(result['n_all'], 'document')}"
    left_out = [count_in_words(n, what) for what, n in result["left_out"].items() if n]
    others = f" ({', '.join(left_out)} left out)" if left_out else ""
    lines = [Line(f"Result: {documents} to label{others}, {how}", "bold")]
    if output == STANDARD:
        return lines
    advice = f"Fill in the column label of {output}; rows that you leave empty are left out."
    return [
        *lines,
        Line(f"sample in {output}", indent=2),
        Line(""),
        Line("Next", "bold"),
        Line(advice, indent=2),
        Line(f"To {purpose}, add this to your command gramshift classify:", indent=2),
        Line(f"--corrections {quote_word(output)}", "cyan", 4),
    ]
