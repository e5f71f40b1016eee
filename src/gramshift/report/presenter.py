"""What a classifier shows of itself in Python: the report of a run, and its summary in a notebook."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from gramshift.errors import InputError
from gramshift.learn.ridge import SingularKernelError
from gramshift.model.advice import label_sentence
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.diagnosis import judge_quickly, reference_of
from gramshift.model.explanation import COLOURS
from gramshift.model.fitted import Fit
from gramshift.model.inputs import ListedCorpus
from gramshift.model.presenting import check_ids, target_texts
from gramshift.report.contents import RunInfo, ShownAsItIs, SourceDocuments, TargetDocuments
from gramshift.report.drawings import percent
from gramshift.report.gather import gather_contents
from gramshift.report.page import MOST_SHOWN, render_page, write_page
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress
from gramshift.text.documents import as_list

NEXT = 'corrections = pandas.read_csv("corrections.csv", index_col="id")["label"].dropna()'  # then fit with these, too


def write_report(
    classifier: TransductiveClassifier,
    path: str | os.PathLike[str],
    *,
    ids: Any = None,
    source_ids: Any = None,
    columns: Any = None,
    title: str | None = None,
    truth: Any = None,
    drawn: Mapping[str, str] | None = None,
    abstain_below: float | None = None,
    run: RunInfo | None = None,
    progress: Progress | None = None,
) -> None:
    """Write the page of a fit, with what the classifier knows and what the user adds to it."""
    fit, texts = classifier._fit, target_texts(classifier._fit)
    if texts is None:
        raise InputError("a report shows texts, and this classifier has not kept them all: fit it here on texts")
    if not texts:
        raise InputError("a report is about target documents, and this classifier was fitted without any: give target=...")
    if len(texts) > MOST_SHOWN:
        raise InputError(f"a report shows {MOST_SHOWN} documents at most, and the target has {len(texts)}; use to_frame()")
    run = run or RunInfo(next_command=NEXT)
    source = np.flatnonzero(fit.is_source)
    n_source, documents = len(source), fit.model.documents
    target = TargetDocuments(
        list(map(str, range(1, 1 + len(texts)) if ids is None else check_ids(ids, len(texts), "target"))),
        texts,
        columns=_read_columns(columns, len(texts)),
        truth=truth,
        drawn=drawn or {},
    )
    corrected = {target.ids[row] for row in np.flatnonzero(classifier.corrected_).tolist()}
    target = replace(target, corrected=corrected)
    if len(set(target.ids)) < len(texts):
        twice = Counter(target.ids).most_common(1)[0][0]
        raise InputError(f"two target documents have the id {twice!r}; corrections need ids that differ")
    known = SourceDocuments(
        list(map(str, range(1, 1 + n_source) if source_ids is None else check_ids(source_ids, n_source, "source"))),
        [documents[row] for row in source.tolist()],
        fit.classes[fit.labelling.known[source]].tolist(),
    )
    diagnostics = classifier.diagnostics_
    warnings = diagnostics.pop("warnings")
    in_order = bool((source == np.arange(n_source)).all())
    contents = gather_contents(
        classifier,
        _without_adapting(fit, classifier),
        target=target,
        source=known,
        shown=ShownAsItIs(
            title=title or f"{len(texts)} documents, labelled from {n_source}",
            sentence=run.sentence or label_sentence(_describe_labels(classifier), fit.n_random),
            options=run.options,
            sources=run.sources or _sources(fit, n_source),
            warnings=warnings if run.warnings is None else run.warnings,
            diagnostics=run.diagnostics or diagnostics,
            next_command=run.next_command,
            scores=run.scores,
            changes=run.changes,
            target_name=run.target_name,
            command=run.command,
        ),
        abstain_below=abstain_below or 0.0,
        listed=classifier.corpus_ or (ListedCorpus(list(documents)) if in_order else None),
        progress=progress,
    )
    if hasattr(path, "write"):
        path.write(render_page(contents).encode())
    else:
        write_page(path, contents)


def _describe_labels(classifier: TransductiveClassifier) -> dict[str, Any]:
    """What the sentence of a result is made of."""
    counts = Counter(map(str, classifier.transduction_.tolist()))
    return {
        "labels": {str(name): counts[str(name)] for name in classifier.classes_.tolist()},
        "mean_confidence": float(classifier.transduction_proba_.max(axis=1).mean()),
        "expected_accuracy": classifier.expected_accuracy_,
        "scores": None,
    }


def _without_adapting(fit: Fit, classifier: TransductiveClassifier) -> TransductiveClassifier | None:
    """A classifier with the labels that there would be without adapting; None if they are not known."""
    try:
        found = reference_of(fit, Runtime(classifier.n_jobs, classifier.memory_limit))
    except SingularKernelError:  # diagnostics_ has a warning
        return None
    if found is None:
        return None
    reference = TransductiveClassifier()
    reference._keep(replace(found, corrected=fit.corrected))
    return reference


def _sources(fit: Fit, n_source: int) -> list[tuple[str, int]]:
    """The names of the sources, and how many documents each has."""
    if fit.sources is None:
        return [("source", n_source)]
    return [(str(one["domain"]), int(one["documents"])) for one in fit.sources]


def _read_columns(columns: Any, n: int) -> dict[str, list[Any]]:
    """Columns of a frame or a dict as lists, one value for each target document."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping) and not hasattr(columns, "columns"):
        raise InputError(f"columns is a {type(columns).__name__}; give a dict of lists, or a data frame")
    names = list(columns) if isinstance(columns, Mapping) else list(columns.columns)
    found = {str(name): as_list(columns[name]) for name in names}
    for name, values in found.items():
        if len(values) != n:
            raise InputError(f"columns[{name!r}] has {len(values)} values for {n} target documents; give one for each")
    return found


