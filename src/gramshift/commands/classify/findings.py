"""What a run found, as plain values and in words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.commands.classify.labelled import describe_changes
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.evaluate.scoring import find_better, score_labels
from gramshift.methods import METHODS
from gramshift.model.advice import (
    MIN_TO_LABEL,
    UNKNOWN_PROPORTIONS,
    count_to_label,
    how_sure,
    judge_labels,
    label_sentence,
    tone_of,
)
from gramshift.model.data_problems import Issues
from gramshift.model.inputs import ListedCorpus
from gramshift.tables.columns import USUAL, Columns, suggest
from gramshift.text.terminal import Line, join_words, labelled_in_words, list_classes

COLOURS = {"good": "green", "careful": "yellow", "doubtful": "bold red"}
MEASURED = 50  # documents with a known label, from which on the verdict goes by these
TO_LABEL, MORE_TO_LABEL = "to-label.csv", "more-to-label.csv"  # drawn to be labelled by hand
BY_SOURCE = "source"  # the name of the labels that the source's class proportions would give
MOST_LISTED = 1000  # problems in the data that JSON has


@dataclass(frozen=True)
class Fits:
    """What was learnt; labels and probabilities are those of all target documents, corrected ones included."""

    classifier: Any
    reference: Any
    """The same without adapting, or plain; None if it was not run."""
    labels: list[Any]
    reference_labels: list[Any] | None
    uncorrected: list[Any] | None
    """The labels of a fit without the corrections."""
    probabilities: NDArray[np.float64]
    diagnostics: dict[str, Any]
    warnings: list[str]
    documents: ListedCorpus
    """Source and target, with the n-grams that were found in them."""
    issues: Issues
    """Problems in the data; rows are those of source, then target."""
    source_labels: list[Any] | None
    """The labels under the source's class proportions, where these are compared with true ones."""
    n_random: int
    """How many labels of random documents determine the class proportions and measure the accuracy."""

    @property
    def n_blank(self) -> int:
        """How many target documents have no n-gram that tells of their class; 0 where that is not known."""
        fit = getattr(self.classifier, "_fit", None)
        return getattr(fit, "n_blank", 0)

    @property
    def classes(self) -> list[Any]:
        classes: list[Any] = self.classifier.classes_.tolist()
        return classes

    @property
    def confidence(self) -> NDArray[np.float64]:
        confidence: NDArray[np.float64] = self.probabilities.max(axis=1)
        return confidence


def describe_findings(options: ClassifyOptions, inputs: Inputs, corrections: dict[str, Any], fits: Fits) -> dict[str, Any]:
    """Tell what was found. Here, and here only, true labels of the target are looked at."""
    is_left = fits.confidence < (options.abstain_below or 0.0)
    labels = [str(label) for label, left in zip(fits.labels, is_left, strict=True) if not left]
    source = list(map(str, inputs.labels))
    found: dict[str, Any] = {
        "labels": {str(name): labels.count(str(name)) for name in fits.classes},
        "source_labels": {str(name): source.count(str(name)) for name in fits.classes},
        "mean_confidence": round(float(fits.confidence.mean()), 4),
        "expected_accuracy": getattr(fits.classifier, "expected_accuracy_", None),
        "class_prior": _name_all(getattr(fits.classifier, "class_prior_", None)),
        "domains": getattr(fits.classifier, "sources_", None),
        "n_random": fits.n_random,
        "without_evidence": fits.n_blank,
        "fell_back": METHODS[options.method].is_best and len(fits.classifier.history_) == 1,
        "history": [
            step | {key: _name_all(step[key]) for key in ("added", "labels", "class_prior") if key in step}
            for step in fits.classifier.history_
        ],
        "diagnostics": fits.diagnostics,
        "warnings": fits.warnings,
        "scores": _score(options, inputs, corrections, fits),
        "not_scored": 0
        if inputs.truth is None
        else sum(
            inputs.truth[row] is not None and one in corrections
            for row, one in zip(inputs.rows, inputs.target_ids, strict=True)
        ),
        "corrections": None,
        "read_as": read_as(options, inputs.target.columns),
        "issues": _list_issues(fits.issues),
    }
    if options.abstain_below is not None:
        found["abstained"] = int(np.sum(is_left))
        if found["expected_accuracy"] is not None:
            found["expected_accuracy_given"] = _expect_given(fits.confidence[~is_left])
    if fits.uncorrected is not None:
        before, after = (dict(zip(inputs.target_ids, these, strict=True)) for these in (fits.uncorrected, fits.labels))
        found["corrections"] = describe_changes(corrections, before, after)
    if (verdict := _judge_measured(found)) is not None:
        found["diagnostics"] = found["diagnostics"] | {"verdict": verdict}
    return found | {"sentence": label_sentence(found, found["n_random"])}


