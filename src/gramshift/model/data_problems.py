"""Problems in the data of a fit: doubtful labels, copies, empty texts, unusual documents."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.learn.calibrate import Logits, fit_offsets
from gramshift.learn.training_set import Codes, Rows, TrainingSet
from gramshift.ngrams.copies import find_copies
from gramshift.text.words import split_words

Floats = NDArray[np.float64]
DOUBTFUL = "doubtful label"
CONFLICT = "copies with different labels"
SPELLING = "label spelling"
COPY = "copy"
NEAR_COPY = "near copy"
EMPTY = "empty text"
UNLIKE = "unlike the source"
KINDS = {  # in the order in which they are listed, with their meanings
    DOUBTFUL: "source labels that the other documents contradict, most doubtful first",
    CONFLICT: "source documents with the same text and different labels",
    SPELLING: "labels that differ only by case or blanks, and are different classes",
    COPY: "documents that an earlier one is a copy of, whatever their case and blanks",
    NEAR_COPY: "documents that share four fifths of their runs of five characters"
    " with an earlier one",
    EMPTY: "documents without any text",
    UNLIKE: "target documents whose words are unknown or rare in the source:"
    " perhaps of a class that it lacks",
}
IN_WORDS = {  # of one document, and of several
    DOUBTFUL: ("source label looks doubtful", "source labels look doubtful"),
    CONFLICT: (
        "source document is a copy with another label",
        "source documents are copies with other labels",
    ),
    SPELLING: (
        "source label is another spelling of a class",
        "source labels are other spellings of a class",
    ),
    COPY: ("copy", "copies"),
    NEAR_COPY: ("near copy", "near copies"),
    EMPTY: ("empty text", "empty texts"),
    UNLIKE: (
        "target document is unlike the source",
        "target documents are unlike the source",
    ),
}
MIN_CERTAIN = 0.8  # a probability that is large enough, whatever is usual for the class
MIN_KNOWN = 0.2  # of a document's words, that source documents have too
MIN_WORDS = 6  # different words of a document, for a comparison
MIN_DOCUMENTS = 100  # documents of each domain, for reliable frequencies
MAX_DEVIATIONS = 3.5  # standard deviations from the usual target document
MAX_RARITY = 1.5  # times as rare as the words of the usual target document
PSEUDO_WORDS = 0.25  # fraction of a usual document added to each: short ones are steadier
MAD_TO_DEVIATION = 1.4826  # standard deviation of a normal distribution by its median deviation


def issues_in_words(counts: Mapping[str, int]) -> list[str]:
    """Return the number of issues of each kind in words: whose they are and what is wrong."""
    return [f"{n} {IN_WORDS[kind][n != 1]}" for kind, n in counts.items()]


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


class Issues(tuple[Issue, ...]):
    """The problems in the data of a fit, worst kinds first; ``to_frame`` makes a table of them."""

    label_quality: Floats | None
    """The probability of each source label by classifiers that did not learn from it."""

    def __new__(cls, issues: Iterable[Issue], label_quality: Floats | None = None) -> Self:
        """Return the problems as a tuple that cannot be changed."""
        result = super().__new__(cls, issues)
        result.label_quality = label_quality
        if label_quality is not None:
            label_quality.flags.writeable = False
        return result

    @property
    def counts(self) -> dict[str, int]:
        """The number of issues of each kind that occurs."""
        counts = Counter(one.issue for one in self)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def by_row(self) -> dict[int, str]:
        """Return the problems of each document that has any, in words."""
        found: dict[int, list[str]] = {}
        for one in self:
            found.setdefault(one.row, []).append(one.about)
        return {row: "; ".join(words) for row, words in found.items()}

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row per problem."""
        try:
            import pandas as pd
        except ImportError:
            raise InputError(
                "to_frame needs pandas: pip install pandas; or go through the issues one by one"
            ) from None
        names = [field.name for field in fields(Issue) if field.name not in ("row", "name")]
        return pd.DataFrame([[getattr(one, name) for name in names] for one in self], columns=names)

    def __repr__(self) -> str:
        return f"<Issues: {', '.join(issues_in_words(self.counts)) or 'none'}>"


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
    """The documents of a fit, and labels of source documents."""

    texts: Sequence[str]
    training_set: TrainingSet
    classes: list[Any]
    places: Sequence[int]
    """The place of each document in X or among the target documents."""
    names: Callable[[int], str]
    held_out: Floats
    """Scores of source documents by classifiers that did not learn from them."""

    def issue(
        self, row: int, kind: str, words: str, value: float = 0.0, suggested: Any = None
    ) -> Issue:
        """Return a problem of the document of a row."""
        is_source = bool(self.training_set.is_source[row])
        return Issue(
            kind,
            "source" if is_source else "target",
            self.places[row],
            words,
            value,
            self.classes[int(self.training_set.known[row])] if is_source else None,
            suggested,
            self.texts[row],
            row,
            self.names(row),
        )


def find_issues(given: Examined) -> Issues:
    """Look for all kinds of problems; time and memory grow in line with the texts."""
    doubts = doubt_labels(given.held_out, given.training_set.source_codes)
    found = [*_list_doubtful(given, doubts), *_find_spellings(given)]
    found += _find_copies(given)
    empty = (row for row, text in enumerate(given.texts) if not text.strip())
    found += [given.issue(row, EMPTY, "empty text") for row in empty]
    found += _find_unlike(given)
    order = {kind: place for place, kind in enumerate(KINDS)}
    return Issues(sorted(found, key=lambda one: order[one.issue]), doubts.quality)


