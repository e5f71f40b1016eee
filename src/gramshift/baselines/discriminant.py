"""String kernels with kernel discriminant analysis, trained on the source alone."""

import warnings
from typing import Any

import numpy as np

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.errors import FitWarning, InputError
from gramshift.model.classifier import TransductiveClassifier


class KernelDiscriminant(Baseline):
    """String kernels and kernel discriminant analysis of Giménez-Pérez and others (EACL 2017).

    For two classes of equal size it scores like ridge regression with an intercept.

    Parameters
    ----------
    kernel : {"presence", "intersection", "spectrum"}, StringKernel or list of these
    ngram_range : (lo, hi)
        Lengths of n-grams, for kernels given by name.
    alpha : float
        Added to the within-class scatter.
    """

    needs_target = False

    def __init__(
        self,
        kernel: Any = "presence",
        *,
        ngram_range: tuple[int, int] = (5, 8),
        alpha: float = 1e-5,
    ) -> None:
        self.kernel = kernel
        self.ngram_range = ngram_range
        self.alpha = alpha

    def _check_parameters(self) -> None:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise InputError(
                "kernel='precomputed': give texts and a string kernel; "
                "TransductiveClassifier takes kernel matrices"
            )
        super()._check_parameters()

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        classifier = TransductiveClassifier(
            self.kernel,
            preset="paper",
            ngram_range=self.ngram_range,
            adapt=False,
            n_rounds=1,
            alpha=self.alpha,
            classifier="discriminant",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # there is no target to adapt to
            classifier.fit(source, codes)
        return {"classifier": classifier}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        scores: Floats = state["classifier"].decision_function(texts)
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
