"""The words for the results of a run: details, the result, and what to do next."""

from itertools import chain, count
from typing import Any

from gramshift.commands.classify.options import ClassifyOptions
from gramshift.errors import short, suggest
from gramshift.methods import METHODS
from gramshift.model.advice import MIN_TO_LABEL, UNKNOWN_PROPORTIONS, count_to_label, how_sure
from gramshift.model.data_problems import issues_in_words
from gramshift.model.verdict import tone_of
from gramshift.terminal import Line, count_in_words, join_words, labelled_in_words, list_classes

Step = tuple[str, str | None]
"""Words, and a command to copy."""
COLOURS = {"good": "green", "careful": "yellow", "doubtful": "bold red"}
MIN_SCORED = 50  # documents with a known label, for a verdict that goes by these
MAX_CLASSES = 8  # in a confusion matrix
TO_LABEL = "to-label.csv"  # documents drawn to be labelled by hand


def in_words(result: dict[str, Any], options: ClassifyOptions) -> list[Line]:
    """Describe a result for a terminal: details, the result, and what to do next."""
    lines = [Line(words, indent=2) for words in _details(result)]
    if lines:
        lines = [Line(""), Line("Details", "bold"), *lines]
    sample = f", learnt from {result['n_fit_on']} of them" if "n_fit_on" in result else ""
    lines += [Line(""), Line(f"Result: {labelled_in_words(result)}{sample}", "bold")]
    table = list_classes(result["labels"], result.get("source_labels", {}))
    lines += [Line(words, indent=2) for words in table]
    lines += _show_accuracy(result, options)
    lines += [Line(f"Warning: {words}", COLOURS["doubtful"], 2) for words in result["warnings"]]
    plain = []
    if result["scores"] is not None:
        plain += _show_scores(result["scores"], list(result["labels"]))
    if n := result.get("not_scored"):
        documents = count_in_words(n, "document")
        plain.append(f"{documents} with a true label given as corrections, and so not scored")
    if result["corrections"] is not None:
        plain.append(result["corrections"]["sentence"])
    files = {"labels": result["output"], "report": result["report"], "model": result["model"]}
    written = [f"{what} in {name}" for what, name in files.items() if name not in (None, "-")]
    plain.append(f"{', '.join(written) or 'done'}; {result['seconds']:.1f} s")
    return [*lines, *(Line(words, indent=2) for words in plain), *_next_steps(result, options)]


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
        found = ", ".join(issues_in_words(counts))
        where = "add --report or --json to list them"
        if result.get("report"):
            where = "listed in the report"
        lines.append(f"Problems in the data: {found} ({where})")
    if n := result.get("without_evidence"):
        documents = count_in_words(n, "document")
        lines.append(
            f"{documents} without any known n-gram: labelled from the class proportions alone"
        )
    left_out = ("verdict", "drift of the class proportions")
    found_out = result["diagnostics"].items()
    return lines + [one["sentence"] for name, one in found_out if name not in left_out]


def _show_scores(scores: dict[str, Any], classes: list[str]) -> list[str]:
    """Describe the accuracy on documents whose label is known, with a small confusion matrix."""
    rows, (low, high) = scores["confusion_labels"], scores["accuracy_interval"]
    known = f"of {count_in_words(scores['n'], 'document')} with a known label"
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
            f"No class of the source is called {short(name)!r}, so it always counts as wrong"
            f"{suggest(name, classes)}"
        )
    if len(rows) > MAX_CLASSES:
        return lines
    width = max(12, *(len(name) + 2 for name in [*rows, *classes]))
    lines.append("true \\ found".ljust(width) + "".join(name.rjust(width) for name in classes))
    for name, counts in zip(rows, scores["confusion"], strict=True):
        lines.append(name.ljust(width) + "".join(str(count).rjust(width) for count in counts))
    return lines


