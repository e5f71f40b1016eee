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
from gramshift.learn.labelling import Codes, Labelling
from gramshift.learn.rounds import Calibration, Round
from gramshift.learn.selection import choose_classes
from gramshift.learn.shares import Shares
from gramshift.model.data_problems import Examined, Issues, find_issues
from gramshift.model.inputs import as_gram, check_rows
from gramshift.model.ngram_model import NGramModel, find_documents
from gramshift.model.settings import PLAIN, UNADAPTED, Settings
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
        """The documents that new ones are compared with: all of the fit."""
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
            raise InputError(f"new documents need a normalised kernel matrix: {advice}")
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
    digests: NDArray[np.uint8] | None = None
    """What target documents are known again by, where they are not among those of the model."""
    class_prior: Shares | None = None
    """The class proportions by which documents joined; None where these play no part."""
    unadapted: Codes | None = None
    """The class of each target document by the first round, with the source's proportions, so without adapting."""
    expected: Expected | None = None
    sources: list[dict[str, Any]] | None = None
    """What is known of each source, where these have names."""
    n_unlabelled: int = 0
    """How many of the last target documents nobody wants labels of."""
    n_blank: int = 0
    """How many of the others have nothing that tells of their class."""
    n_random: int = 0
    """How many target documents have the label that a person gave to a random sample."""
    corrected: tuple[int, ...] = ()
    """The target documents that a person has labelled, in order; the rounds saw them as source documents."""
    origins: list[tuple[str, str]] | None = None
    """The file that each document of the fit comes from and its id there, where that is known."""

    @property
    def n_corrected(self) -> int:
        """The number of target documents that a person has labelled."""
        return len(self.corrected)

    @cached_property
    def is_source(self) -> NDArray[np.bool_]:
        """True for the documents that were given as source documents, without corrected ones."""
        is_source = self.labelling.is_source.copy()
        is_source[list(self.corrected)] = False
        return is_source

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
        return self.probabilities[self.wanted]

    @property
    def unadapted_labels(self) -> NDArray[Any] | None:
        """The label that each target document would have without adapting, if that is known."""
        codes = self.unadapted
        return None if codes is None else self.classes[codes[self.wanted]]

    @property
    def reference(self) -> str:
        """What its labels are compared with, by name."""
        name: str = UNADAPTED if self.parameters.get("preset") == "best" else PLAIN
        return name

    @property
    def expected_accuracy(self) -> dict[str, float] | None:
        """The share of right labels that is to be expected, with an interval."""
        return None if self.expected is None else asdict(self.expected)

    def describe_class_prior(self) -> dict[Any, dict[str, float]] | None:
        """Return the proportion of each class in the source, as estimated, as used with its interval, and its limit."""
        if self.class_prior is None:
            return None
        one = self.class_prior
        columns = zip(self.classes.tolist(), one.source, one.estimated, one.used, *one.intervals().T, one.limits, strict=True)
        names = ("source", "estimated", "used", "low", "high", "limit")
        return {label: dict(zip(names, map(float, values), strict=True)) for label, *values in columns}

    @cached_property
    def places(self) -> list[int]:
        """The place of each document of the fit: of a source document in X, of a target document in ``transduction_``."""
        rows, source = np.arange(len(self.labelling)), np.flatnonzero(self.is_source)
        places: list[int] = np.where(self.is_source, rows, rows - np.searchsorted(source, rows)).tolist()
        return places

    def judge(self, text: str, score: Floats) -> tuple[int, Floats | None]:
        """The class of a text with this score, and its probabilities if it has any; of a target document those of the fit."""
        known = self.find_known([text])
        if known:
            place = known[0][1]
            return int(choose_classes(self.scores[place : place + 1])[0]), self.probabilities[
                place
            ] if self.calibration else None
        chosen = int(choose_classes(score[None])[0])
        return chosen, None if self.calibration is None else softmax(score[None], self.calibration.steepness)[0]

    @cached_property
    def all_labels(self) -> list[Any]:
        """The label of each document of the fit: as given, or as found for the target."""
        labels = np.empty(len(self.labelling), object)
        labels[self.labelling.source] = self.classes[self.labelling.source_codes].tolist()
        labels[self.labelling.target] = self.labels.tolist()
        return labels.tolist()

    def strongest_ngrams(self, n: int, *, overlapping: bool, counts: bool = False) -> dict[Any, list[tuple[Any, ...]]]:
        """The n n-grams of each class that speak most for it, where n-grams have coefficients."""
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise InputError(f"n={n!r}: give a number of n-grams from 1 on")
        if not isinstance(overlapping, (bool, np.bool_)):
            raise InputError(f"overlapping={overlapping!r}: give True or False")
        if self.model.ngrams is None:
            raise InputError(
                "n-grams have coefficients in a linear model whose weights come from classes alone: fit with preset='best'"
            )
        found = self.model.ngrams.strongest(int(n), overlapping=bool(overlapping))
        named: list[list[tuple[Any, ...]]] = [[(one.text, one.worth) for one in several] for several in found]
        if counts:
            if not len(self.model.documents):
                raise InputError("counts=True: this model holds no texts to count in; save it with texts=True")
            source, target = self.labelling.source, self.labelling.target[self.wanted]
            having = find_documents((one for several in found for one in several), self.model.documents)
            for several in named:  # the n-grams of all classes come one after another
                several[:] = [(*one, int(rows[source].sum()), int(rows[target].sum())) for one, rows in zip(several, having)]  # noqa: B905
        return dict(zip(self.classes.tolist(), named, strict=True))

    @cached_property
    def issues(self) -> Issues:
        """The problems in the data, looked for when they are asked for; what is found does not depend on who asks first."""
        documents, n = self.model.documents, len(self.labelling) - self.n_unlabelled
        if self.calibration is None or self.calibration.held_out is None:
            raise InputError("issues_ is known of a classifier that was fitted here: saved models do not include what it needs")
        if self.model.similarities is None or len(documents) != len(self.labelling) or not isinstance(documents[0], str):
            raise InputError("issues_ needs the texts of all documents: fit on texts")
        held_out, all_known = self.calibration.held_out, self.labelling
        labelling = Labelling.of_source(all_known.is_source[:n], all_known.source_codes, all_known.n_classes)
        return find_issues(Examined(documents[:n], labelling, self.classes.tolist(), self.places, self.name, held_out))

    def name(self, number: int) -> str:
        """What the user knows a document of the fit by."""
        if self.origins is not None:
            return " ".join(self.origins[number])
        return f"{'source' if self.is_source[number] else 'target'} {self.places[number]}"

    @cached_property
    def target_digests(self) -> list[bytes]:
        """What the target documents are known again by, in order; documents that are no texts are not known again."""
        if self.digests is not None:
            return [one.tobytes() for one in self.digests]
        documents = self.model.documents
        if self.is_of_rows:
            return list(map(_digest_row, documents[self.labelling.target]))  # type: ignore[call-overload]
        if not isinstance(documents, list) or len(documents) != len(self.labelling):
            return []
        return Corpus([documents[row] for row in self.labelling.target.tolist()]).digests

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {one: row for row, one in reversed(list(enumerate(self.target_digests)))}

    def find_known(self, X: Any) -> list[tuple[int, int]]:
        """Which of these texts are of the target, and which of its documents they are; of equal ones the first."""
        if not isinstance(X, list) and not self.is_of_rows:
            return []
        digests = map(_digest_row if self.is_of_rows else digest_of, X)
        return [(row, self._places[one]) for row, one in enumerate(digests) if one in self._places]

    @property
    def is_of_rows(self) -> bool:
        """Whether documents are rows of numbers, compared by their cosine."""
        return self.model.similarities is not None and self.model.similarities.by_rows


