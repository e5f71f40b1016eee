"""The fit: train on the source, pseudo-label part of the target, train again.

``fit_exact`` is the whole of it; the loop of rounds is ``learn.rounds.fit_rounds``.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.learn.features import Floats, KernelFeatures, one_over_root
from gramshift.learn.rounds import Schedule, fit_rounds
from gramshift.learn.selection import choose_classes
from gramshift.learn.solvers import make_solver
from gramshift.learn.training import Trainer
from gramshift.learn.training_set import TrainingSet
from gramshift.memory import BASE_BYTES, Work, check_memory, return_large_arrays
from gramshift.model.blank import find_blank, leave_out, put_back, without_domain
from gramshift.model.feature_makers import KernelFeatureMaker, NGramFeatureMaker
from gramshift.model.inputs import FitInput
from gramshift.model.kernel_list import ComparedDocuments, KernelList
from gramshift.model.labels import is_missing
from gramshift.model.ngram_model import make_ngram_model
from gramshift.model.result import FitResult, KernelModel, tell_story
from gramshift.model.settings import Settings
from gramshift.ngrams.sorted_ngrams import Run
from gramshift.parallel import thread_pool
from gramshift.runtime import Runtime

SAMPLE_ADVICE = "fit on {} of its documents, and predict the others"
USUAL_LENGTH = 900  # characters of a review
HALF_WEIGHT_DRIFT = 0.5  # a source with this drift counts half as much as one without drift


def fit_exact(
    settings: Settings,
    parameters: dict[str, Any],
    similarities: KernelList | None,
    given: FitInput,
    runtime: Runtime,
    *,
    gram: NDArray[Any] | None = None,
    calibrate: bool = True,
) -> FitResult:
    """Train on the source, pseudo-label part of the target, train again; label the whole target.

    Target documents without evidence share no n-gram with the source. They take no part in the
    rounds, so that they change no other label, and get the class proportions as probabilities.

    Without ``similarities`` the documents are a kernel matrix. ``gram`` has the counts of the
    kernel, if they are known. Without ``calibrate`` there are no probabilities.
    """
    is_linear = gram is None and is_linear_fit(settings, similarities, given)
    check_fit(given, similarities, runtime, is_linear=is_linear, has_gram=gram is not None)
    is_blank = find_blank(given, similarities, adapt=settings.adapt)
    part = leave_out(given, is_blank)
    classes, source = part.read_labels(settings)
    names = classes.tolist()
    schedule = settings.make_schedule(len(source.target), names, part.random_labels(names))

    with thread_pool(runtime.n_threads) as run:
        describer: NGramFeatureMaker | KernelFeatureMaker
        sources, ngrams, is_weightless = None, None, np.zeros(len(source.target), bool)
        if is_linear:
            describer = describe_ngrams(settings, similarities, part, runtime, run)
            if part.has_several_sources and len(source.target):
                sources, describer = compare_sources(describer, source, schedule, part.domains)
        else:
            if gram is not None and is_blank.any():
                gram = np.ascontiguousarray(gram[np.ix_(~is_blank, ~is_blank)])
            describer = describe_gram(settings, similarities, part, runtime, gram)
        outcome = fit_rounds(
            describer, source, schedule, runtime, calibrate=calibrate, weights=describer.weights
        )
        if isinstance(describer, NGramFeatureMaker) and calibrate and describer.makes_ngram_model:
            is_weightless = describer.find_weightless(source)
            ngrams = make_ngram_model(describer, outcome.training_set, outcome.rounds[-1].fitted)

    outcome = put_back(outcome, given.is_source, is_blank)
    reference = make_reference(similarities, given, outcome.training_set, is_blank, describer)
    last = outcome.rounds[-1]
    model = KernelModel(
        similarities,
        reference,
        settings.adapt,
        np.ascontiguousarray(last.fitted.coefficients),  # so that sums are the same after loading
        last.fitted.intercepts,
        normalized=similarities is not None or is_normalized(given.documents),
        ngrams=ngrams,
    )
    wanted = slice(len(last.scores) - given.n_unlabelled)
    has_evidence = ~is_blank[outcome.training_set.target]
    has_evidence[has_evidence] = ~is_weightless
    labeled_iter, history = tell_story(outcome.rounds, outcome.training_set, names, wanted)
    return FitResult(
        settings,
        parameters,
        classes,
        model,
        outcome.training_set,
        last.scores,
        labeled_iter,
        history,
        outcome.calibration,
        class_prior=outcome.shares,
        unadapted=None if outcome.plain is None else choose_classes(outcome.plain),
        expected=outcome.expected,
        sources=sources,
        n_unlabelled=given.n_unlabelled,
        n_blank=int(np.sum(~has_evidence[wanted])),
        random=tuple(sorted(given.random)),
        corrected=given.corrected,
        origins=given.origins,
    )


def is_linear_fit(settings: Settings, similarities: KernelList | None, given: FitInput) -> bool:
    """Return True if the fit is that of a linear model of n-grams, without a kernel matrix."""
    by_presence = similarities is not None and similarities.by_presence
    is_plain_ridge = not settings.adapt and settings.classifier == "ridge"
    return by_presence and is_plain_ridge and given.texts is not None


def check_fit(
    given: FitInput,
    similarities: KernelList | None,
    runtime: Runtime,
    *,
    is_linear: bool,
    has_gram: bool,
) -> None:
    """Raise an error if the fit is not possible for its kind of model, or needs too much memory."""
    if not is_linear and (given.weights is not None or given.domains is not None):
        raise InputError(
            "sample_weight, class_weight and domains are for linear models: "
            "use preset='best', or leave them out"
        )
    if not has_gram:
        work = describe_work(given, similarities, runtime)
        check_memory(work, runtime.memory + BASE_BYTES, linear=is_linear, way=SAMPLE_ADVICE)


def describe_work(given: FitInput, similarities: KernelList | None, runtime: Runtime) -> Work:
    """Return the size of a fit; documents that are no texts count as long as reviews."""
    n, texts = len(given.labels), given.texts
    n_source = int(given.is_source.sum())
    labels = {label for label in given.labels if not is_missing(label)}
    return Work(
        n_source=n_source,
        n_target=n - n_source,
        n_characters=USUAL_LENGTH * n if texts is None else texts.n_characters,
        n_lengths=1 if similarities is None else similarities.n_lengths,
        n_classes=len(labels),
        label_characters=max((len(one) for one in labels if isinstance(one, str)), default=0),
        jobs=runtime.n_jobs,
    )


def describe_ngrams(
    settings: Settings,
    similarities: KernelList | None,
    given: FitInput,
    runtime: Runtime,
    run: Run,
) -> NGramFeatureMaker:
    """Return the describer of a linear fit; ``run`` applies functions on threads."""
    assert similarities is not None, "checked by is_linear_fit"
    assert given.texts is not None, "checked by is_linear_fit"
    return_large_arrays()
    return NGramFeatureMaker(
        similarities,
        given.texts,
        alpha=settings.alpha,
        bias=settings.has_intercept,
        runtime=runtime,
        run=run,
        weights=given.weights,
    )


def describe_gram(
    settings: Settings,
    similarities: KernelList | None,
    given: FitInput,
    runtime: Runtime,
    gram: NDArray[Any] | None = None,
) -> KernelFeatureMaker:
    """Return the describer of a kernel fit.

    The kernel matrix is given, computed once, or computed for every training set if the weights of
    n-grams depend on classes.
    """
    solver = partial(
        make_solver,
        settings.classifier,
        alpha=settings.alpha,
        bias=settings.has_intercept,
        progress=runtime.progress,
    )
    if similarities is None or gram is not None:
        features = KernelFeatures.from_gram(
            given.documents if gram is None else gram,
            adapt=settings.adapt,
            n_threads=runtime.n_threads,
        )
        return KernelFeatureMaker(lambda training_set, across: (features, {}), solver)
    kernels = similarities
    documents = given.documents if given.texts is None else given.texts

    def make_features(
        training_set: TrainingSet, across: bool
    ) -> tuple[KernelFeatures, Mapping[int, Floats]]:
        compared = kernels.across_domains() if across else kernels
        groups = training_set.groups()
        return compared.describe_all(documents, groups, runtime, adapt=settings.adapt)

    return KernelFeatureMaker(make_features, solver, by_labels=kernels.by_classes)


def compare_sources(
    describer: NGramFeatureMaker, source: TrainingSet, schedule: Schedule, domains: list[str] | None
) -> tuple[list[dict[str, Any]], NGramFeatureMaker]:
    """Describe each source by name; return also the describer with weights by drift.

    A document of a source counts 1 / (1 + (drift / 0.5)^2), on average 1. ``accuracy`` is that of
    the other sources on this one: how well knowledge transfers to it.
    """
    assert domains is not None, "there are several"
    trainer = Trainer(describer, source.source, describer.runtime, centred=schedule.centred)
    names, nearness = np.array(domains), np.ones(len(source))
    found = []
    for name in dict.fromkeys(domains):
        of_name = names == name
        rows = source.source[of_name]
        drift = describer.measure_drift(source, rows)
        nearness[rows] = 1 / (1 + (drift / HALF_WEIGHT_DRIFT) ** 2)
        accuracy = trainer.accuracy_on(source.only(~of_name), rows, source.codes[of_name])
        documents = float(len(rows))
        found.append({"domain": name, "documents": documents, "drift": drift, "accuracy": accuracy})
    nearness[source.source] /= nearness[source.source].mean()
    of_source = nearness[source.source]
    sources = [one | {"weight": float(of_source[names == one["domain"]][0])} for one in found]
    weights = np.ones(len(source)) if describer.weights is None else describer.weights
    return sources, replace(describer, weights=weights * nearness)


def make_reference(
    similarities: KernelList | None,
    given: FitInput,
    training_set: TrainingSet,
    is_blank: NDArray[np.bool_],
    describer: NGramFeatureMaker | KernelFeatureMaker,
) -> ComparedDocuments:
    """Return the documents that new ones are compared with; none for a given kernel matrix."""
    if similarities is None:
        return ComparedDocuments([])
    documents = given.documents if given.texts is None else given.texts.texts
    groups = training_set.groups() if similarities.by_weights else {}
    return ComparedDocuments(documents, without_domain(groups, is_blank), describer.self_values)


def is_normalized(gram: NDArray[Any]) -> bool:
    """Return True if all documents of a kernel matrix have similarity 1 or 0 to themselves."""
    scale = one_over_root(np.diagonal(gram))
    return bool(np.isclose(scale[scale > 0], 1).all())
