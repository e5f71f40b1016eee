"""The transductive classifier: the paper's method behind scikit-learn's interface."""

import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from gramshift.kernels.ranges import check_ngram_range
from gramshift.kernels.registry import KERNELS
from gramshift.learn.calibrate import agree, fit_steepness, softmax
from gramshift.learn.rounds import Round
from gramshift.learn.selection import choose_classes
from gramshift.learn.solvers import SOLVERS
from gramshift.model.explain import Explanation, explain_text
from gramshift.model.fitted import Calibration, Model
from gramshift.model.inputs import Known, check_gram, gather, read_labels
from gramshift.model.landmarks import LandmarkTrainer
from gramshift.model.large import Given, choose, count_landmarks, gather_parts, open_store, prepare_gram
from gramshift.model.saving import kernel_to_json, save_classifier
from gramshift.model.settings import PRESETS, check_landmarks, fill_in, in_effect
from gramshift.model.similarities import Comparison, copy_kernel, make_comparison
from gramshift.model.string_kernel import StringKernel
from gramshift.model.trainer import Trainer
from gramshift.runtime.resources import check_engine, open_engine
from gramshift.runtime.threads import Progress, count_threads
from gramshift.text.corpus import Corpus, digest_of
from gramshift.text.documents import as_documents

Floats = NDArray[np.float64]


