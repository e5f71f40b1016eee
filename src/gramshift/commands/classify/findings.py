"""The results of a run, as plain values and in words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.commands.classify.fitting import Outcome
from gramshift.commands.classify.labelled import Corrections, describe_changes
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.evaluate.scoring import find_better, score_labels
from gramshift.methods import METHODS
from gramshift.model.advice import (
    MIN_TO_LABEL,
    UNKNOWN_PROPORTIONS,
    count_to_label,
    how_sure,
    label_sentence,
)
from gramshift.model.data_problems import Issues
from gramshift.model.verdict import judge_labels, tone_of
from gramshift.tables.columns import USUAL_NAMES, Columns, suggest
from gramshift.terminal import Line, join_words, labelled_in_words, list_classes

Step = tuple[str, str | None]
"""Words, and a command to copy."""
MEASURE = "measure the accuracy"
COLOURS = {"good": "green", "careful": "yellow", "doubtful": "bold red"}
MIN_SCORED = 50  # documents with a known label, for a verdict that goes by these
TO_LABEL = "to-label.csv"  # documents drawn to be labelled by hand
MORE_TO_LABEL = "more-to-label.csv"
BY_SOURCE = "source"  # the name of the labels with the class proportions of the source
MAX_ISSUES = 1000  # in JSON


def describe_findings(
    options: ClassifyOptions, inputs: Inputs, corrections: Corrections, outcome: Outcome
) -> dict[str, Any]:
    """Return what was found, fit for JSON; here alone true labels of the target are looked at."""
    classifier, confidence = outcome.classifier, outcome.probabilities.max(axis=1)
    is_sure = confidence >= (options.abstain_below or 0.0)
    classes = list(map(str, classifier.classes_.tolist()))
    given = [str(label) for label, sure in zip(outcome.labels, is_sure, strict=True) if sure]
    source = list(map(str, inputs.labels))
    expected = getattr(classifier, "expected_accuracy_", None)  # a baseline has none
    found: dict[str, Any] = {
        "labels": {name: given.count(name) for name in classes},
        "source_labels": {name: source.count(name) for name in classes},
        "mean_confidence": round(float(confidence.mean()), 4),
        "expected_accuracy": expected,
        "class_prior": _with_names(getattr(classifier, "class_prior_", None)),
        "domains": getattr(classifier, "sources_", None),
        "n_random": len(corrections.random),
        "without_evidence": getattr(classifier, "n_blank_", 0),
        "fell_back": METHODS[options.method].is_best and len(classifier.history_) == 1,
        "history": [_round_with_names(step) for step in classifier.history_],
        "diagnostics": outcome.diagnostics,
        "warnings": outcome.warnings,
        "scores": _score(options, inputs, corrections, outcome),
        "not_scored": _count_not_scored(inputs, corrections),
        "corrections": None,
        "read_as": read_as(options, inputs.target.columns),
        "issues": _list_issues(outcome.issues),
    }
    if options.abstain_below is not None:
        found["abstained"] = int(np.sum(~is_sure))
        if expected is not None:
            found["expected_accuracy_given"] = _expect_given(confidence[is_sure])
    if corrections.labels:
        ids = inputs.target_ids
        before = dict(zip(ids, classifier.uncorrected_transduction_.tolist(), strict=True))
        after = dict(zip(ids, outcome.labels, strict=True))
        found["corrections"] = describe_changes(corrections.labels, before, after)
    verdict = _judge_measured(found)
    if verdict is not None:
        found["diagnostics"] = found["diagnostics"] | {"verdict": verdict}
    return found | {"sentence": label_sentence(found, found["n_random"])}


def _expect_given(confidence: NDArray[np.float64]) -> dict[str, float | int | None]:
    """Return the expected accuracy of the labels that were given: their mean confidence."""
    value = round(float(confidence.mean()), 4) if len(confidence) else None
    return {"value": value, "n": len(confidence)}


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


def _with_names(values: dict[Any, Any] | None) -> dict[str, Any] | None:
    """Return values by the names of classes, as JSON needs them."""
    return None if values is None else {str(label): value for label, value in values.items()}


def _round_with_names(step: dict[str, Any]) -> dict[str, Any]:
    by_class = ("added", "labels", "class_prior")
    return step | {name: _with_names(step[name]) for name in by_class if name in step}


def _count_not_scored(inputs: Inputs, corrections: Corrections) -> int:
    """Return the number of documents whose true label is known, but which were corrected."""
    truth = inputs.target_truth or []
    known = [id for id, label in zip(inputs.target_ids, truth, strict=False) if label is not None]
    return sum(id in corrections.labels for id in known)


def _score(
    options: ClassifyOptions, inputs: Inputs, corrections: Corrections, outcome: Outcome
) -> dict[str, Any] | None:
    """Score documents whose true label is known, without corrected ones."""
    truth = inputs.target_truth
    if truth is None:
        return None
    ids = inputs.target_ids
    rows = [
        row
        for row, label in enumerate(truth)
        if label is not None and ids[row] not in corrections.labels
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
    name, accuracy = better["name"], 100 * scores["accuracy"]
    figures = f"{100 * better['accuracy']:.1f} % of {scores['n']} against {accuracy:.1f} %"
    if name == BY_SOURCE:
        labels = "The labels with the source's class proportions"
        return f"{labels} are better here ({figures}): add --class-prior source."
    return f"The {name} labels are better here ({figures}): use the column {name}_label."


def in_words(result: dict[str, Any], options: ClassifyOptions) -> list[Line]:
    """Describe a result for a terminal: details, the result, and what to do next."""
    lines = [Line(words, indent=2) for words in _details(result)]
    if lines:
        lines = [Line(""), Line("Details", "bold"), *lines]
    sample = f", learnt from {result['n_sample']} of them" if "n_sample" in result else ""
    lines += [Line(""), Line(f"Result: {labelled_in_words(result)}{sample}", "bold")]
    table = list_classes(result["labels"], result.get("source_labels", {}))
    lines += [Line(words, indent=2) for words in table]
    lines += _show_accuracy(result, options)
    lines += [Line(f"Warning: {words}", COLOURS["doubtful"], 2) for words in result["warnings"]]
    plain = []
    if result["scores"] is not None:
        plain += _show_scores(result["scores"], list(result["labels"]))
    if n := result.get("not_scored"):
        documents = f"{n} document{'' if n == 1 else 's'} with a true label"
        plain.append(f"{documents} given as corrections, and so not scored")
    if result["corrections"] is not None:
        plain.append(result["corrections"]["sentence"])
    files = {"labels": result["output"], "report": result["report"], "model": result["model"]}
    written = [f"{what} in {name}" for what, name in files.items() if name not in (None, "-")]
    plain.append(f"{', '.join(written) or 'done'}; {result['seconds']:.1f} s")
    return [*lines, *(Line(words, indent=2) for words in plain), *_tell_next(result, options)]


def _show_accuracy(result: dict[str, Any], options: ClassifyOptions) -> list[Line]:
    """Return lines with the expected accuracy and the verdict."""
    method, scores = METHODS[options.method], result["scores"]
    is_expected = result.get("expected_accuracy") is not None
    is_known = is_expected or (scores is not None and scores["n"] >= MIN_SCORED)
    words = how_sure(result, result.get("n_random", 0)).capitalize()
    if not is_expected:  # a mean confidence is often taken for an accuracy
        words = f"{words}: how sure the method is, not how often it is right"
    lines = [Line(words, indent=2)]
    verdict = result["diagnostics"].get("verdict")
    if verdict is not None:
        asks_of_adapting = method.is_own and method.adapts and not is_known
        question = "Did adapting help?" if asks_of_adapting else "Can I use these labels?"
        tone = tone_of(verdict)
        if tone == "good" and not is_known:
            tone = "careful"
        lines.append(Line(f"{question} {verdict}", COLOURS[tone], 2))
    return lines


def _details(result: dict[str, Any]) -> list[str]:
    """Return lines on what the result is based on."""
    lines = []
    counts = result.get("issues", {}).get("counts")
    if counts:
        found = ", ".join(f"{kind}: {count}" for kind, count in counts.items())
        where = "add --report or --json to list them"
        if result.get("report"):
            where = "listed in the report"
        lines.append(f"Problems in the data: {found} ({where})")
    if n := result.get("without_evidence"):
        documents = f"{n} document{'' if n == 1 else 's'} without any known n-gram"
        lines.append(f"{documents}: labelled from the class proportions alone")
    left_out = ("verdict", "drift of the class proportions")
    found_out = result["diagnostics"].items()
    return lines + [one["sentence"] for name, one in found_out if name not in left_out]


def _show_scores(scores: dict[str, Any], classes: list[str]) -> list[str]:
    """Describe the accuracy on documents whose label is known, with a small confusion matrix."""
    rows, (low, high) = scores["confusion_labels"], scores["accuracy_interval"]
    known = f"of {scores['n']} documents with a known label"
    lines = [
        f"Accuracy {scores['accuracy']:.1%} ({low:.1%} to {high:.1%}),"
        f" macro F1 {scores['macro_f1']:.4f}, {known}"
    ]
    if "reference" in scores:
        lines[0] += (
            f"; {scores['reference']} {scores['reference_accuracy']:.1%},"
            f" p = {scores['mcnemar_p']:.2g}"
        )
    if "better" in scores:
        lines.append(scores["better"]["sentence"])
    if scores.get("accuracy_sure") is not None:
        lines.append(
            f"Accuracy {scores['accuracy_sure']:.1%} of the {scores['n_sure']} among them"
            " that got a label"
        )
    for name in (name for name in rows if name not in classes):
        lines.append(
            f"No class of the source is called {name!r}, so that it always counts as wrong"
            f"{suggest(name, classes)}"
        )
    if len(rows) > 8:
        return lines
    width = max(12, *(len(name) + 2 for name in [*rows, *classes]))
    lines.append("true \\ found".ljust(width) + "".join(name.rjust(width) for name in classes))
    for name, counts in zip(rows, scores["confusion"], strict=True):
        lines.append(name.ljust(width) + "".join(str(count).rjust(width) for count in counts))
    return lines


def _tell_next(result: dict[str, Any], options: ClassifyOptions) -> list[Line]:
    """Return the next steps, as commands to copy."""
    steps = _review_steps(options)
    if _can_repeat(options) and options.output is not None:
        to_label = _labelling_steps(result, options)
        is_first = UNKNOWN_PROPORTIONS in result["diagnostics"]
        steps = to_label + steps if is_first else steps + to_label
    if options.save is not None:
        typed = ["gramshift", "predict", "--model", options.save]
        typed += ["--input", "new.csv", "--output", "new-labels.csv"]
        text = result.get("read_as", {}).get("text")
        typed += [] if text is None else ["--text", text]
        steps.append(("Label new documents with the model:", join_words(typed)))
    lines = [Line(""), Line("Next", "bold")] if steps else []
    for words, command in steps:
        lines.append(Line(words, indent=2))
        if command is not None:
            lines.append(Line(command, "cyan", 4, is_command=True))
    return lines


def _can_repeat(options: ClassifyOptions) -> bool:
    """Return True if another run can read the same files again."""
    names = (*options.source, *options.targets, options.output)
    return options.sample is None and "-" not in names


def _review_steps(options: ClassifyOptions) -> list[Step]:
    """Return the steps of looking at labels in a browser; a baseline has no report."""
    is_first = _can_repeat(options) and options.corrections is None
    if options.report is None:
        if not is_first or not METHODS[options.method].is_own:
            return []
        again = options.to_command(report="report.html", force=True)
        return [("See why, and correct labels in a browser:", again)]
    look = "Look at the labels, least sure first, and correct some"
    steps: list[Step] = [(f"{look}: open {options.report} in a browser.", None)]
    if is_first:
        again = options.to_command(corrections="corrections.csv", force=True)
        steps.append(("Run again with the corrections that you download there:", again))
    return steps


def _labelling_steps(result: dict[str, Any], options: ClassifyOptions) -> list[Step]:
    """Return the steps of labelling documents by hand, if that is advised."""
    method, verdict = METHODS[options.method], result["diagnostics"].get("verdict") or ""
    n = count_to_label(sum(result["labels"].values()) + result.get("abstained", 0))
    has_accuracy = result.get("expected_accuracy") is not None
    is_doubtful = not has_accuracy or (verdict != "" and tone_of(verdict) != "good")
    is_decisive = UNKNOWN_PROPORTIONS in result["diagnostics"]
    if n < MIN_TO_LABEL or not (is_decisive or (is_doubtful and result["scores"] is None)):
        return []
    n_random = result.get("n_random", 0)
    how, file_option = "--random", "corrections"
    if (n_random or options.gives_class_prior) and verdict.startswith("No, not"):
        how = "--doubtful"
        words = f"To get better labels, correct {n} doubtful documents by hand:"
    elif n_random:
        return []
    elif not method.is_own:
        file_option = "truth"
        words = f"Label {n} random documents by hand, to score the labels with them:"
    else:
        are_counted = method.is_best and options.class_prior is None
        use = "set the class proportions, measure the accuracy" if are_counted else MEASURE
        words = f"Label {n} random documents by hand; they {use} and are learnt from:"
    name = TO_LABEL if options.corrections != TO_LABEL else MORE_TO_LABEL
    drawn = ["gramshift", "sample", str(options.output), how, str(n), "--output", name]
    for option, value in result.get("read_as", {}).items():
        drawn += [f"--{option}", value]
    joined = ""
    if options.corrections is not None:
        drawn += ["--corrections", options.corrections]
        joined = f", copy the rows of {options.corrections} into it"
    filled = f"Fill in the column label of {name}{joined}, and run again:"
    again = options.to_command(**{file_option: name}, force=True)
    return [(words, join_words(drawn)), (filled, again)]
