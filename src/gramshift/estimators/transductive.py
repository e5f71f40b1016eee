"""The transductive classifier: the paper's method behind scikit-learn's interface."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from gramshift.estimators.comparison import make_comparison
from gramshift.estimators.labels import as_labels, encode_labels, is_missing
from gramshift.estimators.target import Target
from gramshift.kernels.ranges import check_ngram_range
from gramshift.learn.adapt import adapted_kernel, exponential, normalize_gram
from gramshift.learn.calibrate import fit_steepness, softmax
from gramshift.learn.discriminant import solve_discriminant
from gramshift.learn.ridge import leave_one_out_scores, solve_ridge
from gramshift.learn.rounds import Codes, Outcome, Solve, transduce
from gramshift.learn.targets import choose_classes, one_versus_all
from gramshift.text.documents import as_documents

Floats = NDArray[np.float64]


class TransductiveClassifier(ClassifierMixin, BaseEstimator):
    """Learns from labelled source documents and labels target documents, which it adapts to; the defaults are the paper.

    Parameters
    ----------
    kernel : {"presence", "intersection", "spectrum", "precomputed"}, StringKernel, callable or list of these
        How documents are compared. Values are normalised; several kernels are averaged after that. With "precomputed", X
        is the square gram of source and target documents, and gaps in y mark the target.
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
    bias : bool
        An unpenalised intercept for "ridge". The paper has none.
    memory_limit, n_jobs
        As in :class:`StringKernel`.

    Attributes
    ----------
    classes_ : the labels, sorted
    transduction_, transduction_score_ : for each target document its label and the scores of all classes
    labeled_iter_ : for source then target documents: 0 given, k added for round k + 1, -1 never
    history_ : for each round how many documents of each class were added before it, how many labels changed, seconds

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

    def fit(self, X: Any, y: Any, *, target: Any = None) -> Self:
        """Learn from X with labels y, adapt to the target documents and label them.

        Documents of X whose label is missing (None, NaN, NA) are target documents too, before those of ``target``.
        """
        self._check_parameters()
        documents, labels = self._gather(X, y, target)
        order = np.array([not is_missing(label) for label in labels], bool)
        order = np.concatenate([np.flatnonzero(order), np.flatnonzero(~order)])
        n_source = sum(not is_missing(label) for label in labels)
        self.classes_, codes = encode_labels([labels[i] for i in order[:n_source]])
        similarity = self._fit_similarity(documents, order)
        described = exponential(similarity) if self.adapt else similarity
        kernel = adapted_kernel(described) if self.adapt else similarity
        n_target = len(labels) - n_source
        n_rounds = self.n_rounds if n_target else 1
        added = self.n_added if isinstance(self.n_added, Integral) else max(1, round(float(self.n_added) * n_target))
        outcome = transduce(kernel, codes, len(self.classes_), solve=self._solve, n_rounds=n_rounds, n_added=int(added))
        self._keep(documents, order, codes, described, kernel, outcome)
        return self

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
        """A probability per class, calibrated on leave-one-out scores of the source; the predicted class has the largest."""
        return softmax(self._score(X), self._steepness())

    @property
    def transduction_proba_(self) -> Floats:
        """Probabilities of the target documents."""
        self._check_fitted()
        return softmax(self.transduction_score_, self._steepness())

    def _check_parameters(self) -> None:
        if not (self._is("n_rounds", Integral) and self.n_rounds >= 1):
            raise ValueError(f"n_rounds={self.n_rounds!r}: give a whole number from 1 on; 2 is the paper's")
        share = self._is("n_added", Real) and not isinstance(self.n_added, Integral)
        if not self._is("n_added", Real) or self.n_added <= 0 or (share and self.n_added > 1):
            advice = "to add none, use n_rounds=1"
            raise ValueError(f"n_added={self.n_added!r}: give a count from 1 on, or a share of the target up to 1.0; {advice}")
        if not self._is("alpha", Real) or not 0 < self.alpha < np.inf:
            raise ValueError(f"alpha={self.alpha!r}: give a number above 0; 1e-5 is the paper's")
        if self.classifier not in ("ridge", "discriminant", "svm"):
            raise ValueError(f"classifier={self.classifier!r}: must be one of 'ridge', 'discriminant', 'svm'")
        check_ngram_range(self.ngram_range)

    def _is(self, name: str, kind: type) -> bool:
        value = getattr(self, name)
        return isinstance(value, kind) and not isinstance(value, bool)

    def _gather(self, X: Any, y: Any, target: Any) -> tuple[Any, list[Any]]:
        """Source and target documents in one list (or the gram itself), and their labels with gaps for the target."""
        target = target.documents if isinstance(target, Target) else target
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            if target is not None:
                raise ValueError("with kernel='precomputed' X holds the target too: mark its rows by missing labels in y")
            gram = check_gram(X)
            return gram, as_labels(y, n_documents=len(gram))
        documents = as_documents(X, name="X")
        labels = as_labels(y, n_documents=len(documents))
        if target is not None:
            more = as_documents(target, name="target")
            if not more:
                raise ValueError("target is an empty list; leave it out for an ordinary classifier")
            documents, labels = documents + more, labels + [None] * len(more)
        return documents, labels

    def _fit_similarity(self, documents: Any, order: Codes) -> Floats:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            self._order, self._self_kernels = order, np.diagonal(documents)[order]
            return normalize_gram(documents[np.ix_(order, order)])
        self._comparison = make_comparison(self.kernel, self.ngram_range, memory_limit=self.memory_limit, n_jobs=self.n_jobs)
        return self._comparison.similarities([documents[i] for i in order])

    @property
    def _solve(self) -> Solve:
        if self.classifier == "ridge":
            return lambda kernel, targets: solve_ridge(kernel, targets, self.alpha, bias=self.bias)
        if self.classifier == "discriminant":
            return lambda kernel, targets: solve_discriminant(kernel, targets, self.alpha)
        return solve_svm

    def _keep(self, documents: Any, order: Codes, codes: Codes, described: Floats, kernel: Floats, outcome: Outcome) -> None:
        """Fitted attributes, and what later predictions need."""
        n_source = len(codes)
        self.transduction_score_ = outcome.scores
        self.transduction_ = self.classes_[choose_classes(outcome.scores)] if len(outcome.scores) else self.classes_[:0]
        iteration = np.full(len(order), -1)
        iteration[order[:n_source]] = 0
        for number, step in enumerate(outcome.rounds):
            if number:
                iteration[order[n_source + step.added]] = number
        self.labeled_iter_ = iteration
        self.history_ = [
            {
                "added": {label: int(np.sum(step.added_codes == code)) for code, label in enumerate(self.classes_.tolist())},
                "changed": step.changed,
                "seconds": step.seconds,
            }
            for step in outcome.rounds
        ]
        if self.adapt:  # the inner product with each training document, and its weight, in one step
            self._weights = described[outcome.training].T @ outcome.weights
        else:
            self._weights = np.zeros((len(order), len(self.classes_)))
            self._weights[outcome.training] = outcome.weights
        self._intercepts = outcome.intercepts
        self._n_source = n_source
        texts = not (isinstance(self.kernel, str) and self.kernel == "precomputed")
        self._documents = [documents[i] for i in order] if texts else None
        train = kernel[np.ix_(outcome.training, outcome.training)]
        given = one_versus_all(np.concatenate([codes, outcome.rounds[-1].added_codes]), len(self.classes_))
        self._calibration: Any = (train, given, codes)

    def _steepness(self) -> float:
        """Fitted when first asked for: it takes the inverse of the training kernel."""
        self._check_fitted()
        if isinstance(self._calibration, tuple):
            train, given, codes = self._calibration
            bias = self.bias or self.classifier != "ridge"
            scores = leave_one_out_scores(train, given, self.alpha, bias=bias)[: len(codes)]
            self._calibration = fit_steepness(scores, codes)
        return float(self._calibration)

    def _score(self, X: Any) -> Floats:
        self._check_fitted()
        X = X if self._documents is None else as_documents(X, name="X")  # once: it may be a generator
        similarity = self._new_similarity(X)
        scores: Floats = (exponential(similarity) if self.adapt else similarity) @ self._weights + self._intercepts
        if self._documents is not None:  # a target document keeps the very score that fit gave it
            known = {text: i for i, text in reversed(list(enumerate(self._documents[self._n_source :])))}
            for row, text in enumerate(X):
                if text in known:
                    scores[row] = self.transduction_score_[known[text]]
        return scores

    def _new_similarity(self, X: Any) -> Floats:
        if self._documents is not None:
            return self._comparison.similarities(X, self._documents)
        gram = np.asarray(X, dtype=float)
        if gram.ndim != 2 or gram.shape[1] != len(self._self_kernels):
            n = len(self._self_kernels)
            raise ValueError(f"X has shape {gram.shape}; give the kernel of new documents with all {n} fitted ones")
        if not np.allclose(self._self_kernels[self._self_kernels > 0], 1):
            advice = "divide it so that every document has 1 with itself, and fit again"
            raise ValueError(f"new documents need a normalised gram: {advice}")
        return gram[:, self._order]

    def _check_fitted(self) -> None:
        if not hasattr(self, "classes_"):
            raise NotFittedError("This TransductiveClassifier is not fitted yet: call fit first")


