"""Labels in files: corrections made by hand, and the columns that are added to the target."""

import shlex
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gramshift.model.choosing import DOUBTFUL, RANDOM
from gramshift.model.inputs import MIN_RANDOM_LABELS
from gramshift.tables.columns import check_column, label_in, suggest
from gramshift.tables.opening import open_table
from gramshift.tables.table import Table, TableError, short
from gramshift.tables.writing import NewColumns

MIN_CLASS_SIZE = 10  # corrections of a new class: less is learnt from fewer
EMPTY = "not filled in"
NEW = "new label"  # the mark of a label that the source does not have, and that is meant
DRAWN = "drawn"  # the column that says how a document came to be labelled
CHOSEN = "chosen"  # in that column: by a person, for whatever reason


@dataclass(frozen=True)
class Corrections:
    """Labels and marks that a person has given to target documents."""

    labels: dict[str, Any] = field(default_factory=dict)
    """Labels by id, in the type that those of the source have."""
    skipped: dict[str, int] = field(default_factory=dict)
    """The number of documents with a mark, such as "unclear", in place of a label."""
    new: dict[Any, int] = field(default_factory=dict)
    """Labels that the source does not have, and how many documents each."""
    drawn: dict[str, str] = field(default_factory=dict)
    """The way in which documents were drawn, by id: random, doubtful or chosen."""

    @property
    def random(self) -> set[str]:
        """The ids of documents drawn at random, if there are enough and all of known classes."""
        found = self._drawn_at_random
        is_new = any(self.labels[one] in self.new for one in found)
        return set() if is_new or len(found) < MIN_RANDOM_LABELS else found

    @property
    def _drawn_at_random(self) -> set[str]:
        return {one for one, how in self.drawn.items() if how == RANDOM}

    def of(self, ids: list[str], only: Container[str] | None = None) -> list[Any]:
        """Return the label of each document by its id, or None; ``only`` some may have one."""
        return [self.labels.get(id) if only is None or id in only else None for id in ids]

    def in_words(
        self, name: str, use: str = "set the class proportions and measure the accuracy"
    ) -> list[str]:
        """Describe how the labels are used; ``use`` is what labels of random documents do."""
        lines = []
        if n := len(self._drawn_at_random):
            lines.append(f"{name}: {self._random_in_words(n, len(self.labels) - n, use)}")
        if self.skipped:
            marks = ", ".join(f"{count} {mark}" for mark, count in self.skipped.items())
            lines.append(f"{name}: documents without a label are left to the classifier ({marks})")
        for label, count in self.new.items():
            few = "; so few teach little of it" if count < MIN_CLASS_SIZE else ""
            lines.append(
                f"{name}: {str(label)!r} is a new class, with {count} document{_s(count)}{few}"
            )
        return lines

    def _random_in_words(self, n: int, n_others: int, use: str) -> str:
        """Describe the use of ``n`` labels of documents drawn at random."""
        if not self.random and n >= MIN_RANDOM_LABELS:
            new = "some of them of a new class"
            return f"{n} labels of documents drawn at random, {new}: used as corrections alone"
        if not self.random:
            drawn = f"only {n} label{_s(n)} of documents drawn at random"
            few = f"{drawn}, fewer than {MIN_RANDOM_LABELS}"
            return f"{few}: used as corrections, not as a measurement; label more of them"
        others = (
            f"; the other {n_others}"
            f" {'is a correction' if n_others == 1 else 'are corrections'} only"
            if n_others
            else ""
        )
        return f"{n} labels of documents drawn at random {use}{others}"


