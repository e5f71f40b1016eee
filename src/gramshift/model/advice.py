"""Diagnostics of a fit and the verdict on its labels, without knowing the truth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from gramshift.learn.features import KernelFeatures
from gramshift.learn.ridge import KernelRidgeSolver
from gramshift.learn.shares import proportions_matter
from gramshift.model.settings import PLAIN
from gramshift.terminal import counts_in_words, labelled_in_words

MAX_COMPARED = 500  # documents of each domain: the separability is exact to a hundredth or two
PENALTY = 1.0  # of the ridge regression that separates the domains
MIN_VERY_DIFFERENT = 0.95  # separability of domains that are very different
MAX_ALIKE = 0.6  # separability of domains that are much alike
MIN_DOMINANT = 0.95  # the proportion of a class that dominates the target
MAX_BALANCED = 0.8  # the largest proportion of a class of a source that is balanced
MAX_GROWTH = 0.2  # of the proportion of the largest class over the rounds
MAX_GROWTH_FACTOR = 3  # of the proportion of any class since the source
MIN_GROWTH = 0.03  # a smaller difference from the source may be chance
MAX_LOSS = 0.25  # a class below this fraction of its proportion in the source is nearly lost
MIN_EXPECTED = 3  # expected documents of a class: of fewer there may be none by chance
MIN_EXPECTED_IF_FEW = 10  # of fewer there may be few by chance
MIN_TARGET_DOCUMENTS = 20  # for warnings: a smaller target may be of one class
MIN_TARGET_TO_ADAPT = 200  # in a smaller target adapting gains little
MIN_AGREEMENT = 0.75  # with the labels without adapting
MAX_ERROR_RATIO = 0.8  # errors, divided by those of the most common class alone; above: useless
GOOD_ERROR_RATIO = 0.5
MIN_ACCURACY = 0.6  # of labels that can be used at all, however many classes there are
GOOD_ACCURACY = 0.8
MIN_LOWER_END = 0.65  # of the interval of the accuracy of labels that can be used
MAX_ACCURACY_WIDTH = 0.5  # a wider interval of the accuracy is of no use
MIN_SOURCE_DOCUMENTS = 30  # with fewer the expected accuracy is a guess
MAX_WIDTH = 0.3  # with a wider interval the proportion of a class is unknown
MAX_CHANGED = 0.2  # the fraction of labels that may depend on unknown proportions
MIN_TO_LABEL = 10  # random documents to label by hand
MAX_TO_LABEL = 50
ROUNDING = 1e-9
UNKNOWN_ACCURACY = (  # the verdict on labels of a method that estimates nothing
    "Not known: this method cannot estimate its accuracy."
    " Score it on some documents that you label yourself."
)
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

    def for_prior(self, class_prior: dict[Any, Any] | None) -> str:
        """Return the advice for a fit with these class proportions, None for a fit without any."""
        return self.without_class_prior if class_prior is None else self.with_class_prior


@dataclass(frozen=True)
class Answers:
    """The labels and figures of a fit, by any method."""

    classes: list[str]
    labels: list[str]
    """Of the target documents."""
    source: list[str]
    """The labels of the source documents."""
    rounds: list[Proportions]
    """The class proportions of the target, round by round."""
    reference: list[str] | None = None
    """The labels that the target would have without adapting, if that is known."""
    reference_name: str = PLAIN
    """The name of these: "unadapted" for the first round of best, else "plain"."""
    expected: dict[str, float] | None = None
    class_prior: dict[Any, dict[str, float]] | None = None
    adapts: bool = True
    """True if the method learns from target documents."""
    sources: list[dict[str, Any]] | None = None
    fell_back: bool = False
    """True if there were too few target documents for a method that adapts."""
    prior_is_known: bool = False
    """True if the class proportions were given, or counted in random labels."""
    n_random: int = 0
    """The number of labels of random documents that measured the expected accuracy."""
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
        """The class proportions of the target, without adapting if known, and of each round."""
        if self.reference is None:
            return self.rounds
        return [class_proportions(self.reference, self.classes), *self.rounds]


def proportions_by_round(history: Sequence[dict[str, Any]], n_target: int) -> list[Proportions]:
    """Return the class proportions of the target, round by round."""
    return [
        {str(name): count / max(1, n_target) for name, count in step["labels"].items()}
        for step in history
    ]


def class_proportions(labels: list[str], classes: list[str]) -> Proportions:
    """Return the proportion of each class, 0 to 1."""
    return {name: labels.count(name) / max(1, len(labels)) for name in classes}


def agreement(labels: list[str], others: list[str]) -> float:
    """Return the share of documents with the same label in both."""
    return sum(a == b for a, b in zip(labels, others, strict=True)) / max(1, len(labels))


def drift(stages: list[Proportions]) -> float:
    """Return half the sum of the changes of the class proportions from first to last stage.

    That is the fraction of documents that must change their label for it.
    """
    first, last = stages[0], stages[-1]
    return sum(abs(last[name] - first[name]) for name in first) / 2


def separability(
    compared: NDArray[Any] | Callable[[NDArray[np.intp]], NDArray[Any]],
    is_source: NDArray[np.bool_],
    *,
    most: int = MAX_COMPARED,
) -> float:
    """Measure how well the plain kernel separates source and target: 0.5 not at all, 1 always.

    This is the chance that, given one document of each, the right one is taken for the source by a
    ridge regression that has not seen it (leave-one-out, in closed form). It looks at ``most``
    documents of either domain. ``compared`` is the gram of all documents, or gives that of some,
    source before target.
    """
    rows = np.concatenate([_spread(np.flatnonzero(one), most) for one in (is_source, ~is_source)])
    gram = (
        compared(rows) if callable(compared) else np.ascontiguousarray(compared[np.ix_(rows, rows)])
    )
    described = KernelFeatures.from_gram(gram, adapt=False)
    targets = np.where(is_source[rows], 1.0, -1.0)
    solver = KernelRidgeSolver(described, np.arange(len(rows)), PENALTY, bias=True)
    scores = solver.held_out(np.arange(len(rows)), targets[:, None])[:, 0]
    return max(0.5, float(roc_auc_score(targets, scores)))


def _spread(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Choose some of the rows, evenly."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]


def diagnose_answers(
    answers: Answers, apart: float | None, advice: Advice | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return diagnostics, each with a value and a sentence, and warnings.

    ``apart`` is the separability of source and target, if it was measured.
    """
    advice, prior = advice or Advice(), answers.class_prior
    found, warnings = diagnose(
        labels=answers.labels,
        reference=answers.reference,
        reference_name=answers.reference_name,
        source=class_proportions(answers.source, answers.classes),
        stages=answers.stages,
        apart=apart,
        advice=advice.for_prior(prior),
        expected=answers.expected,
        adapts=answers.adapts,
        n_rounds=len(answers.rounds),
        known=answers.known_proportions,
        n_source=len(answers.source),
        n_random=answers.n_random,
    )
    if prior is not None:
        moved = sum(abs(one["used"] - one["source"]) for one in prior.values()) / 2
        unknown = _find_unknown_proportions(answers)
        found = (
            {"class proportions moved": _of(moved, class_prior_in_words(prior))} | unknown | found
        )
    if answers.fell_back:
        n, name = len(answers.labels), answers.reference_name
        words = f"Too few target documents to adapt to ({n}): these are the {name} labels."
        found = {"not adapted": {"value": n, "sentence": words}} | found
    if answers.sources:
        words = sources_in_words(answers.sources)
        found = {"sources": {"value": len(answers.sources), "sentence": words}} | found
    return found, warnings


