"""The columns that are added to a target: labels, confidence and probabilities."""

import shlex
from dataclasses import dataclass
from typing import Any

from gramshift.tables.table import Table, TableError
from gramshift.tables.writing import NewColumns, output_style

N_DIGITS = 6  # of probabilities
OURS = "predicted_"  # the prefix of a column whose name the target uses already


@dataclass(frozen=True)
class LabelColumns:
    """The names of new columns, and the type of labels."""

    label: str
    confidence: str
    of_class: list[str]
    kind: type
    reference: str | None = None
    """The column of the labels without adapting, if these are known."""
    issue: str | None = None
    """The column of problems of a document, if they were searched for."""

    @property
    def types(self) -> dict[str, type]:
        """The type of each column, by its name."""
        types: dict[str, type] = {self.label: self.kind}
        types |= dict.fromkeys([self.confidence, *self.of_class], float)
        if self.reference is not None:
            types[self.reference] = self.kind
        if self.issue is not None:
            types[self.issue] = str
        return types

    def values(
        self,
        labels: list[Any],
        probabilities: list[list[float]],
        abstain_below: float | None = None,
        reference: list[Any] | None = None,
        issues: list[str | None] | None = None,
    ) -> NewColumns:
        """Return the values of the columns, one per row.

        A row without probabilities keeps its label; one that is not sure enough gets none.
        """
        confidence = [max(row, default=None) for row in probabilities]
        least = abstain_below or 0.0
        given = [
            None if sure is not None and sure < least else label
            for label, sure in zip(labels, confidence, strict=True)
        ]
        rounded = [None if sure is None else round(sure, N_DIGITS) for sure in confidence]
        added: NewColumns = {self.label: given, self.confidence: rounded}
        for number, name in enumerate(self.of_class):
            added[name] = [round(row[number], N_DIGITS) if row else None for row in probabilities]
        if self.reference is not None:
            added[self.reference] = [None] * len(labels) if reference is None else reference
        if self.issue is not None:
            added[self.issue] = [None] * len(labels) if issues is None else list(issues)
        return added


def label_columns(
    table: Table,
    classes: list[Any],
    *,
    filled: str | None = None,
    reference: str | None = None,
    issue: bool = False,
) -> LabelColumns:
    """Name the columns label, confidence and p_<class>, after "predicted_" if a name is taken.

    ``filled`` is the table's own column of labels, if its gaps are to be filled. ``reference``,
    "unadapted" or "plain", adds unadapted_label or plain_label, and ``issue`` what is wrong with a
    document.
    """
    own = set(table.style.kept or table.columns)

    def free(name: str) -> str:
        while name in own:
            name = OURS + name
        own.add(name)
        return name

    label, confidence = filled or free("label"), free("confidence")
    of_class = [free(f"p_{one}") for one in classes]
    of_reference = free(f"{reference}_label") if reference else None
    of_issue = free("issue") if issue else None
    return LabelColumns(label, confidence, of_class, type(classes[0]), of_reference, of_issue)


def check_columns_fit(output: str, table: Table, columns: LabelColumns, classes: list[Any]) -> None:
    """Raise an error if an output cannot hold the labels."""
    style = output_style(output, table)
    try:
        "".join(map(str, classes)).encode(style.encoding)
    except UnicodeEncodeError as error:
        lacking = error.object[error.start]
        raise TableError(
            f"{output} would be {style.encoding}, which lacks {lacking!r} of a label"
        ) from None


def renamed_in_words(table: Table, columns: LabelColumns) -> str | None:
    """Describe which columns got another name; None if none did."""
    renamed = [name for name in columns.types if name.startswith(OURS)]
    if not renamed:
        return None
    theirs = ", ".join(repr(name.removeprefix(OURS)) for name in renamed)
    has = f"the columns {theirs}: kept as they are"
    if len(renamed) == 1:
        has = f"a {theirs} column: kept as is"
    names = ", ".join(map(repr, renamed))
    return f"{table.name} already has {has}. Predictions go to {names}."


def own_labels_in_words(table: Table, column: str) -> str:
    """Describe what can be done with the labels that a target has already."""
    score = f"To score against the labels of {table.name}: --truth {shlex.quote(column)}."
    return f"{score} To learn from them: add these rows to a source."
