"""Files whose documents are read part by part, as often as they are needed, and never all held."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gramshift.data.columns import Columns, Documents, Progress, find_columns, ids_in, label_in, labels_in, texts_in
from gramshift.data.readers import open_table
from gramshift.data.tables import Naming, Part, Table, TableError, as_parameter, check_reread
from gramshift.runtime.storage import identify, is_still, is_url

SIZE = 2048  # documents that are read at a time


@dataclass(frozen=True)
class FileParts:
    """A file that was looked through once. Its labels and ids are here, its texts are not.

    ``len(file)`` is the number of documents, ``file.parts()`` reads their texts again, in lists.
    """

    table: Table = field(repr=False)
    """The table is closed; it tells names and style."""
    columns: Columns
    labels: list[Any] = field(repr=False)
    """None where the file has a gap, or no labels at all."""
    ids: list[str] = field(repr=False)
    n_characters: int
    known: dict[str, Any] = field(repr=False)
    """By what the file is known again: labels of these rows would be wrong for others."""
    format: str | None = None
    encoding: str = "utf-8"

    def __len__(self) -> int:
        return len(self.ids)

    def parts(self) -> Iterator[list[str]]:
        """Read the texts again, in lists."""
        for part in self.raw_parts():
            yield texts_in(self.table, self.columns, part)

    def raw_parts(self) -> Iterator[Part]:
        """Read parts with all columns, as they stand in the file."""
        name, n_rows = self.table.name, 0
        self._check(is_still(name, self.known))
        with open_table(name, format=self.format, encoding=self.encoding, naming=self.table.naming) as table:
            for part in table.parts(SIZE):
                n_rows += len(part.rows)
                self._check(n_rows <= len(self))  # nobody knows what more rows would be
                yield part
        self._check(n_rows == len(self) and is_still(name, self.known))

    def _check(self, is_same: bool) -> None:
        if not is_same:
            raise TableError(f"{self.table.name} was changed while it was read; give the same command again when it is whole")

    def column(self, name: str) -> list[Any]:
        """Return the cells of a column that holds labels, None for gaps."""
        return [
            label_in(self.table, name, row, place)
            for part in self.raw_parts()
            for row, place in zip(part.rows, part.places, strict=True)
        ]


@dataclass(frozen=True)
class Selected:
    """Some documents of a file or a table, by their numbers, ascending."""

    documents: FileParts | Documents
    rows: Sequence[int]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_characters(self) -> int:
        """Return about how many: each document is taken to be as long as another."""
        return self.documents.n_characters * len(self.rows) // max(1, len(self.documents))

    def parts(self) -> Iterator[list[str]]:
        """Yield the chosen texts, in lists."""
        wanted, first = set(self.rows), 0
        for part in self.documents.parts():
            yield [text for row, text in enumerate(part, start=first) if row in wanted]
            first += len(part)


def open_parts(
    name: str,
    *,
    text: str | None = None,
    label: str | None = None,
    id: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    need_label: bool = False,
    progress: Progress | None = None,
    naming: Naming = as_parameter,
) -> FileParts:
    """Look a file through (csv, tsv, jsonl, parquet, a folder of .txt files) for ``fit`` with landmarks or a sample.

    Parameters
    ----------
    name : str
        The file or folder; it is read again each time that the texts are needed.
    text, label, id : str, optional
        Names of columns. Without them, columns with usual names are found, as on the command line. ``text="title,body"`` joins
        two columns, ``id="none"`` numbers the rows.
    format : {"csv", "tsv", "jsonl", "parquet"}, optional
        What the file is, if its name does not tell.
    encoding : str
        The encoding of the texts.
    need_label : bool
        Whether a file without a column of labels is an error.
    progress : callable, optional
        Called as progress(stage, done, total).
    naming : callable
        How errors call these parameters; the command has its own options there.

    Returns
    -------
    FileParts
        Has ``labels`` and ``ids``; ``fit`` reads the texts.
    """
    check_reread(str(name))
    known = identify(str(name)) if os.path.exists(name) or is_url(name) else {}  # of one that is not there, opening it tells
    labels: list[Any] = []
    ids: list[str] = []
    n_characters = 0
    with open_table(str(name), format=format, encoding=encoding, naming=naming) as table:
        columns = find_columns(table, text=text, label=label, id=id, need_label=need_label)
        for part in table.parts(SIZE):
            n_characters += sum(map(len, texts_in(table, columns, part)))
            labels += labels_in(table, columns, part)
            ids += ids_in(table, columns, part, first=len(ids) + 1)
            if progress is not None:
                progress("reading", *table.position())
    return FileParts(table, columns, labels, ids, n_characters, known, format, encoding)