def _expect_given(confidence: NDArray[np.float64]) -> dict[str, float | int | None]:
    """Tell how many of the labels that were given are expected to be right: as many as these documents are sure on average."""
    return {"value": round(float(confidence.mean()), 4) if len(confidence) else None, "n": len(confidence)}


def _judge_measured(found: dict[str, Any]) -> str | None:
    """The verdict by true labels, if enough are known: that says more than what is expected."""
    scores = found["scores"]
    if scores is None or scores["n"] < MEASURED:
        return None
    low, high = scores["accuracy_interval"]
    largest = max(map(sum, scores["confusion"])) / scores["n"]
    return judge_labels({"value": scores["accuracy"], "low": low, "high": high}, largest, found["warnings"], scores["n"])


def read_as(options: ClassifyOptions, columns: Columns) -> dict[str, str]:
    """The options with which another command reads the output as this one has read the target."""
    text = ",".join(columns.texts)
    found = {"text": text if options.text is not None or text.lower() not in USUAL["text"] else None}
    found |= {"id": options.id, "encoding": None if options.encoding == "utf-8" else options.encoding}
    return {name: value for name, value in found.items() if value}


def _list_issues(issues: Issues) -> dict[str, Any]:
    """How many problems of each kind there are, and the first of them, fit for JSON."""
    told = [
        {"document": one.name, "issue": one.issue, "about": one.about, "role": one.role, "value": round(one.value, 4)}
        | {name: None if value is None else str(value) for name, value in (("label", one.label), ("suggested", one.suggested))}
        for one in issues[:MOST_LISTED]
    ]
    return {"counts": issues.counts, "documents": told}


def _name_all(values: dict[Any, Any] | None) -> dict[str, Any] | None:
    """The same by the names of classes, as JSON has them."""
    return None if values is None else {str(name): value for name, value in values.items()}


def _score(options: ClassifyOptions, inputs: Inputs, corrections: dict[str, Any], fits: Fits) -> dict[str, Any] | None:
    """Score documents whose truth is known, corrected ones left out: a person has labelled these."""
    if inputs.truth is None:
        return None
    truth = [inputs.truth[row] for row in inputs.rows]
    rows = [row for row, one in enumerate(truth) if one is not None and inputs.target_ids[row] not in corrections]
    if not rows:
        return None

    def of(values: list[Any]) -> list[str]:
        return [str(values[row]) for row in rows]

    classes = list(map(str, fits.classes))
    reference = None if fits.reference_labels is None else (options.reference, of(fits.reference_labels))
    scores = score_labels(of(truth), of(fits.labels), fits.confidence[rows], classes, reference=reference)
    if options.abstain_below is not None:
        sure = [row for row in rows if fits.confidence[row] >= options.abstain_below]
        hits = sum(str(truth[row]) == str(fits.labels[row]) for row in sure)
        scores |= {"n_sure": len(sure), "accuracy_sure": hits / len(sure) if sure else None}
    others = {} if reference is None else dict([reference])
    if (by_source := fits.source_labels) is not None:
        others[BY_SOURCE] = of(by_source)
        scores["source_prior_accuracy"] = float(np.mean(np.array(of(by_source)) == np.array(of(truth))))
    better = find_better(of(truth), of(fits.labels), others)
    if better is not None:
        scores["better"] = better | {"sentence": better_in_words(better, scores)}
    return scores


