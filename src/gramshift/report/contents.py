"""What a report shows, as plain values: whoever has them can make the page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Span = tuple[int, int, float, int]
"""Start and stop as code points of the text, strength from 0 to 1, the number of the class it speaks for."""


@dataclass(frozen=True)
class Neighbour:
    """A source document near a target document."""

    id: str
    label: str
    similarity: float
    """Plain and normalised: 0 nothing in common, 1 the same n-grams."""
    text: str


@dataclass(frozen=True)
class DocumentEntry:
    """One target document."""

    id: str
    text: str
    label: str
    confidence: float
    """The probability of the label."""
    probabilities: list[float]
    """The probability of each class, in the order of ReportContents.classes."""
    round: int
    """0: never joined the training set; k: joined it for round k + 1."""
    reference_label: str | None = None
    """What the label would be without adapting; None if that is not known."""
    truth: str | None = None
    corrected: bool = False
    """Whether the label was given by a person, and not found."""
    drawn: str = ""
    """How it was drawn for that, where this is known: random, doubtful or chosen."""
    spans: list[Span] = field(default_factory=list)
    """The spans in the order of the text, not overlapping."""
    neighbours: list[Neighbour] = field(default_factory=list)
    """Nearest first."""
    explained: bool = True
    """Whether spans were looked for; if not, the page says so."""
    abstained: bool = False
    """Whether it is less sure than asked for: the output has no label for it, the page shows the likeliest all the same."""
    more: list[tuple[str, str]] = field(default_factory=list)
    """What else the user knows of it, such as its title and date: names and values."""


class NGramFound(NamedTuple):
    """An n-gram that speaks for a class, its weight, and how many source and target documents have it, if known."""

    text: str
    worth: float
    in_source: int | None = None
    in_target: int | None = None


@dataclass(frozen=True)
class IssueEntry:
    """A problem in the data."""

    issue: str
    """Its kind, one of gramshift.model.data_problems.KINDS."""
    document: str
    """What the user knows the document by."""
    about: str
    text: str
    label: str | None = None
    suggested: str | None = None
    role: str = "target"
    """Of the document: "source" or "target". The output has a row for target documents only."""


@dataclass(frozen=True)
class Map:
    """Documents as points in two dimensions; four lists of one length."""

    x: list[float]
    y: list[float]
    kinds: list[str]
    """The kind of each: "source" or "target"."""
    labels: list[str]


@dataclass(frozen=True)
class TargetDocuments:
    """The target documents as the user knows them, in order, corrected ones included."""

    ids: Sequence[str]
    texts: Sequence[str]
    truth: Sequence[Any] | None = None
    """A label, or None, for each of ``texts``."""
    corrected: Mapping[str, Any] | Collection[str] = frozenset()
    """{id: label} of the documents that a person has labelled. They may have been given to the fit as source documents, and
    then the fit has no target row for them: its target documents are the others, in order. A bare set of ids will do if they
    stayed in the target."""
    drawn: Mapping[str, str] = field(default_factory=dict)
    """{id: random, doubtful or chosen} of those among them of which this is known."""
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """More to show: values by the name of the column, one for each of ``texts``."""


@dataclass(frozen=True)
class SourceDocuments:
    """The source documents, among which neighbours are looked for; all of them took part in the fit."""

    ids: Sequence[str]
    texts: Sequence[str]
    labels: Sequence[Any]


@dataclass(frozen=True)
class ShownAsItIs:
    """What a page shows without looking at it; :class:`ReportContents` says of each what it is."""

    title: str
    sentence: str
    options: Mapping[str, Any]
    sources: Sequence[tuple[str, int]]
    warnings: Sequence[str] = ()
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    scores: dict[str, Any] | None = None
    changes: Sequence[dict[str, str]] = ()
    created: str | None = None
    """The time as it is shown; now if None."""
    target_name: str = ""
    command: str = ""
    issues: Sequence[IssueEntry] | None = None
    """Problems in the data; None if the classifier is to be asked for them."""
    next_command: str = ""


@dataclass(frozen=True)
class RunInfo:
    """Facts about a run of ``gramshift classify`` that its classifier does not know.

    They are shown unchanged. None for ``sources``, ``sentence``, ``warnings`` or ``diagnostics``
    takes those of the classifier.
    """

    command: str = ""
    next_command: str = ""
    """The command that uses corrections.csv."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options as the user would type them, by name."""
    target_name: str = ""
    sources: Sequence[tuple[str, int]] | None = None
    """Names of the source files, with the number of documents in each."""
    scores: dict[str, Any] | None = None
    """As in :class:`ReportContents`."""
    changes: Sequence[dict[str, str]] = ()
    """Labels that corrections changed: {"id", "before", "after"}."""
    sentence: str | None = None
    warnings: Sequence[str] | None = None
    diagnostics: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ReportContents:
    """A whole report.

    Nothing here is computed or checked again: the page shows it as it is. Texts, labels and ids may be hostile.
    """

    title: str
    created: str
    """The time of the run, as it is to be shown."""
    sentence: str
    """The result in a sentence; shown where no accuracy is known, which else comes first, with the counts below."""
    warnings: list[str]
    options: dict[str, Any]
    """Every option of the run, as the user would type it, by its name."""
    versions: dict[str, str]
    """Program to version."""
    sources: list[tuple[str, int]]
    """Names of source files, and how many documents each."""
    n_source: int
    n_target: int
    classes: list[str]
    documents: list[DocumentEntry]
    """The target, in its own order."""
    shares: list[dict[str, float]]
    """For each stage the share of every class, 0 to 1: in the source, then among target labels, first without adapting."""
    history: list[dict[str, Any]]
    """The rounds as in TransductiveClassifier.history_, with str labels."""
    before: Map | None
    after: Map | None
    diagnostics: dict[str, Any]
    """Name to {"value": number or str, "sentence": what it means}; a plain str is a sentence without value."""
    scores: dict[str, Any] | None
    """The scores, only if the truth is known. All keys are optional:

    - "accuracy", "macro_f1": numbers from 0 to 1; "n": documents with a known truth
    - "accuracy_interval": [low, high] of the accuracy
    - "reference": what labels are compared with, "unadapted" or "plain"; "reference_accuracy", "reference_macro_f1": of these
    - "mcnemar_p": of the difference from these
    - "confusion": counts, a row for each true label, a column for each of ``classes``
    - "confusion_labels": names of its rows; ``classes`` if left out
    - "by_confidence": [{"low": 0.5, "high": 0.6, "n": 12, "accuracy": 0.75}, ...] for bins with documents
    """
    changes: list[dict[str, str]]
    """Labels that corrections changed: {"id", "before", "after"}."""
    model_parameters: dict[str, Any]
    share_names: list[str] = field(default_factory=list)
    """A name for each of ``shares``, such as "unadapted" and "round 1"; numbers if left out."""
    notes: list[str] = field(default_factory=list)
    """Remarks on how the report was made: what was sampled or left out."""
    target_name: str = ""
    command: str = ""
    """The command of the run, if there is one."""
    strongest_ngrams: list[list[NGramFound]] = field(default_factory=list)
    """For each of ``classes`` the n-grams that speak most for it, strongest first; none if the model is not made of n-grams."""
    issues: list[IssueEntry] = field(default_factory=list)
    """Problems in the data, those of a kind one after another, worst first."""
    expected_accuracy: Mapping[str, float] | None = None
    """The "value" that is expected, between "low" and "high"; None if nothing is."""
    new_classes: list[str] = field(default_factory=list)
    """Those of ``classes`` that no source document has, but a correction."""
    next_command: str = ""
    """What to type once corrections.csv is there; nothing if no command made this."""
    reference: str = "plain"
    """What the labels without adapting are called: "unadapted" for best, "plain" for all others."""
