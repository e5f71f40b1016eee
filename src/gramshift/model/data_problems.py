"""Problems in the data of a fit: labels to doubt, copies, empty texts, documents unlike the source."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.learn.doubts import doubt_labels
from gramshift.learn.labelling import Labelling
from gramshift.ngrams.copies import find_copies
from gramshift.text.novelty import LEAST_KNOWN, find_unlike

Floats = NDArray[np.float64]
DOUBTFUL, CONFLICT, SPELLING = "doubtful label", "copies with different labels", "label spelling"
COPY, NEAR_COPY, EMPTY, UNLIKE = "copy", "near copy", "empty text", "unlike the source"
KINDS = {  # in the order in which they are told, with what each means
    DOUBTFUL: "source labels that the other documents contradict, most doubtful first",
    CONFLICT: "source documents with the same text and different labels",
    SPELLING: "labels that differ only by case or blanks, and are different classes",
    COPY: "documents that an earlier one is a copy of, whatever their case and blanks",
    NEAR_COPY: "documents that share four fifths of their runs of five characters with an earlier one",
    EMPTY: "documents without any text",
    UNLIKE: "target documents that stand out by words that the source has not, or seldom: perhaps of a class that it lacks",
}


@dataclass(frozen=True)
class Issue:
    """One problem of one document."""

    issue: str
    """What it is, as the table of docs/problems.md has it."""
    role: str
    """Of the document: "source" or "target"."""
    number: int
    """The place of a source document in X, of a target document in ``transduction_``."""
    about: str
    """The problem in words."""
    value: float
    """Of a doubtful label its probability, of copies their similarity, of others 0."""
    label: Any
    """The label of a source document, None of others."""
    suggested: Any
    """The label that the other documents speak for, if this one is to be doubted."""
    text: str
    row: int
    """The number of the document among all of the fit."""
    name: str
    """What the user knows the document by."""


class Issues(Sequence[Issue]):
    """The problems in the data of a fit, worst kinds first; ``to_frame`` makes a table of them."""

    def __init__(self, issues: Sequence[Issue], label_quality: Floats | None = None) -> None:
        self._issues = tuple(issues)
        self.label_quality = label_quality
        """For each source document the probability of its label by classifiers that did not learn from it."""
        if label_quality is not None:
            label_quality.flags.writeable = False

    @overload
    def __getitem__(self, place: int) -> Issue: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Issue]: ...
    def __getitem__(self, place: int | slice) -> Issue | Sequence[Issue]:
        return self._issues[place]

    def __len__(self) -> int:
        return len(self._issues)

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind that there is."""
        counts = Counter(one.issue for one in self)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def by_row(self) -> dict[int, str]:
        """The problems of each document that has any, in words."""
        found: dict[int, list[str]] = {}
        for one in self:
            found.setdefault(one.row, []).append(one.about)
        return {row: "; ".join(words) for row, words in found.items()}

    def to_frame(self) -> Any:
        """A pandas data frame with a row per problem."""
        try:
            import pandas as pd
        except ImportError:
            raise InputError("to_frame needs pandas: pip install pandas; or go through the issues one by one") from None
        names = [field.name for field in fields(Issue) if field.name not in ("row", "name")]
        return pd.DataFrame([[getattr(one, name) for name in names] for one in self], columns=names)

    def __repr__(self) -> str:
        told = ", ".join(f"{kind}: {count}" for kind, count in self.counts.items())
        return f"<Issues: {told or 'none'}>"


@dataclass(frozen=True)
class Examined:
    """The documents that are looked at, and what a fit knows of them; a target document has no label here."""

    texts: Sequence[str]
    labelling: Labelling
    classes: list[Any]
    places: Sequence[int]
    """The place of each document in X or among the target documents."""
    names: Callable[[int], str]
    held_out: Floats | None = None
    """Scores of source documents by classifiers that did not learn from them, if there are such."""


def find_issues(given: Examined) -> Issues:
    """Look for all kinds of problems; time and memory grow in line with the texts."""
    quality, found = None, []
    if given.held_out is not None:
        doubts = doubt_labels(given.held_out, given.labelling.source_codes)
        quality = doubts.quality
        for place in np.flatnonzero(doubts.is_doubtful)[np.argsort(quality[doubts.is_doubtful], kind="stable")].tolist():
            suggested = given.classes[doubts.likeliest[place]]
            row, sure = int(given.labelling.source[place]), float(quality[place])
            words = f"label doubtful: probability {sure:.0%}, suggested: {suggested}"
            found.append(_tell(given, row, DOUBTFUL, words, sure, suggested))
    found += _find_spellings(given)
    found += _find_copies(given)
    found += [_tell(given, row, EMPTY, "empty text") for row, text in enumerate(given.texts) if not text.strip()]
    found += _find_unlike(given)
    order = {kind: place for place, kind in enumerate(KINDS)}
    return Issues(sorted(found, key=lambda one: order[one.issue]), quality)


def _tell(given: Examined, row: int, kind: str, words: str, value: float = 0.0, suggested: Any = None) -> Issue:
    is_source, code = bool(given.labelling.is_source[row]), int(given.labelling.known[row])
    label, role = (given.classes[code], "source") if is_source else (None, "target")
    return Issue(kind, role, given.places[row], words, value, label, suggested, given.texts[row], row, given.names(row))


def _find_spellings(given: Examined) -> Iterator[Issue]:
    """Documents whose label is a rarer spelling of another."""
    codes = given.labelling.source_codes
    counts = np.bincount(codes, minlength=len(given.classes))
    commonest: dict[str, int] = {}
    for code in np.argsort(-counts, kind="stable").tolist():
        if isinstance(given.classes[code], str):
            usual = commonest.setdefault(" ".join(given.classes[code].split()).casefold(), code)
            if usual != code:
                words = f"label {given.classes[code]!r} beside {given.classes[usual]!r}, which differs only by case or blanks"
                for row in given.labelling.source[codes == code].tolist():
                    yield _tell(given, row, SPELLING, words, suggested=given.classes[usual])


def _find_copies(given: Examined) -> Iterator[Issue]:
    """Documents that are like an earlier one; source documents come first, so that a copy in the target is told there."""
    labelling = given.labelling
    order = np.concatenate([labelling.source, labelling.target]).tolist()
    for one in find_copies([given.texts[row] for row in order]):
        row, earlier = order[one.number], order[one.earlier]
        both = [int(labelling.known[each]) for each in (row, earlier)]
        told = f"copy of {given.names(earlier)}"
        if labelling.is_source[row] and both[0] != both[1]:
            words = f"{'' if one.is_exact else 'near '}{told}, which is labelled {given.classes[both[1]]}"
            yield _tell(given, row, CONFLICT, words, one.similarity)
        elif one.is_exact:
            yield _tell(given, row, COPY, told, 1.0)
        else:
            yield _tell(given, row, NEAR_COPY, f"near {told} ({one.similarity:.0%} alike)", one.similarity)


def _find_unlike(given: Examined) -> Iterator[Issue]:
    source, target = ([given.texts[row] for row in rows] for rows in (given.labelling.source, given.labelling.target))
    for one in find_unlike(source, target):
        words = f"its words are {one.rarer:.1f} times as rare there as those of the usual target document"
        if one.known < LEAST_KNOWN:
            words = f"{1 - one.known:.0%} of its words are in no source document"
        yield _tell(given, int(given.labelling.target[one.number]), UNLIKE, f"unlike the source: {words}")
