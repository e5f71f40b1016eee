"""Input of fit and predict as arrays and lists, or one clear error."""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import FitWarning, InputError, InputTypeError
from gramshift.kernels.corpus import Corpus
from gramshift.learn.compiled.cells import find_faults
from gramshift.learn.decisions import RandomLabels
from gramshift.learn.features import KernelFeatures
from gramshift.learn.training_set import TrainingSet
from gramshift.learn.vectors import VectorFeatures
from gramshift.model.labels import as_labels, encode_labels, find_alike, is_missing
from gramshift.model.settings import Settings, given_proportions
from gramshift.parallel import run_threads
from gramshift.text.documents import as_list

Floats = NDArray[np.float64]
N_ROWS = 256  # of a kernel matrix that are checked at a time
SEARCHES = "sklearn.model_selection._validation"  # the module whose function fits each fold
MIN_RANDOM_LABELS = 10  # fewer say little of proportions or of accuracy


class Target:
    """Target documents as one object without a length.

    Grid search cuts every fit argument that has as many rows as X. ``gs.Target(texts)`` has none,
    so each fold sees all target documents: ``search.fit(X, y, target=gs.Target(texts))``.
    """

    def __init__(self, documents: Any) -> None:
        is_read_once = isinstance(documents, Iterator)  # but every fold uses it
        self.documents = list(documents) if is_read_once else documents

    def __repr__(self) -> str:
        return "Target(...)"


@dataclass(frozen=True)
class FitInput:
    """The input of a fit: documents of the source and the target, and labels of the source."""

    documents: Any
    """A list of texts, a corpus, rows of numbers, or a kernel matrix."""
    labels: list[Any]
    """A label for each document, missing for those of the target."""
    n_unlabelled: int = 0
    """Number of trailing target documents given as ``unlabelled``."""
    weights: Floats | None = None
    """A weight for each document; None if all have weight 1."""
    domains: list[str] | None = None
    """The name of the source of each labelled document."""
    random: Mapping[int, Any] = field(default_factory=dict)
    """Labels given to random target documents, by the numbers of these."""
    corrected: tuple[int, ...] = ()
    """Labelled documents that are target documents labelled by a person, in order."""
    origins: list[tuple[str, str]] | None = None
    """The file and the id of each document, if they are known."""
    vectors: VectorFeatures | None = None
    """The vector of each document, if there is an encoder and its vectors have weight."""
    vector_weight: float = 0.0
    """The weight of vectors, relative to the n-grams."""
    centre: Floats | None = None
    """The mean of the target's vectors, by which those of new documents are centred."""

    @cached_property
    def texts(self) -> Corpus | None:
        """The texts; None for other documents."""
        if isinstance(self.documents, list):
            return Corpus(self.documents, keep=False)
        return self.documents if isinstance(self.documents, Corpus) else None

    @cached_property
    def is_source(self) -> NDArray[np.bool_]:
        """True for each document with a label."""
        return np.array([not is_missing(label) for label in self.labels], bool)

    @property
    def wanted(self) -> NDArray[np.intp]:
        """The numbers of the target documents whose labels are wanted: all but unlabelled ones."""
        target = np.flatnonzero(~self.is_source)
        return target[: len(target) - self.n_unlabelled]

    @property
    def has_several_sources(self) -> bool:
        """True if labelled documents are of several named sources."""
        return self.domains is not None and len(set(self.domains)) > 1

    def read_labels(self, settings: Settings) -> tuple[NDArray[Any], TrainingSet]:
        """Return the classes and the training set; class proportions must be those of all."""
        classes, codes = encode_labels([label for label in self.labels if not is_missing(label)])
        if isinstance(settings.class_prior, dict):
            given_proportions(settings.class_prior, classes.tolist())
        ranks = self._rank_texts()
        return classes, TrainingSet.of_source(self.is_source, codes, len(classes), ranks)

    def random_labels(self, classes: list[Any]) -> RandomLabels | None:
        """Return the labels given to random target documents, if any."""
        if not self.random:
            return None
        target = np.flatnonzero(~self.is_source)
        rows = np.array(sorted(self.random), np.intp)
        codes = np.array([classes.index(self.random[row]) for row in rows.tolist()], np.intp)
        return RandomLabels(np.searchsorted(target, rows), codes)

    def _rank_texts(self) -> NDArray[np.intp] | None:
        """Return the order of texts by digest, label and weight: it does not depend on theirs."""
        if self.texts is None:
            return None
        weights = [1.0] * len(self.labels) if self.weights is None else self.weights.tolist()
        digests = self.texts.digests
        keys = list(zip(digests, map(str, self.labels), weights, strict=True))
        ranks = np.empty(len(keys), np.intp)
        ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        return ranks


