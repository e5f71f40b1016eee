"""From a fitted classifier to the contents of a report."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, InputTypeError
from gramshift.learn.linear import LinearFeatures
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.corrections import target_rows
from gramshift.model.data_problems import Issue
from gramshift.model.describers import LinearDescriber
from gramshift.model.explanation import NO_WORDS, spread_scores
from gramshift.model.fitted import Fit, Model
from gramshift.model.inputs import ListedCorpus
from gramshift.model.saving import library_versions
from gramshift.model.settings import PLAIN
from gramshift.model.string_kernel import KernelSpec
from gramshift.model.word_spans import choose_words, rank_words
from gramshift.report.contents import (
    DocumentEntry,
    IssueEntry,
    Neighbour,
    NGramFound,
    ReportContents,
    ShownAsItIs,
    SourceDocuments,
    Span,
    TargetDocuments,
)
from gramshift.report.maps import PER_KIND, draw_maps
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress
from gramshift.text.corpus import digest_of


def strongest_spans(text: str, by_character: NDArray[np.float64]) -> list[Span]:
    """Find the five strongest words, in the order of the text; their strength is beside the strongest."""
    ranked = rank_words(text, by_character)
    return [(one.start, one.stop, one.strength / ranked[0].strength, one.code) for one in choose_words(ranked)]


MAX_EXPLAINED = 2000
CELLS = 1 << 24  # similarities that are held at a time
N_NEIGHBOURS = 3
N_NGRAMS = 15  # of each class


def gather_contents(
    classifier: Any,
    reference: TransductiveClassifier | None = None,
    *,
    target: TargetDocuments,
    source: SourceDocuments,
    shown: ShownAsItIs,
    abstain_below: float = 0.0,
    max_explained: int = MAX_EXPLAINED,
    per_kind: int = PER_KIND,
    listed: ListedCorpus | None = None,
    progress: Progress | None = None,
) -> ReportContents:
    """Explain, compare and place the documents of a fit.

    Parameters
    ----------
    classifier, reference
        Fitted on string kernels; ``reference`` without adapting, or None if it was not run. A baseline may stand for
        the classifier: then the reference, which is plain, compares and places the documents, and none is explained.
    target, source, shown
        The documents as the user knows them, and what the page shows without looking at it.
    abstain_below : float
        Documents with less confidence are marked as without a label.
    max_explained : int
        So many of the least sure documents are explained; it takes 10 s for 2000 of them and as many source documents.
    per_kind : int
        The maps show so many source and so many target documents.
    listed : ListedCorpus, optional
        Source and target documents with the n-grams that a linear fit found in them, so that they are not found again.
    progress : callable, optional
        Called as progress(stage, done, total).
    """
    compared = classifier if isinstance(classifier, TransductiveClassifier) else reference
    if compared is None:
        raise InputError("a report on a baseline needs the plain classifier beside it")
    fit, model = compared._fit, compared._fit.model
    if model.similarities is None or not all(isinstance(one, KernelSpec) for one in model.similarities.kernels):
        raise InputError("a report needs string kernels: give kernel= by name or as a StringKernel, and fit on texts")
    report = progress or (lambda *_: None)
    report("report", 0, 1)
    classes = [str(label) for label in classifier.classes_]
    rows = _find_rows(compared, target)
    labels, sure = _read_labels(classifier, target, rows, classes)
    has_words = compared is classifier and model.ngrams is not None
    doubtful = np.argsort(sure.max(axis=1), kind="stable")[:max_explained].tolist() if has_words else []
    spans = dict(zip(doubtful, _find_spans(model, [target.texts[i] for i in doubtful], progress), strict=True))
    features = _describe_again(compared, listed, source, target)
    neighbours = _find_neighbours(model, target, source, features, progress)
    reference_labels = _read_reference_labels(reference, target)
    joined = np.maximum(classifier.labeled_iter_[target_rows(fit)], 0).tolist()
    documents = [
        DocumentEntry(
            id=str(target.ids[i]),
            text=target.texts[i],
            label=labels[i],
            confidence=float(sure[i].max()),
            probabilities=sure[i].tolist(),
            round=0 if row is None else joined[row],
            reference_label=reference_labels[i],
            truth=str(target.truth[i]) if target.truth is not None and target.truth[i] is not None else None,
            corrected=target.ids[i] in target.corrected,
            drawn=target.drawn.get(target.ids[i], ""),
            spans=spans.get(i, []),
            neighbours=near,
            explained=i in spans or not has_words,
            abstained=bool(sure[i].max() < abstain_below),
            more=[(name, str(values[i])) for name, values in target.columns.items() if _is_told(values[i])],
        )
        for i, (row, near) in enumerate(zip(rows, neighbours, strict=True))
    ]
    names = list(map(str, fit.all_labels))
    is_source = compared._fit.is_source  # False for unlabelled documents too
    before, after = draw_maps(model, names, is_source, per_kind=per_kind, features=features)
    history = [step | {name: _by_name(step[name]) for name in ("added", "labels")} for step in classifier.history_]
    stages = {f"round {number}": step["labels"] for number, step in enumerate(history, start=1)}
    called = compared._fit.reference if compared is classifier else PLAIN
    if reference is not None:
        stages = {called: _by_name(reference.history_[-1]["labels"])} | stages
    taught = Counter(map(str, source.labels))
    stages = {"source": {name: taught[name] for name in classes}} | stages
    report("report", 1, 1)
    return ReportContents(
        title=shown.title,
        created=shown.created if shown.created is not None else time.strftime("%Y-%m-%d %H:%M"),
        sentence=shown.sentence,
        warnings=list(shown.warnings),
        options=dict(shown.options),
        versions=library_versions(),
        sources=list(shown.sources),
        n_source=len(source.texts),
        n_target=len(target.texts),
        classes=classes,
        documents=documents,
        shares=[{name: count / max(1, sum(counts.values())) for name, count in counts.items()} for counts in stages.values()],
        history=history,
        before=before,
        after=after if compared is classifier else None,
        diagnostics=dict(shown.diagnostics),
        scores=shown.scores,
        changes=list(shown.changes),
        model_parameters={name: str(value) for name, value in _in_effect(classifier).items()},
        share_names=list(stages),
        notes=_notes(len(target.texts), len(doubtful), is_source, per_kind),
        target_name=shown.target_name,
        command=shown.command,
        issues=list(_ask_for_issues(classifier) if shown.issues is None else shown.issues),
        strongest_ngrams=_find_ngrams(compared) if compared is classifier else [],
        expected_accuracy=getattr(classifier, "expected_accuracy_", None),
        new_classes=[name for name in classes if not taught[name]],
        next_command=shown.next_command,
        reference=called,
    )


def _find_ngrams(classifier: TransductiveClassifier) -> list[list[NGramFound]]:
    """What speaks most for each class, as people read it; nothing where n-grams have no coefficients."""
    if classifier._fit.model.ngrams is None:
        return []
    found = classifier.strongest_ngrams(N_NGRAMS, overlapping=False, counts=bool(len(classifier._fit.model.documents)))
    return [[NGramFound(*one) for one in several] for several in found.values()]


def list_issues(issues: Iterable[Issue]) -> list[IssueEntry]:
    """Problems in the data as the page shows them."""
    return [
        IssueEntry(
            one.issue,
            one.name,
            one.about,
            one.text,
            label=None if one.label is None else str(one.label),
            suggested=None if one.suggested is None else str(one.suggested),
            role=one.role,
        )
        for one in issues
    ]


def _ask_for_issues(classifier: Any) -> list[IssueEntry]:
    """The problems that a classifier knows of; none of one that was loaded or has not all texts."""
    if not isinstance(classifier, TransductiveClassifier):
        return []
    calibration = classifier._fit.calibration
    return [] if calibration is None or calibration.held_out is None else list_issues(classifier.issues_)


def _read_reference_labels(reference: TransductiveClassifier | None, target: TargetDocuments) -> list[str | None]:
    """Return the label of each document without adapting, None if that is not known or a person has given it."""
    if reference is None:
        return [None] * len(target.texts)
    found = list(map(str, reference.transduction_))
    return [None if row is None else found[row] for row in _find_rows(reference, target)]


def _describe_again(
    classifier: TransductiveClassifier, listed: ListedCorpus | None, source: SourceDocuments, target: TargetDocuments
) -> LinearFeatures | None:
    """The documents as the last round of a linear fit saw them, if their n-grams are still there."""
    fit = classifier._fit
    if listed is None or fit.model.ngrams is None or fit.model.similarities is None:
        return None
    n_given = len(listed.corpus.texts) - fit.n_unlabelled
    if listed.corpus.texts[:n_given] != [*source.texts, *target.texts]:
        raise InputError("listed has other documents than the source and the target, in order")
    return describe_linear(fit, listed, classifier.n_jobs)


def describe_linear(fit: Fit, listed: ListedCorpus, n_jobs: int | None) -> LinearFeatures:
    """The documents of a linear fit as its last round saw them."""
    assert fit.model.similarities is not None, "a linear fit has kernels"
    settings, runtime = fit.settings, Runtime(n_jobs)
    describer = LinearDescriber(
        fit.model.similarities, listed, alpha=settings.alpha, bias=settings.has_intercept, runtime=runtime
    )
    return describer.describe(fit.labelling)


def _find_neighbours(
    model: Model,
    target: TargetDocuments,
    source: SourceDocuments,
    features: LinearFeatures | None,
    progress: Progress | None,
) -> Iterator[list[Neighbour]]:
    """Yield the nearest source documents of each target document, most similar first."""
    if features is not None:
        n_source = len(source.texts)
        numbers = np.arange(n_source, n_source + len(target.texts))
        found = choose_nearest(features.rows(numbers, np.arange(n_source)), len(numbers), progress)
    else:
        found = find_nearest(model, target.texts, source.texts, progress=progress)
    for near in found:
        yield [Neighbour(str(source.ids[row]), str(source.labels[row]), value, source.texts[row]) for row, value in near]


def _read_labels(
    classifier: TransductiveClassifier, target: TargetDocuments, rows: Sequence[int | None], classes: Sequence[str]
) -> tuple[list[str], NDArray[np.float64]]:
    """Return the label and the probabilities of each document: those of the fit, or a person's, who is sure."""
    ids, given = target.ids, dict(target.corrected) if isinstance(target.corrected, Mapping) else {}
    found, probabilities = classifier.transduction_, classifier.transduction_proba_
    labels = [str(given[one] if one in given else found[row]) for one, row in zip(ids, rows, strict=True)]
    sure = np.array([[float(name == label) for name in classes] for label in labels]).reshape(-1, len(classes))
    for i, (one, row) in enumerate(zip(ids, rows, strict=True)):
        if one not in given:
            sure[i] = probabilities[row]
    return labels, sure


