"""The columns that labels are written to."""

from dataclasses import dataclass
from typing import Any

from gramshift.data.tables import Table
from gramshift.data.writing import Added

DIGITS = 6
OURS = "predicted_"


@dataclass(frozen=True)
class LabelColumns:
    """Names of new columns, and the type of labels."""

    label: str
    confidence: str
    of_class: list[str]
    kind: type

    @property
    def types(self) -> dict[str, type]:
        return {self.label: self.kind} | dict.fromkeys([self.confidence, *self.of_class], float)

    def values(self, labels: list[Any], probabilities: list[list[float]], abstain_below: float | None = None) -> Added:
        """One value per row; a row without probabilities keeps the label it has, one that is not sure enough gets none."""
        confidence = [max(row, default=None) for row in probabilities]
        floor = 0.0 if abstain_below is None else abstain_below
        unsure = [sure is not None and sure < floor for sure in confidence]
        added: Added = {
            self.label: [None if doubt else label for label, doubt in zip(labels, unsure, strict=True)],
            self.confidence: [None if sure is None else round(sure, DIGITS) for sure in confidence],
        }
        for number, name in enumerate(self.of_class):
            added[name] = [round(row[number], DIGITS) if row else None for row in probabilities]
        return added


def label_columns(table: Table, classes: list[Any], *, filled: str | None = None) -> LabelColumns:
    """label, confidence and p_<class>; a name that the table has already gets "predicted_" in front.

    ``filled`` is the table's own column of labels, if its gaps are to be filled.
    """
    own = set(table.style.kept or table.columns)

    def free(name: str) -> str:
        while name in own:
            name = OURS + name
        own.add(name)
        return name

    label, confidence = filled or free("label"), free("confidence")
    return LabelColumns(label, confidence, [free(f"p_{one}") for one in classes], type(classes[0]))


def renamed_in_words(table: Table, columns: LabelColumns) -> str | None:
    """What a user should know about the names, if anything."""
    renamed = [name for name in columns.types if name.startswith(OURS)]
    if not renamed:
        return None
    theirs = ", ".join(name.removeprefix(OURS) for name in renamed)
    return f"{table.name} has {theirs} of its own, which stays as it is; what is found goes into {', '.join(renamed)}"