def warn_of_input(X: Any, y: Any, target: Any) -> None:
    """Warn of likely mistakes; raise an error for a target that a grid search has cut."""
    is_list = isinstance(y, (list, tuple)) or hasattr(y, "tolist") or hasattr(y, "to_list")
    labels = as_list(y) if is_list else []
    integers = {
        label
        for label in labels
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool)
    }
    unlabelled = (
        "-1 among the labels is a class like any other: mark documents without a label by None"
    )
    if target is None and labels and not any(map(is_missing, labels)):
        words = (
            "fit got no target, so there is nothing to adapt to: give the documents to "
            "be labelled as target=..."
        )
        if -1 in integers and len(integers) > 1:
            words = f"{words}; {unlabelled}"
        warn(words, stacklevel=4)
    elif -1 in integers and len(integers) > 2:  # with one other label, it is one of two classes
        warn(unlabelled, stacklevel=4)
    is_open = target is not None and not isinstance(target, Target)
    lengths = {getattr(one, "__len__", int)() for one in (target, X)}
    if is_open and len(lengths) == 1 and _find_search() is not None:
        raise InputError(
            "a grid search has cut the target into folds: give it as target=gs.Target(texts)"
        )
    for words in find_alike(labels):
        warn(words, stacklevel=4)


_last_search: tuple[Any, set[str]] = None, set()  # and the warnings that it has shown


def warn(words: str, *, stacklevel: int) -> None:
    """Warn of a fit, in a search or cross-validation of scikit-learn not twice in the same words.

    scikit-learn resets Python's filter of repeated warnings for each fit.
    """
    global _last_search
    frame = _find_search()
    # the one object that is made for a search, and given to each of its fits
    search = None if frame is None else frame.f_locals.get("score_params")
    current = _last_search
    if search is None or current[0] is not search:
        current = search, set()
        _last_search = current
    if words not in current[1]:
        warnings.warn(words, FitWarning, stacklevel=stacklevel)
        current[1].add(words)  # unless the warning is raised as an error


