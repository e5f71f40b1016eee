"""Problems in the data of a fit: doubtful labels, copies, empty texts, unusual documents."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.learn.calibrate import Logits, fit_offsets
from gramshift.learn.training_set import Codes, Rows, TrainingSet
from gramshift.ngrams.copies import find_copies
from gramshift.text.words import split_words

Floats = NDArray[np.float64]
DOUBTFUL, CONFLICT, SPELLING = "doubtful label", "copies with different labels", "label spelling"
COPY, NEAR_COPY, EMPTY, UNLIKE = "copy", "near copy", "empty text", "unlike the source"
KINDS = {  # in the order in which they are listed, with their meanings
    DOUBTFUL: "source labels that the other documents contradict, most doubtful first",
    CONFLICT: "source documents with the same text and different labels",
    SPELLING: "labels that differ only by case or blanks, and are different classes",
    COPY: "documents that an earlier one is a copy of, whatever their case and blanks",
    NEAR_COPY: "documents that share four fifths of their runs of five characters"
    " with an earlier one",
    EMPTY: "documents without any text",
    UNLIKE: "target documents that stand out by words that the source has not, or seldom:"
    " perhaps of a class that it lacks",
}
MIN_CERTAIN = (
    0.8  # a class as likely as this is likely enough, however clear its documents are on average
)
MIN_KNOWN = 0.2  # of a document's words, that source documents have too
MIN_WORDS = 6  # different words of a document, for a comparison
MIN_DOCUMENTS = 100  # documents of each domain, for reliable frequencies
MAX_DEVIATIONS = 3.5  # standard deviations from the usual target document
MAX_RARITY = 1.5  # times as rare as the words of the usual target document
PSEUDO_WORDS = 0.25  # fraction of a usual document added to each: short ones are steadier
MAD_TO_DEVIATION = 1.4826  # standard deviation of a normal distribution by its median deviation


@dataclass(frozen=True)
class Issue:
    """One problem of one document."""

    issue: str
    """The kind, one of KINDS."""
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
    """The name by which the user knows the document."""


class Issues(Sequence[Issue]):
    """The problems in the data of a fit, worst kinds first; ``to_frame`` makes a table of them."""

    def __init__(self, issues: Sequence[Issue], label_quality: Floats | None = None) -> None:
        self._issues = tuple(issues)
        self.label_quality = label_quality
        """The probability of each source label by classifiers that did not learn from it."""
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
        """The number of issues of each kind that occurs."""
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
            raise InputError(
                "to_frame needs pandas: pip install pandas; or go through the issues one by one"
            ) from None
        names = [field.name for field in fields(Issue) if field.name not in ("row", "name")]
        return pd.DataFrame([[getattr(one, name) for name in names] for one in self], columns=names)

    def __repr__(self) -> str:
        counts = ", ".join(f"{kind}: {count}" for kind, count in self.counts.items())
        return f"<Issues: {counts or 'none'}>"


def without_corrected(issues: Issues, corrected: Sequence[int], source: Rows) -> Issues:
    """Return the issues of a fit without doubts of the labels of corrected documents.

    These are target documents, though the fit has learnt from them as from ``source`` documents.
    """
    if not corrected:
        return issues
    of_target = set(corrected)
    kept = [
        replace(one, role="target") if one.row in of_target else one
        for one in issues
        if one.issue != DOUBTFUL or one.row not in of_target
    ]
    quality = issues.label_quality
    return Issues(kept, None if quality is None else quality[~np.isin(source, corrected)])


@dataclass(frozen=True)
class Examined:
    """The documents of a fit and their labels; a target document has none here."""

    texts: Sequence[str]
    training_set: TrainingSet
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
        doubts = doubt_labels(given.held_out, given.training_set.source_codes)
        quality = doubts.quality
        for place in np.flatnonzero(doubts.is_doubtful)[
            np.argsort(quality[doubts.is_doubtful], kind="stable")
        ].tolist():
            suggested = given.classes[doubts.likeliest[place]]
            row, sure = int(given.training_set.source[place]), float(quality[place])
            words = f"label doubtful: probability {sure:.0%}, suggested: {suggested}"
            found.append(_tell(given, row, DOUBTFUL, words, sure, suggested))
    found += _find_spellings(given)
    found += _find_copies(given)
    found += [
        _tell(given, row, EMPTY, "empty text")
        for row, text in enumerate(given.texts)
        if not text.strip()
    ]
    found += _find_unlike(given)
    order = {kind: place for place, kind in enumerate(KINDS)}
    return Issues(sorted(found, key=lambda one: order[one.issue]), quality)


def _tell(
    given: Examined, row: int, kind: str, words: str, value: float = 0.0, suggested: Any = None
) -> Issue:
    is_source, code = bool(given.training_set.is_source[row]), int(given.training_set.known[row])
    label, role = (given.classes[code], "source") if is_source else (None, "target")
    return Issue(
        kind,
        role,
        given.places[row],
        words,
        value,
        label,
        suggested,
        given.texts[row],
        row,
        given.names(row),
    )


def _find_spellings(given: Examined) -> Iterator[Issue]:
    """Documents whose label is a rarer spelling of another."""
    codes = given.training_set.source_codes
    counts = np.bincount(codes, minlength=len(given.classes))
    commonest: dict[str, int] = {}
    for code in np.argsort(-counts, kind="stable").tolist():
        if isinstance(given.classes[code], str):
            usual = commonest.setdefault(" ".join(given.classes[code].split()).casefold(), code)
            if usual != code:
                label, other = given.classes[code], given.classes[usual]
                words = f"label {label!r} beside {other!r}, which differs only by case or blanks"
                for row in given.training_set.source[codes == code].tolist():
                    yield _tell(given, row, SPELLING, words, suggested=given.classes[usual])


def _find_copies(given: Examined) -> Iterator[Issue]:
    """Yield documents that are like an earlier one; source documents come before the target."""
    training_set = given.training_set
    order = np.concatenate([training_set.source, training_set.target]).tolist()
    for one in find_copies([given.texts[row] for row in order]):
        row, earlier = order[one.number], order[one.earlier]
        both = [int(training_set.known[each]) for each in (row, earlier)]
        copy = f"copy of {given.names(earlier)}"
        if training_set.is_source[row] and both[0] != both[1]:
            near = "" if one.is_exact else "near "
            words = f"{near}{copy}, which is labelled {given.classes[both[1]]}"
            yield _tell(given, row, CONFLICT, words, one.similarity)
        elif one.is_exact:
            yield _tell(given, row, COPY, copy, 1.0)
        else:
            yield _tell(
                given, row, NEAR_COPY, f"near {copy} ({one.similarity:.0%} alike)", one.similarity
            )


def _find_unlike(given: Examined) -> Iterator[Issue]:
    source, target = (
        [given.texts[row] for row in rows]
        for rows in (given.training_set.source, given.training_set.target)
    )
    for one in find_unlike(source, target):
        usual = "those of the usual target document"
        words = f"its words are {one.rarer:.1f} times as rare there as {usual}"
        if one.known < MIN_KNOWN:
            words = f"{1 - one.known:.0%} of its words are in no source document"
        yield _tell(
            given, int(given.training_set.target[one.number]), UNLIKE, f"unlike the source: {words}"
        )


@dataclass(frozen=True)
class LabelDoubts:
    """The probability of the label of each labelled document, and the doubtful labels."""

    quality: Floats
    """The probability of each label by classifiers that did not learn from it."""
    likeliest: Codes
    is_doubtful: NDArray[np.bool_]


def doubt_labels(held_out: Floats, codes: Codes) -> LabelDoubts:
    """Rank labels by held-out scores, a row per document.

    A label is doubted where another class is likelier, and at least as likely as it is on average
    for documents that have it, or 80 %: the rule of confident learning (Northcutt, Jiang and
    Chuang, 2021). It asks less of classes that are hard to tell.
    """
    rows = np.arange(len(codes))
    probabilities = Logits(*fit_offsets(held_out, codes)).probabilities(held_out)
    quality, likeliest = probabilities[rows, codes], probabilities.argmax(axis=1)
    counts = np.bincount(codes, minlength=held_out.shape[1])
    usual = np.bincount(codes, weights=quality, minlength=held_out.shape[1]) / np.maximum(counts, 1)
    is_doubtful = (likeliest != codes) & (
        probabilities[rows, likeliest] >= np.minimum(usual, MIN_CERTAIN)[likeliest]
    )
    return LabelDoubts(quality, likeliest, is_doubtful)


@dataclass(frozen=True)
class Unlike:
    """A target document unlike the source, and the fraction of its words that are known there."""

    number: int
    known: float
    rarer: float
    """The rarity of its words in the source, divided by that of the usual target document."""


@dataclass(frozen=True)
class WordsOfTexts:
    """The numbers of the words of each text, each word once, and the numbers of their texts."""

    words: NDArray[np.int32]
    texts: NDArray[np.intp]


@dataclass(frozen=True)
class Counts:
    """In how many documents of each domain each word stands, and how many documents there are."""

    in_source: NDArray[np.intp]
    in_target: NDArray[np.intp]
    n_source: int
    n_target: int


def find_unlike(source: Sequence[str], target: Sequence[str]) -> list[Unlike]:
    """Find target documents that stand out by words that the source has not, or seldom.

    Words that one document alone has say nothing of frequencies, but they are unknown to the
    source. All domains differ in their words, so that a document is compared with what is usual in
    the target. One pass over all words.
    """
    numbers: dict[str, int] = {}
    of_source, of_target = (_number_words(texts, numbers) for texts in (source, target))
    in_source, in_target = (
        np.bincount(one.words, minlength=len(numbers)) for one in (of_source, of_target)
    )
    counts = Counts(in_source, in_target, len(source), len(target))
    n_words = np.bincount(of_target.texts, minlength=len(target))
    n_known = np.bincount(of_target.texts, in_source[of_target.words] > 0, minlength=len(target))
    tells = n_words >= MIN_WORDS
    known = np.divide(n_known, n_words, out=np.ones(len(target)), where=tells)
    off = np.zeros(len(target))
    is_off = np.zeros(len(target), bool)
    if min(len(source), len(target)) >= MIN_DOCUMENTS:
        off, is_off = _stand_out(of_target, counts)
    chosen = np.flatnonzero((known < MIN_KNOWN) | (is_off & tells))
    return [Unlike(i, float(known[i]), float(np.exp(-off[i]))) for i in chosen.tolist()]


def _number_words(texts: Sequence[str], numbers: dict[str, int]) -> WordsOfTexts:
    """Number words as they come, and list those of each text, each once."""
    words, sizes = array("i"), []
    for text in texts:
        found = dict.fromkeys(
            split_words(text.lower())
        )  # in the same order on every run, as sets are not
        words.extend(numbers.setdefault(word, len(numbers)) for word in found)
        sizes.append(len(found))
    return WordsOfTexts(np.array(words, np.int32), np.repeat(np.arange(len(sizes)), sizes))


def _stand_out(of_target: WordsOfTexts, counts: Counts) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the log frequency ratio of each document's words, and which documents are far off."""
    n_source, n_target, in_source, in_target = (
        counts.n_source,
        counts.n_target,
        counts.in_source,
        counts.in_target,
    )
    both = in_source + in_target
    ratio = np.log((in_source + 0.5) / (in_target + 0.5) * n_target / n_source)
    weights = np.where(both > 1, np.log((n_source + n_target + 1) / (both + 0.5)), 0)
    total, ratios = (
        np.bincount(of_target.texts, values[of_target.words], minlength=n_target)
        for values in (weights, weights * ratio)
    )
    means = np.divide(ratios, total, out=np.zeros(n_target), where=total > 0)
    usual = float(np.median(means))
    off = (ratios - usual * total) / np.maximum(
        total + PSEUDO_WORDS * float(np.median(total)), np.finfo(float).tiny
    )
    middle = float(np.median(off))
    spread = MAD_TO_DEVIATION * float(np.median(np.abs(off - middle)))
    return off, (off < middle - MAX_DEVIATIONS * spread) & (off < -np.log(MAX_RARITY))
