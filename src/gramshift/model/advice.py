"""Diagnostics of labels without knowing the truth: figures in sentences, and warnings."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.class_proportions import proportions_matter
from gramshift.model.settings import PLAIN, UNADAPTED
from gramshift.model.verdict import (
    MAX_ALIKE,
    MAX_BALANCED,
    judge_adapting,
    judge_labels,
    measured_in_words,
)
from gramshift.terminal import counts_in_words, labelled_in_words

MIN_VERY_DIFFERENT = 0.95  # separability of domains that are very different
MIN_DOMINANT = 0.95  # the proportion of a class that dominates the target
MAX_GROWTH = 0.2  # of the proportion of the largest class over the rounds
MAX_GROWTH_FACTOR = 3  # of the proportion of any class since the source
MIN_GROWTH = 0.03  # a smaller difference from the source may be chance
MAX_LOSS = 0.25  # a class below this fraction of its proportion in the source is nearly lost
MIN_EXPECTED = 3  # expected documents of a class: of fewer there may be none by chance
MIN_EXPECTED_IF_FEW = 10  # of fewer there may be few by chance
MIN_TARGET_DOCUMENTS = 20  # for warnings: a smaller target may be of one class
MAX_WIDTH = 0.3  # with a wider interval the proportion of a class is unknown
MAX_CHANGED = 0.2  # the fraction of labels that may depend on unknown proportions
MIN_TO_LABEL = 10  # random documents to label by hand
MAX_TO_LABEL = 50
MAX_LISTED = 5  # classes that a warning names
MAX_PROPORTIONS = 8  # classes whose proportions are listed
ROUNDING = 1e-9
UNKNOWN_PROPORTIONS = "class proportions unknown"  # the name of a diagnostic
Proportions = dict[str, float]


@dataclass(frozen=True)
class Advice:
    """Advice for warnings, by default for users of Python."""

    without_class_prior: str = "compare with the method plain, or add fewer pseudo-labels (n_added)"
    with_class_prior: str = (
        "compare with unadapted_transduction_,"
        " or give the class proportions that you know (class_prior)"
    )
    n_added: str = "n_added"
    """The name of the parameter or option that sets the number of pseudo-labels."""


@dataclass(frozen=True)
class FitSummary:
    """Labels and figures of a fit, from which its diagnostics follow."""

    labels: list[str]
    """Of the target documents."""
    source: Proportions
    """The class proportions of the source; those of classes that corrections add are 0."""
    rounds: list[Proportions]
    """The class proportions of the target, round by round."""
    n_source: int | None = None
    reference: list[str] | None = None
    """The labels that the target would have without adapting, if they are known."""
    reference_name: str = PLAIN
    """The name of these: "unadapted" for the first classifier of best, else "plain"."""
    separability: float | None = None
    """Of source and target, if it was measured: 0.5 not at all, 1 always."""
    expected: dict[str, float] | None = None
    """The expected accuracy."""
    class_prior: dict[Any, dict[str, float]] | None = None
    sources: list[dict[str, Any]] | None = None
    vectors: float | None = None
    """The share of an encoder's vectors in the kernel; None without an encoder."""
    fell_back: bool = False
    """True if there were too few target documents for a method that adapts."""
    prior_is_known: bool = False
    """True if the class proportions were given, or counted in random labels."""
    n_random: int = 0
    """The number of labels of random documents that measured the expected accuracy."""
    random: Collection[int] = ()
    """The places of these documents among those of the target."""
    probabilities: NDArray[Any] | None = None
    """The probabilities of the target documents, a column per class, if they are known."""

    @property
    def known_proportions(self) -> Proportions | None:
        """The class proportions of the target, if they are known."""
        if not self.prior_is_known or self.class_prior is None:
            return None
        return {str(name): one["used"] for name, one in self.class_prior.items()}

    @property
    def stages(self) -> list[Proportions]:
        """The class proportions of the target, without adapting if known, and of each round.

        The unadapted labels take the place of the first round, whose classifier they come from.
        """
        if self.reference is None:
            return self.rounds
        later = self.rounds[1:] if self.reference_name == UNADAPTED else []
        return [class_proportions(self.reference, list(self.source)), *(later or self.rounds)]


