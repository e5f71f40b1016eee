"""What a run found, as plain values and in words."""

from collections import Counter
from typing import Any

import numpy as np

from gramshift.commands.classify.fitting import Fits
from gramshift.commands.classify.labelled import describe_changes
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.evaluate.scoring import score_labels
from gramshift.methods import METHODS


def describe_findings(options: ClassifyOptions, inputs: Inputs, corrections: dict[str, Any], fits: Fits) -> dict[str, Any]:
    """Tell what was found. Here, and here only, true labels of the target are looked at."""
    labels = list(map(str, fits.labels))
    found: dict[str, Any] = {
        "labels": {str(name): labels.count(str(name)) for name in fits.classes},
        "mean_confidence": round(float(fits.confidence.mean()), 4),
        "expected_accuracy": getattr(fits.classifier, "expected_accuracy_", None),
        "shares": _name_all(getattr(fits.classifier, "shares_", None)),
        "domains": getattr(fits.classifier, "sources_", None),
        "without_evidence": fits.n_blank,
        "fell_back": METHODS[options.method].is_best and len(fits.classifier.history_) == 1,
        "history": [
            step | {key: _name_all(step[key]) for key in ("added", "labels", "shares") if key in step}
            for step in fits.classifier.history_
        ],
        "diagnostics": fits.diagnostics,
        "warnings": fits.warnings,
        "scores": _score(options, inputs, corrections, fits),
        "corrections": None,
    }
    if options.abstain_below is not None:
        found["abstained"] = int(np.sum(fits.confidence < options.abstain_below))
    if fits.uncorrected is not None:
        before, after = (dict(zip(inputs.target_ids, these, strict=True)) for these in (fits.uncorrected, fits.labels))
        found["corrections"] = describe_changes(corrections, before, after)
    return found | {"sentence": label_sentence(found)}


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
    plain = None if fits.plain_labels is None else of(fits.plain_labels)
    scores = score_labels(of(truth), of(fits.labels), fits.confidence[rows], classes, plain=plain)
    if options.abstain_below is not None:
        sure = [row for row in rows if fits.confidence[row] >= options.abstain_below]
        hits = sum(str(truth[row]) == str(fits.labels[row]) for row in sure)
        scores |= {"n_sure": len(sure), "accuracy_sure": hits / len(sure) if sure else None}
    return scores


def label_sentence(found: dict[str, Any]) -> str:
    """Tell how many documents have which label, and how sure that is."""
    counts = Counter(found["labels"])
    most = ", ".join(f"{count} {name}" for name, count in counts.most_common(6))
    more = f" and {len(counts) - 6} more classes" if len(counts) > 6 else ""
    words = f"{sum(counts.values())} documents labelled: {most}{more}; {how_sure(found)}"
    if "abstained" in found:
        words += f"; {found['abstained']} left without a label"
    scores = found["scores"]
    if scores is not None:
        words += f"; {scores['accuracy']:.1%} right"
        if "plain_accuracy" in scores:
            words += f" (plain {scores['plain_accuracy']:.1%}, p = {scores['mcnemar_p']:.2g})"
    return words


def how_sure(found: dict[str, Any]) -> str:
    """Tell what accuracy is to be expected; of methods that cannot tell, their mean confidence."""
    expected = found.get("expected_accuracy")
    if expected is None:
        return f"mean confidence {found['mean_confidence']:.2f}"
    return f"expected accuracy {expected['value']:.0%} ({expected['low']:.0%} to {expected['high']:.0%})"


def in_words(result: dict[str, Any]) -> list[str]:
    """Tell for a terminal the result, what to think of it, and where it is."""
    lines = [result["sentence"], *(f"warning: {one}" for one in result["warnings"])]
    if result.get("fell_back"):
        lines.append("Too few target documents to adapt to: these are the labels that plain gives.")
    if result.get("without_evidence"):
        n = result["without_evidence"]
        lines.append(f"{n} document{'' if n == 1 else 's'} without any known n-gram: labelled by the shares of classes alone")
    for name, one in result["diagnostics"].items():
        question = "can I use these labels?" if result.get("expected_accuracy") is not None else "was adapting wise?"
        lines.append(f"{question} {one}" if name == "verdict" else one["sentence"])
    if result["scores"] is not None:
        lines += _confusion(result["scores"], list(result["labels"]))
    if result["corrections"] is not None:
        lines.append(result["corrections"]["sentence"])
    files = {"labels": result["output"], "report": result["report"], "model": result["model"]}
    written = [f"{what} in {name}" for what, name in files.items() if name not in (None, "-")]
    return [*lines, f"{', '.join(written) or 'done'}; {result['seconds']:.1f} s"]


def _confusion(scores: dict[str, Any], classes: list[str]) -> list[str]:
    """Show the confusion as a table, if it fits on a screen."""
    rows = scores["confusion_labels"]
    lines = [
        f"accuracy {scores['accuracy']:.4f}, macro F1 {scores['macro_f1']:.4f}, {scores['n']} documents with a known label"
    ]
    if len(rows) > 8:
        return lines
    width = max(12, *(len(name) + 2 for name in [*rows, *classes]))
    lines.append("true \\ found".ljust(width) + "".join(name.rjust(width) for name in classes))
    for name, counts in zip(rows, scores["confusion"], strict=True):
        lines.append(name.ljust(width) + "".join(str(count).rjust(width) for count in counts))
    return lines
