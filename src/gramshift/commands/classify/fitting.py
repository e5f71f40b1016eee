"""The fit of a run: its estimate, and its outcome."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.errors import FitWarning
from gramshift.learn.rounds import SOURCE
from gramshift.methods import METHODS
from gramshift.model.advice import Advice
from gramshift.model.data_problems import Issues
from gramshift.model.settings import PLAIN
from gramshift.model.verdict import UNKNOWN_ACCURACY
from gramshift.report.evidence import MAX_EXPLAINED
from gramshift.tables.columns import Progress

ADVICE = Advice(
    without_class_prior="compare with --method plain, or add fewer pseudo-labels (--added)",
    with_class_prior=(
        "compare with unadapted_label,"
        " or give the class proportions if you know them (--class-prior)"
    ),
    n_added="--added",
)


@dataclass(frozen=True)
class ClassifyOutcome:
    """The labels of all target documents, and diagnostics, of which a baseline has few."""

    classifier: Any
    diagnostics: dict[str, Any]
    warnings: list[str]
    issues: Issues
    reference_labels: list[Any] | None = None
    """The labels without adapting."""
    source_prior_labels: list[Any] | None = None
    """The labels with the class proportions of the source."""

    @property
    def labels(self) -> list[Any]:
        """The label of each target document."""
        labels: list[Any] = self.classifier.transduction_.tolist()
        return labels

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probabilities of each target document, a column per class."""
        probabilities: NDArray[np.float64] = self.classifier.transduction_proba_
        return probabilities


def describe(
    options: ClassifyOptions, inputs: Inputs, *, n_all: int | None = None
) -> dict[str, Any]:
    """Describe what a run will do, fit for JSON; raise an error if it needs too much memory.

    ``n_all`` is the number of documents of which the target is a sample.
    """
    method, n_target = METHODS[options.method], len(inputs.rows)
    classifier = METHODS[PLAIN].make(**_limits(options))
    if method.is_own:
        classifier = _make(options, inputs)
    corrections = inputs.corrections
    estimate = classifier.estimate(
        inputs.corpus,
        inputs.all_labels,
        unlabelled=len(inputs.more_texts),
        corrections=corrections.of(inputs.target_ids) if corrections.labels else None,
        n_explained=MAX_EXPLAINED if options.report else 0,
        advice="--fit-on {}",
    )
    documents = n_target if n_all is None else f"{n_target} of {n_all}"
    return {
        "n_source": len(inputs.labels),
        "n_target": n_target if n_all is None else n_all,
        "n_unlabelled": len(inputs.more_texts),
        "classes": list(map(str, inputs.classes)),
        "sources": [list(one) for one in inputs.files],
        "target": inputs.target.table.name,
        "method": options.method,
        "kernel": options.kernel,
        "ngrams": "-".join(map(str, options.ngram_range)),
        "n_added": estimate.n_added if method.is_own else n_target,
        "command": options.to_command(),
        "needs": {"bytes": estimate.n_bytes, "seconds": round(estimate.seconds, 1)},
        "sentence": f"{len(inputs.labels)} source and {documents} target documents: {estimate}",
    }


def fit_inputs(
    options: ClassifyOptions, inputs: Inputs, progress: Progress | None
) -> ClassifyOutcome:
    """Fit the method, without true labels of the target."""
    method, classifier = METHODS[options.method], _make(options, inputs)
    if not method.is_own:
        if progress is not None:
            progress("training", 0, 1)
        classifier.fit(inputs.corpus.texts, inputs.all_labels)
        return ClassifyOutcome(classifier, {"verdict": UNKNOWN_ACCURACY}, [], Issues([]))
    corrections, ids = inputs.corrections, inputs.target_ids
    random = corrections.random
    known = corrections.of(ids, only=set(ids) - random)
    given: dict[str, Any] = {"unlabelled": len(inputs.more_texts)}
    if method.is_best:
        given["domains"] = inputs.domains
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # they are in diagnostics, with other advice
        classifier.fit(
            inputs.corpus,
            inputs.all_labels,
            corrections=known if corrections.labels else None,
            random_labels=corrections.of(ids, only=random) if random else None,
            origins=inputs.origins,
            progress=progress,
            **given,
        )
        source_prior_labels = None
        if options.tries_source_prior:
            source_prior_labels = _fit_source_prior(options, inputs, known, given, progress)
    diagnostics = classifier.diagnose(advice=ADVICE, progress=progress)
    found_warnings = diagnostics.pop("warnings")
    reference = classifier.reference_transduction_
    if progress is not None:
        progress("problems", 0, 1)
    return ClassifyOutcome(
        classifier,
        diagnostics=diagnostics,
        warnings=found_warnings,
        issues=classifier.issues_,
        reference_labels=None if reference is None else reference.tolist(),
        source_prior_labels=source_prior_labels,
    )


def _fit_source_prior(
    options: ClassifyOptions,
    inputs: Inputs,
    known: list[Any],
    given: dict[str, Any],
    progress: Progress | None,
) -> list[Any]:
    """Return the labels that the class proportions of the source would have given."""

    def report(stage: str, done: int, total: int) -> None:
        if progress is not None:
            progress("reference", done, total)

    labels = [*inputs.labels, *known, *[None] * len(inputs.more_texts)]
    classifier = _make(options, inputs, class_prior=SOURCE)
    classifier.fit(inputs.corpus, labels, progress=report, **given)
    found = iter(classifier.transduction_.tolist())
    return [next(found) if label is None else label for label in known]


def _make(options: ClassifyOptions, inputs: Inputs, **parameters: Any) -> Any:
    """Make the classifier of a method, with the parameters that were typed."""
    method = METHODS[options.method]
    if not method.is_own:
        return method.make()
    given = options.given_parameters(inputs.labels)
    if inputs.encoder is not None:
        given["encoder"] = inputs.encoder
    return method.make(**given | _limits(options) | parameters)


def _limits(options: ClassifyOptions) -> dict[str, Any]:
    return {"memory_limit": options.memory, "n_jobs": options.jobs}
