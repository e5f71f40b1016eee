"""Labels that a person has written into files: corrections, and true labels to score with."""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gramshift.errors import short, suggest
from gramshift.model.documents_to_label import DOUBTFUL, RANDOM
from gramshift.model.inputs import MIN_RANDOM_LABELS
from gramshift.tables.columns import check_column, label_in
from gramshift.tables.opening import open_table
from gramshift.tables.table import TableError
from gramshift.terminal import count_in_words

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
            documents = count_in_words(count, "document")
            lines.append(f"{name}: {str(label)!r} is a new class, with {documents}{few}")
        return lines

    def _random_in_words(self, n: int, n_others: int, use: str) -> str:
        """Describe the use of ``n`` labels of documents drawn at random."""
        if not self.random and n >= MIN_RANDOM_LABELS:
            new = "some of them of a new class"
            return f"{n} labels of documents drawn at random, {new}: used as corrections alone"
        if not self.random:
            drawn = f"only {count_in_words(n, 'label')} of documents drawn at random"
            few = f"{drawn}, fewer than {MIN_RANDOM_LABELS}"
            return f"{few}: used as corrections, not as a measurement; label more of them"
        words = f"{n} labels of documents drawn at random {use}"
        if not n_others:
            return words
        are = "is a correction" if n_others == 1 else "are corrections"
        return f"{words}; the other {n_others} {are} only"


def read_corrections(
    names: Sequence[str], *, ids: list[str], classes: list[Any], texts: Sequence[str] | None = None
) -> Corrections:
    """Read labels by id from files, one after the other, in the type of the classes.

    The columns mark, note and drawn may be there. A row without a label is counted and left out. A
    label that is none of the classes becomes one if the mark says that it is meant. With ``texts``,
    a column text must have those of the ids.
    """
    by_name = _by_text(classes)
    labels: dict[str, Any] = {}
    skipped: Counter[str] = Counter()
    new: dict[str, Any] = {}
    drawn: dict[str, str] = {}
    for name in names:
        gaps: Counter[str] = Counter()
        n_labels = 0
        for one, label, row, where in _read_by_id(name, "--corrections", ids, texts):
            mark, note = (str(row.get(column) or "").strip() for column in ("mark", "note"))
            how = _read_drawn(row, where)
            if label is None:
                gaps[short(mark) if mark else "with a note" if note else EMPTY] += 1
                continue
            n_labels += 1
            if str(label) not in by_name and str(label) not in new:
                _check_meant(label, list(by_name), mark, where)
                new[str(label)] = _as_others(label, classes, where)
            meant = by_name.get(str(label), new.get(str(label)))
            earlier = labels.setdefault(one, meant)
            if earlier != meant:
                found = f"to {short(str(earlier))!r} and to {short(str(meant))!r}"
                raise TableError(
                    f"{where}: the document {one!r} is corrected twice, {found};"
                    " keep one of the two rows"
                )
            if how and drawn.get(one) != RANDOM:  # a random draw stays one if drawn again otherwise
                drawn[one] = how
        if not n_labels and gaps.keys() == {EMPTY}:
            raise TableError(
                f"{name}: none of its {count_in_words(gaps[EMPTY], 'document')} has a label yet;"
                " fill in the column label"
            )
        skipped += gaps
    counts = Counter(labels.values())
    n_new = {label: counts[label] for label in new.values()}
    return Corrections(labels, dict(skipped), n_new, drawn)


def _check_meant(label: Any, names: list[str], mark: str, where: str) -> None:
    """Raise an error for a label that no class has, unless the mark says that it is meant."""
    if mark.lower() == NEW:
        return
    shown = ", ".join(map(short, names[:20]))
    there = f"{short(str(label))!r}; the source has {shown}{suggest(str(label), names)}"
    meant = f"If it is meant as a class of its own, write {NEW!r} into a column mark"
    end = "" if there.endswith("?") else "."
    raise TableError(f"{where}: no class is called {there}{end} {meant}")


def _read_drawn(row: dict[str, Any], where: str) -> str:
    """Read how the document of a row was drawn; nothing if the row does not say so."""
    given, known = row.get(DRAWN), (RANDOM, DOUBTFUL, CHOSEN)
    how = "" if given is None else str(given).strip().lower()
    if how and how not in known:
        has = f"the column {DRAWN} has {short(str(given))!r}"
        allowed = f"and may be {', '.join(known)} or empty"
        raise TableError(f"{where}: {has}, {allowed}{suggest(how, known)}")
    return how


def _read_by_id(
    name: str, option: str, ids: list[str], texts: Sequence[str] | None
) -> Iterator[tuple[str, Any, dict[str, Any], str]]:
    """Yield the id, the label or None, the row itself and its place for each row of a file.

    Raise an error if most texts are not those of their ids: other ids would put labels on other
    documents.
    """
    known = _by_text(ids)
    text_of = {} if texts is None else dict(zip(ids, texts, strict=True))
    n_same = 0
    others = []  # ids of other texts
    with open_table(name) as table:
        id_column = check_column(table, "id", f"{option}: the column id")
        label_column = check_column(table, "label", f"{option}: the column label")
        for part in table.parts(4096):
            for row, place in zip(part.rows, part.places, strict=True):
                given = str(row.get(id_column, ""))
                if given not in known:
                    raise TableError(
                        f"{table.at(place)}: no target document has the id {short(given)!r};"
                        " ids are those of the target, or row numbers if it has none;"
                        " draw samples with the same --id"
                    )
                one, label = known[given], label_in(table, label_column, row, place)
                is_same = _is_same_text(row.get("text"), text_of[one]) if one in text_of else None
                if is_same:
                    n_same += 1
                elif is_same is not None:
                    others.append(one)
                yield one, label, row, table.at(place)
    if len(others) > n_same:
        such = f"such as that of the id {others[0]!r}"
        words = f"{len(others)} of its texts are not those of the target, {such}"
        raise TableError(
            f"{name}: {words}; its ids seem to be others:"
            " give the same --id and --text in both commands"
        )


def _as_others(label: Any, classes: list[Any], where: str) -> Any:
    """Return a new label in the type of the others; raise an error if it is of another type."""
    kind, written = type(classes[0]), str(label)
    if kind is str:
        return written
    try:
        value = kind(written)
        if kind is not bool and str(value) == written and abs(value) < 2**63:
            return value
    except ValueError:
        pass
    words = f"the labels of the source are {kind.__name__}, such as {classes[0]}"
    raise TableError(
        f"{where}: {short(written)!r} cannot be a new label: {words},"
        " and a new one must be of that type"
    )


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
    """Return True if a text is that of its id, or one of its columns; None if there is none."""
    found = " ".join(str(given or "").split())
    if not found:
        return None
    whole = " ".join(_escape(known).split())
    return found in whole or whole in found


def _by_text(values: list[Any]) -> dict[str, Any]:
    """Return values by their text, with lone surrogates as they are, and escaped."""
    as_is = {str(one): one for one in values}
    return {_escape(text): one for text, one in as_is.items()} | as_is


def _escape(text: str) -> str:
    """Return a text with lone surrogates as they are written."""
    return text.encode("utf-8", "backslashreplace").decode()


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
    n, n_changed, n_others = len(corrections), len(corrected), len(others)
    given = f"{count_in_words(n, 'correction')}: {n_changed} changed a label"
    others_changed = f"{count_in_words(n_others, 'other label')} changed as a result"
    sentence = f"{given}, {n - n_changed} confirmed it. {others_changed}."
    return {
        "given": n,
        "changed": n_changed,
        "others_changed": n_others,
        "sentence": sentence,
        "changes": changes,
    }
