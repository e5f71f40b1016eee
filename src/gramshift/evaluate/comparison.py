"""Compare methods on documents whose labels are known."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramshift.errors import InputError
from gramshift.evaluate.cases import (
    LabelledDomains,
    LabelledTexts,
    Pair,
    check_cases,
    every_pair,
    find_faults,
    make_cases,
)
from gramshift.evaluate.comparison_run import Comparison, ComparisonPlan
from gramshift.evaluate.result_store import ResultStore
from gramshift.methods import BEST, METHODS, parse_methods
from gramshift.model.labels import as_labels, encode_labels, find_alike, is_missing
from gramshift.parallel import Progress
from gramshift.text.documents import as_documents, as_list

DEFAULT_METHODS = ("plain", "tkc", BEST, "tfidf")
SOURCE = "source"
TARGET = "target"


def compare(
    X: Any,
    y: Any,
    *,
    target: Any = None,
    target_labels: Any = None,
    domains: Any = None,
    methods: str | Sequence[str] = DEFAULT_METHODS,
    reference: str | None = None,
    repeats: int = 0,
    random_state: int = 0,
    source_only: bool = False,
    folder: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run methods on documents whose labels are known, and score their labels.

    True labels of target documents are used for scoring, never for learning. Methods run one
    after the other, so that their time and memory can be compared.

    Parameters
    ----------
    X, y : documents and their labels
        The source or, with ``domains``, the documents of all domains.
    target, target_labels : documents and their true labels, optional
        The target.
    domains : sequence of str, optional
        The domain of each document of X, instead of a target: each domain is the source of every
        other one.
    methods : str or sequence of str
        Names from the table of methods, or "own", "baselines" or "all".
    reference : str, optional
        The method that all others are tested against; "best" if it is among them, else the first.
    repeats : int
        0 for one run with all documents; otherwise the number of random halves of source and
        target, which show how much a result depends on the choice of documents.
    random_state : int
        Seed of the halves and of the bootstrap.
    source_only : bool
        Run each method's own classifier without adaptation, trained on the source alone. The
        difference is the effect of adaptation.
    folder : path, optional
        Keep finished results here, so that the same comparison can be continued if interrupted.
    n_jobs : int, optional
        Threads of our own methods; -1 for all cores.
    progress : callable, optional
        Called as progress("methods", done, total).

    Examples
    --------
    >>> import gramshift as gs
    >>> source = ["a great pan", "it broke at once", "great knife", "broke, sadly"]
    >>> target, truth = ["a great film", "the disc broke"], ["good", "bad"]
    >>> found = gs.compare(
    ...     source,
    ...     ["good", "bad", "good", "bad"],
    ...     target=target,
    ...     target_labels=truth,
    ...     methods=["plain", "tfidf"],
    ... )
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
    kept = None if folder is None else ResultStore(Path(folder))
    return plan.run(kept=kept, n_jobs=n_jobs, progress=progress)


def plan_comparison(
    X: Any,
    y: Any,
    *,
    target: Any = None,
    target_labels: Any = None,
    domains: Any = None,
    methods: str | Sequence[str] = DEFAULT_METHODS,
    reference: str | None = None,
    repeats: int = 0,
    random_state: int = 0,
    source_only: bool = False,
) -> ComparisonPlan:
    """Check the arguments of ``compare``, warn of likely mistakes, and return a plan to run."""
    names = parse_methods(methods if isinstance(methods, str) else ",".join(methods))
    for name in names:
        METHODS[name].check()
    if reference is None:
        reference = BEST if BEST in names else names[0]
    if reference not in names:
        raise InputError(f"reference {reference!r} is not among the methods: {', '.join(names)}")
    if not _is_count(repeats):
        raise InputError(
            f"repeats={repeats!r}: give a number of random halves, or 0 for all documents once"
        )
    if not _is_count(random_state):
        raise InputError(f"random_state={random_state!r}: give a whole number from 0 on")
    data, pairs = _gather(X, y, target, target_labels, domains)
    cases = make_cases(data, pairs, repeats=int(repeats), seed=int(random_state))
    check_cases(data, cases, names)
    for words in find_faults(data, cases):
        warnings.warn(words, stacklevel=3)
    return ComparisonPlan(
        data, cases, names, reference, int(repeats), int(random_state), source_only
    )


def _is_count(value: Any) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(value >= 0)


def _gather(
    X: Any, y: Any, target: Any, target_labels: Any, domains: Any
) -> tuple[LabelledDomains, list[Pair]]:
    """Return the documents by domain, and the pairs of source and target domains."""
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
                f"target has {len(more)} documents without labels; "
                "a comparison needs target_labels= to score labels"
            )
        places = [SOURCE] * len(texts) + [TARGET] * len(more)
        texts = texts + more
        labels = labels + as_labels(target_labels, n_documents=len(more))
        pairs: list[Pair] = [((SOURCE,), TARGET)]
    else:
        places = _check_domains(domains, len(texts))
        pairs = every_pair(list(dict.fromkeys(places)))
        if not pairs:
            raise InputError("all documents are of one domain; a comparison needs two or more")
    missing = sum(map(is_missing, labels))
    if missing:
        raise InputError(
            f"{missing} documents have no label; a comparison scores labels, leave these out"
        )
    for words in find_alike(labels):
        warnings.warn(words, stacklevel=4)
    classes, codes = encode_labels(labels)
    rows: dict[str, list[int]] = {}
    for row, place in enumerate(places):
        rows.setdefault(place, []).append(row)
    for name in (SOURCE, TARGET):
        if domains is None and name not in rows:
            raise InputError(f"the {name} has no documents")
    parts = {
        name: LabelledTexts([texts[i] for i in some], codes[some]) for name, some in rows.items()
    }
    return LabelledDomains(parts, classes.tolist()), pairs


def _check_domains(domains: Any, n_documents: int) -> list[str]:
    """Return the domain of each document as a string."""
    named = as_list(domains)
    missing = sum(map(is_missing, named))
    if missing:
        raise InputError(
            f"{missing} documents have no domain; name it, or leave these documents out"
        )
    if len(named) != n_documents:
        raise InputError(
            f"domains has {len(named)} names for {n_documents} documents; "
            "give one for each document of X"
        )
    return list(map(str, named))
