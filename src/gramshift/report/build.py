"""Build the report of a fitted classifier: one pass from its results to the page."""

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np

from gramshift.errors import InputError
from gramshift.kernels.encoding import name_encoder
from gramshift.kernels.string_kernel import KernelSpec
from gramshift.learn.training_set import Rows
from gramshift.model.advice import label_sentence
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.corrections import target_rows
from gramshift.model.data_problems import Issue
from gramshift.model.explanation import NO_WORDS
from gramshift.model.presenting import check_ids
from gramshift.model.result import FitResult
from gramshift.model.saving import library_versions
from gramshift.model.settings import UNADAPTED
from gramshift.parallel import Progress
from gramshift.report.contents import (
    DocumentEntry,
    Highlight,
    ReportContents,
    RunInfo,
    SimilarDocument,
)
from gramshift.report.evidence import find_highlights, find_neighbours, last_features
from gramshift.report.maps import MAX_POINTS, draw_maps
from gramshift.report.page import MAX_DOCUMENTS, write_page
from gramshift.terminal import count_in_words
from gramshift.text.documents import as_list

N_NGRAMS = 15  # of each class
NEXT_STEP = (
    'corrections = pandas.read_csv("corrections.csv", index_col="id")["label"].dropna()'  # then fit
)


def write_report(
    classifier: TransductiveClassifier, path: str | os.PathLike[str] | IO[bytes], **options: Any
) -> None:
    """Write the report of a fitted classifier to a path or to an open binary file.

    The options are those of :func:`build_contents`.
    """
    write_page(path, build_contents(classifier, **options))


def build_contents(
    classifier: TransductiveClassifier,
    *,
    ids: Any = None,
    source_ids: Any = None,
    columns: Any = None,
    title: str | None = None,
    truth: Sequence[Any] | None = None,
    drawn: Mapping[str, str] | None = None,
    abstain_below: float | None = None,
    run: RunInfo | None = None,
    progress: Progress | None = None,
) -> ReportContents:
    """Return the contents of a report; see ``TransductiveClassifier.report`` for the parameters."""
    report = progress or (lambda *_: None)
    report("report", 0, 1)
    fit = classifier.result_
    target, source = target_rows(fit), np.flatnonzero(fit.is_source)
    _check_fit(fit, len(target))
    given = _read_given(len(target), ids, columns, truth, drawn or {})
    neighbour_ids = _read_ids(source_ids, len(source), "source")

    confidence = classifier.transduction_proba_.max(axis=1)
    highlights = find_highlights(fit, target, confidence, progress)
    features = last_features(fit, classifier.n_jobs, classifier.corpus_)
    nearest = find_neighbours(fit, target, source, features, progress)
    neighbours = [_describe_neighbours(fit, source, neighbour_ids, near) for near in nearest]
    documents = _list_documents(classifier, given, highlights, neighbours, abstain_below or 0)

    run = run or RunInfo(next_command=NEXT_STEP)
    diagnostics, warnings = run.diagnostics, run.warnings
    if diagnostics is None or warnings is None:
        found = classifier.diagnostics_
        own_warnings = found.pop("warnings")
        diagnostics = found if diagnostics is None else diagnostics
        warnings = own_warnings if warnings is None else warnings
    classes = list(map(str, classifier.classes_.tolist()))
    source_counts = Counter(str(fit.all_labels[row]) for row in source.tolist())
    history = [
        step | {name: _by_name(step[name]) for name in ("added", "labels")}
        for step in classifier.history_
    ]
    before, after = draw_maps(fit, features, per_kind=MAX_POINTS)
    report("report", 1, 1)
    return ReportContents(
        title=title or f"{count_in_words(len(target), 'document')}, labelled from {len(source)}",
        created=time.strftime("%Y-%m-%d %H:%M"),
        sentence=_describe_labels(classifier, fit) if run.sentence is None else run.sentence,
        warnings=warnings,
        sources=_name_sources(fit, len(source)) if run.sources is None else run.sources,
        n_source=len(source),
        classes=classes,
        documents=documents,
        shares=_find_shares(classifier, fit.reference, source_counts, history),
        history=history,
        before=before,
        after=after,
        diagnostics=diagnostics,
        model_parameters=_find_parameters(fit),
        versions=library_versions(),
        run=run,
        notes=_find_notes(fit, len(target), len(highlights)),
        strongest_ngrams=_find_ngrams(classifier, fit),
        issues=_find_issues(classifier, fit),
        expected_accuracy=classifier.expected_accuracy_,
        n_random=len(fit.random),
        new_classes=[name for name in classes if not source_counts[name]],
        reference=fit.reference,
    )


