"""Diagnostics of a fit, computed on demand, and its warnings, computed at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from gramshift.kernels.corpus import Corpus
from gramshift.kernels.string_kernel import KernelSpec
from gramshift.learn.features import KernelFeatures
from gramshift.learn.ridge import KernelRidgeSolver, SingularKernelError
from gramshift.learn.training_set import Rows
from gramshift.model.advice import Advice, FitSummary, class_proportions, diagnose, warn
from gramshift.model.feature_makers import compare_plainly
from gramshift.model.fit import fit_documents
from gramshift.model.inputs import FitInput
from gramshift.model.kernel_list import KernelList
from gramshift.model.result import FitResult, count_classes
from gramshift.model.verdict import choose_verdict
from gramshift.runtime import Runtime

Floats = NDArray[np.float64]
MIN_DOMAIN_SIZE = 20  # documents of each domain, for a separability
MIN_DOCUMENTS = 50  # for warnings of a second round and of a kernel's scale
MAX_SEPARATED = 500  # documents of each domain: the separability is exact to a hundredth or two
PENALTY = 1.0  # of the ridge regression that separates the domains
MAX_COMPARED = 200  # documents that show how alike a kernel finds documents
MAX_SIMILARITY = 0.95  # a kernel with larger similarities finds all documents alike
MIN_SIMILARITY = 0.01  # a kernel with smaller similarities finds no documents alike
EXCEPTIONS = 0.05  # the fraction of pairs that may have other similarities


@dataclass(frozen=True)
class CorrectionReview:
    """The labels without corrections, and the number that corrections show to be wrong."""

    uncorrected_labels: NDArray[Any]
    verdict: str | None
    """The verdict on the labels without corrections."""
    n_checked: int
    n_wrong: int
    warnings: list[str]
    """A sentence for each class whose proportion was lowered."""

    @property
    def is_mostly_wrong(self) -> bool:
        """True if more than half of the labels that were checked were wrong."""
        return 2 * self.n_wrong > self.n_checked


@dataclass(frozen=True)
class ReferenceComparison:
    """The comparisons that the diagnostics of a fit need."""

    reference: FitResult | None
    """The fit without adapting, if it is another one and can be made."""
    fault: str | None
    """The reason why it cannot be made."""
    separability: float | None


def summarize(
    fit: FitResult, reference: FitResult | None, separability: float | None = None
) -> FitSummary:
    """Return the labels and figures of a fit, with the labels of one without adapting."""
    classes, labels = _names(fit.classes), _names(fit.labels[fit.wanted])
    source = fit.training_set.known[fit.is_source]  # without corrected documents
    target = fit.training_set.target[fit.wanted]
    class_prior = fit.parameters.get("class_prior")
    is_given = len(fit.random) > 0 or isinstance(class_prior, dict)
    return FitSummary(
        labels,
        class_proportions(_names(fit.classes[source]), classes),
        [
            {str(name): n / max(1, len(labels)) for name, n in step["labels"].items()}
            for step in fit.history
        ],
        n_source=len(source),
        reference=None if reference is None else _names(reference.labels[reference.wanted]),
        reference_name=fit.reference,
        separability=separability,
        expected=fit.expected_accuracy,
        class_prior=fit.describe_class_prior(),
        sources=fit.sources,
        vectors=None if fit.settings.encoder is None else share_of_vectors(fit),
        fell_back=bool(labels) and len(fit.history) == 1 < fit.settings.n_rounds,
        prior_is_known=fit.class_prior is not None and is_given,
        n_random=len(fit.random),
        random=set(np.flatnonzero(np.isin(target, fit.random)).tolist()),
        probabilities=fit.wanted_probabilities,
    )


def share_of_vectors(fit: FitResult) -> float:
    """Return the share of an encoder's vectors in the kernel, 0 if they have no weight."""
    ngrams = fit.model.ngrams
    return 0.0 if ngrams is None or ngrams.vectors is None else ngrams.vectors.share


