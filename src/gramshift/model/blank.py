"""Target documents without evidence: left out of the rounds, and put back with the prior.

They change no other label in this way.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.learn.rounds import RoundsOutcome
from gramshift.model.inputs import FitInput
from gramshift.model.kernel_list import KernelList

N_TEXTS = 50  # documents whose n-grams are looked up at once; most share one with the first of them
MIN_PRIOR = 1e-9  # keeps the logarithm of a class prior finite


def find_blank(
    given: FitInput, kernel_list: KernelList | None, *, adapt: bool
) -> NDArray[np.bool_]:
    """Return which documents are target documents that share no n-gram with the source.

    A document with a vector is none of them.

    An adapted kernel compares documents through others: with ``adapt``, an n-gram of a target
    document that shares one with the source is enough.
    """
    is_blank = ~given.is_source
    is_blank[list(given.random)] = False  # a person has labelled these
    if given.vectors is not None:
        is_blank &= given.vectors.scale == 0
    if given.texts is None or kernel_list is None or not _compares_shared(kernel_list):
        return np.zeros(len(is_blank), bool)
    known = np.flatnonzero(given.is_source)
    for _ in range(1 + adapt):
        waiting = np.flatnonzero(is_blank)
        for kernel in kernel_list.kernels:
            forms = kernel.prepare(given.texts)
            rows = np.flatnonzero(is_blank).tolist()
            is_blank[_find_sharing(forms, rows, known.tolist(), kernel.ngram_range[0])] = False
        known = waiting[~is_blank[waiting]]
    return is_blank


def _compares_shared(kernel_list: KernelList) -> bool:
    """Return True if documents that share no n-gram have similarity 0, and change no weight."""
    has_no_weights = not kernel_list.by_weights or kernel_list.by_shared_alone
    return kernel_list.by_counts and has_no_weights


def _find_sharing(forms: list[str], rows: list[int], others: list[int], length: int) -> list[int]:
    """Return the rows that share an n-gram of the shortest ``length`` with the others.

    Longer n-grams contain one of these.
    """
    waiting = [row for row in rows if len(forms[row]) >= length]
    found = []
    for start in range(0, len(others), N_TEXTS):
        if not waiting:
            break
        some = others[start : start + N_TEXTS]
        known = {gram for row in some for gram in _grams(forms[row], length)}
        sharing = {
            row for row in waiting if any(gram in known for gram in _grams(forms[row], length))
        }
        found += sorted(sharing)
        waiting = [row for row in waiting if row not in sharing]
    return found


def _grams(text: str, length: int) -> Iterator[str]:
    """Yield the n-grams of one length."""
    return (text[start : start + length] for start in range(len(text) - length + 1))


def leave_out(given: FitInput, is_blank: NDArray[np.bool_]) -> FitInput:
    """Return the input of a fit without some of its target documents."""
    if not is_blank.any():
        return given
    assert given.texts is not None, "only texts are left out"
    kept = np.flatnonzero(~is_blank)
    unlabelled = is_blank[len(is_blank) - given.n_unlabelled :]
    return replace(
        given,
        documents=given.texts.only(kept),
        labels=[given.labels[row] for row in kept.tolist()],
        n_unlabelled=given.n_unlabelled - int(unlabelled.sum()),
        weights=None if given.weights is None else given.weights[kept],
        random={int(np.searchsorted(kept, row)): label for row, label in given.random.items()},
        vectors=None if given.vectors is None else given.vectors.narrow(kept, None),
    )


def put_back(
    outcome: RoundsOutcome, is_source: NDArray[np.bool_], is_blank: NDArray[np.bool_]
) -> RoundsOutcome:
    """Return the outcome for all documents: those left out get the class proportions.

    Their scores are log(prior) / slope, centred, so that their probabilities equal the prior.
    """
    if not is_blank.any():
        return outcome
    kept = np.flatnonzero(~is_blank)
    is_left_out = is_blank[~is_source]
    places = np.flatnonzero(~is_left_out)
    source_codes, n_classes = outcome.training_set.source_codes, outcome.training_set.n_classes
    proportions = np.bincount(source_codes, minlength=n_classes) / len(source_codes)
    prior = proportions if outcome.shares is None else outcome.shares.used
    calibration = outcome.calibration
    steepness = 1.0 if calibration is None else calibration.steepness
    scores = np.log(np.maximum(prior, MIN_PRIOR)) / steepness
    scores -= scores.mean()

    rounds = [
        replace(one, added=places[one.added], scores=_fill(one.scores, ~is_left_out, scores))
        for one in outcome.rounds
    ]
    fitted = rounds[-1].fitted
    whole = _fill(fitted.coefficients, ~is_blank, 0.0)
    rounds[-1] = replace(rounds[-1], fitted=replace(fitted, coefficients=whole))
    if calibration is not None:
        unseen = _fill(calibration.scores, ~is_left_out, scores)
        calibration = replace(calibration, scores=unseen)
    plain = outcome.plain
    training = kept[outcome.training_set.training]
    return replace(
        outcome,
        rounds=rounds,
        training_set=replace(
            outcome.training_set, is_source=is_source, training=training, ranks=None
        ),
        calibration=calibration,
        plain=None if plain is None else _fill(plain, ~is_left_out, proportions),
    )


def _fill(values: NDArray[Any], chosen: NDArray[np.bool_], value: Any) -> NDArray[Any]:
    """Return an array with these values in the chosen rows, and one value in all others."""
    whole = np.empty((len(chosen), *values.shape[1:]), values.dtype)
    whole[chosen] = values
    whole[~chosen] = value
    return whole


def without_domain(groups: dict[str, Any], rows: NDArray[np.bool_]) -> dict[str, Any]:
    """Return domains and classes, without the domain of some: they change no weights."""
    if not groups:
        return groups
    pairs = zip(groups["domains"], rows, strict=True)
    return groups | {"domains": [None if left_out else domain for domain, left_out in pairs]}
