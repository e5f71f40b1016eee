"""The transductive classifier: the paper's method behind scikit-learn's interface."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from gramshift.engine.threads import Progress, count_threads
from gramshift.estimators.comparison import Comparison, make_comparison
from gramshift.estimators.explanation import Explanation, explain_text
from gramshift.estimators.files import save_classifier
from gramshift.estimators.inputs import check_gram, check_memory, gather
from gramshift.estimators.labels import encode_labels, is_missing
from gramshift.estimators.model import Model
from gramshift.estimators.string_kernel import StringKernel
from gramshift.kernels.kinds import KERNELS
from gramshift.kernels.ranges import check_ngram_range
from gramshift.learn.calibrate import fit_steepness, softmax
from gramshift.learn.described import Described
from gramshift.learn.rounds import Round, transduce
from gramshift.learn.solvers import SOLVERS, Solver
from gramshift.learn.targets import choose_classes, one_versus_all
from gramshift.text.documents import as_documents

Floats = NDArray[np.float64]
LARGEST_ALPHA = 1e12  # beyond it all scores are the same to rounding


@dataclass
class Calibration:
    """Of the probabilities; worked out when first asked for."""

    steepness: float | None = None


class TransductiveClassifier(ClassifierMixin, BaseEstimator):
    """Learns from labelled source documents and labels target documents, which it adapts to; the defaults are the paper.

    Parameters
    ----------
    kernel : a kind of StringKernel by its name, "precomputed", a StringKernel, a callable, or a list of these
        How documents are compared. Values are normalised; several kernels are averaged after that. With "precomputed", X
        is the square gram of source and target documents, and gaps in y mark the target. A callable k(A, B) gets lists of
        texts, or arrays where X has rows of numbers.
    ngram_range : (lo, hi)
        For kernels given by name.
    adapt : bool
        Describe every document by its similarity to all source and target documents (the paper's transductive kernel).
    n_rounds : int
        2 as in the paper: the second round also learns from the surest answers of the first. More are allowed.
    n_added : int or float
        How many target documents join the training set after a round; a float up to 1.0 is a share of the target. All of
        them if there are fewer.
    alpha : float
        Regularisation of the ridge regression and of the discriminant analysis.
    classifier : {"ridge", "discriminant", "svm"}
        What learns on the kernel: ridge regression, kernel discriminant analysis, a support vector machine.
    bias : bool
        An unpenalised intercept for "ridge". The paper has none.
    memory_limit, n_jobs
        As in ``StringKernel``.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    transduction_, transduction_score_ : arrays
        For each target document its label, and the scores of all classes.
    labeled_iter_ : array of int
        For source then target documents: 0 given, k added for round k + 1, -1 never.
    history_ : list of dict
        For each round how many documents of each class were added before it, how many target documents it gave each label,
        how many labels changed, seconds.

    Examples
    --------
    >>> import gramshift as gs
    >>> clf = gs.TransductiveClassifier(ngram_range=(2, 4))
    >>> source = ["a great, great pan", "this pan broke at once", "great knife", "the knife broke, sadly"]
    >>> target = ["a great film", "the disc broke", "great great fun"]
    >>> clf.fit(source, ["good", "bad", "good", "bad"], target=target).transduction_.tolist()
    ['good', 'bad', 'good']
    """

    def __init__(
        self,
        kernel: Any = "presence",
        *,
        ngram_range: tuple[int, int] = (5, 8),
        adapt: bool = True,
        n_rounds: int = 2,
        n_added: int | float = 1000,
        alpha: float = 1e-5,
        classifier: str = "ridge",
        bias: bool = False,
        memory_limit: int | float | str | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.kernel = kernel
        self.ngram_range = ngram_range
        self.adapt = adapt
        self.n_rounds = n_rounds
        self.n_added = n_added
        self.alpha = alpha
        self.classifier = classifier
        self.bias = bias
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, *, target: Any = None, progress: Progress | None = None) -> Self:
        """Learn from X with labels y, adapt to the target documents and label them.

        Documents of X whose label is missing (None, NaN, NA) are target documents too, before those of ``target``.
        ``progress`` is called as progress(stage, done, total), from this thread.
        """
        self._fit(X, y, target, progress)
        return self

    def _fit(self, X: Any, y: Any, target: Any, progress: Progress | None, gram: NDArray[Any] | None = None) -> Solver:
        """``gram`` holds the counts of all documents, if they are known already."""
        comparison = self._check_parameters()
        documents, labels = gather(X, y, target, read=self._reader(X, target, comparison, reset=True))
        is_source = np.array([not is_missing(label) for label in labels], bool)
        source = np.flatnonzero(is_source)
        classes, codes = encode_labels([labels[i] for i in source])
        check_memory(len(labels), len(source), self.memory_limit)
        parameters = self._snapshot()
        if gram is not None:
            described = Described.from_gram(gram, adapt=bool(self.adapt), n_threads=count_threads(self.n_jobs))
        else:
            described = _describe_all(comparison, documents, parameters, progress)
        solver = SOLVERS[self.classifier](described, source, float(self.alpha), bool(self.bias), progress)
        n_added = int(self.n_added) if isinstance(self.n_added, Integral) else max(1, round(self.n_added * sum(~is_source)))
        rounds = transduce(described, source, codes, len(classes), solve=solver.solve, n_rounds=self.n_rounds, n_added=n_added)
        last = rounds[-1]
        normalized = bool(np.isclose(described.scale[described.scale > 0], 1).all())
        coefficients = np.ascontiguousarray(last.fitted.coefficients)  # sums are the same after loading
        self._model = Model(comparison, documents, bool(self.adapt), coefficients, last.fitted.intercepts, normalized)
        self._parameters = parameters
        self._training = source, codes, np.flatnonzero(~is_source)[last.added], last.added_codes
        self._calibration = Calibration()
        self.classes_ = classes
        self._tell(rounds, is_source)
        return solver

    def decision_function(self, X: Any) -> Floats:
        """Scores of documents never seen, no refit: for two classes that of the second, else a column per class."""
        scores = self._score(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of documents; those of the target get the label that fit gave them."""
        scores = self._score(X)
        labels: NDArray[Any] = self.classes_[choose_classes(scores)]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """A probability per class, calibrated on held-out scores of the source; the predicted class has the largest."""
        return softmax(self._score(X), self._calibrate())

    @property
    def transduction_proba_(self) -> Floats:
        """Probabilities of the target documents."""
        self._check_fitted()
        return softmax(self.transduction_score_, self._calibrate())

    def explain(self, text: str) -> Explanation:
        """The parts of one document that pushed towards each class, and the documents of the fit that counted most.

        The shares add up to the score, together with what an empty document would score.
        """
        self._check_fitted()
        if not isinstance(text, str):
            raise TypeError(f"explain takes one document as a str, not a {type(text).__name__}; call it for each of several")
        comparison = self._model.comparison
        if comparison is None or not comparison.by_counts:
            counting = ", ".join(repr(name) for name, kind in KERNELS.items() if kind.counts)
            raise ValueError(f"explain needs string kernels that count n-grams ({counting}): of others the parts are not known")
        roles = ["target" if number else "source" for number in self.labeled_iter_]
        return explain_text(self._model, text, classes=self.classes_.tolist(), labels=self._fit_labels(), roles=roles)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier into one file, for ``gramshift.load``; it holds all texts of the fit."""
        self._check_fitted()
        save_classifier(self, path)

    def _check_parameters(self) -> Comparison | None:
        """Raise an error if a parameter is wrong; return how documents are compared, None if that is given."""
        if not (self._is("n_rounds", Integral) and self.n_rounds >= 1):
            raise ValueError(f"n_rounds={self.n_rounds!r}: give a whole number from 1 on; 2 is the paper's")
        share = self._is("n_added", Real) and not isinstance(self.n_added, Integral)
        if not self._is("n_added", Real) or not self.n_added > 0 or (share and self.n_added > 1):
            advice = "to add none, use n_rounds=1"
            raise ValueError(f"n_added={self.n_added!r}: give a count from 1 on, or a share of the target up to 1.0; {advice}")
        if not self._is("alpha", Real) or not 0 < self.alpha <= LARGEST_ALPHA:
            raise ValueError(f"alpha={self.alpha!r}: give a number above 0, up to {LARGEST_ALPHA:g}; 1e-5 is the paper's")
        for name in ("adapt", "bias"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name}={getattr(self, name)!r}: give True or False")
        if not isinstance(self.classifier, str) or self.classifier not in SOLVERS:
            raise ValueError(f"classifier={self.classifier!r}: must be one of {', '.join(map(repr, SOLVERS))}")
        check_ngram_range(self.ngram_range)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return None
        return make_comparison(self.kernel, self.ngram_range, memory_limit=self.memory_limit, n_jobs=self.n_jobs)

    def _is(self, name: str, kind: type) -> bool:
        value = getattr(self, name)
        return isinstance(value, kind) and not isinstance(value, bool)

    def _reader(self, X: Any, target: Any, comparison: Comparison | None, *, reset: bool) -> Callable[..., Any]:
        """How X becomes documents: a gram, rows of numbers, or texts."""
        if comparison is None:
            if target is not None:
                raise ValueError("with kernel='precomputed' X holds the target too: mark its rows by missing labels in y")
            return lambda X, name: check_gram(X, n_threads=count_threads(self.n_jobs))
        if comparison.takes_rows(X):
            return lambda X, name: validate_data(self, X, reset=reset and name == "X", dtype=float, copy=True)
        return as_documents

    def _snapshot(self) -> dict[str, Any]:
        """The parameters of this fit, whatever is set later."""
        kernels = self.kernel if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        copies = [StringKernel(**one.get_params()) if isinstance(one, StringKernel) else one for one in kernels]
        kernel = copies if isinstance(self.kernel, (list, tuple)) else copies[0]
        parameters: dict[str, Any] = self.get_params(deep=False)
        return parameters | {"kernel": kernel, "ngram_range": tuple(map(int, self.ngram_range))}

    def _tell(self, rounds: list[Round], is_source: NDArray[np.bool_]) -> None:
        """The fitted attributes that tell the story."""
        self.transduction_score_ = rounds[-1].scores
        self.transduction_: NDArray[Any] = self.classes_[rounds[-1].codes]
        self.labeled_iter_ = np.where(is_source, 0, -1)
        for number, step in enumerate(rounds[1:], start=1):
            self.labeled_iter_[np.flatnonzero(~is_source)[step.added]] = number
        names = list(enumerate(self.classes_.tolist()))
        self.history_: list[dict[str, Any]] = [
            {
                "added": {label: int(np.sum(step.added_codes == code)) for code, label in names},
                "labels": {label: int(np.sum(step.codes == code)) for code, label in names},
                "changed": step.changed,
                "seconds": step.seconds,
            }
            for step in rounds
        ]

    def _calibrate(self) -> float:
        """The steepness of the probabilities, when first asked for: it takes another training."""
        self._check_fitted()
        if self._calibration.steepness is None:
            fitted = self._parameters
            described = _describe_all(self._model.comparison, self._model.documents, fitted)
            options = float(fitted["alpha"]), bool(fitted["bias"]), None
            return self._calibrate_with(SOLVERS[fitted["classifier"]](described, self._training[0], *options))
        return self._calibration.steepness

    def _calibrate_with(self, solver: Solver) -> float:
        source, codes, added, added_codes = self._training
        targets = one_versus_all(np.concatenate([codes, added_codes]), len(self.classes_))
        scores = solver.held_out(np.concatenate([source, added]), targets)[: len(source)]
        self._calibration.steepness = fit_steepness(scores, codes)
        return self._calibration.steepness

    def _score(self, X: Any) -> Floats:
        self._check_fitted()
        comparison = self._model.comparison
        if comparison is None:
            return self._model.score(np.asarray(X))
        X = self._reader(X, None, comparison, reset=False)(X, name="X")
        scores = self._model.score(X)
        if isinstance(X, list):  # a target document keeps the very score that fit gave it
            known = self._target_rows()
            for row, text in enumerate(X):
                if text in known:
                    scores[row] = self.transduction_score_[known[text]]
        return scores

    def _target_rows(self) -> dict[str, int]:
        """Texts of the target, and which of its documents they are; of equal ones the first."""
        target = np.flatnonzero(self.labeled_iter_ != 0)
        return {self._model.documents[i]: row for row, i in reversed(list(enumerate(target.tolist())))}

    def _fit_labels(self) -> list[Any]:
        """Of all documents of the fit: those given, and those found for the target."""
        labels: list[Any] = [None] * len(self.labeled_iter_)
        source, codes, _, _ = self._training
        for rows, names in ((source, self.classes_[codes]), (np.flatnonzero(self.labeled_iter_ != 0), self.transduction_)):
            for row, name in zip(rows.tolist(), names.tolist(), strict=True):
                labels[row] = name
        return labels

    def _check_fitted(self) -> None:
        if not hasattr(self, "_model"):
            raise NotFittedError("This TransductiveClassifier is not fitted yet: call fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.two_d_array = tags.input_tags.pairwise or self._takes_numbers()
        tags.input_tags.string = not tags.input_tags.two_d_array
        return tags

    def _takes_numbers(self) -> bool:
        kernels = self.kernel if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        return all(callable(kernel) and not isinstance(kernel, StringKernel) for kernel in kernels)


def fit_on_gram(
    classifier: TransductiveClassifier,
    documents: list[str],
    labels: list[Any],
    gram: NDArray[Any],
    *,
    progress: Progress | None = None,
    calibrate: bool = True,
) -> None:
    """Fit one of several classifiers on the same documents, whose counts ``gram`` holds; gaps in the labels mark the target.

    Probabilities are calibrated at once, while what they need is there.
    """
    solver = classifier._fit(documents, labels, None, progress, gram)
    if calibrate:
        classifier._calibrate_with(solver)


def _describe_all(
    comparison: Comparison | None, documents: Any, parameters: dict[str, Any], progress: Progress | None = None
) -> Described:
    adapt = bool(parameters["adapt"])
    if comparison is None:
        return Described.from_gram(documents, adapt=adapt, n_threads=count_threads(parameters["n_jobs"]))
    return comparison.describe_all(documents, adapt=adapt, progress=progress)