STYLE = (
    ".gramshift-fit{font-size:13px;line-height:1.45;margin:.3em 0}"
    ".gramshift-fit p{margin:.25em 0}"
    ".gramshift-fit table{border-collapse:collapse;margin:.4em 0;font-size:inherit}"
    ".gramshift-fit th,.gramshift-fit td{padding:.15em .9em .15em 0;text-align:left;background:none;border:0}"
    ".gramshift-fit td.number{text-align:right}"
    ".gramshift-fit .bar{display:inline-block;width:90px;height:.7em;margin-right:.5em;background:rgba(128,128,128,.18)}"
    ".gramshift-fit .bar i{display:block;height:100%}"
    ".gramshift-fit pre{white-space:pre-wrap;background:none;margin:.3em 0}"
)


def draw_summary(classifier: TransductiveClassifier) -> str:
    """Sum up a fit as a fragment of HTML: counts, class proportions, expected accuracy and verdict. Labels may be hostile."""
    fit, n_target = classifier._fit, len(classifier.transduction_)
    n_source = len(fit.labelling.source)
    head = (
        f"{n_target} target documents, labelled from {n_source} source documents"
        if n_target
        else (f"Learnt from {n_source} documents, without a target")
    )
    parts = [Markup("<p><b>{}</b></p>").format(head)]
    expected, verdict = classifier.expected_accuracy_, judge_quickly(fit)
    if expected is not None:
        low, high = percent(expected["low"]), percent(expected["high"])
        parts.append(Markup("<p>Expected accuracy <b>{}</b> ({} to {})</p>").format(percent(expected["value"]), low, high))
    if verdict is not None:
        parts.append(Markup("<p>Can these labels be used? <b>{}</b></p>").format(verdict))
    elif n_target:
        parts.append(Markup("<p><code>diagnostics_</code> says whether adapting helped.</p>"))
    parts.append(_proportions(classifier, n_source, n_target))
    parts.append(Markup("<details><summary>Parameters</summary><pre>{}</pre></details>").format(repr(classifier)))
    body = Markup("").join(parts)
    page = Markup('<div class="gramshift-fit"><style>{}</style>{}</div>').format(Markup(STYLE), body)
    return str(page).encode("utf-8", "replace").decode()  # half a surrogate pair cannot stand in a page


def _proportions(classifier: TransductiveClassifier, n_source: int, n_target: int) -> Markup:
    """A table of the classes: their proportions in source and target, as bars and figures."""
    fit = classifier._fit
    before = np.bincount(fit.labelling.source_codes, minlength=len(fit.classes))
    counts = Counter(classifier.transduction_.tolist())
    rows = []
    for code, label in enumerate(fit.classes.tolist()):
        cells = [_bar(before[code] / n_source, code)]
        if n_target:
            cells.append(_bar(counts[label] / n_target, code))
            cells.append(Markup('<td class="number">{}</td>').format(counts[label]))
        rows.append(Markup("<tr><th><bdi>{}</bdi></th>{}</tr>").format(label, Markup("").join(cells)))
    names = ["class", "source", *(["target", "labels"] if n_target else [])]
    head = Markup("").join(Markup("<th>{}</th>").format(name) for name in names)
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, Markup("").join(rows))


def _bar(share: float, code: int) -> Markup:
    style = f"width:{100 * share:.1f}%;background:{COLOURS[code % len(COLOURS)]}"
    return Markup('<td><span class="bar"><i style="{}"></i></span>{}</td>').format(style, percent(share))
