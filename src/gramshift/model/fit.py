"""The fit: train on the source, pseudo-label part of the target, train again.

``fit_documents`` is the whole of it, with the loop of rounds in ``learn.rounds.fit_rounds``; the
functions below are its steps.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.learn.features import Floats, KernelFeatures, one_over_root
from gramshift.learn.pseudo_labels import choose_classes
from gramshift.learn.rounds import RoundsOutcome, Schedule, fit_rounds
from gramshift.learn.solvers import make_solver
from gramshift.learn.training import Trainer
from gramshift.learn.training_set import TrainingSet
from gramshift.learn.vectors import VectorFeatures, encoder_weight, mean_vector
from gramshift.memory import BASE_BYTES, Work, check_memory, return_large_arrays
from gramshift.model.blank import find_blank, leave_out, put_back, without_domain
from gramshift.model.feature_makers import KernelFeatureMaker, NGramFeatureMaker
from gramshift.model.inputs import FitInput
from gramshift.model.kernel_list import ComparedDocuments, KernelList
from gramshift.model.labels import is_missing
from gramshift.model.ngram_model import NGramModel, make_ngram_model
from gramshift.model.result import FitResult, KernelModel, tell_story
from gramshift.model.settings import Settings
from gramshift.ngrams.sorted_ngrams import Run
from gramshift.parallel import thread_pool
from gramshift.runtime import Runtime

SAMPLE_ADVICE = "fit on {} of its documents, and predict the others"
REVIEW_CHARACTERS = 900  # characters of a review
HALF_WEIGHT_DRIFT = 0.5  # a source with this drift counts half as much as one without drift


def fit_documents(
    settings: Settings,
    parameters: dict[str, Any],
    kernels: KernelList | None,
    given: FitInput,
    runtime: Runtime,
    *,
    calibrate: bool = True,
) -> FitResult:
    """Train on the source, pseudo-label part of the target, train again; label the whole target.

    Without ``kernels`` the documents are a kernel matrix. Target documents without evidence share
    no n-gram with the source and have no vector: they take no part in the rounds, so that they
    change no other label, and get the class proportions as probabilities. Without ``calibrate``
    there are no probabilities.
    """
    is_linear = is_linear_fit(settings, kernels, given)
    check_fit(settings, given, kernels, runtime, is_linear=is_linear)
    given = add_vectors(settings, kernels, given, runtime)
    is_blank = find_blank(given, kernels, adapt=settings.adapt)
    part = leave_out(given, is_blank)
    classes, source = part.read_labels(settings)
    schedule = make_schedule(settings, part, source, classes)

    with thread_pool(runtime.n_threads) as run:
        make_features = ngram_features if is_linear else kernel_features
        features, sources = make_features(settings, kernels, part, source, schedule, runtime, run)
        outcome = fit_rounds(
            features, source, schedule, runtime, calibrate=calibrate, weights=features.weights
        )
        is_weightless = find_weightless(features, source)
        # frees the n-gram lists
        ngrams = make_ngrams(settings, given, features, outcome) if calibrate else None

    outcome = put_back(outcome, given.is_source, is_blank)
    compared = compared_documents(kernels, given, outcome.training_set, is_blank, features)
    model = make_model(settings, kernels, given, outcome, compared, ngrams)
    has_evidence = ~is_blank[outcome.training_set.target]
    has_evidence[has_evidence] = ~is_weightless
    return make_result(settings, parameters, given, classes, outcome, model, sources, has_evidence)


def is_linear_fit(settings: Settings, kernels: KernelList | None, given: FitInput) -> bool:
    """Return True if the fit is that of a linear model of n-grams, without a kernel matrix."""
    by_presence = kernels is not None and kernels.by_presence
    is_plain_ridge = not settings.adapt and settings.classifier == "ridge"
    return by_presence and is_plain_ridge and given.texts is not None


def check_fit(
    settings: Settings,
    given: FitInput,
    kernels: KernelList | None,
    runtime: Runtime,
    *,
    is_linear: bool,
) -> None:
    """Raise an error if the fit is not possible for its kind of model, or needs too much memory."""
    if not is_linear and (given.weights is not None or given.domains is not None):
        raise InputError(
            "sample_weight, class_weight and domains are for linear models: "
            "use preset='best', or leave them out"
        )
    has_listed_ngrams = is_linear and kernels is not None and kernels.by_shared_alone
    if settings.encoder is not None and not has_listed_ngrams:
        raise InputError(
            "encoder adds vectors to the linear model of preset='best': fit on texts, and leave "
            "out kernel, weighting, adapt and classifier, or the encoder"
        )
    work = describe_work(given, kernels, runtime)
    check_memory(work, runtime.memory + BASE_BYTES, linear=is_linear, way=SAMPLE_ADVICE)


def describe_work(given: FitInput, kernels: KernelList | None, runtime: Runtime) -> Work:
    """Return the size of a fit; documents that are no texts count as long as reviews."""
    n, texts = len(given.labels), given.texts
    n_source = int(given.is_source.sum())
    labels = {label for label in given.labels if not is_missing(label)}
    return Work(
        n_source=n_source,
        n_target=n - n_source,
        n_characters=REVIEW_CHARACTERS * n if texts is None else texts.n_characters,
        n_lengths=1 if kernels is None else kernels.n_lengths,
        n_classes=len(labels),
        label_characters=max((len(one) for one in labels if isinstance(one, str)), default=0),
        jobs=runtime.n_jobs,
    )


def add_vectors(
    settings: Settings, kernels: KernelList | None, given: FitInput, runtime: Runtime
) -> FitInput:
    """Return the input with the vector of each text and their weight, if there is an encoder.

    Without weight, the fit is that without an encoder. Labels are checked before texts are encoded.
    """
    if settings.encoder is None:
        return given
    corpus = given.texts
    assert corpus is not None, "checked by check_fit"
    given = replace(given, documents=corpus)  # keeps what is found in the texts
    classes, source = given.read_labels(settings)
    schedule = make_schedule(settings, given, source, classes)
    vectors = corpus.vectors(settings.encoder, runtime)
    domains = number_domains(given)
    features = VectorFeatures.of_domains(vectors, domains)
    with thread_pool(runtime.n_threads) as run:
        ngrams = make_ngram_features(settings, kernels, given, runtime, run)
        weight = choose_weight(ngrams, features, source, centred=schedule.centred)
    if weight == 0:
        return given
    of_target = np.flatnonzero(domains == domains.min())
    centre = mean_vector(vectors, of_target)
    return replace(given, vectors=features, vector_weight=weight, centre=centre)


def number_domains(given: FitInput) -> NDArray[np.intp]:
    """Return 0 for documents of the target, and the number of its source for each other one.

    Documents that a person has labelled are of the target.
    """
    domains = np.zeros(len(given.labels), np.intp)
    names = given.domains or [""] * int(given.is_source.sum())
    domains[given.is_source] = 1 + np.unique(names, return_inverse=True)[1]
    domains[list(given.corrected)] = 0
    return domains


def choose_weight(
    ngrams: NGramFeatureMaker, vectors: VectorFeatures, source: TrainingSet, *, centred: bool
) -> float:
    """Return the weight of vectors that held-out source documents ask for."""

    def held_out(weight: float) -> Floats:
        with_vectors = replace(ngrams, vectors=vectors, vector_weight=weight)
        maker = with_vectors if weight > 0 else ngrams
        runtime, weights = maker.runtime, maker.weights
        trainer = Trainer(maker, source.source, runtime, centred=centred, weights=weights)
        return trainer.held_out(source)[0]

    return encoder_weight(held_out, source.codes)


def make_schedule(
    settings: Settings, given: FitInput, source: TrainingSet, classes: NDArray[Any]
) -> Schedule:
    """Return the rounds of a fit of this input."""
    names = classes.tolist()
    return settings.make_schedule(len(source.target), names, given.random_labels(names))


def ngram_features(
    settings: Settings,
    kernels: KernelList | None,
    given: FitInput,
    source: TrainingSet,
    schedule: Schedule,
    runtime: Runtime,
    run: Run,
) -> tuple[NGramFeatureMaker, list[dict[str, Any]] | None]:
    """Return the feature maker of a linear fit, and a description of each of several sources.

    Documents of sources near the target get larger weights. ``run`` applies functions on threads.
    """
    features = make_ngram_features(settings, kernels, given, runtime, run)
    if not given.has_several_sources or not len(source.target):
        return features, None
    sources, weights = compare_sources(features, source, schedule, given.domains)
    return replace(features, weights=weights), sources


def make_ngram_features(
    settings: Settings, kernels: KernelList | None, given: FitInput, runtime: Runtime, run: Run
) -> NGramFeatureMaker:
    """Return the feature maker of a linear fit in which all sources count alike."""
    assert kernels is not None, "checked by is_linear_fit"
    assert given.texts is not None, "checked by is_linear_fit"
    return_large_arrays()
    return NGramFeatureMaker(
        kernels,
        given.texts,
        alpha=settings.alpha,
        bias=settings.has_intercept,
        runtime=runtime,
        run=run,
        weights=given.weights,
        vectors=given.vectors,
        vector_weight=given.vector_weight,
    )


def kernel_features(
    settings: Settings,
    kernels: KernelList | None,
    given: FitInput,
    source: TrainingSet,
    schedule: Schedule,
    runtime: Runtime,
    run: Run,
) -> tuple[KernelFeatureMaker, None]:
    """Return the feature maker of a kernel fit.

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
    if kernels is None:
        matrix = KernelFeatures.from_gram(
            given.documents, adapt=settings.adapt, n_threads=runtime.n_threads
        )
        return KernelFeatureMaker(lambda training_set, across: (matrix, {}), solver), None
    documents = given.documents if given.texts is None else given.texts

    def compare_all(
        training_set: TrainingSet, across: bool
    ) -> tuple[KernelFeatures, Mapping[int, Floats]]:
        compared = kernels.across_domains() if across else kernels
        groups = training_set.groups()
        return compared.describe_all(documents, groups, runtime, adapt=settings.adapt)

    return KernelFeatureMaker(compare_all, solver, by_labels=kernels.by_classes), None


