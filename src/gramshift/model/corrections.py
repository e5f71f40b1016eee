"""Labels that a person gave to target documents: a fit without them, and one with them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError, suggest
from gramshift.kernels.corpus import Corpus
from gramshift.learn.rounds import ESTIMATED
from gramshift.model.advice import diagnose
from gramshift.model.diagnosis import CorrectionReview, summarize
from gramshift.model.inputs import FitInput, find_labels
from gramshift.model.labels import encode_labels, is_missing
from gramshift.model.result import FitResult
from gramshift.model.settings import Settings
from gramshift.runtime import Runtime
from gramshift.terminal import count_in_words
from gramshift.text.documents import as_list

Floats = NDArray[np.float64]
MAX_DEVIATIONS = 2.33  # standard deviations that one in a hundred exceeds
MIN_CLASS_SIZE = 2  # corrections of a new class: one may be a slip
DOMAIN = "target"  # the source that corrected documents are of, where sources have names
FitFunction = Callable[[Settings, FitInput, Runtime], FitResult]


def check_corrections(corrections: Any, given: FitInput) -> dict[int, Any]:
    """Return the corrected labels by the numbers of their documents."""
    found = find_labels("corrections", corrections, given)
    if len(found) == len(given.wanted):
        raise InputError("corrections has a label for every target document; nothing is left")
    if both := found.keys() & given.random.keys():
        place = int(np.searchsorted(given.wanted, min(both)))
        raise InputError(
            f"target document {place} has a label in corrections and in random_labels;"
            " give it in one of them"
        )
    labels = [label for label in given.labels if not is_missing(label)]
    encode_labels([*labels, *found.values()], name="y with corrections")
    return found


def doubt_new_classes(corrections: dict[int, Any], given: FitInput) -> list[str]:
    """Return warnings of labels that may be misspelt: of one document, or close to a class."""
    classes = {label for label in given.labels if not is_missing(label)}
    lines = []
    for label, n in Counter(corrections.values()).items():
        close = suggest(label, classes) if isinstance(label, str) else ""
        if label not in classes and (n < MIN_CLASS_SIZE or close):
            documents = count_in_words(n, "document")
            lines.append(
                f"corrections has the label {label!r} for {documents}, which is no class of the"
                f" source: it becomes a new one{close}"
            )
    return lines


def join_corrections(given: FitInput, corrections: dict[int, Any]) -> FitInput:
    """Return the input with corrected documents as labelled documents."""
    labels = [corrections.get(row, label) for row, label in enumerate(given.labels)]
    return replace(given, labels=labels, corrected=tuple(sorted(corrections)))


def extend_values(values: Any, n: int, value: Any) -> Any:
    """Return values of the documents of X for n documents; the others have the same ``value``."""
    if values is None:
        return None
    known = as_list(values)
    return known + [value] * (n - len(known))


def fit_with_corrections(
    fit: FitFunction,
    settings: Settings,
    given: FitInput,
    joined: FitInput,
    corrections: dict[int, Any],
    runtime: Runtime,
) -> tuple[FitResult, CorrectionReview]:
    """Fit without corrections, then on the ``joined`` input with them; compare both.

    Class proportions of the second fit are lower for classes of which most checked labels were
    wrong. If most of all checked labels were wrong, the smaller expected accuracy is kept.
    """
    if isinstance(given.documents, list):  # the n-grams of both fits are found once
        corpus = Corpus(given.documents)
        given = replace(given, documents=corpus)
        joined = replace(joined, documents=corpus)
    before = fit(settings, replace(given, random={}), runtime.under("before"))
    labels = before.labels[before.wanted].tolist()
    known = [corrections.get(row) for row in before.training_set.target[before.wanted].tolist()]
    prior = before.describe_class_prior()
    warnings: list[str] = []
    if prior is not None and settings.class_prior == ESTIMATED and not given.random:
        used = {label: one["used"] for label, one in prior.items()}
        confidence = before.wanted_probabilities.max(axis=1)
        if set(corrections.values()) <= used.keys():  # the proportion of a new class is estimated
            lowered, warnings = lower_wrong_classes(used, labels, confidence, known)
            settings = replace(settings, class_prior=lowered) if warnings else settings
    after = fit(settings, joined, runtime)
    pairs = [(one, label) for one, label in zip(known, labels, strict=True) if one is not None]
    review = CorrectionReview(
        uncorrected_labels=before.labels[before.wanted],
        verdict=diagnose(summarize(before, None))[0].get("verdict"),
        n_checked=len(pairs),
        n_wrong=sum(one != label for one, label in pairs),
        warnings=warnings,
    )
    expected = after.expected
    if review.is_mostly_wrong and expected is not None and before.expected is not None:
        expected = min(expected, before.expected, key=lambda one: one.value)
    return replace(after, expected=expected), review


def lower_wrong_classes(
    prior: dict[Any, float], labels: list[Any], confidence: Floats, known: list[Any]
) -> tuple[dict[Any, float], list[str]]:
    """Return class proportions, lower for classes of which a person found too many labels wrong.

    The mean confidence of the labels that were checked should be the share of right ones. Where
    most labels of a class are wrong, and fewer right than confidence and chance explain, its
    proportion is multiplied by the number of right labels over the expected number. ``known`` has
    a person's label, or None, for each of ``labels``.
    """
    prior = dict(prior)
    lines = []
    found = np.array(labels, object)
    checked = np.array([label is not None for label in known], bool)
    for label in prior:
        rows = np.flatnonzero(checked & (found == label))
        n_right = sum(known[row] == label for row in rows)
        n_expected = float(confidence[rows].sum())
        deviation = np.sqrt(np.sum(confidence[rows] * (1 - confidence[rows])))
        is_mostly_wrong = len(rows) > 0 and 2 * n_right < len(rows)
        if is_mostly_wrong and n_expected - n_right > MAX_DEVIATIONS * deviation:
            lines.append(
                f"{len(rows) - n_right} of {len(rows)} checked labels {label!r} were wrong,"
                " so that its proportion was lowered"
            )
            prior[label] *= (n_right + 1) / (n_expected + 1)
    total = sum(prior.values())
    return {label: proportion / total for label, proportion in prior.items()}, lines


def corrected_codes(fit: FitResult) -> NDArray[np.int64]:
    """Return the classes of the corrected documents, in order."""
    return fit.training_set.known[list(fit.corrected)]


def put_in_place(fit: FitResult, found: NDArray[Any], corrected: NDArray[Any]) -> NDArray[Any]:
    """Return values of all target documents in order: found ones, and those of corrected ones."""
    if not fit.corrected:
        return found
    rows = np.concatenate([fit.training_set.target[fit.wanted], fit.corrected])
    return np.concatenate([found, corrected])[np.argsort(rows)]


def target_rows(fit: FitResult) -> NDArray[np.intp]:
    """Return the numbers of the target documents in the fit, corrected ones included."""
    wanted = fit.training_set.target[fit.wanted]
    return np.sort(np.concatenate([wanted, np.array(fit.corrected, np.intp)]))