def read_corrections(
    name: str, *, ids: list[str], classes: list[Any], texts: Sequence[str] | None = None
) -> Corrections:
    """Read labels by id, in the type of the classes.

    The columns mark, note and drawn may be there. A row without a label is counted and left out. A
    label that is none of the classes becomes one if the mark says that it is meant. With ``texts``,
    a column text must have those of the ids.
    """
    by_name = _by_text(classes)
    labels: dict[str, Any] = {}
    skipped: Counter[str] = Counter()
    new: dict[str, Any] = {}
    drawn: dict[str, str] = {}
    for one, label, row, where in _read_by_id(name, "--corrections", ids, texts):
        mark, note = (str(row.get(column) or "").strip() for column in ("mark", "note"))
        how = _read_drawn(row, where)
        if label is None:
            skipped[short(mark) if mark else "with a note" if note else EMPTY] += 1
            continue
        if str(label) not in by_name and str(label) not in new:
            if mark.lower() != NEW:
                names = list(by_name)
                there = f"the source has {', '.join(names[:20])}{suggest(str(label), names)}"
                meant = f"If it is meant as a class of its own, write {NEW!r} into a column mark"
                raise TableError(f"{where}: no class is called {str(label)!r}; {there}. {meant}")
            new[str(label)] = _as_others(label, classes, where)
        meant_label = by_name.get(str(label), new.get(str(label)))
        if labels.setdefault(one, meant_label) != meant_label:
            raise TableError(
                f"{where}: the document {one!r} is corrected twice, to different labels"
            )
        if (
            how and drawn.get(one) != RANDOM
        ):  # what was drawn at random stays so if it was also drawn otherwise
            drawn[one] = how
    if not labels and skipped.keys() == {EMPTY}:
        raise TableError(
            f"{name}: none of its {skipped[EMPTY]} documents has a label yet;"
            " fill in the column label"
        )
    counts = Counter(labels.values())
    return Corrections(
        labels, dict(skipped), {label: counts[label] for label in new.values()}, drawn
    )


def _read_drawn(row: dict[str, Any], where: str) -> str:
    """Read how the document of a row was drawn; nothing if the row does not say so."""
    given = row.get(DRAWN)
    how, known = "" if given is None else str(given).strip().lower(), (RANDOM, DOUBTFUL, CHOSEN)
    if how and how not in known:
        words = (
            f"the column {DRAWN} has {short(str(given))!r}, and may be {', '.join(known)} or empty"
        )
        raise TableError(f"{where}: {words}{suggest(how, known)}")
    return how


def _read_by_id(
    name: str, option: str, ids: list[str], texts: Sequence[str] | None
) -> Iterator[tuple[str, Any, dict[str, Any], str]]:
    """Yield the id, the label or None, the row itself and its place for each row of a file.

    Raise an error if most texts are not those of their ids: other ids would put labels on other
    documents.
    """
    known, text_of = _by_text(ids), {} if texts is None else dict(zip(ids, texts, strict=True))
    n_same, others = 0, []
    with open_table(name) as table:
        id_column, label_column = (
            check_column(table, one, f"{option}: the column {one}") for one in ("id", "label")
        )
        for part in table.parts(4096):
            for row, place in zip(part.rows, part.places, strict=True):
                given, label = (
                    str(row.get(id_column, "")),
                    label_in(table, label_column, row, place),
                )
                if given not in known:
                    advice = (
                        "ids are those of the target, or row numbers if it has none;"
                        " draw samples with the same --id"
                    )
                    raise TableError(
                        f"{table.at(place)}: no target document has the id {given!r}; {advice}"
                    )
                one = known[given]
                if (
                    one in text_of
                    and (is_same := _is_same_text(row.get("text"), text_of[one])) is not None
                ):
                    n_same += is_same
                    others += [] if is_same else [one]
                yield one, label, row, table.at(place)
    if len(others) > n_same:
        such = f"such as that of the id {others[0]!r}"
        words = f"{len(others)} of its texts are not those of the target, {such}"
        raise TableError(
            f"{name}: {words}; its ids seem to be others:"
            " give the same --id and --text in both commands"
        )


def _as_others(label: Any, classes: list[Any], where: str) -> Any:
    """A new label in the type of the others; what cannot be of that type is an error."""
    kind, written = type(classes[0]), str(label)
    try:
        if kind is bool or (
            kind is not str and (str(kind(written)) != written or abs(kind(written)) >= 2**63)
        ):
            raise ValueError
        return kind(written)
    except ValueError:
        words = (
            f"the labels of the source are {kind.__name__}, such as {classes[0]},"
            " and a new one must be of that type"
        )
        raise TableError(f"{where}: {short(written)!r} cannot be a new label: {words}") from None