def compare_sources(
    features: NGramFeatureMaker, source: TrainingSet, schedule: Schedule, domains: list[str] | None
) -> tuple[list[dict[str, Any]], Floats]:
    """Describe each source by name, and return weights of all documents by the drift of theirs.

    A document of a source counts 1 / (1 + (drift / 0.5)^2), on average 1. ``accuracy`` is that of
    the other sources on this one: how well knowledge transfers to it.
    """
    assert domains is not None, "there are several"
    trainer = Trainer(features, source.source, features.runtime, centred=schedule.centred)
    names, nearness = np.array(domains), np.ones(len(source))
    found = []
    for name in dict.fromkeys(domains):
        of_name = names == name
        rows = source.source[of_name]
        drift = features.measure_drift(source, rows)
        nearness[rows] = 1 / (1 + (drift / HALF_WEIGHT_DRIFT) ** 2)
        accuracy = trainer.accuracy_on(source.only(~of_name), rows, source.codes[of_name])
        documents = float(len(rows))
        found.append({"domain": name, "documents": documents, "drift": drift, "accuracy": accuracy})
    nearness[source.source] /= nearness[source.source].mean()
    of_source = nearness[source.source]
    sources = [one | {"weight": float(of_source[names == one["domain"]][0])} for one in found]
    weights = np.ones(len(source)) if features.weights is None else features.weights
    return sources, weights * nearness


