"""Fitting: what is checked before, how documents are described, the rounds, and what is kept of them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.learn.features import Floats, GramFeatures
from gramshift.learn.labelling import Labelling
from gramshift.learn.rounds import RoundsOutcome, Schedule, fit_rounds
from gramshift.learn.selection import choose_classes
from gramshift.learn.solvers import make_solver
from gramshift.learn.training import Trainer
from gramshift.model.blank import find_blank, leave_out, put_back
from gramshift.model.describers import GramDescriber, LinearDescriber
from gramshift.model.fitted import Fit, Model, tell_story
from gramshift.model.inputs import FitInput
from gramshift.model.labels import is_missing
from gramshift.model.ngram_model import make_ngram_model
from gramshift.model.settings import Settings
from gramshift.model.similarities import Reference, Similarities
from gramshift.runtime.budget import BASE, Work, check_memory
from gramshift.runtime.memory import return_large_arrays
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import stay_ready

SAMPLE = "fit on {} of its documents, and predict the others"  # where memory does not do for all
USUAL_LENGTH = 900  # characters of a review


def fit_exact(
    settings: Settings,
    parameters: dict[str, Any],
    similarities: Similarities | None,
    given: FitInput,
    runtime: Runtime,
    *,
    gram: NDArray[Any] | None = None,
    calibrate: bool = True,
) -> Fit:
    """Run the rounds on all documents, as a linear model or compared with each other, and keep what was learnt.

    Without ``similarities`` the documents are their gram. ``gram`` holds the counts of all documents, if these are known.
    Target documents that share no n-gram with the source are left out of the rounds.
    """
    is_blank = (
        None if similarities is None else find_blank(given, similarities, adapt=settings.adapt)
    )
    if is_blank is not None and is_blank.any():
        kept = np.flatnonzero(~is_blank)
        gram = None if gram is None else np.ascontiguousarray(gram[np.ix_(kept, kept)])
        rest = leave_out(given, is_blank)
        fit = put_back(
            _fit_rest(settings, parameters, similarities, rest, runtime, gram, calibrate),
            given,
            is_blank,
        )
    else:
        fit = _fit_rest(settings, parameters, similarities, given, runtime, gram, calibrate)
    return replace(fit, n_random=len(given.random))


def _fit_rest(
    settings: Settings,
    parameters: dict[str, Any],
    similarities: Similarities | None,
    given: FitInput,
    runtime: Runtime,
    gram: NDArray[Any] | None,
    calibrate: bool,
) -> Fit:
    """Fit documents all of which have evidence."""
    classes, labelling = given.read_labels(settings)
    documents, texts = given.documents, given.texts
    linear = (
        similarities is not None
        and texts is not None
        and is_linear(settings, similarities)
        and gram is None
    )
    if not linear and (given.weights is not None or given.domains is not None):
        raise InputError(
            "sample_weight, class_weight and domains are for linear models: use preset='best', or leave them out"
        )
    if gram is None:
        check_memory(
            describe_work(given, similarities, runtime),
            runtime.memory + BASE,
            linear=linear,
            way=SAMPLE,
        )
        gram = documents if similarities is None else None
    names = classes.tolist()
    schedule = settings.make_schedule(len(labelling.target), names, given.random_labels(names))
    if linear:
        assert similarities is not None
        labels = classes, labelling
        return _fit_linear(
            settings,
            parameters,
            similarities,
            given,
            labels,
            schedule,
            runtime,
            calibrate=calibrate,
        )
    if texts is not None:
        documents = texts.corpus  # texts are prepared once for all kernels
    describer = _make_describer(settings, similarities, documents, gram, runtime)
    outcome = fit_rounds(describer, labelling, schedule, runtime, calibrate=calibrate)
    normalized = True
    if similarities is None:
        scale = describer.describe(labelling).scale
        normalized = bool(np.isclose(scale[scale > 0], 1).all())
    groups = (
        outcome.labelling.groups() if similarities is not None and similarities.by_weights else {}
    )
    known = [] if similarities is None else given.documents if texts is None else texts.corpus.texts
    reference = Reference(known, groups, describer.self_values)
    n_more = given.n_unlabelled
    return _keep(
        settings,
        parameters,
        classes,
        outcome,
        similarities,
        reference,
        normalized=normalized,
        n_unlabelled=n_more,
    )


def _fit_linear(
    settings: Settings,
    parameters: dict[str, Any],
    similarities: Similarities,
    given: FitInput,
    labels: tuple[NDArray[Any], Labelling],
    schedule: Schedule,
    runtime: Runtime,
    *,
    calibrate: bool,
) -> Fit:
    """Fit a linear model of n-grams; what is made for the labels alone scores no other documents."""
    return_large_arrays()
    classes, labelling = labels
    documents, weights = given.texts, given.weights
    assert documents is not None, "a linear model is one of texts"
    with stay_ready(runtime.n_threads) as run:
        describer = LinearDescriber(
            similarities,
            documents,
            alpha=settings.alpha,
            bias=settings.has_intercept,
            runtime=runtime,
            run=run,
            weights=weights,
        )
        sources = None
        if given.domains is not None and len(set(given.domains)) > 1 and len(labelling.target):
            trainer = Trainer(describer, labelling.source, runtime, centred=schedule.centred)
            sources, nearness = compare_sources(describer, trainer, labelling, given.domains)
            weights = (np.ones(len(labelling)) if weights is None else weights) * nearness
            describer.weights = weights
        outcome = fit_rounds(
            describer, labelling, schedule, runtime, calibrate=calibrate, weights=weights
        )
        reference = Reference(
            documents.corpus.texts, outcome.labelling.groups() if similarities.by_weights else {}
        )
        fit = _keep(
            settings,
            parameters,
            classes,
            outcome,
            similarities,
            reference,
            n_unlabelled=given.n_unlabelled,
        )
        fit = replace(fit, sources=sources)
        if not calibrate or not similarities.by_shared_alone:
            return fit
        scales, fitted = (
            [part.scale for part in describer.describe(outcome.labelling).parts],
            outcome.rounds[-1].fitted,
        )
        known = np.max(
            [part.scale for part in describer.describe(labelling).parts], axis=0
        )  # n-grams that the source weighs
        blank = known[outcome.labelling.target] == 0
        fit = replace(fit, n_blank=int(np.sum(blank[fit.wanted])))
        ngrams = make_ngram_model(
            similarities.kernels, documents, scales, outcome.labelling, fitted, runtime
        )
    return replace(fit, model=replace(fit.model, ngrams=ngrams))


NEAR = 0.5  # the drift of a source that counts half as much as one whose words are as frequent as the target's


def compare_sources(
    describer: LinearDescriber, trainer: Trainer, labelling: Labelling, domains: list[str]
) -> tuple[list[dict[str, Any]], Floats]:
    """What is known of each source, by its name, and what its documents count: near ones more.

    ``accuracy`` is that of what the other sources teach, on its labels: how well knowledge travels to it.
    """
    names, weights, told = np.array(domains), np.ones(len(labelling)), []
    for name in dict.fromkeys(domains):
        mine = names == name
        rows = labelling.source[mine]
        drift = describer.measure_drift(labelling, rows)
        weights[rows] = 1 / (1 + (drift / NEAR) ** 2)
        accuracy = trainer.score_others(labelling.only(~mine), rows, labelling.codes[mine])
        told.append(
            {"domain": name, "documents": float(len(rows)), "drift": drift, "accuracy": accuracy}
        )
    weights[labelling.source] /= weights[labelling.source].mean()
    return [
        one | {"weight": float(weights[labelling.source][names == one["domain"]][0])}
        for one in told
    ], weights


def _keep(
    settings: Settings,
    parameters: dict[str, Any],
    classes: NDArray[Any],
    outcome: RoundsOutcome,
    similarities: Similarities | None,
    reference: Reference,
    *,
    normalized: bool = True,
    n_unlabelled: int = 0,
) -> Fit:
    """What is kept of all rounds."""
    last = outcome.rounds[-1]
    coefficients = np.ascontiguousarray(last.fitted.coefficients)  # sums are the same after loading
    model = Model(
        similarities, reference, settings.adapt, coefficients, last.fitted.intercepts, normalized
    )
    wanted = slice(len(last.scores) - n_unlabelled)
    when, history = tell_story(outcome.rounds, outcome.labelling, classes.tolist(), wanted)
    fit = Fit(
        settings,
        parameters,
        classes,
        model,
        outcome.labelling,
        last.scores,
        when,
        history,
        outcome.calibration,
    )
    unadapted = None if outcome.plain is None else choose_classes(outcome.plain)
    return replace(
        fit,
        class_prior=outcome.shares,
        unadapted=unadapted,
        expected=outcome.expected,
        n_unlabelled=n_unlabelled,
    )


def _make_describer(
    settings: Settings,
    similarities: Similarities | None,
    documents: Any,
    gram: NDArray[Any] | None,
    runtime: Runtime,
) -> GramDescriber:
    """Make what describes documents by a gram, which is there, made once, or made anew where classes shape n-grams' weights."""
    solver = partial(
        make_solver,
        settings.classifier,
        alpha=settings.alpha,
        bias=settings.has_intercept,
        progress=runtime.progress,
    )

    def make_features(
        labelling: Labelling, across: bool
    ) -> tuple[GramFeatures, Mapping[int, Floats]]:
        if gram is not None:
            return GramFeatures.from_gram(
                gram, adapt=settings.adapt, n_threads=runtime.n_threads
            ), {}
        assert similarities is not None, "a gram that is given is there"
        compared = similarities.across_domains() if across else similarities
        return compared.describe_all(documents, labelling.groups(), runtime, adapt=settings.adapt)

    return GramDescriber(
        make_features,
        solver,
        by_labels=gram is None and similarities is not None and similarities.by_classes,
    )


def is_linear(settings: Settings, similarities: Similarities) -> bool:
    """Whether a fit is that of a linear model of n-grams, which needs no gram."""
    return similarities.by_presence and not settings.adapt and settings.classifier == "ridge"


def describe_work(given: FitInput, similarities: Similarities | None, runtime: Runtime) -> Work:
    """Return the size of a fit; documents that are no texts are taken to be as long as reviews."""
    n_source = int(given.is_source.sum())
    labels = {label for label in given.labels if not is_missing(label)}
    return Work(
        n_source=n_source,
        n_target=len(given.labels) - n_source,
        n_characters=USUAL_LENGTH * len(given.labels)
        if given.texts is None
        else given.texts.corpus.n_characters,
        n_lengths=1 if similarities is None else similarities.n_lengths,
        n_classes=len(labels),
        label_characters=max((len(label) for label in labels if isinstance(label, str)), default=0),
        jobs=runtime.n_jobs,
    )