def compare_fit(
    fit: FitResult, runtime: Runtime, corpus: Corpus | None = None
) -> ReferenceComparison:
    """Fit without adapting and measure the separability; a ``corpus`` has the n-grams."""
    if not len(fit.labels[fit.wanted]):
        return ReferenceComparison(None, None, None)
    reference, fault = None, None
    try:
        reference = reference_of(fit, runtime.under("reference"), corpus)
    except SingularKernelError as error:  # the labels do not depend on it
        fault = f"The labels could not be compared with the {fit.reference} ones: {error}."
    return ReferenceComparison(reference, fault, measure_separability(fit, runtime, corpus))


def diagnose_fit(
    fit: FitResult, compared: ReferenceComparison, review: CorrectionReview | None, advice: Advice
) -> dict[str, Any]:
    """Return figures with a sentence each, the verdict, and warnings."""
    if not len(fit.labels[fit.wanted]):
        return {"warnings": []}
    found, warnings = diagnose(summarize(fit, compared.reference, compared.separability), advice)
    if review is not None and "verdict" in found:
        found["verdict"] = choose_verdict(
            review.verdict, found["verdict"], review.n_checked, review.n_wrong
        )
    unknown = [] if compared.fault is None else [compared.fault]
    return found | {"warnings": [*_join_warnings(fit, review, warnings, advice), *unknown]}


def find_warnings(fit: FitResult, review: CorrectionReview | None = None) -> list[str]:
    """Return warnings of labels that look wrong, as far as that is known without further work."""
    advice = Advice()
    return _join_warnings(fit, review, warn(summarize(fit, first_round(fit)), advice), advice)


def _join_warnings(
    fit: FitResult, review: CorrectionReview | None, warnings: list[str], advice: Advice
) -> list[str]:
    """Return these warnings with those of corrections, of the rounds and of the kernel."""
    lowered = [] if review is None else review.warnings
    void = find_void_rounds(fit.history, advice.n_added)
    return [*lowered, *warnings, *void, *check_scale(fit)]


def find_void_rounds(history: Sequence[dict[str, Any]], option: str) -> list[str]:
    """Warn of a second round that changed nothing because all target documents had joined."""
    if len(history) < 2:
        return []
    n_target = sum(history[1]["labels"].values())
    n_added = sum(history[1]["added"].values())
    if n_target < MIN_DOCUMENTS or n_added < n_target or history[1]["changed"]:
        return []
    why = f"all {n_target} target documents had pseudo-labels already, and kept them"
    advice = f"set {option} to half of them or less"
    return [f"the second round changed no label, because {why}; {advice}"]


def judge_quickly(fit: FitResult) -> str | None:
    """Return the verdict on the labels if it needs no further work; None if it does."""
    if fit.expected is None or not len(fit.labels[fit.wanted]):
        return None
    verdict: str = diagnose(summarize(fit, first_round(fit)))[0]["verdict"]
    return verdict


def reference_of(
    fit: FitResult, runtime: Runtime, corpus: Corpus | None = None
) -> FitResult | None:
    """Return the fit without adapting, for its labels alone.

    None if it is this fit, or its documents are not kept.
    """
    if fit.unadapted is not None:
        return first_round(fit)
    documents = fit.model.documents
    is_itself = not fit.settings.adapt and len(fit.history) == 1
    if is_itself or fit.model.kernel_list is None or len(documents) != len(fit.training_set):
        return None
    labels: NDArray[Any] = np.full(len(fit.training_set), None, object)
    labels[fit.training_set.source] = fit.classes[fit.training_set.source_codes].tolist()
    given = FitInput(corpus or documents, labels.tolist(), fit.n_unlabelled)
    unadapted = replace(fit.settings, adapt=False, n_rounds=1)
    return fit_documents(
        unadapted, fit.parameters, fit.model.kernel_list, given, runtime, calibrate=False
    )


def first_round(fit: FitResult) -> FitResult | None:
    """Return the fit as it was after its first round; None if that is not kept."""
    if fit.unadapted is None:
        return None
    counts = count_classes(fit.unadapted[fit.wanted], fit.classes.tolist())
    scores = np.eye(len(fit.classes))[fit.unadapted]
    history = [fit.history[0] | {"labels": counts}]
    return replace(fit, scores=scores, history=history, unadapted=None)


