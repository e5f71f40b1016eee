"""Labels that a person has put right."""

from typing import Any

from gramshift.data.columns import check_column, suggest
from gramshift.data.documents import label_in
from gramshift.data.formats import open_table
from gramshift.data.opening import TableError


def read_corrections(name: str, *, ids: list[str], classes: list[Any]) -> dict[str, Any]:
    """Label by id; every id is one of the target's, every label one of the classes, in the type that these have."""
    known, by_name = set(ids), {str(label): label for label in classes}
    corrections: dict[str, Any] = {}
    with open_table(name) as table:
        id_column, label_column = (check_column(table, column, "--corrections: the column") for column in ("id", "label"))
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
    """What corrections changed: ``before`` and ``after`` are the labels without and with them, by id."""
    put_right = [one for one, label in corrections.items() if before[one] != label]
    others = [one for one in after if one not in corrections and before[one] != after[one]]
    changes = [{"id": one, "before": str(before[one]), "after": str(after[one])} for one in [*put_right, *others]]
    n, right, more = len(corrections), len(put_right), len(others)
    sentence = f"{n} correction{_s(n)}, {right} of them unlike the label without it; {more} other label{_s(more)} changed"
    return {"given": n, "put_right": right, "others_changed": more, "sentence": sentence, "changes": changes}


def _s(n: int) -> str:
    return "" if n == 1 else "s"
