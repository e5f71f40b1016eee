"""What was learnt: all that it takes to score a document, the labels of the target, and the story of the rounds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.learn.calibrate import Expected, agree, softmax
from gramshift.learn.features import GramFeatures
from gramshift.learn.labelling import Codes, Labelling, Rows
from gramshift.learn.rounds import Calibration, Round
from gramshift.learn.selection import choose_classes
from gramshift.learn.shares import Shares
from gramshift.model.inputs import as_gram, check_rows
from gramshift.model.ngram_model import NGramModel
from gramshift.model.settings import Settings
from gramshift.model.similarities import Reference, Similarities
from gramshift.text.corpus import Corpus, digest_of

Floats = NDArray[np.float64]
BLOCK = 4096  # documents that are compared at a time


@dataclass(frozen=True)
class Model:
    """The documents of the fit, how new ones are compared with them, and what each similarity is worth per class.

    Without ``similarities`` kernel values are given instead of documents; ``normalized`` says whether they were in the fit.
    With ``ngrams`` new documents are not compared but looked up, and a model that was saved without texts has no documents.
    """

    similarities: Similarities | None
    reference: Reference
    adapt: bool
    coefficients: Floats
    intercepts: Floats
    normalized: bool = True
    ngrams: NGramModel | None = None

    @property
    def documents(self) -> Sequence[Any]:
        """The documents that new ones are compared with: all of the fit, or the landmarks."""
        return self.reference.documents

    def score(self, X: Any, *, n_jobs: int | None = -1) -> Floats:
        """A column of scores per class. A document's score does not depend on the others.

        A linear model has ``n_jobs`` threads, kernels that compare have their own.
        """
        parts = [self._score(X[start : start + BLOCK], n_jobs) for start in range(0, len(X), BLOCK)]
        return np.vstack(parts) if parts else np.zeros((0, len(self.intercepts)))

    def describe(self, X: Any) -> GramFeatures:
        """New documents by their similarities to those of the fit."""
        if self.similarities is not None:
            return self.similarities.describe(X, self.reference, adapt=self.adapt)
        gram, n = as_gram(X), len(self.coefficients)
        if gram.ndim != 2 or gram.shape[1] != n:
            raise InputError(f"X has shape {gram.shape}; give the kernel of new documents with all {n} fitted ones")
        if not self.normalized:
            advice = "divide it so that every document has 1 with itself, and fit again"
            raise InputError(f"new documents need a normalised gram: {advice}")
        check_rows(gram)
        return GramFeatures(gram, np.ones(len(gram)), np.ones(n), self.adapt)

    def compare(self, X: Sequence[str], others: Sequence[str]) -> Floats:
        """The similarities of texts to some documents of the fit, before anything is adapted."""
        assert self.similarities is not None
        if not self.similarities.by_weights:
            return self.similarities.describe(X, Reference(others), adapt=False).gram
        place = {text: number for number, text in enumerate(self.documents)}  # weights come from all of them
        columns = [place[text] for text in others]
        return self.similarities.describe(X, self.reference, adapt=False).gram[:, columns]

    def _score(self, X: Any, n_jobs: int | None) -> Floats:
        if self.ngrams is not None:
            return self.ngrams.score(X, n_jobs=n_jobs)
        return self.describe(X).multiply(self.coefficients) + self.intercepts


@dataclass(frozen=True)
class Sampled:
    """All documents, where a fit learnt from a sample of the target: what it found for the whole target."""

    rows: Rows
    """The numbers that the documents of the fit, source and sample, have among all."""
    scores: Floats
    probabilities: Floats


@dataclass(frozen=True)
class Fit:
    """What a fit has learnt; this is what a classifier keeps and what is saved."""

    settings: Settings
    parameters: dict[str, Any]
    """The parameters of the classifier as the user gave them."""
    classes: NDArray[Any]
    model: Model
    labelling: Labelling
    """What the last round learnt from."""
    scores: Floats
    """The scores of the target documents, a column per class."""
    labeled_iter: NDArray[np.intp]
    """For source then target documents: 0 given, k added for round k + 1, -1 never."""
    history: list[dict[str, Any]]
    calibration: Calibration | None = None
    """What probabilities are made of; None if they were not wanted."""
    landmarks: Rows | None = None
    digests: NDArray[np.uint8] | None = None
    """What target documents are known again by, where they are not among those of the model."""
    sampled: Sampled | None = None
    """The whole target, where all else is about a sample of it."""
    shares: Shares | None = None
    """The shares of classes by which documents joined; None where these play no part."""
    plain: Codes | None = None
    """The class of each target document by the first round, with the source's shares: what there would be without adapting."""
    expected: Expected | None = None
    sources: list[dict[str, Any]] | None = None
    """What is known of each source, where these have names."""
    n_unlabelled: int = 0
    """How many of the last target documents nobody wants labels of."""
    n_blank: int = 0
    """How many of the others have nothing that tells of their class."""

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each target document."""
        labels: NDArray[Any] = self.classes[choose_classes(self.scores)]
        return labels

    @cached_property
    def probabilities(self) -> Floats:
        """The probabilities of each target document; the class that it is labelled with has the largest."""
        assert self.calibration is not None, "a fit that users made has it"
        return agree(softmax(self.calibration.scores, self.calibration.steepness), choose_classes(self.scores))

    @property
    def wanted(self) -> slice:
        """The target documents whose labels are wanted."""
        return slice(len(self.scores) - self.n_unlabelled)

    @property
    def wanted_probabilities(self) -> Floats:
        """The probabilities of the target documents whose labels are wanted."""
        return self.probabilities[self.wanted] if self.sampled is None else self.sampled.probabilities

    @property
    def plain_labels(self) -> NDArray[Any] | None:
        """The label that each target document would have without adapting, if that is known."""
        return None if self.plain is None or self.sampled is not None else self.classes[self.plain[self.wanted]]

    @property
    def expected_accuracy(self) -> dict[str, float] | None:
        """The share of right labels that is to be expected, with an interval."""
        return None if self.expected is None else asdict(self.expected)

    def describe_shares(self) -> dict[Any, dict[str, float]] | None:
        """For each class its share in the source, as estimated for the target, as used, and the interval of the last."""
        if self.shares is None:
            return None
        one = self.shares
        columns = zip(self.classes.tolist(), one.source, one.estimated, one.used, *one.intervals().T, strict=True)
        names = ("source", "estimated", "used", "low", "high")
        return {label: dict(zip(names, map(float, values), strict=True)) for label, *values in columns}

    @property
    def compared(self) -> Rows:
        """The numbers of the documents that new ones are compared with."""
        return np.arange(len(self.labelling)) if self.landmarks is None else self.landmarks

    @property
    def all_labels(self) -> list[Any]:
        """The label of each document of the fit: as given, or as found for the target."""
        labels = np.empty(len(self.labelling), object)
        labels[self.labelling.source] = self.classes[self.labelling.source_codes].tolist()
        labels[self.labelling.target] = self.labels.tolist()
        return labels.tolist()

    def among_all(self) -> tuple[Floats, NDArray[np.intp], Rows | None]:
        """Scores of the target, when documents joined and which are landmarks, of all documents, not of a sample alone."""
        if self.sampled is None:
            return self.scores[self.wanted], self.labeled_iter[: len(self.labeled_iter) - self.n_unlabelled], self.landmarks
        rows = self.sampled.rows
        when = np.full(len(self.labelling.source) + len(self.sampled.scores), -1, self.labeled_iter.dtype)
        when[rows] = self.labeled_iter
        return self.sampled.scores, when, None if self.landmarks is None else rows[self.landmarks]

    def strongest_ngrams(self, n: int, *, overlapping: bool) -> dict[Any, list[tuple[str, float]]]:
        """The n n-grams of each class that speak most for it, where n-grams have coefficients."""
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise InputError(f"n={n!r}: give a number of n-grams from 1 on")
        if not isinstance(overlapping, (bool, np.bool_)):
            raise InputError(f"overlapping={overlapping!r}: give True or False")
        if self.model.ngrams is None:
            raise InputError(
                "n-grams have coefficients in a linear model whose weights come from classes alone: fit with preset='best'"
            )
        return dict(zip(self.classes.tolist(), self.model.ngrams.strongest(int(n), overlapping=bool(overlapping)), strict=True))

    @cached_property
    def target_digests(self) -> list[bytes]:
        """What the target documents are known again by, in order; documents that are no texts are not known again."""
        if self.digests is not None:
            return [one.tobytes() for one in self.digests]
        documents = self.model.documents
        if not isinstance(documents, list) or len(documents) != len(self.labelling):
            return []
        return Corpus([documents[row] for row in self.labelling.target.tolist()]).digests

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {one: row for row, one in reversed(list(enumerate(self.target_digests)))}

    def find_known(self, X: Any) -> list[tuple[int, int]]:
        """Which of these texts are of the target, and which of its documents they are; of equal ones the first."""
        if not isinstance(X, list):
            return []
        return [(row, self._places[one]) for row, one in enumerate(map(digest_of, X)) if one in self._places]


def tell_story(
    rounds: list[Round], labelling: Labelling, classes: list[Any], wanted: slice = slice(None)
) -> tuple[NDArray[np.intp], list[dict[str, Any]]]:
    """For each document when it joined the training set, and for each round what it changed; labels are those wanted."""
    when = np.where(labelling.is_source, 0, -1)
    for number, step in enumerate(rounds[1:], start=1):
        when[labelling.target[step.added]] = number
    names = list(enumerate(classes))
    history: list[dict[str, Any]] = [
        {
            "added": {label: int(np.sum(step.added_codes == code)) for code, label in names},
            "labels": {label: int(np.sum(step.codes[wanted] == code)) for code, label in names},
            "changed": step.changed,
            "seconds": step.seconds,
            "shares": None if step.shares is None else {label: float(step.shares.used[code]) for code, label in names},
        }
        for step in rounds
    ]
    return when, history


def told_to_json(fit: Fit) -> dict[str, Any]:
    """What a fit says of itself beside labels and probabilities."""
    return {
        "shares": None if fit.shares is None else {name: list(map(float, one)) for name, one in vars(fit.shares).items()},
        "expected": fit.expected_accuracy,
        "sources": fit.sources,
        "unlabelled": fit.n_unlabelled,
        "blank": fit.n_blank,
    }


def read_told(told: Any, arrays: dict[str, NDArray[Any]], n_classes: int, n_target: int) -> dict[str, Any]:
    """The same from a file; early ones do not have it."""
    if told is None:
        return {}
    shares, plain, expected, sources = told["shares"], None, told["expected"], told["sources"]
    n_unlabelled, n_blank = told["unlabelled"], told["blank"]
    if type(n_unlabelled) is not int or type(n_blank) is not int:
        raise ValueError("it counts documents that are not whole")
    if not 0 <= n_unlabelled < max(1, n_target) or not 0 <= n_blank <= n_target:
        raise ValueError("it counts more documents than it has")
    if shares is not None:
        values = {name: np.array(shares[name], float) for name in ("source", "estimated", "used", "errors")}
        largest = {"errors": np.inf}
        if any(
            one.shape != (n_classes,) or not ((one >= 0) & (one <= largest.get(name, 1.0))).all()
            for name, one in values.items()
        ):
            raise ValueError("its shares of classes are not those of its classes")
        shares, plain = Shares(**values), arrays["plain_codes"]
        if plain.shape != (n_target,) or ((plain < 0) | (plain >= n_classes)).any():
            raise ValueError("it names classes that there are not")
    if expected is not None:
        expected = Expected(*(float(expected[name]) for name in ("value", "low", "high")))
        if not 0 <= expected.low <= expected.value <= expected.high <= 1:
            raise ValueError("the accuracy that it expects is none")
    if sources is not None:
        sources = [{str(name): one[name] if name == "domain" else float(one[name]) for name in one} for one in sources]
    known = {"shares": shares, "plain": plain, "expected": expected, "sources": sources}
    return known | {"n_unlabelled": n_unlabelled, "n_blank": n_blank}
