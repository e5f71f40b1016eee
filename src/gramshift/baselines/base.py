"""What all baselines share: the interface of our own classifier, and model files."""

import time
from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

from gramshift.baselines import CLASSES
from gramshift.errors import InputError
from gramshift.learn.calibrate import fit_steepness, softmax
from gramshift.learn.selection import choose_classes
from gramshift.model import saving as files
from gramshift.model.archive import ModelFileError, Writable, write_archive
from gramshift.model.inputs import gather
from gramshift.model.labels import encode_labels, is_missing
from gramshift.model.model_schema import ARRAYS, BY_CLASS, LABELS, STARTS, STEP, VERSIONS
from gramshift.runtime.schema import (
    Anything,
    Array,
    Listed,
    Member,
    Members,
    Record,
    Size,
    Sizes,
    Sum,
    Text,
    check_members,
)
from gramshift.text.documents import as_documents

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
State = dict[str, Any]
N_FOLDS = 3  # for probabilities
FORMAT = "gramshift-baseline"
FORMAT_VERSION = 1
OWN = {"labeled_iter": ARRAYS["labeled_iter"], "scores": BY_CLASS}  # arrays that every baseline has
HEAD = Record(
    STARTS
    | {
        "class": Text(100),
        "history": Listed(Record(STEP | LABELS, others=Anything())),
        "state": Record({}, others=Anything()),
        "arrays": Record({}, others=Text(10)),
    },
    VERSIONS,
    others=Anything(),
)


