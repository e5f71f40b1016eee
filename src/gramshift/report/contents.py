"""Plain values that a report shows; a page can be made from them without a classifier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gramshift.model.data_problems import Issue

Highlight = tuple[int, int, float, int]
"""Start and stop in code points of the text, strength from 0 to 1, number of the class."""


@dataclass(frozen=True)
class SimilarDocument:
    """A source document that is similar to a target document."""

    id: str
    label: str
    similarity: float
    """Before adapting, normalised: 0 if no n-gram is shared, 1 if all are."""
    text: str


@dataclass(frozen=True)
class DocumentEntry:
    """A target document."""

    id: str
    text: str
    label: str
    confidence: float
    """The probability of the label."""
    probabilities: list[float]
    """The probability of each class, in the order of ``ReportContents.classes``."""
    round: int
    """0 if the document never joined the training set, k if it joined for round k + 1."""
    reference_label: str | None = None
    """The label without adapting; None if it is not known."""
    truth: str | None = None
    corrected: bool = False
    """True if a person gave the label."""
    drawn: str = ""
    """How the document was drawn to be labelled, if known: random, doubtful or chosen."""
    spans: list[Highlight] = field(default_factory=list)
    """Highlights in the order of the text, not overlapping."""
    neighbours: list[SimilarDocument] = field(default_factory=list)
    """Most similar first."""
    explained: bool = True
    """True if highlights were computed; if not, the page says so."""
    abstained: bool = False
    """True if the confidence is too low for a label in the output; the page still shows it."""
    more: list[tuple[str, str]] = field(default_factory=list)
    """Names and values of the user's other columns, such as title and date."""


@dataclass(frozen=True)
class DocumentMap:
    """Documents as points in two dimensions; four lists of one length."""

    x: list[float]
    y: list[float]
    kinds: list[str]
    """For each document "source" or "target"."""
    labels: list[str]


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
    """Scores, if true labels are known. All keys are optional:

    - "accuracy", "macro_f1": numbers from 0 to 1; "n": number of documents with a true label
    - "accuracy_interval": [low, high] of the accuracy
    - "reference": name of the labels to compare with, "unadapted" or "plain", with their
      "reference_accuracy" and "reference_macro_f1"
    - "mcnemar_p": p-value of the difference from these
    - "confusion": counts, a row for each true label, a column for each class
    - "confusion_labels": names of the rows; the classes by default
    - "by_confidence": [{"low": 0.5, "high": 0.6, "n": 12, "accuracy": 0.75}, ...], one for each
      bin that has documents
    """
    changes: Sequence[dict[str, str]] = ()
    """Labels that corrections changed: {"id", "before", "after"}."""
    sentence: str | None = None
    warnings: Sequence[str] | None = None
    diagnostics: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ReportContents:
    """A whole report; texts, labels and ids may be hostile."""

    title: str
    created: str
    """The time of the run, as shown."""
    sentence: str
    """The result in a sentence, shown if no accuracy is known."""
    warnings: Sequence[str]
    sources: Sequence[tuple[str, int]]
    n_source: int
    classes: list[str]
    documents: list[DocumentEntry]
    """The target documents in their order."""
    shares: dict[str, dict[str, float]]
    """Class proportions by stage: "source", then target labels without adapting and by round."""
    history: list[dict[str, Any]]
    """The rounds as in ``TransductiveClassifier.history_``, with labels as str."""
    before: DocumentMap | None
    after: DocumentMap | None
    diagnostics: Mapping[str, Any]
    """{"value": number or str, "sentence": meaning} by name; a str is a sentence alone."""
    model_parameters: dict[str, Any]
    versions: dict[str, str]
    """Versions of the programs used."""
    run: RunInfo = field(default_factory=RunInfo)
    notes: list[str] = field(default_factory=list)
    """Remarks on what was sampled or left out."""
    strongest_ngrams: list[list[tuple[Any, ...]]] = field(default_factory=list)
    """For each class the n-grams that indicate it, strongest first, with their weights and, if
    known, the numbers of source and target documents that contain them; empty for kernel models."""
    issues: Sequence[Issue] = ()
    """Problems in the data, grouped by kind, worst first."""
    expected_accuracy: Mapping[str, float] | None = None
    """The expected "value", between "low" and "high"."""
    n_random: int = 0
    """The number of labels of random documents that measured it."""
    new_classes: list[str] = field(default_factory=list)
    """Classes that corrections have added: no source document has them."""
    reference: str = "plain"
    """The name of the labels without adapting: "unadapted" or "plain"."""
