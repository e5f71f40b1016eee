"""Running the rounds of one fit: how documents are described in each, and which ones join."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.calibrate import fit_offsets, softmax
from gramshift.learn.features import Described, Rows
from gramshift.learn.rounds import Codes, Round, Solve, transduce_prepared
from gramshift.learn.selection import choose_by_shares, choose_surest, estimate_shares, one_versus_all, settle_shares
from gramshift.learn.solvers import SOLVERS, Solver
from gramshift.model.settings import count_added, given_shares
from gramshift.model.similarities import Comparison
from gramshift.runtime.threads import Progress, count_threads

Floats = NDArray[np.float64]


class Trainer:
    """The documents of a fit, what is known of them, and the settings that hold.

    ``gram`` holds the counts of all documents, if they are known already.
    """

    def __init__(
        self,
        comparison: Comparison | None,
        documents: Any,
        is_source: NDArray[np.bool_],
        codes: Codes,
        classes: list[Any],
        settings: Mapping[str, Any],
        *,
        gram: NDArray[Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.comparison, self.documents, self.settings = comparison, documents, settings
        self.source, self.codes, self.classes, self.n = np.flatnonzero(is_source), codes, classes, len(is_source)
        self.n_target = self.n - len(self.source)
        self.normalized = True
        self._gram, self._progress = documents if comparison is None else gram, progress
        self._changing = comparison is not None and comparison.by_classes
        self._again: Callable[..., Described] | None = None
        self._ready: tuple[Described, Solver] | None = None
        self._shares: Floats | None = None
        if comparison is not None:
            comparison.groups["domains"] = np.where(is_source, 0, 1).tolist()

    def run(self) -> list[Round]:
        """All rounds; the comparison is left as the last one needs it."""
        n_rounds, n_added = int(self.settings["n_rounds"]), count_added(self.settings["n_added"], self.n_target)
        begun = 0

        def prepare(training: Rows, codes: Codes) -> tuple[Described, Solve]:
            nonlocal begun
            self._set_classes(training, codes)
            if self._changing:
                self._ready = None  # free it before the next is made
                self._tell(begun, n_rounds)
            begun += 1
            described, solver = self._make_ready()
            self.normalized = self.comparison is not None or bool(np.isclose(described.scale[described.scale > 0], 1).all())
            return described, solver.solve

        rounds = transduce_prepared(
            self.n, self.source, self.codes, len(self.classes),
            prepare=prepare, n_rounds=n_rounds, n_added=n_added, select=self._select,
        )  # fmt: skip
        if self._changing:
            self._tell(n_rounds, n_rounds)
        return rounds

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress("rounds", done, total)

    def _make_ready(self) -> tuple[Described, Solver]:
        """The documents as they are described now, and the classifier that every round trains."""
        if self._ready is None:
            described = self._describe()
            self._ready = described, self._make_solver(described, self.source)
        return self._ready

    def _describe(self, n: int | None = None, *, across: bool = False) -> Described:
        """All documents as labels have it now; with ``n`` no more than the first n need be there, if they say all.

        ``across``: where n-grams have weights by class, those that one domain has more often than the other count less.
        """
        adapt = bool(self.settings["adapt"])
        if self._gram is not None:
            return Described.from_gram(self._gram, adapt=adapt, n_threads=count_threads(self.settings["n_jobs"]))
        assert self.comparison is not None
        if not self._changing:
            return self.comparison.describe_all(self.documents, adapt=adapt, progress=self._progress)
        if self._again is None:
            self._again = self.comparison.describe_again(self.documents, adapt=adapt, progress=self._progress)
        return self._again(None if adapt else n, across=across)

    def _make_solver(self, documents: Described, source: Rows) -> Solver:
        held = self.settings
        return SOLVERS[held["classifier"]](documents, source, float(held["alpha"]), bool(held["bias"]), self._progress)

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
        if self._changing:
            scores = self._score_across()
        held_out = self.held_out(self.source[:0], self.codes[:0], across=True)  # nothing has joined yet
        return settle_shares(estimate_shares(softmax(scores, *fit_offsets(held_out, self.codes)), shares), shares)

    def _score_across(self) -> Floats:
        """The target's scores of a first round where n-grams count by how evenly they are spread over both domains too.

        What one domain alone has moves the scores of that domain alone, which would look like other shares of classes.
        """
        self._ready = None
        described = self._describe(across=True)
        fitted = self._make_solver(described, self.source).solve(self.source, one_versus_all(self.codes, len(self.classes)))
        return fitted.score(described, np.setdiff1d(np.arange(self.n), self.source))

    def held_out(self, added: Rows, added_codes: Codes, *, across: bool = False) -> Floats:
        """Scores of the source documents, then of the added ones, each by a classifier that has not seen its class.

        In closed form, unless labels shape the kernel too: then half of them is scored by what the other half teaches.
        ``across`` as in ``_describe``.
        """
        n_classes = len(self.classes)
        training, codes = np.concatenate([self.source, added]), np.concatenate([self.codes, added_codes])
        if self.comparison is None or not self._changing:
            _, solver = self._make_ready()
            return solver.held_out(training, one_versus_all(codes, n_classes))
        self._ready = None
        scores, before = np.empty((len(training), n_classes)), self.comparison.groups.get("classes")
        n_needed = 1 + int(training.max())
        is_source = np.arange(len(training)) < len(self.source)
        fold = np.empty(len(training), np.intp)
        for code in range(n_classes):  # source and target documents of each class are spread over both
            for rows in (np.flatnonzero(is_source & (codes == code)), np.flatnonzero(~is_source & (codes == code))):
                fold[rows] = np.arange(len(rows)) % 2
        try:
            for held in (fold == 0, fold == 1):
                self._set_classes(training[~held], codes[~held])
                described = self._describe(n_needed, across=across)
                solver = self._make_solver(described, training[~held & is_source])
                fitted = solver.solve(training[~held], one_versus_all(codes[~held], n_classes))
                scores[held] = fitted.score(described, training[held])
                del described, solver, fitted
        finally:  # interrupted too: the weights of the fit depend on it
            self.comparison.groups["classes"] = before
        return scores

    def _set_classes(self, training: Rows, codes: Codes) -> None:
        if self.comparison is not None:
            known = np.full(self.n, -1)
            known[training] = codes
            self.comparison.groups["classes"] = [None if code < 0 else code for code in known.tolist()]
