"""Draw the summary of a fitted classifier that notebooks show."""

from collections import Counter

import numpy as np
from markupsafe import Markup

from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.diagnosis import judge_quickly
from gramshift.model.explanation import COLOURS
from gramshift.model.verdict import by_random_labels
from gramshift.report.drawings import percent
from gramshift.terminal import count_in_words

STYLE = (
    ".gramshift-fit{font-size:13px;line-height:1.45;margin:.3em 0}"
    ".gramshift-fit p{margin:.25em 0}"
    ".gramshift-fit table{border-collapse:collapse;margin:.4em 0;font-size:inherit}"
    ".gramshift-fit th,.gramshift-fit td"
    "{padding:.15em .9em .15em 0;text-align:left;background:none;border:0}"
    ".gramshift-fit td.number{text-align:right}"
    ".gramshift-fit .bar{display:inline-block;width:90px;height:.7em;"
    "margin-right:.5em;background:rgba(128,128,128,.18)}"
    ".gramshift-fit .bar i{display:block;height:100%}"
    ".gramshift-fit pre{white-space:pre-wrap;background:none;margin:.3em 0}"
)


def draw_summary(classifier: TransductiveClassifier) -> str:
    """Return an HTML fragment: counts, class proportions, expected accuracy and verdict.

    Labels may be hostile.
    """
    fit = classifier.result_
    n_source, n_target = int(fit.is_source.sum()), len(classifier.transduction_)
    head = f"Learnt from {count_in_words(n_source, 'document')}, without a target"
    if n_target:
        target = count_in_words(n_target, "target document")
        head = f"{target}, labelled from {count_in_words(n_source, 'source document')}"
    parts = [Markup("<p><b>{}</b></p>").format(head)]
    expected = classifier.expected_accuracy_
    if expected is not None:
        value, low, high = (percent(expected[name]) for name in ("value", "low", "high"))
        words = Markup("<p>Expected accuracy <b>{}</b> ({} to {})</p>")
        if n := len(fit.random):
            words = Markup("<p><b>{}</b> of labels right ({} to {}), {by}</p>")
        parts.append(words.format(value, low, high, by=by_random_labels(n)))
    verdict = judge_quickly(fit)
    if verdict is not None:
        parts.append(Markup("<p>Can these labels be used? <b>{}</b></p>").format(verdict))
    elif n_target:
        parts.append(Markup("<p><code>diagnostics_</code> says whether adapting helped.</p>"))
    parts.append(_draw_proportions(classifier))
    parameters = Markup("<details><summary>Parameters</summary><pre>{}</pre></details>")
    parts.append(parameters.format(repr(classifier)))
    fragment = Markup('<div class="gramshift-fit"><style>{}</style>{}</div>')
    page = fragment.format(Markup(STYLE), Markup("").join(parts))
    return str(page).encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded


def _draw_proportions(classifier: TransductiveClassifier) -> Markup:
    """Return a table of the class proportions in source and target, as bars and numbers."""
    fit = classifier.result_
    labels = classifier.transduction_.tolist()
    codes = fit.training_set.known[fit.is_source]
    source_counts = np.bincount(codes, minlength=len(fit.classes))
    target_counts = Counter(labels)
    rows = []
    for code, label in enumerate(fit.classes.tolist()):
        cells = [_draw_bar(source_counts[code] / source_counts.sum(), code)]
        if labels:
            cells.append(_draw_bar(target_counts[label] / len(labels), code))
            cells.append(Markup('<td class="number">{}</td>').format(target_counts[label]))
        row = Markup("<tr><th><bdi>{}</bdi></th>{}</tr>")
        rows.append(row.format(label, Markup("").join(cells)))
    names = ["class", "source", "target", "labels"] if labels else ["class", "source"]
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in names)
    table = Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>")
    return table.format(head, Markup("").join(rows))


def _draw_bar(proportion: float, code: int) -> Markup:
    style = f"width:{100 * proportion:.1f}%;background:{COLOURS[code % len(COLOURS)]}"
    bar = Markup('<td><span class="bar"><i style="{}"></i></span>{}</td>')
    return bar.format(style, percent(proportion))