def _list_documents(
    classifier: TransductiveClassifier,
    given: list[dict[str, Any]],
    highlights: dict[int, list[Highlight]],
    neighbours: list[list[SimilarDocument]],
    abstain_below: float,
) -> list[DocumentEntry]:
    """Return the target documents; ``given`` has the fields that the classifier does not know."""
    fit = classifier.result_
    target = target_rows(fit)
    labels = list(map(str, classifier.transduction_.tolist()))
    probabilities = classifier.transduction_proba_.tolist()
    corrected = classifier.corrected_.tolist()
    rounds = np.maximum(classifier.labeled_iter_[target], 0).tolist()
    reference = classifier.reference_transduction_
    return [
        DocumentEntry(
            text=fit.model.documents[row],
            label=labels[i],
            confidence=max(probabilities[i]),
            probabilities=probabilities[i],
            round=rounds[i],
            reference_label=None if reference is None or corrected[i] else str(reference[i]),
            corrected=corrected[i],
            spans=highlights.get(row, []),
            neighbours=neighbours[i],
            explained=row in highlights or fit.model.ngrams is None,
            abstained=max(probabilities[i]) < abstain_below,
            **given[i],
        )
        for i, row in enumerate(target.tolist())
    ]


def _describe_neighbours(
    fit: FitResult, source: Rows, ids: list[str], nearest: list[tuple[int, float]]
) -> list[SimilarDocument]:
    """Return the most similar source documents, given by their places in ``source``."""
    found = []
    for place, similarity in nearest:
        row = source[place]
        label = str(fit.all_labels[row])
        found.append(SimilarDocument(ids[place], label, similarity, fit.model.documents[row]))
    return found


def _check_fit(fit: FitResult, n_target: int) -> None:
    """Raise an error if there can be no report."""
    texts, kernel_list = fit.model.documents, fit.model.kernel_list
    if not isinstance(texts, list) or len(texts) != len(fit.training_set):
        raise InputError(
            "a report shows texts, and this classifier has not kept them all: fit it here on texts"
        )
    if kernel_list is None or not all(isinstance(one, KernelSpec) for one in kernel_list.kernels):
        raise InputError(
            "a report needs string kernels: give kernel= by name or as a StringKernel,"
            " and fit on texts"
        )
    if not n_target:
        raise InputError(
            "a report is about target documents, and this classifier was fitted without any:"
            " give target=..."
        )
    if n_target > MAX_DOCUMENTS:
        raise InputError(
            f"a report shows {MAX_DOCUMENTS} documents at most, and the target has {n_target};"
            " use to_frame()"
        )