def _next_steps(result: dict[str, Any], options: ClassifyOptions) -> list[Line]:
    """Return the next steps, as commands to copy."""
    steps = _review_steps(options)
    if _can_repeat(options) and options.output not in (None, "-"):
        to_label = _labelling_steps(result, options)
        is_first = UNKNOWN_PROPORTIONS in result["diagnostics"]
        steps = to_label + steps if is_first else steps + to_label
    if options.save is not None:
        typed = ["gramshift", "predict", "--model", options.save]
        typed += ["--input", "new.csv", "--output", "new-labels.csv"]
        text = result.get("read_as", {}).get("text")
        typed += [] if text is None else ["--text", text]
        typed += [] if options.encoder is None else ["--encoder", options.encoder]
        steps.append(("Label new documents with the model:", join_words(typed)))
    lines = [Line(""), Line("Next", "bold")] if steps else []
    for words, command in steps:
        lines.append(Line(words, indent=2))
        if command is not None:
            lines.append(Line(command, "cyan", 4, is_command=True))
    return lines


def _can_repeat(options: ClassifyOptions) -> bool:
    """Return True if another run can read the same files again."""
    return options.fit_on is None and "-" not in (*options.source, *options.targets)


def _review_steps(options: ClassifyOptions) -> list[Step]:
    """Return the steps of looking at labels in a browser; a baseline has no report."""
    is_first = _can_repeat(options) and not options.corrections
    if options.report is None:
        if not is_first or not METHODS[options.method].is_own:
            return []
        again = options.to_command(report="report.html", force=True)
        return [("See why, and correct labels in a browser:", again)]
    look = "Look at the labels, least sure first, and correct some"
    steps: list[Step] = [(f"{look}: open {options.report} in a browser.", None)]
    if is_first:
        again = options.to_command(corrections=["corrections.csv"], force=True)
        steps.append(("Run again with the corrections that you download there:", again))
    return steps


def _labelling_steps(result: dict[str, Any], options: ClassifyOptions) -> list[Step]:
    """Return the steps of labelling documents by hand, if that is advised."""
    method, verdict = METHODS[options.method], result["diagnostics"].get("verdict") or ""
    n_target = sum(result["labels"].values()) + result.get("abstained", 0)
    n_known = (result["scores"] or {"n": 0})["n"] + result.get("not_scored", 0)
    if n_known >= n_target:
        return []
    n = count_to_label(n_target)
    has_accuracy = result.get("expected_accuracy") is not None
    is_doubtful = not has_accuracy or (verdict != "" and tone_of(verdict) != "good")
    is_decisive = UNKNOWN_PROPORTIONS in result["diagnostics"]
    if n < MIN_TO_LABEL or not (is_decisive or (is_doubtful and result["scores"] is None)):
        return []
    n_random = result.get("n_random", 0)
    how = "--random"
    if (n_random or options.gives_class_prior) and verdict.startswith("No, not"):
        how = "--doubtful"
        words = f"To get better labels, correct {n} doubtful documents by hand:"
    elif n_random:
        return []
    elif not method.is_own:
        words = f"Label {n} random documents by hand, to score the labels with them:"
    else:
        are_counted = method.is_best and options.class_prior is None
        use = ("set the class proportions, " if are_counted else "") + "measure the accuracy"
        words = f"Label {n} random documents by hand; they {use} and are learnt from:"
    names = chain([TO_LABEL], (f"to-label-{number}.csv" for number in count(2)))
    name = next(one for one in names if one not in options.corrections)
    drawn = ["gramshift", "sample", str(options.output), how, str(n), "--output", name]
    for option, value in result.get("read_as", {}).items():
        drawn += [f"--{option}", value]
    for one in options.corrections:
        drawn += ["--corrections", one]
    filled = f"Fill in the column label of {name}, and run again:"
    given = {"corrections": [*options.corrections, name]} if method.is_own else {"truth": name}
    again = options.to_command(**given, force=True)
    return [(words, join_words(drawn)), (filled, again)]
