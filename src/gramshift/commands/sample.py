"""``gramshift sample``: draw documents that a person should label, into a file that ``classify`` takes back."""

from pathlib import Path
from typing import Any

import numpy as np

from gramshift.commands.classify.labelled import DRAWN, OURS, read_reviewed
from gramshift.commands.outputs import STANDARD, check_outputs, open_output
from gramshift.errors import InputError
from gramshift.model.choosing import DOUBTFUL, RANDOM, check_number, choose_doubtful, choose_random, compare_texts
from gramshift.tables.columns import Documents, Progress, check_ids, find_columns, read_documents
from gramshift.tables.opening import open_table
from gramshift.tables.table import TableError
from gramshift.tables.writing import quote_cell
from gramshift.text.terminal import Line, quote_word

USUAL = 50
HEADING = ("id", "text", "predicted_label", "confidence", "label", DRAWN)


def draw_sample(
    input: str,
    output: str,
    *,
    doubtful: int | None = None,
    random: int | None = None,
    seed: int = 0,
    corrections: str | None = None,
    text: str | None = None,
    id: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Draw documents of a labelled file; for ``random`` ones it need not have labels. Returns what happened, fit for JSON.

    Those that ``corrections`` has a label or a mark for are not drawn.
    """
    if doubtful is not None and random is not None:
        raise InputError("--doubtful is to learn from, --random to measure with; draw two samples, one after the other")
    if seed < 0:
        raise InputError(f"--seed {seed}: give 0 or more")
    check_outputs({"--output": output}, [input, *filter(None, [corrections])], force=force)
    if output != STANDARD and Path(output).suffix != ".csv":
        raise InputError(f"--output {output}: the sample is a table to fill in, give a name that ends in .csv")
    with open_table(input, format=format, encoding=encoding) as table:
        documents = read_documents(table, find_columns(table, text=text, id=id), progress=progress)
    check_ids(documents)
    how = DOUBTFUL if random is None else RANDOM
    given = (USUAL if doubtful is None else doubtful) if random is None else random
    labels, sure = _read_labels(documents)
    seen = set() if corrections is None else read_reviewed(corrections, ids=documents.ids, texts=documents.texts)
    may_be = (
        bool(text.strip()) and one not in seen and (sure is None or sure[row] is not None)
        for row, (text, one) in enumerate(zip(documents.texts, documents.ids, strict=True))
    )
    rows = np.flatnonzero(np.fromiter(may_be, bool))
    if how == DOUBTFUL and sure is None:
        advice = "give the output of gramshift classify or predict, or draw at random with --random"
        raise TableError(f"{input} has no column confidence, which tells what is doubtful: {advice}")
    if not len(rows):
        raise TableError(f"{input} has no document that could be drawn")
    n = check_number(given, len(rows), f"--{how} ") if doubtful is not None or random is not None else min(given, len(rows))
    if how == RANDOM:
        chosen = rows[choose_random(len(rows), n, seed)].tolist()
    else:
        assert sure is not None, "it was refused"
        texts = [documents.texts[row] for row in rows.tolist()]
        chosen = rows[choose_doubtful(np.array([sure[row] for row in rows], float), n, compare_texts(texts))].tolist()
    lines = [HEADING]
    for row in chosen:
        confidence = "" if sure is None else f"{sure[row]:.6g}"
        lines.append((documents.ids[row], documents.texts[row], labels[row], confidence, "", how))
    table_of = "".join(",".join(map(quote_cell, line)) + "\n" for line in lines)
    with open_output(output) as file:
        file.write(table_of.encode("utf-8", "backslashreplace"))
    return {
        "n": n,
        "n_all": len(rows),
        "how": how,
        "seed": seed,
        "output": output,
        "ids": [documents.ids[row] for row in chosen],
    }


def _read_labels(documents: Documents) -> tuple[list[str], list[float | None] | None]:
    """The labels that the file has got from us, and how sure they are: None for rows that had a label of their own."""
    label, confidence = (_last(documents.table.columns, name) for name in ("label", "confidence"))
    cells = [row for part in documents.raw for row in part.rows]

    def read(name: str) -> list[str]:
        return ["" if row.get(name) is None else str(row[name]) for row in cells]

    if confidence is None:
        return [""] * len(cells), None
    labels = [""] * len(cells) if label is None else read(label)
    try:
        return labels, [float(one) if one else None for one in read(confidence)]
    except ValueError:
        raise TableError(f"{documents.table.name}: the column {confidence!r} has something that is no number") from None


def _last(columns: list[str], name: str) -> str | None:
    """The column of this name that was added last: "predicted_" stands before it as often as it was there already."""
    found = [one for one in columns if one.removeprefix(OURS * ((len(one) - len(name)) // len(OURS))) == name]
    return max(found, key=len, default=None)


def in_words(result: dict[str, Any]) -> list[Line]:
    """Tell for a terminal what was drawn and what to do with it."""
    what = "doubtful ones that are unlike each other" if result["how"] == DOUBTFUL else "drawn at random"
    why = "learn from them" if result["how"] == DOUBTFUL else "set the class proportions and measure the accuracy by them"
    lines = [
        Line(f"Result: {result['n']} of {result['n_all']} documents to label, {what}", "bold"),
        Line(f"sample in {result['output']}", indent=2),
    ]
    if result["output"] == STANDARD:
        return lines[:1]
    return [
        *lines,
        Line(""),
        Line("Next", "bold"),
        Line(f"Fill in the column label of {result['output']}; rows that you leave empty are left out.", indent=2),
        Line(f"To {why}, add this to your command gramshift classify:", indent=2),
        Line(f"--corrections {quote_word(result['output'])}", "cyan", 4),
    ]
