"""Stacked classifiers: one per view of the documents, and one on what those say of documents they were not trained on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from gramshift.baselines.linear import Linear, fit_logistic, score
from gramshift.learn.calibrate import softmax

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
N_FOLDS = 10


def probabilities(features: Any, linear: Linear) -> Floats:
    """A column per class; of two classes each score is half of the log odds' distance, the other its mirror image."""
    scores = score(features, linear)
    return softmax(scores, 0.5 if scores.shape[1] == 2 else 1.0)


def out_of_fold(features: Any, codes: Codes, n_classes: int, *, C: float) -> Floats | None:
    """Probabilities of each document from a classifier that was trained without it; None if a class has one document only."""
    n_folds = min(N_FOLDS, int(np.bincount(codes, minlength=n_classes).min()))
    if n_folds < 2:
        return None
    result = np.zeros((len(codes), n_classes))
    for kept, held in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(codes, codes):
        result[held] = probabilities(features[held], fit_logistic(features[kept], codes[kept], C=C))
    return result


def fit_stack(views: list[Any], codes: Codes, n_classes: int, *, C: float) -> tuple[list[Linear], Linear]:
    """The classifier of each view, trained on all documents, and the one that weighs them up.

    Where nothing can be held out the views count the same.
    """
    linears = [fit_logistic(view, codes, C=C) for view in views]
    held_out = [held for view in views if (held := out_of_fold(view, codes, n_classes, C=C)) is not None]
    if held_out:
        return linears, fit_logistic(np.hstack(held_out), codes, C=C)
    return linears, (np.tile(np.eye(n_classes), (len(views), 1)) / len(views), np.zeros(n_classes))


def score_stack(views: list[Any], linears: list[Linear], upper: Linear) -> Floats:
    """A column per class."""
    return score(np.hstack([probabilities(view, linear) for view, linear in zip(views, linears, strict=True)]), upper)
