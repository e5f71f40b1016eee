"""Fitting what a run needs on the same n-grams: the method, what it is compared with, and the same without corrections."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.commands.classify.labelled import Corrections
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.learn.features import compact
from gramshift.learn.labelling import Labelling
from gramshift.learn.ridge import SingularKernelError
from gramshift.learn.rounds import SOURCE
from gramshift.methods import BEST, METHODS
from gramshift.model.advice import Advice, Answers, choose_verdict, diagnose_answers, proportions_by_round, separability
from gramshift.model.classifier import TransductiveClassifier, fit_on_gram
from gramshift.model.data_problems import DOUBTFUL, Examined, Issues, find_issues
from gramshift.model.describers import compare_plainly
from gramshift.model.diagnosis import FEWEST, fell_back, find_void_rounds, first_round
from gramshift.model.inputs import ListedCorpus
from gramshift.model.labels import encode_labels
from gramshift.model.settings import PLAIN
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress

ADVICE = Advice(
    without_class_prior="compare with --method plain, or add fewer pseudo-labels (--added)",
    with_class_prior="compare with unadapted_label, or give the class proportions if you know them (--class-prior)",
)
MAX_CHANCE = 2.33  # standard deviations that one in a hundred exceeds
OF_BASELINES = Advice(without_class_prior=f"compare with --method {BEST}")


@dataclass(frozen=True)
class Fits:
    """What was learnt; labels and probabilities are those of all target documents, corrected ones included."""

    classifier: Any
    reference: Any
    """The same without adapting, or plain; None if it was not run."""
    labels: list[Any]
    reference_labels: list[Any] | None
    uncorrected: list[Any] | None
    """The labels of a fit without the corrections."""
    probabilities: NDArray[np.float64]
    diagnostics: dict[str, Any]
    warnings: list[str]
    documents: ListedCorpus
    """Source and target, with the n-grams that were found in them."""
    issues: Issues
    """Problems in the data; rows are those of source, then target."""
    source_labels: list[Any] | None
    """The labels under the source's class proportions, where these are compared with true ones."""
    n_random: int
    """How many labels of random documents determine the class proportions and measure the accuracy."""

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


def split_labels(given: Corrections, inputs: Inputs, options: ClassifyOptions) -> tuple[list[Any], list[Any]]:
    """Return the labels that a person gave to target documents: those that are learnt from alone, and those of a random sample.

    Methods that are not ours learn from both alike.
    """
    random = given.random if METHODS[options.method].is_own else set()
    labels = [given.labels.get(one) for one in inputs.target_ids]
    of_sample = [one in random for one in inputs.target_ids]
    corrected = [None if drawn else label for label, drawn in zip(labels, of_sample, strict=True)]
    return corrected, [label if drawn else None for label, drawn in zip(labels, of_sample, strict=True)]