def _digest_row(row: Floats) -> bytes:
    """What a row of numbers is known again by; 0 and -0 are one number."""
    return digest_of((row + 0.0).tobytes().hex())


def tell_story(
    rounds: list[Round], labelling: Labelling, classes: list[Any], wanted: slice = slice(None)
) -> tuple[NDArray[np.intp], list[dict[str, Any]]]:
    """For each document when it joined the training set, and for each round what it changed; labels are those wanted."""
    when = np.where(labelling.is_source, 0, -1)
    for number, step in enumerate(rounds[1:], start=1):
        when[labelling.target[step.added]] = number
    when[labelling.joined[when[labelling.joined] < 0]] = 1  # those that a person has labelled
    names = list(enumerate(classes))
    history: list[dict[str, Any]] = [
        {
            "added": {label: int(np.sum(step.added_codes == code)) for code, label in names},
            "labels": {label: int(np.sum(step.codes[wanted] == code)) for code, label in names},
            "changed": step.changed,
            "seconds": step.seconds,
            "class_prior": None if step.shares is None else {label: float(step.shares.used[code]) for code, label in names},
        }
        for step in rounds
    ]
    return when, history


def told_to_json(fit: Fit, *, texts: bool) -> dict[str, Any]:
    """What a fit says of itself beside labels and probabilities; names of documents only where a file has their ``texts``."""
    prior = fit.class_prior
    return {
        "class_prior": None if prior is None else {name: list(map(float, one)) for name, one in vars(prior).items()},
        "expected": fit.expected_accuracy,
        "sources": fit.sources,
        "unlabelled": fit.n_unlabelled,
        "blank": fit.n_blank,
        "without_domain": [
            row for row, one in enumerate(fit.model.reference.groups.get("domains", [])) if texts and one is None
        ],
        "corrected": list(fit.corrected),
        "random": fit.n_random,
        "origins": fit.origins if texts else None,
    }