def _read_given(
    n: int, ids: Any, columns: Any, truth: Sequence[Any] | None, drawn: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the fields of ``n`` target documents that the caller gives, or raise an error."""
    names = _read_ids(ids, n, "target")
    twice, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InputError(
            f"two target documents have the id {twice!r}; corrections need ids that differ"
        )
    more = _read_columns(columns, n)
    if truth is not None and len(truth) != n:
        raise InputError(f"truth has {len(truth)} labels for {n} target documents")
    return [
        {
            "id": name,
            "truth": None if truth is None or truth[i] is None else str(truth[i]),
            "drawn": drawn.get(name, ""),
            "more": [(title, str(own[i])) for title, own in more.items() if _is_given(own[i])],
        }
        for i, name in enumerate(names)
    ]


def _read_ids(ids: Any, n: int, kind: str) -> list[str]:
    """Return the ids as str; numbers from 1 on if there are none."""
    return list(map(str, range(1, n + 1) if ids is None else check_ids(ids, n, kind)))


def _read_columns(columns: Any, n: int) -> dict[str, list[Any]]:
    """Return the columns of a frame or a dict as lists, one value for each target document."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping) and not hasattr(columns, "columns"):
        raise InputError(
            f"columns is of type {type(columns).__name__}; give a dict of lists, or a data frame"
        )
    names = list(columns) if isinstance(columns, Mapping) else list(columns.columns)
    found = {str(name): as_list(columns[name]) for name in names}
    for name, values in found.items():
        if len(values) != n:
            raise InputError(
                f"columns[{name!r}] has {len(values)} values for {n} target documents;"
                " give one for each"
            )
    return found


def _is_given(value: Any) -> bool:
    """Return True unless a value is missing or blank."""
    return value is not None and not (isinstance(value, str) and not value.strip())


def _describe_labels(classifier: TransductiveClassifier, fit: FitResult) -> str:
    """Return the sentence on the result."""
    counts = Counter(map(str, classifier.transduction_.tolist()))
    found = {
        "labels": {str(name): counts[str(name)] for name in classifier.classes_.tolist()},
        "mean_confidence": float(classifier.transduction_proba_.max(axis=1).mean()),
        "expected_accuracy": classifier.expected_accuracy_,
        "scores": None,
    }
    return label_sentence(found, len(fit.random))


def _name_sources(fit: FitResult, n_source: int) -> list[tuple[str, int]]:
    """Return the names of the sources, and the number of documents in each."""
    if fit.sources is None:
        return [("source", n_source)]
    return [(str(one["domain"]), int(one["documents"])) for one in fit.sources]


def _find_shares(
    classifier: TransductiveClassifier,
    reference: str,
    source_counts: Counter[str],
    history: list[dict[str, Any]],
) -> dict[str, dict[str, float]]:
    """Return the class proportions of the source, then of the target labels stage by stage.

    ``reference`` is the name of the labels without adapting.
    """
    classes = list(map(str, classifier.classes_.tolist()))
    stages = {"source": {name: source_counts[name] for name in classes}}
    unadapted = classifier.reference_transduction_
    if unadapted is not None:
        found = Counter(map(str, unadapted[~classifier.corrected_].tolist()))
        stages[reference] = {name: found[name] for name in classes}
    for number, step in enumerate(history, start=1):
        stages[f"round {number}"] = step["labels"]
    if UNADAPTED in stages and len(history) > 1:
        del stages["round 1"]  # its classifier gives the unadapted labels
    return {
        stage: {name: count / max(1, sum(counts.values())) for name, count in counts.items()}
        for stage, counts in stages.items()
    }


def _by_name(counts: dict[Any, int]) -> dict[str, int]:
    return {str(label): count for label, count in counts.items()}


def _find_parameters(fit: FitResult) -> dict[str, str]:
    """Return all parameters with the values in effect, as text."""
    found = fit.parameters | fit.settings.shaped_by_preset()
    encoder = found["encoder"]
    found["encoder"] = None if encoder is None else name_encoder(encoder)
    return {name: str(value) for name, value in found.items()}


def _find_ngrams(classifier: TransductiveClassifier, fit: FitResult) -> list[list[tuple[Any, ...]]]:
    """Return the strongest n-grams of each class; none if the model is not linear."""
    if fit.model.ngrams is None:
        return []
    return list(classifier.strongest_ngrams(N_NGRAMS, overlapping=False, counts=True).values())


def _find_issues(classifier: TransductiveClassifier, fit: FitResult) -> Sequence[Issue]:
    """Return the problems in the data; a loaded classifier does not know any."""
    return () if fit.why_no_issues else classifier.issues_


def _find_notes(fit: FitResult, n_target: int, n_explained: int) -> list[str]:
    """Return remarks on what was sampled or left out."""
    notes = []
    if not n_explained:
        notes.append(NO_WORDS)
    elif n_explained < n_target:
        notes.append(
            f"The {n_explained} least sure of {n_target} documents are explained;"
            " the others have no highlights."
        )
    ngrams = fit.model.ngrams
    if ngrams is not None and ngrams.vectors is not None:
        notes.append(
            "Words are marked by their n-grams alone: the vectors of whole texts,"
            f" {ngrams.vectors.share:.0%} of the kernel, have no words."
        )
    n_source = int(fit.is_source.sum())
    n_others = len(fit.is_source) - n_source
    if max(n_source, n_others) > MAX_POINTS:
        notes.append(
            f"The maps show {min(n_source, MAX_POINTS)} source and {min(n_others, MAX_POINTS)}"
            " target documents, drawn at random."
        )
    return notes