def check_gram(gram: Any) -> Floats:
    """A square, symmetric gram of finite numbers, or an error that names the first fault."""
    try:
        result = np.asarray(gram, dtype=float)
    except (TypeError, ValueError):
        raise TypeError("X is not a matrix of numbers; with texts choose another kernel than 'precomputed'") from None
    if result.ndim != 2 or result.shape[0] != result.shape[1]:
        raise ValueError(f"X has shape {result.shape}; a precomputed gram of source and target documents is square")
    if not np.isfinite(result).all():
        row, column = np.argwhere(~np.isfinite(result))[0]
        raise ValueError(f"X[{row}, {column}] is {result[row, column]}; every value of a gram must be finite")
    difference = np.abs(result - result.T)
    if difference.max(initial=0.0) > 1e-9 * max(1.0, np.abs(result).max(initial=0.0)):
        row, column = np.unravel_index(np.argmax(difference), result.shape)
        raise ValueError(f"X[{row}, {column}] and X[{column}, {row}] differ; a gram is symmetric")
    if (np.diagonal(result) < 0).any():
        row = int(np.argmax(np.diagonal(result) < 0))
        raise ValueError(f"X[{row}, {row}] is negative; a document cannot be that unlike itself")
    return result


def solve_svm(kernel: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Dual weights and intercepts of scikit-learn's support vector machine, one versus all."""
    weights, intercepts = np.zeros(targets.shape), np.zeros(targets.shape[1])
    for column, target in enumerate(targets.T):
        machine = SVC(kernel="precomputed").fit(kernel, target)
        weights[machine.support_, column] = machine.dual_coef_[0]
        intercepts[column] = machine.intercept_[0]
    return weights, intercepts
