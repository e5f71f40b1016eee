"""The result of a fit: model, labels of the target, and the story of the rounds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.kernels.corpus import Corpus
from gramshift.learn.calibrate import Expected, agree, softmax
from gramshift.learn.class_proportions import ClassProportions
from gramshift.learn.features import KernelFeatures
from gramshift.learn.pseudo_labels import choose_classes
from gramshift.learn.rounds import Calibration, Round
from gramshift.learn.training_set import Codes, TrainingSet
from gramshift.model.data_problems import Examined, Issues, find_issues
from gramshift.model.inputs import as_gram, check_rows
from gramshift.model.kernel_list import ComparedDocuments, KernelList
from gramshift.model.ngram_model import NGramModel, find_documents
from gramshift.model.settings import PLAIN, UNADAPTED, Settings
from gramshift.text.documents import digest_of

Floats = NDArray[np.float64]
BLOCK = 4096  # documents that are compared at a time


@dataclass(frozen=True)
class KernelModel:
    """The model of a fit: documents that new ones are compared with, and coefficients.

    Without ``kernel_list`` it takes kernel values instead of documents; ``normalized`` is True if
    those of the fit were normalised. With ``ngrams`` it is linear: new documents are scored by
    their n-grams, and a model that was saved without texts has no documents.
    """

    kernel_list: KernelList | None
    reference: ComparedDocuments
    adapt: bool
    coefficients: Floats
    intercepts: Floats
    normalized: bool = True
    ngrams: NGramModel | None = None

    @property
    def documents(self) -> Sequence[Any]:
        """The documents of the fit, with which new ones are compared."""
        return self.reference.documents

    def score(self, X: Any, *, n_jobs: int | None = -1) -> Floats:
        """Return a column of scores per class; the score of a document does not depend on others.

        A linear model uses ``n_jobs`` threads, kernels that compare use their own.
        """
        parts = [self._score(X[start : start + BLOCK], n_jobs) for start in range(0, len(X), BLOCK)]
        return np.vstack(parts) if parts else np.zeros((0, len(self.intercepts)))

    def describe(self, X: Any) -> KernelFeatures:
        """Return features of new documents: similarities to those of the fit."""
        if self.kernel_list is not None:
            return self.kernel_list.describe(X, self.reference, adapt=self.adapt)
        gram, n = as_gram(X), len(self.coefficients)
        if gram.ndim != 2 or gram.shape[1] != n:
            raise InputError(
                f"X has shape {gram.shape}; give the kernel of new documents with all {n} fitted "
                f"ones"
            )
        if not self.normalized:
            advice = "divide it so that every document has 1 with itself, and fit again"
            raise InputError(f"new documents need a normalised kernel matrix: {advice}")
        check_rows(gram)
        return KernelFeatures(gram, np.ones(len(gram)), np.ones(n), self.adapt)

    def compare(self, X: Sequence[str], others: Sequence[str]) -> Floats:
        """Return similarities of texts to some documents of the fit, before adapting."""
        assert self.kernel_list is not None
        if not self.kernel_list.by_weights:
            return self.kernel_list.describe(X, ComparedDocuments(others), adapt=False).gram
        # weights come from all documents of the fit
        place = {text: number for number, text in enumerate(self.documents)}
        columns = [place[text] for text in others]
        return self.kernel_list.describe(X, self.reference, adapt=False).gram[:, columns]

    def _score(self, X: Any, n_jobs: int | None) -> Floats:
        if self.ngrams is not None:
            return self.ngrams.score(X, n_jobs=n_jobs)
        return self.describe(X).multiply(self.coefficients) + self.intercepts


@dataclass(frozen=True)
class FitResult:
    """The result of a fit, which a classifier keeps and saves."""

    settings: Settings
    parameters: dict[str, Any]
    """Parameters of the classifier as the user gave them."""
    classes: NDArray[Any]
    model: KernelModel
    training_set: TrainingSet
    """The training set of the last round."""
    scores: Floats
    """Scores of the target documents, a column per class."""
    labeled_iter: NDArray[np.intp]
    """For source, then target documents: 0 given, k added for round k + 1, -1 never."""
    history: list[dict[str, Any]]
    calibration: Calibration | None = None
    """Scores and slope of probabilities; None if these were not wanted."""
    digests: NDArray[np.uint8] | None = None
    """Digests that identify target documents, if their texts are not kept."""
    class_prior: ClassProportions | None = None
    """Class proportions by which documents joined; None if these are ignored."""
    unadapted: Codes | None = None
    """Classes of target documents by the first round, with the source's class proportions."""
    expected: Expected | None = None
    sources: list[dict[str, Any]] | None = None
    """Drift, weight and accuracy of each source, if there are several."""
    n_unlabelled: int = 0
    """Number of trailing target documents given as ``unlabelled``."""
    n_blank: int = 0
    """Number of other target documents without evidence of their class."""
    random: tuple[int, ...] = ()
    """Target documents drawn at random that a person has labelled, in order."""
    corrected: tuple[int, ...] = ()
    """Target documents that a person has labelled, in order; rounds take them for the source."""
    origins: list[tuple[str, str]] | None = None
    """File and id of each document of the fit, if they are known."""

    @cached_property
    def is_source(self) -> NDArray[np.bool_]:
        """True for documents given as source documents, False for corrected ones."""
        is_source = self.training_set.is_source.copy()
        is_source[list(self.corrected)] = False
        return is_source

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each target document."""
        labels: NDArray[Any] = self.classes[choose_classes(self.scores)]
        return labels

    @cached_property
    def probabilities(self) -> Floats:
        """Probabilities of each target document; its label has the largest."""
        assert self.calibration is not None, "a fit that users made has it"
        probabilities = softmax(self.calibration.scores, self.calibration.steepness)
        return agree(probabilities, choose_classes(self.scores))

    @property
    def wanted(self) -> slice:
        """The target documents whose labels are wanted: all but unlabelled ones."""
        return slice(len(self.scores) - self.n_unlabelled)

    @property
    def wanted_probabilities(self) -> Floats:
        """The probabilities of the target documents whose labels are wanted."""
        return self.probabilities[self.wanted]

    @property
    def unadapted_labels(self) -> NDArray[Any] | None:
        """Labels of target documents without adapting, if they are known."""
        codes = self.unadapted
        return None if codes is None else self.classes[codes[self.wanted]]

    @property
    def reference(self) -> str:
        """Name of the labels with which these are compared."""
        name: str = UNADAPTED if self.parameters.get("preset") == "best" else PLAIN
        return name

    @property
    def expected_accuracy(self) -> dict[str, float] | None:
        """Expected accuracy with an interval."""
        return None if self.expected is None else asdict(self.expected)

    def describe_class_prior(self) -> dict[Any, dict[str, float]] | None:
        """Return the proportions of each class: source, estimated, used with interval, limit."""
        if self.class_prior is None:
            return None
        one = self.class_prior
        low, high = one.intervals().T
        names = ("source", "estimated", "used", "low", "high", "limit")
        columns = np.stack([one.source, one.estimated, one.used, low, high, one.limits], axis=1)
        rows = zip(self.classes.tolist(), columns.tolist(), strict=True)
        return {label: dict(zip(names, values, strict=True)) for label, values in rows}

    @cached_property
    def places(self) -> list[int]:
        """The position of each document: in X for a source document, else in ``transduction_``."""
        rows = np.arange(len(self.training_set))
        n_source_before = np.searchsorted(np.flatnonzero(self.is_source), rows)
        places: list[int] = np.where(self.is_source, rows, rows - n_source_before).tolist()
        return places

    def judge(self, text: str, score: Floats) -> tuple[int, Floats]:
        """Return class and probabilities of a text with this score; the fit's for a target one."""
        assert self.calibration is not None, "a fit that users made has it"
        known = self.find_known([text])
        if known:
            _, place = known[0]
            return int(choose_classes(self.scores[[place]])[0]), self.probabilities[place]
        code = choose_classes(score[None])[0]
        return int(code), softmax(score[None], self.calibration.steepness)[0]

    @cached_property
    def all_labels(self) -> list[Any]:
        """The label of each document of the fit: given, or predicted for the target."""
        labels = np.empty(len(self.training_set), object)
        labels[self.training_set.source] = self.classes[self.training_set.source_codes].tolist()
        labels[self.training_set.target] = self.labels.tolist()
        return labels.tolist()

    def strongest_ngrams(
        self, n: int, *, overlapping: bool, counts: bool = False
    ) -> dict[Any, list[tuple[Any, ...]]]:
        """Return the n strongest n-grams of each class, if n-grams have coefficients."""
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise InputError(f"n={n!r}: give a number of n-grams from 1 on")
        if not isinstance(overlapping, (bool, np.bool_)):
            raise InputError(f"overlapping={overlapping!r}: give True or False")
        if self.model.ngrams is None:
            raise InputError(
                "n-grams have coefficients in a linear model whose weights come from classes "
                "alone: fit with preset='best'"
            )
        found = self.model.ngrams.strongest(int(n), overlapping=bool(overlapping))
        by_class = dict(zip(self.classes.tolist(), found, strict=True))
        if not counts:
            return {
                label: [(one.text, one.worth) for one in several]
                for label, several in by_class.items()
            }
        documents = self.model.documents
        if not len(documents):
            raise InputError(
                "counts=True: this model holds no texts to count in; save it with texts=True"
            )
        source, target = self.training_set.source, self.training_set.target[self.wanted]
        # yields those of one class after another, of which each zip below takes its own
        is_in = find_documents((one for several in found for one in several), documents)
        return {
            label: [
                (one.text, one.worth, int(rows[source].sum()), int(rows[target].sum()))
                for one, rows in zip(several, is_in, strict=False)
            ]
            for label, several in by_class.items()
        }

    @property
    def why_no_issues(self) -> str:
        """The reason why problems in the data cannot be found; empty if they can."""
        documents = self.model.documents
        if self.calibration is None or self.calibration.held_out is None:
            return (
                "issues_ exists only after fit, because a saved model does not include what it "
                "needs: fit again"
            )
        if (
            self.model.kernel_list is None
            or len(documents) != len(self.training_set)
            or not isinstance(documents[0], str)
        ):
            return "issues_ needs the texts of all documents: fit on texts"
        return ""

    @cached_property
    def issues(self) -> Issues:
        """Problems in the data, found on first access."""
        if self.why_no_issues:
            raise InputError(self.why_no_issues)
        documents, n = self.model.documents, len(self.training_set) - self.n_unlabelled
        codes, n_classes = self.training_set.source_codes, self.training_set.n_classes
        source = TrainingSet.of_source(self.training_set.is_source[:n], codes, n_classes)
        assert self.calibration is not None, "why_no_issues has looked"
        assert self.calibration.held_out is not None, "and here too"
        held_out = self.calibration.held_out
        return find_issues(
            Examined(documents[:n], source, self.classes.tolist(), self.places, self.name, held_out)
        )

    def name(self, number: int) -> str:
        """Return the name of a document: file and id, or domain and position."""
        if self.origins is not None:
            return " ".join(self.origins[number])
        return f"{'source' if self.is_source[number] else 'target'} {self.places[number]}"

    @cached_property
    def target_digests(self) -> list[bytes]:
        """Digests of target documents, in order; empty if these are neither texts nor rows."""
        if self.digests is not None:
            return [one.tobytes() for one in self.digests]
        documents = self.model.documents
        if self.is_of_rows:
            return list(map(_digest_row, documents[self.training_set.target]))  # type: ignore[call-overload]
        if not isinstance(documents, list) or len(documents) != len(self.training_set):
            return []
        return Corpus([documents[row] for row in self.training_set.target.tolist()]).digests

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {one: row for row, one in reversed(list(enumerate(self.target_digests)))}

    def find_known(self, X: Any) -> list[tuple[int, int]]:
        """Return pairs of a text's position and that of the equal target document, if any.

        Of equal target documents it is the first.
        """
        if not isinstance(X, list) and not self.is_of_rows:
            return []
        digests = map(_digest_row if self.is_of_rows else digest_of, X)
        return [(row, self._places[one]) for row, one in enumerate(digests) if one in self._places]

    @property
    def is_of_rows(self) -> bool:
        """True if documents are rows of numbers, compared by their cosine."""
        return self.model.kernel_list is not None and self.model.kernel_list.by_rows


