"""Source and target documents of a run, read and checked."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gramshift.commands.classify.labelled import read_truth
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.outputs import same_file
from gramshift.errors import GramshiftError, InputError
from gramshift.kernels.corpus import Corpus
from gramshift.model.labels import MIN_DISTINCT_LABELS, encode_labels, find_alike
from gramshift.tables.columns import (
    Progress,
    TableDocuments,
    check_column,
    check_ids,
    find_columns,
    read_documents,
)
from gramshift.tables.opening import open_table
from gramshift.tables.table import TableError
from gramshift.terminal import say as to_stderr

Say = Callable[[str], None]


@dataclass(frozen=True)
class Inputs:
    """Labelled documents, and those to be labelled: some rows of a file."""

    texts: list[str]
    """The documents with labels."""
    labels: list[Any]
    ids: list[str]
    files: list[tuple[str, int]]
    """Names of the source files, and the number of documents in each."""
    target: TableDocuments
    rows: list[int]
    """The rows of ``target`` that are to be labelled."""
    truth: list[Any] | None
    """The true label, or None, of each row of ``target``."""
    more_texts: list[str] = field(default_factory=list)
    """Texts of --unlabelled: learnt from, but not labelled."""

    @cached_property
    def target_texts(self) -> list[str]:
        """The documents to be labelled."""
        return [self.target.texts[row] for row in self.rows]

    @cached_property
    def target_ids(self) -> list[str]:
        """The ids of the documents to be labelled."""
        return [self.target.ids[row] for row in self.rows]

    @property
    def target_truth(self) -> list[Any] | None:
        """The true label, or None, of each document to be labelled."""
        return None if self.truth is None else [self.truth[row] for row in self.rows]

    @cached_property
    def corpus(self) -> Corpus:
        """All documents: of the source, of the target, and unlabelled ones."""
        return Corpus(self.texts + self.target_texts + self.more_texts)

    @property
    def all_labels(self) -> list[Any]:
        """The labels of all documents, None for those of the target and unlabelled ones."""
        return self.labels + [None] * (len(self.corpus) - len(self.labels))

    def classes(self, corrections: Iterable[Any] = ()) -> list[Any]:
        """Return the classes of the source and of corrections."""
        return sorted({*self.labels, *corrections})

    @property
    def domains(self) -> list[str] | None:
        """The file of each document of source and target; None if there is one source file."""
        if len(self.files) < 2:
            return None
        return self._source_files + [Path(self.target.table.name).name] * len(self.rows)

    @property
    def origins(self) -> list[tuple[str, str]]:
        """The file of each document, and its id there."""
        prefix = len(self.files) > 1  # ids of several files start with the name of theirs
        source = [
            (file, id.removeprefix(f"{file}: ") if prefix else id)
            for file, id in zip(self._source_files, self.ids, strict=True)
        ]
        target = Path(self.target.table.name).name
        more = [("unlabelled", str(number)) for number in range(1, len(self.more_texts) + 1)]
        return [*source, *((target, id) for id in self.target_ids), *more]

    @property
    def _source_files(self) -> list[str]:
        return [Path(name).name for name, n in self.files for _ in range(n)]


def check_names(options: ClassifyOptions, targets: list[str]) -> None:
    """Raise an error if a file is named twice, or standard input."""
    names = [*options.source, *targets]
    for place, name in enumerate(names):
        if any(same_file(name, other) for other in options.source[:place]):
            if place >= len(options.source):
                advice = "leave --target out if the rows to be labelled are those without a label"
                raise InputError(f"--target {name} is also a source; {advice}")
            raise InputError(f"the source {name} is named twice")


def read_inputs(
    options: ClassifyOptions,
    *,
    sample: TableDocuments | None = None,
    progress: Progress | None = None,
    say: Say = to_stderr,
) -> Inputs:
    """Read all documents of a run, or the source alone if there is a sample of the target."""
    found = [_read(name, options, need_label=True, progress=progress) for name in options.source]
    if options.single_target is None:
        target = found[0]
        check_ids(target)
        rows = [row for row, label in enumerate(target.labels) if label is None]
        if not rows:
            raise TableError(
                f"every row of {target.table.name} has a label;"
                " name the documents to be labelled with --target"
            )
    else:
        target = sample or _read(
            options.single_target, options, need_label=False, progress=progress
        )
        check_ids(target)
        rows = list(range(len(target)))
        for one in found:
            _say_gaps(one, say)
    truth = None
    if options.truth:
        if is_truth_file(options.truth, target.table.columns):
            truth = read_truth(options.truth, ids=target.ids, texts=target.texts)
        else:
            if Path(options.truth).suffix and options.truth not in target.table.columns:
                words = f"there is no such file, and {target.table.name} has no such column"
                raise TableError(
                    f"--truth {options.truth}: {words};"
                    f" it has the columns {', '.join(target.table.columns[:20])}"
                )
            truth = target.column(
                check_column(target.table, options.truth, f"--truth {options.truth}")
            )
    texts, labels, ids, files = [], [], [], []
    for one in found:
        kept = [row for row, label in enumerate(one.labels) if label is not None]
        texts += [one.texts[row] for row in kept]
        labels += [one.labels[row] for row in kept]
        ids += [
            f"{Path(one.table.name).name}: {one.ids[row]}" if len(found) > 1 else one.ids[row]
            for row in kept
        ]
        files.append((one.table.name, len(kept)))
    _check_labels(labels, found)
    for words in find_alike(labels):
        say(f"warning: {words}")
    more = _read_unlabelled(options, progress)
    return Inputs(texts, labels, ids, files, target, rows, truth, more)


def is_truth_file(given: str, columns: list[str]) -> bool:
    """Return True if --truth names a file of true labels, and not a column of the target."""
    return given.strip().lower() not in {one.strip().lower() for one in columns} and os.path.isfile(
        given
    )


def _read_unlabelled(options: ClassifyOptions, progress: Progress | None) -> list[str]:
    """The texts of --unlabelled; labels and ids that they have are not looked at."""
    if options.unlabelled is None:
        return []
    texts = _read(options.unlabelled, options, need_label=False, progress=progress).texts
    if not any(text.strip() for text in texts):
        raise TableError(
            f"--unlabelled {options.unlabelled}: all of its {len(texts)} texts are empty;"
            " leave it out"
        )
    return texts


def _read(
    name: str, options: ClassifyOptions, *, need_label: bool, progress: Progress | None
) -> TableDocuments:
    """Read all documents of a file."""
    label = options.label if need_label else None
    with open_table(name, format=options.format, encoding=options.encoding) as table:
        columns = find_columns(
            table, text=options.text, label=label, id=options.id, need_label=need_label
        )
        return read_documents(table, columns, progress=progress)


def _say_gaps(source: TableDocuments, say: Say) -> None:
    gaps = source.labels.count(None)
    if gaps == len(source):
        raise TableError(
            f"{source.table.name}: the column {source.columns.label!r} is empty;"
            " a source needs labels"
        )
    if gaps:
        say(f"{source.table.name}: {gaps} rows without a label are left out")


def _check_labels(labels: list[Any], found: Sequence[TableDocuments]) -> None:
    """Raise an error that names the files if no classifier could learn from these labels."""
    where = ", ".join(f"{one.columns.label!r} of {one.table.name}" for one in found)
    if (
        len(set(labels)) == len(labels) >= MIN_DISTINCT_LABELS
    ):  # numbers too, which from Python may be classes
        raise TableError(
            f"every one of {len(labels)} documents has a label of its own in {where};"
            " another column: --label"
        )
    try:
        encode_labels(labels, name=where)
    except GramshiftError as error:
        raise TableError(f"{error}. Another column: --label") from None
    kinds = {type(label): label for label in reversed(labels)}
    if int in kinds and float in kinds:  # as one type, 1 would become 1.0, and large numbers others
        kept = f"({kinds[int]} and {kinds[float]})"
        words = f"mixes whole numbers and such with a point {kept}; write all of them alike"
        raise TableError(f"{where} {words}. Another column: --label")