def better_in_words(better: dict[str, Any], scores: dict[str, Any]) -> str:
    """Tell which other labels are better than those that were found, and how to get them."""
    name = better["name"]
    figures = f"{100 * better['accuracy']:.1f} % of {scores['n']} against {100 * scores['accuracy']:.1f} %"
    if name == BY_SOURCE:
        return f"The labels with the source's class proportions are better here ({figures}): add --class-prior source."
    return f"The {name} labels are better here ({figures}): use the column {name}_label."


def in_words(result: dict[str, Any], options: ClassifyOptions) -> list[Line]:
    """Tell for a terminal what there is to know, the result under a heading of its own, and what to do next."""
    lines = [Line(one, indent=2) for one in _details(result)]
    if lines:
        lines = [Line(""), Line("Details", "bold"), *lines]
    is_expected = result.get("expected_accuracy") is not None
    is_measured = result["scores"] is not None and result["scores"]["n"] >= MEASURED
    sample = f", learnt from {result['n_sample']} of them" if "n_sample" in result else ""
    lines += [Line(""), Line(f"Result: {labelled_in_words(result)}{sample}", "bold")]
    lines += [Line(one, indent=2) for one in list_classes(result["labels"], result.get("source_labels", {}))]
    sure = how_sure(result, result.get("n_random", 0)).capitalize()  # a mean confidence is often taken for an accuracy
    lines.append(Line(sure if is_expected else f"{sure}: how sure the method is, not how often it is right", indent=2))
    if (verdict := result["diagnostics"].get("verdict")) is not None:
        is_known = is_expected or is_measured
        question = "Did adapting help?" if METHODS[options.method].adapts and not is_known else "Can I use these labels?"
        tone = "careful" if tone_of(verdict) == "good" and not is_known else tone_of(verdict)
        lines.append(Line(f"{question} {verdict}", COLOURS[tone], 2))
    lines += [Line(f"Warning: {one}", COLOURS["doubtful"], 2) for one in result["warnings"]]
    if result["scores"] is not None:
        lines += [Line(one, indent=2) for one in _show_scores(result["scores"], list(result["labels"]))]
    if n := result.get("not_scored"):
        lines.append(
            Line(f"{n} document{'' if n == 1 else 's'} with a true label given as corrections, and so not scored", indent=2)
        )
    if result["corrections"] is not None:
        lines.append(Line(result["corrections"]["sentence"], indent=2))
    files = {"labels": result["output"], "report": result["report"], "model": result["model"]}
    written = [f"{what} in {name}" for what, name in files.items() if name not in (None, "-")]
    lines.append(Line(f"{', '.join(written) or 'done'}; {result['seconds']:.1f} s", indent=2))
    return [*lines, *_tell_next(result, options)]


def _details(result: dict[str, Any]) -> list[str]:
    """What the result rests on; how classes went from round to round is on the page and in JSON."""
    lines = []
    if (issues := result.get("issues")) and issues["counts"]:
        told = ", ".join(f"{kind}: {count}" for kind, count in issues["counts"].items())
        where = "listed in the report" if result.get("report") else "add --report or --json to list them"
        lines.append(f"Problems in the data: {told} ({where})")
    if result.get("without_evidence"):
        n = result["without_evidence"]
        lines.append(f"{n} document{'' if n == 1 else 's'} without any known n-gram: labelled from the class proportions alone")
    left_out = ("verdict", "drift of the class proportions")
    return lines + [one["sentence"] for name, one in result["diagnostics"].items() if name not in left_out]


def _show_scores(scores: dict[str, Any], classes: list[str]) -> list[str]:
    """The accuracy on documents whose label is known, and the confusion as a table, if it fits on a screen."""
    rows, (low, high) = scores["confusion_labels"], scores["accuracy_interval"]
    known = f"of {scores['n']} documents with a known label"
    lines = [f"Accuracy {scores['accuracy']:.1%} ({low:.1%} to {high:.1%}), macro F1 {scores['macro_f1']:.4f}, {known}"]
    if "reference" in scores:
        lines[0] += f"; {scores['reference']} {scores['reference_accuracy']:.1%}, p = {scores['mcnemar_p']:.2g}"
    if "better" in scores:
        lines.append(scores["better"]["sentence"])
    if scores.get("accuracy_sure") is not None:
        lines.append(f"Accuracy {scores['accuracy_sure']:.1%} of the {scores['n_sure']} among them that got a label")
    for name in (name for name in rows if name not in classes):
        lines.append(f"No class of the source is called {name!r}, so that it always counts as wrong{suggest(name, classes)}")
    if len(rows) > 8:
        return lines
    width = max(12, *(len(name) + 2 for name in [*rows, *classes]))
    lines.append("true \\ found".ljust(width) + "".join(name.rjust(width) for name in classes))
    for name, counts in zip(rows, scores["confusion"], strict=True):
        lines.append(name.ljust(width) + "".join(str(count).rjust(width) for count in counts))
    return lines


