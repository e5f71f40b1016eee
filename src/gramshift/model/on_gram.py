"""Fitting several classifiers on the same documents, whose gram is computed once."""

from typing import Any

from numpy.typing import NDArray

from gramshift.model.classifier import TransductiveClassifier
from gramshift.runtime.threads import Progress


def fit_on_gram(
    classifier: TransductiveClassifier,
    documents: list[str],
    labels: list[Any],
    gram: NDArray[Any] | None,
    *,
    progress: Progress | None = None,
    calibrate: bool = True,
) -> None:
    """Fit one of several classifiers on the same documents; gaps in the labels mark the target.

    ``gram`` holds the counts that its kernel finds, None for a classifier that compares in ways of its own. Probabilities are
    calibrated at once, while what they need is there.
    """
    trainer = classifier._fit(documents, labels, None, progress, gram)
    if calibrate:
        classifier._calibrate_with(trainer)