def read_truth(name: str, *, ids: list[str], texts: Sequence[str] | None = None) -> list[Any]:
    """Read true labels by id; return one for each document, None where there is none."""
    truth = {
        one: label
        for one, label, _, _ in _read_by_id(name, "--truth", ids, texts)
        if label is not None
    }
    if not truth:
        raise TableError(f"{name}: no document has a label yet; fill in the column label")
    return [truth.get(one) for one in ids]


def read_reviewed(name: str, *, ids: list[str], texts: Sequence[str] | None = None) -> set[str]:
    """Return the ids of documents that a person has labelled or marked already."""
    rows = _read_by_id(name, "--corrections", ids, texts)
    return {
        one
        for one, label, row, _ in rows
        if label is not None or str(row.get("mark") or "").strip()
    }


def _is_same_text(given: Any, known: str) -> bool | None:
    """Compare a text of a file of labels with that of its id, without blanks; None if empty.

    One of several columns of texts will do.
    """
    found = " ".join(str(given or "").split())
    if not found:
        return None
    whole = " ".join(known.encode("utf-8", "backslashreplace").decode().split())
    return found in whole or whole in found


def _by_text(values: list[Any]) -> dict[str, Any]:
    """Return values by their text; lone surrogates also as they are written, \\ud800."""
    as_is = {str(one): one for one in values}
    return {
        text.encode("utf-8", "backslashreplace").decode(): one for text, one in as_is.items()
    } | as_is


def describe_changes(
    corrections: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> dict[str, Any]:
    """Describe what corrections changed, by the labels of each id without and with them."""
    corrected = [one for one, label in corrections.items() if before[one] != label]
    others = [one for one in after if one not in corrections and before[one] != after[one]]
    changes = [
        {"id": one, "before": str(before[one]), "after": str(after[one])}
        for one in [*corrected, *others]
    ]
    n, n_corrected, more = len(corrections), len(corrected), len(others)
    sentence = (
        f"{n} correction{_s(n)}: {n_corrected} changed a label, {n - n_corrected} confirmed it."
    )
    sentence += f" {more} other label{_s(more)} changed as a result."
    return {
        "given": n,
        "changed": n_corrected,
        "others_changed": more,
        "sentence": sentence,
        "changes": changes,
    }


def _s(n: int) -> str:
    return "" if n == 1 else "s"


N_DIGITS = 6  # of probabilities
OURS = "predicted_"


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
    """The column of problems of a document, if these were looked for."""

    @property
    def types(self) -> dict[str, type]:
        last: dict[str, type] = {} if self.reference is None else {self.reference: self.kind}
        last |= {} if self.issue is None else {self.issue: str}
        return (
            {self.label: self.kind} | dict.fromkeys([self.confidence, *self.of_class], float) | last
        )

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
        floor = 0.0 if abstain_below is None else abstain_below
        unsure = [sure is not None and sure < floor for sure in confidence]
        added: NewColumns = {
            self.label: [
                None if doubt else label for label, doubt in zip(labels, unsure, strict=True)
            ],
            self.confidence: [
                None if sure is None else round(sure, N_DIGITS) for sure in confidence
            ],
        }
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
    last = [
        free(name) if wanted else None
        for name, wanted in ((f"{reference}_label", reference), ("issue", issue))
    ]
    return LabelColumns(label, confidence, of_class, type(classes[0]), *last)


def renamed_in_words(table: Table, columns: LabelColumns) -> str | None:
    """Describe which columns got another name; None if none did."""
    renamed = [name for name in columns.types if name.startswith(OURS)]
    if not renamed:
        return None
    theirs = ", ".join(repr(name.removeprefix(OURS)) for name in renamed)
    has, kept = (
        (f"a {theirs} column", "as is")
        if len(renamed) == 1
        else (f"the columns {theirs}", "as they are")
    )
    names = ", ".join(map(repr, renamed))
    return f"{table.name} already has {has}: kept {kept}. Predictions go to {names}."


def own_labels_in_words(table: Table, column: str) -> str:
    """Describe what can be done with the labels that a target has already."""
    score = f"To score against the labels of {table.name}: --truth {shlex.quote(column)}."
    return f"{score} To learn from them: add these rows to a source."
