"""Labels in files: corrections that were made by hand, and the columns that are added to the target."""

from dataclasses import dataclass
from typing import Any

from gramshift.commands.outputs import as_option
from gramshift.data.columns import check_column, label_in, suggest
from gramshift.data.readers import open_table
from gramshift.data.tables import Table, TableError
from gramshift.data.writing import Added


def read_corrections(name: str, *, ids: list[str], classes: list[Any]) -> dict[str, Any]:
    """Read labels by id; every id is one of the target's, every label one of the classes, in the type that these have."""
    known, by_name = set(ids), {str(label): label for label in classes}
    corrections: dict[str, Any] = {}
    with open_table(name, naming=as_option) as table:
        id_column, label_column = (check_column(table, name, f"--corrections: the column {name}") for name in ("id", "label"))
        for part in table.parts(4096):
            for row, place in zip(part.rows, part.places, strict=True):
                one, label = str(row.get(id_column, "")), label_in(table, label_column, row, place)
                if one not in known:
                    advice = "ids are those of the target, or row numbers if it has none"
                    raise TableError(f"{table.at(place)}: no target document has the id {one!r}; {advice}")
                if label is None:
                    raise TableError(f"{table.at(place)}: the document {one!r} has no label; take the line out")
                if str(label) not in by_name:
                    there = f"the source has {', '.join(list(by_name)[:20])}{suggest(str(label), list(by_name))}"
                    raise TableError(f"{table.at(place)}: no class is called {str(label)!r}; {there}")
                if corrections.setdefault(one, by_name[str(label)]) != by_name[str(label)]:
                    raise TableError(f"{table.at(place)}: the document {one!r} is corrected twice, to different labels")
    return corrections


def describe_changes(corrections: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Tell what corrections changed: ``before`` and ``after`` are the labels without and with them, by id."""
    put_right = [one for one, label in corrections.items() if before[one] != label]
    others = [one for one in after if one not in corrections and before[one] != after[one]]
    changes = [{"id": one, "before": str(before[one]), "after": str(after[one])} for one in [*put_right, *others]]
    n, right, more = len(corrections), len(put_right), len(others)
    sentence = f"{n} correction{_s(n)}, {right} of them unlike the label without it; {more} other label{_s(more)} changed"
    return {"given": n, "put_right": right, "others_changed": more, "sentence": sentence, "changes": changes}


def _s(n: int) -> str:
    return "" if n == 1 else "s"


DIGITS = 6
OURS = "predicted_"


@dataclass(frozen=True)
class LabelColumns:
    """The names of new columns, and the type of labels."""

    label: str
    confidence: str
    of_class: list[str]
    kind: type
    plain: str | None = None
    """What the label would be without adapting, where that is known."""

    @property
    def types(self) -> dict[str, type]:
        last = {} if self.plain is None else {self.plain: self.kind}
        return {self.label: self.kind} | dict.fromkeys([self.confidence, *self.of_class], float) | last

    def values(
        self,
        labels: list[Any],
        probabilities: list[list[float]],
        abstain_below: float | None = None,
        plain: list[Any] | None = None,
    ) -> Added:
        """Return one value per row; a row without probabilities keeps its label, one that is not sure enough gets none."""
        confidence = [max(row, default=None) for row in probabilities]
        floor = 0.0 if abstain_below is None else abstain_below
        unsure = [sure is not None and sure < floor for sure in confidence]
        added: Added = {
            self.label: [None if doubt else label for label, doubt in zip(labels, unsure, strict=True)],
            self.confidence: [None if sure is None else round(sure, DIGITS) for sure in confidence],
        }
        for number, name in enumerate(self.of_class):
            added[name] = [round(row[number], DIGITS) if row else None for row in probabilities]
        if self.plain is not None:
            added[self.plain] = [None] * len(labels) if plain is None else plain
        return added


def label_columns(table: Table, classes: list[Any], *, filled: str | None = None, plain: bool = False) -> LabelColumns:
    """Name the columns label, confidence and p_<class>; a name that the table has already gets "predicted_" in front.

    ``filled`` is the table's own column of labels, if its gaps are to be filled. With ``plain`` the last is plain_label.
    """
    own = set(table.style.kept or table.columns)

    def free(name: str) -> str:
        while name in own:
            name = OURS + name
        own.add(name)
        return name

    label, confidence = filled or free("label"), free("confidence")
    of_class = [free(f"p_{one}") for one in classes]
    return LabelColumns(label, confidence, of_class, type(classes[0]), free("plain_label") if plain else None)


def renamed_in_words(table: Table, columns: LabelColumns) -> str | None:
    """Tell what a user should know about the names, if anything."""
    renamed = [name for name in columns.types if name.startswith(OURS)]
    if not renamed:
        return None
    theirs = ", ".join(name.removeprefix(OURS) for name in renamed)
    return f"{table.name} has {theirs} of its own, which stays as it is; what is found goes into {', '.join(renamed)}"