class Baseline(ClassifierMixin, BaseEstimator, ABC):
    """A baseline with our classifier's interface: ``fit(X, y, target=...)``, then ``transduction_``, ``predict``, ``save``.

    A baseline says what it learns (``_learn``: arrays, numbers and strings by name, nothing else, so that it can be saved) and
    how that scores texts (``_score_texts``).

    ``labeled_iter_`` is 0 for source and -1 for target documents, ``history_`` has one round: as of our own classifier.
    """

    two_classes: ClassVar[bool] = False
    """Whether the method is defined for two classes only."""
    needs_target: ClassVar[bool] = True

    @abstractmethod
    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        """Return all that scoring needs; ``codes`` are the classes of the source documents."""

    @abstractmethod
    def _members(self) -> Members:
        """Declare what ``_learn`` returns with these parameters: strings first, then arrays in terms of how many there are."""

    @abstractmethod
    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        """Return the scores of the texts, a column per class."""

    def _try(self, state: State) -> Floats:
        """Return the scores of two texts, under a state that comes from a file."""
        return self._score_texts(state, ["a trial of what it holds", ""])

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is wrong."""

    def fit(self, X: Any, y: Any, *, target: Any = None) -> Self:
        """Learn from X with labels y, adapt to the target documents and label them.

        Documents of X whose label is missing (None, NaN, NA) are target documents too, before those of ``target``.
        """
        self._check_parameters()
        begun = time.perf_counter()
        given = gather(X, y, target, read=as_documents)
        source = [text for text, is_source in zip(given.documents, given.is_source, strict=True) if is_source]
        unlabelled = [text for text, is_source in zip(given.documents, given.is_source, strict=True) if not is_source]
        classes, codes = encode_labels([label for label in given.labels if not is_missing(label)])
        self._check_task(len(classes), len(unlabelled))
        self._train(classes, source, codes, unlabelled)
        self.labeled_iter_ = np.where(given.is_source, 0, -1)
        found = self.transduction_.tolist()
        counts = {label: found.count(label) for label in classes.tolist()}
        none = dict.fromkeys(counts, 0)
        self.history_: list[dict[str, Any]] = [
            {"added": none, "changed": 0, "labels": counts, "seconds": time.perf_counter() - begun}
        ]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Label documents, seen or not; no refit."""
        scores = self._score(X)
        labels: NDArray[Any] = self.classes_[choose_classes(scores)]
        return labels

    def decision_function(self, X: Any) -> Floats:
        """Return scores: for two classes that of the second, else a column per class."""
        scores = self._score(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return a probability per class, calibrated on held-out source documents; the predicted class has the largest."""
        return softmax(self._score(X), self._calibrate())

    @property
    def transduction_proba_(self) -> Floats:
        """The probabilities of the target documents."""
        self._check_fitted()
        return softmax(self.transduction_score_, self._calibrate())

    def save(self, path: Writable) -> None:
        """Write the fitted baseline into one file, for :func:`gramshift.load`: a name, or a file open for writing bytes."""
        self._check_fitted()
        save_baseline(self, path)

    def _check_task(self, n_classes: int, n_target: int) -> None:
        name = type(self).__name__
        if self.two_classes and n_classes != 2:
            raise InputError(f"{name} is defined for two classes; y has {n_classes}")
        if self.needs_target and not n_target and getattr(self, "adapt", True):
            raise InputError(f"{name} learns from target documents too: give them as target=, or leave gaps in y")

    def _train(self, classes: NDArray[Any], source: list[str], codes: Codes, target: list[str]) -> None:
        state = self._learn(source, codes, target, len(classes))
        self._state, self._parameters = state, self.get_params(deep=False)
        self._training: tuple[list[str], Codes, list[str]] | None = (source, codes, target)
        self._steepness: float | None = None
        self.classes_ = classes
        self.transduction_score_ = self._score_texts(state, target) if target else np.zeros((0, len(classes)))
        self.transduction_: NDArray[Any] = classes[choose_classes(self.transduction_score_)]

    def _score(self, X: Any) -> Floats:
        self._check_fitted()
        texts = as_documents(X, name="X")
        return self._score_texts(self._state, texts) if texts else np.zeros((0, len(self.classes_)))

    def _calibrate(self) -> float:
        """Return the steepness of the probabilities; when first asked for, it takes a training per fold of the source."""
        self._check_fitted()
        if self._steepness is None and self._training is not None:
            source, codes, target = self._training
            n_folds = min(N_FOLDS, int(np.bincount(codes).min()))
            scores = np.zeros((len(source), len(self.classes_)))
            if n_folds > 1:
                for kept, held in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(source, codes):
                    state = self._learn([source[i] for i in kept], codes[kept], target, len(self.classes_))
                    scores[held] = self._score_texts(state, [source[i] for i in held])
            self._steepness = fit_steepness(scores, codes)
        assert self._steepness is not None
        return self._steepness

    def _check_fitted(self) -> None:
        if not hasattr(self, "_state"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.classifier_tags.multi_class = not self.two_classes
        return tags


def _check_comparing(baseline: Baseline) -> None:
    """Refuse kernels and lengths of n-grams that a file may not have."""
    kernel = getattr(baseline, "kernel", None)
    files.check_kernels([baseline, *(kernel if isinstance(kernel, (list, tuple)) else [kernel])])


def save_baseline(baseline: Baseline, path: Writable) -> None:
    """Write parameters, labels, words and numbers as JSON, the rest as arrays; probabilities are calibrated first."""
    _check_comparing(baseline)
    arrays = {name: value for name, value in baseline._state.items() if isinstance(value, np.ndarray)}
    arrays = {name: np.asarray(value, "<f8" if value.dtype.kind == "f" else "<i8") for name, value in arrays.items()}
    parameters = dict(baseline._parameters)
    if "kernel" in parameters:
        parameters = parameters | {"kernel": files.kernel_to_json(parameters["kernel"])}
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": files.library_versions(),
        "saved": files.now(),
        "class": type(baseline).__name__,
        "parameters": parameters,
        "classes": files.labels_to_json(baseline.classes_),
        "steepness": baseline._calibrate(),
        "history": [step | {name: list(step[name].values()) for name in ("added", "labels")} for step in baseline.history_],
        "state": {name: value for name, value in baseline._state.items() if name not in arrays},
        "arrays": {name: value.dtype.str for name, value in arrays.items()},
    }
    own = {"scores": baseline.transduction_score_, "labeled_iter": baseline.labeled_iter_}
    write_archive(path, head, arrays | {name: np.asarray(value, str(OWN[name].dtype)) for name, value in own.items()})


def linear_members(*rows: Size) -> dict[str, Member]:
    """Coefficients of so many features together, a column per class, and intercepts."""
    together = Sum(rows) if len(rows) > 1 else rows[0]
    return {"coefficients": Array("<f8", (together, "classes")), "intercepts": Array("<f8", ("classes",))}


def _make(head: dict[str, Any]) -> Baseline:
    """The baseline that a head names, with its parameters, not fitted."""
    if head["class"] not in CLASSES:
        raise ValueError(f"there is no baseline {head['class'][:20]!r}")
    parameters = {name: tuple(value) if name == "ngram_range" else value for name, value in head["parameters"].items()}
    if "kernel" in parameters:
        parameters["kernel"] = files.kernel_from_json(parameters["kernel"])
    made: type[Baseline] = getattr(import_module(CLASSES[head["class"]]), head["class"])
    baseline = made(**parameters)
    baseline._check_parameters()
    _check_comparing(baseline)
    return baseline


def _declare(head: dict[str, Any], sizes: Sizes) -> dict[str, Array]:
    """The arrays that a file must have, if its head is that of a baseline and the rest of its state is as declared."""
    HEAD.check("model.json", head, sizes)
    try:
        baseline = _make(head)
    except MemoryError:
        raise
    except Exception as error:  # whatever its parameters lead to
        raise ModelFileError(str(error)) from error
    members = baseline._members()
    if type(baseline).two_classes and sizes["classes"] != 2:
        raise ModelFileError(f"{head['class']} is defined for two classes, and it has {sizes['classes']}")
    check_members({name: one for name, one in members.items() if not isinstance(one, Array)}, head["state"], sizes)
    arrays = {name: one for name, one in members.items() if isinstance(one, Array)}
    if head["arrays"] != {name: one.dtype for name, one in arrays.items()}:
        raise ModelFileError("its arrays are not those of a baseline like this")
    return OWN | arrays


def _rebuild(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Baseline:
    """Make the baseline again and let it score two texts as a trial: all that it holds was checked before."""
    baseline = _make(head)
    iteration, scores = (arrays.pop(name) for name in OWN)
    classes, steepness = files.labels_from_json(head["classes"]), float(head["steepness"])
    if np.count_nonzero(iteration == 0) < len(classes) or iteration.max(initial=0) > 0:
        raise ValueError("it has classes without any document, or rounds that there are not")
    baseline._state = head["state"] | arrays
    trial = baseline._try(baseline._state)
    if trial.shape != (2, len(classes)) or not np.isfinite(trial).all():
        raise ValueError("it does not score texts")
    baseline._parameters, baseline._training, baseline._steepness = baseline.get_params(deep=False), None, steepness
    baseline.classes_, baseline.transduction_score_, baseline.labeled_iter_ = classes, scores, iteration
    baseline.history_ = [files.read_step(step, classes.tolist()) for step in head["history"]]
    baseline.transduction_ = classes[scores.argmax(axis=1)] if len(scores) else classes[:0]
    return baseline


BASELINES = files.Kind(FORMAT, (FORMAT_VERSION,), _declare, _rebuild)