def fit_all(inputs: Inputs, given: Corrections, options: ClassifyOptions, progress: Progress | None) -> Fits:
    """True labels of the target are not looked at here."""
    documents = ListedCorpus(inputs.texts + inputs.target_texts + inputs.more_texts)
    texts, (known, drawn) = documents.corpus.texts, split_labels(given, inputs, options)
    random = {row: label for row, label in enumerate(drawn, start=len(inputs.labels)) if label is not None}
    limits: dict[str, Any] = {"memory_limit": options.memory, "n_jobs": options.jobs}
    kernel = StringKernel(options.kernel, ngram_range=options.ngram_range, **limits).parse()
    runtime = Runtime(options.jobs, options.memory, progress=progress)
    gram: NDArray[Any] | None = None
    stage, is_best = METHODS[options.method].is_stage, METHODS[options.method].is_best
    if kernel.kind != "presence" or (stage and options.method != PLAIN):  # a linear model needs none
        gram = compact(kernel.compute(texts, runtime=runtime, normalize=False))

    def fit(
        method: str,
        known: list[Any],
        runtime: Runtime,
        *,
        calibrate: bool,
        random: Mapping[int, Any] | None = None,
        **more: Any,
    ) -> Any:
        labels, chosen = inputs.labels + known + [None] * len(inputs.more_texts), METHODS[method]
        if not chosen.is_own:
            runtime.report("training", 0, 1)
            return chosen.make().fit(texts, labels)
        parameters = options.given_parameters(inputs.labels) if method == options.method else options.given_to_plain()
        classifier, shared = chosen.make(**parameters | limits | more), gram if chosen.is_stage else None
        n_more, domains = len(inputs.more_texts), inputs.domains(known) if chosen.is_best else None
        fit_on_gram(
            classifier, documents, labels, shared, runtime,
            n_unlabelled=n_more, domains=domains, random=random, calibrate=calibrate,
        )  # fmt: skip
        return classifier

    without: Any = None
    lowered: list[str] = []
    more: dict[str, Any] = {}
    if given.labels:
        without = fit(options.method, [None] * len(known), runtime.under("before"), calibrate=True)
        if is_best and not random and options.class_prior is None:
            prior, lowered = lower_wrong_classes(without, known)
            more = {"class_prior": prior} if lowered else {}
    classifier = fit(options.method, known, runtime, calibrate=True, random=random, **more)
    wrong = _count_wrong(without, known)
    if METHODS[options.method].is_own:
        expected = classifier._fit.expected
        if 2 * wrong > sum(label is not None for label in known) and without._fit.expected is not None:
            expected = min(expected, without._fit.expected, key=lambda one: one.value)  # checks that failed promise no more
        n_corrected = len(given.labels) - len(random)
        classifier._keep(replace(classifier._fit, origins=inputs.origins(), n_corrected=n_corrected, expected=expected))
    reference: Any = None
    unknown: list[str] = []
    if is_best:
        reference = _first_round_of(classifier)
    elif options.method != PLAIN:
        try:
            reference = fit(PLAIN, known, runtime.under("reference"), calibrate=False)
        except SingularKernelError as error:  # labels do not need it
            unknown = [f"The labels could not be compared with the {options.reference} ones: {error}."]
    of_source = None
    if options.tries_source_prior:
        of_source = fit(options.method, known, runtime.under("reference"), calibrate=False, class_prior=SOURCE)
    runtime.report("problems", 0, 1)
    is_source = np.arange(len(texts)) < len(inputs.texts)
    kernel = classifier._fit.model.similarities.kernels[0] if is_best else kernel  # with n-grams that are known
    compared = gram if gram is not None else partial(compare_plainly, kernel, documents, runtime)
    apart = separability(compared, is_source) if min(is_source.sum(), (~is_source).sum()) >= FEWEST else None
    diagnostics, warnings = _diagnose(classifier, reference, inputs, options, apart, n_random=len(random))
    if wrong and "verdict" in diagnostics:
        before = _diagnose(without, None, inputs, options, None)[0].get("verdict")
        n_checked = sum(label is not None for label in known)
        diagnostics["verdict"] = choose_verdict(before, diagnostics["verdict"], n_checked, wrong)
    return Fits(
        classifier,
        reference,
        labels=_fill(known, classifier.transduction_),
        reference_labels=None if reference is None else _fill(known, reference.transduction_),
        uncorrected=None if without is None else without.transduction_.tolist(),
        probabilities=_probabilities(classifier, known),
        diagnostics=diagnostics,
        warnings=lowered + warnings + unknown,
        documents=documents,
        issues=look_for_issues(classifier, inputs, known),
        source_labels=None if of_source is None else _fill(known, of_source.transduction_),
        n_random=len(random),
    )


def _first_round_of(classifier: Any) -> TransductiveClassifier:
    """Return the labels of best without adapting, which its first round has found."""
    found, reference = first_round(classifier._fit), TransductiveClassifier()
    assert found is not None, "best keeps it"
    reference._keep(found)
    return reference


def _count_wrong(without: Any, known: list[Any]) -> int:
    """Return how many labels of a fit without corrections a person has changed."""
    if without is None:
        return 0
    return sum(label is not None and label != found for label, found in zip(known, without.transduction_.tolist(), strict=True))