def _find_spans(model: Model, texts: Sequence[str], progress: Progress | None) -> Iterator[list[Span]]:
    """Yield the spans of each text, which is a document of the fit."""
    if not texts:
        return
    place = {text: number for number, text in reversed(list(enumerate(model.documents)))}
    own = [place.get(text, -1) for text in texts]
    for text, by_character in zip(texts, spread_scores(model, texts, own=own, progress=progress), strict=True):
        yield strongest_spans(text, by_character)


def find_nearest(
    model: Model, texts: Sequence[str], others: Sequence[str], *, progress: Progress | None = None, cells: int = CELLS
) -> Iterator[list[tuple[int, float]]]:
    """Yield for each text the most similar of others, which are documents of the fit, and how similar they are.

    Equal ones come in their order. So many ``cells`` of similarities are in memory at a time.
    """
    step = max(1, cells // max(1, len(model.documents)))
    blocks = (model.compare(texts[start : start + step], others) for start in range(0, len(texts), step))
    yield from choose_nearest(blocks, len(texts), progress)


def choose_nearest(
    blocks: Iterable[NDArray[np.float64]], total: int, progress: Progress | None
) -> Iterator[list[tuple[int, float]]]:
    """Yield the places and values of the largest similarities of each row, of ``total`` rows that come in blocks."""
    done = 0
    for block in blocks:
        for row in block:
            least = np.partition(row, -N_NEIGHBOURS)[-N_NEIGHBOURS] if len(row) > N_NEIGHBOURS else 0.0
            able = np.flatnonzero((row >= least) & (row > 0))
            nearest = able[np.argsort(-row[able], kind="stable")][:N_NEIGHBOURS]
            yield [(int(j), float(row[j])) for j in nearest]
        done += len(block)
        if progress is not None:
            progress("compare", done, total)


def _find_rows(classifier: TransductiveClassifier, target: TargetDocuments) -> list[int | None]:
    """Find which target document of the fit each text is; None for those that a person labelled and that became source."""
    ids, texts, corrected = target.ids, target.texts, target.corrected
    if len(texts) == len(classifier.transduction_):
        return list(range(len(texts)))
    fitted = classifier._fit.target_digests[classifier._fit.wanted]
    given = list(map(digest_of, texts))
    if fitted == given:
        return list(range(len(texts)))
    left = [i for i, one in enumerate(ids) if one not in corrected]
    if fitted != [given[i] for i in left]:
        raise InputError(f"these {len(texts)} texts are not the {len(fitted)} target documents of the fit, in order")
    missing = [one for one in ids if one in corrected and not isinstance(corrected, Mapping)]
    if missing:
        raise InputTypeError(f"the fit has no label for {missing[0]!r}; give corrected as {{id: label}}")
    places: dict[int, int] = {i: row for row, i in enumerate(left)}
    return [places.get(i) for i in range(len(texts))]


def _in_effect(classifier: Any) -> dict[str, Any]:
    """The parameters of a fit, each with the value that held."""
    if not isinstance(classifier, TransductiveClassifier):
        parameters: dict[str, Any] = classifier.get_params(deep=False)
        return parameters
    return classifier._fit.parameters | classifier._fit.settings.shaped_by_preset()


def _is_told(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _by_name(counts: dict[Any, int]) -> dict[str, int]:
    return {str(label): count for label, count in counts.items()}


def _notes(n_target: int, n_explained: int, is_source: NDArray[np.bool_], per_kind: int) -> list[str]:
    """Tell what was sampled or left out."""
    notes = []
    if not n_explained:
        notes.append(NO_WORDS)
    elif n_explained < n_target:
        notes.append(f"The {n_explained} least sure of {n_target} documents are explained; the others have no highlights.")
    shown = min(per_kind, int(is_source.sum())), min(per_kind, int((~is_source).sum()))
    if shown != (int(is_source.sum()), int((~is_source).sum())):
        notes.append(f"The maps show {shown[0]} source and {shown[1]} target documents, drawn at random.")
    return notes
