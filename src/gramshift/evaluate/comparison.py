"""Methods side by side on documents whose labels are known: how often each is right, how sure, and what is more than chance."""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from gramshift.errors import InputError
from gramshift.evaluate.cases import (
    Answers,
    Case,
    Corpus,
    Domain,
    answer,
    check_cases,
    every_pair,
    find_faults,
    make_cases,
    warm_up,
)
from gramshift.evaluate.kept import Kept, digest_source
from gramshift.evaluate.scoring import (
    DRAWS,
    Clustered,
    brier,
    by_class,
    calibration_error,
    compare_means,
    correct_by_holm,
    mcnemar,
)
from gramshift.methods import BEST, METHODS, parse_methods
from gramshift.model.labels import as_labels, encode_labels, find_alike, is_missing
from gramshift.model.saving import library_versions
from gramshift.runtime.schema import EPSILON, Anything, Array, Listed, Number, Record
from gramshift.text.documents import as_documents, as_list

Progress = Callable[[str, int, int], None]
Row = dict[str, Any]
USUAL = ("plain", "tkc", BEST, "tfidf")
ROWS = Listed(Anything(), "documents", 10**8)
KEPT = Record(
    {"codes": ROWS, "probabilities": ROWS, "seconds": Number(0)}, {"memory": Number(0)}
)  # before they are arrays
SOURCE, TARGET = "source", "target"


