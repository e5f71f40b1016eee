"""From a fitted classifier to the contents of a report."""

import platform
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.explain import CELLS, find_shares, stretches
from gramshift.model.fitted import Model
from gramshift.model.saving import LIBRARIES
from gramshift.report.contents import DocumentEntry, Neighbour, ReportContents, Span
from gramshift.report.maps import PER_KIND, draw_maps
from gramshift.runtime.threads import Progress
from gramshift.text.corpus import digest_of

MOST = 12  # stretches of one document
WEAK = 0.08  # of the strongest stretch: less is left out
GAP = 2  # characters between two stretches for the same class that are joined all the same


def strongest_spans(by_character: NDArray[np.float64]) -> list[Span]:
    """Stretches that speak for a class more than for the mean of all, in the order of the text.

    Weak ones are dropped first, so that what they cut apart can be joined. Strength is by character, beside the strongest.
    """
    if not by_character.size:
        return []
    ahead = by_character - by_character.mean(axis=1, keepdims=True)
    found = [(start, stop, float(ahead[start:stop, code].sum()), code) for start, stop, code in stretches(by_character)]
    least = WEAK * max((total for _, _, total, _ in found), default=0.0)
    joined: list[tuple[int, int, float, int]] = []
    for start, stop, total, code in found:
        if total <= least:
            continue
        if joined and joined[-1][3] == code and start - joined[-1][1] <= GAP:
            start, total = joined[-1][0], joined[-1][2] + total  # noqa: PLW2901
            joined.pop()
        joined.append((start, stop, total, code))
    kept = sorted(sorted(joined, key=lambda one: -one[2])[:MOST])
    strongest = max((total / (stop - start) for start, stop, total, _ in kept), default=1.0)
    return [(start, stop, total / (stop - start) / strongest, code) for start, stop, total, code in kept]


MAX_EXPLAINED = 2000
N_NEIGHBOURS = 3


