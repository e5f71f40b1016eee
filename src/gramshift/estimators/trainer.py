"""Running the rounds of one fit: how documents are described in each, and which ones join."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.engine.threads import count_threads
from gramshift.estimators.comparison import Comparison
from gramshift.estimators.presets import count_added, given_shares
from gramshift.learn.calibrate import fit_steepness, softmax
from gramshift.learn.described import Described, Rows
from gramshift.learn.rounds import Codes, Round, Solve, transduce_prepared
from gramshift.learn.shares import estimate_shares, settle_shares
from gramshift.learn.solvers import SOLVERS, Solver
from gramshift.learn.targets import choose_by_shares, choose_surest, one_versus_all

Floats = NDArray[np.float64]


class Trainer:
    """The documents of a fit, what is known of them, and the settings that hold."""

    def __init__(
        self,
        comparison: Comparison | None,
        documents: Any,
        is_source: NDArray[np.bool_],
        codes: Codes,
        classes: list[Any],
        settings: Mapping[str, Any],
    ) -> None:
        self.comparison, self.documents, self.settings = comparison, documents, settings
        self.source, self.codes, self.classes, self.n = np.flatnonzero(is_source), codes, classes, len(is_source)
        self.n_target = self.n - len(self.source)
        self.normalized = True
        self._describe: Callable[..., Described] | None = None
        self._shares: Floats | None = None
        if comparison is not None:
            comparison.groups["domains"] = np.where(is_source, 0, 1).tolist()

    def run(self) -> list[Round]:
        """All rounds; the comparison is left as the last one needs it."""
        settings = self.settings
        changing = self.comparison is not None and self.comparison.by_classes
        if self.comparison is not None and changing:
            self._describe = self.comparison.describe_again(self.documents, adapt=bool(settings["adapt"]))
        described: Described | None = None
        solver: Solver | None = None

        def prepare(training: Rows, codes: Codes) -> tuple[Described, Solve]:
            nonlocal described, solver
            self._set_classes(training, codes)
            if described is None or solver is None or changing:
                described = solver = None  # free them before the next ones are made
                described = self._describe() if self._describe else describe_all(self.comparison, self.documents, settings)
                solver = make_solver(described, self.source, settings)
            self.normalized = self.comparison is not None or bool(np.isclose(described.scale[described.scale > 0], 1).all())
            return described, solver.solve

        n_rounds, n_added = int(settings["n_rounds"]), count_added(settings["n_added"], self.n_target)
        return transduce_prepared(
            self.n, self.source, self.codes, len(self.classes),
            prepare=prepare, n_rounds=n_rounds, n_added=n_added, select=self._select,
        )  # fmt: skip

    def _select(self, scores: Floats, n: int) -> tuple[Rows, Codes]:
        """Target documents that join, and their classes; shares are worked out after the first round and stay."""
        if isinstance(self.settings["select"], str) and self.settings["select"] == "surest":
            return choose_surest(scores, n)
        if self._shares is None:
            self._shares = self._make_shares(scores)
        return choose_by_shares(scores, n, self._shares)

    def _make_shares(self, scores: Floats) -> Floats:
        select = self.settings["select"]
        if isinstance(select, Mapping):
            return given_shares(select, self.classes)
        shares = np.bincount(self.codes, minlength=len(self.classes)) / len(self.codes)
        if select == "source shares":
            return shares
        held_out = self.held_out(self.source[:0], self.codes[:0])
        return settle_shares(estimate_shares(softmax(scores, fit_steepness(held_out, self.codes)), shares), shares)

    def held_out(self, added: Rows, added_codes: Codes) -> Floats:
        """Scores of the source documents by classifiers that have not seen them, but target documents with their classes.

        In closed form, unless labels shape the kernel too: then half of the source is scored by what the other half teaches.
        """
        n_classes, adapt = len(self.classes), bool(self.settings["adapt"])
        if self.comparison is None or not self.comparison.by_classes:
            solver = make_solver(describe_all(self.comparison, self.documents, self.settings), self.source, self.settings)
            training, codes = np.concatenate([self.source, added]), np.concatenate([self.codes, added_codes])
            return solver.held_out(training, one_versus_all(codes, n_classes))[: len(self.source)]
        if self._describe is None:
            self._describe = self.comparison.describe_again(self.documents, adapt=adapt)
        scores, before = np.empty((len(self.source), n_classes)), self.comparison.groups.get("classes")
        n_needed = 1 + int(max(self.source.max(), added.max(initial=0)))
        fold = np.empty(len(self.source), np.intp)
        for code in range(n_classes):  # each class is spread over both
            fold[self.codes == code] = np.arange(np.sum(self.codes == code)) % 2
        for held in (fold == 0, fold == 1):
            training = np.concatenate([self.source[~held], added])
            codes = np.concatenate([self.codes[~held], added_codes])
            self._set_classes(training, codes)
            described = self._describe(None if adapt else n_needed)
            fitted = make_solver(described, self.source[~held], self.settings).solve(training, one_versus_all(codes, n_classes))
            scores[held] = fitted.score(described, self.source[held])
        self.comparison.groups["classes"] = before
        return scores

    def _set_classes(self, training: Rows, codes: Codes) -> None:
        if self.comparison is not None:
            known = np.full(self.n, -1)
            known[training] = codes
            self.comparison.groups["classes"] = [None if code < 0 else code for code in known.tolist()]


def describe_all(comparison: Comparison | None, documents: Any, settings: Mapping[str, Any]) -> Described:
    """Documents among themselves."""
    adapt = bool(settings["adapt"])
    if comparison is None:
        return Described.from_gram(documents, adapt=adapt, n_threads=count_threads(settings["n_jobs"]))
    return comparison.describe_all(documents, adapt=adapt)


def make_solver(documents: Described, source: Rows, settings: Mapping[str, Any]) -> Solver:
    """The classifier that every round trains."""
    return SOLVERS[settings["classifier"]](documents, source, float(settings["alpha"]), bool(settings["bias"]))
