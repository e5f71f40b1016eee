"""The results of a run as plain values, fit for JSON."""

from typing import Any

import numpy as np

from gramshift.commands.classify.fitting import ClassifyOutcome
from gramshift.commands.classify.hand_labels import describe_changes
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.commands.classify.wording import MIN_SCORED
from gramshift.evaluate.scoring import find_better, score_labels
from gramshift.methods import METHODS
from gramshift.model.advice import label_sentence
from gramshift.model.data_problems import Issues
from gramshift.model.verdict import judge_labels
from gramshift.tables.columns import USUAL_NAMES, Columns
from gramshift.terminal import with_string_keys

BY_SOURCE = "source"  # the name of the labels with the class proportions of the source
BY_CLASS = ("added", "labels", "class_prior")  # figures of a round
MAX_ISSUES = 1000  # in JSON


def describe_findings(
    options: ClassifyOptions, inputs: Inputs, outcome: ClassifyOutcome
) -> dict[str, Any]:
    """Return what was found, fit for JSON; only this looks at true labels of the target."""
    corrections = inputs.corrections
    classifier, confidence = outcome.classifier, outcome.probabilities.max(axis=1)
    is_sure = confidence >= (options.abstain_below or 0.0)
    classes = list(map(str, classifier.classes_.tolist()))
    given = [str(label) for label, sure in zip(outcome.labels, is_sure, strict=True) if sure]
    source = list(map(str, inputs.labels))
    expected = getattr(classifier, "expected_accuracy_", None)  # a baseline has none
    class_prior = getattr(classifier, "class_prior_", None)
    found: dict[str, Any] = {
        "labels": {name: given.count(name) for name in classes},
        "source_labels": {name: source.count(name) for name in classes},
        "mean_confidence": round(float(confidence.mean()), 4),
        "expected_accuracy": expected,
        "class_prior": None if class_prior is None else with_string_keys(class_prior),
        "domains": getattr(classifier, "sources_", None),
        "n_random": len(corrections.random),
        "without_evidence": getattr(classifier, "n_blank_", 0),
        "fell_back": METHODS[options.method].is_best and len(classifier.history_) == 1,
        "history": [
            step | {name: with_string_keys(step[name]) for name in BY_CLASS if step.get(name)}
            for step in classifier.history_
        ],
        "diagnostics": outcome.diagnostics,
        "warnings": outcome.warnings,
        "scores": _score(options, inputs, outcome),
        "not_scored": _count_not_scored(inputs),
        "corrections": None,
        "read_as": read_as(options, inputs.target.columns),
        "issues": _list_issues(outcome.issues),
    }
    if options.abstain_below is not None:
        found["abstained"] = int(np.sum(~is_sure))
        if expected is not None:
            value = round(float(confidence[is_sure].mean()), 4) if is_sure.any() else None
            found["expected_accuracy_given"] = {"value": value, "n": len(given)}
    if corrections.labels:
        ids = inputs.target_ids
        before = dict(zip(ids, classifier.uncorrected_transduction_.tolist(), strict=True))
        after = dict(zip(ids, outcome.labels, strict=True))
        found["corrections"] = describe_changes(corrections.labels, before, after)
    verdict = _judge_measured(found)
    if verdict is not None:
        found["diagnostics"] = found["diagnostics"] | {"verdict": verdict}
    return found | {"sentence": label_sentence(found, found["n_random"])}


def _judge_measured(found: dict[str, Any]) -> str | None:
    """Return the verdict by true labels, if enough are known: they count more than estimates."""
    scores = found["scores"]
    if scores is None or scores["n"] < MIN_SCORED:
        return None
    low, high = scores["accuracy_interval"]
    largest = max(map(sum, scores["confusion"])) / scores["n"]
    measured = {"value": scores["accuracy"], "low": low, "high": high}
    return judge_labels(measured, largest, found["warnings"], scores["n"])


def read_as(options: ClassifyOptions, columns: Columns) -> dict[str, str]:
    """Return the options with which another command reads the output as the target was read."""
    text = ",".join(columns.texts)
    is_usual = options.text is None and text.lower() in USUAL_NAMES["text"]
    found = {
        "text": None if is_usual else text,
        "id": options.id,
        "encoding": None if options.encoding == "utf-8" else options.encoding,
    }
    return {name: value for name, value in found.items() if value}


def _list_issues(issues: Issues) -> dict[str, Any]:
    """Return the number of issues of each kind, and the first issues, fit for JSON."""
    documents = [
        {
            "document": one.name,
            "issue": one.issue,
            "about": one.about,
            "role": one.role,
            "value": round(one.value, 4),
            "label": None if one.label is None else str(one.label),
            "suggested": None if one.suggested is None else str(one.suggested),
        }
        for one in issues[:MAX_ISSUES]
    ]
    return {"counts": issues.counts, "documents": documents}


def _count_not_scored(inputs: Inputs) -> int:
    """Return the number of documents whose true label is known, but which were corrected."""
    truth = inputs.target_truth or []
    known = [id for id, label in zip(inputs.target_ids, truth, strict=False) if label is not None]
    return sum(id in inputs.corrections.labels for id in known)


def _score(
    options: ClassifyOptions, inputs: Inputs, outcome: ClassifyOutcome
) -> dict[str, Any] | None:
    """Score documents whose true label is known, without corrected ones."""
    truth = inputs.target_truth
    if truth is None:
        return None
    ids = inputs.target_ids
    rows = [
        row
        for row, label in enumerate(truth)
        if label is not None and ids[row] not in inputs.corrections.labels
    ]
    if not rows:
        return None

    def at_rows(labels: list[Any]) -> list[str]:
        return [str(labels[row]) for row in rows]

    labels, true = at_rows(outcome.labels), at_rows(truth)
    confidence = outcome.probabilities.max(axis=1)[rows]
    others = {}
    if outcome.reference_labels is not None:
        others[options.reference] = at_rows(outcome.reference_labels)
    classes = list(map(str, outcome.classifier.classes_.tolist()))
    reference = next(iter(others.items()), None)
    scores = score_labels(true, labels, confidence, classes, reference=reference)
    if options.abstain_below is not None:
        is_sure = confidence >= options.abstain_below
        is_right = np.array(true) == np.array(labels)
        accuracy = float(is_right[is_sure].mean()) if is_sure.any() else None
        scores |= {"n_sure": int(is_sure.sum()), "accuracy_sure": accuracy}
    if outcome.source_prior_labels is not None:
        others[BY_SOURCE] = at_rows(outcome.source_prior_labels)
        is_right = np.array(others[BY_SOURCE]) == np.array(true)
        scores["source_prior_accuracy"] = float(np.mean(is_right))
    better = find_better(true, labels, others)
    if better is not None:
        scores["better"] = better | {"sentence": better_in_words(better, scores)}
    return scores


def better_in_words(better: dict[str, Any], scores: dict[str, Any]) -> str:
    """Describe which other labels are better than those that were found, and how to get them."""
    name = better["name"]
    figures = f"{better['accuracy']:.1%} of {scores['n']} against {scores['accuracy']:.1%}"
    if name == BY_SOURCE:
        labels = "The labels with the source's class proportions"
        return f"{labels} are better here ({figures}): add --class-prior source."
    return f"The {name} labels are better here ({figures}): use the column {name}_label."
