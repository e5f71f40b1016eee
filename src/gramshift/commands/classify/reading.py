"""Source and target documents of a run, read and checked."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.commands.classify.hand_labels import (
    DRAWN,
    Corrections,
    read_corrections,
    read_truth,
)
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.encoders import Encode, read_vectors, vectors_of_texts
from gramshift.commands.outputs import STANDARD, check_distinct, check_outputs
from gramshift.errors import GramshiftError
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
from gramshift.tables.opening import format_of, open_table
from gramshift.tables.table import TableError
from gramshift.terminal import Say, count_in_words
from gramshift.terminal import say as to_stderr


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
    truth: list[Any] | None = None
    """The true label, or None, of each row of ``target``."""
    more_texts: list[str] = field(default_factory=list)
    """Texts of --unlabelled: learnt from, but not labelled."""
    encoder: Encode | None = None
    """Knows the vectors of all documents, if they are given by --vectors."""
    corrections: Corrections = field(default_factory=Corrections)
    """Labels of documents to be labelled, given by a person."""

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

    @property
    def classes(self) -> list[Any]:
        """The classes of the source and of corrections."""
        return sorted({*self.labels, *self.corrections.labels.values()})

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
    advice = "leave --target out if the rows to be labelled are those without a label"
    check_distinct(options.source, targets, advice)


def check_written(options: ClassifyOptions, targets: list[str], output: str | None) -> None:
    """Raise an error for files that cannot be written; ``output`` is None for a folder."""
    more = filter(None, (options.unlabelled, options.truth))  # truth may be a column
    names = [*options.source, *targets, *options.corrections, *more, *(options.vectors or ())]
    outputs = {"--output": output, "--report": options.report, "--save": options.save}
    check_outputs(outputs, names, force=options.force)
    if output not in (None, STANDARD):
        format_of(str(output), "another --output")


def read_inputs(
    options: ClassifyOptions,
    *,
    sample: TableDocuments | None = None,
    progress: Progress | None = None,
    say: Say = to_stderr,
) -> Inputs:
    """Read all documents of a run, or the source alone if there is a sample of the target."""
    found = [
        _read(name, options, need_label=True, need_id=not options.targets, progress=progress)
        for name in options.source
    ]
    if options.targets:
        name = options.targets[0]
        target = sample or _read(name, options, need_label=False, progress=progress)
        rows = list(range(len(target)))
        for one in found:
            _say_gaps(one, say)
    else:
        target = found[0]
        rows = [row for row, label in enumerate(target.labels) if label is None]
        if not rows:
            raise TableError(
                f"every row of {target.table.name} has a label;"
                " name the documents to be labelled with --target"
            )
    check_ids(target)
    inputs = _join_sources(found, target, rows)
    for words in find_alike(inputs.labels):
        say(f"Warning: {words}")
    truth = _read_truth(options, target)
    more_texts = _read_unlabelled(options, progress)
    corrections = _read_corrections(options, inputs, say)
    encoder = _read_vectors(options, found, target)
    return replace(
        inputs, truth=truth, more_texts=more_texts, corrections=corrections, encoder=encoder
    )


def _join_sources(found: list[TableDocuments], target: TableDocuments, rows: list[int]) -> Inputs:
    """Return the labelled documents of all sources, with the target."""
    texts, labels, ids, files = [], [], [], []
    for one in found:
        kept = [row for row, label in enumerate(one.labels) if label is not None]
        prefix = f"{Path(one.table.name).name}: " if len(found) > 1 else ""
        texts += [one.texts[row] for row in kept]
        labels += [one.labels[row] for row in kept]
        ids += [f"{prefix}{one.ids[row]}" for row in kept]
        files.append((one.table.name, len(kept)))
    _check_labels(labels, found)
    return Inputs(texts, labels, ids, files, target, rows)


def _read_vectors(
    options: ClassifyOptions, found: list[TableDocuments], target: TableDocuments
) -> Encode | None:
    """Return the vectors of all rows of the source files and of the target, as an encoder."""
    if options.vectors is None:
        return None
    source_texts = [text for one in found for text in one.texts]
    source = read_vectors(options.vectors[0], len(source_texts), options.memory)
    others = read_vectors(options.vectors[1], len(target.texts), options.memory)
    if source.shape[1] != others.shape[1]:
        raise TableError(
            f"--vectors: the vectors of the source have {source.shape[1]} numbers, those of the"
            f" target {others.shape[1]}; give those of one encoder"
        )
    return vectors_of_texts(source_texts + target.texts, np.vstack([source, others]))


def _read_truth(options: ClassifyOptions, target: TableDocuments) -> list[Any] | None:
    """Return the true label, or None, of each row of the target; None if there are none.

    --truth names a column of the target, or else a file.
    """
    given, table = options.truth, target.table
    if not given:
        return None
    is_column = given.strip().lower() in {one.strip().lower() for one in table.columns}
    if not is_column and os.path.isfile(given):
        return read_truth(given, ids=target.ids, texts=target.texts)
    if Path(given).suffix and given not in table.columns:
        raise TableError(
            f"--truth {given}: there is no such file, and {table.name} has no such column;"
            f" it has the columns {', '.join(table.columns[:20])}"
        )
    return target.column(check_column(table, given, f"--truth {given}"))


def _read_corrections(options: ClassifyOptions, inputs: Inputs, say: Say) -> Corrections:
    """Read labels that a person has given to target documents, and say how they are used."""
    if not options.corrections:
        return Corrections()
    name = ", ".join(options.corrections)
    classes, ids = sorted(set(inputs.labels)), inputs.target_ids
    found = read_corrections(
        options.corrections, ids=ids, classes=classes, texts=inputs.target_texts
    )
    if len(found.labels) == len(ids):
        raise TableError(
            f"{name} has a label for every target document; there is nothing left to find"
        )
    if found.new and options.gives_class_prior:
        named = ", ".join(map(repr, map(str, found.new)))
        raise TableError(
            f"--class-prior is for the classes of the source, and {name} adds {named};"
            " leave --class-prior out"
        )
    for words in found.in_words(name, options.use_of_random_labels):
        say(words)
    return found


def _read_unlabelled(options: ClassifyOptions, progress: Progress | None) -> list[str]:
    """Return the texts of --unlabelled; their labels and ids do not matter."""
    if options.unlabelled is None:
        return []
    texts = _read(
        options.unlabelled, options, need_label=False, need_id=False, progress=progress
    ).texts
    if not any(text.strip() for text in texts):
        raise TableError(
            f"--unlabelled {options.unlabelled}: no text in {count_in_words(len(texts), 'row')};"
            " leave it out"
        )
    return texts


def _read(
    name: str,
    options: ClassifyOptions,
    *,
    need_label: bool,
    need_id: bool = True,
    progress: Progress | None,
) -> TableDocuments:
    """Read all documents of a file."""
    label = options.label if need_label else None
    with open_table(name, format=options.format, encoding=options.encoding) as table:
        if need_label and options.corrections and DRAWN in table.columns:
            raise TableError(
                f"{table.name} is a source here, and has the column {DRAWN} of a sample: as"
                f" corrections, type --corrections {table.name}; as a source, rename this column"
            )
        columns = find_columns(
            table,
            text=options.text,
            label=label,
            id=options.id,
            need_label=need_label,
            need_id=need_id,
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
        are = "is" if gaps == 1 else "are"
        say(f"{source.table.name}: {count_in_words(gaps, 'row')} without a label {are} left out")


def _check_labels(labels: list[Any], found: Sequence[TableDocuments]) -> None:
    """Raise an error that names the files if no classifier could learn from these labels."""
    where = ", ".join(f"{one.columns.label!r} of {one.table.name}" for one in found)
    if len(set(labels)) == len(labels) >= MIN_DISTINCT_LABELS:
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
        raise TableError(
            f"{where} mixes whole numbers and decimals {kept};"
            " write all of them alike. Another column: --label"
        )
