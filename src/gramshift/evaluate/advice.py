"""Whether adapting was wise, told without knowing the truth."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from gramshift.learn.features import GramFeatures
from gramshift.learn.ridge import RidgeSolver

LOOKED_AT = 500  # documents of either domain, enough to know the separability to a hundredth or two
PENALTY = 1.0  # beside a kernel of 1 on the diagonal
SWALLOWED = 0.95  # of the target in one class
BALANCED = 0.8  # no class of the source has more, where that is strange
GROWN = 0.2  # the share of a class, since the first labels
APART, TOGETHER = 0.95, 0.6
AGREED, DISAGREED = 0.95, 0.75
FEW = 200  # target documents
LITTLE, USABLE = 0.1, 0.8  # above the most common class; of labels that are expected to be right
ADVICE = "compare with the method plain, or let fewer documents join (n_added)"
Shares = dict[str, float]


def class_shares(labels: list[str], classes: list[str]) -> Shares:
    """Return the share of each class, 0 to 1."""
    return {name: labels.count(name) / max(1, len(labels)) for name in classes}


def agreement(labels: list[str], others: list[str]) -> float:
    """Return the share of documents with the same label in both."""
    return sum(a == b for a, b in zip(labels, others, strict=True)) / max(1, len(labels))


def drift(shares: list[Shares]) -> float:
    """Return the share of documents that would have to change their label to get from the first shares to the last."""
    first, last = shares[0], shares[-1]
    return sum(abs(last[name] - first[name]) for name in first) / 2


def separability(
    compared: NDArray[Any] | Callable[[NDArray[np.intp]], NDArray[Any]], is_source: NDArray[np.bool_], *, most: int = LOOKED_AT
) -> float:
    """Measure how well the plain kernel tells source from target: 0.5 not at all, 1 always.

    This is the chance that, given one document of each, the right one is taken for the source by a ridge regression that has
    not seen it (leave-one-out, in closed form). It looks at ``most`` documents of either domain. ``compared`` is the gram of
    all documents, or gives that of some, source before target.
    """
    rows = np.concatenate([_spread(np.flatnonzero(one), most) for one in (is_source, ~is_source)])
    gram = compared(rows) if callable(compared) else np.ascontiguousarray(compared[np.ix_(rows, rows)])
    described = GramFeatures.from_gram(gram, adapt=False)
    targets = np.where(is_source[rows], 1.0, -1.0)
    solver = RidgeSolver(described, np.arange(len(rows)), PENALTY, bias=True)
    scores = solver.held_out(np.arange(len(rows)), targets[:, None])[:, 0]
    return max(0.5, float(roc_auc_score(targets, scores)))


def _spread(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Choose some of the rows, evenly."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]


def diagnose(
    *,
    labels: list[str],
    plain: list[str] | None,
    source: Shares,
    stages: list[Shares],
    apart: float | None,
    advice: str = ADVICE,
    expected: dict[str, float] | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return what there is to say, each with a value and a sentence, and warnings in words.

    ``stages`` are the class shares of the target: of plain if it was run, then of each round. ``advice`` says what to do
    about a warning.
    """
    found: dict[str, Any] = {} if apart is None else {"separability": _of(apart, _apart_in_words(apart))}
    if plain is not None:
        same = agreement(labels, plain)
        found["agreement with plain"] = _of(same, _agreement_in_words(same, len(labels)))
    if len(stages) > 1:
        found["drift of the class shares"] = _of(drift(stages), _drift_in_words(stages))
    warnings = warn(source=source, stages=stages, advice=advice)
    if expected is not None:
        found["verdict"] = judge_labels(expected, max(last_shares(stages, source).values()), warnings)
    elif plain is not None:
        found["verdict"] = _verdict(warnings, 1.0 if apart is None else apart, agreement(labels, plain), len(labels))
    return found, warnings


def warn(*, source: Shares, stages: list[Shares], advice: str = ADVICE) -> list[str]:
    """Warn of a class that swallows the rest, or is about to, and of a class that nobody gets."""
    last, warnings = stages[-1], []
    largest = max(last, key=lambda name: last[name])
    if last[largest] >= SWALLOWED and max(source.values()) <= BALANCED:
        beside = f"which is {source[largest]:.0%} of the source"
        warnings.append(f"one class swallows the rest: {last[largest]:.0%} of the target got {largest!r}, {beside}; {advice}")
    elif last[largest] - stages[0][largest] >= GROWN:
        grown = f"from {stages[0][largest]:.0%} to {last[largest]:.0%} over the rounds"
        warnings.append(f"the share of {largest!r} grew {grown}: check some of these labels, {advice}")
    nobody = [name for name in last if last[name] == 0]
    if nobody:
        more = f" and {len(nobody) - 5} more classes" if len(nobody) > 5 else ""
        warnings.append(f"no target document got {', '.join(map(repr, nobody[:5]))}{more}")
    return warnings


def last_shares(stages: list[Shares], source: Shares) -> Shares:
    """Return the class shares of the last stage, those of the source if there is none."""
    return stages[-1] if stages else source


def judge_labels(expected: dict[str, float], largest: float, warnings: list[str]) -> str:
    """Answer whether the labels can be used, by the accuracy that is to be expected beside that of always saying one class."""
    value, low, high = (f"{100 * expected[name]:.0f}" for name in ("value", "low", "high"))
    words = f"about {value} of 100 labels are expected to be right ({low} to {high})"
    if expected["value"] < largest + LITTLE:
        return (
            f"No, not as they are: {words}, hardly more than the most common class alone. Label some documents by hand first."
        )
    if warnings:
        return f"Only after a look: {words}, but see the warnings."
    if expected["value"] < USABLE:
        return f"With care: {words}. Check those that matter, least sure first."
    return f"Yes, for most purposes: {words}. Check the least sure ones."


def _verdict(warnings: list[str], apart: float, same: float, n_target: int) -> str:
    if warnings:
        return "Doubtful: see the warnings. The plain kernel is the safer choice."
    if n_target < FEW:
        return f"Not to be told from {n_target} target documents: with so few, plain does about as well."
    if apart < TOGETHER:
        return "Hardly needed: source and target are alike, so plain does about as well."
    if same < DISAGREED:
        return "Look closer: adapting changed many labels. Check some of those that differ before you trust either."
    return (
        "Nothing speaks against it: the domains differ, most labels agree with plain, and no class grew at the cost of others."
    )


def _of(value: float, sentence: str) -> dict[str, Any]:
    return {"value": round(value, 4), "sentence": sentence}


def _apart_in_words(apart: float) -> str:
    how = "almost always" if apart >= APART else "hardly better than by chance" if apart < TOGETHER else "mostly"
    return f"Source and target documents are told apart {how} ({apart:.0%} of pairs; 50% is chance)."


def _agreement_in_words(same: float, n: int) -> str:
    how = "All" if same == 1 else "Nearly all" if same >= AGREED else "Only part" if same < DISAGREED else "Most"
    return f"{how} of the labels are those that plain gives too: {round(same * n)} of {n} ({same:.0%})."


def _drift_in_words(stages: list[Shares]) -> str:
    steps = {name: " -> ".join(f"{stage[name]:.0%}" for stage in stages) for name in stages[0]}
    return "Shares of the classes, stage by stage: " + "; ".join(f"{name} {step}" for name, step in steps.items()) + "."