class TransductiveClassifier(ClassifierMixin, BaseEstimator):
    """Learns from labelled source documents and labels target documents, which it adapts to; the defaults are the paper.

    Parameters
    ----------
    preset : {"paper", "best"}
        What holds for all parameters below that are None: the paper's choices, or the best that we know.
    kernel : a kind of StringKernel by its name, "words", "precomputed", a StringKernel, a callable, or a list of these
        How documents are compared; "words" is the presence of words and pairs of words. Values are normalised; several
        kernels are averaged after that. With "precomputed", X is the square gram of source and target documents, and gaps in
        y mark the target. A callable k(A, B) gets lists of texts, or arrays where X has rows of numbers.
    ngram_range : (lo, hi)
        For kernels given by name.
    weighting : {"none", "idf"} or dict
        For the kernels "presence" and "words" given by name: as in :class:`StringKernel`. Domains are source and target;
        classes are those of the documents that a round learns from, so the kernel changes from round to round.
    adapt : bool
        Describe every document by its similarity to all source and target documents (the paper's transductive kernel).
    n_rounds : int
        2 as in the paper: the second round also learns from answers of the first. More are allowed.
    n_added : int, float or list of these
        How many target documents join the training set after a round; a float up to 1.0 is a share of the target. All of
        them if there are fewer. A list has a number for each round after the first.
    select : {"surest", "source shares", "estimated shares"} or dict
        Which ones: the surest, as in the paper; or of each class its share of them, the surest first, where the shares are
        those of the source, given by class, or estimated from the target's scores after the first round: then they are
        the source's unless some class seems to differ by more than 0.1.
    alpha : float
        Regularisation of the ridge regression and of the discriminant analysis.
    classifier : {"ridge", "discriminant", "svm"}
        What learns on the kernel: ridge regression, kernel discriminant analysis, a support vector machine.
    bias : bool
        An unpenalised intercept for "ridge". The paper has none.
    landmarks : int or "auto", optional
        Describe documents by their similarity to so many of them instead of to all, or to as many as the memory limit allows,
        up to 10,000: for many documents. X and target may then come in parts (:func:`open_parts`). Only for "ridge".
    landmark_choice : {"uniform", "spread"}
        How they are drawn: each document with the same chance, or those far from the ones before with a larger one.
    random_state : int
        Of that drawing.
    engine : {"threads", "dask"}
        Where documents are compared, and with landmarks trained on: in this process, or by Dask workers.
    scheduler : str, optional
        For "dask": the address of a running one. Default: ``n_jobs`` processes on this machine, for the time of the fit.
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
    landmarks_ : array of int or None
        The numbers of the documents that were landmarks, source before target.
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
        kernel: Any = None,
        *,
        preset: str = "paper",
        ngram_range: tuple[int, int] = (5, 8),
        weighting: Any = None,
        adapt: bool | None = None,
        n_rounds: int | None = None,
        n_added: Any = None,
        select: Any = None,
        alpha: float | None = None,
        classifier: str = "ridge",
        bias: bool = False,
        landmarks: int | str | None = None,
        landmark_choice: str = "uniform",
        random_state: int = 0,
        engine: str = "threads",
        scheduler: str | None = None,
        memory_limit: int | float | str | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.kernel = kernel
        self.preset = preset
        self.ngram_range = ngram_range
        self.weighting = weighting
        self.adapt = adapt
        self.n_rounds = n_rounds
        self.n_added = n_added
        self.select = select
        self.alpha = alpha
        self.classifier = classifier
        self.bias = bias
        self.landmarks = landmarks
        self.landmark_choice = landmark_choice
        self.random_state = random_state
        self.engine = engine
        self.scheduler = scheduler
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, *, target: Any = None, resume: Any = None, progress: Progress | None = None) -> Self:
        """Learn from X with labels y, adapt to the target documents and label them.

        Documents of X whose label is missing (None, NaN, NA) are target documents too, before those of ``target``.
        With ``resume``, the name of a folder, finished pieces of the work are kept there: a fit that was interrupted goes on
        with them. ``progress`` is called as progress(stage, done, total), from this thread.
        """
        if self.landmarks is None:
            self._fit(X, y, target, progress, resume=resume)
        else:
            self._fit_landmarks(X, y, target, progress, resume)
        return self

    def _fit(
        self, X: Any, y: Any, target: Any, progress: Progress | None, gram: NDArray[Any] | None = None, resume: Any = None
    ) -> Trainer:
        """``gram`` holds the counts of all documents, if they are known already."""
        settings, comparison = self._check_parameters()
        documents, labels = gather(X, y, target, read=self._reader(X, target, comparison, reset=True))
        known = read_labels(labels, settings["select"])
        if gram is None:
            given = Given(Corpus(documents) if isinstance(documents, list) else documents, labels)
            gram = prepare_gram(given, comparison, settings, resume=resume, progress=progress)
        trainer = Trainer(
            comparison, documents, known.is_source, known.codes, known.classes.tolist(), settings, gram=gram, progress=progress
        )
        self._keep(trainer.run(), trainer, documents, known, settings)
        return trainer

    def _fit_landmarks(self, X: Any, y: Any, target: Any, progress: Progress | None, resume: Any) -> None:
        """Probabilities are calibrated at once, while the documents are there."""
        settings, comparison = self._check_parameters()
        assert comparison is not None, "checked before"
        if resume is not None:
            kernel_to_json(comparison.kernels)  # one that is a function cannot be known again
        given = gather_parts(X, y, target, comparison)
        known = read_labels(given.labels, settings["select"])
        n_landmarks = count_landmarks(given, settings, comparison, kept=resume is not None)
        with open_engine(self.engine, self.scheduler, n_jobs=self.n_jobs, memory_limit=self.memory_limit) as cluster:
            chosen = choose(given, comparison, settings, n_landmarks, progress)
            with open_store(chosen, comparison, settings, given, resume) as store:
                trainer = LandmarkTrainer(
                    comparison, given.documents, known.is_source, known.codes, known.classes.tolist(), settings,
                    landmarks=chosen.rows, seen=chosen.seen, store=store, cluster=cluster, progress=progress,
                )  # fmt: skip
                self._keep(trainer.run(), trainer, chosen.seen.landmarks, known, settings)
                self._set_landmarks(chosen.rows, chosen.seen.digests)
                self._calibrate_with(trainer)

    def _keep(self, rounds: list[Round], trainer: Trainer, documents: Any, known: Known, settings: dict[str, Any]) -> None:
        """All that a fit leaves behind; ``documents`` are those that others are compared with."""
        last = rounds[-1]
        coefficients = np.ascontiguousarray(last.fitted.coefficients)  # sums are the same after loading
        adapt, intercepts = bool(settings["adapt"]), last.fitted.intercepts
        self._model = Model(trainer.comparison, documents, adapt, coefficients, intercepts, trainer.normalized)
        self._parameters = self._snapshot(settings)
        added = np.flatnonzero(~known.is_source)[last.added]
        self._training = np.flatnonzero(known.is_source), known.codes, added, last.added_codes
        self._calibration = Calibration()
        self.classes_ = known.classes
        self._set_landmarks(None, None)
        self._tell(rounds, known.is_source)

    def _set_landmarks(self, rows: NDArray[np.intp] | None, digests: NDArray[np.uint8] | None) -> None:
        self.landmarks_, self._digests = rows, digests
        self._places: dict[bytes, int] | None = None

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
        X = self._read(X)
        steepness, _ = self._calibrate()
        probabilities = softmax(self._score(X), steepness)
        known = self._find_known(X)
        if known:
            ours = self.transduction_proba_
            for row, place in known:
                probabilities[row] = ours[place]
        return probabilities

    @property
    def transduction_proba_(self) -> Floats:
        """Probabilities of the target documents.

        A document that joined the training is judged by what the others teach, not by the answer that it joined with; if these
        would answer otherwise, it gets its label with the least certainty that there is.
        """
        self._check_fitted()
        steepness, scores = self._calibrate()
        return agree(softmax(scores, steepness), choose_classes(self.transduction_score_))

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
        rows = np.arange(len(self.labeled_iter_)) if self.landmarks_ is None else self.landmarks_
        roles = ["target" if number else "source" for number in self.labeled_iter_[rows]]
        labels = self._fit_labels()
        return explain_text(
            self._model,
            text,
            classes=self.classes_.tolist(),
            labels=[labels[row] for row in rows.tolist()],
            roles=roles,
            numbers=rows.tolist(),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier into one file, for ``gramshift.load``; it holds all texts, or those of landmarks."""
        self._check_fitted()
        save_classifier(self, path)

    def _check_parameters(self) -> tuple[dict[str, Any], Comparison | None]:
        """Raise an error if a parameter is wrong; else all of them and how documents are compared, None if that is given."""
        settings = fill_in(self.get_params(deep=False))
        if not isinstance(self.classifier, str) or self.classifier not in SOLVERS:
            raise ValueError(f"classifier={self.classifier!r}: must be one of {', '.join(map(repr, SOLVERS))}")
        check_ngram_range(self.ngram_range)
        check_engine(self.engine, self.scheduler)
        if self.landmarks is not None:
            check_landmarks(settings)
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return settings, None
        options = {"memory_limit": self.memory_limit, "n_jobs": self.n_jobs}
        return settings, make_comparison(settings["kernel"], self.ngram_range, settings["weighting"], **options)

    def _reader(self, X: Any, target: Any, comparison: Comparison | None, *, reset: bool) -> Callable[..., Any]:
        """How X becomes documents: a gram, rows of numbers, or texts."""
        if comparison is None:
            if target is not None:
                raise ValueError("with kernel='precomputed' X holds the target too: mark its rows by missing labels in y")
            return lambda X, name: check_gram(X, n_threads=count_threads(self.n_jobs))
        if comparison.takes_rows(X):
            return lambda X, name: validate_data(self, X, reset=reset and name == "X", dtype=float, copy=True)
        return as_documents

    def _snapshot(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The parameters of this fit, whatever is set later; ``settings`` are those that hold."""
        held = {name: settings[name] for name in PRESETS["paper"]} | {"kernel": copy_kernel(settings["kernel"])}
        parameters: dict[str, Any] = self.get_params(deep=False)
        named = {"kernel": copy_kernel(self.kernel), "ngram_range": tuple(map(int, self.ngram_range))}
        return parameters | named | {"settings": held}

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

    def _calibrate(self) -> tuple[float, Floats]:
        """The steepness and the target's scores that probabilities need; when first asked for it takes another training."""
        self._check_fitted()
        if self._calibration.scores is None:
            model, is_source, codes = self._model, self.labeled_iter_ == 0, self._training[1]
            held = in_effect(self._parameters)
            return self._calibrate_with(
                Trainer(model.comparison, model.documents, is_source, codes, self.classes_.tolist(), held)
            )
        return self._calibration.steepness, self._calibration.scores

    def _calibrate_with(self, trainer: Trainer) -> tuple[float, Floats]:
        source, codes, added, added_codes = self._training
        held_out, scores = trainer.held_out(added, added_codes), self.transduction_score_.copy()
        scores[np.searchsorted(np.flatnonzero(self.labeled_iter_ != 0), added)] = held_out[len(source) :]
        self._calibration.steepness = fit_steepness(held_out[: len(source)], codes)
        self._calibration.scores = scores
        return self._calibration.steepness, scores

    def _read(self, X: Any) -> Any:
        """New documents, as those of the fit."""
        self._check_fitted()
        comparison = self._model.comparison
        return np.asarray(X) if comparison is None else self._reader(X, None, comparison, reset=False)(X, name="X")

    def _score(self, X: Any) -> Floats:
        X = self._read(X)
        scores = self._model.score(X)
        for row, place in self._find_known(X):  # a target document keeps the very score that fit gave it
            scores[row] = self.transduction_score_[place]
        return scores

    def _find_known(self, X: Any) -> list[tuple[int, int]]:
        """Which of these texts are of the target, and which of its documents they are; of equal ones the first."""
        if not isinstance(X, list):
            return []
        if self._places is None:
            self._places = {one: row for row, one in reversed(list(enumerate(self.target_digests())))}
        return [(row, self._places[one]) for row, one in enumerate(map(digest_of, X)) if one in self._places]

    def target_digests(self) -> list[bytes]:
        """By what the target documents are known again, in order."""
        if self._digests is not None:
            return [one.tobytes() for one in self._digests]
        return [digest_of(self._model.documents[row]) for row in np.flatnonzero(self.labeled_iter_ != 0).tolist()]

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