def compare(
    X: Any,
    y: Any,
    *,
    target: Any = None,
    target_labels: Any = None,
    domains: Any = None,
    methods: str | Sequence[str] = USUAL,
    reference: str | None = None,
    repeats: int = 0,
    random_state: int = 0,
    source_only: bool = False,
    folder: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> "Comparison":
    """Run methods side by side on documents whose labels are known, and count how often each is right.

    True labels of target documents are used to count, never to learn. Methods run one after the other, so that their time
    and memory can be compared.

    Parameters
    ----------
    X, y : documents and their labels
        The source, or with ``domains`` the documents of all domains.
    target, target_labels : documents and their true labels, optional
        What is to be labelled.
    domains : sequence of str, optional
        The domain of each document of X, instead of a target: every domain is the source of every other.
    methods : str or sequence of str
        Names from the table of methods, or "own", "baselines" or "all".
    reference : str, optional
        The method that all others are tested against; "best" if it is among them, else the first.
    repeats : int
        0 for all documents once; else so many random halves of source and target, which show how much a result depends on
        the documents that were drawn.
    random_state : int
        Decides the halves and the draws of the bootstrap.
    source_only : bool
        Run each method's own classifier without adaptation, trained on the source alone. What a method adds is the difference.
    folder : path, optional
        Where finished results are kept. The same comparison goes on where an earlier one was stopped.
    n_jobs : int, optional
        Threads of our own methods; -1 for all cores.
    progress : callable, optional
        Called with "methods", how many runs are done, and how many there are.

    Examples
    --------
    >>> import gramshift as gs
    >>> source, labels = ["a great pan", "it broke at once", "great knife", "broke, sadly"], ["good", "bad", "good", "bad"]
    >>> target, truth = ["a great film", "the disc broke"], ["good", "bad"]
    >>> found = gs.compare(source, labels, target=target, target_labels=truth, methods=["plain", "tfidf"])
    >>> [(row["method"], row["accuracy"]) for row in found.summary]
    [('plain', 1.0), ('tfidf', 1.0)]
    """
    plan = plan_comparison(
        X,
        y,
        target=target,
        target_labels=target_labels,
        domains=domains,
        methods=methods,
        reference=reference,
        repeats=repeats,
        random_state=random_state,
        source_only=source_only,
    )
    return plan.run(
        kept=None if folder is None else Kept(Path(folder)), n_jobs=n_jobs, progress=progress
    )


def plan_comparison(
    X: Any,
    y: Any,
    *,
    target: Any = None,
    target_labels: Any = None,
    domains: Any = None,
    methods: str | Sequence[str] = USUAL,
    reference: str | None = None,
    repeats: int = 0,
    random_state: int = 0,
    source_only: bool = False,
) -> "Plan":
    """Check the arguments of ``compare``, warn of what is odd, and return what can be run."""
    names = parse_methods(methods if isinstance(methods, str) else ",".join(methods))
    for name in names:
        METHODS[name].check()
    if reference is None:
        reference = BEST if BEST in names else names[0]
    if reference not in names:
        raise InputError(f"reference {reference!r} is not among the methods: {', '.join(names)}")
    if isinstance(repeats, bool) or not isinstance(repeats, int | np.integer) or repeats < 0:
        raise InputError(
            f"repeats={repeats!r}: give a number of random halves, or 0 for all documents once"
        )
    if (
        isinstance(random_state, bool)
        or not isinstance(random_state, int | np.integer)
        or random_state < 0
    ):
        raise InputError(f"random_state={random_state!r}: give a whole number from 0 on")
    corpus, pairs = _gather(X, y, target, target_labels, domains)
    cases = make_cases(corpus, pairs, repeats=int(repeats), seed=int(random_state))
    check_cases(corpus, cases, names)
    for words in find_faults(corpus, cases):
        warnings.warn(words, stacklevel=3)
    return Plan(corpus, cases, names, reference, int(repeats), int(random_state), source_only)


@dataclass(frozen=True)
class Plan:
    """A comparison that has been checked and not been run."""

    corpus: Corpus
    cases: list[Case]
    methods: list[str]
    reference: str
    repeats: int = 0
    seed: int = 0
    source_only: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """A name for all documents, labels and halves of it."""
        return sha256(
            "".join(self.corpus.fingerprint(case) for case in self.cases).encode()
        ).hexdigest()[:16]

    def run(
        self,
        *,
        kept: Kept | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> "Comparison":
        """Run all methods on all cases; what an earlier run has kept is taken from its folder."""
        warm_up(self.methods)
        options: Row = {
            "source_only": self.source_only,
            "kept": kept,
            "n_jobs": n_jobs,
            "progress": progress,
        }
        answers, n_reused = run_cases(self.corpus, self.cases, self.methods, **options)
        return Comparison(self, answers, n_reused)


def _gather(
    X: Any, y: Any, target: Any, target_labels: Any, domains: Any
) -> tuple[Corpus, list[tuple[tuple[str, ...], str]]]:
    """Documents by domain, and which domains are sources of which."""
    texts = as_documents(X, name="X")
    labels = as_labels(y, n_documents=len(texts))
    if (target is None) == (domains is None):
        raise InputError(
            "give either target= with target_labels=, or domains= with the domain of each document"
        )
    if domains is None:
        more = as_documents(target, name="target")
        if target_labels is None:
            raise InputError(
                f"target has {len(more)} documents without labels; a comparison needs target_labels= to count"
            )
        known = as_labels(target_labels, n_documents=len(more))
        places = [SOURCE] * len(texts) + [TARGET] * len(more)
        texts, labels = texts + more, labels + known
        pairs: list[tuple[tuple[str, ...], str]] = [((SOURCE,), TARGET)]
    else:
        named = as_list(domains)
        if any(map(is_missing, named)):
            raise InputError(
                f"{sum(map(is_missing, named))} documents have no domain; name it, or leave these documents out"
            )
        places = list(map(str, named))
        if len(places) != len(texts):
            raise InputError(
                f"domains has {len(places)} names for {len(texts)} documents; give one for each document of X"
            )
        pairs = every_pair(list(dict.fromkeys(places)))
        if not pairs:
            raise InputError("all documents are of one domain; a comparison needs two or more")
    missing = sum(map(is_missing, labels))
    if missing:
        raise InputError(
            f"{missing} documents have no label; a comparison counts right answers, leave these documents out"
        )
    for words in find_alike(labels):
        warnings.warn(words, stacklevel=4)
    classes, codes = encode_labels(labels)
    rows = {
        name: [i for i, place in enumerate(places) if place == name]
        for name in dict.fromkeys(places)
    }
    empty = [name for name in (SOURCE, TARGET) if domains is None and name not in rows]
    if empty:
        raise InputError(f"the {empty[0]} has no documents")
    found = {name: Domain([texts[i] for i in some], codes[some]) for name, some in rows.items()}
    return Corpus(found, classes.tolist()), pairs


def run_cases(
    corpus: Corpus,
    cases: list[Case],
    methods: list[str],
    *,
    source_only: bool = False,
    kept: Kept | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[list[list[Answers]], int]:
    """The answers of all methods to all cases, and how many of them an earlier run had kept."""
    code = {"versions": library_versions(), "source": digest_source()}
    done, n_reused, result = 0, 0, []
    for case in cases:
        documents = corpus.fingerprint(case)
        several = []
        for method in methods:
            row, name = (
                METHODS[method],
                f"{documents}-{method}{'-source-only' if source_only else ''}",
            )
            key: Row = code | {
                "documents": documents,
                "method": method,
                "options": row.options,
                "source_only": source_only,
            }
            found = (
                None
                if kept is None
                else _unpack(method, kept.load(name, key), len(case.target_rows), corpus)
            )
            n_reused += found is not None
            if found is None:
                found = answer(
                    corpus,
                    case,
                    method,
                    source_only=source_only,
                    **({"n_jobs": n_jobs} if row.is_own else {}),
                )
                if kept is not None:
                    kept.save(name, key, _pack(found))
            several.append(found)
            done += 1
            if progress is not None:
                progress("methods", done, len(cases) * len(methods))
        result.append(several)
    return result, n_reused


def _pack(answers: Answers) -> Row:
    return {
        "codes": answers.codes.tolist(),
        "probabilities": answers.probabilities.tolist(),
        "seconds": answers.seconds,
        "memory": answers.memory,
    }


def _unpack(method: str, kept: Any, n: int, corpus: Corpus) -> Answers | None:
    """What was kept, if it has the shape of answers; else None, and it is found again."""
    sizes = {"documents": n, "classes": len(corpus.classes)}
    try:
        KEPT.check(method, kept, sizes)
        codes, probabilities = (
            np.array(kept["codes"], np.int64),
            np.array(kept["probabilities"], np.float64),
        )
        Array("<i8", ("documents",), low=0, below="classes").check("codes", codes, sizes)
        Array("<f8", ("documents", "classes"), low=0, most=1 + EPSILON).check(
            "probabilities", probabilities, sizes
        )
    except (TypeError, ValueError, OverflowError):
        return None
    memory = kept.get("memory")
    return Answers(
        method,
        codes.astype(np.intp),
        probabilities,
        float(kept["seconds"]),
        None if memory is None else float(memory),
    )


@dataclass(frozen=True)
class Comparison:
    """What ``compare`` has found: ``rows`` for each setting and method, ``summary`` for each method, tests against one."""

    plan: Plan = field(repr=False)
    answers: list[list[Answers]] = field(repr=False)
    n_reused: int = 0
    """Answers that an earlier run had kept; seconds and memory are those of then."""

    @property
    def corpus(self) -> Corpus:
        """Documents by domain."""
        return self.plan.corpus

    @property
    def cases(self) -> list[Case]:
        """Sources and targets, one after the other."""
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
    def rows(self) -> list[Row]:
        """The figures of each case and method."""
        rows: list[Row] = []
        for case, several in zip(self.cases, self.answers, strict=True):
            truth = self.corpus.truth(case)
            right = {one.method: one.codes == truth for one in several}
            for one in several:
                rows.append(
                    {
                        "source": " + ".join(case.source),
                        "target": case.target,
                        "setting": case.setting,
                    }
                    | {"repeat": case.repeat, "method": one.method, "n": len(truth)}
                    | count(truth, one, self.corpus.classes)
                    | {
                        "p_value": self._test(right, one.method),
                        "seconds": one.seconds,
                        "memory": one.memory,
                    }
                )
        tested = [row for row in rows if row["p_value"] is not None]
        corrected = correct_by_holm([row["p_value"] for row in tested])
        for row in rows:
            row["p_holm"] = None
        for row, p_value in zip(tested, corrected, strict=True):
            row["p_holm"] = p_value
        return rows

    def _test(self, right: dict[str, Any], method: str) -> float | None:
        return mcnemar(right[method], right[self.reference]) if method != self.reference else None

    @cached_property
    def summary(self) -> list[Row]:
        """The means of each method over all cases, with intervals and the difference from the reference."""
        clusters = Clustered(
            [case.target_rows for case in self.cases],
            [case.target for case in self.cases],
            seed=self.plan.seed,
        )
        right: dict[str, list[Any]] = {method: [] for method in self.methods}
        for case, several in zip(self.cases, self.answers, strict=True):
            truth = self.corpus.truth(case)
            for one in several:
                right[one.method].append(one.codes == truth)
        result: list[Row] = []
        for method, means in compare_means(right, clusters, self.reference).items():
            mine = [row for row in self.rows if row["method"] == method]
            line: Row = {
                "method": method,
                "settings": len({case.pair for case in self.cases}),
                "cases": len(mine),
            } | means
            for name in ("macro_f1", "ece", "brier", "seconds"):
                line[name] = float(np.mean([row[name] for row in mine]))
            line["memory"] = (
                None
                if any(row["memory"] is None for row in mine)
                else max(row["memory"] for row in mine)
            )
            line["spread"] = self._spread(mine)
            result.append(line)
        return result

    @staticmethod
    def _spread(rows: list[Row]) -> float | None:
        """The standard deviation between repeats of the mean over settings."""
        repeats = sorted({row["repeat"] for row in rows})
        if len(repeats) < 2:
            return None
        return float(
            np.std(
                [
                    np.mean([row["accuracy"] for row in rows if row["repeat"] == one])
                    for one in repeats
                ],
                ddof=1,
            )
        )

    @property
    def draws(self) -> int:
        """How many times documents were drawn for an interval."""
        return DRAWS

    def save(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write tables, rows and all answers into a folder, as the command does, and return the names of the files."""
        from gramshift.evaluate.comparison_files import (
            write_comparison,
        )  # which is about this class

        return write_comparison(self, Path(folder))


def count(truth: Any, answers: Answers, classes: list[Any]) -> Row:
    """Count what is right, and how far probabilities are from the truth; a dictionary by the names of the table."""
    right, confidence = answers.codes == truth, answers.probabilities.max(axis=1)
    return {
        "accuracy": float(np.mean(right)),
        "macro_f1": float(f1_score(truth, answers.codes, average="macro", zero_division=0.0)),
        "ece": calibration_error(right, confidence),
        "brier": brier(truth, answers.probabilities),
        "classes": {
            str(name): one
            for name, one in zip(classes, by_class(truth, answers.codes, len(classes)), strict=True)
        },
    }
