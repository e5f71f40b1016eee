"""Linear classifiers: a column of coefficients per class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Linear = tuple[Floats, Floats]
"""Coefficients (columns x classes) and intercepts; with two classes one is the other's mirror image."""


def fit_logistic(X: Any, codes: Codes, *, C: float, weights: Floats | None = None) -> Linear:
    """Logistic regression with a quadratic penalty; ``weights`` of the rows.

    On one thread: its steps on vectors are so short that waiting threads of BLAS take several times the time of the work.
    """
    with threadpool_limits(1, user_api="blas"):
        return columns(LogisticRegression(C=C, max_iter=5000).fit(X, codes, sample_weight=weights))


def fit_machine(X: Any, codes: Codes, *, C: float, weights: Floats | None = None) -> Linear:
    """Support vectors with squared hinge loss, one class against the rest."""
    return columns(LinearSVC(C=C, max_iter=20000, random_state=0).fit(X, codes, sample_weight=weights))


def score(X: Any, linear: Linear) -> Floats:
    """A column per class."""
    coefficients, intercepts = linear
    return np.asarray(X @ coefficients + intercepts)


def columns(model: Any) -> Linear:
    """Those of a fitted model of scikit-learn."""
    coefficients, intercepts = model.coef_.T, model.intercept_
    if coefficients.shape[1] == 1:
        coefficients, intercepts = np.hstack([-coefficients, coefficients]), np.array([-intercepts[0], intercepts[0]])
    return np.ascontiguousarray(coefficients), intercepts