def _find_unknown_proportions(answers: Answers) -> dict[str, Any]:
    """Return a diagnostic if class proportions are unknown and many labels depend on them."""
    if (
        answers.class_prior is None
        or answers.probabilities is None
        or answers.prior_is_known
        or len(answers.labels) < MIN_TARGET_DOCUMENTS
    ):
        return {}
    prior, low, high = (
        np.array([one[name] for one in answers.class_prior.values()])
        for name in ("used", "low", "high")
    )
    if np.max(high - low) <= MAX_WIDTH + ROUNDING:
        return {}
    changed = proportions_matter(answers.probabilities, prior, low, high)
    if changed <= MAX_CHANGED:
        return {}
    n = count_to_label(len(answers.labels))
    words = f"Class proportions are unknown and decide this result: label {n} random documents."
    return {UNKNOWN_PROPORTIONS: _of(changed, words)}


def count_to_label(n_target: int) -> int:
    """Return how many random documents to label by hand: 50, or half of a small target.

    Fewer than MIN_TO_LABEL are of no use.
    """
    return min(MAX_TO_LABEL, n_target // 2)


def diagnose(
    *,
    labels: list[str],
    reference: list[str] | None,
    source: Proportions,
    stages: list[Proportions],
    apart: float | None,
    reference_name: str = PLAIN,
    advice: str = Advice.without_class_prior,
    expected: dict[str, float] | None = None,
    adapts: bool = True,
    n_rounds: int = 2,
    known: Proportions | None = None,
    n_source: int | None = None,
    n_random: int = 0,
) -> tuple[dict[str, Any], list[str]]:
    """Return diagnostics, each with a value and a sentence, and warnings.

    ``stages`` are the class proportions of the target: of ``reference``, the labels without
    adapting, if these are known, then of each round. ``advice`` says what to do about a warning. A
    method that does not adapt is not asked whether that was wise. ``known`` are the true class
    proportions of the target, if they are known; ``n_random`` labels of random documents have
    measured the accuracy.
    """
    found: dict[str, Any] = (
        {} if apart is None else {"separability": _of(apart, _apart_in_words(apart))}
    )
    name, same = reference_name, None if reference is None else agreement(labels, reference)
    if same is not None:
        found[f"agreement with {name}"] = _of(same, _agreement_in_words(same, len(labels), name))
    if len(stages) > 1:
        found["drift of the class proportions"] = _of(drift(stages), _drift_in_words(stages, name))
    warnings = warn(
        source=source,
        stages=stages,
        n_target=len(labels),
        n_rounds=n_rounds,
        advice=advice,
        reference_name=name,
        known=known,
    )
    if expected is not None:
        largest = max(last_proportions(stages, source).values())
        found["verdict"] = judge_labels(
            expected, largest, warnings, n_source=n_source, n_random=n_random
        )
    elif same is not None and not adapts:
        found["verdict"] = _judge_unadapted(warnings, same, name)
    elif same is not None:
        found["verdict"] = _verdict(
            warnings, 1.0 if apart is None else apart, same, len(labels), name
        )
    return found, warnings


def warn(
    *,
    source: Proportions,
    stages: list[Proportions],
    advice: str = Advice.without_class_prior,
    n_target: int = MIN_TARGET_DOCUMENTS,
    n_rounds: int = 2,
    reference_name: str = PLAIN,
    known: Proportions | None = None,
) -> list[str]:
    """Warn of a class that dominates or has grown, and of classes that are nearly lost.

    Classes that the source has not, because a person has added them, are not missed. If the class
    proportions of the target are ``known``, labels follow them, and only a class that should be
    there and is not is worth a warning.
    """
    if n_target < MIN_TARGET_DOCUMENTS or not stages:
        return []
    last = stages[-1]
    foreseen = {
        name: n_target * (source if known is None else known).get(name, 0.0) for name in last
    }
    nobody = [repr(name) for name in last if last[name] == 0 and foreseen[name] >= MIN_EXPECTED]
    missing = [f"no target document was labelled {_listed(nobody)}"] if nobody else []
    if known is not None:
        return missing
    warnings = []
    largest = max(last, key=lambda name: last[name])
    others = 1 - source.get(largest, 0.0)  # in the source
    lost = n_target * others >= MIN_EXPECTED and 1 - last[largest] <= MAX_LOSS * others
    dominates = last[largest] >= MIN_DOMINANT and (max(source.values()) <= MAX_BALANCED or lost)
    if dominates:
        in_source = f"which is {source.get(largest, 0.0):.0%} of the source"
        warnings.append(
            f"one class dominates: {last[largest]:.0%} of the target got {largest!r},"
            f" {in_source}; {advice}"
        )
    elif last[largest] - stages[0][largest] >= MAX_GROWTH:
        grown = f"grew from {stages[0][largest]:.0%} to {last[largest]:.0%} over the rounds"
        if n_rounds < 2:
            grown = f"is {last[largest]:.0%}, {reference_name} {stages[0][largest]:.0%}"
        warnings.append(
            f"the proportion of {largest!r} {grown}: check some of these labels, {advice}"
        )
    multiplied = [
        name
        for name in last
        if _has_grown(last[name], source.get(name, 0.0)) and not (warnings and name == largest)
    ]
    if multiplied:
        named = [
            f"{name!r} ({last[name]:.1%} of the target, {source[name]:.1%} of the source)"
            for name in multiplied
        ]
        words = f"more than {MAX_GROWTH_FACTOR} times as common as in the source"
        warnings.append(f"{words}: {_listed(named)}; check some of these labels, {advice}")
    warnings += missing
    few = {
        name: source[name]
        for name in last
        if foreseen[name] >= MIN_EXPECTED_IF_FEW and 0 < last[name] <= MAX_LOSS * source[name]
    }
    if few and len(last) > 2 and not dominates:
        named = [
            f"{name!r} ({last[name]:.1%}, {share:.0%} of the source)" for name, share in few.items()
        ]
        warnings.append(
            f"few target documents were labelled {_listed(named)}: check some documents, {advice}"
        )
    return warnings


def _has_grown(proportion: float, source: float) -> bool:
    """Return True if a class has grown by a large factor, and by more than chance."""
    more = proportion - source
    return 0 < source * MAX_GROWTH_FACTOR < proportion - ROUNDING and more >= MIN_GROWTH - ROUNDING


def _listed(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (
        f" and {len(names) - most} more classes" if len(names) > most else ""
    )


def last_proportions(stages: list[Proportions], source: Proportions) -> Proportions:
    """Return the class proportions of the last stage, those of the source if there is none."""
    return stages[-1] if stages else source


def judge_labels(
    expected: dict[str, float],
    largest: float,
    warnings: list[str],
    n_known: int | None = None,
    *,
    n_source: int | None = None,
    n_random: int = 0,
) -> str:
    """Return the verdict: the accuracy compared with that of the most common class alone.

    With ``n_known`` it was measured, on this many documents with a known label; with ``n_random``
    labels of random documents were combined with what was expected. ``n_source`` is how many
    labelled documents there were to learn from.
    """
    is_measured, value = n_known is not None or n_random > 0, expected["value"]
    words = _accuracy_in_words(expected, n_known, n_random)
    unclear = None
    if n_source is not None and n_source < MIN_SOURCE_DOCUMENTS and not is_measured:
        few = f"only {n_source} labelled source documents, too few to say how many labels are right"
        unclear = f"{few}. Label more of them, or check some labels by hand"
    elif expected["high"] - expected["low"] > MAX_ACCURACY_WIDTH:
        advice = "Check some by hand, or label more documents together"
        unclear = f"{words}, too wide an interval to say. {advice}"
    if unclear is not None and value >= MIN_ACCURACY:
        return f"Cannot tell: {unclear}."
    is_useless = 1 - value > MAX_ERROR_RATIO * (1 - largest)
    alone = f"the most common class alone ({100 * largest:.0f})"
    if is_useless and largest > MAX_BALANCED and value >= GOOD_ACCURACY:
        return f"With care: {words}, and {alone} would reach about as many. Check the rare classes."
    if is_useless or value < MIN_ACCURACY:
        than = f", {'hardly' if value > largest else 'no'} more than {alone}" if is_useless else ""
        more = "more documents by hand" if is_measured else "some documents by hand first"
        return f"No, not as they are: {words}{than}. Label {more}."
    if warnings:
        return f"Only after a look: {words}, but see the warnings."
    if (
        value < GOOD_ACCURACY
        or expected["low"] < MIN_LOWER_END
        or 1 - value > GOOD_ERROR_RATIO * (1 - largest)
    ):
        return f"With care: {words}. Check those that matter, least sure first."
    return f"Yes, for most purposes: {words}. Check the least sure ones."


def _accuracy_in_words(expected: dict[str, float], n_known: int | None, n_random: int) -> str:
    """Return the accuracy in words: measured, measured in part, or expected."""
    value, low, high = (f"{100 * expected[name]:.0f}" for name in ("value", "low", "high"))
    if n_known is not None:
        return f"{value} % of the {n_known} documents with known labels are right ({low} to {high})"
    if n_random:
        measured = f"measured on {n_random} random labels and expected otherwise"
        return f"{value} % of labels right ({low} to {high}), {measured}"
    return f"about {value} of 100 labels are expected to be right ({low} to {high})"


def _verdict(warnings: list[str], apart: float, same: float, n_target: int, name: str) -> str:
    if warnings:
        choice = "the safer choice" if same < 1 else "the same"
        return f"Doubtful: see the warnings. The {name} labels are {choice}."
    if n_target < MIN_TARGET_TO_ADAPT:
        return (
            f"Unclear with only {n_target} target documents: the {name} labels are usually as good."
        )
    if apart < MAX_ALIKE:
        return (
            f"Hardly needed: source and target are alike, so the {name} labels are about as good."
        )
    if same < MIN_AGREEMENT:
        return (
            "Look closer: adapting changed many labels."
            " Check some of those that differ before you trust either."
        )
    return (
        f"No red flags: the domains differ, most labels agree with the {name} ones,"
        " and no class grew at the cost of others."
    )


def _judge_unadapted(warnings: list[str], same: float, name: str) -> str:
    """Return the verdict on labels of a method that does not adapt and has no accuracy."""
    if warnings:
        return "Doubtful: see the warnings. Check some labels by hand."
    if same < MIN_AGREEMENT:
        return f"Look closer: many labels differ from the {name} ones. Check some of these by hand."
    return UNKNOWN_ACCURACY


TONES = {  # by the first words of a verdict
    "doubtful": ("No, not", "Only after a look", "Doubtful", "Cannot tell"),
    "good": ("Yes", "No red flags", "Hardly needed"),
}


def tone_of(verdict: str) -> str:
    """Return the tone of a verdict: "good", "doubtful", or "careful" for all others."""
    return next((tone for tone, begins in TONES.items() if verdict.startswith(begins)), "careful")


WORST_FIRST = (
    ("No, not",),
    ("Cannot tell", "Only after a look", "Doubtful"),
)  # below all verdicts that are not good


def choose_verdict(before: str | None, after: str, n_checked: int, n_wrong: int) -> str:
    """Return the verdict after labels were checked: the worse one if most were wrong.

    ``before`` is the verdict without the corrections, if it is known.
    """
    if before is None or 2 * n_wrong <= n_checked:
        return after
    return before if _rank(before) < _rank(after) else after


def _rank(verdict: str) -> int:
    """Return the place of a verdict from worst, 0, to best."""
    for place, begins in enumerate(WORST_FIRST):
        if verdict.startswith(begins):
            return place
    return len(WORST_FIRST) + (tone_of(verdict) == "good")


def _of(value: float, sentence: str) -> dict[str, Any]:
    return {"value": round(value, 4), "sentence": sentence}


def _apart_in_words(apart: float) -> str:
    how = (
        "very different"
        if apart >= MIN_VERY_DIFFERENT
        else "much alike"
        if apart < MAX_ALIKE
        else "different"
    )
    return f"Source and target look {how} (AUC {apart:.2f}; 0.50 = indistinguishable)."


def _agreement_in_words(same: float, n: int, name: str) -> str:
    return f"{same:.0%} of labels ({round(same * n)} of {n}) match the {name} ones."


def _drift_in_words(stages: list[Proportions], name: str) -> str:
    steps = {label: " -> ".join(f"{stage[label]:.0%}" for stage in stages) for label in stages[0]}
    listed = "; ".join(f"{label}: {step}" for label, step in steps.items())
    return f"Class proportions, {name} and round by round: {listed}."


def class_prior_in_words(prior: dict[Any, dict[str, float]]) -> str:
    """Return the class proportions in words: as used, in the source, and as estimated."""
    if all(one["low"] == one["high"] for one in prior.values()):
        parts = [
            f"{name}: {one['used']:.0%} (source {one['source']:.0%})" for name, one in prior.items()
        ]
        return "Class proportions used, none of them estimated: " + "; ".join(parts) + "."
    parts = [
        f"{name}: {one['used']:.0%} ({one['low']:.0%} to {one['high']:.0%};"
        f" source {one['source']:.0%}, estimated {one['estimated']:.0%})"
        for name, one in prior.items()
    ]
    limited = [
        f"{name} is estimated at {one['estimated']:.0%}, but the unadapted labels do not show that"
        f" it has grown beyond {one['limit']:.0%}, so that it was not allowed to"
        for name, one in prior.items()
        if one["estimated"] > one.get("limit", 1.0) and one["used"] >= one["source"]
    ]
    return ". ".join(["Class proportions used: " + "; ".join(parts), *limited]) + "."


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
    expected, given = (
        found.get("expected_accuracy"),
        (found.get("expected_accuracy_given") or {}).get("value"),
    )
    if expected is None:
        return f"mean confidence {found['mean_confidence']:.2f}"
    if n_random:
        value, low, high = (f"{100 * expected[name]:.0f}" for name in ("value", "low", "high"))
        measured = f"measured on {n_random} random labels and expected otherwise"
        words = f"{measured}: {value} % of labels right ({low} to {high})"
        return words if given is None else f"{words}, {100 * given:.0f} % of those given"
    value, low, high = (f"{expected[name]:.0%}" for name in ("value", "low", "high"))
    words = f"expected accuracy {value} ({low} to {high})"
    return words if given is None else f"{words}, {given:.0%} of the labels given"