def gather_contents(
    classifier: Any,
    plain: TransductiveClassifier | None = None,
    *,
    ids: Sequence[str],
    texts: Sequence[str],
    source_ids: Sequence[str],
    source_texts: Sequence[str],
    source_labels: Sequence[Any],
    truth: Sequence[Any] | None = None,
    corrected: Mapping[str, Any] | Collection[str] = frozenset(),
    changes: Sequence[dict[str, str]] = (),
    title: str,
    sentence: str,
    warnings: Sequence[str] = (),
    options: dict[str, Any],
    sources: Sequence[tuple[str, int]],
    diagnostics: dict[str, Any] | None = None,
    scores: dict[str, Any] | None = None,
    progress: Progress | None = None,
    max_explained: int = MAX_EXPLAINED,
    created: str | None = None,
    target_name: str = "",
    abstain_below: float = 0.0,
) -> ReportContents:
    """Explain, compare and place the documents of a fit.

    Parameters
    ----------
    classifier, plain : fitted on string kernels; ``plain`` with adapt=False, n_rounds=1, or None if it was not run. A
        baseline may stand for the classifier: then plain compares and places the documents, and none is explained.
    ids, texts : of all target documents as the user knows them, in order, corrected ones included
    source_ids, source_texts, source_labels : what neighbours are looked for among; all of them took part in the fit
    truth : a label, or None, for each of ``texts``
    corrected : {id: label} of the target documents that a person has labelled. They may have been given to the fit as source
        documents, and then the fit has no target row for them: its target documents are the others, in order. A bare set of
        ids will do if they stayed in the target.
    changes, title, sentence, warnings, options, sources, diagnostics, scores, target_name
        Shown as they are; see :class:`ReportContents`.
    progress : called as progress(stage, done, total)
    max_explained : int
        So many of the least sure documents are explained; it takes 10 s for 2000 of them and as many source documents.
    created : when, by default now
    abstain_below : documents with less confidence are marked as without a label
    """
    compared = classifier if isinstance(classifier, TransductiveClassifier) else plain
    if compared is None:
        raise ValueError("a report on a baseline needs the plain classifier beside it")
    fit, model = compared._fit, compared._fit.model
    if model.comparison is None or not model.comparison.by_counts:
        raise ValueError("a report needs string kernels: of other kernels the parts of a text are not known")
    landmarks = fit.compared
    known = landmarks[landmarks < len(source_texts)].tolist()
    source_ids, source_labels = [source_ids[row] for row in known], [source_labels[row] for row in known]
    n_source, source_texts = len(source_texts), [source_texts[row] for row in known]
    report = progress or (lambda *_: None)
    report("report", 0, 1)
    classes = [str(label) for label in classifier.classes_]
    rows = _find_rows(compared, ids, texts, corrected)
    labels, sure = _read_labels(classifier, ids, rows, corrected, classes)
    plain_labels: list[str | None] = [None] * len(texts)
    if plain is not None:
        found = list(map(str, plain.transduction_))
        plain_labels = [None if row is None else found[row] for row in _find_rows(plain, ids, texts, corrected)]
    joined = np.maximum(classifier.labeled_iter_[classifier.labeled_iter_ != 0], 0).tolist()
    max_explained = max_explained if compared is classifier else 0
    confidence = sure.max(axis=1)
    doubtful = np.argsort(confidence, kind="stable")[:max_explained].tolist()
    spans = dict(zip(doubtful, _find_spans(model, [texts[i] for i in doubtful], progress), strict=True))
    documents = []
    for i, near in enumerate(find_nearest(model, texts, source_texts, progress=progress)):
        row = rows[i]
        documents.append(
            DocumentEntry(
                id=str(ids[i]),
                text=texts[i],
                label=labels[i],
                confidence=float(confidence[i]),
                probabilities=sure[i].tolist(),
                round=0 if row is None else joined[row],
                plain_label=plain_labels[i],
                truth=str(truth[i]) if truth is not None and truth[i] is not None else None,
                corrected=ids[i] in corrected,
                spans=spans.get(i, []),
                neighbours=[Neighbour(str(source_ids[j]), str(source_labels[j]), value, source_texts[j]) for j, value in near],
                explained=i in spans,
                abstained=bool(confidence[i] < abstain_below),
            )
        )
    names = list(map(str, fit.all_labels))
    is_source = compared.labeled_iter_[landmarks] == 0
    before, after = draw_maps(model, [names[row] for row in landmarks.tolist()], is_source)
    history = [step | {name: _by_name(step[name]) for name in ("added", "labels")} for step in classifier.history_]
    stages = {f"round {number}": step["labels"] for number, step in enumerate(history, start=1)}
    if plain is not None:
        stages = {"plain": _by_name(plain.history_[-1]["labels"])} | stages
    report("report", 1, 1)
    return ReportContents(
        title=title,
        created=created if created is not None else time.strftime("%Y-%m-%d %H:%M"),
        sentence=sentence,
        warnings=list(warnings),
        options=options,
        versions={name: version(name) for name in LIBRARIES} | {"python": platform.python_version()},
        sources=list(sources),
        n_source=n_source,
        n_target=len(texts),
        classes=classes,
        documents=documents,
        shares=[{name: count / max(1, sum(counts.values())) for name, count in counts.items()} for counts in stages.values()],
        history=history,
        before=before,
        after=after if compared is classifier else None,
        diagnostics=diagnostics or {},
        scores=scores,
        changes=list(changes),
        model_parameters={name: str(value) for name, value in _in_effect(classifier).items()},
        share_names=list(stages),
        notes=_notes(len(texts), len(doubtful), is_source, compared.landmarks_ is not None),
        target_name=target_name,
    )


