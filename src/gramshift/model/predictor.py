"""What a fitted classifier is asked: labels, probabilities and scores of documents, explanations, and a file of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from gramshift.errors import InputError
from gramshift.learn.calibrate import softmax
from gramshift.learn.rounds import Calibration
from gramshift.learn.selection import choose_classes
from gramshift.model.archive import Writable
from gramshift.model.data_problems import Issues
from gramshift.model.explanation import Explanation, explain_text
from gramshift.model.fitted import Fit
from gramshift.model.saving import save_fit

Floats = NDArray[np.float64]


class Predictor:
    """What a classifier can do once it has a fit."""

    _fit: Fit
    _reader: Callable[..., Any]
    """How X becomes documents."""
    classes_: NDArray[Any]
    n_jobs: int | None

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
        """A probability per class, calibrated as those of the target are; the predicted class has the largest."""
        return self._judge(self._read(X))[1]

    def _judge(self, X: Any) -> tuple[Floats, Floats]:
        """Scores and probabilities of documents that were read."""
        scores = self._score_read(X)
        probabilities = softmax(scores, self._calibration.steepness)
        for row, place in self._fit.find_known(X):
            probabilities[row] = self._fit.probabilities[place]
        return scores, probabilities

    @property
    def transduction_proba_(self) -> Floats:
        """Probabilities of the target documents.

        A document that joined the training is judged by what the others teach, not by the answer that it joined with; if these
        would answer otherwise, it gets its label with the least certainty that there is.
        """
        self._check_fitted()
        return self._fit.wanted_probabilities.copy()

    @property
    def issues_(self) -> Issues:
        """Problems in the data: doubtful labels of the source, copies, empty texts, target documents unlike the source.

        They are looked for when they are asked for, once: a fit takes no longer for them. ``issues_.to_frame()`` makes a table.
        """
        self._check_fitted()
        return self._fit.issues

    def explain(self, text: str) -> Explanation:
        """The parts of one document that pushed towards each class, and the documents of the fit that counted most.

        The shares add up to the score, with what an empty document would score. A model without texts names no documents.
        """
        self._check_fitted()
        return explain_text(self._fit, text)

    def strongest_ngrams(
        self, n: int = 50, *, overlapping: bool = True, counts: bool = False
    ) -> dict[Any, list[tuple[Any, ...]]]:
        """The n-grams that speak most for each class of a linear model such as the preset "best", and what each is worth.

        Of n-grams that stand in the same documents the longest is listed, with what it is worth before scores are normalised.
        For people to read: with overlapping=False those are left out that share half or more with a stronger one. With
        counts=True each has two numbers more: how many source and how many target documents have it.
        """
        self._check_fitted()
        return self._fit.strongest_ngrams(n, overlapping=overlapping, counts=counts)

    def save(self, path: Writable, *, texts: bool = False) -> None:
        """Write the fitted classifier into one file, for ``gramshift.load``: a name, or a file that is open for writing bytes.

        Of a linear model such as the preset "best" it holds n-grams that two documents or more share, with coefficients, and
        no document, unless ``texts`` asks for all of them: explanations show these as neighbours. Files of other models
        always hold the documents that new ones are compared with.
        """
        self._check_fitted()
        if not isinstance(texts, (bool, np.bool_)):
            raise InputError(f"texts={texts!r}: give True or False")
        save_fit(self._fit, path, texts=bool(texts))

    @property
    def _calibration(self) -> Calibration:
        assert self._fit.calibration is not None, "a fit that users made has it"
        return self._fit.calibration

    def _read(self, X: Any) -> Any:
        """New documents, as those of the fit."""
        self._check_fitted()
        similarities = self._fit.model.similarities
        return np.asarray(X) if similarities is None else self._reader(X, None, similarities, reset=False)(X, name="X")

    def _score(self, X: Any) -> Floats:
        return self._score_read(self._read(X))

    def _score_read(self, X: Any) -> Floats:
        scores = self._fit.model.score(X, n_jobs=self.n_jobs)
        for row, place in self._fit.find_known(X):  # a target document keeps the very score that fit gave it
            scores[row] = self._fit.scores[place]
        return scores

    def _check_fitted(self) -> None:
        if not hasattr(self, "_fit"):
            raise NotFittedError("This TransductiveClassifier is not fitted yet: call fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fit")