def class_proportions(labels: list[str], classes: list[str]) -> Proportions:
    """Return the proportion of each class, 0 to 1."""
    return {name: labels.count(name) / max(1, len(labels)) for name in classes}


def agreement(labels: list[str], others: list[str]) -> float:
    """Return the fraction of documents with the same label in both."""
    return sum(a == b for a, b in zip(labels, others, strict=True)) / max(1, len(labels))


def drift(stages: list[Proportions]) -> float:
    """Return half the sum of the changes of the class proportions from first to last stage.

    That is the fraction of documents that must change their label for it.
    """
    first, last = stages[0], stages[-1]
    return sum(abs(last[name] - first[name]) for name in first) / 2


def count_to_label(n_target: int) -> int:
    """Return how many random documents to label by hand: 50, or half of a small target.

    Fewer than MIN_TO_LABEL are of no use.
    """
    return min(MAX_TO_LABEL, n_target // 2)


def diagnose(summary: FitSummary, advice: Advice | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return diagnostics, each with a value and a sentence, and warnings."""
    name, n_target, prior = summary.reference_name, len(summary.labels), summary.class_prior
    stages, warnings = summary.stages, warn(summary, advice)
    found: dict[str, Any] = {}
    if summary.sources:
        found["sources"] = _of(len(summary.sources), sources_in_words(summary.sources))
    if summary.vectors is not None:
        found["vectors"] = _of(summary.vectors, vectors_in_words(summary.vectors))
    if summary.fell_back:
        few = f"Too few target documents to adapt to ({n_target})"
        found["not adapted"] = _of(n_target, f"{few}: these are the {name} labels.")
    if prior is not None:
        moved = sum(abs(one["used"] - one["source"]) for one in prior.values()) / 2
        found["class proportions moved"] = _of(moved, class_prior_in_words(prior))
        changed = _measure_dependence(summary, prior)
        if changed > MAX_CHANGED:
            decisive = "Class proportions are unknown and decide this result"
            n = count_to_label(n_target)
            found[UNKNOWN_PROPORTIONS] = _of(changed, f"{decisive}: label {n} random documents.")
    separability = summary.separability
    if separability is not None:
        found["separability"] = _of(separability, _separability_in_words(separability))
    same = None
    if summary.reference is not None and len(summary.random) < n_target:
        rows = [row for row in range(n_target) if row not in summary.random]
        labels, others = ([one[row] for row in rows] for one in (summary.labels, summary.reference))
        same = agreement(labels, others)
        words = f"{same:.0%} of labels ({round(same * len(rows))} of {len(rows)}) match the {name}"
        found[f"agreement with {name}"] = _of(same, f"{words} ones.")
    if len(stages) > 1:
        found["drift of the class proportions"] = _of(drift(stages), _drift_in_words(summary))
    if summary.expected is not None:
        largest = max((stages[-1] if stages else summary.source).values())
        found["verdict"] = judge_labels(
            summary.expected,
            largest,
            warnings,
            n_source=summary.n_source,
            n_random=summary.n_random,
        )
    elif same is not None:
        found["verdict"] = judge_adapting(warnings, separability, same, n_target, name)
    return found, warnings


def _of(value: float, sentence: str) -> dict[str, Any]:
    return {"value": round(value, 4), "sentence": sentence}


def _measure_dependence(summary: FitSummary, prior: dict[Any, dict[str, float]]) -> float:
    """Return the fraction of labels that depend on unknown class proportions."""
    is_small = len(summary.labels) < MIN_TARGET_DOCUMENTS
    if summary.probabilities is None or summary.prior_is_known or is_small:
        return 0.0
    used, low, high = (
        np.array([one[name] for one in prior.values()]) for name in ("used", "low", "high")
    )
    if np.max(high - low) <= MAX_WIDTH + ROUNDING:
        return 0.0
    return proportions_matter(summary.probabilities, used, low, high)


def warn(summary: FitSummary, advice: Advice | None = None) -> list[str]:
    """Warn of a class that dominates or has grown, and of classes that are nearly lost.

    Classes that corrections add to those of the source are not missed. If the class proportions of
    the target are known, labels follow them, and only a class that should be there and is not is
    worth a warning.
    """
    stages, source, n_target = summary.stages, summary.source, len(summary.labels)
    if n_target < MIN_TARGET_DOCUMENTS or not stages:
        return []
    last, known = stages[-1], summary.known_proportions
    foreseen = {
        name: n_target * (source if known is None else known).get(name, 0.0) for name in last
    }
    nobody = [repr(name) for name in last if last[name] == 0 and foreseen[name] >= MIN_EXPECTED]
    missing = [f"no target document was labelled {_listed(nobody)}"] if nobody else []
    if known is not None:
        return missing
    advice = advice or Advice()
    without_prior = summary.class_prior is None
    what_to_do = advice.without_class_prior if without_prior else advice.with_class_prior
    largest = max(last, key=lambda name: last[name])
    others = 1 - source.get(largest, 0.0)  # in the source
    is_lost = n_target * others >= MIN_EXPECTED and 1 - last[largest] <= MAX_LOSS * others
    is_balanced = max(source.values()) <= MAX_BALANCED
    dominates = last[largest] >= MIN_DOMINANT and (is_balanced or is_lost)
    warnings = []
    if dominates:
        warnings.append(
            f"one class dominates: {last[largest]:.0%} of the target got {largest!r},"
            f" which is {source.get(largest, 0.0):.0%} of the source; {what_to_do}"
        )
    elif last[largest] - stages[0][largest] >= MAX_GROWTH:
        grown = f"grew from {stages[0][largest]:.0%} to {last[largest]:.0%} over the rounds"
        if len(summary.rounds) < 2:
            grown = f"is {last[largest]:.0%}, {summary.reference_name} {stages[0][largest]:.0%}"
        warnings.append(
            f"the proportion of {largest!r} {grown}: check some of these labels, {what_to_do}"
        )
    multiplied = [
        f"{name!r} ({last[name]:.1%} of the target, {source[name]:.1%} of the source)"
        for name in last
        if _has_grown(last[name], source.get(name, 0.0)) and not (warnings and name == largest)
    ]
    if multiplied:
        words = f"more than {MAX_GROWTH_FACTOR} times as common as in the source"
        warnings.append(f"{words}: {_listed(multiplied)}; check some of these labels, {what_to_do}")
    warnings += missing
    few = [
        f"{name!r} ({last[name]:.1%}, {source[name]:.0%} of the source)"
        for name in last
        if foreseen[name] >= MIN_EXPECTED_IF_FEW and 0 < last[name] <= MAX_LOSS * source[name]
    ]
    if few and len(last) > 2 and not dominates:
        warnings.append(
            f"few target documents were labelled {_listed(few)}: check some documents, {what_to_do}"
        )
    return warnings


def _has_grown(proportion: float, source: float) -> bool:
    """Return True if a class has grown by a large factor, and by more than chance."""
    more = proportion - source
    return 0 < source * MAX_GROWTH_FACTOR < proportion - ROUNDING and more >= MIN_GROWTH - ROUNDING


def _listed(names: list[str]) -> str:
    n_more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {n_more} more classes" if n_more > 0 else "")


def _separability_in_words(separability: float) -> str:
    how = "different"
    if separability >= MIN_VERY_DIFFERENT:
        how = "very different"
    elif separability < MAX_ALIKE:
        how = "much alike"
    return f"Source and target look {how} (AUC {separability:.2f}; 0.50 = indistinguishable)."


def _drift_in_words(summary: FitSummary) -> str:
    stages, name = summary.stages, summary.reference_name
    shown = _most_moved({one: stages[-1][one] - stages[0][one] for one in stages[0]})
    parts = [f"{one}: {', '.join(f'{stage[one]:.0%}' for stage in stages)}" for one in shown]
    listed = _with_others(parts, len(stages[0]))
    then = "in later rounds" if name == UNADAPTED else "round by round"
    return f"Class proportions, {name} and {then}: {listed}."


def _most_moved(moves: dict[Any, float]) -> list[Any]:
    """Return the classes whose proportion has moved most, in their order."""
    chosen = sorted(moves, key=lambda name: -abs(moves[name]))[:MAX_PROPORTIONS]
    return [name for name in moves if name in chosen]


def _with_others(parts: list[str], n_classes: int) -> str:
    n_more = n_classes - len(parts)
    return "; ".join([*parts, f"{n_more} more not listed"] if n_more else parts)


def class_prior_in_words(prior: dict[Any, dict[str, float]]) -> str:
    """Return the class proportions in words: as used, in the source, and as estimated.

    If there are many classes, only those that have moved most are listed.
    """
    n_classes = len(prior)
    is_known = all(one["low"] == one["high"] for one in prior.values())
    limited = [
        f"{name} is held near {one['limit']:.0%}: the unadapted labels do not support the"
        f" estimated {one['estimated']:.0%}"
        for name, one in prior.items()
        if one["source"] <= one["used"] < one["estimated"] > one.get("limit", 1.0)
    ]
    moved = _most_moved({name: one["used"] - one["source"] for name, one in prior.items()})
    prior = {name: prior[name] for name in moved}
    if is_known:
        parts = [
            f"{name}: {one['used']:.0%} (source {one['source']:.0%})" for name, one in prior.items()
        ]
        listed = _with_others(parts, n_classes)
        return f"Class proportions used, none of them estimated: {listed}."
    parts = [
        f"{name}: {one['used']:.0%} ({one['low']:.0%} to {one['high']:.0%};"
        f" source {one['source']:.0%}, estimated {one['estimated']:.0%})"
        for name, one in prior.items()
    ]
    listed = _with_others(parts, n_classes)
    return ". ".join([f"Class proportions used: {listed}", *limited]) + "."


def vectors_in_words(share: float) -> str:
    """Return a sentence on the share of an encoder's vectors in the kernel."""
    if share > 0:
        return f"Vectors of the encoder are {share:.1%} of the kernel."
    fault = "they do not help to label held-out source documents"
    return f"Vectors of the encoder have no weight: {fault}."


def sources_in_words(sources: list[dict[str, Any]]) -> str:
    """Return the drift and the weight of each source in words."""
    parts = [
        f"{one['domain']} (drift {one['drift']:.2f}, weight {one['weight']:.2f},"
        f" {one['accuracy']:.0%} labelled correctly by the others)"
        for one in sources
    ]
    return "Sources, those closer to the target weighing more: " + "; ".join(parts) + "."


def label_sentence(found: dict[str, Any], n_random: int = 0) -> str:
    """Return the number of documents of each class, and the accuracy that can be expected."""
    counts = counts_in_words(found["labels"])
    words = f"{labelled_in_words(found)}: {counts}; {how_sure(found, n_random)}"
    scores = found["scores"]
    if scores is not None:
        words += f"; {scores['accuracy']:.1%} right"
        if "reference" in scores:
            reference, p = scores["reference_accuracy"], scores["mcnemar_p"]
            words += f" ({scores['reference']} {reference:.1%}, p = {p:.2g})"
    return words


def how_sure(found: dict[str, Any], n_random: int = 0) -> str:
    """Return the expected accuracy in words, or else the mean confidence.

    With ``n_random`` labels of random documents it was measured in part.
    """
    expected = found.get("expected_accuracy")
    given = (found.get("expected_accuracy_given") or {}).get("value")
    if expected is None:
        return f"mean confidence {found['mean_confidence']:.2f}"
    if n_random:
        words = measured_in_words(expected, n_random)
        return words if given is None else f"{words}; {given:.0%} of those given"
    value, low, high = (f"{expected[name]:.0%}" for name in ("value", "low", "high"))
    words = f"expected accuracy {value} ({low} to {high})"
    return words if given is None else f"{words}, {given:.0%} of the labels given"
