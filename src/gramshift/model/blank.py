"""Target documents without evidence: left out of a fit, so that they change no other label, and put back at its end."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.model.fitted import Fit
from gramshift.model.inputs import FitInput
from gramshift.model.similarities import Reference, Similarities

N_TEXTS = (
    50  # documents whose n-grams are looked up together; most share one with the first of them
)
LEAST_PRIOR = 1e-9  # keeps the logarithm of a class prior finite


def find_blank(given: FitInput, similarities: Similarities, *, adapt: bool) -> NDArray[np.bool_]:
    """Return which documents are target documents that share no n-gram with the source, by any of the kernels.

    An adapted kernel compares documents through others: with ``adapt`` an n-gram of a target document that shares one with the
    source will do.
    """
    is_blank = ~given.is_source
    is_blank[list(given.random)] = False  # a person has labelled these
    if (
        given.texts is None
        or not similarities.by_counts
        or (similarities.by_weights and not similarities.by_shared_alone)
    ):
        return np.zeros(len(is_blank), bool)
    known = np.flatnonzero(given.is_source)
    for _ in range(1 + adapt):
        waiting = np.flatnonzero(is_blank)
        for kernel in similarities.kernels:
            forms = kernel.prepare(given.texts.corpus)
            is_blank[
                _find_sharing(
                    forms, np.flatnonzero(is_blank).tolist(), known.tolist(), kernel.ngram_range[0]
                )
            ] = False
        known = waiting[~is_blank[waiting]]
    return is_blank


def _find_sharing(forms: list[str], rows: list[int], others: list[int], length: int) -> list[int]:
    """Return the rows that share an n-gram with the others: a longer one contains one of the shortest ``length``."""
    waiting, found = [row for row in rows if len(forms[row]) >= length], []
    for start in range(0, len(others), N_TEXTS):
        if not waiting:
            break
        known = {
            gram for row in others[start : start + N_TEXTS] for gram in _grams(forms[row], length)
        }
        sharing = {
            row for row in waiting if any(gram in known for gram in _grams(forms[row], length))
        }
        found += sorted(sharing)
        waiting = [row for row in waiting if row not in sharing]
    return found


def _grams(text: str, length: int) -> Any:
    """Yield the n-grams of one length."""
    return (text[start : start + length] for start in range(len(text) - length + 1))


def leave_out(given: FitInput, rows: NDArray[np.bool_]) -> FitInput:
    """Return the input of a fit without some of its target documents."""
    assert given.texts is not None, "only texts are left out"
    kept = np.flatnonzero(~rows)
    n_unlabelled = given.n_unlabelled - int(rows[len(rows) - given.n_unlabelled :].sum())
    return replace(
        given,
        documents=given.texts.only(kept),
        labels=[given.labels[row] for row in kept.tolist()],
        n_unlabelled=n_unlabelled,
        weights=None if given.weights is None else given.weights[kept],
        random={int(np.searchsorted(kept, row)): label for row, label in given.random.items()},
    )


def put_back(fit: Fit, given: FitInput, is_blank: NDArray[np.bool_]) -> Fit:
    """Add the documents that were left out to a fit, with the class proportions as their probabilities."""
    kept = np.flatnonzero(~is_blank)
    target = ~given.is_source
    blank = is_blank[target]
    proportions = np.bincount(fit.labelling.source_codes, minlength=len(fit.classes)) / len(
        fit.labelling.source
    )
    prior = proportions if fit.class_prior is None else fit.class_prior.used
    steepness = 1.0 if fit.calibration is None else fit.calibration.steepness
    scores = np.log(np.maximum(prior, LEAST_PRIOR)) / steepness
    scores -= scores.mean()
    place = int(prior.argmax())

    def fill(values: Any, value: Any) -> Any:
        whole = np.empty((len(blank), *values.shape[1:]), values.dtype)
        whole[~blank] = values
        whole[blank] = value
        return whole

    labelling = replace(
        fit.labelling, is_source=given.is_source, training=kept[fit.labelling.training], ranks=None
    )
    wanted = slice(len(blank) - given.n_unlabelled)
    n_blank = int(blank[wanted].sum())
    label = fit.classes.tolist()[place]
    history = [
        step | {"labels": step["labels"] | {label: step["labels"][label] + n_blank}}
        for step in fit.history
    ]
    labeled_iter = np.full(len(is_blank), -1, fit.labeled_iter.dtype)
    labeled_iter[kept] = fit.labeled_iter
    calibration = fit.calibration
    if calibration is not None:
        calibration = replace(calibration, scores=fill(calibration.scores, scores))
    coefficients = np.zeros((len(is_blank), fit.model.coefficients.shape[1]))
    coefficients[kept] = fit.model.coefficients
    assert given.texts is not None, "only texts are left out"
    groups = labelling.groups() if fit.model.reference.groups else {}
    reference = Reference(
        given.texts.corpus.texts, without_domain(groups, is_blank), fit.model.reference.self_values
    )
    return replace(
        fit,
        model=replace(fit.model, reference=reference, coefficients=coefficients),
        labelling=labelling,
        scores=fill(fit.scores, scores),
        labeled_iter=labeled_iter,
        history=history,
        calibration=calibration,
        unadapted=None if fit.unadapted is None else fill(fit.unadapted, int(proportions.argmax())),
        n_unlabelled=given.n_unlabelled,
        n_blank=fit.n_blank + n_blank,
    )


def without_domain(groups: dict[str, Any], rows: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the domains and classes of documents with no domain for some of them, so that they give no weights."""
    if not groups:
        return groups
    return groups | {
        "domains": [
            None if left_out else one for one, left_out in zip(groups["domains"], rows, strict=True)
        ]
    }
