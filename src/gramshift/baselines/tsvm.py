"""The transductive support vector machine: target labels that give the widest margin."""

from typing import Any

import numpy as np

from gramshift.baselines.base import Baseline, Codes, Floats, State
from gramshift.baselines.compiled.tsvm import solve_pairs
from gramshift.baselines.word_features import count_words, find_words, inverse_frequency, weigh
from gramshift.errors import InputError
from gramshift.kernels.registry import KERNELS, check_ngram_range
from gramshift.kernels.string_kernel import StringKernel

FIRST_TARGET_C = 1e-5  # doubled until target_C
TOLERANCE = 1e-3
MAX_STEPS = 10_000_000
MAX_SWAPS = 100  # rounds of swaps for each value of C; each round lowers the loss


class TransductiveSVM(Baseline):
    """The transductive support vector machine of Joachims (ICML 1999), on words or a string kernel.

    It labels the target with the class proportions of the source, learns from all documents, swaps
    pairs of target labels that violate the margin, and increases the weight of target documents
    step by step. The final labels ``assigned_`` keep the proportions; ``transduction_`` and
    ``predict`` use the sign of the score.

    Parameters
    ----------
    kernel : "words", the name of a string kernel, or StringKernel
        "words" stands for weighted words and pairs of words.
    ngram_range : (lo, hi)
        For string kernels given by name.
    C, target_C : float
        Inverse regularisation for source and for target documents.
    adapt : bool
        False to train on the source alone.
    """

    two_classes = True

    def __init__(
        self,
        kernel: Any = "words",
        *,
        ngram_range: tuple[int, int] = (5, 8),
        C: float = 1.0,
        target_C: float = 1.0,
        adapt: bool = True,
    ) -> None:
        self.kernel = kernel
        self.ngram_range = ngram_range
        self.C = C
        self.target_C = target_C
        self.adapt = adapt

    def _check_parameters(self) -> None:
        if not isinstance(self.kernel, StringKernel) and self.kernel not in ("words", *KERNELS):
            names = ", ".join(map(repr, ("words", *KERNELS)))
            raise InputError(f"kernel={self.kernel!r}: must be one of {names}, or a StringKernel")
        check_ngram_range(self.ngram_range)
        super()._check_parameters()

    def fit(self, X: Any, y: Any, *, target: Any = None) -> "TransductiveSVM":
        """Learn from X and the target as other baselines do, and set ``assigned_``."""
        super().fit(X, y, target=target)
        if self.adapt:
            self.assigned_ = self.classes_[self._state["assigned"]]
        return self

    def _learn(self, source: list[str], codes: Codes, target: list[str], n_classes: int) -> State:
        signs = np.where(codes == 1, 1.0, -1.0)
        texts = source + target if self.adapt else source
        words: list[str] = []
        inverse, features = np.zeros(0), None
        if self.kernel == "words":
            words, counts = find_words(source + target)
            inverse = inverse_frequency(counts)
            features = weigh(counts, inverse)[: len(texts)]
            gram = (features @ features.T).toarray()
        else:
            gram = self._compare(texts, None)
        if self.adapt:
            weights, threshold, assigned = fit_transductive(gram, signs, self.C, self.target_C)
        else:
            weights, threshold = Machine(gram).solve(signs, np.full(len(signs), float(self.C)))
            assigned = np.zeros(0)
        state: State = {"assigned": (assigned > 0).astype(np.int64)}
        if features is not None:
            own = np.asarray(features.T @ weights)
            state |= {"words": words, "inverse": inverse}
        else:
            kept = np.flatnonzero(weights)
            own = weights[kept]
            state |= {"texts": [texts[i] for i in kept]}
        linear = np.column_stack([-own, own]), np.array([-threshold, threshold])
        return state | {"linear": linear}

    def _describe(self, state: State, texts: list[str]) -> Any:
        if "words" in state:
            return weigh(count_words(texts, state["words"]), state["inverse"])
        return self._compare(texts, state["texts"])

    def _compare(self, texts: list[str], others: list[str] | None) -> Floats:
        kernel = self.kernel
        if not isinstance(kernel, StringKernel):
            kernel = StringKernel(kernel, ngram_range=self.ngram_range)
        gram: Floats = kernel.gram(texts, others, normalize=True)
        return gram


class Machine:
    """A support vector machine on a kernel matrix; each solution starts from the previous one."""

    def __init__(self, gram: Floats) -> None:
        self.gram = np.ascontiguousarray(gram)
        self.weights = np.zeros(len(gram))

    def solve(self, signs: Floats, most: Floats) -> tuple[Floats, float]:
        """Return signed weights, bounded by ``most``, and the threshold.

        ``signs`` may be those of the first documents only.
        """
        n = len(signs)
        gram = np.ascontiguousarray(self.gram[:n, :n])
        # a document that has changed its sign begins at 0
        weights = np.minimum(np.maximum(signs * self.weights[:n], 0), most)
        sums = [weights[signs == sign].sum() for sign in (1, -1)]
        ratios = np.divide(min(sums), sums, out=np.ones(2), where=np.array(sums) > 0)
        for sign, ratio in zip((1, -1), ratios, strict=True):
            weights[signs == sign] *= ratio  # both classes need equal sums
        threshold = solve_pairs(
            gram, signs, most, weights, gram @ (signs * weights), TOLERANCE, MAX_STEPS
        )
        self.weights[:n] = signs * weights
        return signs * weights, float(threshold)


def fit_transductive(
    gram: Floats, signs: Floats, C: float, target_C: float
) -> tuple[Floats, float, Floats]:
    """Return signed weights of all documents, source first, the threshold and target signs."""
    n, n_target = len(signs), len(gram) - len(signs)
    machine = Machine(gram)
    first, _ = machine.solve(signs, np.full(n, float(C)))
    n_positive = min(max(round(float(np.mean(signs > 0)) * n_target), 1), max(n_target - 1, 1))
    assigned = label_by_share(gram[n:, :n] @ first, n_positive)
    ratio = n_positive / max(n_target - n_positive, 1)
    penalty = min(FIRST_TARGET_C, target_C)
    while True:
        below = min(penalty, target_C)  # for negative documents
        above = min(penalty * ratio, target_C)  # for positive ones
        for _ in range(MAX_SWAPS):
            most = np.concatenate([np.full(n, float(C)), np.where(assigned > 0, above, below)])
            weights, threshold = machine.solve(np.concatenate([signs, assigned]), most)
            if not swap(assigned, gram[n:] @ weights + threshold):
                break
        if max(above, below) >= target_C:
            return weights, threshold, assigned
        penalty = min(2 * penalty, target_C)


def label_by_share(scores: Floats, n_positive: int) -> Floats:
    """Return 1 for the ``n_positive`` highest scores, -1 for the others."""
    assigned = -np.ones(len(scores))
    assigned[np.argsort(-scores, kind="stable")[:n_positive]] = 1
    return assigned


def swap(assigned: Floats, scores: Floats) -> bool:
    """Swap the signs of pairs that violate the margin, in place; return True if there were any.

    A pair of a 1 and a -1 is swapped if both violate the margin, together by more than 2, which
    lowers the loss whatever the other pairs.
    """
    slack = np.maximum(0, 1 - assigned * scores)
    sides = [np.flatnonzero((assigned == sign) & (slack > 0)) for sign in (1, -1)]
    above, below = (side[np.argsort(-slack[side], kind="stable")] for side in sides)
    n = min(len(above), len(below))
    pairs = slack[above[:n]] + slack[below[:n]] > 2
    assigned[above[:n][pairs]] = -1
    assigned[below[:n][pairs]] = 1
    return bool(pairs.any())
