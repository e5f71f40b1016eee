"""Fitting what a run needs on the same n-grams: the chosen method, plain beside it, and the same without corrections."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.evaluate.advice import class_shares, diagnose, separability
from gramshift.learn.ridge import SingularKernelError
from gramshift.methods import METHODS
from gramshift.model.classifier import fit_on_gram
from gramshift.model.describers import compare_plainly
from gramshift.model.fit import make_gram
from gramshift.model.inputs import ListedCorpus
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress
from gramshift.text.corpus import Joined

ADVICE = "compare with --method plain, or let fewer documents join (--added)"
ADVICE_FOR_BEST = "compare with plain_label, or give the shares that you know (--shares)"
COMPARED, ENOUGH = 1000, 50  # landmarks of each domain that are told apart


@dataclass(frozen=True)
class Fits:
    """What was learnt; labels and probabilities are those of all target documents, corrected ones included."""

    classifier: Any
    plain: Any
    labels: list[Any]
    plain_labels: list[Any] | None
    uncorrected: list[Any] | None
    """The labels of a fit without the corrections."""
    probabilities: NDArray[np.float64]
    diagnostics: dict[str, Any]
    warnings: list[str]
    documents: ListedCorpus | None = None
    """Source and target, with the n-grams that were found in them."""

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


def fit_with_landmarks(
    inputs: Inputs, corrections: dict[str, Any], options: ClassifyOptions, progress: Progress | None, *, n_landmarks: int
) -> Fits:
    """The chosen method alone, on documents that are read part by part; true labels of the target are not looked at."""
    known = [corrections.get(one) for one in inputs.target_ids]
    chosen = METHODS[options.method]
    given = options.given_parameters(inputs.labels) | {"memory_limit": options.memory, "n_jobs": options.jobs}
    where: dict[str, Any] = {"engine": options.engine, "scheduler": options.scheduler}
    classifier = chosen.make(**given, **where, landmarks=n_landmarks)
    documents = Joined([inputs.documents, inputs.unlabelled])
    classifier.fit(documents, inputs.labels + known, resume=options.resume, progress=progress)
    limits: dict[str, Any] = {"memory_limit": options.memory, "n_jobs": options.jobs}
    is_source = classifier.landmarks_ < len(inputs.labels)
    some = np.sort(np.concatenate([np.flatnonzero(one)[:COMPARED] for one in (is_source, ~is_source)]))
    apart = None
    if min(np.sum(is_source), np.sum(~is_source)) >= ENOUGH:  # fewer tell nothing
        kernel = StringKernel(options.kernel, ngram_range=classifier._fit.settings.ngram_range, **limits)
        apart = separability(kernel.gram([classifier._fit.model.documents[row] for row in some]), is_source[some])
    diagnostics, warnings = _diagnose(classifier, None, inputs, apart)
    labels, probabilities = _fill(known, classifier.transduction_), _probabilities(classifier, known)
    return Fits(classifier, None, labels, None, None, probabilities, diagnostics, warnings)


def fit_all(
    inputs: Inputs, corrections: dict[str, Any], options: ClassifyOptions, progress: Progress | None, *, on_disk: bool = False
) -> Fits:
    """True labels of the target are not looked at here; ``on_disk`` the gram is in the folder of --resume."""
    documents = ListedCorpus(inputs.texts + inputs.target_texts + inputs.more_texts)
    texts, known = documents.corpus.texts, [corrections.get(one) for one in inputs.target_ids]
    limits: dict[str, Any] = {"memory_limit": options.memory, "n_jobs": options.jobs}
    kernel = StringKernel(options.kernel, ngram_range=options.ngram_range, **limits)
    runtime = Runtime(options.jobs, options.memory, progress=progress)
    where: dict[str, Any] = {"engine": options.engine, "scheduler": options.scheduler, "resume": options.resume}
    gram, elsewhere = None, options.engine != "threads" or options.resume is not None
    stage, is_best = METHODS[options.method].is_stage, METHODS[options.method].is_best
    if not kernel.counts or (stage and (options.method != "plain" or elsewhere)):  # what is no sum over n-grams
        gram = make_gram(kernel, texts, replace(runtime, **where), on_disk=on_disk)

    def fit(method: str, known: list[Any], runtime: Runtime, *, calibrate: bool, **more: Any) -> Any:
        labels, chosen = inputs.labels + known + [None] * len(inputs.more_texts), METHODS[method]
        if not chosen.is_own:
            return chosen.make().fit(texts, labels)
        given = (options.given_parameters(inputs.labels) if method == options.method else options.given_to_plain()) | limits
        classifier, shared = chosen.make(**given | more), gram if chosen.is_stage else None
        n_more, domains = len(inputs.more_texts), inputs.domains(known) if chosen.is_best else None
        fit_on_gram(classifier, documents, labels, shared, runtime, n_unlabelled=n_more, domains=domains, calibrate=calibrate)
        return classifier

    classifier = fit(options.method, known, runtime, calibrate=True)
    plain: Any = None
    unknown: list[str] = []
    if options.method != "plain":
        try:
            less = {"n_rounds": 1} if is_best else {}  # what there would be without adapting
            beside = options.method if is_best else "plain"
            plain = fit(beside, known, runtime.under("plain"), calibrate=False, **less)
        except SingularKernelError as error:  # labels do not need it
            unknown = [f"The labels could not be compared with those of plain: {error}."]
    without = fit(options.method, [None] * len(known), runtime.under("before"), calibrate=False) if corrections else None
    is_source = np.arange(len(texts)) < len(inputs.texts)
    kernel = classifier._fit.model.similarities.kernels[0] if is_best else kernel  # with n-grams that are known
    compared = gram if gram is not None else partial(compare_plainly, kernel, documents, runtime)
    diagnostics, warnings = _diagnose(classifier, plain, inputs, separability(compared, is_source))
    return Fits(
        classifier,
        plain,
        _fill(known, classifier.transduction_),
        None if plain is None else _fill(known, plain.transduction_),
        None if without is None else without.transduction_.tolist(),
        _probabilities(classifier, known),
        diagnostics,
        warnings + unknown,
        documents,
    )


def _diagnose(classifier: Any, plain: Any, inputs: Inputs, apart: float | None) -> tuple[dict[str, Any], list[str]]:
    classes = [str(one) for one in classifier.classes_.tolist()]
    of_plain = None if plain is None else list(map(str, plain.transduction_.tolist()))
    stages = [] if of_plain is None else [class_shares(of_plain, classes)]
    for step in classifier.history_:
        stages.append({str(name): count / max(1, len(classifier.transduction_)) for name, count in step["labels"].items()})
    labels = list(map(str, classifier.transduction_.tolist()))
    source = class_shares(list(map(str, inputs.labels)), classes)
    expected, shares = (getattr(classifier, name, None) for name in ("expected_accuracy_", "shares_"))
    found, warnings = diagnose(
        labels=labels,
        plain=of_plain,
        source=source,
        stages=stages,
        apart=apart,
        advice=ADVICE if shares is None else ADVICE_FOR_BEST,
        expected=expected,
    )
    if shares is not None:
        moved = sum(abs(one["used"] - one["source"]) for one in shares.values()) / 2
        found = {"class shares moved": {"value": round(moved, 4), "sentence": shares_in_words(shares)}} | found
    if sources := getattr(classifier, "sources_", None):
        found = {"sources": {"value": len(sources), "sentence": sources_in_words(sources)}} | found
    return found, warnings


def shares_in_words(shares: dict[Any, dict[str, float]]) -> str:
    """Tell what shares the classes have: as used, with an interval, in the source, and as estimated if they were."""
    if all(one["low"] == one["high"] for one in shares.values()):
        parts = [f"{name} {one['used']:.0%} (source {one['source']:.0%})" for name, one in shares.items()]
        return "Shares of the classes that were reckoned with, none of them estimated: " + "; ".join(parts) + "."
    parts = [
        f"{name} {one['used']:.0%} ({one['low']:.0%} to {one['high']:.0%}; source {one['source']:.0%},"
        f" estimated {one['estimated']:.0%})"
        for name, one in shares.items()
    ]
    return "Shares of the classes that were reckoned with: " + "; ".join(parts) + "."


def sources_in_words(sources: list[dict[str, Any]]) -> str:
    """Tell how near each source is, and what it counts."""
    parts = [
        f"{one['domain']} (drift {one['drift']:.2f}, weight {one['weight']:.2f}, {one['accuracy']:.0%} right by the others)"
        for one in sources
    ]
    return "Sources, near ones counting more: " + "; ".join(parts) + "."


def _fill(known: list[Any], found: NDArray[Any]) -> list[Any]:
    rest = iter(found.tolist())
    return [next(rest) if label is None else label for label in known]


def _probabilities(classifier: Any, known: list[Any]) -> NDArray[np.float64]:
    """The probabilities of all target documents; those that a person has labelled have 1 for what they are."""
    gaps = np.array([label is None for label in known], bool)
    result: NDArray[np.float64] = np.array([classifier.classes_ == label for label in known], float).reshape(len(known), -1)
    result[gaps] = classifier.transduction_proba_
    return result