def read_told(told: dict[str, Any], arrays: dict[str, NDArray[Any]], n_target: int) -> dict[str, Any]:
    """The same from a file whose head was checked."""
    prior, unadapted, expected, sources = told.get("class_prior"), None, told.get("expected"), told.get("sources")
    n_unlabelled, n_blank, n_random = (told[name] for name in ("unlabelled", "blank", "random"))
    corrected, labelled = tuple(told["corrected"]), np.flatnonzero(arrays["labeled_iter"] == 0)
    if not 0 <= n_random <= n_target:
        raise ValueError("it counts more random labels than it has target documents")
    if sorted(set(corrected)) != list(corrected) or not np.isin(corrected, labelled).all():
        raise ValueError("it has corrections of documents without a label")
    if not 0 <= n_unlabelled < max(1, n_target) or not 0 <= n_blank <= n_target:
        raise ValueError("it counts more documents than it has")
    if prior is not None:
        names = ("source", "estimated", "used", "errors", "limits")
        prior, unadapted = Shares(**{name: np.array(prior[name], float) for name in names}), arrays["unadapted_codes"]
    if expected is not None:
        expected = Expected(*(float(expected[name]) for name in ("value", "low", "high")))
        if not expected.low <= expected.value <= expected.high:
            raise ValueError("the accuracy that it expects is none")
    if sources is not None:
        sources = [{str(name): one[name] if name == "domain" else float(one[name]) for name in one} for one in sources]
    known = {"class_prior": prior, "unadapted": unadapted, "expected": expected, "sources": sources}
    origins = _read_origins(told.get("origins"), len(arrays["labeled_iter"]))
    return known | {
        "n_unlabelled": n_unlabelled,
        "n_blank": n_blank,
        "corrected": corrected,
        "n_random": n_random,
        "origins": origins,
    }


def _read_origins(origins: Any, n: int) -> list[tuple[str, str]] | None:
    """The file and the id of each document; files that a program has written from lists alone do not have them."""
    if origins is None:
        return None
    if not isinstance(origins, list) or len(origins) != n:
        raise ValueError("it does not name each of its documents")
    if not all(isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one) for one in origins):
        raise ValueError("it names documents by something that is no file and no id")
    return [(file, known_as) for file, known_as in origins]