def _read_labels(
    classifier: TransductiveClassifier,
    ids: Sequence[str],
    rows: Sequence[int | None],
    corrected: Mapping[str, Any] | Collection[str],
    classes: Sequence[str],
) -> tuple[list[str], NDArray[np.float64]]:
    """The label and the probabilities of each document: those of the fit, or a person's, who is sure."""
    given = dict(corrected) if isinstance(corrected, Mapping) else {}
    found, probabilities = classifier.transduction_, classifier.transduction_proba_
    labels = [str(given[one] if one in given else found[row]) for one, row in zip(ids, rows, strict=True)]
    sure = np.array([[float(name == label) for name in classes] for label in labels]).reshape(-1, len(classes))
    for i, (one, row) in enumerate(zip(ids, rows, strict=True)):
        if one not in given:
            sure[i] = probabilities[row]
    return labels, sure


def _find_spans(model: Model, texts: Sequence[str], progress: Progress | None) -> Iterator[list[Span]]:
    """Of documents of the fit, landmarks or not."""
    place = {text: number for number, text in reversed(list(enumerate(model.documents)))}
    for one in find_shares(model, texts, own=[place.get(text, -1) for text in texts], progress=progress):
        yield strongest_spans(one.by_character)


def find_nearest(
    model: Model, texts: Sequence[str], others: Sequence[str], *, progress: Progress | None = None
) -> Iterator[list[tuple[int, float]]]:
    """For each text the most similar of others, documents of the fit, and how similar they are; of equal ones the earlier."""
    step = max(1, CELLS // max(1, len(model.documents)))
    for start in range(0, len(texts), step):
        for row in model.compare(texts[start : start + step], others):
            least = np.partition(row, -N_NEIGHBOURS)[-N_NEIGHBOURS] if len(row) > N_NEIGHBOURS else 0.0
            able = np.flatnonzero((row >= least) & (row > 0))
            nearest = able[np.argsort(-row[able], kind="stable")][:N_NEIGHBOURS]
            yield [(int(j), float(row[j])) for j in nearest]
        if progress is not None:
            progress("compare", min(start + step, len(texts)), len(texts))


def _find_rows(
    classifier: TransductiveClassifier, ids: Sequence[str], texts: Sequence[str], corrected: Mapping[str, Any] | Collection[str]
) -> list[int | None]:
    """Which target document of the fit each text is; None for those that a person labelled and that became source."""
    fitted = classifier._fit.target_digests
    given = list(map(digest_of, texts))
    if fitted == given:
        return list(range(len(texts)))
    left = [i for i, one in enumerate(ids) if one not in corrected]
    if fitted != [given[i] for i in left]:
        raise ValueError(f"these {len(texts)} texts are not the {len(fitted)} target documents of the fit, in order")
    missing = [one for one in ids if one in corrected and not isinstance(corrected, Mapping)]
    if missing:
        raise TypeError(f"the fit has no label for {missing[0]!r}; give corrected as {{id: label}}")
    places: dict[int, int] = {i: row for row, i in enumerate(left)}
    return [places.get(i) for i in range(len(texts))]


def _in_effect(classifier: Any) -> dict[str, Any]:
    """The parameters of a fit, each with the value that held."""
    if not isinstance(classifier, TransductiveClassifier):
        parameters: dict[str, Any] = classifier._parameters
        return parameters
    return classifier._fit.parameters | classifier._fit.settings.shaped_by_preset()


def _by_name(counts: dict[Any, int]) -> dict[str, int]:
    return {str(label): count for label, count in counts.items()}


def _notes(n_target: int, n_explained: int, is_source: NDArray[np.bool_], by_landmarks: bool) -> list[str]:
    notes = []
    if by_landmarks:
        notes.append(f"Documents were compared with {len(is_source)} landmarks; neighbours and maps show these alone.")
    if not n_explained:
        notes.append("This method does not look at character n-grams, so that no text has highlights.")
    elif n_explained < n_target:
        notes.append(f"The {n_explained} least sure of {n_target} documents are explained; the others have no highlights.")
    shown = min(PER_KIND, int(is_source.sum())), min(PER_KIND, int((~is_source).sum()))
    if shown != (int(is_source.sum()), int((~is_source).sum())):
        notes.append(f"The maps show {shown[0]} source and {shown[1]} target documents, drawn at random.")
    return notes
