"""The run of a comparison, and its figures."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from gramshift.evaluate.cases import Case, LabelledDomains, MethodAnswers, answer, warm_up
from gramshift.evaluate.result_store import ResultStore, check_numbers
from gramshift.evaluate.scoring import (
    ClusterBootstrap,
    adjust_p_values,
    brier,
    by_class,
    calibration_error,
    compare_means,
    mcnemar,
)
from gramshift.files import check_overwrite
from gramshift.methods import METHODS
from gramshift.parallel import Progress

Row = dict[str, Any]


@dataclass(frozen=True)
class ComparisonPlan:
    """A comparison whose arguments have been checked and that has not been run."""

    data: LabelledDomains
    cases: list[Case]
    methods: list[str]
    reference: str
    repeats: int = 0
    seed: int = 0
    source_only: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all documents, labels and halves."""
        digests = "".join(self.data.fingerprint(case) for case in self.cases)
        return sha256(digests.encode()).hexdigest()[:16]

    def run(
        self,
        *,
        kept: ResultStore | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> "Comparison":
        """Run all methods on all cases; results that an earlier run has kept are reused."""
        warm_up(self.methods)
        answers: list[list[MethodAnswers]] = []
        n_done = n_reused = 0
        for case in self.cases:
            answers.append([])
            for method in self.methods:
                found, is_kept = self._run_one(case, method, kept, n_jobs)
                answers[-1].append(found)
                n_reused += is_kept
                n_done += 1
                if progress is not None:
                    progress("methods", n_done, len(self.cases) * len(self.methods))
        return Comparison(self, answers, n_reused)

    def _run_one(
        self, case: Case, method: str, kept: ResultStore | None, n_jobs: int | None
    ) -> tuple[MethodAnswers, bool]:
        """Return the answers of a method to a case, and True if they were kept."""
        row = METHODS[method]
        documents = self.data.fingerprint(case)
        name = f"{documents}-{method}{'-source-only' if self.source_only else ''}"
        key = {
            "documents": documents,
            "method": method,
            "options": row.options,
            "source_only": self.source_only,
        }
        if kept is not None and (result := kept.load(name, key)) is not None:
            earlier = self._read_answers(method, result, len(case.target_rows))
            if earlier is not None:
                return earlier, True
        options = {"n_jobs": n_jobs} if row.is_own else {}
        found = answer(self.data, case, method, source_only=self.source_only, **options)
        if kept is not None:
            result = {
                "codes": found.codes.tolist(),
                "probabilities": found.probabilities.tolist(),
                "seconds": found.seconds,
                "memory": found.memory,
            }
            kept.save(name, key, result)
        return found, False

    def _read_answers(self, method: str, kept: Any, n_documents: int) -> MethodAnswers | None:
        """Return kept answers, or None if they cannot have been saved."""
        n_classes = len(self.data.classes)
        try:
            codes = check_numbers(kept["codes"], (n_documents,))
            probabilities = check_numbers(kept["probabilities"], (n_documents, n_classes))
            seconds = check_numbers(kept["seconds"], ()).item()
            memory = None if kept["memory"] is None else check_numbers(kept["memory"], ()).item()
        except (KeyError, TypeError, ValueError):
            return None
        if not np.isin(codes, np.arange(n_classes)).all():
            return None
        return MethodAnswers(method, codes.astype(np.intp), probabilities, seconds, memory)


@dataclass(frozen=True)
class Comparison:
    """The result of ``compare``.

    ``rows`` has the figures of each case and method, ``summary`` those of each method, tested
    against the reference.
    """

    plan: ComparisonPlan = field(repr=False)
    answers: list[list[MethodAnswers]] = field(repr=False)
    n_reused: int = 0
    """Answers kept by an earlier run, with the seconds and memory of that run."""

    @property
    def data(self) -> LabelledDomains:
        """Documents by domain."""
        return self.plan.data

    @property
    def cases(self) -> list[Case]:
        """Sources and targets, in order."""
        return self.plan.cases

    @property
    def methods(self) -> list[str]:
        """The names of the methods."""
        return self.plan.methods

    @property
    def reference(self) -> str:
        """The method that others are tested against."""
        return self.plan.reference

    @cached_property
    def _right(self) -> list[dict[str, NDArray[np.bool_]]]:
        """For each case a mask of the documents that each method labels correctly."""
        return [
            {one.method: one.codes == self.data.truth(case) for one in several}
            for case, several in zip(self.cases, self.answers, strict=True)
        ]

    @cached_property
    def rows(self) -> list[Row]:
        """The figures of each case and method."""
        rows: list[Row] = []
        for case, several, right in zip(self.cases, self.answers, self._right, strict=True):
            truth = self.data.truth(case)
            for one in several:
                p_value = None
                if one.method != self.reference:
                    p_value = mcnemar(right[one.method], right[self.reference])
                rows.append(
                    {
                        "source": " + ".join(case.source),
                        "target": case.target,
                        "setting": case.setting,
                        "repeat": case.repeat,
                        "method": one.method,
                        "n": len(truth),
                        **score_answers(truth, one, self.data.classes),
                        "p_value": p_value,
                        "p_holm": None,
                        "seconds": one.seconds,
                        "memory": one.memory,
                    }
                )
        adjust_p_values(rows)
        return rows

    def rows_of(self, method: str) -> list[Row]:
        """Return the figures of a method in each case."""
        return [row for row in self.rows if row["method"] == method]

    @cached_property
    def summary(self) -> list[Row]:
        """The means of each method over all cases, with intervals and tests."""
        clusters = ClusterBootstrap(
            [case.target_rows for case in self.cases],
            [case.target for case in self.cases],
            seed=self.plan.seed,
        )
        right = {method: [masks[method] for masks in self._right] for method in self.methods}
        n_settings = len({case.pair for case in self.cases})
        result: list[Row] = []
        for method, means in compare_means(right, clusters, self.reference).items():
            mine = self.rows_of(method)
            line: Row = {"method": method, "settings": n_settings, "cases": len(mine)} | means
            for name in ("macro_f1", "ece", "brier", "seconds"):
                line[name] = float(np.mean([row[name] for row in mine]))
            memory = [row["memory"] for row in mine]
            line["memory"] = None if None in memory else max(memory)
            line["spread"] = _spread(mine)
            result.append(line)
        return result

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> list[str]:
        """Write tables, rows and all answers into a folder, and return the names of the files.

        Files of these names are replaced only with ``overwrite=True``.
        """
        from gramshift.evaluate.comparison_files import (  # need this class
            FILES,
            write_comparison,
        )

        for name in FILES:
            check_overwrite(Path(folder) / name, overwrite=overwrite)
        return write_comparison(self, Path(folder))


def _spread(rows: list[Row]) -> float | None:
    """Return the standard deviation, over repeats, of the mean accuracy over settings."""
    repeats = sorted({row["repeat"] for row in rows})
    if len(repeats) < 2:
        return None
    means = [
        np.mean([row["accuracy"] for row in rows if row["repeat"] == repeat]) for repeat in repeats
    ]
    return float(np.std(means, ddof=1))


def score_answers(truth: Any, answers: MethodAnswers, classes: list[Any]) -> Row:
    """Return accuracy, macro F1, calibration and the figures of each class."""
    right = answers.codes == truth
    figures = by_class(truth, answers.codes, len(classes))
    return {
        "accuracy": float(np.mean(right)),
        "macro_f1": float(f1_score(truth, answers.codes, average="macro", zero_division=0.0)),
        "ece": calibration_error(right, answers.probabilities.max(axis=1)),
        "brier": brier(truth, answers.probabilities),
        "classes": {str(name): one for name, one in zip(classes, figures, strict=True)},
    }