def measure_separability(
    fit: FitResult, runtime: Runtime, corpus: Corpus | None = None
) -> float | None:
    """Measure how well the first kernel, without weights, separates source and target.

    None if documents are not kept, or are too few.
    """
    kernel_list, documents = fit.model.kernel_list, fit.model.documents
    smaller = min(fit.is_source.sum(), (~fit.is_source).sum())
    if kernel_list is None or not len(documents) or smaller < MIN_DOMAIN_SIZE:
        return None
    if corpus is not None and kernel_list.by_presence:
        compare = partial(compare_plainly, kernel_list.kernels[0], corpus, runtime)
    else:
        first = replace(kernel_list, kernels=kernel_list.kernels[:1]).without_weights()
        compare = partial(_compare, first, documents)
    return separability(compare, fit.is_source)


def separability(
    compared: Floats | Callable[[Rows], Floats],
    is_source: NDArray[np.bool_],
    *,
    most: int = MAX_SEPARATED,
) -> float:
    """Measure how well a kernel separates source and target: 0.5 not at all, 1 always.

    This is the probability that, given one document of each, the right one is taken for the source
    by a ridge regression that has not seen it (leave-one-out, in closed form). It looks at ``most``
    documents of either domain. ``compared`` is the kernel matrix of all documents, or returns that
    of some, source before target.
    """
    rows = np.concatenate([_spread(np.flatnonzero(one), most) for one in (is_source, ~is_source)])
    matrix = compared(rows) if callable(compared) else compared[np.ix_(rows, rows)]
    features = KernelFeatures.from_gram(np.ascontiguousarray(matrix), adapt=False)
    everything = np.arange(len(rows))
    domains = np.where(is_source[rows], 1.0, -1.0)
    solver = KernelRidgeSolver(features, everything, PENALTY, bias=True)
    scores = solver.held_out(everything, domains[:, None])[:, 0]
    return max(0.5, float(roc_auc_score(domains, scores)))


def _spread(rows: Rows, most: int) -> Rows:
    """Choose some of the rows, evenly."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]


def _compare(kernel_list: KernelList, documents: Sequence[Any], rows: Rows) -> Floats:
    """Return the kernel matrix of some documents of a fit, without weights of n-grams."""
    runtime = Runtime(kernel_list.n_jobs)
    if isinstance(documents, np.ndarray):
        return kernel_list.average(documents[rows], {}, runtime)[0]
    return kernel_list.average([documents[row] for row in rows.tolist()], {}, runtime)[0]


def check_scale(fit: FitResult) -> list[str]:
    """Warn of a user's kernel that finds nearly all documents equal, or hardly any alike."""
    kernel_list, documents = fit.model.kernel_list, fit.model.documents
    if kernel_list is None or len(documents) < MIN_DOCUMENTS:
        return []
    if all(isinstance(one, KernelSpec) for one in kernel_list.kernels):
        return []
    n = len(documents)
    rows = np.linspace(0, n - 1, min(MAX_COMPARED, n)).astype(np.intp)
    matrix = _compare(kernel_list, documents, rows)
    values = np.abs(matrix[np.triu_indices(len(matrix), 1)])
    low, high = np.quantile(values, [EXCEPTIONS, 1 - EXCEPTIONS])
    if low <= MAX_SIMILARITY and high >= MIN_SIMILARITY:
        return []
    found = f"hardly any documents alike ({high:.4f} or less"
    if low > MAX_SIMILARITY:
        found = f"nearly all documents equal ({low:.4f} or more"
    advice = (
        "change its scale, such as gamma of an RBF kernel, or give rows of numbers to kernel='rows'"
    )
    return [f"the kernel finds {found} for 95% of pairs), so that it separates little: {advice}"]


def _names(labels: NDArray[Any]) -> list[str]:
    return list(map(str, labels.tolist()))