def _tell_next(result: dict[str, Any], options: ClassifyOptions) -> list[Line]:
    """What to do next, as commands to copy."""
    can_repeat = options.sample is None
    can_repeat = can_repeat and "-" not in (*options.source, *options.targets, options.output)
    steps: list[tuple[str, str | None]] = []
    if options.report is not None:
        page = options.report
        steps.append((f"Look at the labels, least sure first, and correct some: open {page} in a browser.", None))
        if can_repeat and options.corrections is None:
            again = options.to_command(corrections="corrections.csv", force=True)
            steps.append(("Run again with the corrections that you download there:", again))
    elif can_repeat and options.corrections is None:
        steps.append(("See why, and correct labels in a browser:", options.to_command(report="report.html", force=True)))
    if can_repeat and options.output is not None:
        to_label = _draw_and_label(result, options)
        steps = [*to_label, *steps] if UNKNOWN_PROPORTIONS in result["diagnostics"] else [*steps, *to_label]
    if options.save is not None:
        typed = ["gramshift", "predict", "--model", options.save, "--input", "new.csv", "--output", "new-labels.csv"]
        typed += ["--text", result["read_as"]["text"]] if "text" in result.get("read_as", {}) else []
        steps.append(("Label new documents with the model:", join_words(typed)))
    lines = [Line(""), Line("Next", "bold")] if steps else []
    for words, command in steps:
        lines.append(Line(words, indent=2))
        if command is not None:
            lines.append(Line(command, "cyan", 4, is_command=True))
    return lines


def _draw_and_label(result: dict[str, Any], options: ClassifyOptions) -> list[tuple[str, str | None]]:
    """Tell how to label documents by hand, if that is advised: which ones to draw, and how to give them back."""
    verdict, n_random = result["diagnostics"].get("verdict"), result.get("n_random", 0)
    n = count_to_label(sum(result["labels"].values()) + result.get("abstained", 0))
    is_doubtful = result.get("expected_accuracy") is None or (verdict is not None and tone_of(verdict) != "good")
    is_decisive = UNKNOWN_PROPORTIONS in result["diagnostics"]
    if n < MIN_TO_LABEL or not (is_decisive or (is_doubtful and result["scores"] is None)):
        return []
    if (n_random or options.gives_class_prior) and verdict is not None and verdict.startswith("No, not"):
        how, words = "--doubtful", f"To get better labels, correct {n} doubtful documents by hand:"
    elif n_random:
        return []
    else:
        are_counted = METHODS[options.method].is_best and options.class_prior is None
        use = "set the class proportions, measure the accuracy" if are_counted else "measure the accuracy"
        how, words = "--random", f"Label {n} random documents by hand; they {use} and are learnt from:"
    again, is_baseline = "corrections", not METHODS[options.method].is_own
    if is_baseline and how == "--random" and options.corrections is None:  # as corrections they would measure nothing
        again, words = "truth", f"Label {n} random documents by hand, to score the labels with them:"
    name = TO_LABEL if options.corrections != TO_LABEL else MORE_TO_LABEL
    drawn = ["gramshift", "sample", str(options.output), how, str(n), "--output", name]
    drawn += [word for option, value in result.get("read_as", {}).items() for word in (f"--{option}", value)]
    drawn += [] if options.corrections is None else ["--corrections", options.corrections]
    joined = "" if options.corrections is None else f", copy the rows of {options.corrections} into it"
    filled = f"Fill in the column label of {name}{joined}, and run again:"
    return [(words, join_words(drawn)), (filled, options.to_command(**{again: name}, force=True))]