def _list_doubtful(given: Examined, doubts: "LabelDoubts") -> Iterator[Issue]:
    """Yield documents with doubtful labels, the least probable first."""
    for place in np.argsort(doubts.quality, kind="stable").tolist():
        if doubts.is_doubtful[place]:
            suggested = given.classes[doubts.likeliest[place]]
            sure = float(doubts.quality[place])
            words = f"label doubtful: probability {sure:.0%}, suggested: {suggested}"
            row = int(given.training_set.source[place])
            yield given.issue(row, DOUBTFUL, words, sure, suggested)


def _find_spellings(given: Examined) -> Iterator[Issue]:
    """Yield documents whose label is a rarer spelling of another."""
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
                    yield given.issue(row, SPELLING, words, suggested=given.classes[usual])


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
            yield given.issue(row, CONFLICT, words, one.similarity)
        elif one.is_exact:
            yield given.issue(row, COPY, copy, 1.0)
        else:
            words = f"near {copy} ({one.similarity:.0%} alike)"
            yield given.issue(row, NEAR_COPY, words, one.similarity)


def _find_unlike(given: Examined) -> Iterator[Issue]:
    """Yield target documents that are unlike the source."""
    source = [given.texts[row] for row in given.training_set.source]
    target = [given.texts[row] for row in given.training_set.target]
    for one in find_unlike(source, target):
        usual = "those of the usual target document"
        words = f"its words are {one.rarer:.1f} times as rare there as {usual}"
        if one.known < MIN_KNOWN:
            words = f"{1 - one.known:.0%} of its words are in no source document"
        row = int(given.training_set.target[one.number])
        yield given.issue(row, UNLIKE, f"unlike the source: {words}")


@dataclass(frozen=True)
class LabelDoubts:
    """The probability of the label of each labelled document, and the doubtful labels."""

    quality: Floats
    """The probability of each label by classifiers that did not learn from it."""
    likeliest: Codes
    is_doubtful: NDArray[np.bool_]


def doubt_labels(held_out: Floats, codes: Codes) -> LabelDoubts:
    """Rank labels by held-out scores, a row per document.

    A label is doubtful if another class is more probable, and at least as probable as it is on
    average for documents with that label, or 80 %: the rule of confident learning (Northcutt,
    Jiang and Chuang, 2021). The threshold is lower for classes that are hard to distinguish.
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


def find_unlike(source: Sequence[str], target: Sequence[str]) -> list[Unlike]:
    """Find target documents with words that are unknown or rare in the source.

    Words of a single document have no frequency, but they are unknown to the source. All domains
    differ in their words, so that a document is compared with the usual target document.
    """
    numbers: dict[str, int] = {}
    source_words, _ = _number_words(source, numbers)
    words, texts = _number_words(target, numbers)
    in_source, in_target = (
        np.bincount(one, minlength=len(numbers)) for one in (source_words, words)
    )
    n_words = np.bincount(texts, minlength=len(target))
    n_known = np.bincount(texts, in_source[words] > 0, minlength=len(target))
    is_long = n_words >= MIN_WORDS
    known = np.divide(n_known, n_words, out=np.ones(len(target)), where=is_long)
    off = np.zeros(len(target))
    is_off = np.zeros(len(target), bool)
    if min(len(source), len(target)) >= MIN_DOCUMENTS:
        off, is_off = _find_outliers(words, texts, in_source, in_target, len(source), len(target))
    chosen = np.flatnonzero((known < MIN_KNOWN) | (is_off & is_long))
    return [Unlike(i, float(known[i]), float(np.exp(-off[i]))) for i in chosen.tolist()]


def _number_words(
    texts: Sequence[str], numbers: dict[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Assign numbers to words in order; return those of each text, each once, and its number."""
    words, sizes = array("i"), []
    for text in texts:
        found = dict.fromkeys(split_words(text.lower()))  # unlike a set, always in one order
        words.extend(numbers.setdefault(word, len(numbers)) for word in found)
        sizes.append(len(found))
    return np.array(words, np.int32), np.repeat(np.arange(len(sizes)), sizes)


def _find_outliers(
    words: NDArray[np.int32],
    texts: NDArray[np.intp],
    in_source: NDArray[np.intp],
    in_target: NDArray[np.intp],
    n_source: int,
    n_target: int,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the log frequency ratio of each document's words, and True for outliers.

    ``words`` are those of the target, each with the number of its text; ``in_source`` and
    ``in_target`` are the numbers of documents with each word.
    """
    both = in_source + in_target
    ratio = np.log((in_source + 0.5) / (in_target + 0.5) * n_target / n_source)
    weights = np.where(both > 1, np.log((n_source + n_target + 1) / (both + 0.5)), 0)
    total, ratios = (
        np.bincount(texts, values[words], minlength=n_target)
        for values in (weights, weights * ratio)
    )
    means = np.divide(ratios, total, out=np.zeros(n_target), where=total > 0)
    usual = float(np.median(means))
    smoothed = total + PSEUDO_WORDS * float(np.median(total))
    off = (ratios - usual * total) / np.maximum(smoothed, np.finfo(float).tiny)
    middle = float(np.median(off))
    spread = MAD_TO_DEVIATION * float(np.median(np.abs(off - middle)))
    return off, (off < middle - MAX_DEVIATIONS * spread) & (off < -np.log(MAX_RARITY))