def _digest_row(row: Floats) -> bytes:
    """Return the digest of a row of numbers; 0 and -0 are one number."""
    return digest_of((row + 0.0).tobytes().hex())


def tell_story(
    rounds: list[Round], training_set: TrainingSet, classes: list[Any], wanted: slice = slice(None)
) -> tuple[NDArray[np.intp], list[dict[str, Any]]]:
    """Return ``labeled_iter`` and the history of rounds; labels are counted where ``wanted``."""
    when = np.where(training_set.is_source, 0, -1)
    for number, step in enumerate(rounds[1:], start=1):
        when[training_set.target[step.added]] = number
    pseudo_labelled = training_set.pseudo_labelled
    when[pseudo_labelled[when[pseudo_labelled] < 0]] = 1  # labels by a person
    history = []
    for step in rounds:
        prior = None
        if step.shares is not None:
            prior = dict(zip(classes, step.shares.used.tolist(), strict=True))
        one = {
            "added": count_classes(step.added_codes, classes),
            "labels": count_classes(step.codes[wanted], classes),
            "changed": step.changed,
            "seconds": step.seconds,
            "class_prior": prior,
        }
        history.append(one)
    return when, history


def count_classes(codes: Codes, classes: list[Any]) -> dict[Any, int]:
    """Return the number of documents of each class."""
    counts = np.bincount(codes, minlength=len(classes))
    return dict(zip(classes, counts.tolist(), strict=True))