def _find_search() -> FrameType | None:
    """Return the frame in which a search or cross-validation of scikit-learn fits one fold."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if module == SEARCHES and frame.f_code.co_name == "_fit_and_score":
            break
        frame = frame.f_back
    return frame


def gather(
    X: Any, y: Any, target: Any, *, read: Callable[..., Any], unlabelled: Any = None
) -> FitInput:
    """Return documents as ``read`` returns them, source first, and their labels."""

    def join(documents: Any, more: Any) -> Any:
        return documents + more if isinstance(documents, list) else np.vstack([documents, more])

    target = target.documents if isinstance(target, Target) else target
    documents = read(X, name="X")
    labels = as_labels(y, n_documents=len(documents))
    if target is not None:
        more = read(target, name="target")
        if not len(more):
            raise InputError("target is an empty list; leave it out for an ordinary classifier")
        documents, labels = join(documents, more), labels + [None] * len(more)
    given = FitInput(documents, labels)
    if unlabelled is None:
        return given
    more = read(unlabelled, name="unlabelled")
    if not len(more):
        raise InputError("unlabelled is an empty list; leave it out")
    if isinstance(more, list) and not any(text.strip() for text in more):
        raise InputError(
            f"unlabelled has {len(more)} texts, and all of them are empty; leave it out"
        )
    if given.is_source.all():
        raise InputError(
            "unlabelled goes with a target: give the documents to be labelled as target"
        )
    return FitInput(join(documents, more), labels + [None] * len(more), len(more))


def check_domains(
    domains: Any, labels: list[Any], is_source: NDArray[np.bool_]
) -> list[str] | None:
    """Return the name of the source of each labelled document, from one for each of X."""
    if domains is None:
        return None
    names = list(map(str, as_list(domains)))
    n = len(names)
    if n > len(labels) or not (~is_source[n:]).all():
        raise InputError(f"domains has {n} names; give one for each document of X")
    return [name for name, known in zip(names, is_source[:n], strict=True) if known]


def check_random(labels: Any, given: FitInput) -> dict[int, Any]:
    """Return the labels of random target documents by the numbers of these."""
    if labels is None:
        return {}
    found = find_labels("random_labels", labels, given)
    classes = {label for label in given.labels if not is_missing(label)}
    if unknown := sorted(
        str(label)
        for label in found.values()
        if isinstance(label, (list, dict, set)) or label not in classes
    ):
        names = ", ".join(sorted(map(str, classes))[:20])
        raise InputError(
            f"random_labels has the label {unknown[0]!r}, which is not a class of the source: "
            f"{names}"
        )
    if len(found) < MIN_RANDOM_LABELS:
        advice = "label more of them, or give these as corrections="
        raise InputError(
            f"random_labels has {len(found)} labels, fewer than {MIN_RANDOM_LABELS}: {advice}"
        )
    return found


def find_labels(name: str, labels: Any, given: FitInput) -> dict[int, Any]:
    """Return labels by document number, from one or a gap for each target document."""
    target = given.wanted.tolist()
    advice = "give one for each target document, None where none is known"
    is_text = isinstance(labels, (str, bytes, Mapping))
    if not hasattr(labels, "__len__") or getattr(labels, "ndim", 1) != 1 or is_text:
        raise InputTypeError(f"{name} is not a list of labels: {advice}")
    values = as_list(labels)
    if len(values) != len(target):
        raise InputError(
            f"{name} has {len(values)} labels for {len(target)} target documents; {advice}"
        )
    return {row: label for row, label in zip(target, values, strict=True) if not is_missing(label)}


def check_gram(gram: Any, *, name: str = "X", n_threads: int = 1) -> NDArray[Any]:
    """Return a kernel matrix as int64 or float64; raise an error that names the first fault."""
    result = as_gram(gram)
    tolerance = 1e-5 if getattr(gram, "dtype", None) in (np.float32, np.float16) else 1e-9
    if result.ndim != 2 or result.shape[0] != result.shape[1]:
        raise InputError(
            f"{name} has shape {result.shape}; a kernel matrix of source and target documents is "
            f"square"
        )
    own = np.diagonal(result)
    if (own < 0).any():
        row = int(np.argmax(own < 0))
        raise InputError(
            f"{name}[{row}, {row}] is negative; a document cannot be that unlike itself"
        )
    scale = KernelFeatures.from_gram(result, adapt=False).scale

    def search(start: int) -> NDArray[np.int64]:
        fault = np.zeros(3, np.int64)
        rows = np.arange(start, min(start + N_ROWS, len(result)))
        find_faults(result, scale, rows, tolerance, fault)
        return fault

    starts = range(0, len(result), N_ROWS)
    for row, column, kind in run_threads(search, starts, n_threads=n_threads):
        if kind:
            raise InputError(_describe_fault(name, result, row, column, kind))
    return result


def check_rows(similarity: NDArray[Any], *, name: str = "X") -> None:
    """Raise an error unless similarities of new documents are finite, and at most 1."""
    wrong = ~(np.abs(similarity) <= 1 + 1e-6)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = similarity[row, column]
        raise InputError(
            f"{name}[{row}, {column}] is {value}; similarities of new documents are finite, from "
            f"-1 to 1"
        )


def _describe_fault(name: str, gram: NDArray[Any], row: int, column: int, kind: int) -> str:
    value, mirror = gram[row, column], gram[column, row]
    here, there = f"{name}[{row}, {column}]", f"{name}[{column}, {row}]"
    if kind == 1:
        place, value = (there, mirror) if np.isfinite(value) else (here, value)
        return (
            f"{place} is {value}; every value of a kernel matrix must be finite, without NaN or "
            f"infinity"
        )
    if kind == 2:
        return f"{here} is {value} and {there} is {mirror}; a kernel matrix is symmetric"
    return (
        f"{here} is {value}, beyond the root of {name}[{row}, {row}] times {name}[{column}, "
        f"{column}]: no kernel gives that"
    )


def as_gram(gram: Any) -> NDArray[Any]:
    """Return an array of int64 or float64 for compiled code; the user's own if it is one."""
    if hasattr(gram, "toarray"):
        raise InputTypeError("X is sparse; sparse data is not supported, give X.toarray()")
    try:
        result = np.asarray(gram)
        if result.dtype.kind not in "iufb":
            result = result.astype(float)
    except (TypeError, ValueError):
        raise InputTypeError(
            "X is not a matrix of numbers; with texts choose another kernel than 'precomputed'"
        ) from None
    whole = result.dtype.kind in "ib" or (result.dtype.kind == "u" and result.dtype.itemsize < 8)
    return np.ascontiguousarray(result, dtype=np.int64 if whole else np.float64)
