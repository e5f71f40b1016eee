"""Source and target documents of a run, read and checked."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramshift.datasets.columns import check_column, find_columns
from gramshift.datasets.documents import Documents, Progress, check_ids, read_documents
from gramshift.datasets.formats import open_table
from gramshift.datasets.opening import TableError
from gramshift.tasks.options import ClassifyOptions
from gramshift.tasks.outputs import same_file

Say = Callable[[str], None]
SUSPICIOUS = 20  # so many documents, each with a label of its own, are a mistake


@dataclass(frozen=True)
class Inputs:
    """Labelled documents, and those to be labelled: ``rows`` of ``target``."""

    texts: list[str]
    labels: list[Any]
    ids: list[str]
    files: list[tuple[str, int]]
    """Names of the source files, and how many documents each."""
    target: Documents
    rows: list[int]
    truth: list[Any] | None

    @property
    def target_texts(self) -> list[str]:
        return [self.target.texts[row] for row in self.rows]

    @property
    def target_ids(self) -> list[str]:
        return [self.target.ids[row] for row in self.rows]

    @property
    def fills_gaps(self) -> bool:
        """Whether source and target are one file."""
        return len(self.rows) < len(self.target)


def check_names(options: ClassifyOptions) -> None:
    """Of the inputs: no file twice, standard input once at most."""
    names = [*options.source, *([options.target] if options.target is not None else [])]
    for place, name in enumerate(names):
        if any(same_file(name, other) for other in names[:place]):
            if place == len(options.source):
                advice = "leave --target out if the rows to be labelled are those without a label"
                raise ValueError(f"--target {name} is also a --source; {advice}")
            raise ValueError(f"--source names {name} twice")


def read_inputs(options: ClassifyOptions, *, progress: Progress | None = None, say: Say = print) -> Inputs:
    """All documents of a run; what is odd but no mistake is said."""
    found = [_read(name, options, need_label=True, progress=progress) for name in options.source]
    if options.target is None:
        target = found[0]
        check_ids(target)
        rows = [row for row, label in enumerate(target.labels) if label is None]
        if not rows:
            raise TableError(f"every row of {target.table.name} has a label; name the documents to be labelled with --target")
    else:
        target = _read(options.target, options, need_label=False, progress=progress)
        check_ids(target)
        rows = list(range(len(target)))
        for one in found:
            _say_gaps(one, say)
    truth = target.column(check_column(target.table, options.truth, "--truth")) if options.truth else None
    texts, labels, ids, files = [], [], [], []
    for one in found:
        kept = [row for row, label in enumerate(one.labels) if label is not None]
        texts += [one.texts[row] for row in kept]
        labels += [one.labels[row] for row in kept]
        ids += [f"{Path(one.table.name).name}: {one.ids[row]}" if len(found) > 1 else one.ids[row] for row in kept]
        files.append((one.table.name, len(kept)))
    _check_labels(labels, found)
    return Inputs(texts, labels, ids, files, target, rows, truth)


def _read(name: str, options: ClassifyOptions, *, need_label: bool, progress: Progress | None) -> Documents:
    with open_table(name, format=options.format, encoding=options.encoding) as table:
        label = options.label if need_label else None
        columns = find_columns(table, text=options.text, label=label, id=options.id, need_label=need_label)
        return read_documents(table, columns, progress=progress)


def _say_gaps(source: Documents, say: Say) -> None:
    gaps = source.labels.count(None)
    if gaps == len(source):
        raise TableError(f"{source.table.name}: the column {source.columns.label!r} is empty; a source needs labels")
    if gaps:
        say(f"{source.table.name}: {gaps} rows without a label are left out")


def _check_labels(labels: list[Any], found: list[Documents]) -> None:
    where = ", ".join(f"{one.columns.label!r} of {one.table.name}" for one in found)
    kinds = sorted({type(label).__name__ for label in labels})
    if len(kinds) > 1 and set(kinds) != {"int", "float"}:
        examples = ", ".join(repr(next(label for label in labels if type(label).__name__ == kind)) for kind in kinds)
        raise TableError(f"labels of different types ({examples}) in {where}; make them all strings, or all numbers")
    fraction = next((label for label in labels if isinstance(label, float) and label % 1), None)
    if fraction is not None:
        raise TableError(f"the label {fraction} in {where} is a number with a fraction; if it is a class, make it a string")
    if not labels:
        raise TableError(f"no row has a label in {where}")
    values = set(labels)
    if len(values) == 1:
        raise TableError(f"all labels are {labels[0]!r} in {where}; learning needs two at least. Another column: --label")
    if len(values) == len(labels) >= SUSPICIOUS:
        raise TableError(f"every one of {len(labels)} documents has a label of its own in {where}; another column: --label")