def lower_wrong_classes(classifier: Any, known: list[Any]) -> tuple[dict[Any, float], list[str]]:
    """Return the class proportions of a fit, lower for classes of which a person found too many labels wrong.

    Of the labels that were checked, their mean confidence should be right. Where most of a class are wrong, and fewer right
    than confidence and chance explain, its proportion is multiplied by the right ones over the expected ones.
    """
    prior = {label: one["used"] for label, one in (classifier.class_prior_ or {}).items()}
    found, confidence = classifier.transduction_, classifier.transduction_proba_.max(axis=1)
    checked = np.array([label is not None for label in known], bool)
    lines = []
    for label in prior:
        rows = np.flatnonzero(checked & (found == label))
        right, expected = sum(known[row] == label for row in rows), float(confidence[rows].sum())
        spread = np.sqrt(np.sum(confidence[rows] * (1 - confidence[rows])))
        if len(rows) and 2 * right < len(rows) and expected - right > MAX_CHANCE * spread:
            lines.append(
                f"{len(rows) - right} of {len(rows)} checked labels {label!r} were wrong, so that its proportion was lowered"
            )
            prior[label] *= (right + 1) / (expected + 1)
    total = sum(prior.values())
    return {label: share / total for label, share in prior.items()}, lines


def look_for_issues(classifier: Any, inputs: Inputs, known: list[Any]) -> Issues:
    """Problems in the data; labels that a person has just corrected are not doubted."""
    if isinstance(classifier, TransductiveClassifier):
        found = classifier.issues_
    else:
        texts, origins = inputs.texts + inputs.target_texts, inputs.origins()
        classes, codes = encode_labels([*inputs.labels, *(label for label in known if label is not None)])
        is_source = np.array([True] * len(inputs.labels) + [label is not None for label in known])
        labelling = Labelling.of_source(is_source, codes, len(classes))
        names = [" ".join(one) for one in origins]
        found = find_issues(Examined(texts, labelling, classes.tolist(), range(len(texts)), names.__getitem__))
    kept = [one for one in found if one.issue != DOUBTFUL or one.row < len(inputs.labels)]
    return Issues(kept, found.label_quality)


def _diagnose(
    classifier: Any, reference: Any, inputs: Inputs, options: ClassifyOptions, apart: float | None, *, n_random: int = 0
) -> tuple[dict[str, Any], list[str]]:
    method = METHODS[options.method]
    answers = Answers(
        classes=list(map(str, classifier.classes_.tolist())),
        labels=list(map(str, classifier.transduction_.tolist())),
        source=list(map(str, inputs.labels)),
        rounds=proportions_by_round(classifier.history_, len(classifier.transduction_)),
        reference=None if reference is None else list(map(str, reference.transduction_.tolist())),
        reference_name=options.reference,
        expected=getattr(classifier, "expected_accuracy_", None),
        class_prior=getattr(classifier, "class_prior_", None),
        adapts=method.adapts,
        sources=getattr(classifier, "sources_", None),
        fell_back=method.is_own and fell_back(classifier._fit),
        prior_is_known=method.is_best and (n_random > 0 or isinstance(_given_prior(options, inputs), dict)),
        n_random=n_random,
        probabilities=getattr(classifier, "transduction_proba_", None),
    )
    found, warnings = diagnose_answers(answers, apart, ADVICE if method.is_own else OF_BASELINES)
    return found, warnings + (find_void_rounds(classifier.history_, "--added") if method.is_own else [])


def _given_prior(options: ClassifyOptions, inputs: Inputs) -> Any:
    """Return the class proportions that the user has given, if any."""
    return options.given_parameters(inputs.labels).get("class_prior")


def _fill(known: list[Any], found: NDArray[Any]) -> list[Any]:
    rest = iter(found.tolist())
    return [next(rest) if label is None else label for label in known]


def _probabilities(classifier: Any, known: list[Any]) -> NDArray[np.float64]:
    """The probabilities of all target documents; those that a person has labelled have 1 for what they are."""
    gaps = np.array([label is None for label in known], bool)
    result: NDArray[np.float64] = np.array([classifier.classes_ == label for label in known], float).reshape(len(known), -1)
    result[gaps] = classifier.transduction_proba_
    return result
