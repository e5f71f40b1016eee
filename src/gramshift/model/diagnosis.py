"""What a fit says of itself: diagnostics, worked out when they are asked for, and warnings, at once."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.labelling import Rows
from gramshift.learn.ridge import SingularKernelError
from gramshift.model.advice import (
    Advice,
    Answers,
    class_proportions,
    diagnose_answers,
    proportions_by_round,
    separability,
    warn,
)
from gramshift.model.fit import fit_exact
from gramshift.model.fitted import Fit
from gramshift.model.inputs import FitInput
from gramshift.model.similarities import Reference, Similarities
from gramshift.model.string_kernel import KernelSpec
from gramshift.runtime.resources import Runtime

FEWEST, ENOUGH = 20, 50  # documents of each domain: fewer tell nothing
SOME = 200  # documents that tell how alike a kernel finds documents
ALIKE, UNLIKE, RARE = 0.95, 0.01, 0.05  # similarities of all but a rare few pairs, by which nothing is told apart


def answers_of(fit: Fit, reference: Fit | None) -> Answers:
    """What a fit has answered, beside one without adapting if there is any."""
    labels, n_random = _names(fit.labels[fit.wanted]), int(getattr(fit, "n_random", 0))
    return Answers(
        classes=_names(fit.classes),
        labels=labels,
        source=_names(fit.classes[fit.labelling.source_codes]),
        rounds=proportions_by_round(fit.history, len(labels)),
        reference=None if reference is None else _names(reference.labels[reference.wanted]),
        reference_name=fit.reference,
        expected=fit.expected_accuracy,
        class_prior=fit.describe_class_prior(),
        adapts=fit.settings.adapt or len(fit.history) > 1,
        sources=fit.sources,
        fell_back=fell_back(fit),
        prior_is_known=fit.class_prior is not None and (n_random > 0 or isinstance(fit.settings.class_prior, dict)),
        n_random=n_random,
        probabilities=None if fit.calibration is None else fit.probabilities[fit.wanted],
    )


def fell_back(fit: Fit) -> bool:
    """Whether there were too few target documents for more than one round."""
    return bool(len(fit.labels[fit.wanted])) and len(fit.history) == 1 < fit.settings.n_rounds


def diagnose_fit(fit: Fit, runtime: Runtime) -> dict[str, Any]:
    """All that there is to say of a fit: figures with a sentence each, the verdict, and warnings in words."""
    if not len(fit.labels[fit.wanted]):
        return {"warnings": []}
    unknown = []
    try:
        reference = reference_of(fit, runtime)
    except SingularKernelError as error:  # labels do not need it
        reference, unknown = None, [f"The labels could not be compared with the {fit.reference} ones: {error}."]
    found, warnings = diagnose_answers(answers_of(fit, reference), measure_separability(fit))
    return found | {"warnings": [*warnings, *find_void_rounds(fit.history, "n_added"), *check_scale(fit), *unknown]}


def find_warnings(fit: Fit) -> list[str]:
    """In words, what is wrong with the labels of a fit as far as that is known without further work."""
    answers = answers_of(fit, first_round(fit))
    advice = Advice.without_class_prior if answers.class_prior is None else Advice.with_class_prior
    source = class_proportions(answers.source, answers.classes)
    n_target, n_rounds = len(answers.labels), len(answers.rounds)
    beside: dict[str, Any] = {"advice": advice, "reference_name": answers.reference_name, "known": answers.known_proportions}
    found = warn(source=source, stages=answers.stages, n_target=n_target, n_rounds=n_rounds, **beside)
    return [*found, *find_void_rounds(fit.history, "n_added"), *check_scale(fit)]


def find_void_rounds(history: Sequence[dict[str, Any]], option: str) -> list[str]:
    """Warn, in words, of a second round that changed nothing because all target documents had a pseudo-label to keep."""
    if len(history) < 2:
        return []
    n_target, n_added = (sum(history[1][name].values()) for name in ("labels", "added"))
    if n_target < ENOUGH or n_added < n_target or history[1]["changed"]:
        return []
    why = f"all {n_target} target documents had pseudo-labels already, and kept them"
    return [f"the second round changed no label, because {why}; set {option} to half of them or less"]


def judge_quickly(fit: Fit) -> str | None:
    """Whether the labels can be used, where an accuracy is expected: nothing has to be worked out for that."""
    if fit.expected is None or not len(fit.labels[fit.wanted]):
        return None
    verdict: str = diagnose_answers(answers_of(fit, first_round(fit)), None)[0]["verdict"]
    return verdict


def reference_of(fit: Fit, runtime: Runtime) -> Fit | None:
    """The fit that would be without adapting, for its labels alone; None if it is this one, or its documents are not kept."""
    if fit.unadapted is not None:
        return first_round(fit)
    settings, documents = fit.settings, fit.model.documents
    is_itself = not settings.adapt and len(fit.history) == 1
    if is_itself or fit.model.similarities is None or len(documents) != len(fit.labelling):
        return None
    codes = fit.labelling.source_codes
    labels: NDArray[Any] = np.full(len(fit.labelling), None, object)
    labels[fit.labelling.source] = fit.classes[codes].tolist()
    given = FitInput(documents, labels.tolist(), fit.n_unlabelled)
    unadapted = replace(settings, adapt=False, n_rounds=1)
    return fit_exact(unadapted, fit.parameters, fit.model.similarities, given, runtime, calibrate=False)


def first_round(fit: Fit) -> Fit | None:
    """What the first round of a fit answered, if it is kept."""
    if fit.unadapted is None:
        return None
    found = fit.unadapted[fit.wanted]
    counts = {label: int(np.sum(found == code)) for code, label in enumerate(fit.classes.tolist())}
    scores = np.eye(len(fit.classes))[fit.unadapted]
    return replace(fit, scores=scores, history=[fit.history[0] | {"labels": counts}], unadapted=None)


def measure_separability(fit: Fit) -> float | None:
    """How well the plain kernel tells source from target; None if documents are not kept, or are too few."""
    similarities, documents = fit.model.similarities, fit.model.documents
    is_source = fit.labelling.is_source
    if similarities is None or not len(documents) or min(is_source.sum(), (~is_source).sum()) < FEWEST:
        return None
    return separability(partial(_compare, similarities.without_weights(), fit.model.reference), is_source)


def _compare(similarities: Similarities, reference: Reference, rows: Rows) -> NDArray[np.float64]:
    """The similarities of some documents of a fit to each other, by the first kernel, with every n-gram counting alike."""
    kernel = similarities.kernels[0]
    if isinstance(kernel, KernelSpec):
        some = [reference.documents[row] for row in rows.tolist()]
        gram: NDArray[np.float64] = kernel.compute(some, normalize=True)
        return gram
    some_rows = _take(reference.documents, rows)
    return Similarities([kernel], similarities.n_jobs).average(some_rows, {}, Runtime(similarities.n_jobs))[0]


def check_scale(fit: Fit) -> list[str]:
    """Warn, in words, of a kernel of the user's by which nearly all documents are equal, or nearly none are alike."""
    similarities, documents = fit.model.similarities, fit.model.documents
    if similarities is None or all(isinstance(one, KernelSpec) for one in similarities.kernels) or len(documents) < ENOUGH:
        return []
    rows = np.linspace(0, len(documents) - 1, min(SOME, len(documents))).astype(np.intp)
    gram, _ = similarities.average(_take(documents, rows), {}, Runtime(similarities.n_jobs))
    low, high = np.quantile(np.abs(gram[np.triu_indices(len(gram), 1)]), [RARE, 1 - RARE])
    if low <= ALIKE and high >= UNLIKE:
        return []
    what = (
        f"nearly all documents equal ({low:.4f} or more" if low > ALIKE else f"hardly any documents alike ({high:.4f} or less"
    )
    advice = "change its scale, such as gamma of an RBF kernel, or give rows of numbers to kernel='rows'"
    return [f"the kernel finds {what} for 95% of pairs), so that it tells little apart: {advice}"]


def _take(documents: Sequence[Any], rows: Rows) -> Any:
    return documents[rows] if isinstance(documents, np.ndarray) else [documents[row] for row in rows.tolist()]


def _names(labels: NDArray[Any]) -> list[str]:
    return list(map(str, labels.tolist()))