def make_ngrams(
    settings: Settings,
    given: FitInput,
    features: NGramFeatureMaker | KernelFeatureMaker,
    outcome: RoundsOutcome,
) -> NGramModel | None:
    """Return the model of n-grams; None if documents are compared instead."""
    if not isinstance(features, NGramFeatureMaker) or not features.makes_ngram_model:
        return None
    training_set, fitted = outcome.training_set, outcome.rounds[-1].fitted
    return make_ngram_model(
        features, training_set, fitted, encoder=settings.encoder, centre=given.centre
    )


def find_weightless(
    features: NGramFeatureMaker | KernelFeatureMaker, source: TrainingSet
) -> NDArray[np.bool_]:
    """Return which target documents have no n-gram with weight in the source, and no vector."""
    if isinstance(features, NGramFeatureMaker) and features.makes_ngram_model:
        return features.find_weightless(source)
    return np.zeros(len(source.target), bool)


def compared_documents(
    kernels: KernelList | None,
    given: FitInput,
    training_set: TrainingSet,
    is_blank: NDArray[np.bool_],
    features: NGramFeatureMaker | KernelFeatureMaker,
) -> ComparedDocuments:
    """Return the documents that new ones are compared with; none for a given kernel matrix."""
    if kernels is None:
        return ComparedDocuments([])
    documents = given.documents if given.texts is None else given.texts.texts
    groups = training_set.groups() if kernels.by_weights else {}
    return ComparedDocuments(documents, without_domain(groups, is_blank), features.self_values)


def make_model(
    settings: Settings,
    kernels: KernelList | None,
    given: FitInput,
    outcome: RoundsOutcome,
    compared: ComparedDocuments,
    ngrams: NGramModel | None,
) -> KernelModel:
    """Return the model of the last round, which scores new documents."""
    fitted = outcome.rounds[-1].fitted
    return KernelModel(
        kernels,
        compared,
        settings.adapt,
        np.ascontiguousarray(fitted.coefficients),  # so that sums are the same after loading
        fitted.intercepts,
        normalized=kernels is not None or is_normalized(given.documents),
        ngrams=ngrams,
    )


def make_result(
    settings: Settings,
    parameters: dict[str, Any],
    given: FitInput,
    classes: NDArray[Any],
    outcome: RoundsOutcome,
    model: KernelModel,
    sources: list[dict[str, Any]] | None,
    has_evidence: NDArray[np.bool_],
) -> FitResult:
    """Return the result: the model, and what the rounds found out about the target."""
    scores = outcome.rounds[-1].scores
    wanted = slice(len(scores) - given.n_unlabelled)
    labeled_iter, history = tell_story(
        outcome.rounds, outcome.training_set, classes.tolist(), wanted
    )
    return FitResult(
        settings,
        parameters,
        classes,
        model,
        outcome.training_set,
        scores,
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


def is_normalized(gram: NDArray[Any]) -> bool:
    """Return True if all documents of a kernel matrix have similarity 1 or 0 to themselves."""
    scale = one_over_root(np.diagonal(gram))
    return bool(np.isclose(scale[scale > 0], 1).all())
