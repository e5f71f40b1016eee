"""String kernels with kernel discriminant analysis, without any target document."""

from typing import Any

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.errors import InputError
from gramshift.model.classifier import TransductiveClassifier, fit_on_gram
from gramshift.model.fitted import Model
from gramshift.model.similarities import Reference, make_similarities
from gramshift.runtime.resources import Runtime


class KernelDiscriminant(Baseline):
    """String kernels and kernel discriminant analysis, as Giménez-Pérez, Franco-Salvador and Rosso (EACL 2017) have it.

    For two classes of equal size it scores as ridge regression with an intercept does.

    Parameters
    ----------
    kernel : {"presence", "intersection", "spectrum"}, StringKernel or list of these
    ngram_range : (lo, hi)
        For kernels given by name.
    alpha : float
        Added to the spread within classes.
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
        if self.kernel == "precomputed":
            raise InputError(
                "kernel='precomputed': give texts and a string kernel; TransductiveClassifier takes kernel matrices"
            )
        self._classifier()._check_parameters(Runtime())

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        classifier = self._classifier()
        fit_on_gram(classifier, source, codes.tolist(), None, Runtime(), calibrate=False)
        model = classifier._fit.model
        return {"texts": source, "coefficients": model.coefficients, "intercepts": model.intercepts}

    def _score_texts(self, state: State, texts: list[str]) -> Floats:
        similarities = make_similarities(self.kernel, self.ngram_range)
        return Model(
            similarities,
            Reference(state["texts"]),
            False,
            state["coefficients"],
            state["intercepts"],
        ).score(texts)

    def _classifier(self) -> TransductiveClassifier:
        return TransductiveClassifier(
            self.kernel,
            preset="paper",
            ngram_range=self.ngram_range,
            adapt=False,
            n_rounds=1,
            alpha=self.alpha,
            classifier="discriminant",
        )
